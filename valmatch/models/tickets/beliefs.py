"""Beliefs about rated players: deviations, games, who is new, who comes again."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.models.tickets.preset_factors import RatingsFactors
from valmatch.models.tickets.sources import BELIEF

DEVIATION, GAMES, NEW, USER, LOW, HIGH = "deviation", "games", "newcomer", "user", "low", "high"
"""Attributes of players: of numbers, NaN where there is no range."""

BELIEFS = (DEVIATION, GAMES, NEW, USER, LOW, HIGH)

FIELDS = 8  # counters of a player

AS_USER, AS_NEW, AS_GAMES, AS_SPREAD, AS_RANGE = range(5)


class Addresses(Protocol):
    """Players by their addresses, see `valmatch.models.tickets.population`."""

    @property
    def of(self) -> Ints:
        """Ticket of each."""

    @property
    def places(self) -> Ints:
        """Place of each in its party."""

    def uniforms(self, source: int, counters: Ints | None = None) -> Floats:
        """Return a uniform number of each."""

    def normals(self, source: int, counters: Ints | None = None) -> Floats:
        """Return a normal number of each."""


def users_of(ratings: RatingsFactors, people: Addresses) -> Ints:
    """Return the users whose tickets there are: their numbers; those of tickets if all differ."""
    if ratings.users is None:
        return people.of
    drawn = people.uniforms(BELIEF, FIELDS * people.places + AS_USER)
    return (ratings.users * drawn).astype(np.int64)


def draw_beliefs(ratings: RatingsFactors, people: Addresses) -> dict[str, Floats]:
    """Return what is believed of players, by attribute; of users, the same each time."""
    firsts = FIELDS * people.places

    def uniforms(which: int) -> Floats:
        return people.uniforms(BELIEF, firsts + which)

    n = people.of.size
    new = np.zeros(n, np.bool_)
    games = np.full(n, float(ratings.games))
    deviation = np.full(n, ratings.deviation)
    if ratings.newcomers > 0.0:
        new = uniforms(AS_NEW) < ratings.newcomers
        few = np.floor((ratings.newcomer_games + 1) * uniforms(AS_GAMES))
        games = np.where(new, few, games)
        if ratings.newcomer_deviation is not None:
            deviation = np.where(new, ratings.newcomer_deviation, deviation)
    if ratings.spread > 0.0:
        deviation = deviation * np.exp(ratings.spread * people.normals(BELIEF, firsts + AS_SPREAD))
    return {DEVIATION: deviation, GAMES: games, NEW: new.astype(np.float64)}


def draw_ranges(ratings: RatingsFactors, people: Addresses, seen: Floats) -> dict[str, Floats]:
    """Return the lowest and the highest rating that players want to meet, NaN for any."""
    wide = np.full(seen.size, np.nan)
    if ratings.ranges > 0.0:
        ranged = people.uniforms(BELIEF, FIELDS * people.places + AS_RANGE) < ratings.ranges
        wide = np.where(ranged, ratings.range_width, np.nan)
    return {LOW: np.rint(seen - wide), HIGH: np.rint(seen + wide)}
