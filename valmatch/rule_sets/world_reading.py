"""Reader of worlds: a rule set, tickets and how the service ticks, every fault with its place.

A world is an object with `ruleSet`, `config` and `tickets`; or a rule set comes with a list of
tickets, an object a line. Limits are those of the API reference.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from valmatch.rule_sets.flexmatch import WANTED, is_world, read_any, value_of
from valmatch.rule_sets.items import Item, called
from valmatch.rule_sets.json_text import Node, Problem, Problems, one_place, read_json
from valmatch.rule_sets.table import Reached, Table
from valmatch.rule_sets.worlds import (
    LATENCIES,
    MOST_REVIEWS,
    RULE_SET,
    SEARCHES,
    LatencyOf,
    Player,
    Search,
    Service,
    Ticket,
)
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

TICKET_KEYS = ("id", "time", "players", "cancel", "backfill", "answers")
PLAYER_KEYS = ("id", "attributes", "latency", "team")
CONFIG_KEYS = (
    "requestTimeoutSeconds",
    "horizon",
    "search",
    "review",
    "batchSize",
    "passes",
    "acceptanceTimeoutSeconds",
    "seed",
    "latencyOf",
)
WORLD_KEYS = ("name", RULE_SET, "config", "tickets", "answers")

Answer = tuple[float, bool] | None


class WorldReading(NamedTuple):
    """What a world says."""

    table: Table
    tickets: tuple[Ticket, ...]
    service: Service
    searches: tuple[Search, ...]  # the searches that it has answers for, or the one that it names
    rules: str = ""  # the text of the rule set
    latency_of: LatencyOf = "ticket"  # whose latency a latency rule looks at; the table says it too

    def with_latency_of(self, whose: LatencyOf) -> WorldReading:
        """Return the world with latency rules that look at other latencies.

        One number stands for a ticket ("the latency of each ticket" of the service's page); or each
        player counts for itself.
        """
        rules = tuple(
            rule._replace(predicate=rule.predicate._replace(each=whose == "player"))
            if isinstance(rule.predicate, Reached)
            else rule
            for rule in self.table.rules
        )
        return self._replace(table=self.table._replace(rules=rules), latency_of=whose)


def has_world(text: str) -> bool:
    """Return whether a file holds a world, not a rule set alone, or is to hold one."""
    node = read_json(text, Problems(text))
    return f'"{RULE_SET}"' in text if node is None else is_world(node)


def read_world(text: str) -> tuple[WorldReading | None, list[Problem]]:
    """Return the world that a text is, None if it is none, and all that is wrong with it."""
    problems = Problems(text, "world")
    node = read_json(text, problems)
    if node is None:
        return None, problems.sorted()
    root = Item(node, problems, lenient=True, nulls=True)
    root.known(WORLD_KEYS)
    config = root.get("config", "object", required=True)
    tickets = root.get("tickets", "array", required=True)
    rules = root.get(RULE_SET, "object", required=True)
    item = Item(config, problems, lenient=True, nulls=True) if config else None
    service, named = _service(item)
    whose = _latency_of(item)
    timeout = service.timeout if service else None
    table = read_any(rules, problems, timeout) if rules else None
    if table is None or tickets is None or service is None:
        return None, problems.sorted()
    items = root.items("tickets")
    found = read_tickets(items, table)
    searches = _answered(root) or (named,)
    if rules is None or problems.errors:
        return None, problems.sorted()
    world = WorldReading(table, found, service, searches, text[rules.start : rules.place.end])
    return world.with_latency_of(whose), problems.sorted()


def _answered(root: Item) -> tuple[Search, ...]:
    """Return the searches that a world has answers for."""
    node = root.get("answers", "object")
    given = Item(node, root.problems).members if node else {}
    return tuple(search for search in SEARCHES if search in given)


def _service(item: Item | None) -> tuple[Service | None, Search]:
    """Return how the service ticks, and the search that is named."""
    if item is None:
        return None, "pass"
    item.known(CONFIG_KEYS)
    named = item.choice("search", SEARCHES)
    timeout = item.number("requestTimeoutSeconds", required=True)
    horizon = item.number("horizon", required=True, least=0)
    if timeout is not None and timeout <= 0:
        item.error("requestTimeoutSeconds", f"more than 0 is needed, not {shown(timeout)}")
    review = _optional(item, "review")
    if timeout is None or horizon is None:
        return None, "pass"
    size, passes = _optional(item, "batchSize", True), _optional(item, "passes", True)
    seed = item.number("seed", whole=True, least=0) or 0.0
    service = Service(
        timeout,
        horizon,
        review,
        None if size is None else int(size),
        None if passes is None else int(passes),
        _optional(item, "acceptanceTimeoutSeconds"),
        int(seed),
    )
    if service.reviews_too_often:
        item.error("review", f"more than {MOST_REVIEWS:,} reviews until the horizon")
    return service, next((search for search in SEARCHES if search == named), "pass")


def _latency_of(item: Item | None) -> LatencyOf:
    """Return whose latency is looked at."""
    named = item.choice("latencyOf", LATENCIES) if item else None
    return next((one for one in LATENCIES if one == named), "ticket")


def _optional(item: Item, key: str, whole: bool = False) -> float | None:
    """Return a number above 0; None where it is missing, null, or ``changes``."""
    member = item.members.get(key)
    if key == "review" and member and member.value == "changes":
        return None
    value = item.number(key, whole=whole)
    if value is not None and value <= 0:
        item.error(key, f"more than 0 is needed, not {shown(value)}")
        return None
    return value


def read_lines(text: str, table: Table) -> tuple[tuple[Ticket, ...] | None, list[Problem]]:
    """Return the tickets of a list, an object a line; None with errors, and all that is wrong."""
    problems = Problems(text, "tickets")
    items = list(line_items(text, problems))
    tickets = read_tickets(items, table)
    return (None if problems.errors else tickets), problems.sorted()


def read_player_lines(text: str, table: Table) -> tuple[dict[str, Player], list[Problem]]:
    """Return the players of a list by id, an object a line, and all that is wrong."""
    problems = Problems(text, "players")
    return read_players(list(line_items(text, problems, "players")), table), problems.sorted()


def read_players(items: Sequence[Item], table: Table) -> dict[str, Player]:
    """Return players by id, reporting what is wrong with each."""
    reader = _Tickets(table)
    found: dict[str, Player] = {}
    for item in items:
        player = reader.player(item, False)
        if player and player.id in found:
            item.error("id", f"there is a player {shown(player.id)} already")
        elif player:
            found[player.id] = player
    return found


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


def read_tickets(items: Sequence[Item], table: Table) -> tuple[Ticket, ...]:
    """Return tickets, reporting what is wrong with each; only those without faults count."""
    reader = _Tickets(table)
    found = [ticket for item in items if (ticket := reader.read(item))]
    reader.remark(items)
    return tuple(found)


class _Tickets:
    """Reads the tickets of one list."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.teams = [team.name for team in table.teams]
        self.kinds = {attribute.name: attribute.kind for attribute in table.attributes}
        self.most = max((team.largest for team in table.teams), default=0)
        self.ids: set[str] = set()
        self.time = 0.0
        self.latencies = False

    def read(self, item: Item) -> Ticket | None:
        """Return a ticket, None if something of it is wrong."""
        item.known(TICKET_KEYS)
        name = item.text("id", required=True)
        time = item.number("time", required=True, least=0)
        if name is not None and name in self.ids:
            item.error("id", f"there is a ticket {shown(name)} already")
        if time is not None and time < self.time:
            item.error("time", f"tickets come in order of time: {time:g} after {self.time:g}")
        self.ids.add(name or "")
        self.time = max(self.time, time or 0.0)
        running = item.get("backfill", "boolean")
        is_running = running is not None and running.value is True
        players = self.players(item, is_running)
        cancel = item.number("cancel", least=0)
        if cancel is not None and time is not None and cancel < time:
            text = f"{cancel:g} is before the ticket comes, at {time:g}: it ends as it comes"
            item.warn("cancel", text)
        answers = self.answers(item)
        if name is None or time is None or not players:
            return None
        return Ticket(name, float(time), players, cancel, is_running, answers)

    def players(self, item: Item, running: bool) -> tuple[Player, ...]:
        """Return the players of a ticket."""
        items = item.items("players", required=True, empty="no player")
        if len(items) > self.most and not running:
            text = f"{len(items)} players, and no team ever has more than {self.most}"
            item.warn("players", text)
        found: list[Player] = []
        for one in items:
            player = self.player(one, running)
            if player and player.id in {other.id for other in found}:
                one.error("id", f"player {shown(player.id)} twice in a ticket")
            elif player:
                found.append(player)
        return tuple(found)

    def player(self, item: Item, running: bool) -> Player | None:
        """Return a player."""
        item.known(PLAYER_KEYS)
        name = item.text("id", required=True)
        team = item.text("team", required=running)
        if team is not None and not running:
            item.error("team", "a team, and the ticket is no backfill")
        elif team is not None and team not in self.teams:
            item.error("team", f"no team {shown(team)}")
        if name is None:
            return None
        return Player(name, self.attributes(item), self.latency(item), team or "")

    def attributes(self, item: Item) -> dict[str, object]:
        """Return the attributes of a player that are declared."""
        node = item.get("attributes", "object")
        if node is None:
            return {}
        own = Item(node, item.problems)
        found: dict[str, object] = {}
        for key, member in own.members.items():
            kind = self.kinds.get(key)
            if kind is None:
                text = f"attribute {shown(key)} is not declared: it is not seen"
                item.problems.warn(member.place.key, own.inner(key), text)
                continue
            value = value_of(member, kind)
            if value is None:
                own.error(key, f"{WANTED[kind]} is needed, not {called(member)}")
            else:
                found[key] = value
        return found

    def latency(self, item: Item) -> dict[str, float]:
        """Return milliseconds by region."""
        node = item.get("latency", "object")
        if node is None:
            return {}
        own = Item(node, item.problems)
        self.latencies = self.latencies or bool(own.members)
        found = {region: own.number(region, whole=True, least=1) for region in own.members}
        return {region: float(value) for region, value in found.items() if value is not None}

    def answers(self, item: Item) -> tuple[Answer, ...]:
        """Return what a ticket answers to proposals."""
        node = item.get("answers", "array")
        found: list[Answer] = []
        for number, one in enumerate(node.items if node else ()):
            parts = one.items
            kinds = [part.kind for part in parts]
            if one.kind == "null":
                found.append(None)
            elif kinds == ["number", "boolean"] and cast(float, parts[0].value) >= 0:
                found.append((float(cast(float, parts[0].value)), bool(parts[1].value)))
            else:
                text = f"[seconds, true or false] or null is needed, not {called(one)}"
                item.problems.error(one.start, f"{item.inner('answers')}[{number}]", text)
        return tuple(found)

    def remark(self, items: Sequence[Item]) -> None:
        """Warn of what the tickets have and the rules do not look at."""
        rules = [rule.predicate for rule in self.table.rules]
        if self.latencies and not any(isinstance(rule, Reached) for rule in rules):
            text = "latencies are given, and no latency rule looks at them"
            items[0].warn("", text)


# Writer of worlds: what was played, in the form in which it can be played again.


def world_text(world: WorldReading) -> Iterator[str]:
    """Yield the text of a world, in pieces: its rule set as it was read, a line for each ticket."""
    yield f'{{"ruleSet":\n{world.rules}\n,\n"config": {json.dumps(_config(world))},\n"tickets": ['
    for number, ticket in enumerate(world.tickets):
        yield ("," if number else "") + "\n" + json.dumps(_ticket(ticket))
    yield "\n]}\n"


def _config(world: WorldReading) -> dict[str, Any]:
    """Return how the service ticks."""
    service = world.service
    return {
        "requestTimeoutSeconds": service.timeout,
        "horizon": service.horizon,
        "search": world.searches[0],
        "review": "changes" if service.review is None else service.review,
        "batchSize": service.batch_size,
        "passes": service.passes,
        "acceptanceTimeoutSeconds": service.acceptance,
        "seed": service.seed,
        "latencyOf": world.latency_of,
    }


def _ticket(ticket: Ticket) -> dict[str, Any]:
    """Return a ticket; what it does not have is left out."""
    found: dict[str, Any] = {
        "id": ticket.id,
        "time": ticket.time,
        "players": [_player(player) for player in ticket.players],
    }
    if ticket.cancel is not None:
        found["cancel"] = ticket.cancel
    if ticket.running:
        found["backfill"] = True
    if ticket.answers:
        found["answers"] = ticket.answers
    return found


def _player(player: Player) -> dict[str, Any]:
    found: dict[str, Any] = {"id": player.id, "attributes": player.attributes}
    if player.latency:
        found["latency"] = player.latency
    if player.team:
        found["team"] = player.team
    return found


# Tickets of single players, or players, as a table: CSV with a header, a row for each.
#
# Columns are `id`, of tickets `time`, attributes that are numbers or strings, and `latency.REGION`.
# An empty cell is no value.

NEEDED = ("id", "time")
LATENCY = "latency."


def read_table(text: str, table: Table) -> tuple[tuple[Ticket, ...] | None, list[Problem]]:
    """Return the tickets of a table; None with errors, and all that is wrong."""
    problems = Problems(text, "tickets")
    rows = _Rows(text, table, NEEDED, problems)
    tickets = read_tickets([rows.ticket(row) for row in rows.read()], table)
    return (None if problems.errors else tickets), problems.sorted()


def read_player_table(text: str, table: Table) -> tuple[dict[str, Player], list[Problem]]:
    """Return the players of a table by id, and all that is wrong."""
    problems = Problems(text, "players")
    rows = _Rows(text, table, NEEDED[:1], problems)
    return read_players([rows.player(row) for row in rows.read()], table), problems.sorted()


def _cells(line: str) -> list[str]:
    """Return the cells of a line; one cell where it is no CSV."""
    try:
        return [cell.strip() for cell in next(csv.reader([line.rstrip("\r\n")], strict=True), [])]
    except csv.Error:
        return [line]


class _Row(NamedTuple):
    """A row: its cells by column, its line and place."""

    cells: dict[str, str]
    number: int
    start: int


class _Rows:
    """The rows of one table."""

    def __init__(self, text: str, table: Table, needed: Sequence[str], problems: Problems) -> None:
        self.lines = text.removeprefix("\ufeff").splitlines(keepends=True)
        self.shift = len(text) - len(text.removeprefix("\ufeff"))
        self.needed, self.problems = needed, problems
        self.texts = {one.name for one in table.attributes if one.kind == "text"}
        self.known = [one.name for one in table.attributes if one.kind in ("number", "text")]

    def read(self) -> list[_Row]:
        """Return the rows, none where the header is wrong."""
        header = _cells(self.lines[0]) if self.lines else []
        for name in self.needed:
            if name not in header:
                self.problems.error(0, "line 1", f"no column {name}")
        for name in dict.fromkeys(header):
            if name not in (*self.needed, *self.known) and not name.startswith(LATENCY):
                what = f"unknown column {shown(name)} ({hint(name, [*self.needed, *self.known])})"
                self.problems.error(0, "line 1", what)
            if header.count(name) > 1:
                self.problems.error(0, "line 1", f"column {shown(name)} twice")
        return [] if self.problems.errors else list(self._rows(header))

    def _rows(self, header: list[str]) -> Iterator[_Row]:
        start = self.shift + (len(self.lines[0]) if self.lines else 0)
        for number, line in enumerate(self.lines[1:], 2):
            cells = _cells(line)
            if cells and len(cells) != len(header):
                what = f"{len(cells)} cells, and the header has {len(header)}"
                self.problems.error(start, f"line {number}", what)
            elif cells:
                yield _Row(dict(zip(header, cells, strict=True)), number, start)
            start += len(line)

    def player(self, row: _Row) -> Item:
        """Return the object of a player."""
        return self._item(self._player(row), row)

    def ticket(self, row: _Row) -> Item:
        """Return the object of a ticket of one player."""
        time = self._value("time", row)
        parts = {"id": row.cells["id"], "players": [self._player(row)], "time": time}
        return self._item({key: one for key, one in parts.items() if one is not None}, row)

    def _item(self, parts: dict[str, object], row: _Row) -> Item:
        node = Node(parts, one_place(lambda: row.start), f"line {row.number}")
        return Item(node, self.problems)

    def _player(self, row: _Row) -> dict[str, object]:
        found: dict[str, dict[str, object]] = {"attributes": {}, "latency": {}}
        for name in row.cells:
            value = None if name in NEEDED else self._value(name, row)
            if value is not None:
                part = "latency" if name.startswith(LATENCY) else "attributes"
                found[part][name.removeprefix(LATENCY)] = value
        return {"id": row.cells["id"], **found}

    def _value(self, name: str, row: _Row) -> str | float | None:
        """Return the value of a cell, None of an empty one."""
        cell = row.cells[name]
        if not cell or name in self.texts:
            return cell or None
        value = real_number(cell)
        if value is None:
            what = f"{name}: a number is needed, not {shown(cell)}"
            self.problems.error(row.start, f"line {row.number}", what)
        return value
