"""Reader and writer of worlds: a rule set, tickets and how the service ticks, each fault placed.

A rule set may also come with a list of tickets, an object a line, or a table of single players.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any, Literal, NamedTuple, cast

from valmatch.draws.streams import Streams
from valmatch.matching.tickets.columns import (
    MOST_REVIEWS,
    SEARCHES,
    Document,
    Search,
    Service,
    Tickets,
    tickets_of,
)
from valmatch.rule_sets.flexmatch import RULE_SET, WANTED, read_any, value_of
from valmatch.rule_sets.json_text import Item, Node, Problem, Problems, called, one_place, read_json
from valmatch.rule_sets.table import Table
from valmatch.rule_sets.types import Reached
from valmatch.text.dates import seconds_of
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Note, Notice, shown

LatencyOf = Literal["ticket", "player"]

LATENCIES: tuple[LatencyOf, ...] = ("ticket", "player")
"""Whose latency a rule looks at: of a ticket one number, or that of every player."""

CONFIG_KEYS = (
    "requestTimeoutSeconds",
    "horizon",
    "search",
    "review",
    "batchSize",
    "passes",
    "acceptanceTimeoutSeconds",
    "foresightSeconds",
    "seed",
    "latencyOf",
)


class WorldReading(NamedTuple):
    """What a world says."""

    table: Table
    tickets: Tickets
    service: Service
    searches: tuple[Search, ...]  # the searches that it has answers for, or the one that it names
    rules: str = ""  # the text of the rule set
    latency_of: LatencyOf = "ticket"  # whose latency a latency rule looks at; the table says it too
    seed: int = 0  # of the random order of pools that are cut

    def with_latency_of(self, whose: LatencyOf) -> WorldReading:
        """Return the world with latency rules that look at other latencies."""
        # One number stands for a ticket ("the latency of each ticket" of the service's page); or
        # each player counts for itself.
        rules = tuple(
            rule._replace(predicate=rule.predicate._replace(each=whose == "player"))
            if isinstance(rule.predicate, Reached)
            else rule
            for rule in self.table.rules
        )
        return self._replace(table=self.table._replace(rules=rules), latency_of=whose)

    def text(self) -> Iterator[str]:
        """Yield the world as text that can be read again: a line for each ticket."""
        service = self.service
        config = {
            "requestTimeoutSeconds": service.timeout,
            "horizon": service.horizon,
            "search": self.searches[0],
            "review": "changes" if service.review is None else service.review,
            "batchSize": service.batch_size,
            "passes": service.passes,
            "acceptanceTimeoutSeconds": service.acceptance,
            "seed": self.seed,
            "latencyOf": self.latency_of,
        }
        if service.foresight is not None:
            config["foresightSeconds"] = service.foresight
        yield f'{{"ruleSet":\n{self.rules}\n,\n"config": {json.dumps(config)},\n"tickets": ['
        for number, ticket in enumerate(self.tickets.documents(self.table)):
            for player in ticket["players"]:
                if not player["latency"]:
                    del player["latency"]
            yield ("," if number else "") + "\n" + json.dumps(ticket)
        yield "\n]}\n"


def has_world(text: str) -> bool:
    """Return whether a file holds a world, not a rule set alone, or is to hold one."""
    node = read_json(text, Problems(text))
    return f'"{RULE_SET}"' in text if node is None else RULE_SET in node.members


def read_world(text: str) -> tuple[WorldReading | None, list[Problem]]:
    """Return the world that a text is, None if it is none, and all that is wrong with it."""
    problems = Problems(text, "world")
    node = read_json(text, problems)
    if node is None:
        return None, problems.sorted()
    root = Item(node, problems, lenient=True, nulls=True)
    root.known(("name", RULE_SET, "config", "tickets", "answers"))
    config = root.get("config", "object", required=True)
    listed = root.get("tickets", "array", required=True)
    rules = root.get(RULE_SET, "object", required=True)
    item = Item(config or node, problems, lenient=True, nulls=True)
    service = _service(item) if config else None
    table = read_any(rules, problems, service.timeout if service else None)[1] if rules else None
    if table is None or listed is None or service is None:
        return None, problems.sorted()
    documents = read_tickets(root.items("tickets"), table)
    answers = root.item("answers")
    answered = tuple(search for search in SEARCHES if answers and search in answers.members)
    named = cast(Search, item.choice("search", SEARCHES) or "pass")
    whose = cast(LatencyOf, item.choice("latencyOf", LATENCIES) or "ticket")
    seed = int(item.number("seed", whole=True, least=0) or 0)
    if rules is None or problems.errors:
        return None, problems.sorted()
    tickets = tickets_of(documents, table, Streams(seed).place(0))
    rules_text = text[rules.start : rules.place.end]
    world = WorldReading(table, tickets, service, answered or (named,), rules_text, seed=seed)
    return world.with_latency_of(whose), problems.sorted()


def _service(item: Item) -> Service | None:
    """Return how the service ticks."""
    item.known(CONFIG_KEYS)
    timeout = item.number("requestTimeoutSeconds", required=True)
    if timeout is not None and timeout <= 0:
        item.error("requestTimeoutSeconds", f"more than 0 is needed, not {shown(timeout)}")
    horizon = item.number("horizon", required=True, least=0)
    changes = item.members.get("review")
    review = None if changes and changes.value == "changes" else _positive(item, "review")
    sizes = [_positive(item, key, integer=True) for key in ("batchSize", "passes")]
    size, passes = (None if value is None else int(value) for value in sizes)
    acceptance = _positive(item, "acceptanceTimeoutSeconds")
    if timeout is None or horizon is None:
        return None
    foresight = _positive(item, "foresightSeconds")
    service = Service(timeout, horizon, review, size, passes, acceptance, foresight)
    if service.reviews_too_often:
        item.error("review", f"more than {MOST_REVIEWS:,} reviews until the horizon")
    return service


def _positive(item: Item, key: str, integer: bool = False) -> float | None:
    """Return a number above 0; None where it is missing or null."""
    value = item.number(key, whole=integer)
    if value is not None and value <= 0:
        item.error(key, f"more than 0 is needed, not {shown(value)}")
        return None
    return value


def read_list(text: str, table: Table, rows: bool) -> tuple[Tickets | None, list[Problem]]:
    """Return the tickets of a list, an object a line, or of a table of single players in `rows`."""
    # None with errors, and all that is wrong.
    problems = Problems(text, "tickets")
    items = (
        _row_items(text, table, ("id", "time"), problems) if rows else line_items(text, problems)
    )
    documents = read_tickets(list(items), table)
    if problems.errors:
        return None, problems.sorted()
    return tickets_of(documents, table, Streams(0).place(0)), problems.sorted()


def read_players(text: str, table: Table, rows: bool) -> tuple[dict[str, Document], list[Problem]]:
    """Return the players of a list by id, as those of `read_list`, and all that is wrong."""
    problems, lines = Problems(text, "players"), "players"
    items = (
        _row_items(text, table, ("id",), problems) if rows else line_items(text, problems, lines)
    )
    reader, players = _Tickets(table), dict[str, Document]()
    for item in items:
        player = reader.player(item, False)
        if player and player["id"] in players:
            item.error("id", f"there is a player {shown(player['id'])} already")
        elif player:
            players[player["id"]] = player
    return players, problems.sorted()


def line_items(
    text: str, problems: Problems, called_: str = "tickets", nulls: bool = True
) -> Iterator[Item]:
    """Yield the objects of the lines of a text, placed in the whole, as those of a list."""
    start = 0
    # Other ends of lines than this one may stand in strings.
    for number, line in enumerate(text.split("\n")):
        where = f"line {number + 1}"
        name, node = f"{called_}[{number}]", None
        if line.strip():
            node = read_json(line, problems, start=start, line=where, name=name)
        if node is not None and node.kind == "object":
            yield Item(node, problems, lenient=True, nulls=nulls)
        elif node is not None:
            problems.error(start, where, f"an object is needed, not {called(node)}")
        start += len(line) + 1


def read_tickets(items: Sequence[Item], table: Table) -> list[Document]:
    """Return tickets, reporting what is wrong with each; only those without faults count."""
    reader = _Tickets(table)
    tickets = [ticket for item in items if (ticket := reader.read(item))]
    rules = [rule.predicate for rule in table.rules]
    if reader.latencies and not any(isinstance(rule, Reached) for rule in rules):
        items[0].warn("", "latencies are given, and no latency rule looks at them")
    return tickets


class _Tickets:
    """Reads the tickets of one list."""

    def __init__(self, table: Table) -> None:
        self.teams = [team.name for team in table.teams]
        self.kinds = {attribute.name: attribute.kind for attribute in table.attributes}
        self.most = max((team.largest for team in table.teams), default=0)
        self.ids: set[str] = set()
        self.time = 0.0
        self.latencies = False

    def read(self, item: Item) -> Document | None:
        """Return a ticket, None if something of it is wrong."""
        item.known(("id", "time", "players", "cancel", "backfill", "answers"))
        name = item.text("id", required=True)
        time = item.number("time", required=True, least=0)
        if name is not None and name in self.ids:
            item.error("id", f"there is a ticket {shown(name)} already")
        if time is not None and time < self.time:
            item.error("time", f"tickets come in order of time: {time:g} after {self.time:g}")
        self.ids.add(name or "")
        self.time = max(self.time, time or 0.0)
        node = item.get("backfill", "boolean")
        running = node is not None and node.value is True
        players = self.players(item, running)
        cancel = item.number("cancel", least=0)
        if cancel is not None and time is not None and cancel < time:
            text = f"{cancel:g} is before the ticket comes, at {time:g}: it ends as it comes"
            item.warn("cancel", text)
        ticket = {"id": name, "time": time, "players": players, "answers": self.answers(item)}
        if cancel is not None:
            ticket["cancel"] = cancel
        return None if name is None or time is None or not players else ticket

    def players(self, item: Item, running: bool) -> list[Document]:
        """Return the players of a ticket."""
        items = item.items("players", required=True, empty="no player")
        if len(items) > self.most and not running:
            text = f"{len(items)} players, and no team ever has more than {self.most}"
            item.warn("players", text)
        players: dict[str, Document] = {}
        for player_item in items:
            player = self.player(player_item, running)
            if player and player["id"] in players:
                player_item.error("id", f"player {shown(player['id'])} twice in a ticket")
            elif player:
                players[player["id"]] = player
        return list(players.values())

    def player(self, item: Item, running: bool) -> Document | None:
        """Return a player."""
        item.known(("id", "attributes", "latency", "team"))
        name = item.text("id", required=True)
        team = item.text("team", required=running)
        if team is not None and not running:
            item.error("team", "a team, and the ticket is no backfill")
        elif team is not None and team not in self.teams:
            item.error("team", f"no team {shown(team)}")
        if name is None:
            return None
        player = {"id": name, "attributes": self.attributes(item), "latency": self.latency(item)}
        return player if team is None else {**player, "team": team}

    def attributes(self, item: Item) -> dict[str, object]:
        """Return the attributes of a player that are declared."""
        values: dict[str, object] = {}
        item_of_values = item.item("attributes")
        for key, member in item_of_values.node.members.items() if item_of_values else ():
            kind = self.kinds.get(key)
            if kind is None:
                text = f"attribute {shown(key)} is not declared: it is not seen"
                item.problems.add("warning", member.place.key, member.path, text)
                continue
            value = value_of(member, kind)
            if value is None:
                text = f"{WANTED[kind]} is needed, not {called(member)}"
                item.problems.error(member.start, member.path, text)
            else:
                values[key] = value
        return values

    def latency(self, item: Item) -> dict[str, float]:
        """Return milliseconds by region."""
        node = item.get("latency", "object")
        if node is None:
            return {}
        pings = Item(node, item.problems)
        self.latencies |= bool(pings.members)
        values = {name: pings.number(name, whole=True, least=1) for name in pings.members}
        return {name: float(value) for name, value in values.items() if value is not None}

    def answers(self, item: Item) -> list[tuple[float, bool] | None]:
        """Return what a ticket answers to proposals: seconds and whether it accepts."""
        node, answers = item.get("answers", "array"), list[tuple[float, bool] | None]()
        for answer in node.items if node else ():
            parts: list[Any] = [part.value for part in answer.items]
            if answer.kind == "null":
                answers.append(None)
            elif [part.kind for part in answer.items] == ["number", "boolean"] and parts[0] >= 0:
                answers.append((float(parts[0]), parts[1]))
            else:
                text = f"[seconds, true or false] or null is needed, not {called(answer)}"
                item.problems.error(answer.start, answer.path, text)
        return answers


# Tickets of single players, or players, as a table: CSV with a header, a row for each.
#
# Columns are `id`, of tickets `time`, attributes that are numbers or strings, and `latency.REGION`.
# An empty cell is no value.

LATENCY = "latency."


def _row_items(
    text: str, table: Table, needed: Sequence[str], problems: Problems
) -> Iterator[Item]:
    """Yield rows as objects: tickets of one player, or where no time is needed players."""
    lines = text.removeprefix("\ufeff").splitlines(keepends=True) or [""]
    kinds = {a.name: a.kind for a in table.attributes if a.kind in ("number", "text")}
    header = _cells(lines[0])
    for name in needed:
        if name not in header:
            problems.error(0, "line 1", f"no column {name}")
    for name in dict.fromkeys(header):
        if name not in (*needed, *kinds) and not name.startswith(LATENCY):
            what = f"unknown column {shown(name)} ({hint(name, [*needed, *kinds])})"
            problems.error(0, "line 1", what)
        if header.count(name) > 1:
            problems.error(0, "line 1", f"column {shown(name)} twice")
    texts = {"id", *(name for name, kind in kinds.items() if kind == "text")}
    start = text.startswith("\ufeff") + len(lines[0])
    for number, line in enumerate(() if problems.errors else lines[1:], 2):
        cells, where = _cells(line), f"line {number}"
        if cells and len(cells) != len(header):
            what = f"{len(cells)} cells, and the header has {len(header)}"
            problems.error(start, where, what)
        elif cells:
            row = dict(zip(header, cells, strict=True))
            ticket: Document = {"id": row["id"]}
            player: Document = {"id": row["id"], "attributes": {}, "latency": {}}
            for name, cell in row.items():
                value = cell if name in texts else real_number(cell)
                if value is None and cell:
                    what = f"{name}: a number is needed, not {shown(cell)}"
                    problems.error(start, where, what)
                elif name in needed:
                    ticket |= {name: value} if cell else {}
                elif cell:
                    part = "latency" if name.startswith(LATENCY) else "attributes"
                    player[part][name.removeprefix(LATENCY)] = value
            document = {**ticket, "players": [player]} if "time" in needed else player
            yield Item(Node(document, one_place(partial(int, start)), where), problems)
        start += len(line)


def _cells(line: str) -> list[str]:
    """Return the cells of a line; one cell where it is no CSV."""
    try:
        return [cell.strip() for cell in next(csv.reader([line.rstrip("\r\n")], strict=True), [])]
    except csv.Error:
        return [line]


# A game's own log: the events that its matchmaker sent, one JSON object a line.
#
# Source: the pages "FlexMatch matchmaking events" of the guide. A line is an event as EventBridge
# delivers it, or the notification of SNS that has it as text. Delivery is on a best-effort basis,
# so that events come out of order, or twice.

KIND = "GameLift Matchmaking Event"
"""What the events are called in their envelope; others pass unseen."""

ENDS = {
    "MatchmakingSucceeded": "COMPLETED",
    "MatchmakingTimedOut": "TIMED_OUT",
    "MatchmakingCancelled": "CANCELLED",
    "MatchmakingFailed": "FAILED",
}
"""How a ticket ends, by the last event of it."""

TYPES = (
    "MatchmakingSearching",
    "PotentialMatchCreated",
    "AcceptMatch",
    "AcceptMatchCompleted",
    *ENDS,
)

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
    # others, repeated: lines that are no event of a matchmaker, and events that came twice
    others: int
    repeated: int
    # seconds in which matches had to be accepted, where they had to
    acceptance: float | None = None
    # of each rule how often the matches that were proposed say it passed and failed
    judged: dict[str, list[int]] = field(default_factory=dict)

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


class _Event(NamedTuple):
    """An event, ordered by time."""

    time: float
    order: int
    kind: str
    match: str
    # ids, players with their teams, and what they say to a match
    tickets: list[tuple[str, dict[str, str], list[object]]]
    detail: Item


def is_event_log(text: str) -> bool:
    """Return whether a file is a log of events, not a list of tickets, by its first line."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    node = read_json(first.removeprefix("\ufeff"), Problems(first))
    if node is None or node.kind != "object":
        return False
    return "detail" in node.members or {"Type", "Message"} <= node.members.keys()


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
        if {"Type", "Message"} <= item.members.keys():
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
        time = _time(item, "time")
        node = item.get("detail", "object", required=True)
        if node is None:
            return
        detail = Item(node, self.problems, lenient=True)
        kind = detail.choice("type", TYPES, required=True)
        named = [self._ticket(ticket) for ticket in detail.items("tickets", required=True)]
        match = detail.text("matchId") or ""
        if kind is not None and time is not None:
            tickets = [ticket for ticket in named if ticket]
            self.events.append(_Event(time, len(self.events), kind, match, tickets, detail))

    def _unpacked(self, item: Item) -> Item | None:
        """Return the event in a notification."""
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

    def _ticket(self, item: Item) -> tuple[str, dict[str, str], list[object]] | None:
        """Return a ticket of an event; take down what it is when it is named first."""
        name, time = item.text("ticketId", required=True), _time(item, "startTime")
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
        return name, players, accepted

    def log(self) -> EventLog:
        """Return what the events say, in order of time."""
        events = sorted(self.events)
        tickets = sorted(self.tickets.values(), key=lambda ticket: ticket["time"])
        names = [ticket["id"] for ticket in tickets]
        first = tickets[0]["time"] if tickets else 0.0
        items, end = [self.items[name] for name in names], events[-1].time if events else first
        log = EventLog(tickets, [], items, first, end, self.others, self.repeated)
        for event in events:
            self._follow(event, log)
        log.ends = [self.ends.get(name, Ended()) for name in names]
        for ticket in tickets:
            teams = self.teams[ticket["id"]]
            ticket["players"] = [
                {"id": player, "team": team} if all(teams.values()) else {"id": player}
                for player, team in teams.items()
            ]
        return log

    def _follow(self, event: _Event, log: EventLog) -> None:
        """Take an event into account."""
        kind, match, detail = event.kind, event.match, event.detail
        if kind == "PotentialMatchCreated":
            self.proposed[match] = event.time
            required = detail.members.get("acceptanceRequired")
            limit = detail.members.get("acceptanceTimeout")
            if required and required.value is True:
                seconds = limit.value if limit and limit.kind == "number" else 0
                log.acceptance = max(float(cast(float, seconds)), log.acceptance or 1.0)
                for name, *_ in event.tickets:
                    self.tickets[name]["answers"].append(None)
            for rule in detail.items("ruleEvaluationMetrics"):
                counts = log.judged.setdefault(str(rule.text("ruleName")), [0, 0])
                for k, key in enumerate(("passedCount", "failedCount")):
                    counts[k] += int(rule.number(key, whole=True, least=0) or 0)
        elif kind == "AcceptMatchCompleted" and detail.text("acceptance") != "Accepted":
            self.dropped |= {name for name, *_ in event.tickets}
        for name, players, accepted in event.tickets:
            answers = self.tickets[name]["answers"]
            if kind == "MatchmakingSearching":
                self.dropped.discard(name)
                self.teams[name] |= players
            elif kind == "AcceptMatch" and answers:  # all players have to accept
                seconds = max(event.time - self.proposed.get(match, event.time), 0.0)
                if False in accepted:
                    answers[-1] = seconds, False
                elif len(accepted) == len(players) and answers[-1] is None:
                    answers[-1] = seconds, True
            elif kind == "MatchmakingSucceeded":
                match = match or f"{event.time}"
                end = self.proposed.get(match, event.time)
                self.ends[name] = Ended(ENDS[kind], end, match)
            elif kind in ENDS:
                refused = kind == "MatchmakingCancelled" and name in self.dropped
                before = self.ends.get(name, Ended()).match
                self.ends[name] = Ended(ENDS[kind], event.time, before, refused)


