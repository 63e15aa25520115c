"""Direct evaluation of the knowledge-gradient score from the paper's formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence


def phi(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def cdf(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def quality(mean_i: float, var_i: float, mean_j: float, var_j: float, noise: float) -> float:
    """Equation (5)."""
    total = var_i + var_j + 2 * noise
    return math.exp(-((mean_i - mean_j) ** 2) / (2 * total)) / math.sqrt(2 * math.pi * total)


def after(
    i: int,
    j: int,
    i_wins: bool,
    mean: Sequence[float],
    var: Sequence[float],
    noise: float,
    form: str,
    margin: float = 0.0,
) -> tuple[list[float], list[float]]:
    """Equations (1), (2): all beliefs after one game of i against j, which i or j has won."""
    total = var[i] + var[j] + 2 * noise
    root = total if form == "as_printed" else math.sqrt(total)
    new_mean, new_var = list(mean), list(var)
    for a, b, wins in ((i, j, i_wins), (j, i, not i_wins)):
        x = (mean[a] - mean[b] if wins else mean[b] - mean[a]) / root - margin / root
        v = phi(x) / cdf(x)
        new_mean[a] = mean[a] + (1 if wins else -1) * var[a] / root * v
        new_var[a] = var[a] * (1 - var[a] / total * v * (v + x))
    return new_mean, new_var


def after_draw(
    i: int, j: int, mean: Sequence[float], var: Sequence[float], noise: float, margin: float
) -> tuple[list[float], list[float]]:
    """All beliefs after a drawn game, by the moments of the difference cut to the margin."""
    total = var[i] + var[j] + 2 * noise
    lead, root = mean[i] - mean[j], math.sqrt(total)
    low, high = (-margin - lead) / root, (margin - lead) / root
    mass = cdf(high) - cdf(low)
    v = (phi(low) - phi(high)) / mass
    w = v * v + (high * phi(high) - low * phi(low)) / mass
    new_mean, new_var = list(mean), list(var)
    for a, sign in ((i, 1), (j, -1)):
        new_mean[a] = mean[a] + sign * var[a] / root * v
        new_var[a] = var[a] * (1 - var[a] / total * w)
    return new_mean, new_var


def best_quality(player: int, mean: Sequence[float], var: Sequence[float], noise: float) -> float:
    return max(
        quality(mean[player], var[player], mean[k], var[k], noise)
        for k in range(len(mean))
        if k != player
    )


def expected_best_quality(
    j: int,
    player: int,
    mean: Sequence[float],
    var: Sequence[float],
    noise: float,
    form: str,
    margin: float = 0.0,
) -> float:
    """F_j above equation (12), with a third outcome where there is a margin."""
    total = var[player] + var[j] + 2 * noise
    root = total if form == "as_printed" else math.sqrt(total)
    lead = mean[player] - mean[j]
    won = after(player, j, True, mean, var, noise, form, margin)
    lost = after(player, j, False, mean, var, noise, form, margin)
    p_win, p_loss = cdf((lead - margin) / root), cdf((-lead - margin) / root)
    future = p_win * best_quality(player, *won, noise)
    future += p_loss * best_quality(player, *lost, noise)
    if margin:
        drew = after_draw(player, j, mean, var, noise, margin)
        future += (1 - p_win - p_loss) * best_quality(player, *drew, noise)
    return future
