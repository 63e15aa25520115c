"""Tickets of a game's own log, with what is known of their players from elsewhere.

Events name players and say nothing of their attributes and latencies; a list of players does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from valmatch.rule_sets.event_log import EventLog, LoggedTicket, read_events, rounded
from valmatch.rule_sets.problems import Problem, Problems
from valmatch.rule_sets.table import Aggregate, Combined, Ordered, Reached, Rule, Spread, Table
from valmatch.rule_sets.world_reading import WorldReading
from valmatch.rule_sets.worlds import Player, Service, Ticket
from valmatch.text.notes import Note
from valmatch.text.terminal import shown

TIMEOUT = 120.0  # seconds that a ticket waits where nothing says it


def world_of_log(
    log: EventLog,
    known: Mapping[str, Player],
    table: Table,
    service: tuple[float | None, float],
    warn: Callable[[str], None],
) -> tuple[WorldReading | None, list[Problem]]:
    """Return a log as a world; None with errors, and all that is wrong.

    Shapes: `service` (float or None, float).
    """
    problems = _strange_teams(log, table)
    if problems:
        return None, problems
    tickets = tuple(_ticket(log, one, known) for one in log.tickets)
    timeout, review = service
    _remark(log, timeout, warn)
    for remark in missing_for(table, tickets):
        warn(remark)
    clock = Service(
        timeout or log.timeout or TIMEOUT,
        rounded(log, log.end),
        review,
        acceptance=log.acceptance,
    )
    return WorldReading(table, tickets, clock, ("pass",)), []


def _strange_teams(log: EventLog, table: Table) -> list[Problem]:
    """Return what is wrong where games that run have teams that the rules do not."""
    teams = {team.name for team in table.teams}
    strange = [one for one in log.tickets if one.running and set(one.players.values()) - teams]
    if not strange:
        return []
    names = {one.id for one in strange}
    problems = Problems(log.text)
    placed, _ = read_events(log.text, placed=True)
    assert placed is not None
    for one in placed.tickets:
        for player, team in one.players.items() if one.id in names else ():
            if team not in teams:
                text = f"is on team {shown(team)}, which the rules do not have"
                problems.error(one.at, f"{one.path}.players", f"player {shown(player)} {text}")
    return problems.sorted()


def _ticket(log: EventLog, one: LoggedTicket, known: Mapping[str, Player]) -> Ticket:
    """Return a ticket as it is played: one that left before it timed out leaves again."""
    players = tuple(
        known.get(player, Player(player, {}, {}))._replace(team=team if one.running else "")
        for player, team in one.players.items()
    )
    leaves = one.status == "FAILED" or (one.status == "CANCELLED" and not one.refused)
    cancel = rounded(log, one.end) if leaves else None
    time = rounded(log, one.time)
    return Ticket(one.id, time, players, cancel, one.running, tuple(one.answers))


def _remark(log: EventLog, timeout: float | None, warn: Callable[[str], None]) -> None:
    """Say how the log was read."""
    if log.others:
        warn(Note(f"left out: {log.others:,} events that are not of a matchmaker"))
    if log.repeated:
        warn(Note(f"counted once: {log.repeated:,} events that came again"))
    if timeout is None and log.timeout is not None:
        warn(Note(f"the request timeout is {log.timeout:g} s, as tickets of the log timed out"))
    elif timeout is None:
        warn(f"no ticket of the log timed out: the request timeout is taken to be {TIMEOUT:g} s")
    if log.acceptance is not None:
        warn(Note(f"matches have {log.acceptance:g} s to be accepted, and are as in the log"))


def missing_for(table: Table, tickets: tuple[Ticket, ...]) -> Iterator[str]:
    """Yield what the rules look at and players do not have, and what follows."""
    players = {player.id: player for ticket in tickets for player in ticket.players}
    number = len(players)
    for place, attribute in enumerate(table.attributes):
        without = sum(attribute.name not in player.attributes for player in players.values())
        rules = [rule.name for rule in table.rules if place in _attributes(rule)]
        if table.search.balance == place:
            rules.append("the balance of teams")
        if not without or not (rules or attribute.default is None):
            continue
        what = f"{without:,} of {number:,} players have no {shown(attribute.name)}"
        by = f", which {' and '.join(rules)} looks at" if rules else ""
        if attribute.default is None:
            yield f"{what}{by}: without a default their tickets cannot be matched"
        else:
            yield f"{what}{by}: the default, {shown(attribute.default)}, stands for it"
    without = sum(not player.latency for player in players.values())
    for rule in table.rules:
        if without and isinstance(rule.predicate, Reached):
            what = f"{without:,} of {number:,} players have no latencies"
            yield f"{what}, which {rule.name} looks at: their tickets cannot be matched"


def _attributes(rule: Rule) -> set[int]:
    """Return the numbers of the attributes that a rule looks at."""
    predicate = rule.predicate
    if isinstance(predicate, Spread | Ordered):
        return {predicate.attribute}
    if isinstance(predicate, Combined | Reached):
        return set()
    values: list[object] = list(predicate.measures)
    values += predicate.reference.values if predicate.reference else ()
    return {
        one.source for one in values if isinstance(one, Aggregate) and isinstance(one.source, int)
    }
