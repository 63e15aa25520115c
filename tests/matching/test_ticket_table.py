"""Tickets of single players as a table."""

from __future__ import annotations

import json

import pytest
import yaml

from valmatch.matching.tickets.columns import Document
from valmatch.matching.tickets.reading import read_list
from valmatch.rule_sets.flexmatch import read_rule_set

RULES = """
ruleLanguageVersion: '1.0'
playerAttributes: [{name: skill, type: number}]
teams: [{name: a, minPlayers: 1, maxPlayers: 2}]
rules: [{name: Ping, type: latency, maxLatency: 50}]
"""
TABLE = read_rule_set(json.dumps(yaml.safe_load(RULES))).table


def test_rows_are_tickets_of_one_player() -> None:
    assert TABLE is not None
    text = "id,time,skill,latency.eu\nann,0.5,1500,20\nbob,2,,\n"
    tickets, problems = read_list(text, TABLE, True)
    assert problems == []
    ann: Document = {"id": "ann", "attributes": {"skill": 1500.0}, "latency": {"eu": 20.0}}
    assert tickets is not None
    assert tickets.documents(TABLE) == [
        {"id": "ann", "time": 0.5, "players": [ann]},
        {"id": "bob", "time": 2.0, "players": [{"id": "bob", "attributes": {}, "latency": {}}]},
    ]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 1, "no column id"),
        ("id,skill\n", 1, "no column time"),
        ("id,time,skil\n", 1, "unknown column 'skil' (did you mean skill?)"),
        ("id,time\na,1,2\n", 2, "3 cells, and the header has 2"),
        ("id,time\na," + "1" * 200_000, 2, "1 cells, and the header has 2"),
        ('id,time\n"a,2\n', 2, "1 cells, and the header has 2"),
        ("id,time\na,x\n", 2, "time: a number is needed, not 'x'"),
        ("id,time\na,1\na,2\n", 3, "there is a ticket 'a' already"),
        ("id,time\na,2\nb,1\n", 3, "tickets come in order of time"),
        ("id,time,skill\na,2,nan\n", 2, "skill: a number is needed, not 'nan'"),
    ],
)
def test_bad_tables(text: str, line: int, what: str) -> None:
    assert TABLE is not None
    tickets, problems = read_list(text, TABLE, True)
    assert tickets is None
    assert [one for one in problems if one.line == line and what in one.text], problems
