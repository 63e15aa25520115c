"""The model `ladder` in plain Python: one event at a time, everything that happens written down.

What the model's page leaves open is settled so: members of a team are in order of their tickets,
and sums run in this order; who starts a session while away queues, even if the same moment brings
something else; sessions of who is gone are not looked at.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from tests.oracles import pairs, queue_rules
from tests.oracles.ladder_world import BREAK, CHURN, CONTINUE, OUTCOME, PAIR, PATIENCE, World
from tests.oracles.queue_rules import Sides
from tests.oracles.rate import (
    EloOracle,
    Game,
    Oracle,
    Row,
    TrueSkillOracle,
    ZoneStatsOracle,
    logistic,
)
from valmatch.matching.queue import Rules, ticks_per_hour
from valmatch.models.ladder.factors import LadderFactors
from valmatch.ratings.trueskill import normal_cdf

Factors = Mapping[str, Any]
Belief = tuple[float, float]

END, GIVE_UP, QUEUE, PRIORITIZE, TICK = range(5)
"""Kinds of events, in the order in which they happen at one moment."""

DEFAULTS: Factors = LadderFactors().model_dump()

PAIRS: Factors = {**DEFAULTS["rule"], "matching": "pairs", "team_num": 1}


def factors_with(changes: Factors) -> Factors:
    """Return the defaults with some changed; the rule `pairs` has factors of its own."""
    factors = {**DEFAULTS, **changes}
    for section in ("population", "sessions", "match", "rule", "rating"):
        changed = changes.get(section, {})
        pairs = section == "rule" and changed.get("matching") == "pairs"
        factors[section] = {**(PAIRS if pairs else DEFAULTS[section]), **changed}
    rating, match = factors["rating"], factors["match"]
    if rating["beta"] is None:
        fitting = 1.7 * match["spread"] * math.sqrt(factors["rule"]["team_num"] / 2)
        rating["beta"] = fitting if match["outcome"] == "logistic" else match["beta"]
    return factors


@dataclass
class Player:
    """A player; `state` is away, queued, break, playing or gone; counts are of what has begun."""

    number: int
    skill: float
    newcomer: bool
    belief: Belief
    starts: Iterator[float]
    state: str = "away"
    tickets: int = 0
    matches: int = 0
    finished: int = 0
    sessions: int = 0


@dataclass
class Ticket:
    """A wait of a player; `ended` by `match`, or by patience if there is none."""

    number: int
    player: Player
    time: float
    rating: float
    ended: float | None = None
    match: int | None = None


@dataclass
class Match:
    """A match; lists of two are side A, side B. `games` counts this one, for each player."""

    number: int
    time: float
    tickets: list[list[Ticket]]
    p: float
    predicted: float
    a_wins: bool
    games: list[list[int]]
    before: list[list[Belief]]
    after: list[list[Belief]] | None = None

    def players(self) -> list[Player]:
        return [ticket.player for side in self.tickets for ticket in side]


class Standing(NamedTuple):
    """What a player who has finished a match and is not gone is rated at some moment."""

    player: Player
    belief: Belief


class Matcher(Protocol):
    """A rule; those who wait are tickets."""

    def join(self, ticket: int, time: float, rating: float) -> None: ...

    def leave(self, ticket: int) -> list[int]:
        """Let a ticket leave; return those that this changes."""

    def review(self, now: float, changed: Sequence[int]) -> list[Sides]: ...


class Pairs:
    def __init__(self, ladder: Ladder) -> None:
        self.ladder = ladder
        self.waiting: list[int] = []
        rule, rating, match = (ladder.factors[name] for name in ("rule", "rating", "match"))

        def uniform(low: int, high: int) -> float:
            return ladder.world.numbers.uniform(PAIR, low, high)

        self.context = pairs.Context(rule, rating["beta"] ** 2, match["beta"] ** 2, uniform)

    def join(self, ticket: int, time: float, rating: float) -> None:
        self.waiting.append(ticket)

    def leave(self, ticket: int) -> list[int]:
        self.waiting.remove(ticket)
        return []

    def review(self, now: float, changed: Sequence[int]) -> list[Sides]:
        waiting = [self.described(self.ladder.tickets[number]) for number in self.waiting]
        found = pairs.tick_pairs(waiting, now, self.context)
        playing = {ticket for pair in found for ticket in pair}
        self.waiting = [ticket for ticket in self.waiting if ticket not in playing]
        return [((low,), (high,)) for low, high in found]

    @staticmethod
    def described(ticket: Ticket) -> pairs.Waiting:
        player = ticket.player
        mu, sigma = player.belief
        return pairs.Waiting(
            ticket.number, ticket.time, ticket.rating, mu, sigma * sigma, player.skill
        )


def rules_of(factors: Factors) -> Rules:
    """Return the rules of `valorant` that a ladder follows."""
    rule, horizon = factors["rule"], 24.0 * factors["days"]
    names = ("team_num", "player_diff", "player_slack", "team_diff", "team_slack", "wait_thresh")
    return Rules(
        **{name: rule[name] for name in names},
        horizon=horizon,
        continuous=rule["review"] == "continuous",
        pool_scope=rule["slack_scope"] == "pool",
        balanced=rule["tie_break"] == "balanced",
        around=False,
        ticks_per_hour=ticks_per_hour(horizon, rule["team_num"]),
    )


class Ladder:
    """One replication, and what happened in it, in order.

    - (time, "drop", player), of a session start
    - (time, "queue", player, ticket, rating that the rule sees)
    - (time, "match", match, tickets of side A, of side B, p, prediction, whether A wins)
    - (time, "end", match, players, beliefs before, beliefs after), beliefs by side
    - (time, "give up", player, ticket, tickets that have lost their team)
    - (time, "away" or "gone", player), of the end of a session
    """

    def __init__(self, factors: Factors, world: World) -> None:
        self.factors, self.world = factors, world
        self.horizon = 24.0 * factors["days"]
        old = len(world.skills) - len(world.joining)
        self.players = [
            Player(k, skill, k >= old, self.first_belief(skill, k >= old), iter(world.starts[k]))
            for k, skill in enumerate(world.skills)
        ]
        self.tickets: list[Ticket] = []
        self.matches: list[Match] = []
        self.dropped: list[float] = []  # times of session starts
        # At the end of the warm-up, of each day, of the run.
        self.standings: dict[float, list[Standing]] = {}
        self.history: list[tuple[Any, ...]] = []
        self.matcher = self.new_matcher()
        self.events: list[tuple[float, int, int, int, bool]] = []

    def first_belief(self, skill: float, newcomer: bool) -> Belief:
        rating = self.factors["rating"]
        if rating["system"] == "known":
            return skill, 0.0
        exact = not newcomer and self.factors["population"]["start"] == "skill"
        sigma = rating["sigma"] if rating["system"] == "trueskill" else 0.0
        return skill if exact else rating["mu"], sigma

    def new_matcher(self) -> Matcher:
        rule = self.factors["rule"]
        if rule["matching"] == "joint":
            return queue_rules.Pool(rules_of(self.factors))
        if rule["matching"] == "fifo":
            return queue_rules.Line(rule["team_num"])
        if rule["matching"] == "pairs":
            return Pairs(self)
        return queue_rules.Windows(rules_of(self.factors))

    def play(self) -> None:
        """Play to the horizon."""
        for player in self.players:
            self.expect_session(player)
        if self.factors["rule"]["matching"] == "pairs":
            self.expect_tick(1)
        days, warmup = self.factors["days"], self.factors["warmup_days"]
        moments = {warmup, *range(1, math.ceil(days)), days}
        for moment in sorted(24.0 * day for day in moments):
            while self.events and self.events[0][0] < moment:
                self.happen(*heapq.heappop(self.events))
            self.standings[moment] = [
                Standing(player, player.belief)
                for player in self.players
                if player.finished and player.state != "gone"
            ]

    def expect(self, time: float, kind: int, number: int, ticket: int = 0) -> None:
        """Note a future event: of a match, player, ticket or tick; a ticket may have to wait."""
        if time < self.horizon:
            heapq.heappush(self.events, (time, kind, number, ticket, False))

    def expect_session(self, player: Player) -> None:
        time = next(player.starts, math.inf)
        if time < self.horizon:
            heapq.heappush(self.events, (time, QUEUE, player.number, 0, True))

    def expect_tick(self, tick: int) -> None:
        self.expect(tick * self.factors["rule"]["tick_seconds"] / 3600.0, TICK, tick)

    def happen(self, now: float, kind: int, number: int, ticket: int, session: bool) -> None:
        if kind == END:
            self.end_match(now, self.matches[number])
        elif kind == GIVE_UP:
            self.give_up(now, self.tickets[ticket])
        elif kind == QUEUE and session:
            self.start_session(now, self.players[number])
        elif kind == QUEUE:
            self.queue(now, self.players[number])
        elif kind == PRIORITIZE:
            if self.tickets[number].ended is None:
                self.review(now, [number])
        else:
            self.review(now, [])
            self.expect_tick(number + 1)

    def start_session(self, now: float, player: Player) -> None:
        if player.state == "gone":
            return
        self.expect_session(player)
        if player.state == "away":
            self.queue(now, player)
        else:
            self.dropped.append(now)
            self.history.append((now, "drop", player.number))

    def queue(self, now: float, player: Player) -> None:
        rule, patience = self.factors["rule"], self.factors["sessions"]["patience_minutes"]
        ticket = Ticket(len(self.tickets), player, now, self.seen(player))
        self.tickets.append(ticket)
        self.history.append((now, "queue", player.number, ticket.number, ticket.rating))
        player.state = "queued"
        if patience is not None:
            wait = patience / 60.0 * self.exponential(PATIENCE, player, player.tickets)
            self.expect(now + wait, GIVE_UP, player.number, ticket.number)
        player.tickets += 1
        self.matcher.join(ticket.number, now, ticket.rating)
        if rule["matching"] == "pairs":
            return
        if rule["review"] == "continuous":
            self.expect(now + rule["wait_thresh"], PRIORITIZE, ticket.number)
        self.review(now, [ticket.number])

    def seen(self, player: Player) -> float:
        """Return the rating that the rule sees."""
        mu, sigma = player.belief
        return mu - 3.0 * sigma if self.factors["rating"]["match_by"] == "conservative" else mu

    def give_up(self, now: float, ticket: Ticket) -> None:
        if ticket.ended is not None:
            return
        ticket.ended = now
        changed = self.matcher.leave(ticket.number)
        self.history.append((now, "give up", ticket.player.number, ticket.number, tuple(changed)))
        self.end_session(now, ticket.player)
        if changed:
            self.review(now, changed)

    def review(self, now: float, changed: Sequence[int]) -> None:
        for sides in self.matcher.review(now, changed):
            self.start_match(now, [[self.tickets[k] for k in side] for side in sides])

    def start_match(self, now: float, tickets: list[list[Ticket]]) -> None:
        number = len(self.matches)
        before = [[ticket.player.belief for ticket in side] for side in tickets]
        p = self.probability(tickets)
        players = [ticket.player for side in tickets for ticket in side]
        lowest = min(players, key=lambda player: player.number)
        a_wins = self.world.numbers.uniform(OUTCOME, lowest.number, lowest.matches) < p
        for player in players:
            player.state = "playing"
            player.matches += 1
        for side in tickets:
            for ticket in side:
                ticket.ended, ticket.match = now, number
        games = [[ticket.player.matches for ticket in side] for side in tickets]
        match = Match(number, now, tickets, p, self.prediction(before, p), a_wins, games, before)
        self.matches.append(match)
        sides = [tuple(ticket.number for ticket in side) for side in tickets]
        self.history.append((now, "match", number, *sides, p, match.predicted, a_wins))
        self.expect(now + self.factors["match"]["minutes"] / 60.0, END, number)

    def probability(self, tickets: list[list[Ticket]]) -> float:
        """Return the probability that side A wins."""
        match = self.factors["match"]
        sum_a, sum_b = (sum((t.player.skill for t in side), 0.0) for side in tickets)
        size = len(tickets[0])
        if match["outcome"] == "normal":
            return normal_cdf((sum_a - sum_b) / (match["beta"] * math.sqrt(2.0 * size)))
        return logistic((sum_a / size - sum_b / size) / match["spread"])

    def prediction(self, beliefs: list[list[Belief]], p: float) -> float:
        """Return what the rating system gives side A before the match."""
        rating = self.factors["rating"]
        sum_a, sum_b = (sum((mu for mu, _ in side), 0.0) for side in beliefs)
        size = len(beliefs[0])
        if rating["system"] == "known":
            return p
        if rating["system"] == "trueskill":
            var_a, var_b = (sum((s * s for _, s in side), 0.0) for side in beliefs)
            total = var_a + var_b + 2 * size * rating["beta"] * rating["beta"]
            return normal_cdf((sum_a - sum_b) / math.sqrt(total))
        elo = rating["system"] == "elo"
        spread = rating["scale"] / math.log(10.0) if elo else rating["T"]
        return logistic((sum_a / size - sum_b / size) / spread)

    def end_match(self, now: float, match: Match) -> None:
        match.after = self.rated(match)
        numbers = tuple(player.number for player in match.players())
        self.history.append((now, "end", match.number, numbers, match.before, match.after))
        for side, (tickets, beliefs) in enumerate(zip(match.tickets, match.after, strict=True)):
            won = match.a_wins == (side == 0)
            for ticket, belief in zip(tickets, beliefs, strict=True):
                ticket.player.belief = belief
                ticket.player.finished += 1
                self.go_on(now, ticket.player, won)

    def rated(self, match: Match) -> list[list[Belief]]:
        """Return the beliefs after a match."""
        rating = self.factors["rating"]
        if rating["system"] == "known":
            return match.before
        kinds: dict[str, type[Oracle]] = {
            "elo": EloOracle,
            "trueskill": TrueSkillOracle,
            "zonestats": ZoneStatsOracle,
        }
        minutes = self.factors["match"]["minutes"]
        scores = (1.0, 0.0) if match.a_wins else (0.0, 1.0)
        sides = [
            [Row(str(ticket.player.number), team, score, minutes) for ticket in side]
            for side, team, score in zip(match.tickets, "AB", scores, strict=True)
        ]
        oracle = kinds[rating["system"]]({**rating, "draw_probability": 0.0})
        oracle.beliefs = {str(player.number): player.belief for player in match.players()}
        after = oracle.update(Game("", sides))
        return [[self.whole(after[row.player]) for row in side] for side in sides]

    @staticmethod
    def whole(belief: tuple[float, ...]) -> Belief:
        return belief[0], belief[1] if len(belief) > 1 else 0.0

    def go_on(self, now: float, player: Player, won: bool) -> None:
        """Let a player queue again after a break, or end the session."""
        sessions = self.factors["sessions"]
        effect = sessions["win_effect" if won else "loss_effect"]
        chance = min(1.0, max(0.0, sessions["continue_prob"] + effect))
        game = player.matches - 1
        if self.uniform(CONTINUE, player, game) < chance:
            player.state = "break"
            pause = sessions["break_minutes"] / 60.0 * self.exponential(BREAK, player, game)
            self.expect(now + pause, QUEUE, player.number)
        else:
            self.end_session(now, player)

    def end_session(self, now: float, player: Player) -> None:
        gone = self.uniform(CHURN, player, player.sessions) < self.factors["sessions"]["churn"]
        player.state = "gone" if gone else "away"
        player.sessions += 1
        self.history.append((now, player.state, player.number))

    def uniform(self, source: int, player: Player, counter: int) -> float:
        return self.world.numbers.uniform(source, player.number, counter)

    def exponential(self, source: int, player: Player, counter: int) -> float:
        return self.world.numbers.exponential(source, player.number, counter)
