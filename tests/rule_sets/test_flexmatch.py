"""Every fault and every remark of `rules check`, each with its place."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from valmatch.rule_sets.flexmatch import LONGEST, read_rule_set
from valmatch.rule_sets.problems import Problem

Document = dict[str, Any]

SKILL = "teams[*].players.attributes[skill]"
ROLES = "teams[*].players.attributes[roles]"

BASE: Document = {
    "ruleLanguageVersion": "1.0",
    "playerAttributes": [
        {"name": "skill", "type": "number", "default": 10},
        {"name": "roles", "type": "string_list"},
        {"name": "mode", "type": "string"},
        {"name": "maps", "type": "string_number_map"},
    ],
    "algorithm": {"batchingPreference": "sorted", "sortByAttributes": ["mode"]},
    "teams": [
        {"name": "red", "minPlayers": 2, "maxPlayers": 4},
        {"name": "blue", "minPlayers": 2, "maxPlayers": 4},
    ],
    "rules": [
        {
            "name": "Near",
            "type": "distance",
            "measurements": [f"avg({SKILL})"],
            "referenceValue": f"avg(flatten({SKILL}))",
            "maxDistance": 10,
        },
        {
            "name": "Medic",
            "type": "collection",
            "operation": "contains",
            "measurements": [f"flatten({ROLES})"],
            "referenceValue": "medic",
            "minCount": 1,
        },
        {"name": "Level", "type": "batchDistance", "batchAttribute": "skill", "maxDistance": 9},
        {
            "name": "Map",
            "type": "absoluteSort",
            "sortDirection": "ascending",
            "sortAttribute": "maps",
            "mapKey": "minValue",
        },
        {"name": "Ping", "type": "latency", "maxLatency": 50},
        {"name": "Both", "type": "compound", "statement": "or(Near, not(Medic))"},
    ],
    "expansions": [
        {
            "target": "rules[Near].maxDistance",
            "steps": [{"waitTimeSeconds": 5, "value": 50}, {"waitTimeSeconds": 15, "value": 90}],
        }
    ],
}


def check(document: Document, timeout: float | None = None) -> list[Problem]:
    return read_rule_set(json.dumps(document, indent=1), timeout).problems


def setting(path: str, value: object) -> Callable[[Document], None]:
    """Return a change of a document: a value at a path such as ``rules[0].type``."""

    def change(document: Document) -> None:
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

    return change


def test_the_base_has_no_problem() -> None:
    assert check(BASE) == []


MEASURES = "rules[0].measurements[0]"
STATEMENT = "rules[5].statement"
LARGE = {"strategy": "balanced", "balancedAttribute": "skill"}
COMPOUND = {"type": "compound", "statement": "not(Medic)"}
COMPARISON = {"name": "Near", "type": "comparison", "measurements": [SKILL], "operation": "="}

ERRORS: list[tuple[str, object, str, str]] = [
    # what, to what, the path of the error, its text
    ("ruleLanguageVersion", "1.1", "ruleLanguageVersion", '"1.0" is needed'),
    ("ruleLanguageVersion", None, "rule set", "no ruleLanguageVersion"),
    ("rulez", 1, "rule set", "unknown key 'rulez' (did you mean rules?)"),
    ("rules[0].maxDistanc", 1, "rules[0]", "did you mean maxDistance?"),
    ("name", 3, "name", "a string is needed, not 3"),
    ("rules", {}, "rules", "a list is needed, not an object"),
    ("rules[0]", 7, "rules[0]", "an object is needed, not 7"),
    ("algorithm", [], "algorithm", "an object is needed, not a list"),
    # teams
    ("teams", None, "rule set", "no teams"),
    ("teams", [], "teams", "no team"),
    ("teams[1].name", "red", "teams[1].name", "there is a team 'red' already"),
    ("teams[1].name", None, "teams[1]", "no name"),
    ("teams[0].minPlayers", 5, "teams[0].minPlayers", "5 is more than maxPlayers, 4"),
    ("teams[0].minPlayers", -1, "teams[0].minPlayers", "at least 0 is needed, not -1"),
    ("teams[0].maxPlayers", 2.5, "teams[0].maxPlayers", "a whole number is needed, not 2.5"),
    ("teams[0].maxPlayers", None, "teams[0]", "no maxPlayers"),
    ("teams[0].quantity", 0, "teams[0].quantity", "at least 1 is needed, not 0"),
    ("teams[0].quantity", 1e300, "teams", "at least 808 players, where a match has at most 200"),
    ("teams[0].maxPlayers", 1e300, "teams", "1e+300 players, where a match has at most 200"),
    ("teams[0].maxPlayers", 37, "teams", "41 players need the strategy balanced"),
    ("teams[0].maxPlayers", 197, "teams", "201 players, where a match has at most 200"),
    # algorithm
    ("algorithm.strategy", "greedy", "algorithm.strategy", "'greedy' is none (allowed: exhaus"),
    ("algorithm.strategy", "balanced", "algorithm.batchingPreference", "sorted does not go with"),
    ("algorithm.batchingPreference", "fastestRegion", "algorithm.batchingPreference", "random or"),
    ("algorithm.sortByAttributes", None, "algorithm.batchingPreference", "needs sortByAttributes"),
    ("algorithm.sortByAttributes", [], "algorithm.batchingPreference", "needs sortByAttributes"),
    ("algorithm.sortByAttributes", ["x"], "algorithm.sortByAttributes[0]", "no attribute 'x'"),
    ("algorithm.sortByAttributes", ["maps"], "algorithm.sortByAttributes[0]", "neither a number"),
    ("algorithm", {"strategy": "balanced"}, "algorithm", "no balancedAttribute"),
    (
        "algorithm",
        LARGE | {"balancedAttribute": "mode"},
        "algorithm.balancedAttribute",
        "no number",
    ),
    (
        "algorithm",
        LARGE | {"balancedAttribute": "x"},
        "algorithm.balancedAttribute",
        "no attribute",
    ),
    ("algorithm.expansionAgeSelection", "old", "algorithm.expansionAgeSelection", "mean oldest?"),
    ("algorithm.backfillPriority", "hi", "algorithm.backfillPriority", "'hi' is none"),
    # attributes
    ("playerAttributes[0].type", "double", "playerAttributes[0].type", "'double' is none"),
    ("playerAttributes[1].name", "skill", "playerAttributes[1].name", "declared already"),
    (
        "playerAttributes[0].default",
        "10",
        "playerAttributes[0].default",
        "a number is needed by its",
    ),
    ("playerAttributes[1].default", [1], "playerAttributes[1].default", "a list of strings is"),
    ("playerAttributes[2].default", 1, "playerAttributes[2].default", "a string is needed by its"),
    ("playerAttributes[3].default", {"a": "b"}, "playerAttributes[3].default", "an object of num"),
    # rules
    ("rules[0].type", "distanse", "rules[0].type", "did you mean distance?"),
    ("rules[0].type", None, "rules[0]", "no type"),
    ("rules[1].name", "Near", "rules[1].name", "there is a rule 'Near' already"),
    ("rules[1].operation", "contain", "rules[1].operation", "did you mean contains?"),
    ("rules[0].partyAggregation", "mean", "rules[0].partyAggregation", "'mean' is none"),
    ("rules[1].partyAggregation", "avg", "rules[1].partyAggregation", "allowed: union, inter"),
    # expressions
    (MEASURES, "", MEASURES, "teams[...].players.attributes[...] is meant"),
    (MEASURES, f"avg({SKILL}", MEASURES, "1 brackets opened by functions, 0 closed"),
    (MEASURES, f"avg({SKILL})x", MEASURES, "')x' is one too many"),
    (MEASURES, "avg(" * 9000, MEASURES, "is meant"),
    (MEASURES, f"mean({SKILL})", MEASURES, "no function 'mean'"),
    (MEASURES, "avg(teams[rad].players.attributes[skill])", MEASURES, "did you mean red?"),
    (MEASURES, "avg(teams[red,red].players.attributes[skill])", MEASURES, "team 'red' twice"),
    (MEASURES, "avg(team[red].players.attributes[skill])", MEASURES, "did you mean teams[red]?"),
    (MEASURES, "avg(teams[*].players.attributes[skil])", MEASURES, "did you mean skill?"),
    (MEASURES, "avg(teams[*].players.attributes[maps])", MEASURES, "a map, which no expression"),
    (MEASURES, f"avg(avg(avg({SKILL})))", MEASURES, "avg takes a list of numbers, not a number"),
    (MEASURES, f"flatten(flatten({SKILL}))", MEASURES, "flatten takes a list of lists, not a list"),
    (MEASURES, f"sum({ROLES})", MEASURES, "a list of numbers, not a list of lists of lists of str"),
    (MEASURES, f"set_intersection({SKILL})", MEASURES, "takes a list of lists of strings"),
    (MEASURES, f"flatten({ROLES})", "rules[0].measurements", "numbers are needed, not a list"),
    ("rules[0].measurements", [], "rules[0].measurements", "no measurement"),
    ("rules[0].measurements", 5, "rules[0].measurements", "a list is needed, not 5"),
    ("rules[0].measurements", [5], MEASURES, "a string is needed, not 5"),
    ("rules[0].measurements", None, "rules[0]", "no measurements"),
    ("rules[0].referenceValue", SKILL, "rules[0].referenceValue", "a number is needed, not a list"),
    (
        "rules[0].referenceValue",
        "ten",
        "rules[0].referenceValue",
        "a number is needed, not a string",
    ),
    ("rules[0].referenceValue", ["x"], "rules[0].referenceValue", "a number, a string or an exp"),
    (
        "rules[1].measurements",
        f"flatten(flatten({ROLES}))",
        "rules[1].measurements",
        "list of string",
    ),
    # what is missing
    ("rules[0].maxDistance", None, "rules[0]", "neither minDistance nor maxDistance"),
    ("rules[0].maxDistance", "x", "rules[0].maxDistance", "a number is needed, not 'x'"),
    ("rules[0].maxDistance", -1, "rules[0].maxDistance", "at least 0 is needed"),
    ("rules[0].referenceValue", None, "rules[0]", "no referenceValue"),
    ("rules[1].minCount", None, "rules[1]", "neither minCount nor maxCount"),
    ("rules[1].minCount", 1.5, "rules[1].minCount", "a whole number is needed"),
    ("rules[1].operation", "intersection", "rules[1].referenceValue", "takes no reference"),
    ("rules[1].referenceValue", None, "rules[1]", "contains needs one"),
    (
        "rules[1].operation",
        "reference_intersection_count",
        "rules[1].referenceValue",
        "a list of s",
    ),
    ("rules[2].maxDistance", None, "rules[2]", "no maxDistance (numbers need one)"),
    ("rules[2].batchAttribute", "roles", "rules[2].batchAttribute", "no list and no map"),
    ("rules[2].batchAttribute", "skll", "rules[2].batchAttribute", "did you mean skill?"),
    ("rules[3].mapKey", None, "rules[3]", "no mapKey"),
    ("rules[3].sortDirection", None, "rules[3]", "no sortDirection"),
    ("rules[3].sortAttribute", "mode", "rules[3].sortAttribute", "a number or a map is needed"),
    ("rules[4].maxLatency", None, "rules[4]", "neither maxLatency nor maxDistance"),
    ("rules[4].maxLatency", True, "rules[4].maxLatency", "a number is needed, not true"),
    ("rules[4].maxDistance", 9, "rules[4].maxDistance", "no distanceReference"),
    ("rules[4].distanceReference", "min", "rules[4].distanceReference", "no maxDistance"),
    ("rules[0]", COMPARISON | {"operation": "<"}, "rules[0].operation", "needs a referenceValue"),
    ("rules[0]", COMPARISON | {"operation": ">="}, "rules[0].operation", "needs a referenceValue"),
    ("rules[0]", COMPARISON | {"operation": "=="}, "rules[0].operation", "'==' is none"),
    ("rules[0]", COMPARISON | {"referenceValue": "x"}, "rules[0].referenceValue", "not a string"),
    (
        "rules[0]",
        COMPARISON | {"measurements": [f"max(avg({SKILL}))"]},
        "rules[0].measurements",
        "a",
    ),
    # compounds
    (STATEMENT, "", STATEMENT, "it is empty"),
    (STATEMENT, "or(Near, Medik)", STATEMENT, "no rule 'Medik' before this one (did you mean Med"),
    (STATEMENT, "not(Both)", STATEMENT, "no rule 'Both' before"),
    (STATEMENT, "and(Near, Level)", STATEMENT, "'Level' is a batchDistance"),
    (STATEMENT, "and(Near)", STATEMENT, "and takes 2, not 1"),
    (STATEMENT, "xor(Near, Medic, Near)", STATEMENT, "xor takes 2, not 3"),
    (STATEMENT, "not(Near, Medic)", STATEMENT, "not takes 1, not 2"),
    ("rules[0]", {**COMPOUND, "name": "Near"}, "rules[0].statement", "no rule 'Medic' before this"),
    (STATEMENT, "nor(Near, Medic)", STATEMENT, "no operator 'nor'"),
    (STATEMENT, "or(Near, Medic", STATEMENT, "it ends too early"),
    (STATEMENT, "or(Near, Medic))", STATEMENT, "')' stands where it has no meaning"),
    (STATEMENT, "or(,)", STATEMENT, "',' stands where it has no meaning"),
    (STATEMENT, "not(" * 9000, STATEMENT, "nested deeper than 64 operators"),
    (STATEMENT, None, "rules[5]", "no statement"),
    # expansions
    ("expansions[0].target", None, "expansions[0]", "no target"),
    (
        "expansions[0].target",
        "rules[Nar].maxDistance",
        "expansions[0].target",
        "did you mean Near?",
    ),
    (
        "expansions[0].target",
        "Near.maxDistance",
        "expansions[0].target",
        "is no target: rules[name]",
    ),
    ("expansions[0].target", "teams[rd].maxPlayers", "expansions[0].target", "did you mean red?"),
    ("expansions[0].target", "teams[red].quantity", "expansions[0].target", "cannot be expanded"),
    ("expansions[0].target", "rules[Both].statement", "expansions[0].target", "compound cannot be"),
    ("expansions[0].target", "rules[Near].operation", "expansions[0].target", "cannot be expanded"),
    (
        "expansions[0].target",
        "rules[Near].minDistance",
        "expansions[0].target",
        "has no minDistance",
    ),
    ("expansions[0].target", "algorithm.strategy", "expansions[0].target", "is no target"),
    ("expansions[0].steps", [], "expansions[0].steps", "no step"),
    ("expansions[0].steps", None, "expansions[0]", "no steps"),
    (
        "expansions[0].steps[1].waitTimeSeconds",
        5,
        "expansions[0].steps[1].waitTimeSeconds",
        "incre",
    ),
    (
        "expansions[0].steps[0].waitTimeSeconds",
        -5,
        "expansions[0].steps[0].waitTimeSeconds",
        "at l",
    ),
    ("expansions[0].steps[0].value", "a", "expansions[0].steps[0].value", "a number is needed"),
    ("expansions[0].steps[0].value", None, "expansions[0].steps[0]", "no value"),
]


@pytest.mark.parametrize(("where", "value", "path", "text"), ERRORS)
def test_errors(where: str, value: object, path: str, text: str) -> None:
    document = copy.deepcopy(BASE)
    setting(where, value)(document)
    found = [one for one in check(document) if one.severity == "error"]
    assert [one for one in found if one.path == path and text in one.text], found
    assert read_rule_set(json.dumps(document)).table is None


@pytest.mark.parametrize("most", [None, -2, "ten"])
def test_nothing_is_remarked_on_a_rule_that_has_an_error(most: object) -> None:
    document = copy.deepcopy(BASE)
    del document["expansions"][0]
    setting("rules[0].maxDistance", most)(document)
    (found,) = (one for one in check(document) if one.path.startswith("rules"))
    assert found.severity == "error"


def test_an_expansion_of_one_target_stands_once() -> None:
    document = copy.deepcopy(BASE)
    document["expansions"] *= 2
    (found,) = check(document)
    assert found.path == "expansions[1].target"
    assert "has an expansion already (expansions[0])" in found.text


def test_large_matches_know_few_rules() -> None:
    document = copy.deepcopy(BASE)
    document["algorithm"] = LARGE
    document["teams"][0]["maxPlayers"] = 100
    document["rules"][4] |= {"maxDistance": 9, "distanceReference": "min"}
    found = {one.path: one.text for one in check(document) if one.severity == "error"}
    assert set(found) == {
        *(f"rules[{number}].type" for number in (0, 1, 3, 5)),
        "rules[4].maxDistance",
    }
    assert "distance is not for large matches" in found["rules[0].type"]


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


WARNINGS: list[tuple[str, object, str, str]] = [
    (
        "algorithm",
        {"strategy": "balanced", "balancedAttribute": "skill"},
        "algorithm",
        "more than 40",
    ),
    (
        "algorithm.balancedAttribute",
        "skill",
        "algorithm.balancedAttribute",
        "has no effect without",
    ),
    (
        "expansions[0].steps[1].waitTimeSeconds",
        60,
        "expansions[0].steps[1]",
        "no ticket lives for 60",
    ),
    ("expansions[0].steps[1].value", 40, "expansions[0].steps[1]", "tightens: 40 after 50"),
    ("rules[1].minCount", 0, "rules[1]", "never refuses anything: every number is at least 0"),
    ("rules[1].minCount", 9, "rules[1]", "minCount 9 is never reached by the 8 players"),
    ("rules[1].maxCount", 0, "rules[1]", "the least is above the most"),
    ("teams[0].minPlayers", 0, "rules[0]", "without players in red that is left out"),
    (
        "rules[3].sortAttribute",
        "skill",
        "rules[3].mapKey",
        "has no effect: the attribute is no map",
    ),
    ("rules[3].sortAttribute", "skill", "playerAttributes[3]", "'maps' is declared and not used"),
    ("expansions", [], "rule set", "no expansion: who waits is never granted more"),
    (
        "algorithm",
        {"sortByAttributes": ["mode"]},
        "algorithm.sortByAttributes",
        "has no effect without batchingPreference sorted",
    ),
]


@pytest.mark.parametrize(("where", "value", "path", "text"), WARNINGS)
def test_warnings(where: str, value: object, path: str, text: str) -> None:
    document = copy.deepcopy(BASE)
    setting(where, value)(document)
    found = check(document, timeout=60)
    assert {one.severity for one in found} == {"warning"}
    assert [one for one in found if one.path == path and text in one.text], found


@pytest.mark.parametrize(("most", "said"), [(0, True), (0.5, True), (1, False)])
def test_a_latency_that_nobody_has(most: float, said: bool) -> None:
    document = copy.deepcopy(BASE)
    document["rules"].append({"name": "Here", "type": "latency", "maxLatency": most})
    text = f"maxLatency {most:g} refuses everybody: latencies are 1 ms or more"
    found = [one for one in check(document) if one.text.startswith("maxLatency")]
    assert [(one.severity, one.text) for one in found] == [("warning", text)] * said


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


def test_expansions_that_are_misspelt_are_not_missing() -> None:
    document = copy.deepcopy(BASE)
    document["expansion"] = document.pop("expansions")
    found = [one.text for one in check(document)]
    assert any("did you mean expansions" in text for text in found), found
    assert not any(text.startswith("no expansion") for text in found)
    del document["expansion"]
    assert any(one.text.startswith("no expansion") for one in check(document))


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


def test_a_team_that_no_number_of_players_fits_any_more() -> None:
    document = copy.deepcopy(BASE)
    steps = [{"waitTimeSeconds": 20, "value": 1}]
    document["expansions"].append({"target": "teams[red].maxPlayers", "steps": steps})
    found = [one.text for one in check(document) if one.path == "teams[0]"]
    assert found == ["from 20 s on 2 players at least and 1 at most: none"]


def test_backfill_comes_first_in_large_matches_whatever_is_said() -> None:
    document = {**BASE, "algorithm": {**LARGE, "backfillPriority": "low"}, "rules": []}
    document["teams"] = [{"name": "all", "minPlayers": 40, "maxPlayers": 50}]
    document["expansions"] = []
    found = {one.path: one.text for one in check(document)}
    assert "has no effect with balanced" in found["algorithm.backfillPriority"]


@pytest.mark.parametrize("seconds", [59, 60, 61])
def test_steps_at_or_after_the_request_timeout(seconds: int) -> None:
    document = copy.deepcopy(BASE)
    document["expansions"][0]["steps"][1]["waitTimeSeconds"] = seconds
    found = [one.text for one in check(document, timeout=60)]
    late = f"no ticket lives for {seconds} s: the request timeout is 60 s"
    assert found == ([late] if seconds >= 60 else [])


def test_faults_are_found_together_and_by_place() -> None:
    document = copy.deepcopy(BASE)
    for where, value in (("rules[5].statement", "x"), ("teams[0].quantity", "1"), ("nam", "")):
        setting(where, value)(document)
    found = check(document)
    assert [one.path for one in found] == ["teams[0].quantity", "rules[5].statement", "rule set"]
    assert found == sorted(found)


def test_unknown_keys_may_be_let_pass() -> None:
    document = copy.deepcopy(BASE) | {"comment": "ours"}
    reading = read_rule_set(json.dumps(document), lenient=True)
    assert reading.table is not None
    assert [one.severity for one in reading.problems] == ["warning"]


@pytest.mark.parametrize("text", ["7", "[]", "null", '""'])
def test_a_rule_set_is_an_object(text: str) -> None:
    (found,) = read_rule_set(text).problems
    assert "an object is needed" in found.text


def test_rules_are_judged_where_every_team_is_faulty() -> None:
    document = copy.deepcopy(BASE)
    for team in document["teams"]:
        del team["name"]
    document["rules"] = [
        {"name": "Same", "type": "comparison", "measurements": [SKILL], "operation": "="}
    ]
    document["expansions"] = []
    found = check(document)
    assert {problem.path for problem in found if problem.severity == "error"} >= {"teams[0]"}
