"""The published behaviour of the service, as worlds: what staff and documents say must come out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

World = dict[str, Any]


def team(name: str, least: int, most: int, **more: object) -> World:
    """Return a team."""
    return {"name": name, "minPlayers": least, "maxPlayers": most, **more}


def solo(number: int, time: float = 0.0, **attributes: Any) -> World:  # noqa: ANN401
    """Return a ticket of one player."""
    player = {"id": f"p{number}", "attributes": attributes}
    return {"id": f"t{number}", "time": time, "players": [player]}


def party(number: int, players: Sequence[World], time: float = 0.0) -> World:
    """Return a ticket of several players, given their attributes."""
    named = [
        {"id": f"p{number}{chr(97 + k)}", "attributes": attributes}
        for k, attributes in enumerate(players)
    ]
    return {"id": f"t{number}", "time": time, "players": named}


def world(teams: Sequence[World], tickets: Sequence[World], **rule_set: Any) -> World:  # noqa: ANN401
    """Return a world with a review at every change."""
    config = {"requestTimeoutSeconds": rule_set.pop("timeout", 100), "horizon": 200}
    return {
        "ruleSet": {"ruleLanguageVersion": "1.0", "teams": list(teams), **rule_set},
        "config": config,
        "tickets": list(tickets),
    }


def ages(age: str, *steps: tuple[float, int]) -> World:
    """Return the world of the thread on ages: four of four, fewer after some seconds."""
    listed = [{"waitTimeSeconds": wait, "value": value} for wait, value in steps]
    return world(
        [team("players", 4, 4)],
        [solo(1, 0.0), solo(2, 10.0)],
        expansions=[{"target": "teams[players].minPlayers", "steps": listed}],
        algorithm={"expansionAgeSelection": age},
    )


def distance(maximum: float) -> World:
    """Return the rule of the published example 1."""
    return {
        "name": "FairTeamSkill",
        "type": "distance",
        "measurements": ["avg(teams[*].players.attributes[skill])"],
        "referenceValue": "avg(flatten(teams[*].players.attributes[skill]))",
        "maxDistance": maximum,
    }


SKILL = [{"name": "skill", "type": "number"}]
