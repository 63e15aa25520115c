"""Worlds: tickets in order of time, and how the service that matches them ticks."""

from __future__ import annotations

from typing import Literal, NamedTuple

Search = Literal["pass", "exhaustive"]

SEARCHES: tuple[Search, ...] = ("pass", "exhaustive")

LatencyOf = Literal["ticket", "player"]

LATENCIES: tuple[LatencyOf, ...] = ("ticket", "player")
"""Whose latency a rule looks at: of a ticket one number, or that of every player."""

RULE_SET = "ruleSet"
"""The key by which a world has its rule set, and is known as one."""

FEW = 9
"""Tickets that an exhaustive search is meant for."""

MOST_REVIEWS = 10_000_000
"""Most reviews of a replay."""


class Player(NamedTuple):
    """A player of a ticket.

    Attributes
    ----------
    id : str
    attributes : dict
        Values by name, checked against the table: a float, str, tuple of str or dict of floats.
    latency : dict of str to float
        Milliseconds by region.
    team : str
        Of a game that runs, the team; else "".
    """

    id: str
    attributes: dict[str, object]
    latency: dict[str, float]
    team: str = ""


class Ticket(NamedTuple):
    """One player or a party that asks for a match, or a game that asks for more players.

    Attributes
    ----------
    id : str
    time : float
        Seconds.
    players : tuple of Player
    cancel : float or None
        When it is cancelled unless it has a match.
    running : bool
        Whether it is of a game that runs.
    answers : tuple
        To each proposal seconds and whether it accepts; None for no answer. To further ones it
        accepts at once.
    """

    id: str
    time: float
    players: tuple[Player, ...]
    cancel: float | None = None
    running: bool = False
    answers: tuple[tuple[float, bool] | None, ...] = ()


class Service(NamedTuple):
    """How the service ticks.

    Attributes
    ----------
    timeout : float
        Seconds after which a ticket leaves.
    horizon : float
        When nothing happens any more.
    review : float or None
        Seconds between reviews; None: whenever something changes.
    batch_size : int or None
        Tickets of a batch; None: one batch.
    passes : int or None
        Most passes of a review; None: until one forms nothing.
    acceptance : float or None
        Seconds in which a match has to be accepted; None: matches are not proposed.
    seed, replication : int
        The address of the random order of pools that are cut.
    """

    timeout: float
    horizon: float
    review: float | None = None
    batch_size: int | None = None
    passes: int | None = None
    acceptance: float | None = None
    seed: int = 0
    replication: int = 0

    @property
    def reviews_too_often(self) -> bool:
        """Whether there would be more reviews until the horizon than a replay may have."""
        return self.review is not None and not self.review > self.horizon / MOST_REVIEWS
