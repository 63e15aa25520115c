"""Meanings of the columns of a game log: as given, or by their usual names."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from valmatch.errors import InputError, option
from valmatch.game_logs.reading.cells import CLOCK, is_clock, is_moment
from valmatch.kernels.arrays import Floats, Ints
from valmatch.text.suggestions import closest_name, hint
from valmatch.text.terminal import VALUE, shortened, shown

if TYPE_CHECKING:
    from valmatch.game_logs.options import FileOptions

# A column that is so like an unknown one that a misspelling is the likely explanation.
_ALIKE = 0.8


@dataclass(frozen=True)
class Format:
    """A shape of game logs."""

    name: str  # what it is called
    # required, optional: meanings of its columns
    required: Sequence[str]
    optional: Sequence[str]
    together: Sequence[str] = ()  # optional columns of which all or none must be there


_MORE = ("game", "minutes", "time", CLOCK)
LONG = Format(
    "long",
    ("game", "player", "score"),
    ("team", "minutes", "enabled", "time", CLOCK, "home", "neutral"),
)
RESULTS = Format(
    "results",
    ("winner", "loser"),
    ("winner_score", "loser_score", "draw", *_MORE),
    together=("winner_score", "loser_score"),
)
SCORES = Format("scores", ("home", "away", "home_score", "away_score"), (*_MORE, "neutral"))
PLAYERS = Format("players", ("player_a", "player_b", "result"), _MORE)
OUTCOMES = Format("outcomes", ("home", "away", "result"), (*_MORE, "neutral"))
FORMATS = (LONG, RESULTS, SCORES, PLAYERS, OUTCOMES)

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

NO_COLUMN = "-"  # what says in an option that no column has a meaning


@dataclass(frozen=True)
class Columns:
    """The columns of a log that are used."""

    format: Format  # the shape of the log
    places: Mapping[str, int]  # index in the header by meaning
    names: Sequence[str]  # all names in the header
    guessed: Collection[str] = ()  # meanings whose columns were taken by their usual names


def find_columns(
    where: str,
    header: Sequence[str],
    options: FileOptions,
    formats: Sequence[Format] = FORMATS,
    what: str = "a log has",
    *,
    used: Sequence[str] = (),
    unused: Collection[str] = (),
    sample: Callable[[str], Sequence[str]] = lambda name: (),
) -> Columns:
    """Find the columns of a log, or of another file of games, by its header and some cells."""
    chosen = {meaning: name for meaning, name in options.columns.items() if name != NO_COLUMN}
    meanings = list(dict.fromkeys(m for f in formats for m in (*f.required, *f.optional)))
    for meaning, name in options.columns.items():
        if meaning not in meanings:
            raise InputError(
                f"{option('columns')}: {meaning}: no such meaning ({hint(meaning, meanings)})"
            )
        if name not in (*header, NO_COLUMN):
            raise InputError(
                f"{where}: {option('columns')}: no column {name!r} ({hint(name, header)})"
            )
    names = {meaning: meaning for meaning in meanings} | chosen
    usual = _usual_names(header, [m for m in meanings if m not in {*options.columns, *header}])
    format_ = _format(where, header, names, usual, formats, what, chosen)
    optional = (*format_.required, *format_.optional)
    if wrong := [meaning for meaning in chosen if meaning not in optional]:
        raise InputError(
            f"{option('columns')}: {wrong[0]}: has no meaning in a log in {format_.name} format"
            f" (allowed: {', '.join(optional)})"
        )
    left = {*unused, *(m for m, name in options.columns.items() if name == NO_COLUMN)}
    if format_.name == LONG.name:
        left.discard("minutes")  # by which players are compared
    format_ = replace(format_, optional=[m for m in format_.optional if m not in left])
    guessed = {meaning: usual[meaning] for meaning in format_.required if meaning in usual}
    if "time" in format_.optional:
        guessed |= _guessed_times(names, usual, header, sample)
    places = _places(where, header, format_, names | guessed, used)
    return Columns(format_, places, header, tuple(guessed))


def _usual_names(header: Sequence[str], meanings: Sequence[str]) -> dict[str, str]:
    """Return the columns that have a usual name of some meanings."""
    plain: dict[str, str] = {}
    for name in header:
        plain.setdefault(_plain(name), name)
    usual = {}
    for meaning in meanings:
        names = _DATES if meaning == "time" else f"{_plain(meaning)} {_USUAL.get(meaning, '')}"
        likely = names.split()
        if near := next((plain[name] for name in likely if name in plain), None):
            usual[meaning] = near
    return usual


def _plain(name: str) -> str:
    """Return a name in lower case letters and digits."""
    return re.sub(r"[\W_]", "", name.casefold())


def _guessed_times(
    names: Mapping[str, str],
    usual: Mapping[str, str],
    header: Sequence[str],
    sample: Callable[[str], Sequence[str]],
) -> dict[str, str]:
    """Return the columns of times and clocks that have a usual name, and cells that fit."""
    time = names["time"] if names["time"] in header else usual.get("time", "")
    clock, guessed = usual.get(CLOCK, ""), {}
    dates = sample(time) if time else ()
    if time != names["time"]:
        if not dates or not all(map(is_moment, dates)):
            return {}
        guessed["time"] = time
    clocks = sample(clock) if clock != time and clock in header else ()
    if dates and clocks and all(map(is_clock, clocks)) and is_moment(f"{dates[0]} {clocks[0]}"):
        guessed[CLOCK] = clock
    return guessed


def _format(
    where: str,
    header: Sequence[str],
    names: Mapping[str, str],
    usual: Mapping[str, str],
    formats: Sequence[Format],
    what: str,
    chosen: Collection[str],
) -> Format:
    """Return the format whose required columns are there; by usual names, if by no others."""

    def absent(f: Format) -> list[str]:
        return [m for m in f.required if names[m] not in header and m not in usual]

    def doubts(f: Format) -> tuple[float, int, bool, int]:
        strange = sum(meaning not in (*f.required, *f.optional) for meaning in chosen)
        guessed = any(names[meaning] not in header for meaning in f.required)
        return len(absent(f)) / len(f.required), strange, guessed, formats.index(f)

    best = min(formats, key=doubts)
    if missing := absent(best):
        meaning = missing[0]
        name = names[meaning]
        near = closest_name(name, header)
        meant = f"did you mean {shortened(near)}? " if near else ""
        needs = " or ".join(", ".join(f.required) for f in formats)
        there = shortened(", ".join(header), 2 * VALUE)
        raise InputError(
            f"{where}: no column {shown(name)} ({meant}{what} the columns {needs}; found:"
            f" {there}; {option('columns')} {meaning}=NAME says which column it is)"
        )
    return best


def _places(
    where: str,
    header: Sequence[str],
    format_: Format,
    names: Mapping[str, str],
    used: Sequence[str],
) -> dict[str, int]:
    """Return the index of each column that is there."""
    places: dict[str, int] = {}
    left = [name for name in header if name not in names.values() and name not in used]
    for meaning in (*format_.required, *format_.optional):
        name = names[meaning]
        if header.count(name) > 1:
            raise InputError(f"{where}: there are {header.count(name)} columns {name!r}")
        if name in header:
            places[meaning] = header.index(name)
            continue
        near = closest_name(name, left, _ALIKE)
        if near and near.casefold() != name:  # such as Time, which may be of another kind
            raise InputError(
                f"{where}: unknown column {near!r} (did you mean {name}? {option('columns')}"
                f" {meaning}={near} says so)"
            )
    there = [meaning for meaning in format_.together if meaning in places]
    if there and len(there) < len(format_.together):
        absent = next(m for m in format_.together if m not in places)
        raise InputError(f"{where}: column {names[there[0]]!r} needs a column {names[absent]!r}")
    return places


# Further columns of each game, read where a whole log is rated at once.


@dataclass(frozen=True)
class Further:
    """Columns that are wanted besides those of a format, by their names."""

    weight: str = ""  # as so many games each one counts; "" for none
    clusters: Sequence[str] = ()  # games with equal cells there belong together
    covariates: Sequence[str] = ()  # what is known of sides
    timed_by: str = ""  # what wants times, as messages call it; "" for nothing
    clustered_by: str = "cluster"  # the argument that names the columns of `clusters`

    def names(self, header: Sequence[str]) -> list[str]:
        """Return those of the columns of a header that are wanted."""
        wanted = [self.weight, *self.clusters, *self.covariates]
        wanted += [f"{name}_{side}" for name in self.covariates for side in "ab"]
        return [name for name in header if name in wanted]


def further_key(argument: str, name: str) -> str:
    """Return the key of a further column among the places of `Columns`."""
    return f"{argument} {name}"


def place_further(where: str, columns: Columns, further: Further) -> Columns:
    """Add the further columns of a log; a covariate may have one for each of two sides."""
    if further.timed_by and "time" not in columns.places:
        raise InputError(
            f"{where}: {further.timed_by}: needs times ({option('columns')} time=NAME says"
            " which column has them)"
        )
    header, places = columns.names, dict(columns.places)
    wanted = [("weight", further.weight)] if further.weight else []
    wanted += [("cluster", name) for name in further.clusters]
    for name in further.covariates:
        pair = (f"{name}_a", f"{name}_b")
        of_sides = columns.format.name != LONG.name and any(side in header for side in pair)
        wanted += [("covariate", side) for side in (pair if of_sides else (name,))]
    for argument, name in wanted:
        if header.count(name) > 1:
            raise InputError(f"{where}: there are {header.count(name)} columns {name!r}")
        if name not in header and name not in places:
            called = option(further.clustered_by if argument == "cluster" else argument)
            raise InputError(f"{where}: {called}: no column {name!r} ({hint(name, header)})")
        at = header.index(name) if name in header else places[name]
        places[further_key(argument, name)] = at
    return replace(columns, places=places)


class GameFacts(NamedTuple):
    """What else is known of some games."""

    weights: Floats  # (games,) 1 without a column for them
    clusters: Ints  # (games, columns) numbers of the cells
    covariates: Floats  # (rows, covariates) of the side of each row
    homes: Floats  # (rows,) 1 of who is at home, else 0

    def at(self, games: Ints, rows: Ints) -> GameFacts:
        """Return what is known of some of the games, and of some of the rows."""
        return GameFacts(
            self.weights[games], self.clusters[games], self.covariates[rows], self.homes[rows]
        )
