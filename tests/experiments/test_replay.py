"""Replays of tickets: the files of a folder, and what bad input is answered by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Outcome, refusal, success, valmatch
from tests.support.folders import rows

FOLDER = Path(__file__).parents[1] / "fixtures" / "ticket_worlds"

RULES = {
    "ruleLanguageVersion": "1.0",
    "playerAttributes": [{"name": "skill", "type": "number"}],
    "teams": [{"name": "a", "minPlayers": 2, "maxPlayers": 2}],
}
TICKETS = [
    {"id": f"t{k}", "time": k, "players": [{"id": f"p{k}", "attributes": {"skill": k}}]}
    for k in range(4)
]


@pytest.mark.parametrize("name", ["01-fair_teams", "28-accepting", "34-close"])
def test_a_world_is_played_by_each_search_that_it_has_answers_for(
    name: str, tmp_path: Path
) -> None:
    world = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    done = success("rules", "replay", FOLDER / f"{name}.json", "--out", tmp_path / "out")
    assert done.err.endswith(f"results in {tmp_path / 'out'}\n")
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert result == world["answers"]
    tickets, matches, players = (
        rows(tmp_path / "out" / f"{table}.csv") for table in ("tickets", "matches", "players")
    )
    assert len(tickets) == len(result) * len(world["tickets"])
    assert len(matches) == sum(len(search["matches"]) for search in result.values())
    assert {(row["search"], row["match"]) for row in players} == {
        (row["search"], row["match"]) for row in matches
    }
    success("rules", "replay", FOLDER / f"{name}.json", "--out", tmp_path / "out")


def test_one_search_alone_and_as_json() -> None:
    world = FOLDER / "01-fair_teams.json"
    document = json.loads(valmatch("rules", "replay", world, "--search", "pass", "--json").out)
    assert list(document) == ["pass"]
    assert (document["pass"]["matches"], document["pass"]["matched"]) == (2, 6)
    refused = refusal("rules", "replay", world, "--search", "greedy")
    assert refused == "--search: 'greedy' (allowed: pass or exhaustive)"


def played(tmp_path: Path, tickets: Any, *options: object, rules: object = RULES) -> Outcome:  # noqa: ANN401
    (tmp_path / "rules.json").write_text(json.dumps(rules), encoding="utf-8")
    lines = tickets if isinstance(tickets, str) else "\n".join(map(json.dumps, tickets))
    (tmp_path / "tickets.jsonl").write_text(lines, encoding="utf-8")
    files = (tmp_path / "rules.json", "--tickets", tmp_path / "tickets.jsonl")
    return valmatch("rules", "replay", *files, *options)


def test_a_rule_set_and_a_list_of_tickets(tmp_path: Path) -> None:
    tickets: list[dict[str, Any]] = [*TICKETS, {"id": "t4", "time": 9, "players": [{"id": "p4"}]}]
    done = played(tmp_path, tickets, "--out", tmp_path / "out", "--timeout", "2 min")
    assert done.code == 0
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))["pass"]
    assert [match["tickets"] for match in result["matches"]] == [["t0", "t1"], ["t2", "t3"]]
    last = rows(tmp_path / "out" / "tickets.csv")[-1]
    assert (last["status"], last["unmatchable"], last["wait"]) == ("TIMED_OUT", "skill", "120.0")


def changed(number: int, **values: object) -> list[dict[str, Any]]:
    tickets = json.loads(json.dumps(TICKETS))
    tickets[number] |= values
    return tickets  # type: ignore[no-any-return]


PLAYER = {"id": "p", "attributes": {"skill": 1}}


def test_warnings_of_a_kind_are_counted(tmp_path: Path) -> None:
    players = [{**PLAYER, "attributes": {"skil": 1}}]
    tickets = [
        {"id": f"t{k}", "time": k + 1, "cancel": k / 8, "players": players} for k in range(9)
    ]
    warned = [line for line in played(tmp_path, tickets).err.splitlines() if "tickets[" in line]
    assert len(warned) == 2
    assert all(line.endswith(" (and 8 more like this)") for line in warned)


CONFIG = {"requestTimeoutSeconds": 9, "horizon": 20}
WORLD = {"ruleSet": RULES, "config": CONFIG, "tickets": TICKETS}


def test_what_does_not_go_together(tmp_path: Path) -> None:
    (tmp_path / "world.json").write_text(json.dumps(WORLD), encoding="utf-8")
    world = refusal("rules", "replay", tmp_path / "world.json", "--timeout", "3")
    assert "is a world, which has timeout of its own" in world
    (tmp_path / "rules.json").write_text(json.dumps(RULES), encoding="utf-8")
    alone = valmatch("rules", "replay", tmp_path / "rules.json")
    assert (alone.code, "a list of tickets is needed too" in alone.err) == (2, True)


def test_whose_latency_counts(tmp_path: Path) -> None:
    rule = {"name": "Ping", "type": "latency", "maxLatency": 50}
    pair = [{**PLAYER, "id": f"q{k}", "latency": {"eu": ping}} for k, ping in enumerate((20, 60))]
    tickets, rules = changed(0, players=pair), {**RULES, "rules": [rule]}
    out = tmp_path / "player"
    assert "1 match of" in played(tmp_path, tickets, rules=rules).out
    argv = ("--latency-of", "player", "--out", out)
    assert "0 matches" in played(tmp_path, tickets, *argv, rules=rules).out
    # The folder holds a world that says so.
    again = ("rules", "replay", out / "world.json")
    assert "0 matches" in valmatch(*again).out
    assert "1 match of" in valmatch(*again, "--latency-of", "ticket").out


def test_exhaustive_searches_are_for_small_pools(tmp_path: Path) -> None:
    many = [{**TICKETS[0], "id": f"t{k}", "time": 0} for k in range(30)]
    done = played(tmp_path, many, "--search", "exhaustive")
    assert done.code == 1
    assert "it looks at up to 16 tickets at once, and there are 30" in done.err
