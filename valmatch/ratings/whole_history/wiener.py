"""Knowledge of paths before any game: a normal first day, then steps as wide as time is long."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from valmatch.kernels.arrays import Bools, Floats
from valmatch.ratings.bradley_terry.prior import Knowledge
from valmatch.ratings.bradley_terry.sums import dot


@dataclass(frozen=True)
class Wiener(Knowledge):
    """Minus the log density of strengths of players by day, in log odds."""

    first: Bools  # (strengths,) whether each is the first of a player
    precision: float  # 1 / variance of a first one about 0
    # (strengths - 1,) 1 / variance of the step to the next one; 0 where that is another player's
    steps: Floats

    def penalty(self, strengths: Floats) -> float:  # noqa: D102 - as `Knowledge` says
        own, moves = strengths[self.first], np.diff(strengths)
        return 0.5 * self.precision * dot(own, own) + 0.5 * dot(self.steps, moves**2)

    def slopes(self, strengths: Floats) -> Floats:  # noqa: D102
        pulls = self.steps * np.diff(strengths)
        found = np.where(self.first, self.precision * strengths, 0.0)
        found[:-1] -= pulls
        found[1:] += pulls
        return found

    @property
    def sparse_part(self) -> sparse.csr_array:  # noqa: D102
        own = np.where(self.first, self.precision, 0.0)
        own[:-1] += self.steps
        own[1:] += self.steps
        bands = [own, -self.steps, -self.steps]
        return sparse.csr_array(sparse.diags_array(bands, offsets=[0, 1, -1]))

    @property
    def chained(self) -> Bools:  # noqa: D102
        found: Bools = self.steps > 0.0
        return found

    @property
    def holds_all(self) -> bool:  # noqa: D102
        return True

    @property
    def held(self) -> float:
        """By how much all covariances are less where the mean of the first strengths is held."""
        return 1.0 / (self.precision * float(self.first.sum()))

    def still(self, draws: Floats) -> Floats:  # noqa: D102
        found: Floats = draws - draws[self.first].mean(axis=0)
        return found

    @property
    def roots(self) -> sparse.csr_array:
        """A matrix, a row for each first strength and each step, whose square `sparse_part` is."""
        n, first = len(self.first), np.flatnonzero(self.first)
        steps = np.flatnonzero(self.steps > 0.0)
        wide = np.sqrt(self.steps[steps])
        values = np.concatenate([np.full(len(first), np.sqrt(self.precision)), -wide, wide])
        rows = np.concatenate([np.arange(len(first)), *2 * [len(first) + np.arange(len(steps))]])
        columns = np.concatenate([first, steps, steps + 1])
        return sparse.csr_array((values, (rows, columns)), shape=(len(first) + len(steps), n))

    @property
    def log_determinant(self) -> float:
        """Logarithm of the determinant of the second derivatives."""
        steps = self.steps[self.steps > 0.0]
        return float(self.first.sum() * np.log(self.precision) + np.log(steps).sum())

    def noise(self, draws: np.random.Generator, columns: int) -> Floats:  # noqa: D102
        roots = self.roots
        found: Floats = roots.T @ draws.standard_normal((roots.shape[0], columns))
        return found
