"""The players of tickets as the queues of presets know them."""

from __future__ import annotations

from typing import NamedTuple

from valmatch.kernels.arrays import Bools, Floats, Ints


class People(NamedTuple):
    """Players by ticket, and what is known of tickets.

    Attributes
    ----------
    sizes, firsts : (tickets,) ndarray of int64
        How many players each ticket has, and the number of its first; the others come after that.
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
    firsts: Ints
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
