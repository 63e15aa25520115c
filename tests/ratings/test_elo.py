"""Elo with the advantage of playing at home, with draws, and by the margin of victory."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import success, valmatch
from tests.support.folders import rows as table
from tests.support.game_logs import of_sides, write
from valmatch.game_logs.prediction import predict_games
from valmatch.game_logs.rating import compare_ratings, rate_games
from valmatch.ratings.elo import margin_multiplier
from valmatch.ratings.matches import update_ratings
from valmatch.ratings.system import davidson_chances, weight_of_draws

pytestmark = pytest.mark.usefixtures("command_line_words")

HOME = "home,away,home_score,away_score"
LN_10 = math.log(10.0)


def shares(lead: float, nu: float) -> tuple[float, float, float]:
    """Return the probabilities of win, draw, loss at a lead in points, by Davidson's model."""
    p, q = 10 ** (lead / 400.0), 1.0
    weights = np.array([p, nu * math.sqrt(p * q), q])
    win, draw, loss = (weights / weights.sum()).tolist()
    return win, draw, loss


def league(seed: int, games: int, advantage: float, draw: float) -> list[list[list[str]]]:
    """Return games of 30 players of a spread of 150 points, by Davidson's model."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.0, 150.0, 30)
    nu = weight_of_draws(draw)
    rows = []
    for _ in range(games):
        a, b = rng.choice(30, 2, replace=False).tolist()
        goals = ("1,0", "1,1", "0,1")[rng.choice(3, p=shares(skill[a] - skill[b] + advantage, nu))]
        rows.append([[f"p{a}", f"p{b}", *goals.split(",")]])
    return rows


@pytest.mark.parametrize("lead", [-900.0, -50.0, 0.0, 3.0, 700.0])
def test_probabilities_are_davidsons(lead: float) -> None:
    """The draw is nu times the geometric mean of the other two, of equals as often as told."""
    for draw in (0.05, 0.3, 0.9):
        nu = weight_of_draws(draw)
        expected, drawn = davidson_chances(lead / (400.0 / LN_10), nu)
        win, loss = expected - drawn / 2.0, 1.0 - expected - drawn / 2.0
        assert drawn == pytest.approx(nu * math.sqrt(win * loss), rel=1e-9)
        assert win / loss == pytest.approx(10 ** (lead / 400.0), rel=1e-6)
        assert davidson_chances(0.0, nu) == pytest.approx((0.5, draw), rel=1e-12)
    assert math.isnan(davidson_chances(lead, 0.0)[1])
    plain = 1.0 / (1.0 + 10 ** (-lead / 400.0))
    assert davidson_chances(lead / (400.0 / LN_10), 0.0)[0] == pytest.approx(plain, rel=1e-12)


def test_every_step_is_that_of_a_loop(tmp_path: Path) -> None:
    """Whoever comes first by name: the advantage is that of the column home."""
    games = league(1, 200, 80.0, 0.25)
    values = {"home_advantage": 70.0, "draw_probability": 0.3, "K": 24.0}
    out = tmp_path / "out"
    result = rate_games(write(tmp_path / "a.csv", games, HOME), "elo", parameters=values, out=out)
    ratings: dict[str, float] = {}
    history, losses, three = [], [], []
    for ((home, away, mine, its),) in games:
        a, b = ratings.get(home, 1500.0), ratings.get(away, 1500.0)
        win, draw, loss = shares(a + 70.0 - b, weight_of_draws(0.3))
        score = 0.5 * (1 + np.sign(int(mine) - int(its)))
        expected = win + draw / 2.0
        losses.append(-(score * math.log(expected) + (1 - score) * math.log(1 - expected)))
        three.append(-math.log({1.0: win, 0.5: draw, 0.0: loss}[score]))
        gain = 24.0 * (score - expected)
        ratings[home], ratings[away] = a + gain, b - gain
        history.append({home: (expected, ratings[home]), away: (1 - expected, ratings[away])})
    rows = table(out / "history.csv")
    assert len(rows) == 400
    for k, row in enumerate(rows):
        got = float(row["expected"]), float(row["rating_after"])
        assert got == pytest.approx(history[k // 2][row["player"]], rel=1e-10)
    comparison = result.predictions["all"]
    assert comparison.log_loss == pytest.approx(np.mean(losses), rel=1e-10)
    assert comparison.three_way_log_loss == pytest.approx(np.mean(three), rel=1e-10)


@pytest.mark.slow
def test_tuning_finds_the_truth_from_nothing(tmp_path: Path) -> None:
    """Within 3.5 standard errors over leagues, which the ratings' own errors are part of."""
    fitted = []
    for seed in range(6):
        log = write(tmp_path / "l.csv", league(10 + seed, 6000, 60.0, 0.3), HOME)
        tuning = rate_games(log, "elo", tune=["home_advantage", "draw_probability", "K"]).tuning
        assert tuning is not None
        assert tuning.published.rest.three_way_log_loss is None
        assert tuning.tuned.rest.three_way_log_loss is not None
        assert tuning.adopted
        assert tuning.remarks == []
        values = tuning.tuned.parameters
        fitted.append((values["home_advantage"], values["draw_probability"]))
        names = ("home_advantage", "draw_probability")
        neighbours = [{**values, name: values[name] * f} for name in names for f in (0.8, 1.2)]
        half = write(tmp_path / "h.csv", league(10 + seed, 6000, 60.0, 0.3)[:3000], HOME)
        for near in neighbours if seed == 0 else []:
            loss = rate_games(half, "elo", parameters=near).predictions["all"].three_way_log_loss
            assert loss is not None
            assert loss > (tuning.tuned.first.three_way_log_loss or 0.0)
    means, errors = np.mean(fitted, axis=0), np.std(fitted, axis=0, ddof=1) / math.sqrt(6)
    assert (np.abs(means - (60.0, 0.3)) < 3.5 * errors + (3.0, 0.005)).all()
    assert (errors < (8.0, 0.01)).all()


