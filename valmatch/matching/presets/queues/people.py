"""The players of tickets as the queues of presets know them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints


class People(NamedTuple):
    """Players in the order of their tickets, and what is known of tickets.

    Attributes
    ----------
    sizes : (tickets,) ndarray of int64
        Players of each ticket.
    ratings, deviations : (players,) ndarray of float64
        Mean and standard deviation of what is believed of their skill.
    games : (players,) ndarray of int64
        Games played.
    unrated : (players,) ndarray of bool
        Who is new.
    regions : (tickets,) ndarray of int64
        The data centre of least latency; -1: not known.
    round_trips : (tickets,) ndarray of float64
        Milliseconds to that.
    between : (regions, regions) ndarray of float64
        Milliseconds between data centres; NaN where they are not known.
    maps : (tickets,) ndarray of int64
        Map picks as bits; -1 of who takes any.
    low, high : (tickets,) ndarray of int64
        Lowest and highest rating that they want to meet; `ANY` away where they gave no range.
    ranged : (tickets,) ndarray of bool
        Who gave one.
    """

    sizes: Ints
    ratings: Floats
    deviations: Floats
    games: Ints
    unrated: Bools
    regions: Ints
    round_trips: Floats
    between: Floats
    maps: Ints
    low: Ints
    high: Ints
    ranged: Bools


def sums_of(values: Floats, sizes: Ints) -> Floats:
    """Return the sum of each ticket's players, added one after another from the first."""
    starts = np.cumsum(sizes) - sizes
    total = np.zeros(sizes.size)
    for place in range(int(sizes.max(initial=0))):
        has = sizes > place
        total[has] += values[starts[has] + place]
    return total


def most_of(values: Floats, sizes: Ints) -> Floats:
    """Return the largest value of each ticket's players."""
    starts = np.cumsum(sizes) - sizes
    return np.asarray(np.maximum.reduceat(values, starts)) if sizes.size else np.empty(0)
