"""Game logs rated with dictionaries and loops, straight from the definitions."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist

from valmatch.ratings.trueskill import v_and_w, v_and_w_draw

Values = Mapping[str, float]


@dataclass(frozen=True)
class Row:
    player: str
    team: str
    score: float
    minutes: float


@dataclass(frozen=True)
class Game:
    """Sides by their alphabetically first player; players by name."""

    name: str
    sides: list[list[Row]]

    def rows(self) -> list[Row]:
        return [row for side in self.sides for row in side]

    def points(self) -> list[float]:
        if all(len(side) == 1 for side in self.sides):
            return [60.0 * side[0].score / side[0].minutes for side in self.sides]
        return [sum(row.score for row in side) for side in self.sides]

    def score(self, a: int, b: int) -> float:
        mine, theirs = self.points()[a], self.points()[b]
        return 0.5 if mine == theirs else float(mine > theirs)


def read_long(path: Path) -> list[Game]:
    """Read a log in long format without errors, in the order of the file."""
    games: dict[str, list[Row]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            members = games.setdefault(row["game"], [])
            if row.get("enabled", "yes") == "yes":
                one = Row(
                    row["player"],
                    row.get("team") or f"alone: {row['player']}",
                    float(row["score"]),
                    float(row.get("minutes", "20")),
                )
                members.append(one)
    return [game for game in map(arranged, games, games.values()) if len(game.sides) > 1]


def arranged(name: str, rows: list[Row]) -> Game:
    sides: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.player.encode()):
        sides.setdefault(row.team, []).append(row)
    return Game(name, list(sides.values()))


@dataclass
class Oracle:
    """Rates games one by one and keeps everything."""

    values: Values  # parameters of the system
    beliefs: dict[str, tuple[float, ...]] = field(default_factory=dict)
    games: dict[str, int] = field(default_factory=dict)
    # Game, experience, expected, score, weight of pairs.
    predictions: list[tuple[str, int, float, float, float]] = field(default_factory=list)
    # Game, player, before, after.
    history: list[tuple[str, str, float, float]] = field(default_factory=list)

    def newcomer(self) -> tuple[float, ...]:
        raise NotImplementedError

    def shown(self, player: str) -> float:
        return self.beliefs[player][0]

    def expected(self, game: Game, a: int, b: int) -> float:
        raise NotImplementedError

    def update(self, game: Game) -> dict[str, tuple[float, ...]]:
        raise NotImplementedError

    def play(self, games: list[Game]) -> None:
        for game in games:
            for row in game.rows():
                self.beliefs.setdefault(row.player, self.newcomer())
            experience = min(self.games.get(row.player, 0) for row in game.rows())
            n = len(game.sides)
            for a in range(n):
                for b in range(a + 1, n):
                    expected, score = self.expected(game, a, b), game.score(a, b)
                    weight = 2.0 / (n * (n - 1))
                    self.predictions.append((game.name, experience, expected, score, weight))
            before = {row.player: self.shown(row.player) for row in game.rows()}
            self.beliefs.update(self.update(game))
            for player, rating in before.items():
                self.games[player] = self.games.get(player, 0) + 1
                self.history.append((game.name, player, rating, self.shown(player)))

    def scores(self, burn_in: int) -> dict[str, float]:
        """Accuracy, log loss and Brier score of games of so experienced players."""
        decided = correct = brier = 0.0
        losses: dict[str, float] = {}
        for game, experience, expected, score, weight in self.predictions:
            if experience < burn_in:
                continue
            p, s = (expected, score) if expected >= 0.5 else (1.0 - expected, 1.0 - score)
            if s != 0.5:
                decided += weight
                correct += weight * (0.5 if p == 0.5 else s)
            brier += weight * (p - s) * (p - s)
            loss = -(s * math.log(max(p, 1e-15)) + (1.0 - s) * math.log(max(1.0 - p, 1e-15)))
            losses[game] = losses.get(game, 0.0) + weight * loss
        n = len(losses)
        return {
            "games": n,
            "accuracy": correct / decided,
            "log_loss": sum(losses.values()) / n,
            "brier_score": brier / n,
        }


def logistic(lead: float) -> float:
    odds = math.exp(-abs(lead))
    return (1.0 if lead >= 0.0 else odds) / (1.0 + odds)


class MeanOracle(Oracle):
    def spread(self) -> float:
        raise NotImplementedError

    def mean(self, side: list[Row]) -> float:
        return sum(self.beliefs[row.player][0] for row in side) / len(side)

    def expected(self, game: Game, a: int, b: int) -> float:
        lead = self.mean(game.sides[a]) - self.mean(game.sides[b])
        return logistic(lead / self.spread())


@dataclass
class ZoneStatsOracle(MeanOracle):
    """Also keeps the details of each row of the history: score per hour, offset, scale."""

    details: list[tuple[float, float, float]] = field(default_factory=list)

    def newcomer(self) -> tuple[float, ...]:
        return (500.0,)

    def spread(self) -> float:
        return self.values["T"]

    def update(self, game: Game) -> dict[str, tuple[float, ...]]:
        rows = game.rows()
        offsets = dict.fromkeys([row.player for row in rows], 0.0)
        for i, one in enumerate(rows):
            for other in rows[i + 1 :]:
                if one.team == other.team:
                    continue
                points = self.contest(one, other)
                offsets[one.player] += points
                offsets[other.player] -= points
        scale = self.scale(rows, offsets)
        new: dict[str, tuple[float, ...]] = {
            p: (self.beliefs[p][0] + offset * scale,) for p, offset in offsets.items()
        }
        for row in rows:
            sph = 60.0 * row.score / row.minutes
            self.details.append((sph, offsets[row.player], scale))
        return new

    def scale(self, rows: list[Row], offsets: Mapping[str, float]) -> float:
        highest = max(abs(offset) for offset in offsets.values())
        scale = 1.0
        if highest > 0.0:
            far = [row for row in rows if abs(offsets[row.player]) >= highest * (1.0 - 1e-12)]
            time_in_game = min(row.minutes for row in far)
            scale = min(1.0, time_in_game * self.values["GAME_MULT"] / highest)
        return scale

    def contest(self, one: Row, other: Row) -> float:
        predicted = logistic(
            (self.beliefs[one.player][0] - self.beliefs[other.player][0]) / self.values["T"]
        )
        mine, theirs = (60.0 * row.score / row.minutes for row in (one, other))
        score = 0.5 if mine == theirs else float(mine > theirs)
        time = min(self.values["MAX_GAME_LENGTH"], one.minutes, other.minutes)
        return (score - predicted) * self.values["GAME_MULT"] * time


class EveryPlayerOracle(ZoneStatsOracle):
    def scale(self, rows: list[Row], offsets: Mapping[str, float]) -> float:
        scales = [1.0]
        for row in rows:
            time = min(self.values["MAX_GAME_LENGTH"], row.minutes)
            if offsets[row.player] != 0.0:
                scales.append(self.values["GAME_MULT"] * time / abs(offsets[row.player]))
        return min(scales)


class EloOracle(MeanOracle):
    def newcomer(self) -> tuple[float, ...]:
        return (1500.0,)

    def spread(self) -> float:
        return self.values["scale"] / math.log(10.0)

    def update(self, game: Game) -> dict[str, tuple[float, ...]]:
        n = len(game.sides)
        expected, scored = [0.0] * n, [0.0] * n
        for a in range(n):
            for b in range(a + 1, n):
                share, score = self.expected(game, a, b), game.score(a, b)
                expected[a] += share
                expected[b] += 1.0 - share
                scored[a] += score
                scored[b] += 1.0 - score
        new: dict[str, tuple[float, ...]] = {}
        for side, s, e in zip(game.sides, scored, expected, strict=True):
            for row in side:
                gain = self.values["K"] * (s - e) / (n - 1)
                new[row.player] = (self.beliefs[row.player][0] + gain,)
        return new


class TrueSkillOracle(Oracle):
    """Two sides only."""

    def newcomer(self) -> tuple[float, ...]:
        return (self.values["mu"], self.values["sigma"])

    def shown(self, player: str) -> float:
        mu, sigma = self.beliefs[player]
        return mu - 3.0 * sigma

    def variance(self, row: Row) -> float:
        sigma = self.beliefs[row.player][1]
        return sigma * sigma + self.values["tau"] * self.values["tau"]

    def game_facts(self, game: Game) -> tuple[float, float, float]:
        """Lead of the first side, total variance, draw margin."""
        first, second = (sum(self.beliefs[r.player][0] for r in side) for side in game.sides)
        spreads = [sum(self.variance(row) for row in side) for side in game.sides]
        n, beta = len(game.rows()), self.values["beta"]
        total = (spreads[0] + spreads[1]) + n * beta * beta
        quantile = NormalDist().inv_cdf((self.values["draw_probability"] + 1.0) / 2.0)
        return first - second, total, quantile * math.sqrt(n) * beta

    def expected(self, game: Game, a: int, b: int) -> float:
        from valmatch.ratings.trueskill import normal_cdf

        lead, total, margin = self.game_facts(game)
        c = math.sqrt(total)
        return 0.5 * (normal_cdf((lead - margin) / c) + normal_cdf((lead + margin) / c))

    def update(self, game: Game) -> dict[str, tuple[float, ...]]:
        lead, total, margin = self.game_facts(game)
        c = math.sqrt(total)
        score = game.score(0, 1)
        sign = -1.0 if score == 0.0 else 1.0
        if score == 0.5:
            v, w = v_and_w_draw(lead / c, margin / c)
        else:
            v, w = v_and_w(sign * lead / c - margin / c)
        new: dict[str, tuple[float, ...]] = {}
        for side, towards in zip(game.sides, (sign, -sign), strict=True):
            for row in side:
                skill, mu = self.variance(row), self.beliefs[row.player][0]
                shrunk = skill * (1.0 - skill * (w / total))
                new[row.player] = (mu + skill * (towards * (v / c)), math.sqrt(shrunk))
        return new
