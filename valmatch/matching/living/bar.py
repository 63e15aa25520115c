"""Beyond All Reason's queue: at every tick the first line-up whose win chances are near enough.

Nothing but a band that grows makes acceptable what was refused. So a line-up is looked at only with
somebody who has joined since the last tick, where the rule looks at the newest first. Of two teams
only the order with the earlier ticket in the first is looked at, and a second team is given up as
soon as its sum cannot come near enough to that of the first.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from valmatch.inputs.fields import Flag, Number, Positive, Whole, refuse
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import at, inlined, internal, njit
from valmatch.matching.living import registry
from valmatch.matching.living.queue import (
    Line,
    People,
    add_member,
    begin_match,
    by_the_clock,
    everybody_joins,
    no_memory,
    terms_type,
)
from valmatch.matching.living.registry import Share, TeamSize, Tick, number
from valmatch.matching.tickets.layout import COMPLETED


class Numbers(registry.Numbers):
    """The numbers of Beyond All Reason's rule."""

    source = "teiserver 14e15e4, 2026-08-08: lib/teiserver/matchmaking, openskill.ex 147f67b"
    value: ClassVar = ("", "believed win chance of the first team")
    takes_parties: ClassVar = True
    believes: ClassVar = True

    team_size: TeamSize = number(1, "players", "Players of a team.")
    team_count: Annotated[int, Field(ge=2, le=100), *Whole] = number(
        2, "teams", "Teams of a match."
    )
    newcomer_mean: Number = number(50.0 / 3.0, "points", "Skill of a ticket without rated players.")
    newcomer_deviation: Positive = number(
        25.0 / 3.0, "points", "Uncertainty of a ticket without rated players."
    )
    beta: Positive = number(25.0 / 6.0, "points", "Spread of the play of one game.")
    chance_low: Share = number(0.3, "", "Least believed win chance of every team.")
    chance_high: Share = number(0.7, "", "Greatest believed win chance of every team.")
    band_grows: Share = number(
        0.0,
        "per tick",
        "By how much both move outwards with each tick that the longest of a match waited; not in"
        " the source.",
    )
    each_player: Flag = number(
        False,
        "",
        "Whether each player of a party counts. In the source a party counts as one player.",
        "parties",
    )
    newest_first: Flag = number(True, "", "Whether tickets are looked at newest first.")
    tick: Tick = number(5.0, "seconds", "Time between two ticks.")

    @model_validator(mode="after")
    def _band(self) -> Self:
        if self.chance_low > self.chance_high:
            raise refuse(f"{self.chance_low:g} is above {self.chance_high:g}", "chance_low")
        return self

    @property
    def teams(self) -> tuple[int, int]:
        """How many teams a match has, and of how many players."""
        return self.team_count, self.team_size

    @property
    def clock(self) -> str:
        """The number that says how many seconds reviews are apart at most."""
        return "tick"

    @property
    def newcomers(self) -> tuple[float, float]:
        """Rating and deviation that newcomers are taken to have."""
        return self.newcomer_mean, self.newcomer_deviation


Terms = terms_type(Numbers, __name__)

# The error function by Abramowitz and Stegun, 7.1.26, as the source has it.
A1, A2, A3, A4, A5 = 0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429
SLOWNESS = 0.3275911
ROOT_2 = math.sqrt(2.0)

MARGIN = 1e-6  # by how much a band is wider where it only says what need not be looked at
FARTHEST = 40.0  # beyond so many deviations no win chance is told from 0 or 1

CALLS, STARTERS, COUNT = range(3)  # places of `Search.counts`
LEAST, MOST = range(2)  # places of `Search.window`


class Search(NamedTuple):
    """The state of a search."""

    order: Ints  # (room,); tickets in the order in which they are looked at
    size: Ints  # (room,); players of each of them
    skill: Floats  # (room,); what each adds to the skill of its team
    variance: Floats  # (room,); and to its variance
    ticks: Floats  # (room,); reviews that it has been through
    used: Ints  # (room,); whether it is in a team
    chosen: Ints  # (teams, players + 1); tickets of each team in order
    cursor: Ints  # (teams, players + 1); where to look for the next
    need: Ints  # (teams, players + 1); players that are missing
    skills: Floats  # (teams, players + 1); sums of the first tickets of each team
    variances: Floats  # (teams, players + 1)
    depth: Ints  # (teams,); tickets of each team
    low: Floats  # (room + 1, players + 1); least sum of tickets from one on with so many players
    high: Floats  # (room + 1, players + 1); and the greatest
    window: Floats  # (2,); between what the sum of a second team has to be beside the first
    chances: Floats  # (teams,); win chances of the line-up that was looked at last
    # (3,); line-ups looked at; of how many tickets, the first ones, one has to be the first of the
    # first team; tickets in all
    counts: Ints


