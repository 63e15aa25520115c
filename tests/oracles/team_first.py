"""Team-first matching by enumeration of all teams and all pairs, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from valmatch.matching.rules import Rules

Team = tuple[int, ...]


@dataclass
class Day:
    """One day; players are numbered in order of arrival.

    Attributes
    ----------
    pool : players without a team
    teams : formed teams that wait, in order of formation, with their numbers
    matches : (hour, number and players of the older team, of the younger team)
    """

    times: Sequence[float]
    ratings: Sequence[float]
    rules: Rules
    pool: list[int] = field(default_factory=list)
    teams: list[tuple[int, Team]] = field(default_factory=list)
    matches: list[tuple[float, int, Team, int, Team]] = field(default_factory=list)
    formed: int = 0

    def play(self) -> None:
        """Let everyone arrive; review at each arrival and, if asked, at each expiry."""
        events = [(time, 1, player) for player, time in enumerate(self.times)]
        if self.rules.continuous:
            moments = ((t + self.rules.wait_thresh, 0, k) for k, t in enumerate(self.times))
            events += [event for event in moments if event[0] < self.rules.horizon]
        for now, arrives, player in sorted(events):
            if arrives:
                self.pool.append(player)
            elif player not in self.waiting() or player >= len(self.times):
                continue
            self.review(now, [player] if arrives else self.expiring(now))

    def expiring(self, now: float) -> list[int]:
        return [k for k in self.pool if self.times[k] + self.rules.wait_thresh == now]

    def waiting(self) -> list[int]:
        return self.pool + [player for _, team in self.teams for player in team]

    def prioritized(self, player: int, now: float) -> bool:
        if self.rules.continuous:
            return self.times[player] + self.rules.wait_thresh <= now
        return now - self.times[player] > self.rules.wait_thresh

    def relaxed(self, players: Sequence[int], now: float) -> bool:
        scope = self.waiting() if self.rules.pool_scope else players
        return any(self.prioritized(player, now) for player in scope)

    def key(self, players: Sequence[int], now: float) -> tuple[int, Fraction]:
        count = sum(self.prioritized(player, now) for player in players)
        return -count, sum((Fraction(self.times[player]) for player in players), Fraction(0))

    def review(self, now: float, centres: Sequence[int]) -> None:
        while True:
            drawn = combinations(self.pool, self.rules.team_num)
            teams = [team for team in drawn if self.fits(team, centres, now)]
            if not teams:
                break
            best = min(teams, key=lambda team: (*self.key(team, now), team))
            self.pool = [player for player in self.pool if player not in best]
            self.teams.append((self.formed, best))
            self.formed += 1
        while True:
            pairs = [p for p in combinations(self.teams, 2) if self.pairs(p[0][1], p[1][1], now)]
            if not pairs:
                break
            a, b = min(pairs, key=lambda p: (*self.key(p[0][1] + p[1][1], now), p[0][0], p[1][0]))
            self.teams = [team for team in self.teams if team not in (a, b)]
            self.matches.append((now, *a, *b))

    def fits(self, team: Team, centres: Sequence[int], now: float) -> bool:
        ratings = [Fraction(self.ratings[player]) for player in team]
        limit = Fraction(self.rules.player_diff)
        if self.relaxed(team, now):
            limit += Fraction(self.rules.player_slack)
        if not self.rules.around:
            return max(ratings) - min(ratings) <= limit
        middles = [Fraction(self.ratings[player]) for player in team if player in centres]
        return any(all(abs(one - middle) <= limit for one in ratings) for middle in middles)

    def pairs(self, a: Team, b: Team, now: float) -> bool:
        means = [
            sum((Fraction(self.ratings[p]) for p in team), Fraction()) / len(team)
            for team in (a, b)
        ]
        limit = Fraction(self.rules.team_diff)
        if self.relaxed(a + b, now):
            limit += Fraction(self.rules.team_slack)
        return abs(means[0] - means[1]) <= limit
