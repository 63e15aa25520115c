"""What pairs are worth to play next, by numpy alone: sums over a fine grid, line by line."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
B = math.log(10.0) / 400.0
GAMES = 2.0 ** np.arange(11)


def normal_cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def grid(step: float = 0.005, reach: float = 9.0) -> tuple[Floats, Floats]:
    """Return points and weights of a standard normal distribution."""
    z = np.arange(-reach, reach + step / 2, step)
    weights = np.exp(-0.5 * z * z)
    return z, weights / weights.sum()


Z, W = grid()


def chances(x: Floats, nu: float) -> Floats:
    """Return the chances of a win, a draw, a loss at some leads in log odds, (3, n)."""
    logs = np.stack((x / 2, np.full_like(x, math.log(nu) if nu > 0 else -math.inf), -x / 2))
    odds = np.exp(logs - logs.max(axis=0))
    found: Floats = odds / odds.sum(axis=0)
    return found


def entropy(p: Floats) -> Floats:
    found: Floats = -np.sum(p * np.log(np.where(p > 0, p, 1.0)), axis=0)
    return found


def information_of(d: float, s: float, nu: float) -> float:
    """Return the mean information of a game, per squared point."""
    p = chances(B * (d + s * Z), nu)
    score = p[0] + 0.5 * p[1]
    return float(B * B * (W @ (p[0] + 0.25 * p[1] - score**2)))


def told(d: float, s: float, nu: float) -> float:
    """Return the mutual information of an outcome and the lead."""
    p = chances(B * (d + s * Z), nu)
    return float(entropy(p @ W) - W @ entropy(p))


def expected_maximum(a: Floats, b: Floats) -> float:
    """Return E max(a + b Z), exactly between the points where any two lines cross."""
    apart = [(a[k] - a[m]) / (b[m] - b[k]) for k in range(a.size) for m in range(k) if b[k] != b[m]]
    ends = np.unique([-40.0, 40.0, *(z for z in apart if abs(z) < 40.0)])
    total = 0.0
    for low, high in pairwise(ends):
        best = int(np.argmax(a + b * (0.5 * (low + high))))
        mass = (
            normal_cdf(high) - normal_cdf(low) if low < 0 else normal_cdf(-low) - normal_cdf(-high)
        )
        pull = (math.exp(-0.5 * low * low) - math.exp(-0.5 * high * high)) / math.sqrt(2 * math.pi)
        total += a[best] * mass + b[best] * pull
    return total


def misordered(d: float, s: float, tau: float) -> float:
    """Return the mean of Phi(-|D| / s'), D ~ N(d, tau^2), s'^2 = s^2 - tau^2, in two halves."""
    if tau == 0.0:
        return normal_cdf(-abs(d) / s)
    rest = math.sqrt(max(s * s - tau * tau, 0.0))
    nodes, weights = np.polynomial.legendre.leggauss(64)
    total = 0.0
    ends = [-9.0, *np.clip([-d / tau + k * rest / tau for k in range(-9, 10)], -9, 9), 9.0]
    for low, high in pairwise(ends):
        z = low + 0.5 * (nodes + 1.0) * (high - low)
        lead = np.abs(d + tau * z)
        wrong = [normal_cdf(-x / rest) if rest > 0 else 0.0 for x in lead]
        density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        total += 0.5 * (high - low) * float(weights @ (density * wrong))
    return total


def value(
    policy: str,
    goal: str,
    mean: Floats,
    v: Floats,
    nu: float,
    pair: tuple[int, int],
    games: NDArray[np.int64],
) -> float:
    """Return what a pair is worth."""
    i, j = pair
    d, s = mean[i] - mean[j], math.sqrt(v[i, i] + v[j, j] - 2 * v[i, j])
    if policy == "uniform":
        return -float(games[i, j])
    if policy == "closeness":
        return math.exp(-abs(d) / 200) * (math.sqrt(v[i, i]) + math.sqrt(v[j, j]))
    if policy == "information":
        return told(d, s, nu)
    if policy == "contenders":
        leader = int(mean.argmax())
        rivals = [k for k in range(mean.size) if k != leader]
        spread = [v[k, k] + v[leader, leader] - 2 * v[k, leader] for k in rivals]
        ratio = [
            (mean[leader] - mean[k]) / math.sqrt(x) for k, x in zip(rivals, spread, strict=True)
        ]
        return float({i, j} == {leader, rivals[int(np.argmin(ratio))]})
    info, k = information_of(d, s, nu), v[:, i] - v[:, j]
    steps = np.sqrt(GAMES * info / (1 + GAMES * info * s * s))
    if goal == "best":
        gains = [expected_maximum(mean, k * step) - mean.max() for step in steps]
        return float(np.max(gains / GAMES))
    if goal == "widest":
        apart = np.diag(v)[:, None] + np.diag(v) - 2 * v
        a, c = np.unravel_index(int(apart.argmax()), apart.shape)
        return float((k[a] - k[c]) ** 2 * info / (1 + info * s * s))
    order = np.argsort(-mean)
    falls = np.zeros(GAMES.size)
    for a, c in pairwise(order):
        lead, wide = mean[a] - mean[c], math.sqrt(v[a, a] + v[c, c] - 2 * v[a, c])
        now = normal_cdf(-lead / wide)
        falls += [now - misordered(lead, wide, abs(k[a] - k[c]) * step) for step in steps]
    return float(np.max(falls / GAMES))