def test_predictions_have_three_results_and_know_who_is_at_home(tmp_path: Path) -> None:
    log = write(tmp_path / "l.csv", league(3, 100, 60.0, 0.3), HOME)
    values = {"home_advantage": 55.0, "draw_probability": 0.28}
    rate_games(log, "elo", parameters=values, out=tmp_path / "rated")
    rating = {row["player"]: float(row["rating"]) for row in table(tmp_path / "rated/ratings.csv")}
    fixtures = write(tmp_path / "f.csv", [[["p2", "p1"]], [["p1", "p2"]]], "home,away")
    neutral = write(tmp_path / "n.csv", [[["p2", "p1"]]], "player_a,player_b")
    away, home = predict_games(tmp_path / "rated", fixtures).games
    (pair,) = predict_games(tmp_path / "rated", pair="p2,p1").games
    (listed,) = predict_games(tmp_path / "rated", neutral).games
    lead = rating["p2"] - rating["p1"]
    for forecast, points in (
        (away, lead + 55.0),
        (home, 55.0 - lead),
        (pair, lead),
        (listed, lead),
    ):
        win, draw, loss = shares(points, weight_of_draws(0.28))
        assert of_sides(forecast, "win") == pytest.approx([win, loss], rel=1e-9)
        assert forecast.draw == pytest.approx(draw, rel=1e-9)
        scores = [win + draw / 2, loss + draw / 2]
        assert of_sides(forecast, "expected") == pytest.approx(scores, rel=1e-9)
    done = success("predict", tmp_path / "rated", "--pair", "p2,p1")
    what = "warning: home_advantage = 55.0 counts in no game: there are no columns home and away"
    assert what in done.err.splitlines()
    assert "draw" in done.out.splitlines()[1]
    assert valmatch("predict", tmp_path / "rated", fixtures).err == ""


def test_losses_of_three_results_are_compared_where_two_systems_have_them(tmp_path: Path) -> None:
    log = write(tmp_path / "l.csv", league(6, 800, 40.0, 0.25), HOME)
    values = {"elo.draw_probability": 0.25, "trueskill.draw_probability": 0.25}
    comparison = compare_ratings(log, ["elo", "trueskill", "zonestats"], parameters=values)
    alone = rate_games(log, "trueskill", parameters={"draw_probability": 0.25}).predictions["all"]
    mine = comparison.systems["trueskill"].means["three_way_log_loss"].mean
    assert mine == pytest.approx(alone.three_way_log_loss, rel=1e-12)
    gap = comparison.systems["trueskill"].to_best["three_way_log_loss"]
    elo = comparison.systems["elo"].means["three_way_log_loss"].mean
    assert mine is not None
    assert elo is not None
    if comparison.leader == "elo":
        assert gap.mean == pytest.approx(mine - elo, rel=1e-9)
    assert comparison.systems["zonestats"].means["three_way_log_loss"].mean is None
    assert comparison.systems["coin"].to_best["three_way_log_loss"].mean is None


