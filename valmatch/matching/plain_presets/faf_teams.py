"""FAForever's search for teams: a match around each ticket, the best first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from valmatch.matching.plain_presets.faf_duels import added, shown
from valmatch.rule_sets.presets.rules import FafRule
from valmatch.rule_sets.presets.tickets import Party

PLAYER = 5000.0
"""What a player counts where tickets are split by numbers of players and ratings at once."""


class Shown(NamedTuple):
    """What a search looks at of a ticket."""

    number: int
    size: int  # players
    # total, average: sum and mean of what they show
    total: float
    average: float
    most: float  # the most that one of them shows
    newcomers: int
    attempts: int
    ratings: tuple[float, ...]  # what each shows


class Game(NamedTuple):
    """A match of two teams and its quality."""

    teams: tuple[tuple[Shown, ...], tuple[Shown, ...]]
    quality: float


def looked_at(number: int, party: Party, rule: FafRule) -> Shown:
    """Return what a search looks at of a ticket."""
    ratings = tuple(shown(player, rule) for player in party.players)
    total = added(ratings)
    newcomers = sum(player.games <= rule.newcomer_games for player in party.players)
    size = len(ratings)
    return Shown(
        number, size, total, total / size, max(ratings), newcomers, party.attempts, ratings
    )


def search_teams(parties: Sequence[Party], rule: FafRule) -> list[Game]:
    """Return the matches of a search, the best first."""
    tickets = [looked_at(number, party, rule) for number, party in enumerate(parties)]
    tickets.sort(key=lambda one: one.average)
    found: list[tuple[float, int, Game]] = []
    for place in range(len(tickets)):
        gathered = _gathered(tickets, place, rule.team_size)
        teams = split(gathered, rule.team_size) if gathered else None
        if teams:
            quality = value(teams, rule)
            if quality >= rule.at_least:
                found.append((quality, place, Game(teams, quality)))
    return best_first(found)


def best_first(found: list[tuple[float, int, Game]]) -> list[Game]:
    """Return the best of matches, of equals the later, then the best of the others' and so on."""
    found.sort(key=lambda one: one[:2], reverse=True)
    taken: set[int] = set()
    games: list[Game] = []
    for _, _, game in found:
        numbers = {one.number for team in game.teams for one in team}
        if not numbers & taken:
            taken |= numbers
            games.append(game)
    return games


def _gathered(tickets: Sequence[Shown], place: int, team_size: int) -> list[Shown] | None:
    """Return a ticket with others around it that fill two teams; None if they do not.

    Each turn looks at the next one of a side, whether it fits or not.
    """
    found = [tickets[place]]
    free = 2 * team_size - tickets[place].size
    for distance in range(1, len(tickets)):
        for other in (place - distance, place + distance):
            if 0 <= other < len(tickets) and tickets[other].size <= free:
                found.append(tickets[other])
                free -= tickets[other].size
    return None if free else found


def split(
    tickets: Sequence[Shown], team_size: int
) -> tuple[tuple[Shown, ...], tuple[Shown, ...]] | None:
    """Return two teams of tickets; None where they are not of one size."""
    full = [k for k, one in enumerate(tickets) if one.size == team_size]
    nearly = [k for k, one in enumerate(tickets) if one.size == team_size - 1]
    if full:
        first = [full[-1]]
    elif nearly:
        chosen = _with_filler(tickets, nearly[-1], team_size)
        if chosen is None:
            return None
        first = chosen
    else:
        first = _largest_difference(tickets)
    one = tuple(tickets[k] for k in first)
    other = tuple(ticket for k, ticket in enumerate(tickets) if k not in first)
    if sum(ticket.size for ticket in one) != sum(ticket.size for ticket in other):
        return None
    return one, other


def _with_filler(tickets: Sequence[Shown], party: int, team_size: int) -> list[int] | None:
    """Return a party and the single player with whom its mean is nearest to that of all."""
    mean = added(one.total for one in tickets) / (2 * team_size)
    best, nearest = -1, math.inf
    for k, one in enumerate(tickets):
        if one.size == 1 and k != party:
            distance = abs((tickets[party].total + one.total) / team_size - mean)
            if distance < nearest:
                best, nearest = k, distance
    return None if best < 0 else [party, best]


def _largest_difference(tickets: Sequence[Shown]) -> list[int]:
    """Return one of two teams by the largest-difference method.

    The two largest numbers are put on different sides, as their difference, again and again.
    """
    piles = [(PLAYER * one.size + one.total, k, [k], list[int]()) for k, one in enumerate(tickets)]
    inserted = len(piles)
    while len(piles) > 1:
        piles.sort(key=lambda pile: pile[:2])
        large, small = piles.pop(), piles.pop()
        piles.append((large[0] - small[0], inserted, large[2] + small[3], large[3] + small[2]))
        inserted += 1
    return piles[0][2]


def value(teams: tuple[tuple[Shown, ...], tuple[Shown, ...]], rule: FafRule) -> float:
    """Return the quality of a match."""
    tickets = [one for team in teams for one in team]
    totals = [added(one.total for one in team) for team in teams]
    if rule.spread_of == "tickets":
        spread = deviation([one.average for one in tickets])
    else:
        spread = deviation([rating for one in tickets for rating in one.ratings])
    gap = abs(totals[0] - totals[1]) / rule.gap
    spread /= rule.spread
    fairness = 1 - math.sqrt(gap * gap + spread * spread)
    waited = newcomers = minority = 0.0
    for one in tickets:
        share = one.size / rule.team_size
        waited += min(one.attempts * rule.rate, rule.cap) * share
        by = min(one.attempts * rule.newcomer_rate, rule.newcomer_cap)
        newcomers += by * one.newcomers / rule.team_size
        off = (one.average - rule.peak) / rule.minority_range
        minority += off * off * off * off * share
    if max(one.most for one in tickets) >= rule.unless_over:
        newcomers = 0.0
    return fairness + waited + newcomers + min(minority, rule.minority_cap)


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of values that are all there is."""
    mean = added(values) / len(values)
    return math.sqrt(added((one - mean) * (one - mean) for one in values) / len(values))
