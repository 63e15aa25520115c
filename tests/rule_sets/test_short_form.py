"""The short form of a rule set: what it stands for, and its faults with their places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.support.command import valmatch
from valmatch.rule_sets.files import read_text
from valmatch.rule_sets.flexmatch import Reading, read_rule_set
from valmatch.rule_sets.json_text import plain

YAML = Path("rules.yaml")

ARENA = """
teams: 2x5
skill: {attribute: skill, within: 100, widen: [[15, 200], [30, 400]]}
latency: {max: 60, widen: [[10, 100]]}
same: [mode]
age: oldest
"""

EXPANDED = yaml.safe_load("""
ruleLanguageVersion: '1.0'
playerAttributes: [{name: skill, type: number}, {name: mode, type: string}]
algorithm: {expansionAgeSelection: oldest}
teams: [{name: team, minPlayers: 5, maxPlayers: 5, quantity: 2}]
rules:
- {name: skill, type: batchDistance, batchAttribute: skill, maxDistance: 100}
- {name: latency, type: latency, maxLatency: 60}
- {name: same-mode, type: comparison, measurements:
  ['flatten(teams[*].players.attributes[mode])'], operation: '='}
expansions:
- {target: 'rules[skill].maxDistance', steps: [{waitTimeSeconds: 15, value: 200},
  {waitTimeSeconds: 30, value: 400}]}