def _time(item: Item, key: str) -> float | None:
    """Return the seconds since 1970 of a date-time."""
    text = item.text(key, required=True)
    seconds = None if text is None else seconds_of(text)
    if seconds is not None and seconds != seconds:
        item.error(key, f"a date-time is needed, 2017-08-08T21:15:36.421Z, not {shown(text)}")
        return None
    return seconds


# Tickets of a game's own log: a list of players says what their attributes and latencies are.

TIMEOUT = 120.0  # seconds that a ticket waits where nothing says it


def world_of_log(
    log: EventLog,
    known: Mapping[str, Document],
    table: Table,
    service: tuple[float | None, float],
    warn: Callable[[str], None],
) -> tuple[WorldReading | None, list[Problem]]:
    """Return a log as a world; None with errors, and all that is wrong."""
    teams, documents, problems = {team.name for team in table.teams}, [], log.items[0].problems
    for ticket, end, item in zip(log.tickets, log.ends, log.items, strict=True):
        for player in ticket["players"]:
            if (team := player.get("team")) and team not in teams:
                what = f"player {shown(player['id'])} is on team {shown(team)}"
                item.error("players", f"{what}, which the rules do not have")
        players = [{**known.get(player["id"], {}), **player} for player in ticket["players"]]
        document = {**ticket, "time": log.seconds(ticket["time"]), "players": players}
        if end.status == "FAILED" or (end.status == "CANCELLED" and not end.refused):
            document["cancel"] = log.seconds(end.time)  # who left before the timeout leaves again
        documents.append(document)
    if problems.errors:
        return None, problems.sorted()
    timeout, review = service
    _remark(log, timeout, warn)
    for remark in missing_for(table, documents):
        warn(remark)
    clock = Service(
        timeout or log.timeout or TIMEOUT, log.seconds(log.end), review, acceptance=log.acceptance
    )
    tickets = tickets_of(documents, table, Streams(0).place(0))
    return WorldReading(table, tickets, clock, ("pass",)), []


def _remark(log: EventLog, timeout: float | None, warn: Callable[[str], None]) -> None:
    """Say how the log was read."""
    if log.others:
        text = f"skipped: {log.others:,} events that are not of a matchmaker"
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
    for index, attribute in enumerate(table.attributes):
        without = sum(attribute.name not in p.get("attributes", {}) for p in players.values())
        rules = [rule.name for rule in table.rules if index in rule.attributes]
        if table.search.balance == index:
            rules.append("the balance of teams")
        if not without or not (rules or attribute.default is None):
            continue
        what = f"{without:,} of {len(players):,} players have no {shown(attribute.name)}"
        by = f", which {' and '.join(rules)} looks at" if rules else ""
        if attribute.default is None:
            yield f"{what}{by}: without a default their tickets cannot be matched"
        else:
            yield f"{what}{by}: the default, {shown(attribute.default)}, stands for it"
    without = sum(not player.get("latency") for player in players.values())
    for rule in table.rules:
        if without and isinstance(rule.predicate, Reached):
            what = f"{without:,} of {len(players):,} players have no latencies"
            yield f"{what}, which {rule.name} looks at: their tickets cannot be matched"
