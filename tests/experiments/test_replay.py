"""``valmatch rules replay``: worlds, lists of tickets, and logs beside what the rules do."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.matching.test_event_log import event, text_of, ticket
from tests.support.command import Outcome, success, valmatch
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


PLAYER = {"id": "p", "attributes": {"skill": 1}}


def test_whose_latency_counts(tmp_path: Path) -> None:
    rule = {"name": "Ping", "type": "latency", "maxLatency": 50}
    pair = [{**PLAYER, "id": f"q{k}", "latency": {"eu": ping}} for k, ping in enumerate((20, 60))]
    tickets = [{**TICKETS[0], "players": pair}, *TICKETS[1:]]
    rules = {**RULES, "rules": [rule]}
    out = tmp_path / "player"
    assert "1 match of" in played(tmp_path, tickets, rules=rules).out
    argv = ("--latency-of", "player", "--out", out)
    assert "0 matches" in played(tmp_path, tickets, *argv, rules=rules).out
    # The folder holds a world that says so.
    again = ("rules", "replay", out / "world.json")
    assert "0 matches" in valmatch(*again).out
    assert "1 match of" in valmatch(*again, "--latency-of", "ticket").out


RULES_OF_LOG = {
    "ruleLanguageVersion": "1.0",
    "playerAttributes": [{"name": "skill", "type": "number"}],
    "teams": [{"name": "duel", "minPlayers": 2, "maxPlayers": 2}],
    "rules": [
        {"name": "Near", "type": "batchDistance", "batchAttribute": "skill", "maxDistance": 100}
    ],
    "expansions": [
        {"target": "rules[Near].maxDistance", "steps": [{"waitTimeSeconds": 10, "value": 500}]}
    ],
}

A, B, C, D = (ticket(name, time) for name, time in zip("abcd", (0, 1, 2, 3), strict=True))

EVENTS = (
    *(event(k + 0.5, "MatchmakingSearching", one) for k, one in enumerate((A, B, C, D))),
    event(4, "PotentialMatchCreated", A, B, matchId="m"),
    event(6, "MatchmakingSucceeded", A, B, matchId="m"),
    event(8, "MatchmakingCancelled", D),
    event(62, "MatchmakingTimedOut", C),
)
"""The log matched a and b, at once; by their skills, a and c are near."""

PLAYERS = "id,skill\np-a,1000\np-b,1400\np-c,1050\np-d,9000\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "rules.json").write_text(json.dumps(RULES_OF_LOG))
    (tmp_path / "events.jsonl").write_text(text_of(*EVENTS))
    (tmp_path / "players.csv").write_text(PLAYERS)
    return tmp_path


def options(files: Path) -> tuple[object, ...]:
    return files / "rules.json", "--tickets", files / "events.jsonl"


def test_the_log_is_compared_with_the_rules(files: Path) -> None:
    out = files / "out"
    done = valmatch(
        "rules", "replay", *options(files), "--players", files / "players.csv", "--out", out
    )
    assert done.code == 0, done.err
    assert "the request timeout is 60 s, as tickets of the log timed out" in done.err
    compared = json.loads((out / "comparison.json").read_text())["pass"]
    assert compared["log"]["matched"] == compared["rules"]["matched"] == 2
    assert compared["log"]["time_to_match"] == 3.5
    assert compared["rules"]["time_to_match"] == 1.0
    counts = [compared[name] for name in ("same_end", "matched_in_both", "same_matches")]
    assert counts == [2, 1, 0]
    assert compared["wait_difference"] == -2.0
    found = {row["ticket"]: row for row in rows(out / "log.csv")}
    ends = {name: (row["status"], row["log_status"]) for name, row in found.items()}
    assert ends == {
        "a": ("COMPLETED", "COMPLETED"),
        "b": ("TIMED_OUT", "COMPLETED"),
        "c": ("COMPLETED", "TIMED_OUT"),
        "d": ("CANCELLED", "CANCELLED"),
    }
    first = [found["a"][name] for name in ("wait", "log_wait", "log_match")]
    assert first == ["2.0", "4.0", "m"]
    with (out / "steps.csv").open(newline="") as file:
        steps = list(csv.reader(file))[1:]
    assert steps == [
        ["pass", "Near: most", "0.0", "100", "1"],
        ["pass", "Near: most", "10.0", "500", "0"],
    ]
    assert "2 of 4 tickets end alike" in done.out
    assert "1 are matched in both: by the rules they wait 2 s shorter" in done.out


def test_what_a_log_does_not_say(files: Path) -> None:
    done = success("rules", "replay", *options(files), "--json")
    assert "4 of 4 players have no 'skill', which Near looks at" in done.err
    assert json.loads(done.out)["pass"]["compared"]["rules"]["matched"] == 0
