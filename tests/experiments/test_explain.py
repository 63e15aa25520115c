"""``valmatch rules explain``: why a ticket of a replay waited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.command import Outcome, refusal, success, valmatch
from tests.support.folders import rows
from tests.support.ticket_worlds import party, solo, team, world

FOLDER = Path(__file__).parents[1] / "fixtures" / "ticket_worlds"

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


def why(folder: Path, ticket: str, *options: object) -> dict[str, Any]:
    done = success("rules", "explain", folder / "out", ticket, "--json", *options)
    return dict(json.loads(done.out))


def test_which_rule_refused_and_what_was_nearest(tmp_path: Path) -> None:
    tickets = [solo(1, 0, skill=1000), solo(2, 2, skill=1300), solo(3, 3, skill=1460)]
    played(tmp_path, duels(*tickets, timeout=30))
    document = why(tmp_path, "t1")["pass"]
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
    document = why(tmp_path, "t2")["pass"]
    assert document["blocked_by"] == [{"tickets": ["t1"], "reviews": 3}]
    assert document["tried"]["no_room"] > 0
    assert document["fullest"]["with"] == ["t1"]
    printed = valmatch("rules", "explain", tmp_path / "out", "t2").out
    assert "blocked: without t1, a match at 3 reviews" in printed
    summary = json.loads(valmatch("rules", "replay", tmp_path / "world.json", "--json").out)
    assert summary["pass"]["blocked_by"] == [{"tickets": ["t1"], "behind": 4, "reviews": 3}]


def test_each_search_has_its_reasons(tmp_path: Path) -> None:
    file = FOLDER / "02-close.json"
    success("rules", "replay", file, "--out", tmp_path / "out")
    ticket = json.loads(file.read_text(encoding="utf-8"))["tickets"][0]["id"]
    assert list(why(tmp_path, ticket)) == ["pass", "exhaustive"]
    assert list(why(tmp_path, ticket, "--search", "exhaustive")) == ["exhaustive"]


def test_who_cannot_be_matched_at_all(tmp_path: Path) -> None:
    tight = {"name": "Ping", "type": "latency", "maxLatency": 50}
    far, silent = solo(1, 0, skill=1), solo(2, 0)
    far["players"][0]["latency"] = {"eu": 80, "us": 95}
    given = world(ONES, [far, silent], rules=[tight], playerAttributes=SKILL)
    played(tmp_path, given)
    document = why(tmp_path, "t1")["pass"]
    assert document["refused_alone"] == {"Ping": 1}
    assert document["region"] == "eu"
    (rule,) = document["rules"]
    assert rule["nearest"]["rules"][0]["needs"] == [
        {"property": "maxLatency", "needed": 80, "in_force": 50}
    ]
    assert why(tmp_path, "t2")["pass"]["unmatchable"] == ["skill"]
    printed = valmatch("rules", "explain", tmp_path / "out", "t2").out
    assert "no match can take it: no value of skill" in printed


def test_all_that_ended_without_a_match(tmp_path: Path) -> None:
    tickets = [solo(1, 0, skill=1000), solo(2, 2, skill=1090), solo(3, 3, skill=5000)]
    played(tmp_path, duels(*tickets, timeout=30), "--explain")
    lines = (tmp_path / "out" / "explain.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["ticket"] for line in lines] == ["t3"]
    assert json.loads(lines[0]) == why(tmp_path, "t3")["pass"]
    refused = refusal("rules", "replay", tmp_path / "world.json", "--explain")
    assert refused == "--explain: --out is needed too, which takes it"


def test_after_a_failed_proposal_a_ticket_waits_again(tmp_path: Path) -> None:
    tickets = [solo(1, 0, skill=1000), solo(2, 2, skill=1050)]
    tickets[1]["answers"] = [[1, False]]
    given = duels(*tickets, timeout=30)
    given["config"]["acceptanceTimeoutSeconds"] = 5
    played(tmp_path, given)
    document = why(tmp_path, "t1")["pass"]
    assert document["status"] == "TIMED_OUT"
    # At 0, at its return at 3, at its step at 10; not at 2, when it had a proposal.
    assert document["reviews"] == 3


def test_the_world_can_be_played_again(tmp_path: Path) -> None:
    for path in sorted(FOLDER.glob("*.json")):
        out = tmp_path / path.stem
        assert valmatch("rules", "replay", path, "--out", out).code == 0
        for search in json.loads((out / "result.json").read_text(encoding="utf-8")):
            again = tmp_path / f"{path.stem}-{search}"
            argv = ("rules", "replay", out / "world.json", "--search", search, "--out", again)
            assert valmatch(*argv).code == 0
            results = [
                json.loads((folder / "result.json").read_text(encoding="utf-8"))[search]
                for folder in (out, again)
            ]
            assert results[0] == results[1]
