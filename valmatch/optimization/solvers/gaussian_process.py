"""Gaussian-process regression with a length scale for each variable."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from valmatch.optimization.solvers.search import Floats

__all__ = ["Posterior", "fit", "posterior"]

# Prior of the hyperparameters, all logarithms: length scales (of a cube with side 1), then the
# ratio of noise to signal variance.
PRIOR_LENGTH = (math.log(0.7), 0.8)
PRIOR_NOISE = (math.log(0.01), 2.0)
BOUNDS = (math.log(0.03), math.log(20.0)), (math.log(1e-6), math.log(10.0))

# Added to every variance, so that equal points do no harm; least signal variance, for values that
# are of the order of 1 and may all be equal.
NUGGET = 1e-8
SMALLEST = 1e-12

# Signed steps of Rprop (Riedmiller & Braun 1993).
FIRST_STEP = 0.2
FASTER, SLOWER = 1.3, 0.5


@dataclass(frozen=True)
class Posterior:
    """A Gaussian process conditioned on data.

    Attributes
    ----------
    units : (n, d) points of the data
    lengths : (d,) length scales
    weights : (n,) inverse covariance times centred data
    inverse : (n, n) inverse of the covariance of the data, in units of the signal variance
    mean, variance : prior mean and signal variance
    fitted : (n,) posterior means at the points of the data
    """

    units: Floats
    lengths: Floats
    weights: Floats
    inverse: Floats
    mean: float
    variance: float
    fitted: Floats

    def predict(self, units: Floats) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the function at (k, d) points."""
        cross = _matern(_distances(units / self.lengths, self.units / self.lengths))
        mean = self.mean + cross @ self.weights
        reduction = np.einsum("ij,ij->i", cross @ self.inverse, cross)
        return mean, np.sqrt(self.variance * np.maximum(1e-12, 1.0 - reduction))


def _distances(a: Floats, b: Floats) -> Floats:
    """Return the squared distances between the rows of `a` and `b`."""
    squares = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2.0 * (a @ b.T)
    distances: Floats = np.maximum(squares, 0.0)
    return distances


def _matern(squares: Floats) -> Floats:
    """Return the Matern 5/2 correlation at squared scaled distances."""
    a: Floats = np.sqrt(5.0 * squares)
    correlation = a / 3.0 + 1.0
    correlation *= a
    correlation += 1.0
    correlation *= np.exp(-a)
    return correlation


def fit(units: Floats, values: Floats, noise: Floats, theta: Floats, steps: int) -> Floats:
    """Return hyperparameters of high posterior density, improved from `theta`.

    Parameters
    ----------
    units : (n, d) float64
    values : (n,) float64
    noise : (n,) float64
        Relative noise variances of the values.
    theta : (d + 1,) float64
        Logarithms of the length scales and of the ratio of noise to signal variance.
    steps : int
        Gradient steps.
    """
    squares = (units.T[:, :, None] - units.T[:, None, :]) ** 2
    low = np.append(np.full(len(squares), BOUNDS[0][0]), BOUNDS[1][0])
    high = np.append(np.full(len(squares), BOUNDS[0][1]), BOUNDS[1][1])
    step = np.full(len(theta), FIRST_STEP)
    before = np.zeros(len(theta))
    best, best_density = theta, -math.inf
    for _ in range(steps):
        density, gradient = _density(squares, values, noise, theta)
        if density > best_density:
            best, best_density = theta, density
        agree = np.sign(gradient * before)
        step = np.clip(np.where(agree < 0, SLOWER * step, FASTER * step), 1e-3, 1.0)
        theta = np.clip(theta + step * np.sign(gradient), low, high)
        before = gradient
    return best


def _density(squares: Floats, values: Floats, noise: Floats, theta: Floats) -> tuple[float, Floats]:
    """Return the log posterior density of `theta`, with its gradient.

    The signal variance is profiled out: Rasmussen & Williams (2006), equations 5.8 and 5.9, at
    the variance that maximises (5.8).
    """
    n = len(values)
    inverse_squares = np.exp(-2.0 * theta[:-1])
    a = np.sqrt(5.0 * np.tensordot(inverse_squares, squares, 1))
    decay = np.exp(-a)
    ratio = math.exp(theta[-1])
    covariance = (1.0 + a + a * a / 3.0) * decay + np.diag(ratio * noise + NUGGET)
    lower = np.linalg.cholesky(covariance)
    inverse = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
    centred = values - _centre(inverse, values)
    weights = inverse @ centred
    variance = max(SMALLEST, float(centred @ weights) / n)
    inner = np.outer(weights, weights) / variance - inverse
    slope = inner * ((5.0 / 3.0) * (1.0 + a) * decay)
    gradient = np.empty(len(theta))
    gradient[:-1] = 0.5 * inverse_squares * np.tensordot(squares, slope, 2)
    gradient[-1] = 0.5 * ratio * float(np.diag(inner) @ noise)
    location = np.append(np.full(len(squares), PRIOR_LENGTH[0]), PRIOR_NOISE[0])
    scale = np.append(np.full(len(squares), PRIOR_LENGTH[1]), PRIOR_NOISE[1])
    z = (theta - location) / scale
    density = -0.5 * n * math.log(variance) - float(np.log(np.diag(lower)).sum())
    return density - 0.5 * float(z @ z), gradient - z / scale


def _centre(inverse: Floats, values: Floats) -> float:
    """Return the generalised least-squares mean."""
    sums = inverse.sum(axis=0)
    return float(sums @ values / sums.sum())


def posterior(units: Floats, values: Floats, noise: Floats, theta: Floats) -> Posterior:
    """Condition the process with hyperparameters `theta` on data; arguments as in `fit`."""
    lengths = np.exp(theta[:-1])
    covariance = _matern(_distances(units / lengths, units / lengths))
    errors = math.exp(theta[-1]) * noise + NUGGET
    covariance[np.diag_indices(len(units))] = 1.0 + errors
    inverse = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
    mean = _centre(inverse, values)
    weights = inverse @ (values - mean)
    variance = max(SMALLEST, float((values - mean) @ weights) / len(values))
    return Posterior(units, lengths, weights, inverse, mean, variance, values - errors * weights)
