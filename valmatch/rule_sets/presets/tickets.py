"""Tickets of cases of presets, and what came of them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Rated(NamedTuple):
    """A player of a party."""

    # rating, deviation: mean and standard deviation of the skill; None: unrated
    rating: float | None
    deviation: float | None
    games: int = 0  # games played


class Party(NamedTuple):
    """A ticket of FAForever or Beyond All Reason."""

    # time, cancel: when it joins, and leaves if it has no match
    time: float
    cancel: float
    players: tuple[Rated, ...]
    attempts: int = 0  # searches that it was left over in


class Soldier(NamedTuple):
    """A ticket of ShieldBattery."""

    time: float
    cancel: float
    rating: float
    deviation: float  # 0 where there is none
    region: str | None = None
    rtt: float | None = None  # milliseconds to the region
    maps: frozenset[str] | None = None  # map picks; None: any map


class User(NamedTuple):
    """A ticket of osu!."""

    rating: float
    banned: float = -math.inf  # until when it is not searched for


class Member(NamedTuple):
    """A ticket of lichess."""

    time: float
    cancel: float
    user: str
    rating: int
    range: tuple[int, int] | None = None  # lowest and highest rating that it wants to meet
    sit: int = 0  # how often it let games sit, at most 0
    # provisional, lame: whether its rating is provisional; whether its account is marked
    provisional: bool = False
    lame: bool = False
    blocks: frozenset[str] = frozenset()  # users that it does not meet
    misses: int = 0  # waves without an opponent


class Event(NamedTuple):
    """Something that happens in a queue of osu!."""

    kind: str
    time: float
    ticket: int = -1  # number of the ticket; -1 of a tick


class Formed(NamedTuple):
    """A match."""

    time: float
    teams: tuple[tuple[int, ...], ...]  # numbers of tickets, team by team
    values: dict[str, Any]  # numbers of the match by their names


class Played(NamedTuple):
    """What came of tickets."""

    matches: list[Formed]  # in the order in which they were formed
    waiting: list[int]  # tickets that still wait
    trace: dict[str, list[Any]]  # what else there is to say: pops, states, waves or a log
