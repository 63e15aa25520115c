"""Writer of worlds: what was played, in the form in which it can be played again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from valmatch.rule_sets.world_reading import WorldReading
from valmatch.rule_sets.worlds import Player, Ticket


def world_text(world: WorldReading) -> Iterator[str]:
    """Yield the text of a world, in pieces: its rule set as it was read, a line for each ticket."""
    yield f'{{"ruleSet":\n{world.rules}\n,\n"config": {json.dumps(_config(world))},\n"tickets": ['
    for number, ticket in enumerate(world.tickets):
        yield ("," if number else "") + "\n" + json.dumps(_ticket(ticket))
    yield "\n]}\n"


def _config(world: WorldReading) -> dict[str, Any]:
    """Return how the service ticks."""
    service = world.service
    return {
        "requestTimeoutSeconds": service.timeout,
        "horizon": service.horizon,
        "search": world.searches[0],
        "review": "changes" if service.review is None else service.review,
        "batchSize": service.batch_size,
        "passes": service.passes,
        "acceptanceTimeoutSeconds": service.acceptance,
        "seed": service.seed,
        "latencyOf": world.latency_of,
    }


def _ticket(ticket: Ticket) -> dict[str, Any]:
    """Return a ticket; what it does not have is left out."""
    found: dict[str, Any] = {
        "id": ticket.id,
        "time": ticket.time,
        "players": [_player(player) for player in ticket.players],
    }
    if ticket.cancel is not None:
        found["cancel"] = ticket.cancel
    if ticket.running:
        found["backfill"] = True
    if ticket.answers:
        found["answers"] = ticket.answers
    return found


def _player(player: Player) -> dict[str, Any]:
    found: dict[str, Any] = {"id": player.id, "attributes": player.attributes}
    if player.latency:
        found["latency"] = player.latency
    if player.team:
        found["team"] = player.team
    return found
