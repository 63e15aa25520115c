"""Models of one to six variables whose expected responses are known, as plug-in models are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from unittest import mock

import numpy as np
from pydantic import Field

from valmatch import (
    Factors,
    Model,
    ModelEntry,
    Number,
    Outcome,
    Record,
    Response,
    Responses,
    Streams,
    Table,
)
from valmatch.config.config import Config
from valmatch.config.loading import load_config
from valmatch.kernels.arrays import Floats
from valmatch.models.registry import OWN

Truth = Callable[[Floats], tuple[float, float]]


@dataclass(frozen=True)
class Rule:
    """A problem with what is expected: minimise cost where wait <= 5, over x from low to high."""

    truth: Truth  # expected cost and wait of x
    low: float  # of every variable, like high and start
    high: float
    start: float
    best: float  # cost of the best feasible x
    common: float = 0.3  # deviation of the noise that all x share
    own: float = 0.1  # and of what differs between them
    dimensions: int = 1  # number of variables
    today: float | None = None  # the config's own value of every variable, if it has one

    def config(self, title: str, **changes: Any) -> Config:  # noqa: ANN401
        """Return the config of the problem."""
        names = [f"x{k + 1}" for k in range(self.dimensions)]
        own = {} if self.today is None else dict.fromkeys(names, self.today)
        bounds = {"low": self.low, "high": self.high, "start": self.start}
        posed = {
            "variables": dict.fromkeys(names, bounds),
            "objective": {"cost": {"response": "cost"}},
            "constraints": {"wait": {"response": "wait", "at_most": 5.0}},
        }
        return load_config(
            {"model": "rules", "factors": {"rule": title, **own}, "optimize": {**posed, **changes}}
        )

    def expected(self, point: Mapping[str, float]) -> tuple[float, float]:
        """Return the expected cost and wait of a point."""
        return self.truth(np.array(list(point.values())))


def _trade(x: Floats) -> tuple[float, float]:
    """Cost grows with tolerance, the wait falls: 5 at 93 in one dimension."""
    return 0.48 * float(x.mean()), 2.0 + 3.0 * 93.0 / float(x.mean())


def _curve(x: Floats) -> tuple[float, float]:
    """Put a valley at 60, and the bound at 50 below it."""
    return 50.0 + float(((x - 60.0) ** 2).mean()) / 40.0, 5.0 + (float(x.mean()) - 50.0) / 10.0


def _valley(x: Floats) -> tuple[float, float]:
    """Let the best point hold the bound with much to spare."""
    return 20.0 + float(((x - 30.0) ** 2).mean()) / 50.0, 3.0


def _flat(x: Floats) -> tuple[float, float]:
    """Nothing changes the cost."""
    return 40.0, 4.0 + float(x.mean()) / 200.0


def _sums(x: Floats) -> tuple[float, float]:
    """Like matchmaking: the first variables cost, all but the last shorten the wait."""
    near = x[: max(1, len(x) - 1)]
    return 0.3 * float(near.sum()), 2.0 + float((60.0 / (10.0 + near)).mean())


RULES = {
    "monotone": Rule(_trade, 10.0, 400.0, 100.0, 0.48 * 93.0),
    "binding": Rule(_trade, 10.0, 400.0, 96.0, 0.48 * 93.0, 0.2, 0.05),
    "curved": Rule(_curve, 0.0, 100.0, 47.0, 52.5, 0.2, 0.1),
    "valley": Rule(_valley, 0.0, 100.0, 80.0, 20.0),
    "flat": Rule(_flat, 0.0, 100.0, 50.0, 40.0),
    "noisy": Rule(_trade, 10.0, 400.0, 110.0, 0.48 * 93.0, 0.5, 0.5),
    "two": Rule(_curve, 0.0, 100.0, 46.0, 52.5, 0.2, 0.1, 2),
    "three": Rule(_trade, 10.0, 400.0, 100.0, 0.48 * 93.0, 0.3, 0.1, 3),
    "flat four": Rule(_flat, 0.0, 100.0, 20.0, 40.0, 0.3, 0.3, 4),
    "six": Rule(_sums, 0.0, 100.0, 14.0, 15.0, 0.3, 0.1, 6),
}
"""Problems whose start is feasible, by name."""

Title = Literal[
    "monotone", "binding", "curved", "valley", "flat", "noisy", "two", "three", "flat four", "six"
]
X: Any = Field(default=50.0, description="Value of a rule.")


class RuleFactors(Factors):
    """Which problem, and where."""

    rule: Title = Field(default="monotone", description="Which problem it is.")
    x1: Number = X
    x2: Number = X
    x3: Number = X
    x4: Number = X
    x5: Number = X
    x6: Number = X


class Rules(Model[Floats]):
    """Expected responses plus noise, some of which depends on the rule."""

    responses = Responses(Response("cost", "", "what is paid"), Response("wait", "minutes", "wait"))
    drawn_by: frozenset[str] = frozenset()

    def __init__(self, factors: RuleFactors, files: Mapping[str, Path]) -> None:
        rule = RULES[factors.rule]
        x = np.array([getattr(factors, f"x{k + 1}") for k in range(rule.dimensions)])
        self._truth = np.array(rule.truth(x))
        self._noise = rule.common, rule.own * np.sqrt(2.0)
        self._place = float(((x - rule.low) / (rule.high - rule.low)).sum())

    def draw(self, streams: Streams, replication: int) -> Floats:
        """Return what is common, then frequencies and phases of what differs."""
        stream = streams.stream(replication, 0)
        common, waves = stream.standard_normal(2), stream.uniform(0.0, 1.0, 4)
        return np.concatenate([common, waves])

    def run(self, inputs: Floats) -> Outcome:
        """Add the noise; that of near rules is nearly the same."""
        common, own = self._noise
        angles = 2.0 * np.pi * (inputs[4:] + 10.0 * inputs[2:4] * self._place)
        cost, wait = self._truth + common * inputs[:2] + own * np.sin(angles)
        return Outcome({"cost": float(cost), "wait": float(wait)})

    def record(self, inputs: Floats) -> Record:
        """Show the noise."""
        return Record(self.run(inputs).responses, [Table("noise", {"value": inputs})])


ENTRY = ModelEntry(RuleFactors, "rules whose worth is known", "tests.support.known_rules:Rules")


@contextmanager
def registered() -> Iterator[None]:
    """Register the model as ``rules``."""
    with mock.patch.dict(OWN, {"rules": ENTRY}):
        yield
