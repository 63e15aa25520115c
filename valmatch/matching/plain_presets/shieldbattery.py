"""ShieldBattery's queue: all rosters valued in seconds, the best first, in single precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from valmatch.rule_sets.presets.rules import ShieldBatteryRule
from valmatch.rule_sets.presets.tickets import Formed, Played, Soldier

Single = np.float32  # every number of it is of single precision
Backbone = Mapping[tuple[str, str], float]  # milliseconds between two regions, in either order


Draw = Callable[[int, int], float]
"""A number drawn for a review and a ticket: of too many, those with the smallest are looked at."""


class Candidate(NamedTuple):
    """A match that may start."""

    teams: tuple[tuple[int, ...], tuple[int, ...]]  # places in the queue
    # quality, variance, win, latency: its quality in seconds; what it is made of
    quality: np.float32
    variance: np.float32
    win: np.float32
    latency: np.float32


def lowered(ticket: Soldier, rule: ShieldBatteryRule) -> np.float32:
    """Return the rating that a ticket is matched by."""
    deviation = Single(rule.less_deviations) * Single(ticket.deviation)
    return Single(Single(ticket.rating) - deviation)


def sample_variance(values: Sequence[np.float32]) -> np.float32:
    """Return the sample variance by a running mean."""
    mean, squares = Single(0), Single(0)
    for count, one in enumerate(values, 1):
        off = Single(one - mean)
        mean = Single(mean + off / Single(count))
        squares = Single(squares + off * Single(one - mean))
    return Single(squares / Single(len(values) - 1))


def strength(values: Sequence[np.float32]) -> np.float32:
    """Return the root of the mean square of a team."""
    total = Single(0)
    for one in values:
        total = Single(total + one * one)
    return Single(np.sqrt(total / Single(len(values))))


def win_chance(first: np.float32, second: np.float32, rule: ShieldBatteryRule) -> np.float32:
    """Return the believed chance of the first team."""
    exponent = Single(Single(second - first) / Single(rule.logistic))
    return Single(Single(1) / Single(Single(1) + Single(10) ** exponent))


def latency(first: Soldier, second: Soldier, between: Backbone, unknown: float) -> np.float32:
    """Return the milliseconds between two players; 0 where it is not known of one where it is."""
    if first.region is None or second.region is None or first.rtt is None or second.rtt is None:
        return Single(0)
    far = 0.0
    if first.region != second.region:
        key = (first.region, second.region)
        far = between.get(key, between.get(key[::-1], unknown))
    half = Single(0.5)
    return Single(Single(Single(first.rtt) * half + Single(far) * half) + Single(second.rtt) * half)


def steps(milliseconds: np.float32, rule: ShieldBatteryRule) -> np.float32:
    """Return the steps of latency that cost."""
    counted = Single(Single(rule.latency_scale) * milliseconds) / Single(rule.latency_step)
    return Single(max(rule.latency_free, math.ceil(counted)) - rule.latency_free)


def split(ratings: Sequence[np.float32]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the places of two teams, the first entry in the first, of least difference."""
    places = range(len(ratings))
    best: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    least = math.inf
    for others in combinations(places[1:], len(ratings) // 2 - 1):
        one = (0, *others)
        two = tuple(place for place in places if place not in one)
        off = abs(strength([ratings[k] for k in one]) - strength([ratings[k] for k in two]))
        if off < least:
            best, least = (one, two), float(off)
    return best


def candidate(
    tickets: Sequence[Soldier],
    roster: tuple[int, ...],
    now: float,
    rule: ShieldBatteryRule,
    between: Backbone,
) -> Candidate | None:
    """Return the match of a roster; None if no map suits all."""
    members = [tickets[k] for k in roster]
    picks = [one.maps for one in members if one.maps is not None]
    if rule.maps and len(picks) == len(members) and not frozenset.intersection(*picks):
        return None
    ratings = [lowered(one, rule) for one in members]
    variance = sample_variance(ratings)
    one, two = split(ratings)
    chance = win_chance(
        strength([ratings[k] for k in one]), strength([ratings[k] for k in two]), rule
    )
    worst = Single(0)
    for place, first in enumerate(members):
        for second in members[place + 1 :]:
            worst = max(worst, latency(first, second, between, rule.unknown))
    waits = [Single(now - ticket.time) for ticket in members]
    waited = Single(Single(rule.rate) * max(waits))
    skill = Single(Single(rule.variance) * variance)
    balance = Single(Single(rule.win) * abs(Single(0.5) - chance))
    far = Single(Single(rule.latency) * steps(worst, rule))
    quality = Single(waited - Single(Single(skill + balance) + far))
    teams = (tuple(roster[k] for k in one), tuple(roster[k] for k in two))
    return Candidate(teams, quality, variance, chance, worst)


def extra(
    tickets: Sequence[Soldier], found: Candidate, now: float, rule: ShieldBatteryRule
) -> np.float32:
    """Return the credit of those of a match who waited less than the longest."""
    waits = sorted(Single(now - tickets[k].time) for team in found.teams for k in team)
    total = Single(0)
    for one in waits[:-1]:
        total = Single(total + one)
    return Single(Single(rule.others) * total)


def search(
    tickets: Sequence[Soldier],
    now: float,
    least: float,
    rule: ShieldBatteryRule,
    between: Backbone,
) -> list[Candidate]:
    """Return the matches of a review, the best first."""
    found: list[Candidate] = []
    for roster in combinations(range(len(tickets)), 2 * rule.team_size):
        one = candidate(tickets, roster, now, rule, between)
        if one is not None and one.quality >= Single(least):
            found.append(one)
    return greedy(found, tickets, now, rule)


def greedy(
    found: list[Candidate], tickets: Sequence[Soldier], now: float, rule: ShieldBatteryRule
) -> list[Candidate]:
    """Return the best of candidates, then the best of those without its players, and so on."""
    if rule.others:
        found.sort(key=lambda one: -(one.quality + extra(tickets, one, now, rule)))
    else:
        found.sort(key=lambda one: -one.quality)
    chosen: list[Candidate] = []
    taken: set[int] = set()
    for one in found:
        members = {k for team in one.teams for k in team}
        if not members & taken:
            taken |= members
            chosen.append(one)
    return chosen


Search = Callable[[Sequence[Soldier], float, float, ShieldBatteryRule, Backbone], list[Candidate]]
"""Returns the matches of a review."""


class Population:
    """An estimate of how many are in a queue: its peaks by windows, smoothed."""

    def __init__(self, rule: ShieldBatteryRule) -> None:
        self.window = rule.window
        self.weight = Single(
            Single(1) - Single(0.5) ** Single(Single(rule.window) / Single(rule.half_life))
        )
        self.ends = rule.window
        self.peak = 0
        self.folded: np.float32 | None = None

    def grow(self, size: int) -> None:
        """Take note of a size of the queue."""
        self.peak = max(self.peak, size)

    def tick(self, now: float, size: int) -> None:
        """Fold the windows that are over; new ones start at the size of the queue."""
        while now >= self.ends:
            peak = Single(self.peak)
            if self.folded is not None:
                self.folded = Single(self.folded + self.weight * Single(peak - self.folded))
            elif self.peak:
                self.folded = peak
            self.peak = size
            self.ends += self.window

    def threshold(self, rule: ShieldBatteryRule) -> np.float32:
        """Return the least quality of a match."""
        known = Single(self.peak) if self.folded is None else self.folded
        enough = Single(rule.multiple) * Single(2 * rule.team_size)
        missing = max(Single(0), Single(enough - known))
        return Single(Single(rule.at_least) - Single(rule.relax) * missing)


def play(
    tickets: Sequence[Soldier],
    rule: ShieldBatteryRule,
    between: Backbone,
    ticks: Sequence[float],
    horizon: float,
    draw: Draw = lambda review, ticket: 0.0,
    look: Search = search,
) -> Played:
    """Play a queue with reviews at given moments, by this search or another that is the same."""
    matches: list[Formed] = []
    states: list[dict[str, float | None]] = []
    population = Population(rule)
    comers = sorted(range(len(tickets)), key=lambda k: tickets[k].time)
    queue: list[int] = []
    for review, now in enumerate(ticks):
        queue = _present(queue, comers, tickets, now, population)
        population.tick(now, len(queue))
        least = population.threshold(rule)
        folded = population.folded
        states.append(
            {
                "time": now,
                "population": None if folded is None else float(folded),
                "threshold": float(least),
            }
        )
        looked = sampled(queue, rule.sample, review, draw)
        waiting = [tickets[k] for k in looked]
        for one in look(waiting, now, float(least), rule, between):
            teams = tuple(tuple(looked[k] for k in team) for team in one.teams)
            matches.append(Formed(now, teams, _values(one)))
        taken = {k for match in matches for team in match.teams for k in team}
        queue = [k for k in queue if k not in taken]
    queue = _present(queue, comers, tickets, horizon, population)
    return Played(matches, queue, {"states": states})


def sampled(queue: Sequence[int], most: int, review: int, draw: Draw) -> list[int]:
    """Return who of a queue is looked at, in its order: of too many a uniform sample."""
    if len(queue) <= most:
        return list(queue)
    chosen = set(sorted(queue, key=lambda k: (draw(review, k), k))[:most])
    return [k for k in queue if k in chosen]


def _values(one: Candidate) -> dict[str, float]:
    return {
        "quality": float(one.quality),
        "skill_variance": float(one.variance),
        "win_probability": float(one.win),
        "max_latency": float(one.latency),
    }


def _present(
    queue: Sequence[int],
    comers: list[int],
    tickets: Sequence[Soldier],
    now: float,
    population: Population,
) -> list[int]:
    """Return who is in the queue after those of `comers` joined who come, and others left."""
    found = list(queue)
    while comers and tickets[comers[0]].time <= now:
        number = comers.pop(0)
        found = [k for k in found if tickets[k].cancel >= tickets[number].time]
        found.append(number)
        population.grow(len(found))
    return [k for k in found if tickets[k].cancel > now]
