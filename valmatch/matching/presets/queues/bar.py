"""The queue of Beyond All Reason: line-ups at every tick, the first that may start.

Nothing but a band that grows makes acceptable what was refused. So a line-up is looked at only with
somebody who has joined since the last review, where the rule looks at the newest first.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.presets.line_ups import (
    MARGIN,
    Limits,
    Search,
    first_line_up,
    normal,
    off_at,
)
from valmatch.matching.presets.queues.line import (
    Line,
    add_member,
    begin_match,
    by_the_clock,
    everybody_joins,
    nothing_in_mind,
)
from valmatch.matching.presets.queues.people import People
from valmatch.matching.tickets.layout import COMPLETED
from valmatch.rule_sets.presets.rules import BarRule


class Terms(NamedTuple):
    """Numbers of the rule, see `valmatch.rule_sets.presets.rules.BarRule`."""

    own: float
    low: float
    high: float
    grows: float
    newest: bool
    tick: float
    each: bool
    newcomer_mean: float
    newcomer_deviation: float


class Own(NamedTuple):
    """What the queue goes by."""

    terms: Terms
    # skill, variance: (n,); what each ticket adds to its team
    skill: Floats
    variance: Floats
    search: Search  # room for as many as may wait
    order: Ints  # (room,); tickets in the order in which they are looked at


def own_of(rule: BarRule, people: People, room: int) -> Own:
    """Return what the queue goes by."""
    n = people.sizes.size
    table = (rule.team_count, rule.team_size + 1)
    need = np.zeros(table, np.int64)
    need[0, 0] = rule.team_size
    search = Search(
        np.zeros(room, np.int64),
        np.zeros(room),
        np.zeros(room),
        np.zeros(room),
        np.zeros(room, np.int64),
        np.zeros(table, np.int64),
        np.zeros(table, np.int64),
        need,
        np.zeros(table),
        np.zeros(table),
        np.zeros(rule.team_count, np.int64),
        np.zeros((room + 1, rule.team_size + 1)),
        np.zeros((room + 1, rule.team_size + 1)),
        np.zeros(2),
        np.zeros(rule.team_count),
        np.zeros(2, np.int64),
    )
    own = rule.team_count * rule.beta * rule.beta
    terms = Terms(
        own,
        rule.low,
        rule.high,
        rule.band_grows,
        rule.newest,
        rule.tick,
        rule.each,
        rule.newcomer_mean,
        rule.newcomer_deviation,
    )
    return Own(terms, np.zeros(n), np.zeros(n), search, np.zeros(room, np.int64))


@internal
def first_review(line: Line, own: Own) -> float:
    """Return when the first review is."""
    return own.terms.tick


memory_of, joined, refuses = nothing_in_mind, by_the_clock, everybody_joins


@internal
def enter(ticket: int, people: People, own: Own) -> None:
    """Work out what a ticket adds to its team: the mean of its rated players, or a newcomer's."""
    terms, first, size = own.terms, people.firsts[ticket], people.sizes[ticket]
    rated, skill, deviation = 0, 0.0, 0.0
    for player in range(first, first + size):
        if not people.unrated[player]:
            rated += 1
            skill += people.ratings[player]
            deviation += people.deviations[player]
    if rated > 0:
        skill /= rated
        deviation /= rated
    else:
        skill, deviation = terms.newcomer_mean, terms.newcomer_deviation
    own.skill[ticket], own.variance[ticket] = skill, deviation * deviation
    if terms.each:
        own.skill[ticket] *= size
        own.variance[ticket] *= size


@njit
def review(now: float, line: Line, own: Own) -> float:
    """Form matches; return when the next review is."""
    state, terms = line.state[0], own.terms
    following = (state["reviews"] + 2) * terms.tick
    fresh = state["fresh"]
    if fresh == 0 and terms.grows == 0.0:
        return following
    count = 0
    for k in range(state["waiting"]):
        place = state["waiting"] - 1 - k if terms.newest else k
        own.order[k] = line.waiting[place]
        count += 1
    whole = own.search
    whole.calls[0] = 0
    first = terms.newest and terms.grows == 0.0 and whole.depth.size == 2
    while True:
        players, most, longest = 0, 0.0, 0
        for k in range(count):
            ticket = own.order[k]
            whole.size[k] = line.sizes[ticket]
            whole.skill[k] = own.skill[ticket]
            whole.variance[k] = own.variance[ticket]
            whole.ticks[k] = line.missed[ticket]
            players += line.sizes[ticket]
            most = max(most, own.variance[ticket])
            longest = max(longest, line.missed[ticket])
        if players < whole.depth.size * whole.need[0, 0]:
            break
        search = Search(
            whole.size[:count],
            whole.skill[:count],
            whole.variance[:count],
            whole.ticks[:count],
            whole.used[:count],
            whole.chosen,
            whole.cursor,
            whole.need,
            whole.skills,
            whole.variances,
            whole.depth,
            whole.low[: count + 1],
            whole.high[: count + 1],
            whole.window,
            whole.chances,
            whole.calls,
        )
        search.calls[1] = fresh if first else count
        if not first_line_up(search, _limits(terms, most, longest)):
            break
        begin_match(now, search.chances[0], search.chances[0], line)
        for team in range(search.depth.size):
            for k in range(search.depth[team]):
                add_member(own.order[search.chosen[team, k]], team, now, line)
        kept, new = 0, 0
        for k in range(count):
            if line.status[own.order[k]] != COMPLETED:
                new += k < fresh
                own.order[kept] = own.order[k]
                kept += 1
        count, fresh = kept, new
    state["examined"] += whole.calls[0]
    return following


@internal
def _limits(terms: Terms, most: float, longest: int) -> Limits:
    """Return what line-ups have to keep to; see `valmatch.matching.presets.line_ups.limits_of`."""
    grown = terms.grows * longest + MARGIN
    low, high = off_at(terms.low - grown), off_at(terms.high + grown)
    return Limits(
        terms.own,
        terms.low,
        terms.high,
        terms.grows,
        most,
        min(0.0, max(low, -high)),
        max(0.0, min(high, -low)),
    )


@internal
def would_do(match: int, member: int, ticket: int, now: float, line: Line, own: Own) -> bool:
    """Return whether a match could have a ticket in place of a member: if all chances allow it."""
    record, teams = line.matches[match], own.search.depth.size
    longest = 0
    for team in range(teams):
        skills, variances = 0.0, 0.0
        for k in range(record["first"], record["first"] + record["tickets"]):
            one = ticket if k == member else line.members[0, k]
            # Who is left over has missed this review by now.
            longest = max(longest, line.missed[one] - int(k == member))
            if line.members[1, k] == team:
                skills += own.skill[one]
                variances += own.variance[one]
        own.search.skills[team, 1] = skills
        own.search.variances[team, 1] = variances
    pairs = teams * (teams - 1) / 2
    grown = own.terms.grows * longest
    for i in range(teams):
        total = 0.0
        for j in range(teams):
            if j != i:
                spread = math.sqrt(
                    own.terms.own + own.search.variances[i, 1] + own.search.variances[j, 1]
                )
                total += normal((own.search.skills[i, 1] - own.search.skills[j, 1]) / spread)
        if not own.terms.low - grown <= total / pairs <= own.terms.high + grown:
            return False
    return True
