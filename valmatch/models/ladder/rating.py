"""Matches of two teams, predicted and rated by any rating system of `valmatch.ratings`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import part
from valmatch.kernels.references import NOWHERE, Address, address_of, call
from valmatch.ratings.games import Assessment, Games, Players, add_scores, open_game
from valmatch.ratings.matches import kernel_of
from valmatch.ratings.system import NO_VERBS, System, Values
from valmatch.ratings.zonestats import score_per_hour

strengths, chances, update = NO_VERBS
"""The functions of the system that what follows is compiled for."""


class Rater(NamedTuple):
    """A rating system with its parameters."""

    known: bool  # whether it is the system that knows the skills, and needs no functions
    deviation: int  # the column of its state that is the deviation of the rating; -1 without one
    numbers: Floats  # what its functions take when they rate
    stored: Floats  # what they take when they predict: by the deviations as they are stored
    # predict, rate: its functions, see `with_functions`
    predict: Address
    rate: Address


def rater_of(system: System | None, values: Values) -> Rater:
    """Return a rating system with the values of its parameters; None is that which knows."""
    if system is None:
        return Rater(True, -1, np.zeros(1), np.zeros(1), NOWHERE, NOWHERE)
    still = {**values, **dict.fromkeys(system.drift, 0.0)}
    numbers, stored = (np.array(system.numbers(each), np.float64) for each in (values, still))
    return Rater(False, system.deviation, numbers, stored, NOWHERE, NOWHERE)


def with_functions(
    rater: Rater, system: System | None, match: Games, rated: Players, assessment: Assessment
) -> Rater:
    """Return a rater whose functions are compiled for what a replication keeps, once for all."""
    if system is None or rater.predict != NOWHERE:
        return rater
    predicts, rates = (kernel_of(function, system.verbs) for function in (_predict, _rate))
    return rater._replace(
        predict=address_of(predicts, match, rated, rater.stored, assessment),
        rate=address_of(rates, match, rated, rater.numbers, assessment),
    )


@part(inline=True)
def predict(
    now: float, p: float, rater: Rater, match: Games, rated: Players, assessment: Assessment
) -> float:
    """Return the probability that side A wins by a rating system; p by the one that knows it."""
    if rater.known:
        return p
    match.times[0] = now
    return call(rater.predict, (match, rated, rater.stored, assessment))


def _predict(match: Games, rated: Players, stored: Floats, assessment: Assessment) -> float:
    strengths(0, match, rated, stored, assessment)
    return float(chances(0, 1, match, stored, assessment)[0])


@part(inline=True)
def rate(
    now: float, a_wins: bool, rater: Rater, match: Games, rated: Players, assessment: Assessment
) -> None:
    """Rate a match that ends: winners score 1, losers 0."""
    if rater.known:
        return
    match.times[0] = now
    match.points[0], match.points[1] = (1.0, 0.0) if a_wins else (0.0, 1.0)
    call(rater.rate, (match, rated, rater.numbers, assessment))


def _rate(match: Games, rated: Players, numbers: Floats, assessment: Assessment) -> float:
    """Rate a match by the points of its sides; return whether it could be."""
    for row in range(match.players.size):
        match.rates[row] = score_per_hour(match.points[match.sides[row]], match.minutes[row])
    strengths(0, match, rated, numbers, assessment)
    open_game(0, match, assessment)
    expected, _ = chances(0, 1, match, numbers, assessment)
    add_scores(0, 1, expected, match, assessment)
    return 1.0 if update(0, match, rated, numbers, assessment) else 0.0
