"""Kernel that plays one sample path of games under one policy."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import njit
from valmatch.policies.draw_chance import draw_chance
from valmatch.policies.knowledge_gradient import FloatArray, Workspace, best_opponent
from valmatch.policies.point_estimate import point_estimate
from valmatch.policies.yardsticks import oracle, random_opponent
from valmatch.ratings.trueskill import draw_quality, true_draw_probability, update


class Policy(IntEnum):
    """How player 0's next opponent is chosen; the kernel takes the integer value."""

    POINT_ESTIMATE = 0
    DRAW_CHANCE = 1
    KNOWLEDGE_GRADIENT = 2
    KNOWLEDGE_GRADIENT_FINITE = 3
    RANDOM = 4
    ORACLE = 5


MEASURES: Final = (
    "true_draw_probability",  # (14) of the game
    "squared_error",  # (mu_0 - s_0)^2 of the belief after the game
    "skill_difference",  # s_0 - s_opponent
    "win_fraction",  # 1 if player 0 won, else 0
    "expected_quality",  # q (5) of the beliefs before the game, the term of the objective (7)
)
"""Rows of the kernel's `measures`."""

BELIEFS: Final = ("mean", "variance", "opponent_mean", "opponent_variance")
"""Rows of the kernel's `beliefs`, each after the game."""


@njit
def choose_opponent(
    policy: int,
    game: int,
    n_games: int,
    player: int,
    means: FloatArray,
    variances: FloatArray,
    truths: FloatArray,
    noise_variance: float,
    gamma: float,
    as_printed: bool,
    uniform: float,
    work: Workspace,
) -> int:
    """Return the opponent that `policy` chooses with `game` of `n_games` games played."""
    if policy == Policy.POINT_ESTIMATE:
        return point_estimate(means, player)
    if policy == Policy.DRAW_CHANCE:
        return draw_chance(means, variances, player, noise_variance)
    if policy == Policy.RANDOM:
        return random_opponent(means.size, player, uniform)
    if policy == Policy.ORACLE:
        return oracle(truths, player)
    multiplier = gamma / (1.0 - gamma)
    if policy == Policy.KNOWLEDGE_GRADIENT_FINITE:
        multiplier = float(n_games - game)
    return best_opponent(means, variances, player, noise_variance, multiplier, as_printed, work)


@njit
def play_path(
    policy: int,
    player: int,
    prior_means: FloatArray,
    prior_variances: FloatArray,
    truths: FloatArray,
    noise_variance: float,
    gamma: float,
    as_printed: bool,
    noise: FloatArray,
    uniforms: FloatArray,
    means: FloatArray,
    variances: FloatArray,
    work: Workspace,
    opponents: NDArray[np.int64],
    beliefs: FloatArray,
    measures: FloatArray,
) -> None:
    """Play N games of player 0, each against the opponent that the policy chooses.

    Parameters
    ----------
    policy
        Value of a `Policy`.
    player
        Index of player 0 among the M + 1 players; all others are opponents.
    prior_means, prior_variances
        Beliefs about all players before the first game.
    truths
        True skills of all players.
    noise_variance
        Variance of one performance around the skill.
    gamma
        Discount factor of (13).
    as_printed
        Update and look ahead by (1), (2), (10) as the paper prints them. Outcomes always come from
        the true skills.
    noise
        Standard normals, shape (N, 2): per game, player 0's and the chosen opponent's.
    uniforms
        Draws in [0, 1), shape (N,), for the random policy.
    means, variances
        Work arrays over all players; on return the beliefs after the last game.
    work
        Scratch arrays from `workspace(M + 1)`.
    opponents
        Output, shape (N,): index of each game's opponent.
    beliefs
        Output, shape (4, N), rows as in `BELIEFS`.
    measures
        Output, shape (5, N), rows as in `MEASURES`.
    """
    means[:] = prior_means
    variances[:] = prior_variances
    n_games = noise.shape[0]
    deviation = math.sqrt(noise_variance)
    for game in range(n_games):
        j = choose_opponent(
            policy,
            game,
            n_games,
            player,
            means,
            variances,
            truths,
            noise_variance,
            gamma,
            as_printed,
            uniforms[game],
            work,
        )
        measures[4, game] = draw_quality(
            means[player], variances[player], means[j], variances[j], noise_variance
        )
        performance_0 = truths[player] + deviation * noise[game, 0]
        performance_j = truths[j] + deviation * noise[game, 1]
        won = performance_0 > performance_j
        winner, loser = (player, j) if won else (j, player)
        means[winner], variances[winner], means[loser], variances[loser] = update(
            means[winner],
            variances[winner],
            means[loser],
            variances[loser],
            noise_variance,
            as_printed,
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
        measures[3, game] = 1.0 if won else 0.0