class Limits(NamedTuple):
    """What a line-up has to keep to."""

    play: float  # variance of the play of one game, of all teams
    low: float  # least win chance
    high: float  # and the greatest
    grows: float  # by how much they move outwards with a tick
    most: float  # greatest variance of a ticket
    least_off: float  # deviations between which the difference of two teams has to be
    most_off: float


class Scratch(NamedTuple):
    """What the rule works with."""

    terms: Any
    skill: Floats  # (n,); what each ticket adds to its team
    variance: Floats  # (n,)
    search: Search


def scratch_of(terms: Any, people: People, room: int) -> Scratch:  # noqa: ANN401
    """Return the arrays that the rule works with."""
    n, teams, players = people.sizes.size, terms.team_count, terms.team_size
    order, size, used = np.zeros((3, room), np.int64)
    skill, variance, ticks = np.zeros((3, room))
    chosen, cursor, need = np.zeros((3, teams, players + 1), np.int64)
    skills, variances = np.zeros((2, teams, players + 1))
    low, high = np.zeros((2, room + 1, players + 1))
    search = Search(
        order,
        size,
        skill,
        variance,
        ticks,
        used,
        chosen,
        cursor,
        need,
        skills,
        variances,
        np.zeros(teams, np.int64),
        low,
        high,
        np.zeros(2),
        np.zeros(teams),
        np.zeros(3, np.int64),
    )
    return Scratch(terms, np.zeros(n), np.zeros(n), search)


memory_of, joined, refuses = no_memory, by_the_clock, everybody_joins


@internal
def first_review(line: Line, scratch: Scratch) -> float:
    """Return when the first tick is."""
    return scratch.terms.tick


@internal
def enter(ticket: int, people: People, scratch: Scratch) -> None:
    """Work out what a ticket adds to its team: the mean of its rated players, or a newcomer's."""
    terms, first, size = scratch.terms, people.firsts[ticket], people.sizes[ticket]
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
    scratch.skill[ticket], scratch.variance[ticket] = skill, deviation * deviation
    if terms.each_player:
        scratch.skill[ticket] *= size
        scratch.variance[ticket] *= size


@njit
def review(now: float, line: Line, scratch: Scratch) -> float:
    """Form matches; return when the next tick is."""
    state, terms, search = line.state[0], scratch.terms, scratch.search
    following = (state["reviews"] + 2) * terms.tick
    fresh, count = state["fresh"], state["waiting"]
    if fresh == 0 and terms.band_grows == 0.0:
        return following
    for k in range(count):
        search.order[k] = line.waiting[count - 1 - k if terms.newest_first else k]
    search.counts[CALLS] = 0
    with_fresh = terms.newest_first and terms.band_grows == 0.0 and terms.team_count == 2
    while True:
        players, most, longest = _take_over(count, line, scratch)
        if players < terms.team_count * terms.team_size:
            break
        search.counts[STARTERS] = fresh if with_fresh else count
        if not first_line_up(search, _limits(terms, most, longest), terms.team_size):
            break
        begin_match(now, search.chances[0], search.chances[0], line)
        for team in range(terms.team_count):
            for k in range(search.depth[team]):
                add_member(search.order[search.chosen[team, k]], team, now, line)
        left, new = 0, 0
        for k in range(count):
            if line.status[search.order[k]] != COMPLETED:
                new += k < fresh
                search.order[left] = search.order[k]
                left += 1
        count, fresh = left, new
    state["examined"] += search.counts[CALLS]
    return following


