"""The files of a replay."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valmatch.experiments.replay_log import side_of_log, side_of_rules
from valmatch.experiments.replay_result import Replay
from valmatch.matching.tickets.building import missing
from valmatch.rule_sets.descriptions import stepped
from valmatch.rule_sets.types import spelled
from valmatch.rule_sets.world_writing import world_text
from valmatch.rule_sets.worlds import Search
from valmatch.storage.output import to_json, write_atomically, write_csv

if TYPE_CHECKING:
    from valmatch.matching.tickets.playing import Made, Outcome

TICKETS = (
    "search",
    "ticket",
    "time",
    "players",
    "status",
    "end",
    "wait",
    "match",
    "unmatchable",
    "blocked_by",
)
MATCHES = ("search", "match", "time", "proposed", "anchor", "tickets", "players", "age")
PLAYERS = ("search", "match", "team", "player", "ticket", "wait")
RULES = ("search", "rule", "passed", "failed")
STEPS = ("search", "what", "from_seconds", "value", "matches")
LOG = ("search", "ticket", "players", "status", "wait", "log_status", "log_wait", "log_match")

WORLD, PROPOSALS, EXPLAINED = "world.json", "proposals.jsonl", "explain.jsonl"
"""What was played, what was proposed in it, and why tickets ended without a match."""


def write_replay(folder: Path, result: Replay) -> None:
    """Write all files of a replay."""
    tables: tuple[tuple[str, tuple[str, ...], Any], ...] = (
        ("tickets.csv", TICKETS, _tickets),
        ("matches.csv", MATCHES, _matches),
        ("players.csv", PLAYERS, _players),
        ("rules.csv", RULES, _rules),
        ("steps.csv", STEPS, _steps),
        *([("log.csv", LOG, _logged)] if result.log else []),
    )
    for name, columns, rows_of in tables:
        rows = [
            (search, *row)
            for search, outcome in result.outcomes.items()
            for row in rows_of(result, search, outcome)
        ]
        cells = zip(*rows, strict=True) if rows else ([] for _ in columns)
        by_name = dict(zip(columns, map(list, cells), strict=True))
        write_csv(folder / name, by_name)
    with write_atomically(folder / "result.json") as file:
        file.write(to_json(result.answers()))
    if result.log:
        compared = {search: one["compared"] for search, one in result.summary().items()}
        with write_atomically(folder / "comparison.json") as file:
            file.write(to_json(compared))
    with write_atomically(folder / WORLD) as file:
        file.writelines(world_text(result.world))
    with write_atomically(folder / PROPOSALS) as file:
        file.writelines(f"{json.dumps(one)}\n" for one in _proposals(result))
    if result.explained is not None:
        with write_atomically(folder / EXPLAINED) as file:
            file.writelines(f"{json.dumps(one)}\n" for one in result.explained)


def _proposals(result: Replay) -> Iterator[dict[str, Any]]:
    """Yield all that was proposed: with the world, this says who waited at which review."""
    names = [ticket.id for ticket in result.world.tickets]
    for search, outcome in result.outcomes.items():
        for one in outcome.proposed:
            tickets = [names[k] for k in one.tickets]
            yield {
                "search": search,
                "time": one.proposed,
                "review": one.review,
                "anchor": names[one.anchor],
                "tickets": tickets,
            }


def _tickets(result: Replay, search: Search, outcome: Outcome) -> list[tuple[Any, ...]]:
    """Return a row for each ticket: how and when it ended, why it cannot be matched, behind whom.

    Where it waited behind several, those count that it waited behind at most reviews.
    """
    names = [ticket.id for ticket in result.world.tickets]
    behind = {k: " ".join(names[one] for one in by) for k, by in _mostly(result, search).items()}
    match_of = {k: number for number, one in enumerate(outcome.matches) for k in one.tickets}
    rows = []
    for number, ticket in enumerate(result.world.tickets):
        status = outcome.statuses[number]
        end = outcome.times[number] if status else None
        rows.append(
            (
                ticket.id,
                ticket.time,
                len(ticket.players),
                status,
                end,
                None if end is None else end - ticket.time,
                match_of.get(number),
                " ".join(missing(result.world.table, ticket)),
                behind.get(number, ""),
            )
        )
    return rows


def _mostly(result: Replay, search: Search) -> dict[int, tuple[int, ...]]:
    """Return which tickets each of those who waited behind others waited behind at most reviews."""
    most: dict[int, tuple[int, tuple[int, ...]]] = {}
    for by, behind in result.behind(search).items():
        for ticket, reviews in behind.items():
            if ticket not in most or reviews > most[ticket][0]:
                most[ticket] = reviews, by
    return {ticket: by for ticket, (_, by) in most.items()}


def _matches(result: Replay, search: Search, outcome: Outcome) -> list[tuple[Any, ...]]:
    """Return a row for each match; its age is what steps went by."""
    tickets, rows = result.world.tickets, []
    for number, match in enumerate(outcome.matches):
        rows.append(
            (
                number,
                match.time,
                match.proposed,
                tickets[match.anchor].id,
                len(match.tickets),
                sum(map(len, match.teams)),
                _age(result, match),
            )
        )
    return rows


def _age(result: Replay, match: Made) -> float:
    """Return the age that the steps of a match went by."""
    times = [result.world.tickets[ticket].time for ticket in match.tickets]
    return match.proposed - (min(times) if result.world.table.oldest else max(times))


def _players(result: Replay, search: Search, outcome: Outcome) -> list[tuple[Any, ...]]:
    """Return a row for each player of a match."""
    tickets, rows = result.world.tickets, []
    for number, match in enumerate(outcome.matches):
        home = {player.id: k for k in match.tickets for player in tickets[k].players}
        for team, players in zip(result.world.table.teams, match.teams, strict=True):
            for player in players:
                ticket = tickets[home[player]]
                rows.append((number, team.name, player, ticket.id, match.time - ticket.time))
    return rows


def _rules(result: Replay, search: Search, outcome: Outcome) -> list[tuple[Any, ...]]:
    """Return a row for each rule: how often it held, or was unknown, and refused."""
    judged = outcome.judged.tolist()
    return [
        (rule.name, *counts) for rule, counts in zip(result.world.table.rules, judged, strict=True)
    ]


def _steps(result: Replay, search: Search, outcome: Outcome) -> list[tuple[Any, ...]]:
    """Return a row for each step of a value: how many matches were proposed while it held."""
    ages = [_age(result, match) for match in outcome.matches]
    rows = []
    for what, steps in stepped(result.world.table):
        held = [bisect_right(steps.waits, age) for age in ages]
        for number, value in enumerate(steps.values):
            begins = float(steps.waits[number - 1]) if number else 0.0
            rows.append((what, begins, spelled(value), held.count(number)))
    return rows


def _logged(result: Replay, search: Search, outcome: Outcome) -> list[tuple[Any, ...]]:
    """Return a row for each ticket: how it ended, and how it did in the game's log."""
    assert result.log
    log, rules = side_of_log(result.log), side_of_rules(result.world.tickets, outcome)
    rows = []
    for number, (ticket, logged) in enumerate(
        zip(result.world.tickets, result.log.tickets, strict=True)
    ):
        ours = rules.statuses[number], rules.waits[number]
        theirs = log.statuses[number], log.waits[number], logged.match
        rows.append((ticket.id, len(ticket.players), *ours, *theirs))
    return rows
