"""Matching of drawn tickets by the rule of a living matchmaker."""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.matching.living.queue import ANY, Parties, PresetInput, PresetReport, play_preset
from valmatch.matching.living.registry import Numbers
from valmatch.matching.tickets.columns import Played, Service, Tickets
from valmatch.models.tickets.factors import RoundTrips
from valmatch.models.tickets.population import BELIEFS, DEVIATION, GAMES, HIGH, LOW, NEW, USER

MAPS = "maps"
"""The attribute that is map picks, where players have it: a list; an empty one takes any map."""

PRESET_SEES = (*BELIEFS, MAPS)  # attributes that a rule may see, besides the skill


def play_rule(
    preset: str, numbers: Numbers, trips: RoundTrips, drawn: Tickets, service: Service
) -> tuple[Played, PresetReport]:
    """Let the rule of a living matchmaker match tickets."""
    # Milliseconds between data centres that are homes, too; NaN of others.
    between = np.full((len(trips.centres), len(trips.centres)), np.nan)
    for number, centre in enumerate(trips.centres):
        if centre in trips.homes:
            between[number] = trips.milliseconds[trips.homes.index(centre)]
    np.fill_diagonal(between, 0.0)
    people = people_of(drawn, np.fmin(between, between.T))
    tickets = PresetInput(drawn.times, drawn.cancels, users_by_ticket(drawn), people, drawn.rng_key)
    return play_preset(preset, numbers, tickets, service.timeout, service.horizon)


def users_by_ticket(drawn: Tickets) -> Ints:
    """Return the number of the user of each ticket, its own where nobody comes twice."""
    users = drawn.values.get(USER)
    if not isinstance(users, np.ndarray):
        return np.arange(drawn.times.size)
    return users[drawn.firsts].astype(np.int64)


def people_of(drawn: Tickets, between: Floats) -> Parties:
    """Return what a rule knows of the players of tickets."""
    firsts = drawn.firsts

    def numbers(name: str, default: float) -> Floats:
        values = drawn.values.get(name)
        if not isinstance(values, np.ndarray):
            return np.full(drawn.of.size, default)
        return np.where(np.isnan(values), default, values)

    latencies = drawn.latencies[firsts]
    known = ~np.isnan(latencies).all(axis=1)
    nearest = np.where(np.isnan(latencies), np.inf, latencies).argmin(axis=1)
    trips = latencies[np.arange(firsts.size), nearest]
    low, high = numbers(LOW, np.nan)[firsts], numbers(HIGH, np.nan)[firsts]
    ranged = ~np.isnan(low)
    return Parties(
        drawn.sizes,
        firsts,
        drawn.seen,
        np.maximum(numbers(DEVIATION, 0.0), 0.0),
        np.maximum(numbers(GAMES, 1000.0), 0.0).astype(np.int64),
        numbers(NEW, 0.0) > 0.0,
        np.where(known, nearest, -1).astype(np.int64),
        np.where(known, trips, 0.0),
        between,
        _picks(drawn, firsts),
        np.where(ranged, low, -ANY).astype(np.int64),
        np.where(ranged, high, ANY).astype(np.int64),
        ranged,
        np.zeros(firsts.size, np.int64),
    )


def _picks(drawn: Tickets, firsts: Ints) -> Ints:
    """Return the map picks of tickets as bits, -1 of those without."""
    maps = drawn.values.get(MAPS)
    picks = [] if maps is None else maps[firsts].tolist()
    bits, numbers = np.full(firsts.size, -1), dict[str, int]()
    for ticket, names in enumerate(picks):
        if isinstance(names, tuple):
            picked = {numbers.setdefault(name, len(numbers)) for name in names}
            bits[ticket] = sum(1 << k for k in picked if k < 62) or -1  # as many as bits tell apart
    return bits