@internal
def _take_over(count: int, line: Line, scratch: Scratch) -> tuple[int, float, int]:
    """Let a search know its tickets; return their players, greatest variance, longest wait."""
    search, players, most, longest = scratch.search, 0, 0.0, 0
    search.counts[COUNT] = count
    for k in range(count):
        ticket = search.order[k]
        search.size[k] = line.sizes[ticket]
        search.skill[k] = scratch.skill[ticket]
        search.variance[k] = scratch.variance[ticket]
        search.ticks[k] = line.missed[ticket]
        players += line.sizes[ticket]
        most = max(most, scratch.variance[ticket])
        longest = max(longest, line.missed[ticket])
    return players, most, longest


@internal
def _limits(terms: Any, most: float, longest: int) -> Limits:  # noqa: ANN401
    """Return what line-ups have to keep to."""
    grown = terms.band_grows * longest + MARGIN
    low, high = _off_at(terms.chance_low - grown), _off_at(terms.chance_high + grown)
    return Limits(
        terms.team_count * terms.beta * terms.beta,
        terms.chance_low,
        terms.chance_high,
        terms.band_grows,
        most,
        min(0.0, max(low, -high)),
        max(0.0, min(high, -low)),
    )


@internal
def _off_at(chance: float) -> float:
    """Return how many deviations off a win chance is reached."""
    low, high = -FARTHEST, FARTHEST
    if chance <= 0.0:
        return low
    if chance >= 1.0:
        return high
    for _ in range(60):
        middle = 0.5 * (low + high)
        if normal(middle) < chance:
            low = middle
        else:
            high = middle
    return high


@internal
def normal(value: float) -> float:
    """Return the normal distribution function by Abramowitz and Stegun, 7.1.26."""
    x = abs(value) / ROOT_2
    t = 1.0 / (1.0 + SLOWNESS * x)
    error = 1.0 - ((((A5 * t + A4) * t + A3) * t + A2) * t + A1) * t * math.exp(-x * x)
    return 0.5 * (1.0 + (error if value >= 0 else -error))


@internal
def would_do(
    match: int, member: int, ticket: int, now: float, line: Line, scratch: Scratch
) -> bool:
    """Return whether a match could have a ticket in place of a member: if all chances allow it."""
    matched, search, terms = line.matches[match], scratch.search, scratch.terms
    longest = 0
    for team in range(terms.team_count):
        skills, variances = 0.0, 0.0
        for k in range(matched["first"], matched["first"] + matched["tickets"]):
            other = ticket if k == member else line.members[0, k]
            # Who is left over has missed this review by now.
            longest = max(longest, line.missed[other] - int(k == member))
            if line.members[1, k] == team:
                skills += scratch.skill[other]
                variances += scratch.variance[other]
        search.skills[team, 1], search.variances[team, 1] = skills, variances
        search.depth[team] = 1
    grown = terms.band_grows * longest
    play = terms.team_count * terms.beta * terms.beta
    return within_band(search, play, terms.chance_low - grown, terms.chance_high + grown)


@internal
def within_band(search: Search, play: float, low: float, high: float) -> bool:
    """Return whether the win chance of every team is within the band; write these chances."""
    teams = search.depth.size
    pairs = teams * (teams - 1) / 2
    within = True
    for i in range(teams):
        total = 0.0
        for j in range(teams):
            if j != i:
                one, other = search.depth[i], search.depth[j]
                spread = math.sqrt(play + search.variances[i, one] + search.variances[j, other])
                total += normal((search.skills[i, one] - search.skills[j, other]) / spread)
        search.chances[i] = total / pairs
        within &= low <= search.chances[i] <= high
    return within


# ---------------------------------------------------------------- the search


@njit
def first_line_up(search: Search, limits: Limits, players: int) -> bool:
    """Look for the first line-up that may start; its tickets are then in `search.chosen`."""
    teams, count = search.depth.size, search.counts[COUNT]
    for k in range(count):
        search.used[k] = 0
    team = 0
    _begin(search, 0, 0, players)
    while team >= 0:
        depth = search.depth[at(team)]
        if search.need[at(team), at(depth)] == 0:
            if team < teams - 1:
                team += 1
                _begin(search, team, search.chosen[0, 0] + 1 if teams == 2 else 0, players)
                if teams == 2:
                    _bound(search, limits, players)
            elif _may_start(search, limits):
                return True
            else:
                _give_back(search, team)
            continue
        place = search.cursor[at(team), at(depth)]
        last = search.counts[STARTERS] if team == 0 and depth == 0 else count
        while place < last and not _fits(search, team, place):
            place = place + 1 if _reaches(search, team, place + 1) else count
        if place < last:
            _take(search, team, place)
        elif depth > 0:
            _give_back(search, team)
        else:
            team -= 1
            if team >= 0:
                _give_back(search, team)
    return False


