"""Tickets as tables: equal to those of the same tickets one by one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import yaml

from valmatch.draws.streams import Streams
from valmatch.matching.tickets.columns import (
    Document,
    Service,
    Tickets,
    tickets_of,
    values_of,
)
from valmatch.matching.tickets.layout import COMPLETED, STATUSES
from valmatch.matching.tickets.playing import play, play_columns
from valmatch.matching.tickets.reading import read_list
from valmatch.rule_sets.flexmatch import read_rule_set
from valmatch.rule_sets.table import Table
from valmatch.rule_sets.types import added

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
