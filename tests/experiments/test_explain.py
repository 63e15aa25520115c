"""``valmatch rules explain``: why a ticket of a replay, or of a run of `simulate`, waited."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Outcome, refusal, success, valmatch
from tests.support.folders import rows
from tests.support.ticket_worlds import party, solo, team, world
from valmatch.experiments.replay import simulated
from valmatch.matching.tickets.playing import play
from valmatch.matching.tickets.reading import WorldReading

NEAR = {"name": "Near", "type": "batchDistance", "batchAttribute": "skill", "maxDistance": 100}
STEPS = [{"waitTimeSeconds": 10, "value": 200}, {"waitTimeSeconds": 40, "value": 450}]
SKILL = [{"name": "skill", "type": "number"}]
ONES = [team("red", 1, 1), team("blue", 1, 1)]


def duels(*tickets: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a world of single players against each other, near in skill."""
    return world(
        ONES,
        tickets,
        rules=[NEAR],
        playerAttributes=SKILL,
        expansions=[{"target": "rules[Near].maxDistance", "steps": STEPS}],
        **more,
    )


def played(folder: Path, given: dict[str, Any], *options: object) -> Outcome:
    (folder / "world.json").write_text(json.dumps(given), encoding="utf-8")
    return success("rules", "replay", folder / "world.json", "--out", folder / "out", *options)


def why(folder: Path, ticket: str) -> dict[str, Any]:
    done = success("rules", "explain", folder, ticket, "--json")
    return dict(json.loads(done.out))


def test_which_rule_refused_and_what_was_nearest(tmp_path: Path) -> None:
    tickets = [solo(1, 0, skill=1000), solo(2, 2, skill=1300), solo(3, 3, skill=1460)]
    played(tmp_path, duels(*tickets, timeout=30))
    document = why(tmp_path / "out", "t1")["pass"]
    assert (document["status"], document["waited"]) == ("TIMED_OUT", 30)
    # Reviews at 0, 2, 3, and as steps are reached at 10, 12; at 13 the others have a match.
    assert (document["reviews"], document["looked_at"], document["anchor"]) == (6, 6, 6)
    assert document["tried"] == {"tried": 7, "taken": 0, "no_room": 0}
    assert document["tried_by_others"] == {"tried": 7, "taken": 0, "no_room": 0}
    (rule,) = document["rules"]
    assert (rule["refused"], rule["alone"], rule["share"]) == (14, 14, 1.0)
    nearest = document["nearest"]
    assert (nearest["time"], nearest["age"], nearest["with"]) == (12, 10, ["t2"])
    assert nearest["rules"] == [
        {
            "rule": "Near",
            "needs": [{"property": "maxDistance", "needed": 300, "in_force": 200}],
            "holds_from": 40,
        }
    ]
    assert document["fullest"]["players"] == 1
    assert document["blocked_by"] == []
    lines = valmatch("rules", "explain", tmp_path / "out", "t1").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("search pass: t1 (1 player, skill 1000) timed out after 30 s: Near")
    text = " ".join(line.strip() for line in lines)
    assert "needs maxDistance 300, 200 is in force; allowed from 40 s" in text


def test_a_ticket_that_blocks_is_named(tmp_path: Path) -> None:
    threes = [team("red", 3, 3), team("blue", 3, 3)]
    tickets = [solo(1), *(party(k, [{}] * 3, float(k)) for k in range(2, 6))]
    done = played(tmp_path, world(threes, tickets))
    line = "blocked: 4 tickets of 5 waited behind t1, which could join them, and without which"
    assert line in " ".join(done.out.split())
    blocked = [row["blocked_by"] for row in rows(tmp_path / "out" / "tickets.csv")]
    assert blocked == ["", "t1", "t1", "t1", "t1"]
    document = why(tmp_path / "out", "t2")["pass"]
    assert document["blocked_by"] == [{"tickets": ["t1"], "reviews": 3}]
    assert document["tried"]["no_room"] > 0
    assert document["fullest"]["with"] == ["t1"]
    printed = valmatch("rules", "explain", tmp_path / "out", "t2").out
    assert "blocked: without t1, a match at 3 reviews" in printed
    summary = json.loads(valmatch("rules", "replay", tmp_path / "world.json", "--json").out)
    assert summary["pass"]["blocked_by"] == [{"tickets": ["t1"], "behind": 4, "reviews": 3}]


def test_who_cannot_be_matched_at_all(tmp_path: Path) -> None:
    tight = {"name": "Ping", "type": "latency", "maxLatency": 50}
    far, silent = solo(1, 0, skill=1), solo(2, 0)
    far["players"][0]["latency"] = {"eu": 80, "us": 95}
    given = world(ONES, [far, silent], rules=[tight], playerAttributes=SKILL)
    played(tmp_path, given)
    document = why(tmp_path / "out", "t1")["pass"]
    assert document["refused_alone"] == {"Ping": 1}
    assert document["region"] == "eu"
    (rule,) = document["rules"]
    assert rule["nearest"]["rules"][0]["needs"] == [
        {"property": "maxLatency", "needed": 80, "in_force": 50}
    ]
    assert why(tmp_path / "out", "t2")["pass"]["unmatchable"] == ["skill"]
    printed = valmatch("rules", "explain", tmp_path / "out", "t2").out
    assert "no match can take it: no value of skill" in printed


def test_all_that_ended_without_a_match(tmp_path: Path) -> None:
    tickets = [solo(1, 0, skill=1000), solo(2, 2, skill=1090), solo(3, 3, skill=5000)]
    played(tmp_path, duels(*tickets, timeout=30), "--explain")
    lines = (tmp_path / "out" / "explain.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["ticket"] for line in lines] == ["t3"]
    assert json.loads(lines[0]) == why(tmp_path / "out", "t3")["pass"]
    refused = refusal("rules", "replay", tmp_path / "world.json", "--explain")
    assert refused == "--explain: --out is needed too, which takes it"


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
  hours: 0.25
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


VARIANTS = {
    "factors": ("rules.Near.maxDistance=90", "expansions.Near.maxDistance[0].wait=11"),
    "batches": ("service.batch_size=7",),
    "acceptance": ("service.acceptance_seconds=10", "service.accept_prob=0.8"),
    "exhaustive": ("service.search=exhaustive", "arrivals.per_hour=120"),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_it_says_what_a_replay_of_the_same_tickets_says(name: str, tmp_path: Path) -> None:
    given = [word for one in VARIANTS[name] for word in ("--set", one)]
    folder = made(tmp_path, *given, "--seed", 3, "--replication", 2)
    world = simulated(folder)
    outcome = play(*world, counted=False)
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


def test_what_has_no_rules_to_blame_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path, config="model: valorant\nfactors: {horizon: 20}\n")
    text = "is of the model valorant, and tickets alone has tickets"
    assert refusal("rules", "explain", folder, "1") == f"{folder}: {text}"


def test_what_is_not_there_any_more(tmp_path: Path) -> None:
    folder = made(tmp_path)
    assert "no ticket '1000000'" in refusal("rules", "explain", folder, "1000000")
    (tmp_path / "rules.json").write_text("{}", encoding="utf-8")
    assert re.search("the run's rules.*are not there", refusal("rules", "explain", folder, "1"))
