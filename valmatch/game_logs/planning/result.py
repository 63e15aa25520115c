"""The result of a plan: curves over numbers of games, and where they reach what is wanted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.game_logs.next_pairs.coverage import caution
from valmatch.game_logs.planning.leagues import MEASURES, UNIFORM
from valmatch.game_logs.planning.options import PlanOptions
from valmatch.kernels.arrays import Floats, Ints
from valmatch.storage.results import Result

AIMED = {
    "half_width": "a mean half-width of the differences of {value:g} points",
    "named_best": "naming the best in {value:g} of all leagues",
    "shown_best": "one who alone is tied for first in {value:g} of all leagues",
}
"""What is wanted, in words, by measure."""


@dataclass(frozen=True, repr=False)
class PlannedGames(Result):
    """How many games reach a goal.

    Attributes
    ----------
    options : PlanOptions
        What was asked.
    players : int
        How many there are.
    grid : numpy.ndarray
        (points,) numbers of games.
    measured : numpy.ndarray
        (replications, points, 4) half-width, whether the best was named and shown, coverage.
    games, low, high : int or None
        Games that reach the goal, and the ends of their interval; None beyond `max_games`.
    """

    options: PlanOptions
    players: int
    grid: Ints
    measured: Floats
    games: int | None
    low: int | None
    high: int | None
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was planned, in one line."""
        o = self.options
        policy = f"{o.policy} ({o.goal_of_policy})" if o.goal_of_policy else o.policy
        return f"plan, {self.players:,} players, {policy}, {o.replications:,} replications"

    @property
    def reached(self) -> bool:
        """Whether the goal is reached within `max_games`."""
        return self.games is not None

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``plan.csv``; what is not known in every replication is None."""
        found: dict[str, list[Any]] = {"games": self.grid.tolist()}
        for k, name in enumerate(MEASURES):
            means, errors = zip(
                *(_mean(column) for column in self.measured[:, :, k].T), strict=True
            )
            found[name], found[f"{name}_std_error"] = list(means), list(errors)
        return found

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            **self.options.identity,
            "players": self.players,
            "games": self.games,
            "low": self.low,
            "high": self.high,
            "notes": self.lines,
        }

    @property
    def lines(self) -> list[str]:
        """What has to be said of the intervals, a line each; nothing where nobody chooses."""
        o = self.options
        return [] if o.policy == UNIFORM else [caution(o.policy, o.goal_of_policy)]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        return said_of_plan(self.summary(), int(self.grid[0]))


def said_of_plan(summary: Mapping[str, Any], first: int) -> str:
    """Say what a plan found."""
    aim = AIMED[summary["aim"]].format(value=float(summary["value"]))
    games, low, high = (summary[name] for name in ("games", "low", "high"))
    if games is None:
        return f"{summary['max_games']:,} games do not reach {aim}"
    if games == first:
        return f"{games:,} games or fewer reach {aim}"
    ends = f"{low:,} or more" if high is None else f"{low:,} to {high:,}"
    return f"{games:,} games reach {aim} ({100.0 * summary['level']:g}%: {ends})"


def _mean(values: Sequence[float] | Floats) -> tuple[float | None, float | None]:
    """Return a mean and its standard error, of what is defined."""
    known = [float(value) for value in values if not math.isnan(value)]
    if not known or not all(map(math.isfinite, known)):
        return None, None
    mean = math.fsum(known) / len(known)
    if len(known) < 2:
        return mean, None
    variance = math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1)
    return mean, math.sqrt(variance / len(known))


def reached_at(value: float) -> int | None:
    """Return a number of games, rounded up; None for one beyond all."""
    return math.ceil(value - 1e-9) if np.isfinite(value) else None
