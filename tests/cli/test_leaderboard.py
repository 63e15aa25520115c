"""What people read of a rating: the leaderboard, and the players' ratings over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.command import refusal, success, valmatch
from tests.support.folders import rows
from tests.support.game_logs import random_rows, write
from valmatch.errors import InputError
from valmatch.game_logs.comparison import compare_ratings
from valmatch.game_logs.rating import rate_games

pytestmark = pytest.mark.usefixtures("command_line_words")

FIRST = """winner,loser,draw,time
ann,bob,no,2024-05-01 20:00
ann,cy,no,2024-05-01 21:00
bob,cy,yes,2024-05-02
"""
SECOND = """winner,loser,draw,time
bob,ann,no,2024-05-08 20:00
dan,cy,no,2024-05-09
"""


@pytest.fixture
def league(tmp_path: Path) -> Path:
    """Write two weeks of a league; the first is rated."""
    (tmp_path / "1.csv").write_text(FIRST)
    (tmp_path / "2.csv").write_text(SECOND)
    rate_games(tmp_path / "1.csv", "elo", out=tmp_path / "one")
    return tmp_path


def leaderboard(text: str) -> list[list[str]]:
    """Return the cells of the printed leaderboard, from its heading on."""
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("best of"))
    cells = [line.replace("last game", "last_game").split() for line in lines[start + 1 :]]
    return [[lines[start]], *cells]


@pytest.mark.slow
def test_leaderboard_says_what_happened(league: Path) -> None:
    done = valmatch("rate", league / "2.csv", "--ratings", league / "one")
    heading, header, *players = leaderboard(done.out)
    assert heading == ["best of 4 players"]
    assert header == [
        "rank", "player", "rating", "change", "games", "wins", "losses", "draws", "last_game",
    ]  # fmt: skip
    found = {row[1]: row for row in players}
    assert found["ann"][4:] == ["3", "2", "1", "0", "2024-05-08", "20:00:00"]
    assert found["bob"][4:] == ["3", "1", "1", "1", "2024-05-08", "20:00:00"]
    assert found["dan"][3:] == ["1", "1", "0", "0", "2024-05-09"]  # no change of a newcomer
    result = rate_games(league / "2.csv", ratings=league / "one")
    for name, rating, change in zip(
        result.ranking.players, result.ranking.ratings, result.ranking.change, strict=True
    ):
        assert found[name][2] == f"{rating:.1f}"
        if change is not None:
            assert found[name][3] == f"{change:+.1f}"


def test_leaderboard_without_dates_and_earlier_ratings_is_short(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", random_rows(1))
    done = valmatch("rate", path, "--system", "trueskill")
    _, header, first, *_ = leaderboard(done.out)
    assert header == [
        "rank", "player", "rating", "games", "wins", "losses", "draws", "mu", "sigma",
    ]  # fmt: skip
    ranking = rate_games(path, "trueskill").ranking
    assert first[-2:] == [f"{ranking.state['mu'][0]:.3f}", f"{ranking.state['sigma'][0]:.4f}"]


def test_players_of_few_games_are_left_out(league: Path) -> None:
    done = valmatch("rate", league / "2.csv", "--ratings", league / "one", "--min-games", "3")
    heading, _, *players = leaderboard(done.out)
    assert heading == ["best of 3 players with 3 games"]
    assert [row[0] for row in players] == ["1", "2", "3"]
    assert {row[1] for row in players} == {"ann", "bob", "cy"}
    none = valmatch("rate", league / "2.csv", "--system", "elo", "--min-games", "9")
    assert none.out.splitlines()[-1] == "no player has 9 games"
    assert valmatch("rate", league / "2.csv", "--min-games", "-1").code == 2


def test_history_has_the_times_of_games(league: Path) -> None:
    history = rows(league / "one" / "history.csv")
    assert list(history[0])[:3] == ["game", "time", "player"]
    times = ["2024-05-01 20:00:00", "2024-05-01 21:00:00", "2024-05-02"]
    assert [row["time"] for row in history[::2]] == times


@pytest.mark.slow
def test_plot_is_over_dates_and_of_the_players_wanted(league: Path) -> None:
    pytest.importorskip("matplotlib")
    from valmatch.present.plotting import plot

    (axes,) = plot(league / "one").axes
    assert axes.get_xlabel() == "days after 2024-05-01"
    assert axes.lines[0].get_label() == "ann"
    x = np.asarray(axes.lines[0].get_xdata()) * 24
    assert x.tolist() == pytest.approx([20, 20, 21])
    (axes,) = plot(league / "one", players=["cy", "ann"]).axes
    assert [line.get_label() for line in axes.lines] == ["cy", "ann"]
    done = success("plot", league / "one", "--players", "cy,ann")
    assert "history.png" in done.out
    bad = refusal("plot", league / "one", "--players", "anne")
    assert bad == "--players: 'anne' has no rating here; did you mean ann?"


def test_plot_is_over_numbers_where_times_are_numbers(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from valmatch.present.plotting import plot

    games = [[["a", "b", f"{0.5 * k}"]] for k in range(5)]
    rate_games(write(tmp_path / "a.csv", games, "winner,loser,time"), "elo", out=tmp_path / "a")
    (axes,) = plot(tmp_path / "a").axes
    assert axes.get_xlabel() == "time"
    assert np.asarray(axes.lines[0].get_xdata()).tolist() == [0.0, 0.0, 0.5, 1.0, 1.5, 2.0]


@pytest.mark.slow
def test_comparison_is_one_chart_of_calibration(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from valmatch.present.plot_options import PlotFileOptions
    from valmatch.present.plotting import plot, plot_files

    path = write(tmp_path / "log.csv", random_rows(2, 200))
    out = tmp_path / "out"
    result = compare_ratings(path, ["elo", "zonestats", "glicko2"], out=out)
    chart = plot(out).axes[-1]
    names = list(result.parameters)
    assert [line.get_label() for line in chart.containers] == names
    lines: Any = chart.containers
    for name, line in zip(names, lines, strict=True):
        observed = [one.observed for one in result.predictions[name]["all"].calibration]
        assert np.asarray(line.lines[0].get_ydata()).tolist() == observed
    files = [file.name for file in plot_files(out, PlotFileOptions())]
    assert files == ["calibration.png", "calibration.svg"]
    with pytest.raises(InputError, match="no figure 'history'"):
        plot(out, "history")
