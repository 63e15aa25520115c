"""Rule sets that stand in files of other tools, and files of other services."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.support.command import success, valmatch
from valmatch.rule_sets.files import read_rule_file
from valmatch.rule_sets.wrappers import body_of

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
        ('{"Rules": [{"Type": "DifferenceRule"}]}', "PlayFab matchmaking queue"),
        ('{"name": "r", "MatchLogic": {}}', "Unity Matchmaker queue"),
        ('{"pools": [{"doubleRangeFilters": []}]}', "Open Match profile"),
        ('{"data": {"type": "gameCenterMatchmakingRuleSets"}}', "Game Center rule set"),
        ('{"query": "+properties.region:europe"}', "query of Nakama"),
        (TEMPLATE.replace("Limit:", "Other:"), "${Limit} is filled in when"),
        ('{"RuleSets": [{"RuleSetBody": "{}"}, {"RuleSetBody": "{}"}]}', "2 rule sets stand here"),
        ('{"RuleSetBody": {"Fn::Join": ["", []]}}', "put together when it is deployed"),
        ('rule_set_body = file("duel.json")\n', "the rule set is duel.json"),
        ("rule_set_body = jsonencode({\n  name = local.name\n})\n", "made by the code here"),
        ("new Rules(this, 'R', { ruleSetBody: JSON.stringify(x) });", "made by the code here"),
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
