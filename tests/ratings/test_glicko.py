"""Glicko agrees with Glickman's example and, period by period, with dictionaries and loops."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.rate import Game, read_long
from tests.ratings.test_glicko2 import OPPONENTS, TIMED, crowd, meet, timed
from tests.support.folders import rows as table
from tests.support.game_logs import write
from valmatch.game_logs.rating import RatedLog, rate_games
from valmatch.ratings.registry import system_named

PUBLISHED = {parameter.name: parameter.published for parameter in system_named("glicko").parameters}
COLUMNS = "player,rating,deviation,base_rating,base_deviation,information,surprise,time,games"
Q = math.log(10.0) / 400.0

Belief = tuple[float, float]  # r, RD


def g(deviation: float) -> float:
    return 1.0 / math.sqrt(1.0 + 3.0 * Q**2 * deviation**2 / math.pi**2)


def expected_score(rating: float, other: float, deviation: float) -> float:
    return 1.0 / (1.0 + math.exp(-g(deviation) * Q * (rating - other)))


@dataclass
class Glickman:
    """Rates periods one by one by the steps of the source, everyone at the end of each."""

    values: Mapping[str, float]  # parameters
    beliefs: dict[str, Belief] = field(default_factory=dict)  # after the last period with a game
    played: dict[str, int] = field(default_factory=dict)  # that period
    expected: dict[tuple[str, str], float] = field(default_factory=dict)  # by game and player

    def play(self, games: list[Game], times: Mapping[str, float]) -> None:
        length = self.values["period"]
        if not length:
            for game in games:
                self.played = dict.fromkeys(self.beliefs, 0)
                self.rate([game], 1)
            return
        for k, some in groupby(games, key=lambda game: math.floor(times[game.name] / length)):
            self.rate(list(some), k)

    def onset(self, player: str, period: int) -> Belief:
        if player not in self.beliefs:
            return 1500.0, self.values["deviation"]
        rating, deviation = self.beliefs[player]
        t = period - self.played[player]
        grown = math.sqrt(deviation**2 + self.values["c"] ** 2 * t)
        return rating, min(grown, self.values["deviation"])

    def rate(self, games: list[Game], period: int) -> None:
        start = {
            row.player: self.onset(row.player, period) for game in games for row in game.rows()
        }
        results: dict[str, list[tuple[float, float, float]]] = {}
        for game in games:
            sides = [self.side([start[row.player] for row in side]) for side in game.sides]
            meet(game, sides, expected_score, self.expected, results)
        for player, met in results.items():
            self.beliefs[player] = self.update(start[player], met)
            self.played[player] = period

    def side(self, beliefs: list[Belief]) -> Belief:
        squares = [deviation**2 for _, deviation in beliefs]
        mean = sum(rating for rating, _ in beliefs) / len(beliefs)
        return mean, math.sqrt(sum(squares) / len(squares))

    def update(self, belief: Belief, results: list[tuple[float, float, float]]) -> Belief:
        r, rd = belief
        known = [(g(rd_j), s, expected_score(r, r_j, rd_j)) for r_j, rd_j, s in results]
        d_squared = 1.0 / (Q**2 * sum(g_j**2 * e * (1.0 - e) for g_j, _, e in known))
        weight = 1.0 / rd**2 + 1.0 / d_squared
        total = sum(g_j * (s - e) for g_j, s, e in known)
        return r + Q / weight * total, max(math.sqrt(1.0 / weight), self.values["floor"])


def rated(path: Path, out: Path, values: Mapping[str, float], **options: Any) -> RatedLog:  # noqa: ANN401
    return rate_games(path, "glicko", parameters=values, out=out, **options)


def earlier(path: Path, rows: Mapping[str, Belief], games: int = 0) -> Path:
    """Write ratings of players whose last period is that of the time 0."""
    lines = [f"{name},{r},{rd},{r},{rd},0,0,0,{games}" for name, (r, rd) in rows.items()]
    path.write_text("\n".join([COLUMNS, *lines, ""]))
    return path


def test_published_example() -> None:
    """1500 and 200 against three opponents become 1464 and 151.4."""
    assert PUBLISHED == {"deviation": 350.0, "c": 34.6, "floor": 30.0, "period": 0.0}
    want = Glickman(PUBLISHED).update((1500.0, 200.0), [*OPPONENTS])
    assert (round(want[0]), round(want[1], 1)) == (1464, 151.4)
    assert [round(g(rd), 4) for _, rd, _ in OPPONENTS] == [0.9955, 0.9531, 0.7242]


@pytest.mark.parametrize("period", [0.0, 0.5, 10.0, 33.3, 1e6])
@pytest.mark.parametrize("changes", [{}, {"c": 90.0, "floor": 120.0, "deviation": 200.0}])
def test_agrees_with_plain_loops(period: float, changes: dict[str, float], tmp_path: Path) -> None:
    games, times = timed(crowd(1), 1)
    values = {**PUBLISHED, "period": period, **changes}
    path = write(tmp_path / "log.csv", games, TIMED)
    rated(path, tmp_path / "out", values)
    oracle = Glickman(values)
    oracle.play(read_long(path), times)
    rows = {row["player"]: row for row in table(tmp_path / "out" / "ratings.csv")}
    assert rows.keys() == oracle.beliefs.keys()
    for player, want in oracle.beliefs.items():
        got = [float(rows[player][column]) for column in ("rating", "deviation")]
        assert got == pytest.approx(want, rel=1e-6)  # the scale is 173.7178, rounded as published
    for row in table(tmp_path / "out" / "history.csv"):
        want_expected = oracle.expected[row["game"], row["player"]]
        assert float(row["expected"]) == pytest.approx(want_expected, abs=1e-6)


def test_deviations_grow_to_that_of_a_newcomer_and_fall_to_the_floor(tmp_path: Path) -> None:
    """A deviation of 50 is one of 350 after 100 periods, with the published c."""
    known = earlier(tmp_path / "known.csv", {"a": (1500.0, 50.0), "b": (1500.0, 50.0)}, games=1)
    onsets = []
    for periods in (1, 10, 99, 101, 500):
        path = write(tmp_path / "log.csv", [[["a", "b", f"{periods}"]]], "winner,loser,time")
        out = tmp_path / f"{periods}"
        rated(path, out, {"period": 1.0}, ratings=known, again=True)
        row = table(out / "ratings.csv")[0]
        onsets.append(float(row["base_deviation"]))
    assert onsets[:3] == pytest.approx([math.hypot(50.0, 34.6 * t**0.5) for t in (1, 10, 99)])
    assert onsets[2] < 350.0
    assert onsets[3:] == [350.0, 350.0]
    rows = [[["a", "b", "5"]], [["b", "a", "5"]]] * 400
    path = write(tmp_path / "log.csv", rows, "winner,loser,time")
    rated(path, tmp_path / "many", {"period": 10.0})
    assert {row["deviation"] for row in table(tmp_path / "many" / "ratings.csv")} == {"30.0"}
