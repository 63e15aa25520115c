"""Replays of a game's own log: what it says against what the rules do."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.matching.test_event_log import event, text_of, ticket
from tests.support.command import refusal, success, valmatch
from tests.support.folders import rows

RULES = {
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
    (tmp_path / "rules.json").write_text(json.dumps(RULES))
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


def test_players_by_lines(files: Path) -> None:
    lines = [{"id": f"p-{name}", "attributes": {"skill": 1}} for name in "abcd"]
    people = files / "players.jsonl"
    people.write_text("".join(json.dumps(one) + "\n" for one in lines))
    done = valmatch("rules", "replay", *options(files), "--players", people, "--json")
    assert json.loads(done.out)["pass"]["matched"] == 4


def test_players_go_with_a_log(files: Path) -> None:
    (files / "events.jsonl").write_text('{"id": "t", "time": 0, "players": [{"id": "p"}]}')
    refused = refusal("rules", "replay", *options(files), "--players", files / "players.csv")
    assert "is no log of events; its tickets say all of their players" in refused
