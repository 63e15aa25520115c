"""Models of one to six variables whose best solutions are known, as plug-in models are."""

from __future__ import annotations

import math
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
)
from valmatch.config.config import Config
from valmatch.config.loading import load_config
from valmatch.kernels.arrays import Floats
from valmatch.models.registry import OWN

X: Any = Field(default=20.0, description="A variable.")


class Variables(Factors):
    """Where a problem is evaluated."""

    x1: Number = X
    x2: Number = X
    x3: Number = X
    x4: Number = X
    x5: Number = X
    x6: Number = X


@contextmanager
def registered() -> Iterator[None]:
    """Register the models as ``rules`` and ``loads``."""
    entries = {
        "rules": ModelEntry(RuleFactors, "rules whose worth is known", f"{__name__}:Rules"),
        "loads": ModelEntry(LoadFactors, "loads whose worth is known", f"{__name__}:Loads"),
    }
    with mock.patch.dict(OWN, entries):
        yield


# Rules: additive noise, which near rules share.

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


class RuleFactors(Variables):
    """Which problem, and where."""

    rule: Title = Field(default="monotone", description="Which problem it is.")


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
        """Show nothing more."""
        return Record(self.run(inputs).responses, [])


# Loads: noise that is skewed, in proportion, or yes and no.

YES_NO = "event"
"""The response of those whose load is a probability."""


@dataclass(frozen=True)
class Load:
    """Minimise the sum of c x^power where the mean of scale sum(w / x) is at most limit."""

    c: tuple[float, ...]  # costs of the variables
    w: tuple[float, ...]  # loads of the variables
    # "normal", "exponential", "event", a lognormal sigma; "terms", "heavy terms": one a variable
    noise: str | float
    limit: float = 6.0
    scale: float = 1.0
    power: float = 1.0
    low: float = 0.5  # of every variable, like high and start
    high: float = 60.0
    start: float = 20.0
    own: float = 0.0  # share of a factor that differs between points

    def config(self, title: str) -> Config:
        """Return the config of the problem."""
        bounds = {"low": self.low, "high": self.high, "start": self.start}
        bounded = YES_NO if self.noise == YES_NO else "load"
        return load_config(
            {
                "model": "loads",
                "factors": {"title": title},
                "optimize": {
                    "variables": {f"x{k + 1}": bounds for k in range(len(self.c))},
                    "objective": {"cost": {"response": "cost"}},
                    "constraints": {"load": {"response": bounded, "at_most": self.limit}},
                },
            }
        )

    def terms(self, point: Mapping[str, float]) -> Floats:
        """Return the terms of the expected load of a point, one a variable."""
        terms: Floats = self.scale * np.array(self.w) / np.array(list(point.values()))
        return terms

    def expected(self, point: Mapping[str, float]) -> tuple[float, float]:
        """Return the cost and the expected load of a point."""
        x = np.array(list(point.values()))
        return float(np.dot(self.c, x**self.power)), float(self.terms(point).sum())

    @property
    def best(self) -> float:
        """The least cost, where no variable is at a bound: the multiplier rule solves it."""
        c, w, p = np.array(self.c), np.array(self.w), self.power
        x = (w / (p * c)) ** (1.0 / (p + 1.0))
        x *= self.scale * float((w / x).sum()) / self.limit
        return float((c * x**p).sum())


C3, W3 = (1.0, 2.0, 0.5), (15.0, 10.0, 4.0)
C6, W6 = (1.0, 2.0, 0.5, 1.5, 0.8, 1.2), (15.0, 10.0, 4.0, 8.0, 2.0, 12.0)
NARROW = {"limit": 0.2 / 1.03, "low": 10.0, "high": 10.2, "start": 10.1}

CAPACITY_3 = (2.0, 1.0, 0.5), (4.0, 10.0, 15.0)
CAPACITY_6 = (1.0, 0.8, 0.6, 0.5, 0.4, 0.2), (1.0, 3.0, 4.0, 5.0, 7.0, 9.0)

