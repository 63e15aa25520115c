"""Joint matching by looking at every pair of disjoint teams, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from valmatch.matching.rules import Rules, prioritized, tick_of

Team = tuple[int, ...]


def admissible_matches(
    ratings: Sequence[float], n_prioritized: int, rules: Rules
) -> Iterator[tuple[Team, Team]]:
    """Yield every admissible (team_a, team_b), each way round, straight from the rules."""
    exact = [Fraction(rating) for rating in ratings]
    teams = []
    for team in combinations(range(len(ratings)), rules.team_num):
        own = [exact[k] for k in team]
        relaxed = _relaxed(team, n_prioritized, rules)
        span = Fraction(rules.player_diff) + relaxed * Fraction(rules.player_slack)
        if max(own) - min(own) <= span:
            teams.append((frozenset(team), team, sum(own, Fraction()), relaxed))
    strict = rules.team_num * Fraction(rules.team_diff)
    slack = rules.team_num * Fraction(rules.team_slack)
    for set_a, team_a, total_a, relaxed_a in teams:
        for set_b, team_b, total_b, relaxed_b in teams:
            if set_a.isdisjoint(set_b):
                limit = strict + slack if relaxed_a or relaxed_b else strict
                if abs(total_a - total_b) <= limit:
                    yield team_a, team_b


def best_match(
    ticks: Sequence[int], ratings: Sequence[float], n_prioritized: int, rules: Rules
) -> tuple[Team, Team] | None:
    """Return the best (team_a, team_b), or None if nothing is admissible."""
    exact = [Fraction(rating) for rating in ratings]

    def key(match: tuple[Team, Team]) -> tuple[int, int, Fraction, Team, Team]:
        team_a, team_b = match
        players = team_a + team_b
        diff = sum((exact[k] for k in team_a), Fraction()) - sum(exact[k] for k in team_b)
        return (
            -sum(k < n_prioritized for k in players),
            sum(ticks[k] for k in players),
            abs(diff) if rules.balanced else Fraction(0),
            team_b,
            team_a,
        )

    return min(admissible_matches(ratings, n_prioritized, rules), key=key, default=None)


@dataclass
class Pool:
    """Those who wait, numbered in the order in which they came."""

    rules: Rules
    # Of everybody who ever waited, like ratings.
    times: dict[int, float] = field(default_factory=dict)
    ratings: dict[int, float] = field(default_factory=dict)
    players: list[int] = field(default_factory=list)

    def join(self, player: int, time: float, rating: float) -> None:
        self.times[player], self.ratings[player] = time, rating
        self.players.append(player)

    def leave(self, player: int) -> None:
        self.players.remove(player)

    def review(self, now: float) -> tuple[Team, Team] | None:
        """Take the best match out of the pool and return it."""
        times = [self.times[player] for player in self.players]
        first = [bool(prioritized(time, now, self.rules)) for time in times]
        assert first == sorted(first, reverse=True)
        ticks = [tick_of(time, self.rules) for time in times]
        ratings = [self.ratings[player] for player in self.players]
        found = best_match(ticks, ratings, sum(first), self.rules)
        if found is None:
            return None
        team_a, team_b = (tuple(self.players[place] for place in team) for team in found)
        self.players = [player for player in self.players if player not in team_a + team_b]
        return team_a, team_b


def _relaxed(team: Team, n_prioritized: int, rules: Rules) -> bool:
    if rules.pool_scope:
        return n_prioritized > 0
    return any(k < n_prioritized for k in team)
