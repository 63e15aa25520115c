"""A game's own log: the events that its matchmaker sent, one JSON object a line.

Source: the pages "FlexMatch matchmaking events" of the guide. A line is an event as EventBridge
delivers it, or the notification of SNS that has it as text. Delivery is on a best-effort basis, so
that events come out of order, or twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import NamedTuple, cast

from valmatch.draws.streams import Streams
from valmatch.matching.tickets.columns import Document, Service, tickets_of
from valmatch.matching.tickets.reading import WorldReading, line_items
from valmatch.rule_sets.items import Item, called
from valmatch.rule_sets.json_text import Node, Problem, Problems, one_place, read_json
from valmatch.rule_sets.table import Reached, Table
from valmatch.text.durations import seconds_of
from valmatch.text.terminal import Note, Notice, shown

KIND = "GameLift Matchmaking Event"
"""What the events are called in their envelope; others pass unseen."""

TYPES = (
    "MatchmakingSearching",
    "PotentialMatchCreated",
    "AcceptMatch",
    "AcceptMatchCompleted",
    "MatchmakingSucceeded",
    "MatchmakingTimedOut",
    "MatchmakingCancelled",
    "MatchmakingFailed",
)

DETAILED = ("PotentialMatchCreated", "AcceptMatchCompleted")
"""Of which more counts than match and tickets."""

ENDS = {
    "MatchmakingSucceeded": "COMPLETED",
    "MatchmakingTimedOut": "TIMED_OUT",
    "MatchmakingCancelled": "CANCELLED",
    "MatchmakingFailed": "FAILED",
}
"""How a ticket ends, by the last event of it."""

LONGEST = 366 * 86_400.0  # most seconds of a log


class Ended(NamedTuple):
    """How a ticket of a log ended."""

    status: str = "SEARCHING"  # ``SEARCHING`` where the log does not say
    time: float = 0.0  # seconds since 1970; of a match, when that was proposed
    match: str = ""  # the match that it ended in, "" for none
    refused: bool = False  # whether it was cancelled because it did not accept


@dataclass
class EventLog:
    """What a game's log says."""

    # in order of time, in seconds since 1970; players have a team if they had one when they began
    # to search, as in a game that runs
    tickets: list[Document]
    ends: list[Ended]  # of each ticket
    items: list[Item]  # where each was named first
    # start, end: seconds since 1970 of the first ticket and of the last event
    start: float
    end: float
    # seconds in which matches had to be accepted, where they had to
    acceptance: float | None = None
    # of each rule how often the matches that were proposed say it passed and failed
    judged: dict[str, list[int]] = field(default_factory=dict)
    # others, repeated: lines that are no event of a matchmaker, and events that came twice
    others: int = 0
    repeated: int = 0

    @property
    def timeout(self) -> float | None:
        """The request timeout that the tickets which timed out had, None if none did."""
        ends = zip(self.waits, self.ends, strict=True)
        waits = [wait for wait, end in ends if end.status == "TIMED_OUT"]
        return float(max(round(median(waits)), 1)) if waits else None

    @property
    def waits(self) -> list[float]:
        """Seconds until each ticket ended."""
        pairs = zip(self.tickets, self.ends, strict=True)
        return [end.time - ticket["time"] for ticket, end in pairs]

    @property
    def matches(self) -> list[list[int]]:
        """The tickets of each match that was made."""
        matches: dict[str, list[int]] = {}
        for number, end in enumerate(self.ends):
            if end.match:
                matches.setdefault(end.match, []).append(number)
        return list(matches.values())

    def seconds(self, time: float) -> float:
        """Return seconds since the first ticket; logs have milliseconds."""
        return round(time - self.start, 3)


class _Named(NamedTuple):
    """A ticket as an event names it: its players with their teams, and what they say to a match."""

    id: str
    players: dict[str, str]
    accepted: list[object]


