"""EvoLadderBot's queue: waves in which players of one race meet those of the other, nearest first.

Who plays both is put where fewer are. Pairs are taken by their squared gap, less a bonus for waves
waited, with which the allowed gap grows, too. Neighbouring pairs may swap opponents.
"""

from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import model_validator

from valmatch.draws.streams import uniform_at
from valmatch.inputs.fields import Flag, NonNegative, Share, real, refuse, whole
from valmatch.kernels.arrays import Ints
from valmatch.kernels.compilation import kernel, part
from valmatch.matching.living import registry
from valmatch.matching.living.queue import (
    SOURCE,
    MatchmakerState,
    Values,
    add_member,
    begin_match,
    other_member,
    rule,
)
from valmatch.matching.living.registry import Tick, number

FIRST, SECOND, BOTH = 0, 1, 2
"""Races that a player plays."""


class Numbers(registry.Numbers):
    """The numbers of EvoLadderBot's rule."""

    title = "EvoLadderBot"
    source = "59a94af: matchmaking_service.py; EvoLadderBotBeta be3807d: config.py (numbers)"
    value: ClassVar = ("points", "difference of the two ratings")
    clock: ClassVar = "tick"

    reach: NonNegative = number(100.0, "points", "Largest gap of a player who has not waited.")
    reach_grows: NonNegative = number(50.0, "points", "By how much it grows with each wave.")
    either_reach: Flag = number(
        True, "", "Whether either player's gap is allowed, or that of the race of fewer alone."
    )
    wait_bonus: NonNegative = number(
        20.0, "points^2", "Taken off the squared gap for a first wave that a player has waited."
    )
    wait_power: Annotated[float, *real(0, 10)] = number(
        1.25, "", "Power of the waves in the bonus; 1 in the code that runs, 1.25 on its pages."
    )
    swap_passes: Annotated[int, *whole(0, 100)] = number(
        2, "passes", "How often neighbouring pairs are looked at for a swap."
    )
    first_only: Share = number(0.4, "", "Share of players of the first race alone.")
    second_only: Share = number(0.3, "", "Share of players of the second race alone.")
    tick: Tick = number(45.0, "seconds", "Time between two waves.")

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if self.first_only + self.second_only > 1.0:
            raise refuse(f"{self.second_only:g} and first_only sum to over 1", "second_only")
        return self


@part
def race_of(ticket: int, state: MatchmakerState, numbers: Values) -> int:
    """Return the races of a player, the same whenever they come."""
    drawn = uniform_at(state.rng_key, SOURCE, state.users[ticket], 0)
    if drawn < numbers.first_only:
        return FIRST
    return SECOND if drawn < numbers.first_only + numbers.second_only else BOTH


@part
def gap_of(first: int, second: int, state: MatchmakerState, numbers: Values) -> float:
    """Return how far a leader and another are apart; NaN: too far."""
    parties = state.parties
    gap = abs(parties.ratings[parties.firsts[first]] - parties.ratings[parties.firsts[second]])
    waves = state.missed[first] + 1  # a wave counts as waited as it begins
    if numbers.either_reach:
        waves = max(waves, state.missed[second] + 1)
    return gap if gap <= numbers.reach + numbers.reach_grows * waves else np.nan


@kernel(allocates=True)
def pairs(leads: Ints, others: Ints, state: MatchmakerState, numbers: Values) -> Ints:
    """Return pairs of tickets, the best first; neighbours may have swapped opponents."""
    gaps = np.empty(leads.size * others.size)
    scores = np.empty(gaps.size)
    for k in range(gaps.size):
        lead, other = leads[k // others.size], others[k % others.size]
        gaps[k] = gap_of(lead, other, state, numbers)
        waves = (state.missed[lead] + 1.0) ** numbers.wait_power
        waves += (state.missed[other] + 1.0) ** numbers.wait_power
        scores[k] = gaps[k] * gaps[k] - numbers.wait_bonus * waves
    taken = np.zeros((2, max(leads.size, others.size)), np.bool_)
    chosen, count = np.empty((leads.size, 2), np.int64), 0
    for k in np.argsort(scores, kind="mergesort"):
        lead, other = k // others.size, k % others.size
        if not (np.isnan(gaps[k]) or taken[0, lead] or taken[1, other]):
            taken[0, lead] = taken[1, other] = True
            chosen[count, 0], chosen[count, 1] = leads[lead], others[other]
            count += 1
    for _ in range(numbers.swap_passes):
        for k in range(count - 1):
            (first, a), (second, b) = chosen[k], chosen[k + 1]
            here, there = gap_of(first, a, state, numbers), gap_of(second, b, state, numbers)
            new, crossed = gap_of(first, b, state, numbers), gap_of(second, a, state, numbers)
            if new * new + crossed * crossed < here * here + there * there:
                chosen[k, 1], chosen[k + 1, 1] = b, a
    return chosen[:count]


@kernel(allocates=True)
def review(now: float, state: MatchmakerState, numbers: Values) -> float:
    """Pair who is near enough; return when the next wave is."""
    counters = state.counters[0]
    waiting = state.waiting[: counters["waiting"]]
    plays = np.empty(waiting.size, np.int64)
    for k in range(waiting.size):
        plays[k] = race_of(waiting[k], state, numbers)
    more, free = np.sum(plays == FIRST) - np.sum(plays == SECOND), np.flatnonzero(plays == BOTH)
    # Who plays both makes races as even as may be: the oldest play the second one.
    second = min(max((free.size + more + 1) // 2, 0), free.size)
    plays[free[:second]], plays[free[second:]] = SECOND, FIRST
    lead = FIRST if np.sum(plays == FIRST) <= np.sum(plays == SECOND) else SECOND
    leads, others = waiting[plays == lead], waiting[plays != lead]
    counters["examined"] += leads.size * others.size
    for leader, other in pairs(leads, others, state, numbers):
        begin_match(now, gap_of(leader, other, state, numbers), np.nan, state)
        add_member(leader, lead, now, state)
        add_member(other, 1 - lead, now, state)
    return (counters["reviews"] + 2) * numbers.tick


@part
def could_replace(
    match: int, member: int, ticket: int, now: float, state: MatchmakerState, numbers: Values
) -> bool:
    """Return whether a pair could have a ticket of the race of a member in place of it."""
    other, race = other_member(match, member, state), race_of(ticket, state, numbers)
    leads = member == state.matches[match]["first"]
    gap = gap_of(ticket if leads else other, other if leads else ticket, state, numbers)
    return (race == BOTH or race == state.members[1, member]) and not np.isnan(gap)


evoladder = rule("evoladder", Numbers, review, could_replace)
