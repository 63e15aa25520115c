"""Points proposed for the next test, by what a search and the tests before have shown."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats


class NextTest(NamedTuple):
    """What the next test is, and how likely its point is to pass it."""

    n: int  # fresh replications
    factors: Floats  # (constraints,): standard errors between a mean and its confidence bound
    # standard deviations of what the bound may turn out to be, but for the doubts of the point,
    # that are left below 0; fewer than 0 for a bold one
    sure: float
    level: Level | None = None  # what the tests before have shown; None before the first
    undefined: Floats | None = None  # the point of a test before whose outcomes are undefined


class Proposal(NamedTuple):
    """A point to be tested."""

    unit: Floats  # in the unit cube
    # (constraints,): expected excesses, in the units of the search, with the standard deviations
    # of what sets this point apart from all others
    excess: Floats
    doubt: Floats
    level: Level  # what was known of the excesses of all points
    holds: bool  # whether it is as likely to pass as was wanted; if not, no point is known that is
    objective: float = -math.inf  # its expected objective; -inf where nothing is said of it


Propose: TypeAlias = Callable[[NextTest], Proposal]  # says which point to test


@dataclass(frozen=True)
class Level:
    """By how much the excesses of all points are higher than a search made them out to be.

    All points of a search meet the same replications: what these have in common shows in no
    comparison of points.
    """

    shift: Floats  # (constraints,): the expectation with its standard deviation
    doubt: Floats

    def after(self, proposal: Proposal, excess: Floats, error: Floats) -> Level:
        """Return what is known after a test on fresh replications, by the rule of Bayes."""
        before = self.doubt**2
        whole = np.maximum(before + proposal.doubt**2 + error**2, 1e-300)
        shift = self.shift + before / whole * (excess - proposal.excess - self.shift)
        return Level(shift, np.sqrt(before - before / whole * before))
