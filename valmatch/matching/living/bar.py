"""Beyond All Reason's queue: at every tick the first line-up whose win chances are near enough."""

import math
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from pydantic import model_validator

from valmatch.inputs.fields import Flag, Number, Positive, Share, refuse, whole
from valmatch.kernels.arrays import Bools, Floats, Ints, Records
from valmatch.kernels.compilation import kernel, macro, part
from valmatch.matching.living import registry
from valmatch.matching.living.queue import MatchmakerState, Values, add_member, begin_match, rule
from valmatch.matching.living.registry import TeamSize, Tick, number
from valmatch.matching.tickets.layout import COMPLETED


class Numbers(registry.Numbers):
    """The numbers of Beyond All Reason's rule."""

    title = "Beyond All Reason"
    source = "teiserver 14e15e4, 2026-08-08: lib/teiserver/matchmaking, openskill.ex 147f67b"
    value: ClassVar = ("", "believed win chance of the first team")
    clock: ClassVar = "tick"
    takes_parties: ClassVar = True
    believes: ClassVar = True
    later: ClassVar = ("alike_ticks",)

    team_size: TeamSize = number(1, "players", "Players of a team.")
    team_count: Annotated[int, *whole(2, 100)] = number(2, "teams", "Teams of a match.")
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
    alike_ticks: Annotated[int, *whole(0, 10**6)] = number(
        0,
        "ticks",
        "For how long the longest of a match waits until its teams may differ in number of tickets;"
        " not in the source.",
        "parties",
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
    def newcomers(self) -> tuple[float, float]:
        """Rating and deviation that newcomers are taken to have."""
        return self.newcomer_mean, self.newcomer_deviation


TICKET = np.dtype(
    [
        ("ticket", "i8"),
        ("size", "i8"),  # players
        ("skill", "f8"),  # what it adds to the skill of its team
        ("variance", "f8"),  # and to its variance
        ("missed", "i8"),  # reviews that it has been through
    ]
)


@part
def assess(ticket: int, entry: Any, state: MatchmakerState, numbers: Values) -> None:  # noqa: ANN401
    """Note what a ticket adds to its team: the mean of its rated players, or a newcomer's."""
    parties = state.parties
    first, size = parties.firsts[ticket], parties.sizes[ticket]
    rated, skill, deviation = 0, 0.0, 0.0
    for player in range(first, first + size):
        if not parties.unrated[player]:
            rated += 1
            skill += parties.ratings[player]
            deviation += parties.deviations[player]
    if rated > 0:
        skill /= rated
        deviation /= rated
    else:
        skill, deviation = numbers.newcomer_mean, numbers.newcomer_deviation
    entry["ticket"], entry["size"], entry["missed"] = ticket, size, state.missed[ticket]
    entry["skill"], entry["variance"] = skill, deviation * deviation
    if numbers.each_player:
        entry["skill"] *= size
        entry["variance"] *= size


@kernel(allocates=True)
def review(now: float, state: MatchmakerState, numbers: Values) -> float:
    """Form matches; return when the next tick is."""
    counters, size = state.counters[0], numbers.team_size
    following = (counters["reviews"] + 2) * numbers.tick
    fresh, count = counters["fresh"], counters["waiting"]
    only_fresh = numbers.band_grows == 0.0 and numbers.alike_ticks == 0
    if fresh == 0 and only_fresh:
        return following
    tickets = np.empty(count, TICKET)
    for k in range(count):
        index = count - 1 - k if numbers.newest_first else k
        assess(state.waiting[index], tickets[k], state, numbers)
    with_fresh = numbers.newest_first and only_fresh and numbers.team_count == 2
    while tickets["size"].sum() >= numbers.team_count * size:
        starters = fresh if with_fresh else tickets.size
        search = _new_search(tickets, numbers)
        if not first_line_up(search, tickets, starters, numbers, counters):
            break
        begin_match(now, search.chances[0], search.chances[0], state)
        for team in range(numbers.team_count):
            for k in search.teams[team, : search.counts[team]]:
                add_member(tickets[k]["ticket"], team, now, state)
        left = state.status[tickets["ticket"]] != COMPLETED
        fresh, tickets = left[:fresh].sum(), tickets[left]
    return following


@kernel(allocates=True)
def could_replace(
    match: int, member: int, ticket: int, now: float, state: MatchmakerState, numbers: Values
) -> bool:
    """Return whether a match could have a ticket in place of a member: if all chances allow it."""
    first, entry, longest = state.matches[match]["first"], np.empty(1, TICKET), 0
    sums, chances = np.zeros((numbers.team_count, 2)), np.empty(numbers.team_count)
    for k in range(first, first + state.matches[match]["tickets"]):
        assess(ticket if k == member else state.members[0, k], entry[0], state, numbers)
        longest = max(longest, entry[0]["missed"])
        sums[state.members[1, k], 0] += entry[0]["skill"]
        sums[state.members[1, k], 1] += entry[0]["variance"]
    return within_band(sums, numbers.band_grows * longest, numbers, chances)


# Win chances.

# The error function by Abramowitz and Stegun, 7.1.26, as the source has it.
A1, A2, A3, A4, A5 = 0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429
SLOWNESS = 0.3275911
ROOT_2 = math.sqrt(2.0)


@part
def normal(value: float) -> float:
    """Return the normal distribution function by Abramowitz and Stegun, 7.1.26."""
    x = abs(value) / ROOT_2
    t = 1.0 / (1.0 + SLOWNESS * x)
    error = 1.0 - ((((A5 * t + A4) * t + A3) * t + A2) * t + A1) * t * math.exp(-x * x)
    return 0.5 * (1.0 + (error if value >= 0 else -error))


@part
def within_band(sums: Floats, grown: float, numbers: Values, chances: Floats) -> bool:
    """Return whether the win chance of every team is within the band; write these chances."""
    # Shapes: `sums` (teams, 2): of skills and of variances.
    teams, within = len(sums), True
    play, pairs = teams * numbers.beta * numbers.beta, teams * (teams - 1) / 2
    for i in range(teams):
        total = 0.0
        for j in range(teams):
            if j != i:
                spread = math.sqrt(play + sums[i, 1] + sums[j, 1])
                total += normal((sums[i, 0] - sums[j, 0]) / spread)
        chances[i] = total / pairs
        low, high = numbers.chance_low - grown, numbers.chance_high + grown
        within &= low <= chances[i] <= high
    return within


# The search: from team to team, the sets of tickets that fill each in lexicographic order.
#
# Nothing but a band that grows makes acceptable what was refused. So a line-up is looked at only
# with somebody who has joined since the last tick, where the rule looks at the newest first. Of two
# teams a second one is given up as soon as its sum cannot come near enough to that of the first.

MARGIN = 1e-6  # by how much a band is wider where it only says what need not be looked at
FARTHEST = 40.0  # beyond so many deviations no win chance is told from 0 or 1


class Search(NamedTuple):
    """The state of a search."""

    teams: Ints  # (teams, players); the tickets of each team
    counts: Ints  # (teams,); how many these are
    used: Bools  # (tickets,); whether they are in a team
    sums: Floats  # (teams, 2); skills and variances of the teams
    low: Floats  # (tickets + 1, players + 1); least sum of tickets from one on with so many players
    high: Floats  # (tickets + 1, players + 1); and the greatest
    window: Floats  # (2,); between what the sum of a second team has to be beside the first
    off: Floats  # (2,); deviations between which the difference of two teams has to be
    chances: Floats  # (teams,); win chances of the line-up that was looked at last


@kernel(allocates=True)
def _new_search(tickets: Records, numbers: Values) -> Search:
    """Return a search among some tickets."""
    teams, players, n = numbers.team_count, numbers.team_size, tickets.size
    grown = numbers.band_grows * tickets["missed"].max() + MARGIN
    low, high = _off_at(numbers.chance_low - grown), _off_at(numbers.chance_high + grown)
    return Search(
        np.empty((teams, players), np.int64),
        np.zeros(teams, np.int64),
        np.zeros(n, np.bool_),
        np.zeros((teams, 2)),
        np.empty((n + 1, players + 1)),
        np.empty((n + 1, players + 1)),
        np.empty(2),
        np.array([min(0.0, max(low, -high)), max(0.0, min(high, -low))]),
        np.empty(teams),
    )


@part
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


@kernel
def first_line_up(
    search: Search,
    tickets: Records,
    starters: int,
    numbers: Values,
    counters: Any,  # noqa: ANN401
) -> bool:
    """Look for the first line-up that may start, from one of the first tickets on."""
    # Return whether there is one; count the line-ups looked at.
    team, last = 0, numbers.team_count - 1
    while team >= 0:
        if not _next_set(team, starters, search, tickets, numbers):
            team -= 1
        elif team < last:
            team += 1
            if last == 1:
                _bound(search, tickets, numbers)
        else:
            counters["examined"] += 1
            longest = 0
            for k in range(tickets.size):
                if search.used[k]:
                    longest = max(longest, tickets[k]["missed"])
            if longest < numbers.alike_ticks and search.counts.min() < search.counts.max():
                continue
            if within_band(search.sums, numbers.band_grows * longest, numbers, search.chances):
                return True
    return False


@part
def _next_set(team: int, starters: int, search: Search, tickets: Records, numbers: Values) -> bool:
    """Go to the next set of tickets that fills a team; return whether there is one."""
    # Of two teams the second has no ticket before the first one of the first.
    chosen, count = search.teams[team], search.counts[team]
    bounded = numbers.team_count == 2 and team == 1
    index = search.teams[0, 0] + 1 if bounded else 0
    gives_back = count > 0
    while True:
        if gives_back:
            if count == 0:
                search.counts[team] = 0
                return False
            count -= 1
            search.used[chosen[count]] = False
            index = chosen[count] + 1
        need, skill, variance = numbers.team_size, 0.0, 0.0
        for k in chosen[:count]:
            need -= tickets[k]["size"]
            skill += tickets[k]["skill"]
            variance += tickets[k]["variance"]
        last = starters if team == 0 and count == 0 else tickets.size
        while index < last:
            left, total = need - tickets[index]["size"], skill + tickets[index]["skill"]
            has_room = not search.used[index] and left >= 0
            if has_room and (not bounded or _may_reach(search, total, left, index + 1)):
                break
            index += 1
            if bounded and not _may_reach(search, skill, need, index):
                index = last
        gives_back = index >= last
        if not gives_back:
            ticket = tickets[index]
            chosen[count] = index
            search.used[index] = True
            count += 1
            index += 1
            if need == ticket["size"]:
                search.counts[team] = count
                search.sums[team, 0] = skill + ticket["skill"]
                search.sums[team, 1] = variance + ticket["variance"]
                return True


@part
def _bound(search: Search, tickets: Records, numbers: Values) -> None:
    """Say between what the sums of tickets are that are not in the first team, and have to be."""
    players, skill, variance = numbers.team_size, search.sums[0, 0], search.sums[0, 1]
    most = 0.0
    for k in range(tickets.size):
        most = max(most, tickets[k]["variance"])
    spread = math.sqrt(2 * numbers.beta * numbers.beta + variance + players * most)
    slack = MARGIN * (1.0 + abs(skill))
    search.window[0] = skill - search.off[1] * spread - slack
    search.window[1] = skill - search.off[0] * spread + slack
    search.low[tickets.size], search.high[tickets.size] = np.inf, -np.inf
    search.low[tickets.size, 0] = search.high[tickets.size, 0] = 0.0
    for index in range(tickets.size - 1, search.teams[0, 0], -1):
        size = tickets[index]["size"] if not search.used[index] else players + 1
        skill = tickets[index]["skill"]
        for left in range(players + 1):
            low, high = search.low[index + 1, left], search.high[index + 1, left]
            if size <= left:
                rest = left - size
                low = min(low, search.low[index + 1, rest] + skill)
                high = max(high, search.high[index + 1, rest] + skill)
            search.low[index, left], search.high[index, left] = low, high


@macro
def _may_reach(search: Search, total: float, left: int, index: int) -> bool:
    """Return whether a sum can come into the window with so many players from a ticket on."""
    return (
        total + search.high[index, left] >= search.window[0]
        and total + search.low[index, left] <= search.window[1]
    )


bar = rule("bar", Numbers, review, could_replace)
