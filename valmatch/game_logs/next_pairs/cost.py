"""Estimates of how long choices of pairs take, told before they begin."""

from __future__ import annotations

from collections.abc import Callable

from valmatch.errors import InputError
from valmatch.policies.registry import JOINT
from valmatch.text.durations import in_words
from valmatch.text.notes import Note

LONG, MOST = 10.0, 7 * 86_400.0
"""Seconds beyond which something is said, and beyond which nothing is begun."""

LARGE = 1e9  # bytes beyond which something is said
BYTES = 90  # bytes of memory for each two players
FIT = 2e-9  # seconds in which players are rated anew, over the cube of their number
_LOOKED_AT = 5e-8  # seconds in which a pair is passed over

_VALUED = dict.fromkeys(JOINT, 3e-8) | {"information": 1e-6, "knowledge_gradient": 2e-6}
"""Seconds in which a pair is valued, on one core of a server; after that most are passed over."""

_ORDERED, _EXACT = 1e-7, 1.5e-8
"""The same over the number of players: for the goal order, for every pair; where no bound does."""


def seconds_of_choice(
    policy: str, goal: str | None, players: int, pairs: int, size: int, once: bool = False
) -> float:
    """Return about how many seconds it takes to choose so many of some pairs of players."""
    valued, times = _VALUED[policy], 1 if once else size
    if policy == "knowledge_gradient" and goal == "order":
        valued = times * _ORDERED * players
    elif policy == "knowledge_gradient" and once:
        valued = max(valued, _EXACT * players)
    return pairs * (valued + times * _LOOKED_AT)


def tell_cost(
    what: str,
    seconds: float,
    warn: Callable[[str], None],
    room: float = 0.0,
    further: str = "",
) -> None:
    """Say what something takes where that is much."""
    takes = f"{what}: about {in_words(seconds)}"
    if seconds > MOST:
        most = in_words(MOST)
        raise InputError(f"{takes} (allowed: {most}; take fewer, or another policy or goal)")
    if seconds > LONG or room > LARGE:
        memory = f" and {room / 1e9:.1f} GB of memory" if room > LARGE else ""
        warn(Note(f"{takes}{memory}{further}"))