class _Event(NamedTuple):
    """An event, ordered by time; the rest of what it says only of some kinds."""

    time: float
    order: int
    kind: str
    match: str
    tickets: list[_Named]
    detail: Item | None


def is_event_log(text: str) -> bool:
    """Return whether a file is a log of events, not a list of tickets, by its first line."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    node = read_json(first.removeprefix("\ufeff"), Problems(first))
    if node is None or node.kind != "object":
        return False
    keys = set(node.members)
    return "detail" in keys or {"Type", "Message"} <= keys


def read_events(text: str) -> tuple[EventLog | None, list[Problem]]:
    """Return what a log says; None with errors, and all that is wrong."""
    problems = Problems(text, "log")
    reader = _Reader(problems)
    for item in line_items(text, problems, "events", nulls=False):
        reader.read(item)
    if problems.errors:
        return None, problems.sorted()
    log = reader.log()
    if not log.tickets:
        problems.error(0, "", "no ticket: no event of a matchmaker")
    elif log.end - log.start > LONGEST:
        problems.error(0, "", f"more than {LONGEST / 86_400:g} days from the first to the last")
    return (None if problems.errors else log), problems.sorted()


class _Reader:
    """Reads the events of one log."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.events: list[_Event] = []
        self.ids: set[str] = set()
        self.others = self.repeated = 0
        self.tickets: dict[str, Document] = {}
        self.items: dict[str, Item] = {}
        self.teams: dict[str, dict[str, str]] = {}  # of players who search, by ticket
        self.ends: dict[str, Ended] = {}
        self.proposed: dict[str, float] = {}
        self.dropped: set[str] = set()

    def read(self, item: Item) -> None:
        """Read the event of a line."""
        item = self._unpacked(item) or item
        if "Message" in item.members:
            return
        kind = item.text("detail-type") if "detail-type" in item.members else KIND
        if kind != KIND:
            self.others += kind is not None
            return
        if (number := item.text("id")) is not None:
            if number in self.ids:
                self.repeated += 1
                return
            self.ids.add(number)
        time = self._time(item, "time")
        node = item.get("detail", "object", required=True)
        if node is None:
            return
        detail = Item(node, self.problems, lenient=True)
        kind = detail.choice("type", TYPES, required=True)
        named = [self._ticket(ticket) for ticket in detail.items("tickets", required=True)]
        match = detail.text("matchId") or ""
        if kind is not None and time is not None:
            tickets = [ticket for ticket in named if ticket]
            more = detail if kind in DETAILED else None
            self.events.append(_Event(time, len(self.events), kind, match, tickets, more))

    def _unpacked(self, item: Item) -> Item | None:
        """Return the event in a notification; None where the line is no notification."""
        if not {"Type", "Message"} <= set(item.members):
            return None
        message = item.text("Message")
        if message is None:
            return None
        problems = Problems(message)
        node = read_json(message, problems)
        if node is not None and node.kind == "object" and not problems.errors:
            places = one_place(partial(item.at, "Message"))
            event = Node(node.value, places, item.inner("Message"))
            return Item(event, self.problems, lenient=True)
        why = problems.sorted()[0].text if problems.errors else ""
        if node is not None and not why:
            why = f"an object, not {called(node)}"
        item.error("Message", f"no event in it: {why}")
        return None

    def _time(self, item: Item, key: str) -> float | None:
        """Return the seconds since 1970 of a date-time."""
        text = item.text(key, required=True)
        if text is None:
            return None
        seconds = seconds_of(text)
        if seconds != seconds:
            item.error(key, f"a date-time is needed, 2017-08-08T21:15:36.421Z, not {shown(text)}")
            return None
        return seconds

    def _ticket(self, item: Item) -> _Named | None:
        """Return a ticket of an event; take down what it is when it is named first."""
        name = item.text("ticketId", required=True)
        time = self._time(item, "startTime")
        players: dict[str, str] = {}
        accepted: list[object] = []
        for player_item in item.items("players", required=True):
            player = player_item.text("playerId", required=True)
            if player is not None and player in players:
                player_item.error("playerId", f"player {shown(player)} twice in a ticket")
            players[player or ""] = player_item.text("team") or ""
            if "accepted" in player_item.members:
                accepted.append(player_item.members["accepted"].value)
        if name is None or time is None:
            return None
        if not players:
            item.error("players", "no player")
        elif name not in self.tickets:
            self.tickets[name] = {"id": name, "time": time, "answers": []}
            self.items[name], self.teams[name] = item, dict.fromkeys(players, "")
        elif set(self.teams[name]) != set(players):
            item.error("players", f"ticket {shown(name)} had other players before")
        elif self.tickets[name]["time"] != time:
            item.error("startTime", f"ticket {shown(name)} began at another time before")
        return _Named(name, players, accepted)

    def log(self) -> EventLog:
        """Return what the events say, in order of time."""
        events = sorted(self.events)
        names = sorted(self.tickets, key=lambda name: self.tickets[name]["time"])
        tickets = [self.tickets[name] for name in names]
        first = tickets[0]["time"] if tickets else 0.0
        items = [self.items[name] for name in names]
        log = EventLog(tickets, [], items, first, events[-1].time if events else first)
        log.others, log.repeated = self.others, self.repeated
        for event in events:
            self._follow(event, log)
        log.ends = [self.ends.get(name, Ended()) for name in names]
        for ticket in tickets:
            teams = self.teams[ticket["id"]]
            running = all(teams.values())
            ticket["players"] = [
                {"id": player, **({"team": team} if running else {})}
                for player, team in teams.items()
            ]
        return log

    def _follow(self, event: _Event, log: EventLog) -> None:
        """Take an event into account."""
        match, detail = event.match, event.detail
        if detail and event.kind == "PotentialMatchCreated":
            self.proposed[match] = event.time
            self._propose(event, detail, log)
        elif detail and detail.text("acceptance") != "Accepted":
            self.dropped |= {named.id for named in event.tickets}
        for named in event.tickets:
            answers = self.tickets[named.id]["answers"]
            if event.kind == "MatchmakingSearching":
                self.dropped.discard(named.id)
                self.teams[named.id] |= named.players
            elif event.kind == "AcceptMatch" and answers:  # all players have to accept
                seconds = max(event.time - self.proposed.get(match, event.time), 0.0)
                if False in named.accepted:
                    answers[-1] = seconds, False
                elif len(named.accepted) == len(named.players) and answers[-1] is None:
                    answers[-1] = seconds, True
            elif event.kind == "MatchmakingSucceeded":
                match = match or f"{event.time}"
                end = self.proposed.get(match, event.time)
                self.ends[named.id] = Ended(ENDS[event.kind], end, match)
            elif event.kind in ENDS:
                refused = event.kind == "MatchmakingCancelled" and named.id in self.dropped
                before = self.ends.get(named.id, Ended()).match
                self.ends[named.id] = Ended(ENDS[event.kind], event.time, before, refused)

    def _propose(self, event: _Event, detail: Item, log: EventLog) -> None:
        """Take a match that is proposed into account."""
        required = detail.members.get("acceptanceRequired")
        limit = detail.members.get("acceptanceTimeout")
        if required and required.value is True:
            seconds = limit.value if limit and limit.kind == "number" else 0
            log.acceptance = max(float(cast(float, seconds)), log.acceptance or 1.0)
            for named in event.tickets:
                self.tickets[named.id]["answers"].append(None)
        for rule in detail.items("ruleEvaluationMetrics"):
            counts = log.judged.setdefault(str(rule.text("ruleName")), [0, 0])
            for k, key in enumerate(("passedCount", "failedCount")):
                counts[k] += int(rule.number(key, whole=True, least=0) or 0)


