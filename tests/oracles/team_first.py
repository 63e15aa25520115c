"""Team-first matching by enumeration of all teams and all pairs, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from valmatch.matching.rules import Rules, prioritized, tick_of

Team = tuple[int, ...]
FormedTeam = tuple[int, Team]
Key = tuple[int, Fraction | int]


@dataclass
class Lobby:
    """Those who wait, numbered in the order in which they came."""

    rules: Rules
    # Of everybody who ever waited, like ratings.
    times: dict[int, float] = field(default_factory=dict)
    ratings: dict[int, float] = field(default_factory=dict)
    pool: list[int] = field(default_factory=list)  # players without a team, in order
    teams: list[FormedTeam] = field(default_factory=list)  # those that wait, in order of formation
    formed: int = 0

    def join(self, player: int, time: float, rating: float) -> None:
        self.times[player], self.ratings[player] = time, rating
        self.pool.append(player)

    def leave(self, player: int) -> list[int]:
        """Let a player leave; return whoever loses the team by that, back in the pool."""
        if player in self.pool:
            self.pool.remove(player)
            return []
        (broken,) = (team for team in self.teams if player in team[1])
        self.teams.remove(broken)
        others = [member for member in broken[1] if member != player]
        self.pool = sorted(self.pool + others)
        return others

    def waiting(self) -> list[int]:
        return self.pool + [player for _, team in self.teams for player in team]

    def prioritized(self, player: int, now: float) -> bool:
        return bool(prioritized(self.times[player], now, self.rules))

    def relaxed(self, players: Sequence[int], now: float) -> bool:
        scope = self.waiting() if self.rules.pool_scope else players
        return any(self.prioritized(player, now) for player in scope)

    def key(self, players: Sequence[int], now: float) -> Key:
        count = sum(self.prioritized(player, now) for player in players)
        return -count, sum((Fraction(self.times[player]) for player in players), Fraction(0))

    def review(self, now: float, centres: Sequence[int]) -> list[tuple[FormedTeam, FormedTeam]]:
        """Form teams until none is possible, then pair teams; return the pairs in order."""
        while team := self.best_team(now, centres):
            self.pool = [player for player in self.pool if player not in team]
            self.teams.append((self.formed, team))
            self.formed += 1
        matches = []
        while pair := self.best_pair(now):
            self.teams = [team for team in self.teams if team not in pair]
            matches.append(pair)
        return matches

    def best_team(self, now: float, centres: Sequence[int]) -> Team | None:
        drawn = combinations(self.pool, self.rules.team_num)
        teams = (team for team in drawn if self.fits(team, centres, now))
        return min(teams, key=lambda team: (*self.key(team, now), team), default=None)

    def best_pair(self, now: float) -> tuple[FormedTeam, FormedTeam] | None:
        pairs = (p for p in combinations(self.teams, 2) if self.fit(p[0][1], p[1][1], now))
        return min(
            pairs, key=lambda p: (*self.key(p[0][1] + p[1][1], now), p[0][0], p[1][0]), default=None
        )

    def fits(self, team: Team, centres: Sequence[int], now: float) -> bool:
        ratings = [Fraction(self.ratings[player]) for player in team]
        limit = Fraction(self.rules.player_diff)
        if self.relaxed(team, now):
            limit += Fraction(self.rules.player_slack)
        if not self.rules.around:
            return max(ratings) - min(ratings) <= limit
        middles = [Fraction(self.ratings[player]) for player in team if player in centres]
        return any(all(abs(one - middle) <= limit for one in ratings) for middle in middles)

    def fit(self, a: Team, b: Team, now: float) -> bool:
        means = [
            sum((Fraction(self.ratings[p]) for p in team), Fraction()) / len(team)
            for team in (a, b)
        ]
        limit = Fraction(self.rules.team_diff)
        if self.relaxed(a + b, now):
            limit += Fraction(self.rules.team_slack)
        return abs(means[0] - means[1]) <= limit


class Windows(Lobby):
    """The same for more players, by the longest waiting of each window; not around a player."""

    def key(self, players: Sequence[int], now: float) -> Key:
        count = sum(self.prioritized(player, now) for player in players)
        return -count, sum(tick_of(self.times[player], self.rules) for player in players)

    def best_team(self, now: float, centres: Sequence[int]) -> Team | None:
        size, limit = self.rules.team_num, self.rules.player_diff
        ordered = sorted(self.pool, key=lambda player: self.ratings[player])
        teams = []
        for widest in (limit, limit + self.rules.player_slack):
            for place, lowest in enumerate(ordered[: len(ordered) - size + 1]):
                least = self.ratings[lowest]
                window = [k for k in ordered[place:] if self.ratings[k] - least <= widest]
                team = tuple(sorted(window)[:size])
                if len(team) == size and (widest == limit or self.relaxed(team, now)):
                    teams.append(team)
        return min(teams, key=lambda team: (*self.key(team, now), team), default=None)

    def fit(self, a: Team, b: Team, now: float) -> bool:
        means = [sum(self.ratings[p] for p in team) / len(team) for team in (a, b)]
        slack = self.rules.team_slack if self.relaxed(a + b, now) else 0.0
        return abs(means[0] - means[1]) <= self.rules.team_diff + slack


@dataclass
class Day:
    """One day; players are numbered in order of arrival."""

    times: Sequence[float]
    ratings: Sequence[float]
    rules: Rules
    lobby_type: type[Lobby] = Lobby
    # Hour, number and players of the older, the younger team.
    matches: list[tuple[float, int, Team, int, Team]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lobby = self.lobby_type(self.rules)

    @property
    def teams(self) -> list[FormedTeam]:
        return self.lobby.teams

    def prioritized(self, player: int, now: float) -> bool:
        return self.lobby.prioritized(player, now)

    def play(self) -> None:
        """Let everyone arrive; review at each arrival and, if asked, at each expiry."""
        events = [(time, 1, player) for player, time in enumerate(self.times)]
        if self.rules.continuous:
            moments = ((t + self.rules.wait_thresh, 0, k) for k, t in enumerate(self.times))
            events += [event for event in moments if event[0] < self.rules.horizon]
        for now, arrives, player in sorted(events):
            if arrives:
                self.lobby.join(player, self.times[player], self.ratings[player])
            elif player not in self.lobby.waiting():
                continue
            centres = [player] if arrives else self.expiring(now)
            for a, b in self.lobby.review(now, centres):
                self.matches.append((now, *a, *b))

    def expiring(self, now: float) -> list[int]:
        return [k for k in self.lobby.pool if self.times[k] + self.rules.wait_thresh == now]
