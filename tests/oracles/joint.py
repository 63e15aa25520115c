"""Joint matching by looking at every pair of disjoint teams, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from valmatch.matching.rules import Rules

__all__ = ["admissible_matches", "best_match"]

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


def _relaxed(team: Team, n_prioritized: int, rules: Rules) -> bool:
    if rules.pool_scope:
        return n_prioritized > 0
    return any(k < n_prioritized for k in team)
