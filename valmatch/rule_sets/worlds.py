"""Worlds: tickets in order of time, and how the service that matches them ticks."""

from __future__ import annotations

from typing import Literal, NamedTuple

Search = Literal["pass", "exhaustive"]

SEARCHES: tuple[Search, ...] = ("pass", "exhaustive")

LatencyOf = Literal["ticket", "player"]

LATENCIES: tuple[LatencyOf, ...] = ("ticket", "player")
"""Whose latency a rule looks at: of a ticket one number, or that of every player."""

RULE_SET = "ruleSet"  # the key by which a world has its rule set, and is known as one
FEW = 9  # tickets that an exhaustive search is meant for
MOST_REVIEWS = 10_000_000  # most reviews of a replay


class Player(NamedTuple):
    """A player of a ticket."""

    id: str
    # values by name, checked against the table: a float, str, tuple of str or dict of floats
    attributes: dict[str, object]
    latency: dict[str, float]  # milliseconds by region
    team: str = ""  # of a game that runs, the team; else ""


class Ticket(NamedTuple):
    """One player or a party that asks for a match, or a game that asks for more players."""

    id: str
    time: float  # seconds
    players: tuple[Player, ...]
    cancel: float | None = None  # when it is cancelled unless it has a match
    running: bool = False  # whether it is of a game that runs
    # to each proposal seconds and whether it accepts; None for no answer. To further ones it
    # accepts at once
    answers: tuple[tuple[float, bool] | None, ...] = ()


class Service(NamedTuple):
    """How the service ticks."""

    timeout: float  # seconds after which a ticket leaves
    horizon: float  # when nothing happens any more
    review: float | None = None  # seconds between reviews; None: whenever something changes
    batch_size: int | None = None  # tickets of a batch; None: one batch
    passes: int | None = None  # most passes of a review; None: until one forms nothing
    # seconds in which a match has to be accepted; None: matches are not proposed
    acceptance: float | None = None
    # seed, replication: the address of the random order of pools that are cut
    seed: int = 0
    replication: int = 0

    @property
    def reviews_too_often(self) -> bool:
        """Whether there would be more reviews until the horizon than a replay may have."""
        return self.review is not None and not self.review > self.horizon / MOST_REVIEWS
