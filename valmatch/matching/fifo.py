"""First in, first out: whoever waits longest plays, whatever the ratings.

As soon as enough players for a match wait they play it. They are dealt out in turn: the first to
team a, the second to team b, and so on. It is the baseline that looks at no skill.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.compilation import at, inlined
from valmatch.matching.queue import no_waiting_teams
from valmatch.matching.rules import Rules
from valmatch.matching.waiting_line import (
    QueueState,
    grown,
    has_room,
    join,
    leave,
    new,
    no_review,
    reset,
    still_waiting,
)

__all__ = ["grown", "has_room", "join", "leave", "new", "reset", "still_waiting"]

Parameters = Rules
waiting_teams = no_waiting_teams
next_review = no_review


@inlined
def review(now: float, newcomer: int, rules: Rules, queue: QueueState) -> int:
    """Let those who wait play if they are a match; return the number of matches, 0 or 1."""
    state = queue.state[0]
    if state["waiting"] < 2 * rules.team_num:
        return 0
    state["waiting"] = 0
    state["formed"] += 2
    return 1


@inlined
def line_up(match: int, rules: Rules, queue: QueueState, lineup: NDArray[np.void]) -> None:
    """Give the players of the match, whose places have not been given to others yet."""
    for k in range(2 * rules.team_num):
        side = k % 2
        place = side * rules.team_num + k // 2
        lineup[at(place)] = queue.players[at(k)]
        lineup[at(place)]["team"] = queue.state[0]["formed"] - 2 + side
