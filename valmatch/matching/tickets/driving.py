"""The driver of worlds of tickets: what happens when.

At one moment proposals end, then tickets are cancelled, then those time out that are too old, then
others join; then there is one review. A proposal of it that is refused after 0 s ends at the same
moment, which then goes on anew: with another review if that is due whenever a ticket returns.
"""

from __future__ import annotations

import numpy as np

from valmatch.kernels.compilation import kernel, part
from valmatch.kernels.references import by_reference
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.layout import Queue, World
from valmatch.matching.tickets.search import review


@kernel(allocates=True)
def play(until: float, world: World, queue: Queue) -> bool:
    """Let tickets come and go up to a review at a moment or later, or after a match was made."""
    # Return whether there is more to come by the horizon. Up to infinity all of it is played.
    return _play(until, by_reference(world), by_reference(queue))


@part
def _play(until: float, world: World, queue: Queue) -> bool:
    """Let tickets come and go, see `play`."""
    state, options, tickets = queue.state[0], world.options[0], world.rows.tickets
    completed, every = state["completed"], options["review"]
    while (
        until < np.inf
        or state["joined"] < tickets.size
        or state["waiting"] > 0
        or state["proposals"] > 0
    ):
        now = _next_review(world, queue)
        if state["joined"] < tickets.size:
            now = min(now, tickets[state["joined"]]["time"])
        for k in range(state["proposals"]):
            now = min(now, queue.matches[queue.lists[t.PENDING, k]]["time"])
        if state["waiting"]:
            now = min(now, state["next_end"])
        if now > options["horizon"] or state["too_many"] > 0:
            break
        state["now"] = now
        changed = _end_proposals(now, world, queue)
        _let_leave(now, world, queue)
        changed = _let_join(now, world, queue) or changed
        if _next_review(world, queue) > now and (every > 0.0 or not changed):
            continue
        if state["counting"] == 0 and now >= options["counted_from"]:
            state["counting"] = 1  # verdicts of before do not count
            for rule in range(queue.candidate.judged.size):
                judged = queue.candidate.judged[rule]
                judged["held"], judged["refused"] = 0, 0
        if every == 0.0:
            queue.reviews[state["reviews"]] = now
        state["tick"] += 1
        before = state["proposals"]
        review(now, world, queue)
        _settle(before, now, world, queue)
        if until < np.inf and (state["completed"] > completed or now >= until):
            return True
    for ticket in range(state["joined"]):
        if queue.slots[ticket]["status"] < t.COMPLETED:
            _end(ticket, t.SEARCHING, options["horizon"], queue)
    return False


@part
def _next_review(world: World, queue: Queue) -> float:
    """Return when there is a review if nobody comes: by the clock, or as a ticket passes a wait."""
    state, every, moment = queue.state[0], world.options[0]["review"], np.inf
    if every > 0.0:
        return state["tick"] * every
    for k in range(state["waiting"]):
        ticket = queue.lists[t.LINE, k]
        age = queue.slots[ticket]["age"]  # at the last review
        if age < world.waits.size:
            moment = min(moment, world.rows.tickets[ticket]["time"] + world.waits[age])
    return moment


@part(inline=True)
def _end(ticket: int, status: int, now: float, queue: Queue) -> None:
    """Note how and when a ticket has ended."""
    queue.slots[ticket]["status"], queue.slots[ticket]["end"] = status, now
    queue.lists[t.ENDED, queue.state[0]["ended"]] = ticket
    queue.state[0]["ended"] += 1


@part
def _let_leave(now: float, world: World, queue: Queue) -> None:
    """Let those leave who are cancelled, then those who are too old."""
    state, timeout = queue.state[0], world.options[0]["timeout"]
    if now < state["next_end"]:
        return
    for status in (t.CANCELLED, t.TIMED_OUT):
        waiting, state["next_end"] = 0, np.inf
        for k in range(state["waiting"]):
            ticket = queue.lists[t.LINE, k]
            record = world.rows.tickets[ticket]
            cancelled, late = record["cancel"], record["time"] + timeout
            if (cancelled if status == t.CANCELLED else late) <= now:
                _end(ticket, status, now, queue)
            else:
                queue.lists[t.LINE, waiting] = ticket
                waiting += 1
                state["next_end"] = min(state["next_end"], cancelled, late)
        state["waiting"] = waiting


