"""Every fault and every remark of `rules check`, by its place; what the short form stands for."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.support.case_tables import cases
from tests.support.command import valmatch
from valmatch.rule_sets.files import read_text
from valmatch.rule_sets.flexmatch import ALONE, LONGEST, Reading, read_rule_set
from valmatch.rule_sets.json_text import Problem, plain

Document = dict[str, Any]

SKILL = "teams[*].players.attributes[skill]"
ROLES = "teams[*].players.attributes[roles]"

BASE: Document = yaml.safe_load("""
ruleLanguageVersion: '1.0'
playerAttributes:
- {name: skill, type: number, default: 10}
- {name: roles, type: string_list}
- {name: mode, type: string}
- {name: maps, type: string_number_map}
algorithm: {batchingPreference: sorted, sortByAttributes: [mode]}
teams: [{name: red, minPlayers: 2, maxPlayers: 4}, {name: blue, minPlayers: 2, maxPlayers: 4}]
rules:
- {name: Near, type: distance, measurements: ['avg(teams[*].players.attributes[skill])'],
  referenceValue: 'avg(flatten(teams[*].players.attributes[skill]))', maxDistance: 10}
- {name: Medic, type: collection, operation: contains, measurements:
  ['flatten(teams[*].players.attributes[roles])'], referenceValue: medic, minCount: 1}
- {name: Level, type: batchDistance, batchAttribute: skill, maxDistance: 9}
- {name: Map, type: absoluteSort, sortDirection: ascending, sortAttribute: maps, mapKey: minValue}
- {name: Ping, type: latency, maxLatency: 50}
- {name: Both, type: compound, statement: 'or(Near, not(Medic))'}
expansions:
- {target: 'rules[Near].maxDistance', steps: [{waitTimeSeconds: 5, value: 50}, {waitTimeSeconds:
  15, value: 90}]}
""")


def check(document: Document, timeout: float | None = None) -> list[Problem]:
    return read_rule_set(json.dumps(document, indent=1), timeout).problems


def put(document: Document, path: str, value: object) -> None:
    """Put a value at a path such as ``rules[0].type``, or nothing."""
    *outer, last = re.findall(r"\w+", path)
    place: Any = document
    for key in outer:
        place = place[int(key) if key.isdecimal() else key]
    if isinstance(place, list):
        place[int(last)] = value
    elif value is None:
        del place[last]
    else:
        place[last] = value


def changed(path: str, value: str) -> Document:
    """Return the base with a value, which is JSON, at a path."""
    document = copy.deepcopy(BASE)
    put(document, path, json.loads(value.replace("SKILL", SKILL).replace("ROLES", ROLES)))
    return document


def test_the_base_has_no_problem() -> None:
    assert check(BASE) == []


# What, to what (JSON; null: nothing), the path of the error (=: the same), its text.
ERRORS = """
ruleLanguageVersion | "1.1" | = | "1.0" is needed
rules[0].maxDistanc | 1 | rules[0] | did you mean maxDistance?
teams | null | rule set | no teams
teams[0].minPlayers | 5 | = | 5 is more than maxPlayers, 4
teams[0].quantity | 1e+300 | teams | at least 808 players, where a match has at most 200
teams[0].maxPlayers | 37 | teams | 41 players need the strategy balanced
algorithm.sortByAttributes | null | algorithm.batchingPreference | needs sortByAttributes
algorithm.sortByAttributes | ["maps"] | algorithm.sortByAttributes[0] | neither a number
algorithm | {"strategy": "balanced"} | = | no balancedAttribute
playerAttributes[1].name | "skill" | = | declared already
playerAttributes[0].default | "10" | = | a number is needed by its
rules[1].name | "Near" | = | there is a rule 'Near' already
rules[0].measurements[0] | "avg(SKILL" | = | 1 brackets opened by functions, 0 closed
rules[0].measurements[0] | "avg(teams[*].players.attributes[skil])" | = | did you mean skill?
rules[0].measurements[0] | "avg(avg(avg(SKILL)))" | = | avg takes a list of numbers, not a number
rules[0].measurements[0] | "sum(ROLES)" | = | a list of numbers, not a list of lists of lists of str
rules[0].referenceValue | "SKILL" | = | a number is needed, not a list
rules[1].measurements | "flatten(flatten(ROLES))" | = | list of string
rules[0].maxDistance | null | rules[0] | neither minDistance nor maxDistance
rules[1].operation | "reference_intersection_count" | rules[1].referenceValue | a list of s
rules[2].batchAttribute | "roles" | = | a number or a string is needed
rules[3].sortAttribute | "mode" | = | a number or a map is needed
rules[4].maxLatency | null | rules[4] | neither maxLatency nor maxDistance
rules[0] | {"name": "Near", "type": "comparison", "measurements": ["SKILL"], "operation": "<"} |
  rules[0].operation | needs a referenceValue
