"""Elo by the margin of victory agrees with the published formulas, game by game."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import refusal
from valmatch.game_logs.rating import rate_games
from valmatch.ratings.elo import margin_multiplier
from valmatch.ratings.matches import update_ratings

HOME = 65.0


def expected(lead: float) -> float:
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
        lead = ratings[home] - ratings[away] + HOME
        score = 0.5 * (1.0 + np.sign(x - y))
        multiplied = times(abs(x - y), lead if x > y else -lead)
        gain = k * multiplied * (score - expected(lead))
        ratings[home] += gain
        ratings[away] -= gain
    result = rate_games(tmp_path / "log.csv", system, parameters={"home_advantage": HOME})
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


@pytest.mark.parametrize("system", ["elo_margin", "elo_goals", "elo,elo_goals"])
def test_a_log_of_results_alone_is_refused(system: str, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\nann,bob\n")
    line = refusal("rate", log, "--system", system, "--out", tmp_path / "out")
    assert "rates by the margin, and this log has only results" in line
    assert not (tmp_path / "out").exists()


def test_the_ladder_has_no_margins(tmp_path: Path) -> None:
    assert "(got 'elo_goals')" in refusal("simulate", "ladder", "--set", "rating.system=elo_goals")
