"""Reader and writer of worlds: a rule set, tickets and how the service ticks, each fault placed.

A world is an object with `ruleSet`, `config` and `tickets`; or a rule set comes with a list of
tickets, an object a line, or a table of single players. Limits are those of the API reference.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple, cast

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
from valmatch.rule_sets.items import Item, called
from valmatch.rule_sets.json_text import Node, Problem, Problems, one_place, read_json
from valmatch.rule_sets.table import Reached, Table
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

LatencyOf = Literal["ticket", "player"]

LATENCIES: tuple[LatencyOf, ...] = ("ticket", "player")
"""Whose latency a rule looks at: of a ticket one number, or that of every player."""

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
    root.known(WORLD_KEYS)
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
    horizon = item.number("horizon", required=True, least=0)
    if timeout is not None and timeout <= 0:
        item.error("requestTimeoutSeconds", f"more than 0 is needed, not {shown(timeout)}")
    changes = item.members.get("review")
    review = None if changes and changes.value == "changes" else _positive(item, "review")
    size, passes = _positive(item, "batchSize", True), _positive(item, "passes", True)
    acceptance = _positive(item, "acceptanceTimeoutSeconds")
    if timeout is None or horizon is None:
        return None
    service = Service(
        timeout,
        horizon,
        review,
        None if size is None else int(size),
        None if passes is None else int(passes),
        acceptance,
    )
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
    needed = ("id", "time")
    items = _row_items(text, table, needed, problems) if rows else line_items(text, problems)
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
        item.known(TICKET_KEYS)
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
        item.known(PLAYER_KEYS)
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
                item.problems.warn(member.place.key, member.path, text)
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
        pings = Item(node, item.problems) if node else None
        names = pings.members if pings else {}
        self.latencies = self.latencies or bool(names)
        values = {name: pings.number(name, whole=True, least=1) for name in names if pings}
        return {name: float(value) for name, value in values.items() if value is not None}

    def answers(self, item: Item) -> list[tuple[float, bool] | None]:
        """Return what a ticket answers to proposals: seconds and whether it accepts."""
        node, answers = item.get("answers", "array"), list[tuple[float, bool] | None]()
        for answer in node.items if node else ():
            kinds = [part.kind for part in answer.items]
            seconds, accepts = (
                [part.value for part in answer.items] if len(kinds) == 2 else (-1, None)
            )
            if answer.kind == "null":
                answers.append(None)
            elif kinds == ["number", "boolean"] and cast(float, seconds) >= 0:
                answers.append((float(cast(float, seconds)), bool(accepts)))
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
    kinds = {
        attribute.name: attribute.kind
        for attribute in table.attributes
        if attribute.kind in ("number", "text")
    }
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
        cells, error = _cells(line), partial(problems.error, start, f"line {number}")
        if cells and len(cells) != len(header):
            error(f"{len(cells)} cells, and the header has {len(header)}")
        elif cells:
            document = _document(dict(zip(header, cells, strict=True)), texts, needed, error)
            places = one_place(partial(int, start))
            yield Item(Node(document, places, f"line {number}"), problems)
        start += len(line)


def _document(
    row: dict[str, str], texts: set[str], needed: Sequence[str], error: Callable[[str], None]
) -> Document:
    """Return a row as a player, or as a ticket of one where a time is needed."""
    ticket: Document = {"id": row["id"]}
    player: Document = {"id": row["id"], "attributes": {}, "latency": {}}
    for name, cell in row.items():
        value = cell if name in texts else real_number(cell)
        if value is None and cell:
            error(f"{name}: a number is needed, not {shown(cell)}")
        elif name in needed:
            ticket |= {name: value} if cell else {}
        elif cell:
            part = "latency" if name.startswith(LATENCY) else "attributes"
            player[part][name.removeprefix(LATENCY)] = value
    return {**ticket, "players": [player]} if "time" in needed else player


def _cells(line: str) -> list[str]:
    """Return the cells of a line; one cell where it is no CSV."""
    try:
        return [cell.strip() for cell in next(csv.reader([line.rstrip("\r\n")], strict=True), [])]
    except csv.Error:
        return [line]
