"""Gaussian-process regression with a length scale for each variable.

The linear algebra is written out: the matrices are small, and the result must not depend on the
number of threads that a BLAS library starts for them.
"""

import math
from dataclasses import dataclass

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel, macro

# Prior of the hyperparameters, all logarithms: length scales (of a cube with side 1), then the
# ratio of noise to signal variance; each as mean and standard deviation, then the bounds.
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

ROOT5 = math.sqrt(5.0)


@dataclass(frozen=True)
class Posterior:
    """A Gaussian process conditioned on data."""

    units: Floats  # (n, d): points of the data
    lengths: Floats  # (d,): length scales
    errors: Floats  # (n,): variances of the noise, in units of the signal variance
    # of the covariance U'U of the data, in these units: U, what its rows were divided by, and the
    # inverse of the covariance
    upper: Floats  # (n, n)
    pivots: Floats  # (n,)
    inverse: Floats  # (n, n)
    mean: float  # of the prior
    weights: Floats  # (n,): inverse covariance times centred data
    variance: float  # the signal variance
    fitted: Floats  # (n,): posterior means at the points of the data

    def predict(self, units: Floats) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the function at (k, d) points."""
        mean, remaining = project(units, self.units, self.lengths, self.weights, self.inverse)
        return self.mean + mean, np.sqrt(self.variance * np.maximum(1e-12, remaining))


def fit(units: Floats, values: Floats, noise: Floats, theta: Floats, steps: int) -> Floats:
    """Return hyperparameters, (d + 1,), of high posterior density, improved from `theta`."""
    d = units.shape[1]
    low, high = (np.append(np.full(d, BOUNDS[0][i]), BOUNDS[1][i]) for i in (0, 1))
    step = np.full(d + 1, FIRST_STEP)
    before = np.zeros(d + 1)
    best, best_density = theta, -math.inf
    for _ in range(steps):
        density, gradient = log_density(units, values, noise, theta)
        if density > best_density:
            best, best_density = theta, density
        agree = np.sign(gradient * before)
        step = np.clip(np.where(agree < 0, SLOWER * step, FASTER * step), 1e-3, 1.0)
        theta = np.clip(theta + step * np.sign(gradient), low, high)
        before = gradient
    return best


def log_density(
    units: Floats, values: Floats, noise: Floats, theta: Floats
) -> tuple[float, Floats]:
    """Return the log posterior density of `theta`, with its gradient."""
    likelihood, gradient = likelihood_of(units, values, noise, theta)
    d = units.shape[1]
    location = np.append(np.full(d, PRIOR_LENGTH[0]), PRIOR_NOISE[0])
    scale = np.append(np.full(d, PRIOR_LENGTH[1]), PRIOR_NOISE[1])
    z = (theta - location) / scale
    return likelihood - 0.5 * float((z * z).sum()), gradient - z / scale


def posterior(
    units: Floats, values: Floats, noise: Floats, theta: Floats, before: Posterior | None = None
) -> Posterior:
    """Condition the process with hyperparameters `theta` on data; arguments as in `fit`."""
    # Where `before` was conditioned on the first of these points, with the same noise and the same
    # hyperparameters, only the others are added to its covariance. That changes no bit.
    lengths = np.exp(theta[:-1])
    errors = math.exp(theta[-1]) * noise + NUGGET
    known = np.empty((0, 0)), np.empty(0), np.empty((0, 0))
    if before is not None:
        n = len(before.units)
        same = (before.units, units[:n]), (before.lengths, lengths), (before.errors, errors[:n])
        if all(np.array_equal(*pair) for pair in same):
            known = before.upper, before.pivots, before.inverse
    upper, pivots, inverse = inverted(columns_of(units, lengths), errors, *known)
    mean, weights, variance = centred(inverse, values)
    fitted = values - errors * weights
    covariance = upper, pivots, inverse
    return Posterior(units, lengths, errors, *covariance, mean, weights, variance, fitted)


@macro
def matern(square: float) -> tuple[float, float]:
    """Return the Matern 5/2 correlation at a squared distance, with what its slopes share."""
    r = ROOT5 * math.sqrt(square)
    decay = math.exp(-r)
    return (1.0 + r + r * r / 3.0) * decay, 5.0 / 3.0 * (1.0 + r) * decay


@macro
def squared_distances(point: Floats, columns: Floats, last: int, square: Floats) -> None:
    """Write the squared distances of a point to the first `last` columns of a (d, n) array."""
    square[:last] = 0.0
    for j in range(len(point)):  # by variable, so that they compile to vectors
        coordinate = point[j]
        for k in range(last):
            difference = coordinate - columns[j, k]
            square[k] += difference * difference


@kernel(allocates=True)
def columns_of(units: Floats, lengths: Floats) -> Floats:
    """Return (d, n): the points as columns, in units of the length scales."""
    columns = np.empty((len(lengths), len(units)))
    for j in range(len(lengths)):
        for k in range(len(units)):
            columns[j, k] = units[k, j] / lengths[j]
    return columns


@kernel(allocates=True)
def centred(inverse: Floats, values: Floats) -> tuple[float, Floats, float]:
    """Return the generalised least-squares mean, the weights and the signal variance."""
    n = len(values)
    weights = np.zeros(n)
    sums = np.zeros(n)
    for i in range(n):
        for j in range(n):
            weights[j] += values[i] * inverse[i, j]
            sums[j] += inverse[i, j]
    top, bottom = 0.0, 0.0
    for i in range(n):
        top += weights[i]
        bottom += sums[i]
    mean = top / bottom
    variance = 0.0
    for i in range(n):
        weights[i] -= mean * sums[i]
        variance += weights[i] * (values[i] - mean)
    return mean, weights, max(SMALLEST, variance / n)


@kernel(allocates=True)
def inverted(
    columns: Floats, errors: Floats, upper: Floats, pivots: Floats, inverse: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return U, pivots and inverse of the covariance of points, known of the first of them."""
    n, m = len(errors), len(pivots)
    u, p, i = np.zeros((n, n)), np.empty(n), np.zeros((n, n))
    u[:m, :m], p[:m], i[:m, :m] = upper, pivots, inverse
    column = np.empty(n)
    for k in range(m, n):
        add_point(k, columns, errors, u, p, i, column)
    return u, p, i