CAPACITIES = {
    "capacity-3": Load(*CAPACITY_3, "terms"),
    "capacity-6": Load(*CAPACITY_6, "terms"),
    "capacity-3-heavy": Load(*CAPACITY_3, "heavy terms"),
    "capacity-6-heavy": Load(*CAPACITY_6, "heavy terms"),
}
"""The problems of `results/solver-comparison`: pay little for capacities that bound the load."""

SIGMA = 1.5  # deviation of the logarithm of a heavy term

LOADS = {
    "line": Load((1.0,), (29.0,), "exponential"),
    "two": Load((1.0, 3.0), (20.0, 9.0), 0.5),
    "three": Load(C3, W3, "exponential"),
    "three terms": Load(C3, W3, "terms"),
    "three of their own": Load(C3, W3, "exponential", own=0.5),
    "curved": Load((1.0, 0.5, 2.0, 1.0), (9.0, 4.0, 12.0, 3.0), "exponential", power=1.5),
    "six": Load(C6, W6, "exponential"),
    "six heavy": Load(C6, W6, 1.5),
    "three heavy": Load(C3, W3, 1.5),
    "rare events": Load(C3, W3, YES_NO, limit=0.02, scale=0.0016),
    "events": Load((1.0, 2.0), (15.0, 10.0), YES_NO, limit=0.1, scale=0.016),
}
"""Problems with a plainly feasible start."""

BOXES = {
    f"box {noise}": Load((1.0, 2.0), (1.0, 1.0), noise, **NARROW)
    for noise in ("normal", "exponential", 1.5)
} | {
    "box event": Load((1.0, 2.0), (1.0, 1.0), YES_NO, **{**NARROW, "limit": 0.02 / 1.03}, scale=0.1)
}
"""Problems whose every point breaks its limit by 1 to 3 %."""


class LoadFactors(Variables):
    """Which problem, and where."""

    title: str = Field(default="line", description="Which problem it is.")


class Loads(Model[tuple[Floats, Floats]]):
    """The cost is exact, the load has noise of mean 1 as a factor."""

    responses = Responses(
        Response("cost", "", "what is paid"),
        Response("load", "", "load"),
        Response(YES_NO, "", "whether it happened", limits=(0.0, 1.0)),
    )
    drawn_by: frozenset[str] = frozenset()

    def __init__(self, factors: LoadFactors, files: Mapping[str, Path]) -> None:
        self._rule = rule = (LOADS | BOXES | CAPACITIES)[factors.title]
        point = {f"x{k + 1}": getattr(factors, f"x{k + 1}") for k in range(len(rule.c))}
        self._terms = rule.terms(point)
        self._cost, self._load = rule.expected(point)
        x = np.array(list(point.values()))
        self._place = float(((x - rule.low) / (rule.high - rule.low)).sum())

    def draw(self, streams: Streams, replication: int) -> tuple[Floats, Floats]:
        """Return exponential numbers, then a normal one and uniform ones; or heavy numbers."""
        stream = streams.stream(replication, 0)
        if self._rule.noise == "heavy terms":
            return stream.lognormal(-0.5 * SIGMA**2, SIGMA, self._terms.size), np.zeros(4)
        exponential = stream.standard_exponential(6)
        return exponential, np.append(stream.standard_normal(1), stream.uniform(size=3))

    def run(self, inputs: tuple[Floats, Floats]) -> Outcome:
        """Multiply the load by the noise; or let it happen."""
        of_terms, (normal, uniform, phase, frequency) = inputs
        noise, place = self._rule.noise, self._place
        load = self._load
        if noise == "normal":
            load *= 1.0 + 0.3 * normal
        elif noise in ("terms", "heavy terms"):
            load = float(self._terms @ of_terms[: self._terms.size])
        elif isinstance(noise, float):
            load *= math.exp(noise * normal - noise**2 / 2.0)
        elif noise == "exponential":
            load *= of_terms[0]
        own = math.sqrt(2.0) * math.sin(2.0 * math.pi * (phase + 10.0 * frequency * place))
        happened = float(uniform < self._load)
        load *= 1.0 + self._rule.own * own
        return Outcome({"cost": self._cost, "load": float(load), YES_NO: happened})

    def record(self, inputs: tuple[Floats, Floats]) -> Record:
        """Show nothing more."""
        return Record(self.run(inputs).responses, [])
