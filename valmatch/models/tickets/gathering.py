"""Parts of what is measured of a replication: each can take in that of other tickets.

Sums are exact, so that a result does not depend on where blocks end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.statistics.exact_sums import ExactSums, sums_of


class Part(Protocol):
    """Something that is measured of some tickets."""

    def merge(self, other: Self) -> None:
        """Take in what is measured of others."""

    def value(self) -> float:
        """Return it; NaN where it is undefined."""


class Parts(dict[str, Part]):
    """What is measured, by response."""

    def merge(self, other: Mapping[str, Part]) -> None:
        """Take in what is measured of others; the first to be taken in are kept as they are."""
        for name, part in other.items():
            if name in self:
                self[name].merge(part)
            else:
                self[name] = part

    def values_of(self) -> dict[str, float]:
        """Return the responses."""
        return {name: part.value() for name, part in self.items()}


@dataclass
class Count:
    """How many there are."""

    n: int

    @classmethod
    def of(cls, which: Bools) -> Count:
        """Count those that are True."""
        return cls(int(np.count_nonzero(which)))

    def merge(self, other: Count) -> None:
        """Take in the count of others."""
        self.n += other.n

    def value(self) -> float:
        """Return the count, a whole number."""
        return self.n


@dataclass
class Mean:
    """The mean of what is defined."""

    sums: ExactSums

    @classmethod
    def of(cls, values: Floats | Ints | Bools) -> Mean:
        """Gather some values."""
        return cls(sums_of(np.asarray(values, np.float64)))

    def merge(self, other: Mean) -> None:
        """Take in other values."""
        self.sums.merge(other.sums)

    def value(self) -> float:
        """Return the mean; NaN of nothing."""
        return self.sums.mean if self.sums.n else math.nan


@dataclass
class TimeAverage:
    """The time average of a number of things that begin and end."""

    spent: ExactSums
    length: float

    @classmethod
    def of(
        cls, begin: Floats, end: Floats, weights: float | Ints, within: tuple[float, float]
    ) -> TimeAverage:
        """Gather some things, with how much each counts."""
        start, stop = within
        spent = np.clip(end, start, stop) - np.clip(begin, start, stop)
        return cls(sums_of(weights * spent), stop - start)

    def merge(self, other: TimeAverage) -> None:
        """Take in others."""
        self.spent.merge(other.spent)

    def value(self) -> float:
        """Return the average."""
        return self.spent.sum / self.length


@dataclass
class Percentile:
    """A percentile of what is defined, of which all values are kept."""

    lots: list[Floats]
    percent: float

    @classmethod
    def of(cls, values: Floats, percent: float) -> Percentile:
        """Gather some values; they are not copied if all are defined."""
        gone = np.isnan(values)
        return cls([values[~gone] if gone.any() else values], percent)

    def merge(self, other: Percentile) -> None:
        """Take in other values."""
        self.lots += other.lots

    def value(self) -> float:
        """Return the percentile; NaN of nothing."""
        values = np.concatenate(self.lots)
        if not values.size:
            return math.nan
        return float(np.percentile(values, self.percent, overwrite_input=True))


@dataclass
class CountedPercentile:
    """A percentile of what is defined, where many are alike, such as whole milliseconds."""

    values: Floats
    counts: Ints
    percent: float

    @classmethod
    def of(cls, values: Floats, percent: float) -> CountedPercentile:
        """Gather some values."""
        return cls(*np.unique(values[~np.isnan(values)], return_counts=True), percent)

    def merge(self, other: CountedPercentile) -> None:
        """Take in other values."""
        every = np.concatenate((self.values, other.values))
        counts = np.concatenate((self.counts, other.counts))
        self.values, of = np.unique(every, return_inverse=True)
        self.counts = np.zeros(self.values.size, np.int64)
        np.add.at(self.counts, of, counts)

    def value(self) -> float:
        """Return the percentile, as numpy does it; NaN of nothing."""
        last = np.cumsum(self.counts)
        if not last.size:
            return math.nan
        place = float((last[-1] - 1) * (self.percent / 100.0))
        lower = math.floor(place)
        upper = min(lower + 1, int(last[-1]) - 1)
        pair = self.values[np.searchsorted(last, [lower, upper], side="right")]
        return float(np.quantile(pair, place - lower))


@dataclass
class WorstPercentile:
    """A percentile in the worst group over that of all, where groups have enough values."""

    percent: float
    enough: int  # values of a group from which on its percentile says something
    # values, with the groups in which they are by some divisions, (divisions, n)
    lots: list[tuple[Floats, Ints]] = field(default_factory=list)

    def merge(self, other: WorstPercentile) -> None:
        """Take in other values."""
        self.lots += other.lots

    def value(self) -> float:
        """Return the ratio; NaN where no group has enough values, or it is over 0."""
        values = np.concatenate([values for values, _ in self.lots])
        worst = math.nan
        for of in np.concatenate([groups for _, groups in self.lots], axis=1):
            for number in np.unique(of):
                own = values[of == number]
                if own.size >= self.enough:
                    worst = np.fmax(worst, float(np.percentile(own, self.percent)))
        every = float(np.percentile(values, self.percent)) if values.size else math.nan
        return float(worst / every) if every > 0.0 else math.nan


@dataclass
class Covered:
    """How long at least one of some things is there, in some unit."""

    # begins, ends: (n,); seconds: times in which one is there, apart from each other and in order
    begins: Floats
    ends: Floats
    unit: float  # seconds

    @classmethod
    def of(cls, begin: Floats, end: Floats, within: tuple[float, float], unit: float) -> Covered:
        """Gather some things."""
        found = cls(np.clip(begin, *within), np.clip(end, *within), unit)
        found._unite()
        return found

    def merge(self, other: Covered) -> None:
        """Take in others."""
        self.begins = np.concatenate((self.begins, other.begins))
        self.ends = np.concatenate((self.ends, other.ends))
        self._unite()

    def _unite(self) -> None:
        """Join times that meet."""
        order = np.argsort(self.begins, kind="stable")
        begins, latest = self.begins[order], np.maximum.accumulate(self.ends[order])
        apart = np.ones(begins.size, np.bool_)
        apart[1:] = begins[1:] > latest[:-1]
        self.begins, self.ends = begins[apart], latest[np.roll(apart, -1)]

    def value(self) -> float:
        """Return how long that is."""
        return sums_of(self.ends - self.begins).sum / self.unit


@dataclass
class Whole:
    """What is measured of all tickets at once."""

    found: float

    def merge(self, other: Whole) -> None:
        """Refuse other tickets: a model that measures so does not play in blocks."""
        raise AssertionError

    def value(self) -> float:
        """Return what was found."""
        return self.found
