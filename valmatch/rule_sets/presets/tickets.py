"""Tickets of cases of presets, and what came of them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Rated(NamedTuple):
    """A player of a party.

    Attributes
    ----------
    rating, deviation : float or None
        Mean and standard deviation of the skill; None: unrated.
    games : int
        Games played.
    """

    rating: float | None
    deviation: float | None
    games: int = 0


class Party(NamedTuple):
    """A ticket of FAForever or Beyond All Reason.

    Attributes
    ----------
    time, cancel : float
        When it joins, and leaves if it has no match.
    players : tuple of Rated
    attempts : int
        Searches that it was left over in.
    """

    time: float
    cancel: float
    players: tuple[Rated, ...]
    attempts: int = 0


class Soldier(NamedTuple):
    """A ticket of ShieldBattery.

    Attributes
    ----------
    time, cancel : float
    rating : float
    deviation : float
        0 where there is none.
    region : str or None
    rtt : float or None
        Milliseconds to the region.
    maps : frozenset of str or None
        Map picks; None: any map.
    """

    time: float
    cancel: float
    rating: float
    deviation: float
    region: str | None = None
    rtt: float | None = None
    maps: frozenset[str] | None = None


class User(NamedTuple):
    """A ticket of osu!.

    Attributes
    ----------
    rating : float
    banned : float
        Until when it is not searched for.
    """

    rating: float
    banned: float = -math.inf


class Member(NamedTuple):
    """A ticket of lichess.

    Attributes
    ----------
    time, cancel : float
    user : str
    rating : int
    range : tuple of int, or None
        Lowest and highest rating that it wants to meet.
    sit : int
        How often it let games sit, at most 0.
    provisional, lame : bool
        Whether its rating is provisional; whether its account is marked.
    blocks : frozenset of str
        Users that it does not meet.
    misses : int
        Waves without an opponent.
    """

    time: float
    cancel: float
    user: str
    rating: int
    range: tuple[int, int] | None = None
    sit: int = 0
    provisional: bool = False
    lame: bool = False
    blocks: frozenset[str] = frozenset()
    misses: int = 0


class Event(NamedTuple):
    """Something that happens in a queue of osu!.

    Attributes
    ----------
    kind : {"join", "leave", "accept", "decline", "tick"}
    time : float
    ticket : int
        Number of the ticket; -1 of a tick.
    """

    kind: str
    time: float
    ticket: int = -1


class Formed(NamedTuple):
    """A match.

    Attributes
    ----------
    time : float
    teams : tuple of tuple of int
        Numbers of tickets, team by team.
    values : dict
        Numbers of the match by their names.
    """

    time: float
    teams: tuple[tuple[int, ...], ...]
    values: dict[str, Any]


class Played(NamedTuple):
    """What came of tickets.

    Attributes
    ----------
    matches : list of Formed
        In the order in which they were formed.
    waiting : list of int
        Tickets that still wait.
    trace : dict of str to list
        What else there is to say: pops, states, waves or a log.
    """

    matches: list[Formed]
    waiting: list[int]
    trace: dict[str, list[Any]]
