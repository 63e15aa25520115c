"""Matches of drawn tickets, held against each rule told again in a few lines of plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.support.living_days import DAYS, HOUR, TIMEOUT, drawn, matches_of, played
from valmatch.kernels.arrays import Floats
from valmatch.matching.living.queue import PresetInput, PresetReport
from valmatch.matching.living.registry import numbers_of
from valmatch.matching.tickets.columns import Played
from valmatch.matching.tickets.layout import CANCELLED, COMPLETED, TIMED_OUT

Teams = Sequence[Sequence[int]]


class World(NamedTuple):
    """A day that has been played."""

    numbers: Any
    tickets: PresetInput
    found: Played
    report: PresetReport
    matches: list[tuple[float, list[list[int]]]]

    def missed(self, ticket: int, now: float) -> int:
        """Return the reviews that a ticket went through before, where these are at known times."""
        tick, joined = self.numbers.tick, self.tickets.times[ticket]
        return int(round(now / tick) - max(1, math.ceil(joined / tick)))

    def left_over(self, now: float) -> Iterator[int]:
        """Yield the tickets that joined and wait on after a review."""
        status, ends = self.found.statuses, self.found.ends
        for ticket, joined in enumerate(self.tickets.times.tolist()):
            turned_away = status[ticket] == CANCELLED and ends[ticket] == joined
            if joined <= now < ends[ticket] and not turned_away:
                yield ticket

    def players(self, ticket: int) -> range:
        """Return the players of a ticket."""
        first = int(self.tickets.parties.firsts[ticket])
        return range(first, first + int(self.tickets.parties.sizes[ticket]))


def chances(world: World, teams: Teams) -> Floats:
    """Return the win chance of each team that Beyond All Reason believes in."""
    numbers, parties = world.numbers, world.tickets.parties
    sums = np.zeros((len(teams), 2))
    for team, tickets in enumerate(teams):
        for ticket in tickets:
            rated = [k for k in world.players(ticket) if not parties.unrated[k]]
            pair = [numbers.newcomer_mean, numbers.newcomer_deviation]
            if rated:
                pair = [parties.ratings[rated].mean(), parties.deviations[rated].mean()]
            counts = len(world.players(ticket)) if numbers.each_player else 1
            sums[team] += counts * pair[0], counts * pair[1] ** 2
    n = len(teams)
    gaps = sums[:, None, 0] - sums[None, :, 0]
    spreads = np.sqrt(n * numbers.beta**2 + sums[:, None, 1] + sums[None, :, 1])
    normal = np.array(
        [[0.5 + 0.5 * math.erf(z / math.sqrt(2)) for z in row] for row in gaps / spreads]
    )
    return np.asarray((normal.sum(1) - 0.5) / (n * (n - 1) / 2))


def bar(world: World, teams: Teams, now: float) -> bool:
    """Return whether Beyond All Reason takes a match."""
    numbers = world.numbers
    longest = max(world.missed(k, now) for team in teams for k in team)
    if longest < numbers.alike_ticks and len({len(team) for team in teams}) > 1:
        return False
    grown = numbers.band_grows * longest
    within = chances(world, teams)
    return bool(
        (within >= numbers.chance_low - grown).all()
        and (within <= numbers.chance_high + grown).all()
    )


def faf(world: World, teams: Teams, attempts: Callable[[int], int]) -> float:
    """Return the quality of a match of teams of FAForever."""
    n, parties = world.numbers, world.tickets.parties
    shown = parties.ratings - n.less_deviations * parties.deviations
    tickets = [k for team in teams for k in team]
    averages = [shown[list(world.players(k))].mean() for k in tickets]
    totals = [sum(shown[p] for k in team for p in world.players(k)) for team in teams]
    everybody = [p for k in tickets for p in world.players(k)]
    spread = np.std(shown[everybody] if n.spread_of_players else averages)
    quality = 1 - math.hypot((totals[0] - totals[1]) / n.max_imbalance, spread / n.max_deviation)
    minority = newbies = 0.0
    for ticket, average in zip(tickets, averages, strict=True):
        size, tries = len(world.players(ticket)), attempts(ticket)
        quality += min(tries * n.time_bonus, n.time_bonus_cap) * size / n.team_size
        new = sum(parties.games[p] <= n.newcomer_games for p in world.players(ticket))
        newbies += min(tries * n.newbie_bonus, n.newbie_bonus_cap) * new / n.team_size
        minority += ((average - n.rating_peak) / n.minority_range) ** 4 * size / n.team_size
    if max(shown[everybody]) < n.newbie_unless_over:
        quality += newbies
    return float(quality + min(minority, n.minority_cap))


def osu(world: World, number: int, ticket: int) -> bool:
    """Return whether a ticket could be in a lobby but for its pivot."""
    now, ((pivot,), *_) = world.matches[number]
    n, ratings, users = world.numbers, world.tickets.parties.ratings, world.tickets.users
    wide = math.exp(((ratings[pivot] - n.centre) / n.scale) ** 2)
    wait = now - world.tickets.times[pivot]
    if abs(ratings[ticket] - ratings[pivot]) > n.radius * wide * 2 ** (wait / n.doubling):
        return False
    met = {frozenset((users[pivot], users[ticket]))} if n.recent else set()
    return not any(
        now - time <= n.recent and met & {frozenset((users[a], users[b])) for (a,), (b,) in pairs}
        for time, pairs in (
            (time, list(combinations(teams, 2))) for time, teams in world.matches if time < now
        )
    )


def day(name: str, seed: int = 1) -> World:
    """Return a day that has been played."""
    hours = min(2.0, 600.0 / DAYS[name].per_hour)
    tickets = drawn(DAYS[name], hours, seed)
    found, report = played(DAYS[name], tickets, hours)
    numbers = numbers_of(DAYS[name].preset).model_validate(DAYS[name].numbers)
    return World(numbers, tickets, found, report, matches_of(found))


@pytest.mark.slow
@pytest.mark.parametrize("name", DAYS)
def test_tickets_are_in_one_match_and_leave_in_time(name: str) -> None:
    world = day(name)
    found, tickets, (count, size) = world.found, world.tickets, world.numbers.teams
    assert len(world.matches) > 10
    assert np.unique(found.tickets).size == found.tickets.size
    assert np.array_equal(np.flatnonzero(found.statuses == COMPLETED), np.sort(found.tickets))
    for now, teams in world.matches:
        assert [sum(tickets.parties.sizes[team]) for team in teams] == [size] * count
        for ticket in (k for team in teams for k in team):
            assert tickets.times[ticket] <= now <= tickets.cancels[ticket]
    gone = (found.statuses == CANCELLED) & (found.ends > tickets.times)
    assert np.array_equal(found.ends[gone], tickets.cancels[gone])
    late = found.statuses == TIMED_OUT
    until = tickets.times[late] + TIMEOUT
    if getattr(world.numbers, "search_timeout", 0):  # at the first review after it
        tick, timeout = world.numbers.tick, world.numbers.search_timeout
        until = (np.floor((tickets.times[late] + timeout) / tick) + 1) * tick
    assert np.array_equal(found.ends[late], until)
    assert (found.ends <= 2.0 * HOUR).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, day in DAYS.items() if day.preset == "bar"])
def test_bar_believes_in_its_matches_and_skips_who_would_not_do(name: str) -> None:
    world = day(name)
    sizes = world.tickets.parties.sizes
    for (now, teams), value, skipped in zip(
        world.matches, world.report.values, world.report.skipped, strict=True
    ):
        assert bar(world, teams, now)
        assert chances(world, teams)[0] == pytest.approx(value, abs=2e-7)
        others = [
            [[ticket if k == member else k for k in team] for team in teams]
            for member in (k for team in teams for k in team)
            for ticket in world.left_over(now)
            if ticket < member and sizes[ticket] == sizes[member]
        ]
        assert skipped == any(bar(world, changed, now) for changed in others)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["faf", "faf_duos"])
def test_faf_forms_matches_of_the_quality_that_it_says(name: str) -> None:
    world = day(name)
    for (_, teams), value in zip(world.matches, world.report.values, strict=True):
        assert value >= world.numbers.min_quality
        least, most = faf(world, teams, lambda k: 0), faf(world, teams, lambda k: 10**6)
        assert least - 1e-9 <= value <= most + 1e-9
    assert 0 < world.report.skipped.sum() < world.report.skipped.size


@pytest.mark.slow
@pytest.mark.parametrize("name", ["osu", "osu_lobby"])
def test_lobbies_are_around_their_pivots(name: str) -> None:
    world = day(name)
    for number, (now, (_, *members)) in enumerate(world.matches):
        assert all(osu(world, number, ticket) for (ticket,) in members)
        older = [k for k in world.left_over(now) if k < max(k for (k,) in members)]
        assert world.report.skipped[number] == any(osu(world, number, k) for k in older)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shieldbattery", "shieldbattery_twos"])
def test_rosters_of_shieldbattery_share_a_map_and_are_balanced(name: str) -> None:
    world = day(name)
    n, parties = world.numbers, world.tickets.parties
    eff = parties.ratings - n.less_deviations * parties.deviations
    for (now, teams), value, chance in zip(
        world.matches, world.report.values, world.report.chances, strict=True
    ):
        tickets = sorted(k for team in teams for k in team)
        picks = parties.maps[tickets]
        assert (picks < 0).any() or np.bitwise_and.reduce(picks) != 0
        one, two = (math.sqrt((eff[team] ** 2).mean()) for team in teams)
        assert chance == pytest.approx(1 / (1 + 10 ** ((two - one) / n.logistic)), abs=1e-5)
        splits = [
            abs(
                math.sqrt((eff[[tickets[0], *rest]] ** 2).mean())
                - math.sqrt((eff[[k for k in tickets[1:] if k not in rest]] ** 2).mean())
            )
            for rest in combinations(tickets[1:], n.team_size - 1)
        ]
        assert abs(one - two) == pytest.approx(min(splits), abs=1e-3)
        waited = now - world.tickets.times[tickets[0]]
        cost = n.variance_weight * np.var(eff[tickets], ddof=1) + n.win_weight * abs(0.5 - chance)
        steps = (waited - cost - value) / n.latency_weight
        assert steps == pytest.approx(max(0, round(steps)), abs=1e-3)
    assert 0 < world.report.relaxed <= world.report.reviews
