"""Reader of the tickets of cases, by preset."""

from __future__ import annotations

import math
from typing import cast

from valmatch.rule_sets.items import Item, called
from valmatch.rule_sets.json_text import Node
from valmatch.rule_sets.presets.tickets import Member, Party, Rated, Soldier, User
from valmatch.rule_sets.presets.words import Preset
from valmatch.text.terminal import shown

AnyTicket = Party | Soldier | User | Member

TICKET_KEYS: dict[Preset, tuple[str, ...]] = {
    "faf": ("id", "time", "cancel", "players", "attempts"),
    "bar": ("id", "time", "cancel", "players"),
    "shieldbattery": ("id", "time", "cancel", "rating", "deviation", "region", "rtt", "maps"),
    "osu": ("id", "time", "rating", "banned"),
    "lichess": (
        "id",
        "time",
        "cancel",
        "user",
        "rating",
        "range",
        "sit",
        "provisional",
        "blocks",
        "lame",
        "misses",
    ),
}
"""What a ticket of a preset may say."""


MOST = 1_000_000_000  # how far from 0 a rating can be, and the most of what is counted


class TicketReader:
    """Reads the tickets of a case."""

    def __init__(self, root: Item, largest: float) -> None:
        self.root, self.largest = root, largest
        self.names: list[str | int] = []  # the ids of the tickets

    def tickets(self, preset: Preset) -> tuple[AnyTicket, ...]:
        """Return all tickets; of one with faults, what there is of it."""
        found: list[AnyTicket] = []
        seen: set[str | int] = set()
        for item in self.root.items("tickets", required=True):
            item.known(TICKET_KEYS[preset])
            name = self._name(item)
            if name in seen:
                item.error("id", f"there is a ticket {shown(name)} already")
            seen.add(name)
            self.names.append(name)
            found.append(self._ticket(item, preset))
        return tuple(found)

    def _name(self, item: Item) -> str | int:
        member = item.members.get("id")
        if member is None:
            item.error("", "no id (a string or a whole number is needed)")
            return ""
        value = member.node.value
        if member.node.kind == "string" or (
            member.node.kind == "number" and isinstance(value, int)
        ):
            return cast("str | int", value)
        item.error("id", f"a string or a whole number is needed, not {called(member.node)}")
        return ""

    def _ticket(self, item: Item, preset: Preset) -> AnyTicket:
        if preset == "faf":
            return self._party(item, True)
        if preset == "bar":
            return self._party(item, False)
        if preset == "shieldbattery":
            return self._soldier(item)
        if preset == "osu":
            return self._user(item)
        return self._member(item)

    def _party(self, item: Item, rated: bool) -> Party:
        players = item.items("players", required=True)
        node = item.members.get("players")
        if node and node.node.kind == "array" and not node.node.value:
            item.error("players", "no player")
        if len(players) > self.largest:
            text = f"{len(players)} players, and a team has {self.largest:.0f}"
            item.error("players", text)
        attempts = int(optional(item, "attempts", least=0, most=MOST, whole=True) or 0)
        time = item.number("time", required=not rated, least=0) or 0.0
        found = tuple(_rated(one, rated) for one in players)
        return Party(time, _cancel(item), found, attempts)

    def _soldier(self, item: Item) -> Soldier:
        picks = optional_list(item, "maps", "string")
        region = item.text("region") if not is_null(item, "region") else None
        return Soldier(
            item.number("time", required=True, least=0) or 0.0,
            _cancel(item),
            _rating(item) or 0.0,
            optional(item, "deviation", least=0, most=MOST) or 0.0,
            region,
            optional(item, "rtt", least=0),
            None if picks is None else frozenset(str(node.value) for node in picks),
        )

    def _user(self, item: Item) -> User:
        item.number("time", least=0)
        banned = optional(item, "banned")
        rating = _rating(item) or 0.0
        return User(rating, -math.inf if banned is None else banned)

    def _member(self, item: Item) -> Member:
        blocks = optional_list(item, "blocks", "string") or []
        return Member(
            item.number("time", required=True, least=0) or 0.0,
            _cancel(item),
            item.text("user", required=True) or "",
            int(_rating(item, whole=True) or 0),
            _range(item),
            _sit(item),
            _flag(item, "provisional"),
            _flag(item, "lame"),
            frozenset(str(node.value) for node in blocks),
            int(optional(item, "misses", least=0, most=MOST, whole=True) or 0),
        )


def is_null(item: Item, key: str) -> bool:
    """Return whether a key stands for nothing."""
    return key in item.members and item.members[key].node.kind == "null"


def optional(
    item: Item,
    key: str,
    least: float = -math.inf,
    most: float = math.inf,
    whole: bool = False,
) -> float | None:
    """Return a number; None where it is missing or null."""
    return None if is_null(item, key) else item.number(key, least=least, most=most, whole=whole)


def optional_list(item: Item, key: str, kind: str) -> list[Node] | None:
    """Return the values of a list; None where it is missing or null."""
    if key not in item.members or is_null(item, key):
        return None
    return [node for _, node in item.list_of(key, kind)]


def _cancel(item: Item) -> float:
    cancel = optional(item, "cancel", least=0)
    return math.inf if cancel is None else cancel


def _rated(item: Item, required: bool) -> Rated:
    item.known(("rating", "deviation", "games") if required else ("rating", "deviation"))
    rating = _rating(item, required)
    rated = required or rating is not None
    deviation = item.number("deviation", required=rated, least=0, most=MOST)
    games = item.number("games", required=True, whole=True, least=0, most=MOST) if required else 0
    return Rated(rating, deviation, int(games or 0))


def _rating(item: Item, required: bool = True, whole: bool = False) -> float | None:
    return item.number("rating", required=required, whole=whole, least=-MOST, most=MOST)


def _flag(item: Item, key: str) -> bool:
    node = None if is_null(item, key) else item.get(key, "boolean")
    return node is not None and node.value is True


def _sit(item: Item) -> int:
    sit = optional(item, "sit", least=-MOST, most=0, whole=True)
    return int(sit or 0)


def _range(item: Item) -> tuple[int, int] | None:
    nodes = optional_list(item, "range", "number")
    if nodes is None:
        return None
    values = [cast(float, node.value) for node in nodes]
    if len(values) != 2 or values[0] > values[1] or any(one != int(one) for one in values):
        item.error("range", "the lowest and the highest rating are needed, in whole numbers")
        return None
    if max(map(abs, values)) > MOST:
        item.error("range", f"numbers from {-MOST:,} to {MOST:,} are allowed")
        return None
    return int(values[0]), int(values[1])
