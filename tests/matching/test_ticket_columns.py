"""Tickets as tables: equal to those of the same tickets one by one; games that run."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
import yaml

from tests.oracles.ticket_games import Server
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.matching.tickets import playing
from valmatch.matching.tickets.columns import Document, Service, Tickets, tickets_of, values_of
from valmatch.matching.tickets.layout import COMPLETED, STATUSES
from valmatch.matching.tickets.playing import Serving, play, play_columns, play_with_games
from valmatch.matching.tickets.reading import read_list
from valmatch.rule_sets.flexmatch import read_rule_set
from valmatch.rule_sets.table import Table, added

RULES: dict[str, Any] = yaml.safe_load("""
ruleLanguageVersion: '1.0'
playerAttributes:
- {name: skill, type: number}
- {name: mode, type: string}
- {name: roles, type: string_list}
- {name: league, type: number, default: 2}
- {name: maps, type: string_number_map, default: {dust: 3, ice: 1}}
- {name: tags, type: string_list, default: [new, eu]}
- {name: clan, type: string, default: none}
algorithm: {batchingPreference: sorted, sortByAttributes: [mode, skill]}
teams: [{name: red, minPlayers: 1, maxPlayers: 3, quantity: 2}]
rules:
- {name: near, type: distanceSort, sortDirection: ascending, sortAttribute: skill,
  partyAggregation: max}
- {name: map, type: absoluteSort, sortDirection: descending, sortAttribute: maps, mapKey: maxValue}
- {name: mode, type: batchDistance, batchAttribute: mode}
- {name: league, type: batchDistance, batchAttribute: skill, maxDistance: 6, partyAggregation: min}
- {name: roles, type: collection, operation: contains, measurements:
  ['flatten(teams[*].players.attributes[roles])'], referenceValue: tank, minCount: 0, maxCount: 3}
- {name: tags, type: collection, operation: intersection, measurements:
  ['flatten(teams[*].players.attributes[tags])'], minCount: 1}
- {name: even, type: distance, measurements: ['avg(teams[*].players.attributes[skill])'],
  referenceValue: 'avg(flatten(teams[*].players.attributes[skill]))', maxDistance: 4}
- {name: clans, type: comparison, measurements: ['flatten(teams[*].players.attributes[clan])'],
  operation: '='}
- {name: ping, type: latency, maxLatency: 70, partyAggregation: max}
expansions:
- {target: 'teams[red].minPlayers', steps: [{waitTimeSeconds: 40, value: 0}]}
- {target: 'rules[ping].maxLatency', steps: [{waitTimeSeconds: 20, value: 120}]}
""")


def table() -> Table:
    """Return the table of the rules."""
    reading = read_rule_set(json.dumps(RULES))
    assert reading.table, reading.problems
    return reading.table


def random_columns(seed: int, n: int = 60) -> Tickets:
    """Return random tickets; numbers are whole, so that sums are exact."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 4, n)
    players = int(sizes.sum())
    of = np.repeat(np.arange(n), sizes)
    answers = np.where(random.random((n, 3)) < 0.2, np.nan, random.integers(0, 8, (n, 3)))
    cancels = np.where(random.random(n) < 0.2, random.integers(0, 200, n), np.inf)
    return Tickets(
        np.sort(random.integers(0, 800, n) / 8.0),
        cancels,
        sizes,
        {
            "skill": random.integers(0, 12, players).astype(np.float64),
            "mode": values_of("text", ("ranked", "casual"))[random.integers(0, 2, n)[of]],
            "roles": values_of(
                "texts",
                (
                    tuple(role for role, has in zip(("tank", "medic"), row, strict=True) if has)
                    for row in random.random((players, 2)) < 0.5
                ),
            ),
            "unseen": np.zeros(players),
        },
        ("us", "eu"),
        random.integers(10, 140, (players, 2)).astype(np.float64),
        answers,
        Streams(5).place(0),
    )


SERVICES = [
    Service(60.0, 130.0, 1.0),
    Service(60.0, 130.0, None, acceptance=5.0),
    Service(45.0, 130.0, 2.0, batch_size=7, passes=2),
]


@pytest.mark.parametrize("service", SERVICES)
def test_columns_and_matches_say_the_same(service: Service) -> None:
    matched = 0
    for seed in range(12):
        columns = random_columns(seed)
        outcome = play(table(), columns, service, "pass")
        played = play_columns(table(), columns, service, "pass")
        assert [STATUSES.get(int(status), "") for status in played.statuses] == outcome.statuses
        assert played.ends.tolist() == outcome.times
        assert played.times.tolist() == [match.time for match in outcome.matches]
        assert played.proposed.tolist() == [match.proposed for match in outcome.matches]
        for number, match in enumerate(outcome.matches):
            tickets = played.tickets[played.matches == number]
            assert sorted(tickets.tolist()) == match.tickets
            teams = played.teams[played.matches == number]
            sizes = np.bincount(teams, columns.sizes[tickets], len(match.teams))
            assert sizes.tolist() == [len(team) for team in match.teams]
        matched += int((played.statuses == COMPLETED).sum())
    assert matched > 100


def test_a_table_is_what_it_was_made_of() -> None:
    columns = random_columns(2)
    own = table()
    documents = columns._replace(values={k: v for k, v in columns.values.items() if k != "unseen"})
    written = documents.documents(own)
    assert tickets_of(written, own, columns.rng_key).documents(own) == written
    assert [one["id"] for one in written] == [str(k) for k in range(60)]
    order = np.array([1, 0, 1])
    twice = columns.take(order).documents(own)
    for one, number in zip(twice, order.tolist(), strict=True):
        assert one["time"] == columns.times[number]
        assert len(one["players"]) == columns.sizes[number]
    assert twice[0]["players"][0]["attributes"] == twice[2]["players"][0]["attributes"]
    named = tickets_of(written, own, columns.rng_key).take(order).documents(own)
    assert named == [written[k] for k in order]


def test_sums_are_those_of_compiled_code_on_every_python() -> None:
    # Python 3.12 would return 2.
    assert added([1.0, 1e100, 1.0, -1e100]) == 0.0
    assert added([]) == 0.0


OF_ONE = """
ruleLanguageVersion: '1.0'
playerAttributes: [{name: skill, type: number}]
teams: [{name: a, minPlayers: 1, maxPlayers: 2}]
rules: [{name: Ping, type: latency, maxLatency: 50}]
"""
TABLE_OF_ONE = read_rule_set(json.dumps(yaml.safe_load(OF_ONE))).table


def test_rows_are_tickets_of_one_player() -> None:
    assert TABLE_OF_ONE is not None
    text = "id,time,skill,latency.eu\nann,0.5,1500,20\nbob,2,,\n"
    tickets, problems = read_list(text, TABLE_OF_ONE, True)
    assert problems == []
    ann: Document = {"id": "ann", "attributes": {"skill": 1500.0}, "latency": {"eu": 20.0}}
    assert tickets is not None
    assert tickets.documents(TABLE_OF_ONE) == [
        {"id": "ann", "time": 0.5, "players": [ann]},
        {"id": "bob", "time": 2.0, "players": [{"id": "bob", "attributes": {}, "latency": {}}]},
    ]


# Games that run: leavers and backfill tickets, as in plain Python.

SERVED = [Service(20.0, 130.0, 1.0), Service(30.0, 130.0, 2.0, acceptance=5.0)]


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
    service, rules = SERVED[number], rule_set(*changes)
    monkeypatch.setattr(playing, "ROOM", 3)  # so that room has to be made
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
