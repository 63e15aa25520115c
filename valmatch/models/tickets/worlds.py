"""Drawn tickets as those of a world, an object each, which plain Python looks at one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.matching.tickets.columns import Lists, Texts
from valmatch.models.tickets.matches import Drawn
from valmatch.rule_sets.table import Table
from valmatch.rule_sets.worlds import Player, Search, Service, Ticket


class TicketWorld(NamedTuple):
    """What a rule set is played on."""

    table: Table
    tickets: tuple[Ticket, ...]  # their ids are their numbers, as in ``tickets.csv``
    service: Service
    search: Search


def tickets_of(drawn: Drawn, centres: Sequence[str], answers: Floats) -> tuple[Ticket, ...]:
    """Return drawn tickets as objects.

    Shapes: `answers` (tickets, proposals).
    """
    attributes = _attributes(drawn)
    latencies = [
        {name: ping for name, ping in zip(centres, row, strict=True) if ping == ping}
        for row in drawn.latencies.tolist()
    ]
    accepted = [
        tuple(None if seconds != seconds else (seconds, True) for seconds in row)
        for row in answers.tolist()
    ]
    cancels = [None if np.isinf(cancel) else float(cancel) for cancel in drawn.cancels]
    found, first = [], 0
    for number, (time, size) in enumerate(
        zip(drawn.times.tolist(), drawn.sizes.tolist(), strict=True)
    ):
        players = tuple(
            Player(_player_id(number, place, size), attributes[one], latencies[one])
            for place, one in enumerate(range(first, first + size), 1)
        )
        first += size
        found.append(Ticket(str(number), time, players, cancels[number], False, accepted[number]))
    return tuple(found)


def _player_id(ticket: int, place: int, size: int) -> str:
    """Return the id of a player, that of the ticket where it is alone."""
    return str(ticket) if size == 1 else f"{ticket}.{place}"


def _attributes(drawn: Drawn) -> list[dict[str, object]]:
    """Return what the matchmaker sees of each player, by attribute; not what a player lacks."""
    found: list[dict[str, object]] = [{} for _ in range(drawn.of.size)]
    for name, own in drawn.attributes.items():
        values: Sequence[object]
        if isinstance(own, Texts):
            values = [own.texts[code] for code in own.codes.tolist()]
        elif isinstance(own, Lists):
            texts = np.array(own.texts, np.object_)
            values = [tuple(texts[has]) for has in own.has]
        else:
            values = own.tolist()
        lacks = drawn.missing.get(name, np.zeros(len(found), np.bool_)).tolist()
        for player, value, gone in zip(found, values, lacks, strict=True):
            if not gone:
                player[name] = value
    return found
