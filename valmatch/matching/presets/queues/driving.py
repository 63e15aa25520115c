"""The loop of the queues of presets: who comes, who leaves, and when the rule looks.

The rule is a module of this folder, for which the loop is compiled, with

- `first_review(line, own)`: when it looks first;
- `enter(ticket, people, own)`: works out what it goes by of a ticket that joins;
- `joined(ticket, now, line, own)`: notes that a ticket has joined; whether it looks at once;
- `refuses(ticket, line, own)`: whether it does not let a ticket join;
- `review(now, line, own)`: forms matches; returns when it looks next;
- `would_do(match, member, ticket, now, line, own)`: whether a ticket could be in a member's place;
- `own_of(rule, people, room)`, plain Python: room for what it goes by, for so many who wait;
- `memory_of(rule)`, plain Python: what it remembers at first.

At one moment tickets join, then others leave, then there is a review.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import njit
from valmatch.matching.presets.queues.line import (
    Line,
    drop_matched,
    let_leave,
    line_up,
    turn_away,
)
from valmatch.matching.presets.queues.people import People
from valmatch.matching.queue import driver
from valmatch.matching.tickets.layout import SEARCHING


class PresetQueue(Protocol):
    """What a module of a preset has, see above."""

    def own_of(self, rule: Any, people: People, room: int) -> Any:  # noqa: ANN401
        """Return room for what the rule goes by, where so many may wait."""

    def memory_of(self, rule: Any) -> Floats:  # noqa: ANN401
        """Return what the rule remembers at first."""

    def first_review(self, line: Line, own: Any) -> float:  # noqa: ANN401
        """Return when the first review is."""

    def enter(self, ticket: int, people: People, own: Any) -> None:  # noqa: ANN401
        """Work out what the rule goes by of a ticket."""

    def joined(self, ticket: int, now: float, line: Line, own: Any) -> bool:  # noqa: ANN401
        """Take note of a ticket that has joined; return whether there is a review at once."""

    def refuses(self, ticket: int, line: Line, own: Any) -> bool:  # noqa: ANN401
        """Return whether a ticket may not join."""

    def review(self, now: float, line: Line, own: Any) -> float:  # noqa: ANN401
        """Form matches; return when the next review is."""

    def would_do(
        self,
        match: int,
        member: int,
        ticket: int,
        now: float,
        line: Line,
        own: Any,  # noqa: ANN401
    ) -> bool:
        """Return whether a match could have a ticket in place of its `member`."""


RULE = cast(PresetQueue, None)
"""The rule; it is put in place when the loop is compiled, see `valmatch.matching.queue`."""


@driver(njit)
def play(line: Line, people: People, own: Any, room: int) -> bool:  # noqa: ANN401
    """Let tickets come and go until the horizon."""
    state = line.state[0]
    if np.isnan(state["due"]):
        state["due"] = RULE.first_review(line, own)
    for k in range(state["waiting"]):
        RULE.enter(line.waiting[k], people, own)
    while state["halt"] == 0:
        now = np.inf
        if state["joined"] < line.times.size:
            now = line.times[state["joined"]]
        if min(now, state["due"]) > state["horizon"]:
            break
        if now <= state["due"]:
            let_leave(now, False, line)
            if state["waiting"] >= room:
                return False
            ticket = state["joined"]
            state["joined"] += 1
            if line.present[line.users[ticket]] != 0 or RULE.refuses(ticket, line, own):
                turn_away(ticket, now, line)
                continue
            line_up(ticket, line)
            RULE.enter(ticket, people, own)
            if not RULE.joined(ticket, now, line, own):
                continue
        else:
            now = state["due"]
        let_leave(now, True, line)
        first = state["matches"]
        state["due"] = RULE.review(now, line, own)
        drop_matched(line)
        for number in range(first, state["matches"]):
            match = line.matches[number]
            for member in range(match["first"], match["first"] + match["tickets"]):
                for k in range(state["waiting"]):
                    ticket = line.waiting[k]
                    # In order of joining: the others are younger than the member.
                    if match["skipped"] != 0 or ticket > line.members[0, member]:
                        break
                    if line.sizes[ticket] == line.sizes[line.members[0, member]]:
                        match["skipped"] = int(
                            RULE.would_do(number, member, ticket, now, line, own)
                        )
        state["reviews"] += 1
    let_leave(state["horizon"], True, line)
    for k in range(state["waiting"]):
        line.status[line.waiting[k]] = SEARCHING
        line.ends[line.waiting[k]] = state["horizon"]
    return True
