"""The result of rating a whole log: tables of players, differences and coefficients."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.storage.result_files import ResultFiles, damaged
from valmatch.storage.results import Result, warnings_entry, warnings_in

RATINGS, SUMMARY = "ratings.csv", "summary.json"
BOOTSTRAP, DAYS = "bootstrap.csv", "days.csv"

DIGITS = 6  # decimals of points, beyond which the search for the maximum has not looked
ANCHOR = "anchor"  # the status of a player whose rating is given
DRAW_WEIGHT = "draw_weight"  # the name of nu among the coefficients


def superiority_of(leads: Floats, errors: Floats) -> Floats:
    """Return how likely each lead is one in truth, by its standard error and a flat prior."""
    from scipy.special import ndtr  # takes long to import, and who reads ratings needs none of it

    sure = np.where(leads == 0.0, 0.0, np.copysign(np.inf, leads))
    ratio = np.divide(leads, errors, out=sure, where=errors > 0.0)
    found: Floats = ndtr(ratio)
    return found


class PlayerRow(NamedTuple):
    """A row of ``ratings.csv``; None of what is not known."""

    rank: int | None
    player: str
    rating: float | None
    std_error: float | None
    low: float | None
    high: float | None
    rank_low: int | None
    rank_high: int | None
    games: int
    wins: int
    losses: int
    draws: int
    group: int
    status: str


class CoefficientRow(NamedTuple):
    """A row of ``coefficients.csv``."""

    name: str
    value: float
    std_error: float | None
    low: float | None
    high: float | None
    unit: str


class DifferenceRow(NamedTuple):
    """A row of ``differences.csv``: the first player is the higher."""

    player_a: str
    player_b: str
    difference: float
    std_error: float
    low: float
    high: float
    superiority: float
    low_together: float | None
    high_together: float | None
    linked: str
    games: int


class BootstrapRow(NamedTuple):
    """A row of ``bootstrap.csv``."""

    player: str
    std_error: float | None
    low: float | None
    high: float | None
    unrated: float


class DayRow(NamedTuple):
    """A row of ``days.csv``."""

    player: str
    day: str | int
    rating: float
    std_error: float | None
    low: float | None
    high: float | None
    games: int


@dataclass(frozen=True)
class Posterior:
    """The rated players, the best first, and how sure their ratings are together."""

    names: list[str]  # the players
    mean: Floats  # their ratings
    covariance: Floats | None  # of these; None without intervals, or of too many players
    groups: Ints  # the part of each that no game links to another
    games: Any  # (players, players) games between each two; None without a covariance

    def differences(self, quantile: float, critical: float | None) -> Iterator[DifferenceRow]:
        """Yield the differences of all pairs, those of the best first."""
        assert self.covariance is not None
        own = np.diag(self.covariance)
        for k, name in enumerate(self.names):
            later = slice(k + 1, None)
            leads = self.mean[k] - self.mean[later]
            variances = own[k] + own[later] - 2.0 * self.covariance[k, later]
            errors = np.sqrt(np.maximum(variances, 0.0))
            likely = superiority_of(leads, errors)
            linked: Bools = self.groups[k] == self.groups[later]
            between = self.games[[k]].toarray()[0, later]
            columns = (leads, errors, likely, linked, between)
            rows = zip(self.names[later], *(column.tolist() for column in columns), strict=True)
            for other, lead, error, superiority, one, games in rows:
                half = quantile * error
                wide = None if critical is None else critical * error
                yield DifferenceRow(
                    name,
                    other,
                    round(lead, DIGITS),
                    round(error, DIGITS),
                    round(lead - half, DIGITS),
                    round(lead + half, DIGITS),
                    round(superiority, 9),
                    None if wide is None else round(lead - wide, DIGITS),
                    None if wide is None else round(lead + wide, DIGITS),
                    "yes" if one else "no",
                    int(games),
                )


@dataclass(frozen=True, repr=False)
class BatchRating(Result):
    """A log that was rated as a whole.

    Attributes
    ----------
    system : str
        Name of the system.
    facts : dict
        What ``summary.json`` holds besides coefficients and who is tied for first.
    players : sequence of PlayerRow
        By rating, those without one last.
    coefficients : sequence of CoefficientRow
        Of the home side, of covariates, of draws.
    posterior : Posterior
        The rated players.
    bootstrap : sequence of BootstrapRow
        A check of the intervals, if asked for.
    days : sequence of DayRow
        Ratings by player and day, where players have such.
    complete : bool
        Whether everybody who played is rated.
    notes : sequence of str
        What the table has to say of the ratings.
    source : str
        The log.
    warnings : sequence of str
        What has to be known of the log, a sentence each.
    """

    presented_by = "whole_log"

    system: str
    facts: dict[str, Any]
    players: Sequence[PlayerRow]
    coefficients: Sequence[CoefficientRow]
    posterior: Posterior
    bootstrap: Sequence[BootstrapRow] = ()
    days: Sequence[DayRow] = ()
    complete: bool = True
    notes: Sequence[str] = ()
    source: str = ""
    warnings: Sequence[str] = ()
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was rated, in one line."""
        facts = self.facts
        rated, games = f"{facts['rated']:,} of {facts['players']:,} players", facts["games_used"]
        return f"{self.system}, {rated} by {games:,} game{'s' * (games != 1)}"

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each player, the best first."""
        return columns_of(PlayerRow, self.players)

    @property
    def tied_for_first(self) -> list[str]:
        """Those who may be the best."""
        return [row.player for row in self.players if row.rank_low == 1]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            "system": self.system,
            **self.facts,
            "tied_for_first": self.tied_for_first,
            "coefficients": [row._asdict() for row in self.coefficients],
            "notes": list(self.notes),
            **warnings_entry(self.warnings),
        }

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the rating that a folder holds."""
        from valmatch.game_logs.whole_log.saved_ratings import POSTERIOR, posterior_of

        given = files.json(SUMMARY)
        with damaged(files.folder / SUMMARY):
            system, _ = str(given.pop("system")), given.pop("tied_for_first")
            notes, warnings = list(map(str, given.pop("notes", ()))), warnings_in(given)
            given.pop("warnings", None)
            coefficients = [
                CoefficientRow(*(row[name] for name in CoefficientRow._fields))
                for row in given.pop("coefficients")
            ]
            level = float(given["level"])
            given["level"] = level
        players = _rows(files, RATINGS, PlayerRow)
        return cls(
            system,
            given,
            players,
            coefficients,
            posterior_of(files.folder / POSTERIOR, players),
            _rows(files, BOOTSTRAP, BootstrapRow) if files.has(BOOTSTRAP) else [],
            _rows(files, DAYS, DayRow) if files.has(DAYS) else [],
            all(row.rating is not None for row in players),
            notes,
            files.manifest.source,
            warnings,
            files.folder,
        )

    def document(self) -> dict[str, Any]:
        """Return the summary with the ratings."""
        return {**self.summary(), "ratings": [row._asdict() for row in self.players]}


TEXTS = ("player", "status", "day")
"""Columns of texts in the tables of a rating."""

COUNTS = ("rank", "rank_low", "rank_high", "games", "wins", "losses", "draws", "group")
"""Columns of whole numbers."""


def _rows(files: ResultFiles, name: str, kind: type[Any]) -> list[Any]:
    """Return the rows of a table."""
    fields = kind._fields
    numbers = [field for field in fields if field not in TEXTS]
    table = files.table(name, numbers, [field for field in fields if field in TEXTS])
    columns: dict[str, list[Any]] = dict(table.texts)
    for field, values in table.numbers.items():
        kept = (None if math.isnan(value) else value for value in values.tolist())
        whole = field in COUNTS
        columns[field] = [int(x) if whole and x is not None else x for x in kept]
    if "day" in columns:
        columns["day"] = [int(day) if day.lstrip("-").isdigit() else day for day in columns["day"]]
    return [kind(*row) for row in zip(*(columns[field] for field in fields), strict=True)]


def columns_of(kind: type[Any], rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Return rows of one kind as columns by name."""
    columns = list(map(list, zip(*rows, strict=True))) or [[] for _ in kind._fields]
    return dict(zip(kind._fields, columns, strict=True))
