"""Games that run: leavers and backfill tickets, as in plain Python."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.matching.test_ticket_columns import RULES, random_columns
from tests.oracles.ticket_games import Server
from valmatch.kernels.arrays import Floats
from valmatch.matching.tickets import games
from valmatch.matching.tickets.columns import Service, Tickets
from valmatch.matching.tickets.games import Serving, play_with_games
from valmatch.matching.tickets.layout import STATUSES
from valmatch.rule_sets.flexmatch import read_rule_set

SERVICES = [Service(20.0, 130.0, 1.0), Service(30.0, 130.0, 2.0, acceptance=5.0)]


def rule_set(sorts: bool, priority: str, age: str) -> dict[str, Any]:
    """Return rules with a latency that is near, too, with or without sorts."""
    rules = [one for one in RULES["rules"] if sorts or not one["type"].endswith("Sort")]
    near = {"name": "near_ping", "type": "latency", "maxDistance": 50, "distanceReference": "avg"}
    least = {"target": "teams[red].minPlayers", "steps": [{"waitTimeSeconds": 5, "value": 1}]}
    teams = [{"name": "red", "minPlayers": 2, "maxPlayers": 4, "quantity": 2}]
    expansions = [least, RULES["expansions"][1]]
    return {
        **RULES,
        "teams": teams,
        "rules": [*rules, near],
        "expansions": expansions,
        "algorithm": {"backfillPriority": priority, "expansionAgeSelection": age},
    }


def as_world(rules: dict[str, Any], columns: Tickets, service: Service) -> dict[str, Any]:
    """Return the JSON of a world of columns."""
    config = {
        "requestTimeoutSeconds": service.timeout,
        "horizon": service.horizon,
        "review": service.review,
        **({"acceptanceTimeoutSeconds": service.acceptance} if service.acceptance else {}),
    }
    table = read_rule_set(json.dumps(rules)).table
    assert table is not None
    return {"ruleSet": rules, "config": config, "tickets": columns.documents(table)}


def random_stays(columns: Tickets, seed: int) -> Floats:
    """Return which part of the match players stay: most to the end."""
    random = np.random.default_rng(seed)
    players = int(columns.sizes.sum())
    return np.where(random.random(players) < 0.4, random.integers(0, 8, players) / 8.0, np.inf)


# How many worlds, which service, leavers, counted, sorts, priority, age.
CASES = [
    (2, 0, True, False, False, "normal", "newest"),
    (2, 1, True, True, False, "high", "oldest"),
    (2, 1, False, False, True, "low", "newest"),
    (2, 0, False, False, False, "low", "oldest"),
]
ANY = [(0, 1), *[(False, True)] * 3, ("normal", "high", "low"), ("newest", "oldest")]
MANY = [pytest.param((6, *case), marks=pytest.mark.long) for case in product(*ANY)]


@pytest.mark.parametrize("case", [*CASES, *MANY])
def test_games_run_as_in_plain_python(
    case: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds, number, leavers, counted, *changes = case
    service, rules = SERVICES[number], rule_set(*changes)
    monkeypatch.setattr(games, "ROOM", 3)  # so that room has to be made
    table = read_rule_set(json.dumps(rules)).table
    assert table
    filled = 0
    for seed in range(seeds):
        columns = random_columns(seed)
        stays = random_stays(columns, seed)
        people = columns.player_ids()
        twin = Server(
            as_world(rules, columns, service),
            40.0,
            leavers,
            dict(zip(people, stays.tolist(), strict=True)),
        )
        answers = twin.played()
        serving = Serving(40.0, leavers, stays)
        played, backfills = play_with_games(
            table, columns, service, "pass", serving, 0.0 if counted else None
        )
        ends = [
            answers["tickets"].get(str(k), {"status": "", "time": 0.0})
            for k in range(columns.times.size)
        ]
        assert [STATUSES.get(int(one), "") for one in played.statuses] == [
            one["status"] for one in ends
        ]
        assert played.ends.tolist() == [one["time"] for one in ends]
        asked = twin.backfills
        assert backfills.times.tolist() == [one["time"] for one in asked]
        assert [STATUSES[int(one)] for one in backfills.statuses] == [
            answers["tickets"][one["id"]]["status"] for one in asked
        ]
        assert backfills.ends.tolist() == [answers["tickets"][one["id"]]["time"] for one in asked]
        of = np.repeat(np.arange(len(asked)), backfills.sizes)
        for number, one in enumerate(asked):
            mine = zip(backfills.members[of == number], backfills.teams[of == number], strict=True)
            names = [team.name for team in table.teams]
            assert {(people[p], names[team]) for p, team in mine} == {
                (player["id"], player["team"]) for player in one["players"]
            }
            assert twin.games[backfills.matches[number]] is twin.asked_by[one["id"]]
        filled += int(played.filled.sum())
    assert filled >= 2 * seeds
