"""Capacity problems: pay as little as possible for capacities that keep the mean load bounded.

Minimise c.x where E[sum of w e / x] <= 6: each term of the load varies in proportion to its mean.
The best point is known: x is in proportion to sqrt(w / c).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    Outcome,
    Positive,
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

LIMIT, LOW, HIGH, START = 6.0, 0.5, 60.0, 20.0
SIGMA = 1.5
"""Deviation of the logarithm of a heavy-tailed term."""

MODEL = "capacity"


@dataclass(frozen=True)
class Capacity:
    """A capacity problem, with its truth."""

    costs: tuple[float, ...]
    loads: tuple[float, ...]
    heavy: bool  # lognormal terms instead of exponential ones

    @property
    def names(self) -> list[str]:
        """The variables."""
        return [f"x{k + 1}" for k in range(len(self.costs))]

    @property
    def best(self) -> float:
        """The least cost that keeps the limit."""
        return float(np.sqrt(np.multiply(self.costs, self.loads)).sum() ** 2 / LIMIT)

    def expected(self, x: Floats) -> tuple[float, float]:
        """Return cost and expected load."""
        return float(np.dot(self.costs, x)), float((self.loads / x).sum())


THREE = (2.0, 1.0, 0.5), (4.0, 10.0, 15.0)
SIX = (1.0, 0.8, 0.6, 0.5, 0.4, 0.2), (1.0, 3.0, 4.0, 5.0, 7.0, 9.0)

Title = Literal["capacity-3", "capacity-6", "capacity-3-heavy", "capacity-6-heavy"]
PROBLEMS: dict[str, Capacity] = {
    "capacity-3": Capacity(*THREE, heavy=False),
    "capacity-6": Capacity(*SIX, heavy=False),
    "capacity-3-heavy": Capacity(*THREE, heavy=True),
    "capacity-6-heavy": Capacity(*SIX, heavy=True),
}
X: Any = Field(default=START, description="A capacity.")


class CapacityFactors(Factors):
    """Which problem, and where."""

    problem: Title = Field(default="capacity-3", description="Which problem it is.")
    x1: Positive = X
    x2: Positive = X
    x3: Positive = X
    x4: Positive = X
    x5: Positive = X
    x6: Positive = X


class CapacityModel(Model[Floats]):
    """A cost that is known and a load that varies."""

    responses = Responses(Response("cost", "", "what is paid"), Response("load", "", "the load"))
    drawn_by: frozenset[str] = frozenset()

    def __init__(self, factors: CapacityFactors, files: Mapping[str, Path]) -> None:
        posed = PROBLEMS[factors.problem]
        x = np.array([getattr(factors, name) for name in posed.names])
        self._cost, self._terms, self._heavy = posed.expected(x)[0], posed.loads / x, posed.heavy

    def draw(self, streams: Streams, replication: int) -> Floats:
        """Return a number of mean 1 for each term."""
        stream, size = streams.stream(replication, 0), self._terms.size
        if self._heavy:
            return stream.lognormal(-0.5 * SIGMA * SIGMA, SIGMA, size)
        return stream.exponential(1.0, size)

    def run(self, inputs: Floats) -> Outcome:
        """Return cost and load."""
        return Outcome({"cost": self._cost, "load": float(self._terms @ inputs)})

    def record(self, inputs: Floats) -> Record:
        """Return the same, with the terms of the load."""
        return Record(self.run(inputs).responses, [Table("terms", {"load": self._terms * inputs})])


ENTRY = ModelEntry(CapacityFactors, "capacities that are paid for", f"{__name__}:CapacityModel")


@contextmanager
def registered() -> Iterator[None]:
    """Let configs name the model."""
    with mock.patch.dict(OWN, {MODEL: ENTRY}):
        yield


def config_of(name: str) -> Config:
    """Return the config of a problem."""
    bounds = {"low": LOW, "high": HIGH, "start": START}
    posed = {
        "variables": dict.fromkeys(PROBLEMS[name].names, bounds),
        "objective": {"cost": {"response": "cost"}},
        "constraints": {"load": {"response": "load", "at_most": LIMIT}},
    }
    return load_config({"model": MODEL, "factors": {"problem": name}, "optimize": posed})
