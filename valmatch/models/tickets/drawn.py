"""Tickets that are drawn: their columns, some of them, and two lots of them joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints, Words
from valmatch.matching.tickets.columns import Lists, Texts, part_of_values, players_of


class Drawn(NamedTuple):
    """Tickets of a replication, all or some, in order of time; players are in the same order."""

    # (tickets,); their numbers among all of the replication, by which random numbers are addressed
    numbers: Ints
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


def some_of(drawn: Drawn, tickets: Ints) -> Drawn:
    """Return some tickets that are drawn, by their places among them."""
    people = players_of(drawn.sizes, tickets)
    return drawn._replace(
        numbers=drawn.numbers[tickets],
        times=drawn.times[tickets],
        cancels=drawn.cancels[tickets],
        sizes=drawn.sizes[tickets],
        homes=drawn.homes[tickets],
        skills=drawn.skills[people],
        seen=drawn.seen[people],
        latencies=drawn.latencies[people],
        attributes=part_of_values(drawn.attributes, people),
        missing={name: gone[people] for name, gone in drawn.missing.items()},
    )


def joined(first: Drawn, second: Drawn) -> Drawn:
    """Return tickets that are drawn and later ones, none of them of a log."""
    assert not first.missing
    assert not second.missing
    return first._replace(
        numbers=np.concatenate((first.numbers, second.numbers)),
        times=np.concatenate((first.times, second.times)),
        cancels=np.concatenate((first.cancels, second.cancels)),
        sizes=np.concatenate((first.sizes, second.sizes)),
        homes=np.concatenate((first.homes, second.homes)),
        skills=np.concatenate((first.skills, second.skills)),
        seen=np.concatenate((first.seen, second.seen)),
        latencies=np.concatenate((first.latencies, second.latencies)),
        attributes={
            name: _joined(own, second.attributes[name]) for name, own in first.attributes.items()
        },
    )


def _joined(own: Floats | Texts | Lists, other: Floats | Texts | Lists) -> Floats | Texts | Lists:
    """Return what players and further ones have of an attribute, drawn by one law."""
    if isinstance(own, Texts) and isinstance(other, Texts):
        return own._replace(codes=np.concatenate((own.codes, other.codes)))
    if isinstance(own, Lists) and isinstance(other, Lists):
        return own._replace(has=np.concatenate((own.has, other.has)))
    assert isinstance(own, np.ndarray)
    assert isinstance(other, np.ndarray)
    return np.concatenate((own, other))


_ARRAYS = Drawn._fields.index("attributes")  # the first fields of tickets are arrays
