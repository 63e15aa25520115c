"""The formats of game logs, and which column of a file has which meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.options import FileOptions
from valmatch.inputs.csv_reader import other_separator
from valmatch.kernels.arrays import Floats, Ints
from valmatch.text.suggestions import closest_name, hint
from valmatch.text.terminal import VALUE, shortened, shown

# A column that is so like an unknown one that a misspelling is the likely explanation.
_ALIKE = 0.8


@dataclass(frozen=True)
class Format:
    """A shape of game logs."""

    name: str  # what it is called
    # required, optional: meanings of its columns
    required: tuple[str, ...]
    optional: tuple[str, ...]
    together: tuple[str, ...] = ()  # optional columns of which all or none must be there


LONG = Format("long", ("game", "player", "score"), ("team", "minutes", "enabled", "time"))
RESULTS = Format(
    "results",
    ("winner", "loser"),
    ("game", "winner_score", "loser_score", "draw", "minutes", "time"),
    together=("winner_score", "loser_score"),
)
SCORES = Format(
    "scores",
    ("home", "away", "home_score", "away_score"),
    ("game", "minutes", "time", "neutral"),
)
PLAYERS = Format("players", ("player_a", "player_b", "result"), ("game", "minutes", "time"))
OUTCOMES = Format("outcomes", ("home", "away", "result"), (*PLAYERS.optional, "neutral"))
FORMATS = (LONG, RESULTS, SCORES, PLAYERS, OUTCOMES)


@dataclass(frozen=True)
class Columns:
    """The columns of a log that are used."""

    format: Format  # the shape of the log
    places: Mapping[str, int]  # index in the header by meaning
    names: Sequence[str]  # all names in the header


def find_columns(
    where: str,
    header: Sequence[str],
    options: FileOptions,
    formats: Sequence[Format] = FORMATS,
    what: str = "a log has",
    used: Sequence[str] = (),
) -> Columns:
    """Find the columns of a log, or of another file of games, by its header.

    Columns without a meaning are left alone, unless their name looks like a misspelt one.
    """
    given = options.columns
    if len(header) == 1 and (other := other_separator(header, options.separator)):
        raise InputError(
            f"{where}: the header is one cell with {other}s in it:"
            f" {option('separator')} {other} reads it"
        )
    meanings = list(dict.fromkeys(m for f in formats for m in (*f.required, *f.optional)))
    for meaning, name in given.items():
        if meaning not in meanings:
            raise InputError(
                f"{option('columns')}: {meaning}: no such meaning ({hint(meaning, meanings)})"
            )
        if name not in header:
            raise InputError(
                f"{where}: {option('columns')}: no column {name!r} ({hint(name, header)})"
            )
    names = {meaning: meaning for meaning in meanings} | dict(given)
    format_ = _format(where, header, names, formats, what)
    wrong = [m for m in given if m not in (*format_.required, *format_.optional)]
    if wrong:
        allowed = ", ".join((*format_.required, *format_.optional))
        raise InputError(
            f"{option('columns')}: {wrong[0]}: has no meaning in a log in {format_.name} format"
            f" (allowed: {allowed})"
        )
    return Columns(format_, _places(where, header, format_, names, used), header)


def _format(
    where: str,
    header: Sequence[str],
    names: Mapping[str, str],
    formats: Sequence[Format],
    what: str,
) -> Format:
    """Return the format whose required columns are there."""
    missing = {f: [m for m in f.required if names[m] not in header] for f in formats}
    best = min(formats, key=lambda f: (len(missing[f]) / len(f.required), formats.index(f)))
    if missing[best]:
        meaning = missing[best][0]
        name = names[meaning]
        near = closest_name(name, header)
        meant = f"did you mean {shortened(near)}? " if near else ""
        needs = " or ".join(", ".join(f.required) for f in formats)
        found = shortened(", ".join(header), 2 * VALUE)
        raise InputError(
            f"{where}: no column {shown(name)} ({meant}{what} the columns {needs}; found:"
            f" {found}; {option('columns')} {meaning}=NAME says which column it is)"
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
    places = {}
    unused = [name for name in header if name not in names.values() and name not in used]
    for meaning in (*format_.required, *format_.optional):
        name = names[meaning]
        if header.count(name) > 1:
            raise InputError(f"{where}: there are {header.count(name)} columns {name!r}")
        if name in header:
            places[meaning] = header.index(name)
            continue
        near = closest_name(name, unused, _ALIKE)
        if near:
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


def _with_grounds(format_: Format) -> Format:
    """Return a format in which games may be said to be on neutral ground, or who is at home."""
    more = ("home", "neutral") if format_ is LONG else ("neutral",)
    optional = (*format_.optional, *(name for name in more if name not in format_.optional))
    return Format(format_.name, format_.required, optional, format_.together)


WHOLE_FORMATS = tuple(map(_with_grounds, FORMATS))  # the formats of logs that are rated as a whole


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


@dataclass(frozen=True)
class FurtherColumns:
    """Where those columns are: keys of the places of `Columns`."""

    weight: str = ""  # that of the weights; "" for none
    clusters: Sequence[str] = ()  # those of clusters
    # two for each covariate of a first and a second side, else one
    covariates: Sequence[tuple[str, ...]] = field(default_factory=list)


def place_further(where: str, columns: Columns, further: Further) -> tuple[Columns, FurtherColumns]:
    """Find the further columns of a log."""
    header, places = columns.names, dict(columns.places)

    def key_of(name: str, argument: str) -> str:
        """Return the key of a column, which may have a meaning, too."""
        if header.count(name) > 1:
            raise InputError(f"{where}: there are {header.count(name)} columns {name!r}")
        if name not in header:
            if name in places:
                return name
            near = hint(name, header)
            raise InputError(f"{where}: {option(argument)}: no column {name!r} ({near})")
        place = header.index(name)
        known = next((key for key, at in places.items() if at == place), None)
        if known is None:
            known = f"column {name}"
            places[known] = place
        return known

    def of_sides(name: str) -> tuple[str, ...]:
        pair = (f"{name}_a", f"{name}_b")
        if columns.format.name != LONG.name and any(one in header for one in pair):
            return tuple(key_of(one, "covariate") for one in pair)
        return (key_of(name, "covariate"),)

    if further.timed_by and "time" not in places:
        raise InputError(
            f"{where}: {further.timed_by}: needs times ({option('columns')} time=NAME says"
            " which column has them)"
        )
    weight = key_of(further.weight, "weight") if further.weight else ""
    clusters = [key_of(name, further.clustered_by) for name in further.clusters]
    covariates = [of_sides(name) for name in further.covariates]
    return (
        Columns(columns.format, places, header),
        FurtherColumns(weight, clusters, covariates),
    )


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


def joined_facts(parts: Sequence[GameFacts]) -> GameFacts:
    """Return what is known of the games of several parts."""
    return GameFacts(*map(np.concatenate, zip(*parts, strict=True)))
