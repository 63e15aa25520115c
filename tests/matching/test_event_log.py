"""A game's own log: what its events say, and what of a line is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
import yaml

from valmatch.matching.tickets.columns import Document
from valmatch.matching.tickets.reading import (
    Ended,
    EventLog,
    WorldReading,
    read_events,
    world_of_log,
)
from valmatch.rule_sets.flexmatch import read_rule_set
from valmatch.rule_sets.table import Table

START = datetime(2017, 8, 8, 21, 15, tzinfo=UTC)

RULES = """
ruleLanguageVersion: '1.0'
playerAttributes:
- {name: skill, type: number}
- {name: mode, type: string, default: casual}
teams: [{name: red, minPlayers: 1, maxPlayers: 2}, {name: blue, minPlayers: 1, maxPlayers: 2}]
rules:
- {name: Near, type: distance, measurements: ["avg(flatten(teams[*].players.attributes[skill]))"],
  referenceValue: 5, maxDistance: 9}
- {name: Mode, type: batchDistance, batchAttribute: mode}
- {name: Ping, type: latency, maxLatency: 50}
"""
TABLE = read_rule_set(json.dumps(yaml.safe_load(RULES))).table


def iso(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")[:-6] + "Z"


def ticket(name: str, time: float, *players: Mapping[str, Any]) -> dict[str, Any]:
    own = players or ({"playerId": f"p-{name}"},)
    return {"ticketId": name, "startTime": iso(time), "players": list(own)}


def event(time: float, kind: str, *tickets: object, **more: object) -> dict[str, Any]:
    """Return an event as EventBridge delivers it."""
    return {
        "version": "0",
        "detail-type": "GameLift Matchmaking Event",
        "source": "aws.gamelift",
        "time": iso(time),
        "detail": {"tickets": list(tickets), "type": kind, **more},
    }


def text_of(*events: object) -> str:
    return "".join(json.dumps(one) + "\n" for one in events)


def log_of(*events: object) -> EventLog:
    log, problems = read_events(text_of(*events))
    assert log is not None, problems
    return log


def ended(log: EventLog) -> list[tuple[Document, Ended]]:
    return list(zip(log.tickets, log.ends, strict=True))


def world_from(log: EventLog, **known: Document) -> tuple[WorldReading, list[str]]:
    said: list[str] = []
    assert isinstance(TABLE, Table)
    world, problems = world_of_log(log, known, TABLE, (None, 1.0), said.append)
    assert world is not None, problems
    return world, said


A, B = ticket("a", 0), ticket("b", 2.5)

SUCCESS = (
    event(0.5, "MatchmakingSearching", A),
    event(3.0, "MatchmakingSearching", B),
    event(
        4.0,
        "PotentialMatchCreated",
        A,
        B,
        matchId="m",
        acceptanceRequired=False,
        ruleEvaluationMetrics=[{"ruleName": "Near", "passedCount": 3, "failedCount": 1}],
    ),
    event(9.0, "MatchmakingSucceeded", A, B, matchId="m"),
)


def test_a_match_is_made_when_it_is_proposed() -> None:
    log = log_of(*SUCCESS)
    assert [(one["id"], end.status, end.time - log.start) for one, end in ended(log)] == [
        ("a", "COMPLETED", 4.0),
        ("b", "COMPLETED", 4.0),
    ]
    assert log.judged == {"Near": [3, 1]}
    assert log.acceptance is None
    world, _ = world_from(log)
    assert world.tickets.times.tolist() == [0.0, 2.5]
    assert np.isinf(world.tickets.cancels).all()
    assert world.service.horizon == 9.0


def test_events_may_come_in_any_order_twice_and_in_notifications() -> None:
    named = [{**one, "id": f"e{number}"} for number, one in enumerate(SUCCESS)]
    wrapped = {"Type": "Notification", "Message": json.dumps(named[0]), "TopicArn": "x"}
    other = {"detail-type": "GameLift Queue Placement Event", "time": iso(0), "detail": {}}
    log = log_of(*reversed(named), wrapped, other)
    assert [(one["id"], end.status) for one, end in ended(log)] == [
        ("a", "COMPLETED"),
        ("b", "COMPLETED"),
    ]
    assert (log.repeated, log.others) == (1, 1)


def test_tickets_end_as_in_the_log() -> None:
    tickets = [ticket(name, 0) for name in "abcd"]
    log = log_of(
        *(event(0.5, "MatchmakingSearching", one) for one in tickets),
        event(30.2, "MatchmakingTimedOut", tickets[0], reason="TimedOut"),
        event(12.0, "MatchmakingCancelled", tickets[1], reason="Cancelled"),
        event(13.0, "MatchmakingFailed", tickets[2], reason="UNEXPECTED_ERROR"),
    )
    statuses = [one.status for one in log.ends]
    assert statuses == ["TIMED_OUT", "CANCELLED", "FAILED", "SEARCHING"]
    assert log.timeout == 30.0
    world, said = world_from(log)
    assert world.tickets.cancels.tolist() == [np.inf, 12.0, 13.0, np.inf]
    assert world.service.timeout == 30.0
    assert any("the request timeout is 30 s" in one for one in said)


def accepted(one: dict[str, Any], value: bool) -> dict[str, Any]:
    return {**one, "players": [{**player, "accepted": value} for player in one["players"]]}


def test_acceptance_becomes_answers() -> None:
    log = log_of(
        event(0.5, "MatchmakingSearching", A),
        event(3.0, "MatchmakingSearching", B),
        event(
            4.0,
            "PotentialMatchCreated",
            A,
            B,
            matchId="m",
            acceptanceRequired=True,
            acceptanceTimeout=20,
        ),
        event(5.5, "AcceptMatch", accepted(A, True), B, matchId="m"),
        event(7.0, "AcceptMatch", accepted(A, True), accepted(B, False), matchId="m"),
        event(7.0, "AcceptMatchCompleted", A, B, matchId="m", acceptance="Rejected"),
        event(7.1, "MatchmakingSearching", A),
        event(7.2, "MatchmakingCancelled", B),
    )
    assert log.acceptance == 20.0
    world, _ = world_from(log)
    assert [one["answers"] for one in world.tickets.documents(world.table)] == [
        [(1.5, True)],
        [(3.0, False)],
    ]
    assert np.isinf(world.tickets.cancels).all()
    assert world.service.acceptance == 20.0


def test_players_with_teams_before_a_match_are_of_a_game_that_runs() -> None:
    running = ticket("g", 0, {"playerId": "x", "team": "red"}, {"playerId": "y", "team": "blue"})
    log = log_of(event(0, "MatchmakingSearching", running), event(1, "MatchmakingSearching", A))
    world, _ = world_from(log)
    first, second = world.tickets.documents(world.table)
    assert (first["backfill"], "backfill" in second) == (True, False)
    assert [one["team"] for one in first["players"]] == ["red", "blue"]
    elsewhere = ticket("g", 0, {"playerId": "x", "team": "green"})
    log = log_of(event(0, "MatchmakingSearching", elsewhere))
    assert isinstance(TABLE, Table)
    world_, problems = world_of_log(log, {}, TABLE, (9.0, 1.0), lambda text: None)
    assert world_ is None
    assert "player 'x' is on team 'green', which the rules do not have" in problems[0].text


def test_what_is_missing_is_said_of_the_rules_that_look_at_it() -> None:
    known = {"p-a": {"id": "p-a", "attributes": {"skill": 5.0}, "latency": {"eu": 20.0}}}
    world, said = world_from(log_of(*SUCCESS), **known)
    assert world.tickets.documents(world.table)[0]["players"] == [known["p-a"]]
    missing = [one for one in said if "players have no" in one]
    assert missing == [
        "1 of 2 players have no 'skill', which Near looks at: without a default their tickets"
        " cannot be matched",
        "2 of 2 players have no 'mode', which Mode looks at: the default, 'casual', stands for it",
        "1 of 2 players have no latencies, which Ping looks at: their tickets cannot be matched",
    ]


GOOD = SUCCESS[0]


def with_ticket(**values: object) -> dict[str, Any]:
    return event(1, "MatchmakingSearching", {**A, **values})


FAULTS: list[tuple[object, str, str]] = [
    ({**GOOD, "time": "yesterday"}, "events[1].time", "a date-time is needed, 2017-08-08T21:15:36"),
    (with_ticket(startTime=iso(1)), "events[1].detail.tickets[0].startTime", "at another time"),
    (
        with_ticket(ticketId="z", players=[{"playerId": "q"}] * 2),
        "events[1].detail.tickets[0].players[1].playerId",
        "twice in a ticket",
    ),
    ({"Type": "Notification", "Message": "{"}, "events[1].Message", "no event in it: no JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "path", "what"), FAULTS)
def test_faults(line: object, path: str, what: str) -> None:
    log, problems = read_events(text_of(GOOD, line))
    assert log is None
    found = [one for one in problems if one.severity == "error"]
    assert [one for one in found if one.line == 2 and one.path == path and what in one.text], found
