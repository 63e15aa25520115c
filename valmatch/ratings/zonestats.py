"""The ZoneStats rating: a zero-sum rule over all pairs of opponents in a game.

Source: "Player Rating: Quick View of the Algorithm", equations 1 to 6 with their eight steps.
Times are in minutes, ratings and adjustments in rating points.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import inlined, unallocating

__all__ = [
    "GAME_MULT",
    "INITIAL_RATING",
    "MAX_GAME_LENGTH",
    "T",
    "adjust",
    "cap_scale",
    "every_players_scale",
    "pairwise_result",
    "predicted_outcome",
    "rating_offsets",
    "score_per_hour",
    "time_scaled",
]

T = 120.0
GAME_MULT = 2.0
MAX_GAME_LENGTH = 20.0
INITIAL_RATING = 500.0

# Offsets that are equal in theory differ by rounding, which must not decide whose time caps a game.
_EQUALLY_FAR = 1.0 - 1e-12


@inlined
def score_per_hour(score: float, minutes: float) -> float:
    """Return SPH = score / hours in game (step 1).

    The product comes first, so that equal rates of whole scores and minutes are equal floats.
    """
    return 60.0 * score / minutes


@inlined
def predicted_outcome(rating: float, opponents_rating: float, t: float) -> float:
    """Return the share of contests that a player is predicted to win (equation 1).

    Parameters
    ----------
    rating, opponents_rating
        Ratings before the game.
    t
        Spread T, > 0: at a lead of T points a player wins e times as often as he loses.
    """
    lead = (rating - opponents_rating) / t
    odds = math.exp(-abs(lead))  # of the weaker player; never overflows
    return (1.0 if lead >= 0.0 else odds) / (1.0 + odds)


@inlined
def pairwise_result(rate: float, opponents_rate: float, predicted: float) -> float:
    """Return outcome - prediction of one contest, in (-1, 1) (equation 2).

    Parameters
    ----------
    rate, opponents_rate
        Scores per hour; the higher wins, equal ones tie.
    predicted
        Predicted outcome of equation 1.
    """
    if rate > opponents_rate:
        return 1.0 - predicted
    if rate < opponents_rate:
        return 0.0 - predicted
    return 0.5 - predicted


@inlined
def time_scaled(
    result: float,
    minutes: float,
    opponents_minutes: float,
    game_mult: float,
    max_game_length: float,
) -> float:
    """Return the points of one contest: its result by the time both were in the game (equation 3).

    Parameters
    ----------
    result
        Result of equation 2.
    minutes, opponents_minutes
        Times in the game; the shorter counts, up to `max_game_length`.
    game_mult
        GAME_MULT, points per minute.
    max_game_length
        MAX_GAME_LENGTH in minutes.
    """
    return result * game_mult * min(max_game_length, minutes, opponents_minutes)


@unallocating
def rating_offsets(
    ratings: NDArray[np.float64],
    rates: NDArray[np.float64],
    minutes: NDArray[np.float64],
    sides: NDArray[np.int64],
    t: float,
    game_mult: float,
    max_game_length: float,
    offsets: NDArray[np.float64],
) -> None:
    """Sum each player's points over all opponents into `offsets` (equation 4).

    What one player of a pair gains the other loses, so that the offsets sum to zero.
    Parameters are those of `adjust`.
    """
    n = len(ratings)
    for i in range(n):
        offsets[i] = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            if sides[i] == sides[j]:
                continue
            predicted = predicted_outcome(ratings[i], ratings[j], t)
            result = pairwise_result(rates[i], rates[j], predicted)
            points = time_scaled(result, minutes[i], minutes[j], game_mult, max_game_length)
            offsets[i] += points
            offsets[j] -= points


@unallocating
def cap_scale(
    offsets: NDArray[np.float64], minutes: NDArray[np.float64], game_mult: float
) -> float:
    """Return the factor <= 1 that caps a game at GAME_MULT points per minute (equation 5).

    The player farthest from zero decides, by the whole time in the game (MAX_GAME_LENGTH does
    not limit it); of several equally far (to 1e-12) the one with the shortest time. Others can
    so gain more than GAME_MULT points per minute, and he himself more than in MAX_GAME_LENGTH.
    """
    highest = 0.0
    for i in range(len(offsets)):
        highest = max(highest, abs(offsets[i]))
    if highest == 0.0:
        return 1.0
    shortest = math.inf
    for i in range(len(offsets)):
        if abs(offsets[i]) >= highest * _EQUALLY_FAR:
            shortest = min(shortest, minutes[i])
    return min(1.0, shortest * game_mult / highest)


@unallocating
def every_players_scale(
    offsets: NDArray[np.float64],
    minutes: NDArray[np.float64],
    game_mult: float,
    max_game_length: float,
) -> float:
    """Return the greatest factor <= 1 that leaves every player within his own limit.

    The limit is GAME_MULT points per minute in the game (step 7), counted up to MAX_GAME_LENGTH,
    which "determines the maximum amount of points that a player can gain in one game". One factor
    for all, as in step 7, keeps the sum zero: whoever is farthest beyond his limit, in shares of
    it, decides, and that may be who was there the shortest.
    """
    scale = 1.0
    for i in range(len(offsets)):
        limit = game_mult * min(max_game_length, minutes[i])
        if abs(offsets[i]) * scale > limit:
            scale = limit / abs(offsets[i])
    return scale


@unallocating
def adjust(
    ratings: NDArray[np.float64],
    rates: NDArray[np.float64],
    minutes: NDArray[np.float64],
    sides: NDArray[np.int64],
    t: float,
    game_mult: float,
    max_game_length: float,
    every_player: bool,
    offsets: NDArray[np.float64],
    adjustments: NDArray[np.float64],
) -> float:
    """Work out what a game adds to each rating (equations 1 to 6).

    Parameters
    ----------
    ratings : (n,) ndarray of float64
        Ratings of the enabled players before the game.
    rates : (n,) ndarray of float64
        Scores per hour.
    minutes : (n,) ndarray of float64
        Times in the game, > 0.
    sides : (n,) ndarray of int64
        Equal numbers play together; without teams every player has a number of his own.
    t, game_mult, max_game_length : float
        T, GAME_MULT, MAX_GAME_LENGTH of the source, all > 0.
    every_player : bool
        Whether the cap is `every_players_scale` instead of `cap_scale`.
    offsets, adjustments : (n,) ndarray of float64
        Results, before and after the cap; sum to zero up to rounding.

    Returns
    -------
    float
        The factor of the cap.
    """
    rating_offsets(ratings, rates, minutes, sides, t, game_mult, max_game_length, offsets)
    if every_player:
        scale = every_players_scale(offsets, minutes, game_mult, max_game_length)
    else:
        scale = cap_scale(offsets, minutes, game_mult)
    for i in range(len(offsets)):
        adjustments[i] = offsets[i] * scale
    return scale