rules[0] | {"name": "Near", "type": "comparison", "measurements": ["SKILL"], "operation": "=",
  "referenceValue": "x"} | rules[0].referenceValue | not a string
rules[5].statement | "or(Near, Medik)" | = | no rule 'Medik' before this one (did you mean Med
rules[5].statement | "and(Near, Level)" | = | 'Level' is a batchDistance
rules[0] | {"type": "compound", "statement": "not(Medic)", "name": "Near"} | rules[0].statement | no
  rule 'Medic' before this
rules[5].statement | "or(Near, Medic" | = | it ends too early
expansions[0].target | "rules[Nar].maxDistance" | = | did you mean Near?
expansions[0].target | "teams[red].quantity" | = | cannot be expanded
expansions[0].target | "rules[Near].minDistance" | = | has no minDistance
expansions[0].steps[1].waitTimeSeconds | 5 | = | incre
"""
DEEP = [
    ("rules[0].measurements[0]", json.dumps("avg(" * 9000), "=", "is meant"),
    ("rules[5].statement", json.dumps("not(" * 9000), "=", "nested deeper than 64 operators"),
]


@pytest.mark.parametrize(("where", "value", "path", "text"), [*cases(ERRORS), *DEEP])
def test_errors(where: str, value: str, path: str, text: str) -> None:
    document = changed(where, value)
    found = [one for one in check(document) if one.severity == "error"]
    assert any(one.path == path.replace("=", where) and text in one.text for one in found), found
    assert read_rule_set(json.dumps(document)).table is None


def test_an_expansion_of_one_target_stands_once() -> None:
    document = copy.deepcopy(BASE)
    document["expansions"] *= 2
    (found,) = check(document)
    assert found.path == "expansions[1].target"
    assert "has an expansion already (expansions[0])" in found.text


def test_a_text_that_is_too_long() -> None:
    text = json.dumps(BASE)
    text += " " * (LONGEST - len(text))
    assert read_rule_set(text).problems == []
    (found,) = read_rule_set(text + " ").problems
    assert (found.severity, found.text) == (
        "error",
        "65,536 characters, where the service takes 65,535",
    )
    assert read_rule_set(text + " ", lenient=True).table is not None


WARNINGS = """
algorithm | {"strategy": "balanced", "balancedAttribute": "skill"} | = | more than 40
expansions[0].steps[1].waitTimeSeconds | 60 | expansions[0].steps[1] | no ticket lives for 60
expansions[0].steps[1].value | 40 | expansions[0].steps[1] | tightens: 40 after 50
rules[1].minCount | 0 | rules[1] | never refuses anything: every number is at least 0
teams[0].minPlayers | 0 | rules[0] | without players in red that is left out
rules[3].sortAttribute | "skill" | rules[3].mapKey | has no effect: the attribute is no map
algorithm | {"sortByAttributes": ["mode"]} | algorithm.sortByAttributes | has no effect without
  batchingPreference sorted
"""


@pytest.mark.parametrize(("where", "value", "path", "text"), cases(WARNINGS))
def test_warnings(where: str, value: str, path: str, text: str) -> None:
    found = check(changed(where, value), timeout=60)
    assert {one.severity for one in found} == {"warning"}
    assert any(one.path == path.replace("=", where) and text in one.text for one in found), found


def test_a_latency_that_nobody_has_at_some_ages() -> None:
    document = copy.deepcopy(BASE)
    document["rules"].append({"name": "Here", "type": "latency", "maxLatency": 50})
    steps = [{"waitTimeSeconds": wait, "value": most} for wait, most in ((4, 0), (7, 80), (9, 0.5))]
    document["expansions"] = [{"target": "rules[Here].maxLatency", "steps": steps}]
    found = [one.text for one in check(document) if one.text.startswith("maxLatency")]
    assert found == [
        "maxLatency 0 refuses everybody from 4 s on until 7 s: latencies are 1 ms or more",
        "maxLatency 0.5 refuses everybody from 9 s on: latencies are 1 ms or more",
    ]


@pytest.mark.parametrize(
    ("value", "age", "said"), [(1, "newest", True), (3, "newest", False), (1, "oldest", False)]
)
def test_who_waits_longest_leaves_alone_by_the_age_of_the_newest(
    value: int, age: str, said: bool
) -> None:
    document = copy.deepcopy(BASE)
    document["algorithm"]["expansionAgeSelection"] = age
    step = {"waitTimeSeconds": 9, "value": value}
    document["expansions"].append({"target": "teams[red].minPlayers", "steps": [step]})
    found = [(one.path, one.text) for one in check(document) if one.text == ALONE]
    assert found == [("expansions[1].steps[0]", ALONE)] * said


NEVER: list[tuple[dict[str, object], str]] = [
    (
        {"type": "distance", "measurements": [f"avg({SKILL})"], "minDistance": 0}
        | {"referenceValue": f"avg(flatten({SKILL}))"},
        "every distance is at least 0",
    ),
    (
        {"type": "comparison", "operation": "="}
        | {"measurements": ["teams[solo].players.attributes[skill]"]},
        "its lists have one value at most",
    ),
    (
        {"type": "collection", "operation": "contains", "measurements": [f"flatten({ROLES})"]}
        | {"referenceValue": "medic", "maxCount": 9},
        "a match has at most 9 players",
    ),
]


@pytest.mark.parametrize(("rule", "why"), NEVER)
def test_rules_that_never_bind(rule: dict[str, object], why: str) -> None:
    document = copy.deepcopy(BASE)
    document["teams"].append({"name": "solo", "minPlayers": 1, "maxPlayers": 1})
    document["rules"].append({"name": "Idle", **rule})
    (found,) = check(document)
    assert (found.severity, found.path) == ("warning", "rules[6]")
    assert found.text == f"rule 'Idle' never refuses anything: {why}"


def test_unknown_keys_may_be_let_pass() -> None:
    document = copy.deepcopy(BASE) | {"comment": "ours"}
    reading = read_rule_set(json.dumps(document), lenient=True)
    assert reading.table is not None
    assert [one.severity for one in reading.problems] == ["warning"]


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
    (
        "{hunters: 4, monster: 0-1}",
        [
            {"name": "hunters", "minPlayers": 4, "maxPlayers": 4},
            {"name": "monster", "minPlayers": 0, "maxPlayers": 1},
        ],
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
    assert found["rules"][0]["referenceValue"] == f"avg(flatten({skill}))"
    assert found["rules"][1]["partyAggregation"] == "max"
    assert found["expansions"][0]["target"] == "rules[balance].maxDistance"


FAULTS: list[tuple[str, tuple[int, int], str, str]] = [
    ("skill: {}\n", (1, 1), "rule set", 'no teams (such as "2x5", two teams of five)'),
    ("teams: {a: five}\n", (1, 12), "teams.a", "players of a team are needed"),
    ("teams: {a: 2, a_1: 2, a: 3}\n", (1, 23), "rule set", "given twice"),
    ("teams: {a: {size: 2, fewer: [[9, x]]}}\n", (1, 30), "teams.a.fewer[0]", "not 'x'"),
    ("teams: 2x5\nskill: {attribute: 's[', within: 1}\n", (2, 20), "skill.attribute", "cannot be"),
    (
        "teams: 2x5\nskill: {attribute: s, within: 1, widen: [[9, 2], [9, 3]]}\n",
        (2, 51),
        "skill.widen[1][0]",
        "steps have to increase",
    ),
    ("teams: 2x5\nsame: mode\n", (2, 7), "same", "a list is needed, not 'mode'"),
    ("teams: 2x5\nsame: [mode]\ndefaults: {mod: 1}\n", (3, 12), "defaults.mod", "mean mode?"),
    ("teams: 2x50\nbalance: {attribute: s, within: 1}\n", (2, 33), "balance.within", "balanced"),
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
