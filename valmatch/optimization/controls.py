"""Control variates of the replications that all points meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.statistics.control_variates import Regression, regress

Controls: TypeAlias = Callable[[int], tuple[Floats, Floats]]
"""n -> (n, controls) control variates of the first n replications, with their expectations."""

PER_CONTROL = 5
"""Replications for each control variate, at least: with fewer, slopes cost more than they gain."""


def without_controls(n: int) -> tuple[Floats, Floats]:
    """Return the control variates of a model that has none."""
    return np.empty((n, 0)), np.empty(0)


def regression(outcomes: Floats, controls: Controls) -> list[Regression]:
    """Regress each of the outcomes of a point on the controls of its replications.

    Shapes: `outcomes` (n, 1 + constraints).
    """
    n = len(outcomes)
    seen, expectations = controls(n)
    if n < PER_CONTROL * (1 + expectations.size):
        seen, expectations = without_controls(n)
    return regress(outcomes, seen, expectations)