@internal
def _begin(search: Search, team: int, first: int, players: int) -> None:
    search.depth[team] = 0
    search.need[team, 0] = players
    search.cursor[team, 0] = first
    search.skills[team, 0] = 0.0
    search.variances[team, 0] = 0.0


@inlined
def _take(search: Search, team: int, place: int) -> None:
    """Put a ticket into a team."""
    row, depth, ticket = at(team), search.depth[at(team)], at(place)
    here, following = at(depth), at(depth + 1)
    search.chosen[row, here] = place
    search.used[ticket] = 1
    search.cursor[row, here] = place + 1
    search.depth[row] = depth + 1
    search.cursor[row, following] = place + 1
    search.need[row, following] = search.need[row, here] - search.size[ticket]
    search.skills[row, following] = search.skills[row, here] + search.skill[ticket]
    search.variances[row, following] = search.variances[row, here] + search.variance[ticket]


@inlined
def _give_back(search: Search, team: int) -> None:
    """Take the last ticket out of a team."""
    depth = search.depth[at(team)] - 1
    search.depth[at(team)] = depth
    search.used[at(search.chosen[at(team), at(depth)])] = 0


@internal
def _bound(search: Search, limits: Limits, players: int) -> None:
    """Say between what the sums of tickets are that are not in the first team, and have to be."""
    count, first = search.counts[COUNT], search.depth[0]
    skill = search.skills[0, first]
    spread = math.sqrt(limits.play + search.variances[0, first] + players * limits.most)
    slack = MARGIN * (1.0 + abs(skill))
    search.window[LEAST] = skill - limits.most_off * spread - slack
    search.window[MOST] = skill - limits.least_off * spread + slack
    for left in range(players + 1):
        search.low[count, left] = 0.0 if left == 0 else np.inf
        search.high[count, left] = 0.0 if left == 0 else -np.inf
    for place in range(count - 1, search.chosen[0, 0], -1):
        size = search.size[at(place)] if search.used[at(place)] == 0 else players + 1
        skill = search.skill[at(place)]
        for left in range(players + 1):
            low, high = search.low[at(place + 1), at(left)], search.high[at(place + 1), at(left)]
            if size <= left:
                rest = left - size
                low = min(low, search.low[at(place + 1), at(rest)] + skill)
                high = max(high, search.high[at(place + 1), at(rest)] + skill)
            search.low[at(place), at(left)] = low
            search.high[at(place), at(left)] = high


@inlined
def _fits(search: Search, team: int, place: int) -> bool:
    """Return whether a ticket has room in a team that may yet start."""
    depth = search.depth[team]
    left = search.need[at(team), at(depth)] - search.size[at(place)]
    if search.used[at(place)] != 0 or left < 0:
        return False
    if search.depth.size != 2 or team == 0:
        return True
    total = search.skills[at(1), at(depth)] + search.skill[at(place)]
    return _may_reach(search, total, left, place + 1)


@inlined
def _reaches(search: Search, team: int, place: int) -> bool:
    """Return whether a team may yet start with tickets from one on."""
    if search.depth.size != 2 or team == 0:
        return True
    depth = search.depth[1]
    total, left = search.skills[at(1), at(depth)], search.need[at(1), at(depth)]
    return _may_reach(search, total, left, place)


@inlined
def _may_reach(search: Search, total: float, left: int, place: int) -> bool:
    """Return whether a sum can come into the window with so many players from a ticket on."""
    return (
        total + search.high[at(place), at(left)] >= search.window[LEAST]
        and total + search.low[at(place), at(left)] <= search.window[MOST]
    )


@internal
def _may_start(search: Search, limits: Limits) -> bool:
    """Return whether the line-up at hand may start."""
    search.counts[CALLS] += 1
    longest = 0.0
    for team in range(search.depth.size):
        for k in range(search.depth[team]):
            longest = max(longest, search.ticks[search.chosen[team, k]])
    grown = limits.grows * longest
    return within_band(search, limits.play, limits.low - grown, limits.high + grown)