@macro
def add_point(
    i: int,
    columns: Floats,
    errors: Floats,
    upper: Floats,
    pivots: Floats,
    inverse: Floats,
    column: Floats,
) -> None:
    """Add the point i to a covariance of the points before it, in units of the signal variance."""
    squared_distances(columns[:, i], columns, i, column)
    for k in range(i):
        column[k] = matern(column[k])[0]
    column[i] = 1.0 + errors[i]
    for k in range(i):
        column[k] /= pivots[k]
        for j in range(k + 1, i):
            column[j] -= upper[k, j] * column[k]
        column[i] -= column[k] * column[k]
        upper[k, i] = column[k]
    pivots[i] = math.sqrt(column[i])
    upper[i, i] = column[i] / pivots[i]
    # The last column of the inverse of U, then all that it adds to the inverse.
    column[i] = 1.0 / upper[i, i]
    for k in range(i - 1, -1, -1):
        total = 0.0
        for j in range(k + 1, i + 1):
            total -= upper[k, j] * column[j]
        column[k] = total / upper[k, k]
    for k in range(i + 1):
        for j in range(i + 1):
            inverse[k, j] += column[k] * column[j]


@kernel(allocates=True)
def likelihood_of(
    units: Floats, values: Floats, noise: Floats, theta: Floats
) -> tuple[float, Floats]:
    """Return the log likelihood of the hyperparameters, with its gradient."""
    # The signal variance is profiled out: Rasmussen & Williams (2006), equations 5.8 and 5.9, at
    # the variance that maximises (5.8).
    n, d = units.shape
    columns = columns_of(units, np.exp(theta[:d]))
    ratio = math.exp(theta[d])
    none = np.empty((0, 0))
    _, pivots, inverse = inverted(columns, ratio * noise + NUGGET, none, np.empty(0), none)
    _, weights, variance = centred(inverse, values)
    half = 0.0  # of the logarithm of the determinant
    for i in range(n):
        half += math.log(pivots[i])
    gradient = np.zeros(d + 1)
    sums = np.zeros((d, n))
    shared = np.empty(n)
    for i in range(n):
        inner = weights[i] * weights[i] / variance - inverse[i, i]
        gradient[d] += 0.5 * ratio * noise[i] * inner
        squared_distances(columns[:, i], columns, i, shared)
        for k in range(i):
            slope = matern(shared[k])[1]
            shared[k] = (weights[i] * weights[k] / variance - inverse[i, k]) * slope
        for j in range(d):
            for k in range(i):
                difference = columns[j, i] - columns[j, k]
                sums[j, k] += shared[k] * difference * difference
    for j in range(d):
        for k in range(n):
            gradient[j] += sums[j, k]
    return -0.5 * n * math.log(variance) - half, gradient


@kernel(allocates=True)
def project(
    new: Floats, units: Floats, lengths: Floats, weights: Floats, inverse: Floats
) -> tuple[Floats, Floats]:
    """Return the change of the mean at new points, and the share of the variance that remains."""
    n = len(units)
    columns, points = columns_of(units, lengths), columns_of(new, lengths)
    mean, remaining = np.zeros(len(new)), np.empty(len(new))
    cross, product = np.empty(n), np.empty(n)
    for i in range(len(new)):
        product[:] = 0.0
        squared_distances(points[:, i], columns, n, cross)
        for k in range(n):
            cross[k] = matern(cross[k])[0]
            mean[i] += cross[k] * weights[k]
            # The inverse is symmetric: one half of it, counted twice, gives the same form.
            for j in range(k):
                product[j] += cross[k] * (2.0 * inverse[k, j])
            product[k] += cross[k] * inverse[k, k]
        explained = 0.0
        for j in range(n):
            explained += cross[j] * product[j]
        remaining[i] = 1.0 - explained
    return mean, remaining
