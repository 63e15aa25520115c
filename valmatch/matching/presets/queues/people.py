"""The players of tickets as the queues of presets know them."""

from __future__ import annotations

from typing import NamedTuple

from valmatch.kernels.arrays import Bools, Floats, Ints


class People(NamedTuple):
    """Players by ticket, and what is known of tickets."""

    # sizes, firsts: (tickets,); how many players each ticket has, and the number of its first; the
    # others come after that
    sizes: Ints
    firsts: Ints
    # ratings, deviations: (players,); mean and standard deviation of what is believed of their
    # skill
    ratings: Floats
    deviations: Floats
    games: Ints  # (players,); games played
    unrated: Bools  # (players,); who is new
    regions: Ints  # (tickets,); the data centre of least latency; -1: not known
    round_trips: Floats  # (tickets,); milliseconds to that
    # (regions, regions); milliseconds between data centres; NaN where they are not known
    between: Floats
    maps: Ints  # (tickets,); map picks as bits; -1 of who takes any
    # low, high: (tickets,); lowest and highest rating that they want to meet; `ANY` away where they
    # gave no range
    low: Ints
    high: Ints
    ranged: Bools  # (tickets,); who gave one