# Tickets of a game's own log, with what is known of their players from elsewhere.
#
# Events name players and say nothing of their attributes and latencies; a list of players does.

TIMEOUT = 120.0  # seconds that a ticket waits where nothing says it


def world_of_log(
    log: EventLog,
    known: Mapping[str, Document],
    table: Table,
    service: tuple[float | None, float],
    warn: Callable[[str], None],
) -> tuple[WorldReading | None, list[Problem]]:
    """Return a log as a world; None with errors, and all that is wrong."""
    teams, strange = {team.name for team in table.teams}, False
    for ticket, item in zip(log.tickets, log.items, strict=True):
        for player in ticket["players"]:
            if (team := player.get("team")) and team not in teams:
                what = f"player {shown(player['id'])} is on team {shown(team)}"
                item.error("players", f"{what}, which the rules do not have")
                strange = True
    if strange:
        return None, log.items[0].problems.sorted()
    documents = []
    for ticket, end in zip(log.tickets, log.ends, strict=True):
        players = [{**known.get(player["id"], {}), **player} for player in ticket["players"]]
        document = {**ticket, "time": log.seconds(ticket["time"]), "players": players}
        if end.status == "FAILED" or (end.status == "CANCELLED" and not end.refused):
            document["cancel"] = log.seconds(end.time)  # who left before the timeout leaves again
        documents.append(document)
    tickets = tickets_of(documents, table, Streams(0).place(0))
    timeout, review = service
    _remark(log, timeout, warn)
    for remark in missing_for(table, documents):
        warn(remark)
    horizon = log.seconds(log.end)
    clock = Service(timeout or log.timeout or TIMEOUT, horizon, review, acceptance=log.acceptance)
    return WorldReading(table, tickets, clock, ("pass",)), []


