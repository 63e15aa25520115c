"""FAForever's queue: pops, whose distance follows from how many wait, and their searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from valmatch.errors import InputError
from valmatch.matching.plain_presets.faf_duels import added, draw_quality, matched, search_duels
from valmatch.matching.plain_presets.faf_teams import looked_at, search_teams
from valmatch.rule_sets.presets.rules import FafRule
from valmatch.rule_sets.presets.tickets import Formed, Party, Played

SHORTEST = 1e-6  # seconds between two pops with which time hardly passes any more


def find(parties: Sequence[Party], rule: FafRule) -> Played:
    """Search once among tickets, whose attempts are given."""
    matches = [Formed(0, teams, {"quality": quality}) for teams, quality in searched(parties, rule)]
    taken = {k for match in matches for team in match.teams for k in team}
    order = list(range(len(parties)))
    if rule.team_size > 1:
        order.sort(key=lambda k: looked_at(k, parties[k], rule).average)
    return Played(matches, [k for k in order if k not in taken], {})


def searched(
    parties: Sequence[Party], rule: FafRule
) -> list[tuple[tuple[tuple[int, ...], ...], float]]:
    """Return the teams and qualities of the matches of a search."""
    if rule.team_size == 1:
        duels = search_duels(parties, rule)
        return [(((one.first,), (one.second,)), one.quality) for one in duels]
    games = search_teams(parties, rule)
    return [
        (tuple(tuple(one.number for one in team) for team in game.teams), game.quality)
        for game in games
    ]


def play(
    parties: Sequence[Party], rule: FafRule, horizon: float, least_span: float = 0.0
) -> Played:
    """Play a queue with its own pops until the horizon, so many seconds apart at least."""
    matches: list[Formed] = []
    pops: list[dict[str, Any]] = []
    queue: list[int] = []
    attempts = [party.attempts for party in parties]
    order = sorted(range(len(parties)), key=lambda k: parties[k].time)
    joined = 0
    span, now = rule.pop_first, rule.pop_first
    spans, sizes = [span], list[int]()
    while now <= horizon:
        while joined < len(order) and parties[order[joined]].time <= now:
            queue.append(order[joined])
            joined += 1
        queue = [k for k in queue if parties[k].cancel > now]
        players = sum(len(parties[k].players) for k in queue)
        pops.append({"time": now, "players": players})
        sizes.append(players)
        if players >= 2 * rule.team_size:
            waiting = [parties[k]._replace(attempts=attempts[k]) for k in queue]
            for teams, _ in searched(waiting, rule):
                named = tuple(tuple(queue[k] for k in team) for team in teams)
                matches.append(Formed(now, named, _values(parties, named, rule)))
        taken = {k for match in matches for team in match.teams for k in team}
        queue = [k for k in queue if k not in taken]
        for k in queue:
            attempts[k] += 1
        span = _span(spans[-rule.pop_average :], sizes[-rule.pop_average :], rule)
        span = max(least_span, span)
        if span < SHORTEST:
            text = f"{players:,} players who find no match let pops follow each other at once"
            raise InputError(f"{text} from {now:g} s on: the case has no end")
        spans.append(span)
        now += span
    left = [k for k in [*queue, *order[joined:]] if parties[k].time <= horizon]
    return Played(matches, [k for k in left if parties[k].cancel > horizon], {"pops": pops})


def _span(spans: Sequence[float], sizes: Sequence[int], rule: FafRule) -> float:
    """Return the seconds until the next pop."""
    players = sum(sizes)
    if not players:
        return rule.pop_max
    wanted = rule.pop_matches * 2 * rule.team_size
    return min(rule.pop_max, wanted * added(spans) / players)


def _values(
    parties: Sequence[Party], teams: Sequence[Sequence[int]], rule: FafRule
) -> dict[str, float]:
    """Return the draw quality of two teams by the ratings that duels go by."""
    ratings = [
        [matched(player, rule) for k in team for player in parties[k].players] for team in teams
    ]
    return {"trueskill_quality": draw_quality(ratings, rule.beta)}
