"""JSON with places; rule sets within files of other tools; what ``valmatch rules`` prints."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.command import success, valmatch
from valmatch.matching.living.registry import PRESETS, numbers_of
from valmatch.rule_sets.files import read_rule_file
from valmatch.rule_sets.flexmatch import ALONE
from valmatch.rule_sets.json_text import DEEPEST, Problem, Problems, plain, read_json
from valmatch.rule_sets.table import Steps, describe
from valmatch.rule_sets.types import Combined, Reached
from valmatch.rule_sets.wrappers import body_of


def read(text: str, lenient: bool = False) -> tuple[object, list[Problem]]:
    problems = Problems(text)
    node = read_json(text, problems, lenient)
    return (None if node is None else plain(node)), problems.sorted()


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**14), 10**14)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=60)
@given(VALUES, st.sampled_from([None, 1]))
def test_every_value_is_read_and_stands_where_it_is_written(
    value: object, indent: int | None
) -> None:
    text = json.dumps(value, indent=indent)
    assert read(text) == (value, [])
    node = read_json(text, Problems(text))
    assert node is not None
    nodes = [node]
    for one in nodes:
        assert json.loads(text[one.start : one.place.end]) == plain(one)
        nodes += one.items
        for key, member in one.members.items():
            assert text[member.place.key :].startswith(json.dumps(key))
            nodes.append(member)


@given(st.text(alphabet='{}[]",:\\/*0123456789.eEtrufalsn-\n '))
def test_what_python_does_not_read_is_an_error(text: str) -> None:
    try:
        json.loads(text, parse_constant=lambda word: 1 / 0)
        readable = True
    except (ValueError, ZeroDivisionError):
        readable = False
    _, problems = read(text, lenient=True)
    comments = [one for one in problems if "comment" in one.text]
    assert readable == (not any(one.severity == "error" for one in problems) and not comments)


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("", (1, 1), "expected a value, found the end of the file"),
        ('{"a": 1,}', (1, 8), "a comma before }"),
        ('{"a": NaN}', (1, 7), "'NaN' is no number of JSON"),
        ("[1e999]", (1, 2), "'1e999' is too large for a number"),
        ('["\\ud800"]', (1, 2), "half of a character that is written as a pair"),
        ('["\x85 \u2028", \n\t"\U0001f600", 1e999]', (2, 7), "is too large"),
        ("[" * 100_000, (1, DEEPEST + 1), "nested deeper than 64 levels"),
    ],
)
def test_places_of_errors(text: str, place: tuple[int, int], what: str) -> None:
    value, problems = read(text)
    assert value is None
    (problem,) = [one for one in problems if one.severity == "error"]
    assert (problem.line, problem.column) == place
    assert problem.text.startswith("no JSON: ")
    assert what in problem.text


def test_comments_are_found_and_read_over() -> None:
    value, problems = read('// one\n{"a": /* two */ 1} // three')
    assert value == {"a": 1}
    assert [one[:3] for one in problems] == [
        (1, 1, "warning"),
        (2, 7, "warning"),
        (2, 20, "warning"),
    ]


FOLDER = Path(__file__).parents[1] / "fixtures" / "rule_sets"

COMMENT = ("warning", "rule set", "a comment: the service takes JSON without comments")
NEVER = ("warning", "rule set", "no expansion: limits never widen for tickets that wait")

PROBLEMS: dict[int, list[tuple[str, str, str]]] = {
    1: [COMMENT] * 4,
    2: [("warning", "expansions[0].steps[0]", ALONE)],
    3: [COMMENT] * 2,
    4: [NEVER, COMMENT, COMMENT],
    5: [],
    6: [NEVER],
    7: [
        (
            "error",
            "expansions[0]",
            'key "target" twice in one object: the expansion of rules[low-latency].maxLatency is'
            " lost (first at 14:7)",
        ),
        ("error", "expansions[0]", 'key "steps" twice in one object (first at 15:7)'),
        ("warning", "expansions[0].steps[0]", ALONE),
    ],
    8: [("warning", "expansions[0].steps[0]", ALONE)],
    9: [],
    10: [("warning", "algorithm", "balanced is for more than 40 players; there are at most 40")],
    11: [NEVER],
}


def path(number: int) -> Path:
    return FOLDER / f"example-{number:02d}.json"


@pytest.mark.parametrize("number", PROBLEMS)
def test_known_problems(number: int) -> None:
    assert [one[2:] for one in read_rule_file(path(number)).problems] == PROBLEMS[number]


def test_the_lost_expansion_is_read_leniently() -> None:
    reading = read_rule_file(path(7), lenient=True)
    assert reading.table is not None
    assert [one.severity for one in reading.problems] == ["warning"] * 3
    (team,) = reading.table.teams
    assert team.least == Steps((10, 15), (175, 150, 100))
    first = reading.table.rules[0].predicate
    assert isinstance(first, Reached)
    assert first.most == Steps((), (150,))


SENTENCES = {
    1: "avg(teams[*].players.attributes[skill]): at most 10 (50 from 5 s, 100 from 15 s) away from"
    " avg(flatten(teams[*].players.attributes[skill]))",
    5: "flatten(teams[*].players.attributes[myCharacter]): of each player at least 1 (0 from 15 s)"
    " strings among"
    " set_intersection(flatten(teams[*].players.attributes[preferredOpponents]))",
    9: "league: all tickets within 2 of each other (of a party the mean)",
}


@pytest.mark.parametrize("number", SENTENCES)
def test_first_rules_in_words(number: int) -> None:
    table = read_rule_file(path(number)).table
    assert table is not None
    assert describe(table).rules[0][1] == SENTENCES[number]


def test_a_compound_in_a_negation_keeps_its_brackets() -> None:
    table = read_rule_file(path(10)).table
    assert table is not None
    first, second = (rule.name for rule in table.rules[:2])
    assert Combined((0, 1, "and", "not")).sentence(table) == f"not ({first} and {second})"
    assert Combined((0, 1, "and")).sentence(table) == f"{first} and {second}"


BODY = """{
  "name": "caf\\u00e9", "ruleLanguageVersion": "1.0",
  "playerAttributes": [{"name": "mmr", "type": "number", "default": 1000}],
  "teams": [{"name": "all", "minPlayers": 2, "maxPlayers": 2}],
  "rules": [{"name": "near", "type": "distance", "referenceValue": 1000, "maxDistance": LIMIT,
    "measurements": ["avg(flatten(teams[*].players.attributes[mmr]))"]}]
}"""
JSON = BODY.replace("LIMIT", "100")
INDENTED = "\n".join(f"        {line}" for line in BODY.splitlines())

TEMPLATE = f"""Parameters:
  Limit: {{Type: Number, Default: 100}}
