"""Tickets that are drawn: their columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints, Words
from valmatch.matching.tickets.columns import Lists, Texts


class Drawn(NamedTuple):
    """Tickets of a replication in order of time, in which they are numbered, and their players."""

    # times, cancels: (tickets,); seconds; infinity where a ticket is never cancelled
    times: Floats
    cancels: Floats
    # sizes, homes: (tickets,); players; number of the home region
    sizes: Ints
    homes: Ints
    # skills, seen: (players,); True skills, and what the matchmaker sees
    skills: Floats
    seen: Floats
    # (players, data centres); whole milliseconds; NaN where a player of a log has none
    latencies: Floats
    attributes: Mapping[str, Floats | Texts | Lists]  # what the matchmaker sees, by name
    missing: Mapping[str, Bools]  # by attribute which players have no value, where not all have one
    regions: tuple[str, ...]  # names of homes
    place: Words  # (3,); where the random numbers of the replication lie

    @property
    def of(self) -> Ints:
        """Ticket of each player, from 0 on; made anew each time, as a long run has many players."""
        return tickets_of_players(self.sizes)

    @property
    def places(self) -> Ints:
        """Place in the party of each player; made anew each time too."""
        return places_of_players(self.sizes)


def tickets_of_players(sizes: Ints) -> Ints:
    """Return the ticket of each player, from 0 on."""
    return np.repeat(np.arange(sizes.size), sizes)


def places_of_players(sizes: Ints) -> Ints:
    """Return the place of each player in the party."""
    firsts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.arange(firsts.size) - firsts
