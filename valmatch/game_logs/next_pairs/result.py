"""The result of choosing pairs to play next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from valmatch.game_logs.batch.result import columns_of
from valmatch.storage.results import Result

WIDEST = ("player_a", "player_b", "std_error")


class PairRow(NamedTuple):
    """A row of ``batch.csv``: the first player is the higher."""

    place: int
    player_a: str
    player_b: str
    value: float
    expected_score: float
    std_error: float
    games: int
    propensity: float


@dataclass(frozen=True, repr=False)
class NextPairs(Result):
    """Pairs to play next, and how unsure the ratings are that they are chosen by.

    Attributes
    ----------
    policy, goal : str
        What they are chosen by and what for; the goal is empty where the policy has none.
    pairs : sequence of PairRow
        The pairs in order.
    facts : dict
        Further entries of ``summary.json``: what was asked for, and how unsure each goal is.
    lines : list of str
        What has to be said, a line each.
    """

    policy: str
    goal: str
    pairs: Sequence[PairRow]
    facts: dict[str, Any]
    lines: Sequence[str]
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was chosen, in one line."""
        n = len(self.pairs)
        goal = f", {self.goal}" if self.goal else ""
        of = f"{self.facts['players']:,} players"
        return f"{n:,} pair{'s' * (n != 1)} to play next of {of}, by {self.policy}{goal}"

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each pair, as ``batch.csv`` has them."""
        return columns_of(PairRow, self.pairs)

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        goal = self.goal or None
        return {"policy": self.policy, "goal": goal, **self.facts, "notes": list(self.lines)}

    def document(self) -> dict[str, Any]:
        """Return the summary with the pairs."""
        return {**self.summary(), "pairs": [row._asdict() for row in self.pairs]}
