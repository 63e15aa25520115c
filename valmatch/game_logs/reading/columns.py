"""Meanings of the columns of a game log: as given, or by their usual names."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from valmatch.errors import InputError, option
from valmatch.game_logs.options import FileOptions, Further
from valmatch.text.dates import is_clock, is_moment
from valmatch.text.suggestions import closest_name, hint
from valmatch.text.terminal import VALUE, shortened, shown

_ALIKE = 0.8  # how like an unknown column must be for a misspelling to be the likely explanation
CLOCK = "clock"  # the meaning of a column with the time of the day, where the date stands alone


class Format(NamedTuple):
    """A shape of game logs."""

    name: str  # what it is called
    # required, optional: meanings of its columns
    required: Sequence[str]
    optional: Sequence[str]

    @property
    def meanings(self) -> list[str]:
        """All of them."""
        return [*self.required, *self.optional]


_MORE = ("game", "minutes", "time", CLOCK)
_LONG = ("team", "minutes", "enabled", "time", CLOCK, "home", "neutral")
LONG = Format("long", ("game", "player", "score"), _LONG)
_FORMATS = (
    LONG,
    Format("results", ("winner", "loser"), ("winner_score", "loser_score", "draw", *_MORE)),
    Format("scores", ("home", "away", "home_score", "away_score"), (*_MORE, "neutral")),
    Format("players", ("player_a", "player_b", "result"), _MORE),
    Format("outcomes", ("home", "away", "result"), (*_MORE, "neutral")),
)

_FIRST = "white whiteid whitename whiteplayer whiteusername playerswhiteusername weiss modela"
_SECOND = _FIRST.replace("white", "black").replace("weiss", "schwarz").replace("modela", "modelb")
_NUMBERED = "player team competitor side engine contestant opponent"
# Names that columns usually have, in lower case letters and digits alone, the likeliest first.
_USUAL = {
    "player_a": f"{_FIRST} {' '.join(f'{name}1 {name}a' for name in _NUMBERED.split())}",
    "player_b": f"{_SECOND} {' '.join(f'{name}2 {name}b' for name in _NUMBERED.split())}",
    "home": "hometeam homename homeplayer heim",
    "away": "awayteam awayname awayplayer visitor visitorteam gast",
    "home_score": "homegoals fthg hg homepoints scorehome goalshome",
    "away_score": "awaygoals ftag ag awaypoints scoreaway goalsaway",
    "result": "outcome winner ftr ergebnis",
    "winner": "winnername winnerid winningteam winnerteam sieger",
    "loser": "losername loserid losingteam loserteam verlierer",
    "game": "gameid matchid match",
    "player": "playerid playername username",
    "score": "points",
    CLOCK: "utctime time kickoff",
}

_DATES = (
    "utcdate date datetime datum timestamp tstamp gamedate matchdate tourneydate playedat startedat"
    " createdat time"
)

_NO_COLUMN = "-"  # what says in an option that no column has a meaning


class Columns(NamedTuple):
    """The columns of a log that are used."""

    format: Format  # the shape of the log
    places: Mapping[str, int]  # index in the header by meaning, or by ``weight NAME`` and such
    names: Sequence[str]  # all names in the header
    guessed: Collection[str] = ()  # meanings whose columns were taken by their usual names


def find_columns(
    where: str,
    header: Sequence[str],
    options: FileOptions,
    formats: Sequence[Format] = _FORMATS,
    what: str = "a log has",
    *,
    further: Further | None = None,
    unused: Collection[str] = (),
    sample: Callable[[str], Sequence[str]] = lambda name: (),
) -> Columns:
    """Find the columns of a log, or of another file of games, by its header and some cells."""
    chosen, known, usual = _format(where, header, options, formats, what)
    unused = {*unused, *(m for m, name in options.columns.items() if name == _NO_COLUMN)}
    if further:
        unused |= {"minutes"} if further.timed_by else {"minutes", "time", CLOCK}
    if chosen.name == LONG.name:
        unused.discard("minutes")  # by which players are compared
    used = [*chosen.required, *(meaning for meaning in chosen.optional if meaning not in unused)]
    guessed = {meaning: usual[meaning] for meaning in chosen.required if meaning in usual}
    if "time" in used:
        guessed |= _guessed_times(known, usual, sample)
    known |= guessed
    wanted = _wanted(further, header, chosen.name == LONG.name) if further else []
    others = {*known.values(), *(name for _, name in wanted)}
    left = [name for name in header if not any(name in (*others, *f.meanings) for f in formats)]
    places = dict[str, int]()
    for meaning in used:
        name = known.get(meaning, meaning)
        if (at := _index(where, header, name)) is not None:
            places[meaning] = at
        elif (near := closest_name(name, left, _ALIKE)) and near.casefold() != name:
            # Other than Time, which may be of another kind.
            meant = f"did you mean {name}? {option('columns')} {meaning}={near} says so"
            raise InputError(f"{where}: unknown column {near!r} ({meant})")
    scores = ("winner_score", "loser_score")
    if len(there := [meaning for meaning in scores if meaning in places]) == 1:
        absent = scores[there[0] == scores[0]]
        raise InputError(f"{where}: column {known[there[0]]!r} needs a column {absent!r}")
    if further:
        places |= _further_places(where, header, further, wanted, places)
    return Columns(chosen, places, header, tuple(guessed))


def _format(
    where: str, header: Sequence[str], options: FileOptions, formats: Sequence[Format], what: str
) -> tuple[Format, dict[str, str], dict[str, str]]:
    """Return the format whose required columns are there, and columns as named and as is usual."""
    meanings = list(dict.fromkeys(meaning for f in formats for meaning in f.meanings))
    called = option("columns")
    for meaning, name in options.columns.items():
        if meaning not in meanings:
            near = hint(meaning, meanings)
            raise InputError(f"{called}: {meaning}: no such meaning ({near})")
        if name not in (*header, _NO_COLUMN):
            raise InputError(f"{where}: {called}: no column {name!r} ({hint(name, header)})")
    named = {meaning: name for meaning, name in options.columns.items() if name != _NO_COLUMN}
    known = {meaning: meaning for meaning in meanings if meaning in header} | named
    names_of = {m: f"{m.replace('_', '')} {_USUAL.get(m, '')}" for m in meanings} | {"time": _DATES}
    usual = {
        meaning: name
        for meaning, name in usual_columns(by_plain_name(header), names_of).items()
        if meaning in meanings and meaning not in {*options.columns, *known}
    }

    def doubts(f: Format) -> tuple[float, int, bool]:
        absent = sum(meaning not in known | usual for meaning in f.required)
        strange = sum(meaning not in f.meanings for meaning in named)
        return absent / len(f.required), strange, any(m not in known for m in f.required)

    best = min(formats, key=doubts)
    for name in best.required:
        if name not in known | usual:
            near_column = closest_name(name, header)
            meant = f"did you mean {shortened(near_column)}? " if near_column else ""
            needs = " or ".join(", ".join(f.required) for f in formats)
            columns = shortened(", ".join(header), 2 * VALUE)
            raise InputError(
                f"{where}: no column {shown(name)} ({meant}{what} the columns {needs}; found:"
                f" {columns}; {called} {name}=NAME says which column it is)"
            )
    if wrong := [meaning for meaning in named if meaning not in best.meanings]:
        allowed = ", ".join(best.meanings)
        what = f"has no meaning in a log in {best.name} format (allowed: {allowed})"
        raise InputError(f"{called}: {wrong[0]}: {what}")
    return best, known, usual


def by_plain_name(header: Sequence[str]) -> dict[str, str]:
    """Return columns by their names in lower case letters and digits, the first of each."""
    plain: dict[str, str] = {}
    for name in header:
        plain.setdefault(re.sub(r"[\W_]", "", name.casefold()), name)
    return plain


def usual_columns(plain: Mapping[str, str], usual: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each meaning that has one of its usual names, the likeliest of them."""
    named = {m: [plain[x] for x in names.split() if x in plain] for m, names in usual.items()}
    return {meaning: columns[0] for meaning, columns in named.items() if columns}


