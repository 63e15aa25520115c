"""Beyond All Reason's queue: the first line-up of tickets whose win chances are near enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from valmatch.matching.plain_presets.faf_duels import added
from valmatch.rule_sets.presets.rules import BarRule
from valmatch.rule_sets.presets.tickets import Formed, Party, Played


class Entry(NamedTuple):
    """What a search looks at of a ticket."""

    number: int
    size: int  # players
    # skill, variance: what it adds to a team's
    skill: float
    variance: float
    ticks: int = 0  # reviews that it has been through


def entered(number: int, party: Party, rule: BarRule) -> Entry:
    """Return what a search looks at of a ticket: means over its rated players, as one player."""
    rated = [player for player in party.players if player.rating is not None]
    size = len(party.players)
    if rated:
        skill = added(player.rating or 0.0 for player in rated) / len(rated)
        uncertainty = added(player.deviation or 0.0 for player in rated) / len(rated)
    else:
        skill, uncertainty = rule.newcomer_mean, rule.newcomer_deviation
    variance = uncertainty * uncertainty
    if rule.each:
        return Entry(number, size, size * skill, size * variance)
    return Entry(number, size, skill, variance)


ERROR_FUNCTION = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
"""Coefficients of Abramowitz and Stegun, 7.1.26."""

SLOWNESS = 0.3275911  # its p


def normal(value: float) -> float:
    """Return the normal distribution function by Abramowitz and Stegun, 7.1.26."""
    x = abs(value) / math.sqrt(2.0)
    t = 1.0 / (1.0 + SLOWNESS * x)
    a, b, c, d, e = ERROR_FUNCTION
    error = 1.0 - ((((e * t + d) * t + c) * t + b) * t + a) * t * math.exp(-x * x)
    return 0.5 * (1.0 + (error if value >= 0 else -error))


def win_chances(teams: Sequence[Sequence[Entry]], rule: BarRule) -> list[float]:
    """Return the believed win chance of each team."""
    count = len(teams)
    skills, variances = [0.0] * count, [0.0] * count
    for number, team in enumerate(teams):
        for one in team:
            skills[number] += one.skill
            variances[number] += one.variance
    own = count * rule.beta * rule.beta
    pairs = count * (count - 1) / 2
    chances: list[float] = []
    for i in range(count):
        total = 0.0
        for j in range(count):
            if j != i:
                spread = math.sqrt(own + variances[i] + variances[j])
                total += normal((skills[i] - skills[j]) / spread)
        chances.append(total / pairs)
    return chances


def search(entries: Sequence[Entry], rule: BarRule) -> list[tuple[list[list[Entry]], list[float]]]:
    """Return line-ups and win chances of a review, in the order in which they start."""
    found: list[tuple[list[list[Entry]], list[float]]] = []
    rest = list(entries)
    while started := _first(rest, rule):
        found.append(started)
        taken = {one.number for team in started[0] for one in team}
        rest = [one for one in rest if one.number not in taken]
    return found


Search = Callable[[Sequence[Entry], BarRule], list[tuple[list[list[Entry]], list[float]]]]
"""Returns line-ups and win chances of a review."""


def _first(entries: Sequence[Entry], rule: BarRule) -> tuple[list[list[Entry]], list[float]] | None:
    """Return the first line-up that may start."""
    for teams in _line_ups(entries, rule.team_count, rule.team_size):
        chances = win_chances(teams, rule)
        grown = rule.band_grows * max(one.ticks for team in teams for one in team)
        if all(rule.low - grown <= one <= rule.high + grown for one in chances):
            return teams, chances
    return None


def _line_ups(entries: Sequence[Entry], teams: int, size: int) -> Iterator[list[list[Entry]]]:
    """Yield all line-ups: every first team, and with each every second one of the rest, ..."""
    if not teams:
        yield []
        return
    for team in _teams(entries, size):
        taken = {one.number for one in team}
        rest = [one for one in entries if one.number not in taken]
        for others in _line_ups(rest, teams - 1, size):
            yield [team, *others]


def _teams(entries: Sequence[Entry], size: int) -> Iterator[list[Entry]]:
    """Yield all sets of tickets with so many players, those with the first ticket before others."""
    if not size:
        yield []
        return
    for place, one in enumerate(entries):
        if one.size <= size:
            for others in _teams(entries[place + 1 :], size - one.size):
                yield [one, *others]


def play(
    parties: Sequence[Party],
    rule: BarRule,
    ticks: Sequence[float],
    horizon: float,
    look: Search = search,
) -> Played:
    """Play a queue with reviews at given moments, by this search or another that is the same."""
    matches: list[Formed] = []
    comers = sorted(range(len(parties)), key=lambda k: parties[k].time)
    queue: list[Entry] = []
    for now in ticks:
        queue = _present(queue, comers, parties, now, rule)
        started: list[Formed] = []
        for teams, chances in look(_in_order(queue, rule), rule):
            named = tuple(tuple(one.number for one in team) for team in teams)
            started.append(Formed(now, named, {"win": chances}))
        # As their answers list them: the last one first.
        matches += reversed(started)
        taken = {k for match in started for team in match.teams for k in team}
        queue = [one._replace(ticks=one.ticks + 1) for one in queue if one.number not in taken]
    queue = _present(queue, comers, parties, horizon, rule)
    return Played(matches, [one.number for one in _in_order(queue, rule)], {})


def _in_order(queue: Sequence[Entry], rule: BarRule) -> list[Entry]:
    """Return tickets in the order in which they are looked at."""
    return list(queue[::-1] if rule.newest else queue)


def _present(
    queue: Sequence[Entry], comers: list[int], parties: Sequence[Party], now: float, rule: BarRule
) -> list[Entry]:
    """Return who is in the queue after those of `comers` joined who come, and others left."""
    found = list(queue)
    while comers and parties[comers[0]].time <= now:
        number = comers.pop(0)
        found.append(entered(number, parties[number], rule))
    return [one for one in found if parties[one.number].cancel > now]
