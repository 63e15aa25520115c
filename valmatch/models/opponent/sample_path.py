"""Kernels that play one sample path of games, one for each policy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import unallocating, variant
from valmatch.policies.knowledge import Knowledge
from valmatch.policies.registry import OPPONENT, Choose, function_of
from valmatch.ratings.trueskill import (
    draw_quality,
    draw_quality_normalised,
    true_draw_probability,
    update,
)
from valmatch.ratings.trueskill_draws import update_drawn

MEASURES: Final = (
    "true_draw_probability",  # (14) of the game
    "squared_error",  # (mu_0 - s_0)^2 of the belief after the game
    "skill_difference",  # s_0 - s_opponent
    "win_fraction",  # 1 if player 0 won, else 0
    "expected_quality",  # q (5) of the beliefs before the game, the term of the objective (7)
    "normalised_quality",  # q~ (6) of the beliefs before the game
    "draw_fraction",  # 1 if the game was drawn (3), else 0
)
"""Rows of the kernel's `measures`."""

BELIEFS: Final = ("mean", "variance", "opponent_mean", "opponent_variance")
"""Rows of the kernel's `beliefs`, each after the game."""


class Start(NamedTuple):
    """The beliefs about all players before the first game."""

    # means, variances: (M + 1,) float64
    means: Floats
    variances: Floats


class Draws(NamedTuple):
    """The random numbers of a path, the same for every policy."""

    noise: Floats  # (N, 2) standard normals: per game, player 0's and the chosen opponent's
    uniforms: Floats  # (N,) draws in [0, 1), for the random policy


class Trajectory(NamedTuple):
    """What happened along a path."""

    opponents: NDArray[np.int64]  # (N,) int64, index of each game's opponent
    beliefs: Floats  # (4, N) float64, rows as in `BELIEFS`
    measures: Floats  # (7, N) float64, rows as in `MEASURES`


Play: TypeAlias = Callable[[Knowledge, Start, Draws, Trajectory], None]

choose: Choose = function_of(OPPONENT["random"])
"""What `play_path` chooses opponents by; every compiled copy of it has the policy of its own."""


def play_path(known: Knowledge, start: Start, draws: Draws, out: Trajectory) -> None:
    """Play N games of player 0, each against the opponent that the policy chooses."""
    means, variances, truths = known.means, known.variances, known.truths
    player, noise_variance, margin = known.player, known.noise_variance, known.draw_margin
    noise, uniforms = draws
    opponents, beliefs, measures = out
    for k in range(means.size):
        means[k] = start.means[k]
        variances[k] = start.variances[k]
    deviation = math.sqrt(noise_variance)
    for game in range(known.n_games):
        j = choose(known, game, uniforms[game])
        mean_0, variance_0, mean_j, variance_j = (
            means[player],
            variances[player],
            means[j],
            variances[j],
        )
        measures[4, game] = draw_quality(mean_0, variance_0, mean_j, variance_j, noise_variance)
        measures[5, game] = draw_quality_normalised(
            mean_0, variance_0, mean_j, variance_j, noise_variance
        )
        performance_0 = truths[player] + deviation * noise[game, 0]
        performance_j = truths[j] + deviation * noise[game, 1]
        won = performance_0 > performance_j
        drawn = abs(performance_0 - performance_j) < margin
        if drawn:
            means[player], variances[player], means[j], variances[j] = update_drawn(
                mean_0, variance_0, mean_j, variance_j, noise_variance, margin
            )
        else:
            winner, loser = (player, j) if won else (j, player)
            means[winner], variances[winner], means[loser], variances[loser] = update(
                means[winner],
                variances[winner],
                means[loser],
                variances[loser],
                noise_variance,
                known.as_printed,
                margin,
            )
        opponents[game] = j
        beliefs[0, game] = means[player]
        beliefs[1, game] = variances[player]
        beliefs[2, game] = means[j]
        beliefs[3, game] = variances[j]
        error = means[player] - truths[player]
        measures[0, game] = true_draw_probability(truths[player], truths[j], noise_variance)
        measures[1, game] = error * error
        measures[2, game] = truths[player] - truths[j]
        measures[3, game] = 1.0 if won and not drawn else 0.0
        measures[6, game] = 1.0 if drawn else 0.0


@cache
def path_by(policy: str) -> Play:
    """Return `play_path` compiled for a policy of `OPPONENT`."""
    decision = OPPONENT[policy]
    return unallocating(variant(play_path, policy, choose=function_of(decision)))
