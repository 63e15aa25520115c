"""Games to come are predicted as `rate` would, and the predictions are calibrated."""

from __future__ import annotations

import io
import math
import sys
from pathlib import Path
from statistics import NormalDist
from unittest import mock

import numpy as np
import pytest

from tests.support.command import valmatch
from tests.support.folders import rows as table
from tests.support.game_logs import of_sides, random_rows, write
from valmatch.game_logs.prediction import predict_games
from valmatch.game_logs.rating import rate_games
from valmatch.statistics.estimates import t_quantile

pytestmark = pytest.mark.usefixtures("command_line_words")

SYSTEMS = ("zonestats", "elo", "trueskill", "glicko2")


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """Rate ann above bob above cy by Elo."""
    rows = [[["ann", "bob"]], [["bob", "cy"]], [["ann", "cy"]]] * 4
    rate_games(write(tmp_path / "log.csv", rows, "winner,loser"), "elo", out=tmp_path / "rated")
    return tmp_path / "rated"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "parameters"),
    [
        ("zonestats", {"T": 80.0}),
        ("elo", {"K": 24.0}),
        ("trueskill", {"draw_probability": 0.2}),
        ("glicko2", {"tau": 0.3}),
        ("glicko2", {"period": 40.0}),
        ("glicko", {}),
        ("glicko", {"period": 40.0}),
        ("openskill", {"beta": 5.0}),
    ],
)
@pytest.mark.parametrize("most", [2, 5])
def test_predictions_are_those_of_the_next_game(
    system: str, parameters: dict[str, float], most: int, tmp_path: Path
) -> None:
    """Each game is predicted alone from what `rate` knew before it."""
    games = random_rows(4, 30, 15, (2,) if most == 2 else (2, 3, 5))
    timed = [[[*row, str(7 * k)] for row in game] for k, game in enumerate(games)]
    header = "game,player,team,score,minutes,time"
    for name, some in (("all", timed), ("a", timed[:27])):
        log = write(tmp_path / f"{name}.csv", some, header)
        rate_games(log, system, parameters=parameters, out=tmp_path / name)
    history = table(tmp_path / "all" / "history.csv")
    next_game = write(tmp_path / "b.csv", timed[27:28], header)
    (found,) = predict_games(tmp_path / "a", next_game).games
    predicted = {
        player: float(value)
        for side, value in zip(
            [side.players for side in found.sides], of_sides(found, "expected"), strict=True
        )
        for player in side
    }
    mine = {r["player"]: float(r["expected"]) for r in history if r["game"] == timed[27][0][0]}
    assert predicted == pytest.approx(mine, abs=1e-12)


@pytest.mark.parametrize("system", SYSTEMS)
def test_probabilities_of_all_results_sum_to_one(system: str, tmp_path: Path) -> None:
    rate_games(write(tmp_path / "log.csv", random_rows(5)), system, out=tmp_path / "rated")
    texts = ["p1,p2", "p1;p2,p3;p4", "p1,p2,p3,p4", "p1;new,p2", "new,newer", "p5,p6;p7;p8"]
    for one in predict_games(tmp_path / "rated", pair=texts).games:
        draw = one.draw or 0.0
        assert of_sides(one, "win").sum() + draw == pytest.approx(1.0, abs=1e-12)
        assert 0.0 <= draw < 0.2
        assert of_sides(one, "expected").sum() == pytest.approx(len(one.sides) / 2.0, abs=1e-12)
        assert (system == "trueskill" and len(one.sides) == 2) != (one.draw is None)
        assert np.isnan(of_sides(one, "win_low")).all() == (system in ("zonestats", "elo"))
        if system in ("trueskill", "glicko2"):
            assert (
                (of_sides(one, "win_low") < of_sides(one, "win"))
                & (of_sides(one, "win") < of_sides(one, "win_high"))
            ).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "parameters"),
    [("trueskill", {"tau": 0.0}), ("glicko2", {"volatility": 1e-9, "tau": 0.01})],
)
def test_more_games_less_doubt(system: str, parameters: dict[str, float], tmp_path: Path) -> None:
    """Of skills that do not drift: the interval is that of the deviations, and shrinks always."""
    normal = NormalDist()
    before: dict[str, float] = {}
    pairs = [f"p{k},p{k + 1}" for k in range(14)]
    for games in (30, 40, 300, 3000):
        log = write(tmp_path / "log.csv", random_rows(6, games))
        out = tmp_path / f"{games}"
        rate_games(log, system, parameters=parameters, out=out)
        rows = {row["player"]: row for row in table(out / "ratings.csv")}
        widths = {}
        for pair, one in zip(pairs, predict_games(out, pair=pairs).games, strict=True):
            ends_of_win = of_sides(one, "win_low")[0], of_sides(one, "win_high")[0]
            if system == "trueskill":
                unit = math.sqrt(2.0) * 25.0 / 6.0
                ends = [normal.inv_cdf(x) * unit for x in ends_of_win]
                own = [float(rows[name]["sigma"]) for name in pair.split(",")]
            else:
                ends = [math.log(x / (1.0 - x)) * 173.7178 for x in ends_of_win]
                own = [float(rows[name]["deviation"]) for name in pair.split(",")]
            widths[pair] = ends[1] - ends[0]
            assert widths[pair] == pytest.approx(2.0 * 1.959964 * math.hypot(*own), rel=1e-4)
        assert all(widths[pair] < before.get(pair, math.inf) for pair in pairs)
        before = widths