Resources:
  Rules:
    Properties:
      Name: duel
      RuleSetBody: !Sub |
{INDENTED.replace("LIMIT", "${Limit}")}
"""
WRAPPED = {
    "described.json": json.dumps(
        {"RuleSets": [{"RuleSetName": "duel", "RuleSetBody": JSON}]}, indent=1
    ),
    "template.yaml": TEMPLATE,
    "joined.json": json.dumps(
        {
            "Resources": {
                "R": {"RuleSetBody": {"Fn::Sub": [BODY.replace("LIMIT", "${L}"), {"L": 100}]}}
            }
        }
    ),
    "heredoc.tf": f'resource "x" "y" {{\n  rule_set_body = <<-EOT\n{JSON}\n  EOT\n}}\n',
    "encoded.tf": f'resource "x" "y" {{\n  rule_set_body = jsonencode({JSON})\n}}\n',
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_rule_set_is_taken_out_with_the_places_of_its_characters(
    name: str, tmp_path: Path
) -> None:
    body = body_of(WRAPPED[name])
    assert body is not None
    assert json.loads(body.text) == json.loads(JSON)
    where = body.places[body.text.index("near")]
    assert WRAPPED[name][where:].startswith("near")
    file = tmp_path / name
    file.write_text(WRAPPED[name].replace("[mmr]", "[mnr]"), encoding="utf-8")
    (error,) = [one for one in read_rule_file(file).problems if one.severity == "error"]
    line = file.read_text(encoding="utf-8").splitlines()[error.line - 1]
    assert "[mnr]" in line
    assert line[error.column - 1 :].removeprefix("\\").startswith('"avg(flatten')
    assert valmatch("rules", "check", file).code == 2


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"MatchmakingQueue": {"Name": "q"}}', "PlayFab matchmaking queue"),
        ('{"data": {"type": "gameCenterMatchmakingRuleSets"}}', "Game Center rule set"),
        (TEMPLATE.replace("Limit:", "Other:"), "${Limit} is filled in when"),
        ('{"RuleSets": [{"RuleSetBody": "{}"}, {"RuleSetBody": "{}"}]}', "2 rule sets stand here"),
        ('rule_set_body = file("duel.json")\n', "the rule set is duel.json"),
        ("rule_set_body = jsonencode({\n  name = local.name\n})\n", "made by the code here"),
    ],
)
def test_what_cannot_be_read_is_named_in_one_line(text: str, what: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_text(text)
    done = valmatch("rules", "check", file)
    assert (done.code, len(done.out.splitlines())) == (2, 1), done.out
    assert what in done.out
    assert done.out.startswith(f"{file}:")


def test_a_first_config_runs(tmp_path: Path) -> None:
    file = tmp_path / "described.json"
    file.write_text(WRAPPED["described.json"])
    text = success("rules", "config", file).out
    config = tmp_path / "duel.yaml"
    config.write_text(text.replace("hours: 4", "hours: 0.5"))
    assert yaml.safe_load(text)["factors"]["skill"] == {
        "attribute": "mmr", "mean": 1000, "std": 200, "party_std": 100,
    }  # fmt: skip
    assert max(map(len, text.splitlines())) <= 120
    shown = success("simulate", config).out
    assert "time_to_match" in shown


EXAMPLES = Path(__file__).parents[1] / "fixtures" / "rule_sets"


def test_warnings_end_with_0() -> None:
    file = EXAMPLES / "example-02.json"
    done = valmatch("rules", "check", file, "--timeout", "1 min")
    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()
    assert first.startswith(f"{file}:39:17: warning: expansions[0].steps[0]: minPlayers falls with")
    assert second == (
        f"{file}:39:54: warning: expansions[0].steps[1]: no ticket lives for 60 s: the request"
        " timeout is 60 s"
    )
    assert valmatch("rules", "check", file).out.splitlines() == [first]


def test_a_world_is_no_rule_set_and_said_to_be_one(tmp_path: Path) -> None:
    world: dict[str, object] = {"ruleSet": {}, "config": {}, "tickets": []}
    path = tmp_path / "world.json"
    path.write_text(json.dumps(world))
    done = valmatch("rules", "check", path)
    assert (done.code, done.err) == (2, "")
    assert done.out == (
        f"{path}:1:1: error: rule set: this is a world of tickets with its rule set, which"
        " `valmatch rules replay` plays\n"
    )
    path.write_text(json.dumps({**world, "tickets": [{"time": math.nan}]}))
    done = valmatch("rules", "replay", path)
    assert done.code == 2
    assert "error: world: no JSON: 'NaN'" in done.err


def test_the_numbers_of_a_preset_are_printed_as_a_config_has_them() -> None:
    for preset in PRESETS:
        shown = valmatch("rules", "show", "--preset", preset)
        (rule,) = yaml.safe_load(shown.out).values()
        assert json.loads(valmatch("rules", "show", "--preset", preset, "--json").out) == rule
        assert numbers_of(preset).source in shown.out.splitlines()[0]
    assert (
        "# Wait in which the radius doubles.\n" in valmatch("rules", "show", "--preset", "osu").out
    )