def _guessed_times(
    known: Mapping[str, str], usual: Mapping[str, str], sample: Callable[[str], Sequence[str]]
) -> dict[str, str]:
    """Return the columns of times and clocks that have a usual name, and cells that fit."""
    time, clock = known.get("time", usual.get("time")), usual.get(CLOCK)
    dates = sample(time) if time else ()
    guessed = {} if "time" in known or not time else {"time": time}
    if not dates or (guessed and not all(map(is_moment, dates))):
        return {}
    clocks = sample(clock) if clock and clock != time else ()
    if clock and clocks and all(map(is_clock, clocks)) and is_moment(f"{dates[0]} {clocks[0]}"):
        guessed[CLOCK] = clock
    return guessed


def _index(where: str, header: Sequence[str], name: str) -> int | None:
    """Return where a header has a column, None if it has not; refuse two of a name."""
    if header.count(name) > 1:
        raise InputError(f"{where}: there are {header.count(name)} columns {name!r}")
    return header.index(name) if name in header else None


def _wanted(further: Further, header: Sequence[str], long: bool) -> list[tuple[str, str]]:
    """Return the argument and the name of further columns; a covariate may have one a side."""
    wanted = [("weight", further.weight)] if further.weight else []
    wanted += [("cluster", name) for name in further.clusters]
    for name in further.covariates:
        pair = [f"{name}_a", f"{name}_b"]
        of_sides = not long and not {*pair}.isdisjoint(header)
        wanted += [("covariate", column) for column in (pair if of_sides else [name])]
    return wanted


def _further_places(
    where: str,
    header: Sequence[str],
    further: Further,
    wanted: Sequence[tuple[str, str]],
    places: Mapping[str, int],
) -> dict[str, int]:
    """Return the index of each further column, which may be one of the format."""
    if further.timed_by and "time" not in places:
        needs = f"needs times ({option('columns')} time=NAME says which column has them)"
        raise InputError(f"{where}: {further.timed_by}: {needs}")
    more = {}
    for argument, name in wanted:
        at = _index(where, header, name)
        if at is None and name not in places:
            called = option(further.named_by.get(name, argument))
            raise InputError(f"{where}: {called}: no column {name!r} ({hint(name, header)})")
        more[f"{argument} {name}"] = places[name] if at is None else at
    return more
