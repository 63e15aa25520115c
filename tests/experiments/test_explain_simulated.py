"""``valmatch rules explain`` of folders of `simulate`: the run is made again, and looked into."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import refusal, success
from tests.support.folders import rows
from valmatch.experiments.explain import simulated
from valmatch.matching.tickets.reading import WorldReading

RULES = {
    "ruleLanguageVersion": "1.0",
    "playerAttributes": [
        {"name": "skill", "type": "number"},
        {"name": "mode", "type": "string"},
        {"name": "roles", "type": "string_list"},
    ],
    "teams": [{"name": name, "minPlayers": 2, "maxPlayers": 2} for name in ("red", "blue")],
    "rules": [
        {"name": "Near", "type": "batchDistance", "batchAttribute": "skill", "maxDistance": 150},
        {
            **{"name": "Mode", "type": "comparison", "operation": "="},
            "measurements": ["flatten(teams[*].players.attributes[mode])"],
        },
        {"name": "Close", "type": "latency", "maxLatency": 120},
    ],
    "expansions": [
        {"target": "rules[Near].maxDistance", "steps": [{"waitTimeSeconds": 20, "value": 300}]}
    ],
}

CONFIG = """\
model: tickets
rules: rules.json
factors:
  hours: 0.5
  warmup_minutes: 0
  arrivals: {per_hour: 500}
  parties: {shares: [0.7, 0.3]}
  service: {request_timeout_seconds: 60}
  attributes: {mode: {a: 0.6, b: 0.4}, roles: {lists: {tank: 0.3, medic: 0.5}}}
"""


def made(folder: Path, *options: object, config: str = CONFIG) -> Path:
    """Return the folder of a run of `simulate`."""
    (folder / "rules.json").write_text(json.dumps(RULES, indent=1), encoding="utf-8")
    (folder / "small.yaml").write_text(config, encoding="utf-8")
    success("simulate", folder / "small.yaml", "--out", folder / "out", *options)
    return folder / "out"


def why(folder: Path, ticket: str) -> dict[str, Any]:
    return dict(json.loads(success("rules", "explain", folder, ticket, "--json").out))


VARIANTS = {
    "plain": (),
    "factors": ("rules.Near.maxDistance=90", "expansions.Near.maxDistance[0].wait=11"),
    "batches": ("service.batch_size=7",),
    "acceptance": ("service.acceptance_seconds=10", "service.accept_prob=0.8"),
    "patience": ("patience.median_seconds=30",),
    "exhaustive": ("service.search=exhaustive", "arrivals.per_hour=120"),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_it_says_what_a_replay_of_the_same_tickets_says(name: str, tmp_path: Path) -> None:
    given = [word for one in VARIANTS[name] for word in ("--set", one)]
    folder = made(tmp_path, *given, "--seed", 3, "--replication", 2)
    world, outcome = simulated(folder)
    tickets = rows(folder / "tickets.csv")
    assert outcome.statuses == [row["status"] for row in tickets]
    assert outcome.times == [float(row["ended"]) for row in tickets]
    unmatched = [row["ticket"] for row in tickets if row["status"] != "COMPLETED"]
    chosen = unmatched[len(unmatched) // 2]
    document = why(folder, chosen)
    (found,) = document.values()
    row = tickets[int(chosen)]
    assert (found["status"], found["ended"]) == (row["status"], float(row["ended"]))
    assert len(found["players"]) == int(row["players"])
    assert found["tried"]["tried"] + found["tried_by_others"]["tried"] > 0
    if name == "batches":  # the random order of a world has a seed, and no replication
        return
    rules = json.loads(json.dumps(RULES))
    if name == "factors":
        rules["rules"][0]["maxDistance"] = 90
        rules["expansions"][0]["steps"][0]["waitTimeSeconds"] = 11
    text = json.dumps(rules)
    reading = WorldReading(world.table, world.tickets, world.service, (world.search,), text)
    (tmp_path / "world.json").write_text("".join(reading.text()), encoding="utf-8")
    success("rules", "replay", tmp_path / "world.json", "--out", tmp_path / "again")
    assert why(tmp_path / "again", chosen) == document


def test_an_attribute_that_a_logged_player_lacks_is_no_value(tmp_path: Path) -> None:
    lines = [
        {"id": "x", "time": 1, "players": [{"id": "ann", "attributes": {"skill": 1000}}]},
        {"id": "y", "time": 2, "players": [{"id": "bob", "attributes": {"roles": ["tank"]}}]},
    ]
    log = tmp_path / "tickets.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    config = CONFIG.replace(", roles: {lists: {tank: 0.3, medic: 0.5}}", "")
    folder = made(tmp_path, config=f"arrivals: tickets.jsonl\n{config}")
    (found,) = why(folder, "0").values()
    (player,) = found["players"]
    assert found["unmatchable"] == ["roles"]
    assert (player["attributes"]["skill"], "roles" in player["attributes"]) == (1000, False)
    (found,) = why(folder, "1").values()
    assert (found["unmatchable"], found["players"][0]["attributes"]["roles"]) == ([], ["tank"])


REFUSED = {
    "valorant": (
        "model: valorant\nfactors: {horizon: 20}\n",
        "is of the model valorant, and tickets alone has tickets",
    ),
    "backfill": (
        CONFIG.replace("arrivals:", "match: {backfill: automatic}\n  arrivals:"),
        "match.backfill is automatic: why tickets wait can be told without backfill alone (simulate"
        " with --set match.backfill=none, and explain that folder)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rules_to_blame_is_refused(name: str, tmp_path: Path) -> None:
    config, text = REFUSED[name]
    folder = made(tmp_path, config=config)
    assert refusal("rules", "explain", folder, "1") == f"{folder}: {text}"


def test_what_is_not_there_any_more(tmp_path: Path) -> None:
    folder = made(tmp_path)
    assert "no ticket '1000000'" in refusal("rules", "explain", folder, "1000000")
    (tmp_path / "rules.json").write_text("{}", encoding="utf-8")
    assert re.search("the run's rules.*are not there", refusal("rules", "explain", folder, "1"))
