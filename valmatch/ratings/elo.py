"""The Elo rating of games between two or more sides of any size."""

from __future__ import annotations

import math

from valmatch.compilation import inlined
from valmatch.ratings.zonestats import predicted_outcome

__all__ = ["INITIAL_RATING", "SCALE", "K", "change", "expected_score", "spread"]

K = 32.0
SCALE = 400.0
INITIAL_RATING = 1500.0

_LN_10 = math.log(10.0)


@inlined
def spread(scale: float) -> float:
    """Return the T at which the logistic rule of ZoneStats is that of Elo: scale / ln 10."""
    return scale / _LN_10


@inlined
def expected_score(rating: float, opponents_rating: float, scale: float) -> float:
    """Return the expected score 1 / (1 + 10^((opponents_rating - rating) / scale)).

    Parameters
    ----------
    rating, opponents_rating
        Ratings before the game; of a side of several players, the mean of theirs.
    scale
        Rating points at which a player scores ten times as much as the opponent, > 0.
    """
    return predicted_outcome(rating, opponents_rating, spread(scale))


@inlined
def change(score: float, expected: float, opponents: int, k: float) -> float:
    """Return the points that every player of a side gains.

    Parameters
    ----------
    score, expected
        Sums over all opposing sides of the score (1, 0.5, 0) and of the expected score.
    opponents
        Number of opposing sides; a game counts as much as a game of two, however many play.
    k
        Largest change in one game.
    """
    return k * (score - expected) / opponents