@part
def _let_join(now: float, world: World, queue: Queue) -> bool:
    """Let those join whose time has come; return whether anybody has."""
    state, tickets = queue.state[0], world.rows.tickets
    first = state["joined"]
    while state["joined"] < tickets.size and tickets[state["joined"]]["time"] <= now:
        ticket = state["joined"]
        state["joined"] += 1
        if tickets[ticket]["cancel"] <= now:
            _end(ticket, t.CANCELLED, now, queue)
        else:
            _line_up(ticket, world, queue)
    return state["joined"] > first


@part(inline=True)
def _line_up(ticket: int, world: World, queue: Queue) -> None:
    """Let a ticket wait, in its place by age."""
    state = queue.state[0]
    index = state["waiting"]
    while index > 0 and queue.lists[t.LINE, index - 1] > ticket:
        queue.lists[t.LINE, index] = queue.lists[t.LINE, index - 1]
        index -= 1
    queue.lists[t.LINE, index] = ticket
    queue.slots[ticket]["status"], queue.slots[ticket]["news"] = t.WAITING, t.NEW
    state["waiting"] += 1
    record = world.rows.tickets[ticket]
    late = record["time"] + world.options[0]["timeout"]
    state["next_end"] = min(state["next_end"], record["cancel"], late)


@part(inline=True)
def _seconds_of(ticket: int, world: World, queue: Queue) -> float:
    """Return after how many seconds a ticket answers its latest proposal."""
    # NaN for never, a negative number below -1 for a refusal: -1 less its seconds. Who has no
    # answer to it accepts at once, as those do who play already.
    record, number = world.rows.tickets[ticket], queue.slots[ticket]["proposals"] - 1
    if record["running"] or number >= record["answers"]:
        return 0.0
    index = record["first_answer"] + number
    seconds = world.answers[index]["seconds"]
    if not seconds <= world.options[0]["acceptance"]:
        return np.nan
    return seconds if world.answers[index]["accepts"] else -1.0 - seconds


@part
def _settle(before: int, now: float, world: World, queue: Queue) -> None:
    """Make the matches that a review has found, or set when they are decided."""
    state, limit = queue.state[0], world.options[0]["acceptance"]
    kept = before
    for k in range(before, state["proposals"]):
        number = queue.lists[t.PENDING, k]
        match = queue.matches[number]
        longest, refused, silent = 0.0, np.inf, False
        for i in range(match["tickets"]):
            ticket = queue.matched[0, match["first"] + i]
            queue.slots[ticket]["proposals"] += 1
            if limit > 0.0:
                seconds = _seconds_of(ticket, world, queue)
                silent = silent or np.isnan(seconds)
                if seconds >= 0.0:
                    longest = max(longest, seconds)
                elif seconds < 0.0:
                    refused = min(refused, -1.0 - seconds)
        match["accepted"] = int(refused == np.inf and not silent)
        wait = longest if match["accepted"] else min(refused, limit)
        match["time"] = now + wait
        if match["accepted"] and wait == 0.0:
            _complete(number, now, queue)
        else:
            queue.lists[t.PENDING, kept] = number
            kept += 1
    state["proposals"] = kept


@part
def _complete(number: int, now: float, queue: Queue) -> None:
    """Note that a match is made."""
    match, state = queue.matches[number], queue.state[0]
    queue.lists[t.MADE, state["completed"]] = number
    state["completed"] += 1
    match["time"] = now
    # By age.
    last = -1
    for _ in range(match["tickets"]):
        chosen = _next_of(number, last, queue)
        _end(chosen, t.COMPLETED, now, queue)
        last = chosen


@part(inline=True)
def _next_of(number: int, last: int, queue: Queue) -> int:
    """Return the oldest ticket of a match that is younger than another one."""
    match, chosen = queue.matches[number], -1
    for i in range(match["tickets"]):
        ticket = queue.matched[0, match["first"] + i]
        if ticket > last and (chosen < 0 or ticket < chosen):
            chosen = ticket
    return chosen


@part
def _end_proposals(now: float, world: World, queue: Queue) -> bool:
    """End proposals: who had accepted one that failed waits again; return whether anybody does."""
    state, returned, kept = queue.state[0], False, 0
    for k in range(state["proposals"]):
        number = queue.lists[t.PENDING, k]
        match = queue.matches[number]
        if match["time"] > now:
            queue.lists[t.PENDING, kept] = number
            kept += 1
            continue
        if match["accepted"]:
            _complete(number, now, queue)
            continue
        last = -1
        for _ in range(match["tickets"]):
            last = _next_of(number, last, queue)
            seconds = _seconds_of(last, world, queue)
            if seconds >= 0.0 and match["proposed"] + seconds <= now:
                _line_up(last, world, queue)
                returned = True
            else:
                _end(last, t.CANCELLED, now, queue)
    state["proposals"] = kept
    return returned
