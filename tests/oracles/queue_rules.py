"""Rules of the queue straight from their words, by enumeration in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from valmatch.matching.queue import Rules, prioritized, tick_of

Team = tuple[int, ...]
Sides = tuple[Team, Team]


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

    def leave(self, player: int) -> list[int]:
        self.players.remove(player)
        return []

    def review(self, now: float, changed: Sequence[int] = ()) -> list[Sides]:
        """Take the best match out of the pool and return it, if there is any."""
        times = [self.times[player] for player in self.players]
        first = [bool(prioritized(time, now, self.rules)) for time in times]
        assert first == sorted(first, reverse=True)
        ticks = [tick_of(time, self.rules) for time in times]
        ratings = [self.ratings[player] for player in self.players]
        found = best_match(ticks, ratings, sum(first), self.rules)
        if found is None:
            return []
        team_a, team_b = (tuple(self.players[place] for place in team) for team in found)
        self.players = [player for player in self.players if player not in team_a + team_b]
        return [(team_a, team_b)]


def _relaxed(team: Team, n_prioritized: int, rules: Rules) -> bool:
    if rules.pool_scope:
        return n_prioritized > 0
    return any(k < n_prioritized for k in team)


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

    def review(self, now: float, centres: Sequence[int]) -> list[Sides]:
        return [(a, b) for (_, a), (_, b) in self.numbered_pairs(now, centres)]

    def numbered_pairs(
        self, now: float, centres: Sequence[int]
    ) -> list[tuple[FormedTeam, FormedTeam]]:
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
            for a, b in self.lobby.numbered_pairs(now, centres):
                self.matches.append((now, *a, *b))

    def expiring(self, now: float) -> list[int]:
        return [k for k in self.lobby.pool if self.times[k] + self.rules.wait_thresh == now]


@dataclass
class Line:
    """Those who wait, in order of arrival."""

    team_num: int
    waiting: list[int] = field(default_factory=list)

    def join(self, player: int, time: float, rating: float) -> None:
        self.waiting.append(player)

    def leave(self, player: int) -> list[int]:
        self.waiting.remove(player)
        return []

    def review(self, now: float, changed: Sequence[int] = ()) -> list[Sides]:
        """Return the matches that those who wait play, longest waiting first; dealt in turn."""
        size, matches = 2 * self.team_num, []
        while len(self.waiting) >= size:
            playing, self.waiting = self.waiting[:size], self.waiting[size:]
            matches.append((tuple(playing[::2]), tuple(playing[1::2])))
        return matches
