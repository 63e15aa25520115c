"""Further columns of each game, read where a whole log is rated at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.reading.columns import FORMATS, LONG, Columns, Format
from valmatch.kernels.arrays import Floats, Ints
from valmatch.text.suggestions import hint


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


class Facts(NamedTuple):
    """What else is known of some games."""

    weights: Floats  # (games,) 1 without a column for them
    clusters: Ints  # (games, columns) numbers of the cells
    covariates: Floats  # (rows, covariates) of the side of each row
    homes: Floats  # (rows,) 1 of who is at home, else 0

    def at(self, games: Ints, rows: Ints) -> Facts:
        """Return what is known of some of the games, and of some of the rows."""
        return Facts(
            self.weights[games], self.clusters[games], self.covariates[rows], self.homes[rows]
        )


def joined_facts(parts: Sequence[Facts]) -> Facts:
    """Return what is known of all games of at least one part, one part after the other."""
    return Facts(*(np.concatenate(column) for column in zip(*parts, strict=True)))


NOTHING = Facts(np.zeros(0), np.zeros((0, 0), np.int64), np.zeros((0, 0)), np.zeros(0))
"""What else is known where nothing is wanted."""
