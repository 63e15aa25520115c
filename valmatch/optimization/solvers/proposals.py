"""Points proposed for the next test, by what a search and the tests before have shown."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats


class NextTest(NamedTuple):
    """What the next test is, and how likely its point is to pass it.

    Attributes
    ----------
    n : int
        Fresh replications.
    quantile : float
        Standard errors between a mean and its confidence bound.
    sure : float
        Standard deviations of what the bound may turn out to be that are left below 0.
    level : Level or None
        What the tests before have shown; None before the first.
    undefined : numpy.ndarray or None
        The point of a test before whose outcomes are undefined.
    """

    n: int
    quantile: float
    sure: float
    level: Level | None = None
    undefined: Floats | None = None


class Proposal(NamedTuple):
    """A point to be tested.

    Attributes
    ----------
    unit : numpy.ndarray
        In the unit cube.
    excess, doubt : numpy.ndarray
        (constraints,): expected excesses with the standard deviations of what sets this point apart
        from all others.
    level : Level
        What was known of the excesses of all points.
    holds : bool
        Whether it is as likely to pass as was wanted; if not, no point is known that is.
    objective : float
        Its expected objective; -inf where nothing is said of it.
    """

    unit: Floats
    excess: Floats
    doubt: Floats
    level: Level
    holds: bool
    objective: float = -math.inf


Propose: TypeAlias = Callable[[NextTest], Proposal]
"""Says which point to test."""


@dataclass(frozen=True)
class Level:
    """By how much the excesses of all points are higher than a search made them out to be.

    All points of a search meet the same replications: what these have in common shows in no
    comparison of points.

    Attributes
    ----------
    shift, doubt : numpy.ndarray
        (constraints,): the expectation with its standard deviation.
    """

    shift: Floats
    doubt: Floats

    def after(self, proposal: Proposal, excess: Floats, error: Floats) -> Level:
        """Return what is known after a test on fresh replications, by the rule of Bayes.

        Parameters
        ----------
        proposal : Proposal
            The point that was tested.
        excess, error : (constraints,) ndarray of float64
            What the test found, with its standard error.
        """
        before = self.doubt**2
        whole = np.maximum(before + proposal.doubt**2 + error**2, 1e-300)
        shift = self.shift + before / whole * (excess - proposal.excess - self.shift)
        return Level(shift, np.sqrt(before - before / whole * before))