def test_first_of_many_is_luces_rule(rated: Path) -> None:
    (one,) = predict_games(rated, pair="ann,bob,cy,new").games
    ratings = {row["player"]: float(row["rating"]) for row in table(rated / "ratings.csv")}
    strengths = [10 ** (ratings.get(name, 1500.0) / 400.0) for name in ("ann", "bob", "cy", "new")]
    assert of_sides(one, "win") == pytest.approx(np.array(strengths) / sum(strengths), rel=1e-12)
    assert [name for side in one.sides for name in side.newcomers] == ["new"]


def test_a_newcomer_called_much_like_a_rated_player_may_be_that_player(rated: Path) -> None:
    done = valmatch("predict", rated, "--pair", "bbo,ann")
    assert (done.code, done.err) == (0, "note: 'bbo' has no rating; did you mean bob?\n")


SHAPES = [
    "home,away\nann,bob\nann;cy,bob;new\n",
    "player_a,player_b,round\nann,bob,1\n ann ; cy ,bob;new,1\n",
    "winner,loser\nann,bob\nann;cy,bob;new\n",
    "side_1,side_2,side_3\nann,bob,\nann;cy,bob;new,\n",
    "game,player,team,score\n1,ann,,5\n1,bob,,6\n2,ann,x,1\n2,bob,y,2\n2,cy,x,3\n2,new,y,4\n",
    "game,home,away\n1,ann,bob\n2,cy;ann,new;bob\n",
]


@pytest.mark.parametrize("text", SHAPES)
def test_fixtures_have_many_shapes(text: str, rated: Path, tmp_path: Path) -> None:
    path = tmp_path / "fixtures.csv"
    path.write_text(text)
    pairs = predict_games(rated, pair=["ann,bob", "ann;cy,bob;new"])
    found = predict_games(rated, path)
    assert [one.game for one in found.games] == ["1", "2"]
    for one, other in zip(found.games, pairs.games, strict=True):
        assert of_sides(one, "win").tolist() == of_sides(other, "win").tolist()
        for side, its in zip(
            [side.players for side in one.sides],
            [side.players for side in other.sides],
            strict=True,
        ):
            assert set(side) == set(its)
        assert [name for side in one.sides for name in side.newcomers] == [
            name for side in other.sides for name in side.newcomers
        ]
    with mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()))):
        assert predict_games(rated, "-").columns() == found.columns()


@pytest.mark.parametrize("system", ["glicko", "glicko2"])
def test_glicko_grows_less_certain_until_the_game(system: str, tmp_path: Path) -> None:
    """A game without a time is one of the next period."""
    rows = [[["ann", "bob", "2024-01-01"]], [["bob", "ann", "2024-01-02"]]] * 3
    log = write(tmp_path / "log.csv", sorted(rows, key=lambda r: r[0][2]), "winner,loser,time")
    rate_games(log, system, parameters={"period": 86400.0}, out=tmp_path / "rated")
    path = tmp_path / "fixtures.csv"
    widths = []
    for day in ("2024-01-03", "2024-01-10", "2025-01-03"):
        path.write_text(f"home,away,time\nann,bob,{day}\n")
        (one,) = predict_games(tmp_path / "rated", path).games
        widths.append(of_sides(one, "win_high")[0] - of_sides(one, "win_low")[0])
    assert widths[0] < widths[1] < widths[2]
    (now,) = predict_games(tmp_path / "rated", pair="ann,bob").games
    assert of_sides(now, "win_high")[0] - of_sides(now, "win_low")[0] == widths[0]


