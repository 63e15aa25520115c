"""Meanings of the columns of a game log: as given, or by their usual names."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from valmatch.errors import InputError, option
from valmatch.kernels.arrays import Floats, Ints
from valmatch.text.dates import is_clock, is_moment
from valmatch.text.suggestions import closest_name, hint
from valmatch.text.terminal import VALUE, shortened, shown

if TYPE_CHECKING:
    from valmatch.game_logs.options import FileOptions

_ALIKE = 0.8  # how like an unknown column must be for a misspelling to be the likely explanation

CLOCK = "clock"
"""The meaning of a column with the time of the day, where the date stands alone."""


class Format(NamedTuple):
    """A shape of game logs."""

    name: str  # what it is called
    # required, optional: meanings of its columns
    required: Sequence[str]
    optional: Sequence[str]


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
_USUAL = {
    "player_a": f"{_FIRST} {' '.join(f'{name}1 {name}a' for name in _NUMBERED.split())}",
    "player_b": f"{_SECOND} {' '.join(f'{name}2 {name}b' for name in _NUMBERED.split())}",
    "home": "hometeam homename homeplayer heim",
    "away": "awayteam awayname awayplayer visitor visitorteam gast",
    "home_score": "homegoals fthg hg homepoints scorehome goalshome",
    "away_score": "awaygoals ftag ag awaypoints scoreaway goalsaway",
    "result": "outcome winner ftr ergebnis",
    "winner": "winnername winnerid sieger",
    "loser": "losername loserid verlierer",
    "game": "gameid matchid match",
    "player": "playerid playername username",
    "score": "points",
    CLOCK: "utctime time kickoff",
}
"""Names that columns usually have, in lower case letters and digits alone, the likeliest first."""

_DATES = (
    "utcdate date datetime datum timestamp tstamp gamedate matchdate tourneydate playedat startedat"
    " createdat time"
)

_NO_COLUMN = "-"  # what says in an option that no column has a meaning


@dataclass(frozen=True)
class Further:
    """Columns that a rating of a whole log wants besides those of a format, by their names."""

    weight: str = ""  # as so many games each one counts; "" for none
    clusters: Sequence[str] = ()  # games with equal cells there belong together
    covariates: Sequence[str] = ()  # what is known of sides
    timed_by: str = ""  # what wants times, as messages call it; "" for nothing
    clustered_by: str = "cluster"  # the argument that names the columns of `clusters`
    swapped_by: str = ""  # the last of these, where another argument names it

    def wanted(self, header: Sequence[str], long: bool) -> list[tuple[str, str]]:
        """Return what each is wanted for, with its name; a covariate may have one for each side."""
        wanted = [("weight", self.weight)] if self.weight else []
        wanted += [("cluster", name) for name in self.clusters]
        for name in self.covariates:
            pair = [f"{name}_a", f"{name}_b"]
            of_sides = not long and not {*pair}.isdisjoint(header)
            wanted += [("covariate", column) for column in (pair if of_sides else [name])]
        return wanted


def further_key(argument: str, name: str) -> str:
    """Return the key of a further column among the places of `Columns`."""
    return f"{argument} {name}"


class GameFacts(NamedTuple):
    """What else is known of some games."""

    weights: Floats  # (games,) 1 without a column for them
    clusters: Ints  # (games, columns) numbers of the cells
    covariates: Floats  # (rows, covariates) of the side of each row
    # homes, named_first: (rows,) 1 of who is at home, or who a row of a pair names first, else 0
    homes: Floats
    named_first: Floats


class Columns(NamedTuple):
    """The columns of a log that are used."""

    format: Format  # the shape of the log
    places: Mapping[str, int]  # index in the header by meaning
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
    meanings = list(dict.fromkeys(m for f in formats for m in (*f.required, *f.optional)))
    _check_given(where, header, options, meanings)
    named = {meaning: name for meaning, name in options.columns.items() if name != _NO_COLUMN}
    known = {meaning: meaning for meaning in meanings if meaning in header} | named
    usual = _usual_names(header, [m for m in meanings if m not in {*options.columns, *known}])
    chosen = _format(where, header, known, usual, formats, what, named)
    allowed = (*chosen.required, *chosen.optional)
    if wrong := [meaning for meaning in named if meaning not in allowed]:
        raise InputError(
            f"{option('columns')}: {wrong[0]}: has no meaning in a log in {chosen.name} format"
            f" (allowed: {', '.join(allowed)})"
        )
    unused = {*unused, *(options.columns.keys() - named.keys())}
    if further:
        unused |= {"minutes"} if further.timed_by else {"minutes", "time", CLOCK}
    if chosen.name == LONG.name:
        unused.discard("minutes")  # by which players are compared
    used = [meaning for meaning in allowed if meaning in chosen.required or meaning not in unused]
    guessed = {meaning: usual[meaning] for meaning in chosen.required if meaning in usual}
    if "time" in used:
        guessed |= _guessed_times(known, usual, sample)
    known |= guessed
    wanted = further.wanted(header, chosen.name == LONG.name) if further else []
    others = {*meanings, *known.values(), *(name for _, name in wanted)}
    left = [name for name in header if name not in others]
    places = {
        meaning: header.index(known[meaning])
        for meaning in used
        if _is_there(where, header, meaning, known.get(meaning, meaning), left)
    }
    scores = ("winner_score", "loser_score")
    if len(there := [meaning for meaning in scores if meaning in places]) == 1:
        absent = scores[there[0] == scores[0]]
        raise InputError(f"{where}: column {known[there[0]]!r} needs a column {absent!r}")
    if further:
        places |= _further_places(where, header, further, wanted, places)
    return Columns(chosen, places, header, tuple(guessed))


def _check_given(
    where: str, header: Sequence[str], options: FileOptions, meanings: Sequence[str]
) -> None:
    """Refuse meanings that there are not, and columns that the header has not."""
    for meaning, name in options.columns.items():
        if meaning not in meanings:
            raise InputError(
                f"{option('columns')}: {meaning}: no such meaning ({hint(meaning, meanings)})"
            )
        if name not in (*header, _NO_COLUMN):
            raise InputError(
                f"{where}: {option('columns')}: no column {name!r} ({hint(name, header)})"
            )


def _usual_names(header: Sequence[str], meanings: Sequence[str]) -> dict[str, str]:
    """Return the columns that have a usual name of some meanings."""
    plain: dict[str, str] = {}
    for name in header:
        plain.setdefault(_plain(name), name)
    usual = {}
    for meaning in meanings:
        names = _DATES if meaning == "time" else f"{_plain(meaning)} {_USUAL.get(meaning, '')}"
        if near := next((plain[name] for name in names.split() if name in plain), None):
            usual[meaning] = near
    return usual


def _plain(name: str) -> str:
    """Return a name in lower case letters and digits."""
    return re.sub(r"[\W_]", "", name.casefold())


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


def _format(
    where: str,
    header: Sequence[str],
    known: Collection[str],
    usual: Collection[str],
    formats: Sequence[Format],
    what: str,
    named: Collection[str],
) -> Format:
    """Return the format whose required columns are there; by usual names, if by no others."""

    def doubts(f: Format) -> tuple[float, int, bool]:
        absent = sum(meaning not in known and meaning not in usual for meaning in f.required)
        strange = sum(meaning not in (*f.required, *f.optional) for meaning in named)
        return absent / len(f.required), strange, any(m not in known for m in f.required)

    best = min(formats, key=doubts)
    for name in best.required:
        if name not in known and name not in usual:
            near = closest_name(name, header)
            meant = f"did you mean {shortened(near)}? " if near else ""
            needs = " or ".join(", ".join(f.required) for f in formats)
            raise InputError(
                f"{where}: no column {shown(name)} ({meant}{what} the columns {needs}; found:"
                f" {shortened(', '.join(header), 2 * VALUE)}; {option('columns')} {name}=NAME"
                " says which column it is)"
            )
    return best


def _is_there(
    where: str, header: Sequence[str], meaning: str, name: str, left: Sequence[str]
) -> bool:
    """Return whether a header has a column of a meaning; refuse one that seems misspelt."""
    if _occurs_once(where, header, name):
        return True
    near = closest_name(name, left, _ALIKE)
    if near and near.casefold() != name:  # such as Time, which may be of another kind
        raise InputError(
            f"{where}: unknown column {near!r} (did you mean {name}? {option('columns')}"
            f" {meaning}={near} says so)"
        )
    return False


def _occurs_once(where: str, header: Sequence[str], name: str) -> bool:
    """Return whether a header has a column; refuse two of a name."""
    if header.count(name) > 1:
        raise InputError(f"{where}: there are {header.count(name)} columns {name!r}")
    return name in header


def _further_places(
    where: str,
    header: Sequence[str],
    further: Further,
    wanted: Sequence[tuple[str, str]],
    places: Mapping[str, int],
) -> dict[str, int]:
    """Return the index of each further column, which may be one of the format."""
    if further.timed_by and "time" not in places:
        raise InputError(
            f"{where}: {further.timed_by}: needs times ({option('columns')} time=NAME says"
            " which column has them)"
        )
    more = {}
    for argument, name in wanted:
        if not _occurs_once(where, header, name) and name not in places:
            called = option(further.clustered_by if argument == "cluster" else argument)
            called = option("swapped_by") if name == further.swapped_by else called
            raise InputError(f"{where}: {called}: no column {name!r} ({hint(name, header)})")
        at = header.index(name) if name in header else places[name]
        more[further_key(argument, name)] = at
    return more
