"""Glicko and Glicko-2 agree with Glickman's examples and, period by period, with plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.oracles.rate import Game, read_long
from tests.support.folders import rows as table
from tests.support.game_logs import LONG, random_rows, write
from tests.support.refusals import defined
from valmatch.game_logs.rating import RatedLog, rate_games
from valmatch.ratings import glicko2
from valmatch.ratings.registry import NAMES, system_named

SCALE = 173.7178
PUBLISHED = {first.name: first.published for first in system_named("glicko2").parameters}
KNOWN = ("rating", "deviation", "volatility")
COLUMNS = "player,rating,deviation,volatility,base_rating,base_deviation,base_volatility"
COLUMNS += ",information,surprise,time,games"

Belief = tuple[float, float, float]  # mu, phi, sigma
Log = list[list[list[str]]]


def earlier(path: Path, rows: Mapping[str, tuple[float, float, float]]) -> Path:
    """Write ratings of players whose last period is long over."""
    lines = [
        f"{name},{r},{rd},{sigma},{r},{rd},{sigma},0,0,0,0" for name, (r, rd, sigma) in rows.items()
    ]
    path.write_text("\n".join([COLUMNS, *lines, ""]))
    return path


OPPONENTS = ((1400.0, 30.0, 1.0), (1550.0, 100.0, 0.0), (1700.0, 300.0, 0.0))
SIGMA, TAU = 0.06, 0.5
V, DELTA = 1.7785, -0.4834


def test_published_example_by_steps() -> None:
    """What the source prints follows from the rounded numbers that it prints before."""
    assert (glicko2.SCALE, glicko2.INITIAL_RATING) == (SCALE, 1500.0)
    assert PUBLISHED == {"deviation": 350.0, "volatility": 0.06, "tau": 0.5, "period": 0.0}
    mus = [(rating - 1500.0) / SCALE for rating, _, _ in OPPONENTS]  # step 2
    phis = [deviation / SCALE for _, deviation, _ in OPPONENTS]
    assert [round(mu, 4) for mu in mus] == [-0.5756, 0.2878, 1.1513]
    assert [round(phi, 4) for phi in phis] == [0.1727, 0.5756, 1.7269]
    gs = [round(glicko2.damping(phi), 4) for phi in phis]  # step 3
    es = [round(glicko2.expected_score(-mu, phi), 3) for mu, phi in zip(mus, phis, strict=True)]
    assert (gs, es) == ([0.9955, 0.9531, 0.7242], [0.639, 0.432, 0.303])
    v = 1.0 / sum(g * g * e * (1.0 - e) for g, e in zip(gs, es, strict=True))
    surprise = sum(g * (s - e) for g, e, (*_, s) in zip(gs, es, OPPONENTS, strict=True))
    assert (round(v, 4), round(V * surprise, 4)) == (V, DELTA)  # step 4
    a = math.log(SIGMA**2)  # step 5
    assert round(a, 5) == -5.62682
    sums = (1.0 / V, DELTA / V)
    slopes = [glicko2.volatility_slope(x, 1.1513, a, *sums, TAU) for x in (a, a - TAU)]
    assert (round(slopes[0], 8), round(slopes[1], 6)) == (-0.00053567, 1.999675)
    sigma = glicko2.new_volatility(1.1513, SIGMA, *sums, TAU)
    assert math.floor(1e5 * sigma) == 5999  # printed as 0.05999, though nearer to 0.06
    assert round(glicko2.grown(1.1513, 0.05999, 1.0), 6) == 1.152862  # step 6
    assert round(surprise, 3) == -0.272
    gain, phi, _ = glicko2.updated(1.1513, SIGMA, 1.0 / V, -0.272, TAU)  # step 7
    assert (round(gain, 4), round(phi, 4)) == (-0.2069, 0.8722)
    rating, deviation = 1500.0 + SCALE * round(gain, 4), SCALE * round(phi, 4)  # step 8
    assert (round(rating, 2), round(deviation, 2)) == (1464.06, 151.52)


def random_period(rng: np.random.Generator) -> tuple[float, float, float, float, float]:
    """Return phi, sigma, information, surprise and tau of a plausible or of a wild period."""
    phi, sigma = float(rng.uniform(0.1, 2.5)), float(rng.uniform(0.01, 0.3))
    information, tau = float(rng.uniform(0.01, 5.0)), float(rng.uniform(0.2, 1.2))
    surprise = float(rng.normal(0.0, 2.0 * math.sqrt(information)))
    if rng.random() < 0.3:
        phi, sigma = 10.0 ** float(rng.uniform(-6, 3)), 10.0 ** float(rng.uniform(-9, 1))
        information = 10.0 ** float(rng.uniform(-20, 3))
        surprise = math.copysign(10.0 ** float(rng.uniform(-8, 2)), surprise)
        tau = 10.0 ** float(rng.uniform(-2, 1))
    return phi, sigma, information, surprise, tau


def printed_f(x: Any, phi: Any, sigma: Any, v: Any, delta: Any, tau: Any) -> Any:  # noqa: ANN401
    """Return f(x) of step 5 as it is printed."""
    e, a = mpmath.exp(x), mpmath.log(sigma**2)
    known = phi**2 + v + e
    return e * (delta**2 - known) / (2 * known**2) - (x - a) / mpmath.mpf(tau) ** 2


def test_volatility_is_a_root_of_the_published_equation() -> None:
    """Of f(x) as printed, which changes its sign within rounding, but where there is a limit."""
    rng = np.random.default_rng(2)
    limited = 0
    for _ in range(400):
        phi, sigma, information, surprise, tau = random_period(rng)
        new = glicko2.new_volatility(phi, sigma, information, surprise, tau)
        if new == glicko2.MOST_VOLATILITY:
            limited += 1
            continue
        with mpmath.workdps(60):
            x, v = 2 * mpmath.log(new), 1 / mpmath.mpf(information)
            numbers = (mpmath.mpf(phi), mpmath.mpf(sigma), v, v * mpmath.mpf(surprise), tau)
            assert printed_f(x - 1e-11, *numbers) * printed_f(x + 1e-11, *numbers) < 0
    assert limited < 40


def test_nothing_is_too_extreme_for_the_volatility() -> None:
    for phi in (0.0, 1e-14, 1.0, 6e9):
        for sigma in (glicko2.LEAST_VOLATILITY, 0.06, glicko2.MOST_VOLATILITY):
            for information in (0.0, 1e-320, 1e-100, 1.0, 1e15):
                for surprise in (0.0, 1e-200, -1.0, 1e15):
                    for tau in (0.01, 0.5, 10.0):
                        new = glicko2.updated(phi, sigma, information, surprise, tau)
                        assert all(map(math.isfinite, new))
                        assert new[1] > 0.0
                        assert glicko2.LEAST_VOLATILITY <= new[2] <= glicko2.MOST_VOLATILITY
    # Without a result the volatility stays, and the deviation is that of an idle player.
    gain, phi, sigma = glicko2.updated(1.0, 0.06, 0.0, 0.0, 0.5)
    assert gain == 0.0
    assert sigma == pytest.approx(0.06, rel=1e-12)
    assert phi == pytest.approx(glicko2.grown(1.0, 0.06, 1.0), rel=1e-14)


def meet(
    game: Game,
    sides: Sequence[tuple[float, float]],
    chance: Callable[[float, float, float], float],
    expected: dict[tuple[str, str], float],
    results: dict[str, list[tuple[float, float, float]]],
) -> None:
    """Note of each player the mean expected score of the side, and whom it met with which score."""
    for a, (members, (mean, spread)) in enumerate(zip(game.sides, sides, strict=True)):
        others = [(b, *side) for b, side in enumerate(sides) if b != a]
        chances = [chance(mean, other, math.hypot(spread, its)) for _, other, its in others]
        for row in members:
            expected[game.name, row.player] = sum(chances) / len(chances)
            met = [(other, its, game.score(a, b)) for b, other, its in others]
            results.setdefault(row.player, []).extend(met)


@dataclass
class Glickman:
    """Rates periods one by one by the steps of the source, everyone at the end of each."""

    values: Mapping[str, float]  # parameters
    beliefs: dict[str, Belief] = field(default_factory=dict)  # of each player, now
    last: dict[str, Belief] = field(default_factory=dict)  # after the last period with a game
    expected: dict[tuple[str, str], float] = field(default_factory=dict)  # by game and player

    def play(self, games: list[Game], times: Mapping[str, float]) -> None:
        length = self.values["period"]
        if not length:
            for game in games:
                self.period([game])
            return
        now = None
        for k, some in groupby(games, key=lambda game: math.floor(times[game.name] / length)):
            while now is not None and now + 1 < k:
                now += 1
                self.period([])
            now = k
            self.period(list(some))

    def period(self, games: list[Game]) -> None:
        results: dict[str, list[Belief]] = {}  # mu and phi of the opponent, score
        for game in games:
            for row in game.rows():
                newcomer = (0.0, self.values["deviation"] / SCALE, self.values["volatility"])
                self.beliefs.setdefault(row.player, newcomer)
            sides = [self.side(game, k) for k in range(len(game.sides))]
            meet(game, sides, expected_score, self.expected, results)
        for player, (mu, phi, sigma) in self.beliefs.items():
            if self.values["period"] and player not in results:
                self.beliefs[player] = (mu, math.sqrt(phi**2 + sigma**2), sigma)
        for player, met in results.items():
            self.beliefs[player] = self.last[player] = self.update(self.beliefs[player], met)

    def side(self, game: Game, k: int) -> tuple[float, float]:
        beliefs = [self.beliefs[row.player] for row in game.sides[k]]
        mus, squares = [mu for mu, _, _ in beliefs], [phi**2 for _, phi, _ in beliefs]
        return sum(mus) / len(mus), math.sqrt(sum(squares) / len(squares))

    def update(self, belief: Belief, results: list[Belief]) -> Belief:
        mu, phi, sigma = belief
        known = [(g(phi_j), s, expected_score(mu, mu_j, phi_j)) for mu_j, phi_j, s in results]
        v = 1 / sum(g_j**2 * e * (1 - e) for g_j, _, e in known)
        total = sum(g_j * (s - e) for g_j, s, e in known)
        new = volatility(phi, sigma, v, v * total, self.values["tau"])
        star = math.sqrt(phi**2 + new**2)
        phi = 1 / math.sqrt(1 / star**2 + 1 / v)
        return mu + phi**2 * total, phi, new


def g(phi: float) -> float:
    return 1 / math.sqrt(1 + 3 * phi**2 / math.pi**2)


def expected_score(mu: float, mu_j: float, phi_j: float) -> float:
    return 1 / (1 + math.exp(-g(phi_j) * (mu - mu_j)))


def volatility(phi: float, sigma: float, v: float, delta: float, tau: float) -> float:
    """Follow step 5 to the letter, but for a closer convergence."""
    a = math.log(sigma**2)

    def f(x: float) -> float:
        e = math.exp(x)
        return e * (delta**2 - phi**2 - v - e) / (2 * (phi**2 + v + e) ** 2) - (x - a) / tau**2

    lower = a
    if delta**2 > phi**2 + v:
        upper = math.log(delta**2 - phi**2 - v)
    else:
        k = 1
        while f(a - k * tau) < 0:
            k += 1
        upper = a - k * tau
    f_lower, f_upper = f(lower), f(upper)
    while abs(upper - lower) > 1e-13:
        middle = lower + (lower - upper) * f_lower / (f_upper - f_lower)
        f_middle = f(middle)
        if f_middle * f_upper <= 0:
            lower, f_lower = upper, f_upper
        else:
            f_lower /= 2
        upper, f_upper = middle, f_middle
    return math.exp(lower / 2)


TIMED = f"{LONG},time"


def timed(games: Log, seed: int) -> tuple[Log, dict[str, float]]:
    """Give each game a time, some of them equal and some far after the last, the first below 0."""
    rng = np.random.default_rng(seed)
    times = np.round(
        np.cumsum(rng.choice([0.0, 1.0, 7.5, 90.0], len(games), p=[0.3, 0.4, 0.2, 0.1]))
    )
    times -= 40.0
    rows = [
        [[*row, str(time)] for row in game]
        for game, time in zip(games, times.tolist(), strict=True)
    ]
    return rows, {game[0][0]: time for game, time in zip(games, times.tolist(), strict=True)}


def crowd(seed: int, games: int = 80) -> Log:
    """Play games of two to five sides of several sizes, a part of them drawn."""
    return [
        game[: len(game) - k % 2] for k, game in enumerate(random_rows(seed, games, 15, (3, 5)))
    ][: games // 4] + random_rows(seed + 1000, games)[games // 4 :]


def parameters(period: float) -> dict[str, float]:
    return {**PUBLISHED, "period": period}


def rated(path: Path, out: Path, period: float, **options: Any) -> RatedLog:  # noqa: ANN401
    return rate_games(path, "glicko2", parameters=parameters(period), out=out, **options)


@pytest.mark.parametrize("period", [0.0, 0.5, 10.0, 33.3, 1e6])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_dictionaries_and_loops(seed: int, period: float, tmp_path: Path) -> None:
    games, times = timed(crowd(seed), seed)
    path = write(tmp_path / "log.csv", games, TIMED)
    result = rated(path, tmp_path / "out", period)
    plain = read_long(path)
    oracle = Glickman(parameters(period))
    oracle.play(plain, times)
    drawn = sum(game.score(a, 0) == 0.5 for game in plain for a in range(1, len(game.sides)))
    assert drawn > 2
    assert {2, 3, 5} <= {len(game.sides) for game in plain}
    assert len({len(side) for game in plain for side in game.sides}) > 2
    rows = {row["player"]: row for row in table(tmp_path / "out" / "ratings.csv")}
    assert rows.keys() == oracle.last.keys()
    for player, (mu, phi, sigma) in oracle.last.items():
        want = (1500.0 + SCALE * mu, SCALE * phi, sigma)
        got = [float(rows[player][column]) for column in KNOWN]
        assert got == pytest.approx(want, rel=1e-12, abs=1e-9)
    history = table(tmp_path / "out" / "history.csv")
    for row in history:
        want_expected = oracle.expected[row["game"], row["player"]]
        assert float(row["expected"]) == pytest.approx(want_expected, abs=1e-11)
        assert 0.0 < float(row["expected"]) < 1.0
    assert result.games == len({row["game"] for row in history}) == len(games)
    # Each step of the history starts where the player's last one has ended.
    shown = dict.fromkeys(rows, "1500.0")
    for row in history:
        assert row["rating_before"] == shown[row["player"]]
        shown[row["player"]] = row["rating_after"]
    assert shown == {player: row["rating"] for player, row in rows.items()}


def test_log_without_times_is_one_period_or_as_many_as_games(tmp_path: Path) -> None:
    games = random_rows(8)
    path = write(tmp_path / "log.csv", games)
    oracle = Glickman(parameters(0.0))
    oracle.period(read_long(path))
    result = rated(path, tmp_path / "out", 86400.0)
    assert result.predictions["all"].log_loss == pytest.approx(math.log(2.0), rel=1e-15)
    got = dict(zip(result.ranking.players, result.ranking.ratings, strict=True))
    want = {player: 1500.0 + SCALE * mu for player, (mu, _, _) in oracle.last.items()}
    assert got == pytest.approx(want, abs=1e-9)


def test_extreme_ratings_and_times_stay_finite(tmp_path: Path) -> None:
    assert "glicko2" in NAMES
    rows = [["a", "b"], ["b", "c"], ["c", "a"], ["d", "a"], ["b", "d"]]
    times = ["-1e308", "0", "1e-300", "5", "1e308"]
    timed_rows = [[[*row, t]] for row, t in zip(rows, times, strict=True)]
    path = write(tmp_path / "log.csv", timed_rows, "winner,loser,time")
    beliefs = {"a": (-1e100, 1e12, 1e3), "b": (1e100, 1e-12, 1e-12), "c": (0.0, 1e12, 1e-12)}
    known = earlier(tmp_path / "known.csv", beliefs)
    for period in (0.0, 1e-12, 1.0, 1e12):
        for tau in (0.01, 10.0):
            out = tmp_path / f"{period}-{tau}"
            values = {"period": period, "tau": tau, "volatility": 10.0, "deviation": 1e6}
            result = rate_games(path, "glicko2", parameters=values, ratings=known, out=out)
            assert np.isfinite(result.ranking.ratings).all()
            assert all(np.isfinite(column).all() for column in result.ranking.state.values())
            assert math.isfinite(defined(result.predictions["all"].log_loss))
            # Every number may be read again.
            rate_games(path, "glicko2", ratings=out / "ratings.csv", again=True)


GLICKO = {parameter.name: parameter.published for parameter in system_named("glicko").parameters}
HEADER = "player,rating,deviation,base_rating,base_deviation,information,surprise,time,games"
Q = math.log(10.0) / 400.0

Spread = tuple[float, float]  # r, RD


def damped(deviation: float) -> float:
    return 1.0 / math.sqrt(1.0 + 3.0 * Q**2 * deviation**2 / math.pi**2)


def expected_of(rating: float, other: float, deviation: float) -> float:
    return 1.0 / (1.0 + math.exp(-damped(deviation) * Q * (rating - other)))


@dataclass
class GlickoOfTheSource:
    """Rates periods one by one by the steps of the source, everyone at the end of each."""

    values: Mapping[str, float]  # parameters
    beliefs: dict[str, Spread] = field(default_factory=dict)  # after the last period with a game
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

    def onset(self, player: str, period: int) -> Spread:
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
            meet(game, sides, expected_of, self.expected, results)
        for player, met in results.items():
            self.beliefs[player] = self.update(start[player], met)
            self.played[player] = period

    def side(self, beliefs: list[Spread]) -> Spread:
        squares = [deviation**2 for _, deviation in beliefs]
        mean = sum(rating for rating, _ in beliefs) / len(beliefs)
        return mean, math.sqrt(sum(squares) / len(squares))

    def update(self, belief: Spread, results: list[tuple[float, float, float]]) -> Spread:
        r, rd = belief
        known = [(damped(rd_j), s, expected_of(r, r_j, rd_j)) for r_j, rd_j, s in results]
        d_squared = 1.0 / (Q**2 * sum(g_j**2 * e * (1.0 - e) for g_j, _, e in known))
        weight = 1.0 / rd**2 + 1.0 / d_squared
        total = sum(g_j * (s - e) for g_j, s, e in known)
        return r + Q / weight * total, max(math.sqrt(1.0 / weight), self.values["floor"])


def rated_by_glicko(path: Path, out: Path, values: Mapping[str, float], **options: Any) -> RatedLog:  # noqa: ANN401
    return rate_games(path, "glicko", parameters=values, out=out, **options)


def known_file(path: Path, rows: Mapping[str, Spread], games: int = 0) -> Path:
    """Write ratings of players whose last period is that of the time 0."""
    lines = [f"{name},{r},{rd},{r},{rd},0,0,0,{games}" for name, (r, rd) in rows.items()]
    path.write_text("\n".join([HEADER, *lines, ""]))
    return path


def test_published_example_of_glicko() -> None:
    """1500 and 200 against three opponents become 1464 and 151.4."""
    assert GLICKO == {"deviation": 350.0, "c": 34.6, "floor": 30.0, "period": 0.0}
    want = GlickoOfTheSource(GLICKO).update((1500.0, 200.0), [*OPPONENTS])
    assert (round(want[0]), round(want[1], 1)) == (1464, 151.4)
    assert [round(damped(rd), 4) for _, rd, _ in OPPONENTS] == [0.9955, 0.9531, 0.7242]


@pytest.mark.parametrize("period", [0.0, 0.5, 10.0, 33.3, 1e6])
@pytest.mark.parametrize("changes", [{}, {"c": 90.0, "floor": 120.0, "deviation": 200.0}])
def test_glicko_agrees_with_plain_loops(
    period: float, changes: dict[str, float], tmp_path: Path
) -> None:
    games, times = timed(crowd(1), 1)
    values = {**GLICKO, "period": period, **changes}
    path = write(tmp_path / "log.csv", games, TIMED)
    rated_by_glicko(path, tmp_path / "out", values)
    oracle = GlickoOfTheSource(values)
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
    known = known_file(tmp_path / "known.csv", {"a": (1500.0, 50.0), "b": (1500.0, 50.0)}, games=1)
    onsets = []
    for periods in (1, 10, 99, 101, 500):
        path = write(tmp_path / "log.csv", [[["a", "b", f"{periods}"]]], "winner,loser,time")
        out = tmp_path / f"{periods}"
        rated_by_glicko(path, out, {"period": 1.0}, ratings=known, again=True)
        row = table(out / "ratings.csv")[0]
        onsets.append(float(row["base_deviation"]))
    assert onsets[:3] == pytest.approx([math.hypot(50.0, 34.6 * t**0.5) for t in (1, 10, 99)])
    assert onsets[2] < 350.0
    assert onsets[3:] == [350.0, 350.0]
    rows = [[["a", "b", "5"]], [["b", "a", "5"]]] * 400
    path = write(tmp_path / "log.csv", rows, "winner,loser,time")
    rated_by_glicko(path, tmp_path / "many", {"period": 10.0})
    assert {row["deviation"] for row in table(tmp_path / "many" / "ratings.csv")} == {"30.0"}