# Calibration: leagues whose truth is in the family of the system.


def league(seed: int, system: str) -> list[list[list[str]]]:
    """Return 9,000 games of some players, decided by the law that a system supposes."""
    # Points that never settle, as those of Elo and ZoneStats, need many games of everybody; skills
    # are spread as the system supposes, since a wider deviation overrates the favourites.
    rng = np.random.default_rng(seed)
    n_players, n_games = (30 if system in ("elo", "zonestats") else 60), 9000
    unit = {"trueskill": 25.0 / 3.0, "zonestats": 140.0}.get(system, 200.0)
    skill = rng.normal(0.0, unit, n_players)
    games = []
    firsts = rng.integers(n_players, size=n_games)
    others = (firsts + rng.integers(1, n_players, n_games)) % n_players
    for a, b in zip(firsts.tolist(), others.tolist(), strict=True):
        lead = skill[a] - skill[b]
        draw = False
        if system == "trueskill":
            performance = lead + rng.normal(0.0, math.sqrt(2.0) * 25.0 / 6.0)
            draw = abs(performance) < 0.12566134685507402 * math.sqrt(2.0) * 25.0 / 6.0
            won = performance > 0.0
        else:
            scale = 120.0 if system == "zonestats" else 400.0 / math.log(10.0)
            won = rng.random() < 1.0 / (1.0 + math.exp(-lead / scale))
        names = (a, b) if won else (b, a)
        games.append([[*(f"p{k}" for k in names), "yes" if draw else "no"]])
    return games


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "parameters"),
    [
        ("trueskill", {"tau": 0.0}),
        ("glicko2", {"deviation": 200.0, "volatility": 1e-9, "tau": 0.01}),
        ("elo", {"K": 12.0}),
        ("zonestats", {"GAME_MULT": 0.42}),
    ],
)
def test_the_rest_is_predicted(system: str, parameters: dict[str, float], tmp_path: Path) -> None:
    """The favourite's mean score is as predicted, overall and in each range of predictions.

    The error is that over leagues, since games of a league are predicted from the same ratings.
    """
    errors = [
        errors_of_league(seed, system, parameters, tmp_path / f"{seed}") for seed in range(70, 78)
    ]
    means = np.mean(errors, axis=0)
    std_errors = np.std(errors, axis=0, ddof=1) / math.sqrt(len(errors))
    limit = t_quantile(1.0 - 0.005 / len(means), len(errors) - 1)  # 1% for all together
    assert (np.abs(means) < limit * std_errors).all(), (means, std_errors)
    assert (std_errors < 0.01).all()


def errors_of_league(
    seed: int, system: str, parameters: dict[str, float], folder: Path
) -> list[float]:
    """Return by how much scores exceed predictions, and of TrueSkill draws; see `excesses`."""
    folder.mkdir()
    games = league(seed, system)
    header = "winner,loser,draw"
    half = len(games) // 2
    first = write(folder / "a.csv", games[:half], header)
    second = write(folder / "b.csv", games[half:], header)
    rate_games(first, system, parameters=parameters, out=folder / "rated")
    found = predict_games(folder / "rated", second).games
    drawn = np.array([game[0][2] == "yes" for game in games[half:]])
    score = np.where(drawn, 0.5, 1.0)  # of the first side, who won
    expected = np.array([of_sides(one, "expected")[0] for one in found])
    upset = expected < 0.5
    expected, score = np.where(upset, 1 - expected, expected), np.where(upset, 1 - score, score)
    draws = np.array([one.draw for one in found], np.float64)
    of_draws = excesses(draws, drawn.astype(float)) if system == "trueskill" else []
    return [*excesses(expected, score), *of_draws]


def excesses(predicted: np.ndarray, observed: np.ndarray) -> list[float]:
    """Return observed less predicted means, of all and of five ranges of as many predictions."""
    order = np.argsort(predicted)
    return [
        float(observed[part].mean() - predicted[part].mean())
        for part in [order, *np.array_split(order, 5)]
    ]