- {target: 'rules[latency].maxLatency', steps: [{waitTimeSeconds: 10, value: 100}]}
""")


def read(text: str) -> Reading:
    return read_text(YAML, text)


def expanded(text: str) -> Any:  # noqa: ANN401 - a document
    reading = read(text)
    assert reading.node is not None, reading.problems
    return plain(reading.node)


def test_what_a_short_form_stands_for() -> None:
    assert expanded(ARENA) == EXPANDED
    reading = read(ARENA)
    assert reading.problems == []
    assert reading.table == read_rule_set(json.dumps(EXPANDED)).table


TEAMS: list[tuple[str, list[dict[str, object]]]] = [
    ("2x3-5", [{"name": "team", "minPlayers": 3, "maxPlayers": 5, "quantity": 2}]),
    ("' 1 x 8 '", [{"name": "team", "minPlayers": 8, "maxPlayers": 8, "quantity": 1}]),
    (
        "{hunters: 4, monster: 0-1}",
        [
            {"name": "hunters", "minPlayers": 4, "maxPlayers": 4},
            {"name": "monster", "minPlayers": 0, "maxPlayers": 1},
        ],
    ),
    (
        "{trio: {size: 3-5, count: 3}}",
        [{"name": "trio", "minPlayers": 3, "maxPlayers": 5, "quantity": 3}],
    ),
]


@pytest.mark.parametrize(("teams", "expected"), TEAMS)
def test_teams(teams: str, expected: list[dict[str, object]]) -> None:
    assert expanded(f"teams: {teams}")["teams"] == expected


def test_balance_defaults_and_what_else_there_is() -> None:
    text = """
    name: duel
    teams: 2x4
    balance: {attribute: skill, within: 10, widen: [[5, 50]]}
    latency: {max: 60, party: max}
    same: [mode, level]
    backfill: high
    defaults: {skill: 1000, mode: ranked, level: 3}
    """
    found = expanded(text)
    assert read(text).problems == []
    assert found["name"] == "duel"
    assert found["algorithm"] == {"backfillPriority": "high"}
    assert found["playerAttributes"] == [
        {"name": "skill", "type": "number", "default": 1000},
        {"name": "mode", "type": "string", "default": "ranked"},
        {"name": "level", "type": "number", "default": 3},
    ]
    skill = "teams[*].players.attributes[skill]"
    assert found["rules"][0] == {
        "name": "balance",
        "type": "distance",
        "measurements": [f"avg({skill})"],
        "referenceValue": f"avg(flatten({skill}))",
        "maxDistance": 10,
    }
    assert found["rules"][1]["partyAggregation"] == "max"
    assert found["expansions"][0]["target"] == "rules[balance].maxDistance"


FAULTS: list[tuple[str, tuple[int, int], str, str]] = [
    ("skill: {}\n", (1, 1), "rule set", 'no teams (such as "2x5", two teams of five)'),
    ("teams: 2by5\n", (1, 8), "teams", 'or sizes by name are meant, not \'2by5\''),
    ("teams: {a: five}\n", (1, 12), "teams.a", "players of a team are needed"),
    ("teams: {a: {count: 2}}\n", (1, 12), "teams.a", "no size"),
    ("teams: {a: 2, a_1: 2, a: 3}\n", (1, 23), "rule set", "given twice"),
    ("teams: {a: {size: 2, fewer: [[9, x]]}}\n", (1, 30), "teams.a.fewer[0]", "not 'x'"),
    ("teams: 50x5\n", (1, 8), "teams", "more than 40 need balance: {attribute: ...}"),
    ("teams: 2x5\nskil: 1\n", (2, 1), "rule set", "unknown key 'skil' (did you mean skill?)"),
    ("teams: 2x5\nskill: {attribute: 's[', within: 1}\n", (2, 20), "skill.attribute", "cannot be"),
    (
        "teams: 2x5\nskill: {attribute: s, within: 1, widen: [[9, 2], [9, 3]]}\n",
        (2, 51),
        "skill.widen[1][0]",
        "steps have to increase",
    ),
    ("teams: 2x5\nskill: {attribute: s, within: .nan}\n", (2, 31), "rule set", "no finite number"),
    ("teams: 2x5\nsame: mode\n", (2, 7), "same", "a list is needed, not 'mode'"),
    ("teams: 2x5\nage: old\n", (2, 6), "age", "'old' is none (did you mean oldest?)"),
    ("teams: 2x5\nsame: [mode]\ndefaults: {mod: 1}\n", (3, 12), "defaults.mod", "mean mode?"),
    ("teams: 2x50\nbalance: {attribute: s, within: 1}\n", (2, 33), "balance.within", "balanced"),
    ("teams: 2x5\n---\nteams: 2x5\n", (2, 1), "rule set", "a second document starts here"),
    ("", (1, 1), "rule set", "not an empty file"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "path", "what"), FAULTS)
def test_faults(text: str, place: tuple[int, int], path: str, what: str) -> None:
    reading = read(text)
    found = [one for one in reading.problems if one.severity == "error"]
    assert [one for one in found if one[:2] == place and one.path == path and what in one.text], (
        reading.problems
    )
    assert reading.table is None


def test_remarks_are_made_of_the_words_of_the_short_form() -> None:
    text = "teams: 2x5\nskill: {attribute: s, within: 9, widen: [[5, 3], [90, 20]]}\n"
    found = read_text(YAML, text, timeout=60).problems
    assert [(one[:2], one.path) for one in found] == [
        ((2, 42), "skill.widen[0]"),
        ((2, 50), "skill.widen[1]"),
    ]
    assert found[0].text == "tightens: 3 after 9"


def test_flexmatch_in_yaml_is_read_too() -> None:
    text = "ruleLanguageVersion: '1.0'\nteams: [{name: a, minPlayers: 1, maxPlayers: 1}]\n"
    reading = read(text)
    assert reading.table is not None
    assert not reading.is_short


sizes = st.tuples(st.integers(1, 5), st.integers(0, 3)).map(lambda s: f"{s[0]}-{s[0] + s[1]}")
steps = st.lists(st.integers(1, 200), min_size=1, unique=True).map(
    lambda waits: [[wait, wait * 2] for wait in sorted(waits)]
)
limited = st.fixed_dictionaries({"within": st.integers(0, 500)}, optional={"widen": steps})
forms = st.fixed_dictionaries(
    {"teams": st.tuples(st.integers(1, 5), sizes).map(lambda s: f"{s[0]}x{s[1]}")},
    optional={
        "skill": limited.map(lambda one: {"attribute": "skill", **one}),
        "balance": limited.map(lambda one: {"attribute": "rank", **one}),
        "latency": limited.map(lambda one: {"max": one.pop("within"), **one}),
        "same": st.lists(st.sampled_from(["mode", "map", "level"]), unique=True),
        "age": st.sampled_from(["newest", "oldest"]),
        "backfill": st.sampled_from(["high", "low", "normal"]),
    },
)


@given(forms)
def test_every_good_form_is_a_good_rule_set(form: dict[str, Any]) -> None:
    reading = read_rule_set(json.dumps(form))
    assert reading.table is not None, reading.problems
    assert reading.node is not None
    again = read_rule_set(json.dumps(plain(reading.node)))
    assert again.table == reading.table
    assert not again.is_short


def test_every_command_takes_it(tmp_path: Path) -> None:
    file = tmp_path / "arena.yaml"
    file.write_text(ARENA)
    assert valmatch("rules", "check", file, "--timeout", "60").out == ""
    assert "team_1 to team_2: 5 players" in valmatch("rules", "show", file).out
    shown = valmatch("rules", "show", file, "--json").out
    assert json.loads(shown) == EXPANDED
    (tmp_path / "arena.json").write_text(shown)
    assert valmatch("rules", "check", tmp_path / "arena.json").out == ""
    ticket = {"id": "t", "time": 0, "players": [{"id": "p"}]}
    (tmp_path / "tickets.jsonl").write_text(json.dumps(ticket))
    played = valmatch("rules", "replay", file, "--tickets", tmp_path / "tickets.jsonl", "--json")
    assert json.loads(played.out)["pass"]["timed_out"] == 1