def test_trueskill_gives_each_result_its_probability(tmp_path: Path) -> None:
    """The first game is between newcomers: a draw has the chance that its margin leaves it."""
    log = write(tmp_path / "l.csv", [[["a", "b", "1", "1"]]], HOME)
    rate_games(log, "trueskill", out=tmp_path / "rated")
    loss = rate_games(log, "trueskill").predictions["all"].three_way_log_loss
    (forecast,) = predict_games(tmp_path / "rated", pair="new,newer").games
    assert loss == pytest.approx(-math.log(forecast.draw or 0.0), rel=1e-9)
    nothing = rate_games(log, "trueskill", parameters={"draw_probability": 0.0})
    assert nothing.predictions["all"].three_way_log_loss is None


POINTS_AT_HOME = 65.0


def expected_at(lead: float) -> float:
    return 1.0 / (1.0 + math.exp(-math.log(10.0) * lead / 400.0))


def by_the_program(margin: float, lead: float) -> float:
    """Return the multiplier as FiveThirtyEight's program has it; `lead` is that of the winner."""
    return math.log(max(margin, 1.0) + 1.0) * (2.2 / (1.0 if margin == 0.0 else lead * 0.001 + 2.2))


def by_the_table(margin: float, lead: float) -> float:
    """Return the multiplier as the World Football Elo Ratings have it."""
    return {0: 1.0, 1: 1.0, 2: 1.5, 3: 1.75}.get(int(margin), 1.75 + (margin - 3.0) / 8.0)


def season(path: Path) -> list[tuple[str, str, int, int]]:
    """Write and return games of eight teams at home and away."""
    rng = np.random.default_rng(3)
    made = []
    for _ in range(200):
        a, b = rng.choice(8, 2, replace=False)
        goals = rng.poisson([1.6 + 0.2 * a, 1.2 + 0.2 * b])
        made.append((f"t{a}", f"t{b}", int(goals[0]), int(goals[1])))
    lines = [f"{h},{a},{x},{y}" for h, a, x, y in made]
    path.write_text("\n".join(["home,away,home_score,away_score", *lines, ""]))
    assert any(x == y for *_, x, y in made)
    return made


@pytest.mark.parametrize(
    ("system", "k", "times"),
    [("elo_margin", 20.0, by_the_program), ("elo_goals", 30.0, by_the_table)],
)
def test_agrees_with_the_published_formulas(
    system: str, k: float, times: Callable[[float, float], float], tmp_path: Path
) -> None:
    ratings = {f"t{j}": 1500.0 for j in range(8)}
    for home, away, x, y in season(tmp_path / "log.csv"):
        lead = ratings[home] - ratings[away] + POINTS_AT_HOME
        score = 0.5 * (1.0 + np.sign(x - y))
        multiplied = times(abs(x - y), lead if x > y else -lead)
        gain = k * multiplied * (score - expected_at(lead))
        ratings[home] += gain
        ratings[away] -= gain
    result = rate_games(tmp_path / "log.csv", system, parameters={"home_advantage": POINTS_AT_HOME})
    got = dict(zip(result.ranking.players, result.ranking.ratings, strict=True))
    assert got == pytest.approx(ratings, abs=1e-9)


def test_a_game_of_three_counts_each_pair_by_its_margin() -> None:
    state = update_ratings("elo_goals", [[1500.0]] * 3, [[0], [1], [2]], [5.0, 3.0, 0.0])
    gains = [0.5 * (1.5 + 2.0), 0.5 * (-1.5 + 1.75), 0.5 * (-2.0 - 1.75)]
    assert (state[:, 0] - 1500.0) / 30.0 == pytest.approx([0.5 * gain for gain in gains])


def test_surprises_count_at_most_tenfold() -> None:
    most = margin_multiplier(1.0, -1e9, 2200.0)
    assert most == pytest.approx(10.0 * math.log(2.0))
    assert margin_multiplier(1.0, -2200.0, 2200.0) == most


def test_teams_win_by_the_sum_of_their_scores(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("game,player,team,score\ng,a,x,9\ng,b,x,4\ng,c,y,2\ng,d,y,3\n")
    result = rate_games(log, "elo_margin")
    assert result.ranking.ratings[0] - 1500.0 == pytest.approx(10.0 * math.log(9.0))