def _remark(log: EventLog, timeout: float | None, warn: Callable[[str], None]) -> None:
    """Say how the log was read."""
    if log.others:
        text = f"left out: {log.others:,} events that are not of a matchmaker"
        warn(Note(text, "events_left_out", log.others))
    if log.repeated:
        text = f"counted once: {log.repeated:,} events that came again"
        warn(Note(text, "events_repeated", log.repeated))
    if timeout is None and log.timeout is not None:
        text = f"the request timeout is {log.timeout:g} s, as tickets of the log timed out"
        warn(Note(text, "guessed_timeout"))
    elif timeout is None:
        text = f"no ticket of the log timed out: the request timeout is taken to be {TIMEOUT:g} s"
        warn(Notice(text, "guessed_timeout"))
    if log.acceptance is not None:
        text = f"matches have {log.acceptance:g} s to be accepted, and are as in the log"
        warn(Note(text, "guessed_acceptance"))


def missing_for(table: Table, tickets: Sequence[Document]) -> Iterator[str]:
    """Yield what the rules look at and players do not have, and what follows."""
    players = {player["id"]: player for ticket in tickets for player in ticket["players"]}
    number = len(players)
    for index, attribute in enumerate(table.attributes):
        without = sum(
            attribute.name not in player.get("attributes", {}) for player in players.values()
        )
        rules = [rule.name for rule in table.rules if index in rule.attributes]
        if table.search.balance == index:
            rules.append("the balance of teams")
        if not without or not (rules or attribute.default is None):
            continue
        what = f"{without:,} of {number:,} players have no {shown(attribute.name)}"
        by = f", which {' and '.join(rules)} looks at" if rules else ""
        if attribute.default is None:
            yield f"{what}{by}: without a default their tickets cannot be matched"
        else:
            yield f"{what}{by}: the default, {shown(attribute.default)}, stands for it"
    without = sum(not player.get("latency") for player in players.values())
    for rule in table.rules:
        if without and isinstance(rule.predicate, Reached):
            what = f"{without:,} of {number:,} players have no latencies"
            yield f"{what}, which {rule.name} looks at: their tickets cannot be matched"
