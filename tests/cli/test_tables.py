"""Tables on the terminal: units once, 80 columns; the leaderboard of a rating."""

from __future__ import annotations

import contextlib
import io
import re
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
from valmatch.present.document import TextTable
from valmatch.present.terminal import print_table

BANDS = ["bottom_10%", "10-50%", "50-90%", "90-99%", "top_1%"]
MEASURES = ["matched_fraction", "avg_wait_time", "wait_p50", "wait_p95", "avg_team_diff"]
UNITS = ["", " [minutes]", " [minutes]", " [minutes]", " [Elo points]"]
SMALL = ("--set", "horizon=6", "--set", "team_num=2")


def tables(text: str) -> dict[str, list[list[str]]]:
    """Return the words of the lines of each table by the line above it."""
    blocks = [block.splitlines() for block in text.split("\n\n")]
    return {head: [line.split() for line in lines] for head, *lines in blocks}


@pytest.mark.slow
@pytest.mark.parametrize(
    "variants", [["team_diff=20"], [f"team_diff={diff}" for diff in (10, 20, 40, 80)]]
)
def test_bands_of_compared_systems_are_tables(variants: list[str], tmp_path: Path) -> None:
    given = [word for variant in variants for word in ("--variant", variant)]
    asked = ("--set", "measure=[bands]", "-n", "6", "--out", tmp_path / "out")
    done = success("compare", "valorant", *SMALL, *given, *asked)
    assert max(map(len, done.out.splitlines())) <= 80
    assert "avg_wait_time.top_1%" not in done.out
    found = tables(done.out)
    table = rows(tmp_path / "out" / "differences.csv")
    by_name = {(row.get("variant", "b"), row["response"]): row for row in table}
    for measure, unit in zip(MEASURES, UNITS, strict=True):
        header, *lines = found[measure + unit]
        assert header[:2] == ["band", "A"]
        assert [line[0] for line in lines[:5]] == BANDS
        column = header.index("-") - 1 if len(variants) > 1 else 3
        for line in lines[:5]:
            row = by_name["b", f"{measure}.{line[0]}"]
            assert float(line[column]) == pytest.approx(float(row["mean"]), rel=0.06, abs=6e-4)


def test_units_stand_in_the_first_of_divided_tables() -> None:
    given = [word for diff in (5, 10, 20, 40) for word in ("--variant", f"team_diff={diff}")]
    done = valmatch("compare", "valorant", *SMALL, *given, "-n", "4")
    heads = [line.split() for line in done.out.splitlines() if line.startswith("response")]
    assert len(heads) > 1
    assert [head.count("unit") for head in heads] == [1] + [0] * (len(heads) - 1)
    assert heads[0][-1] == "unit"
    assert [word for head in heads for word in head if len(word) == 1 and word in "BCDE"] == [
        *"BCDE"
    ]


def test_numbers_of_replications_that_all_are_the_same_give_way_to_units() -> None:
    table = TextTable.of("response", "mean", "± 95%", "n", "unit")
    table.add("x" * 53, "1.0", "0.5", "1000", "minutes")
    assert printed(table, spare="") == ["response|mean|± 95%|unit", "response|n"]
    assert printed(table, spare="n") == ["response|mean|± 95%|unit"]
    narrow = TextTable.of("response", "mean", "± 95%", "n", "unit")
    narrow.add("x" * 40, "1.0", "0.5", "1000", "minutes")
    assert printed(narrow, spare="n") == ["response|mean|± 95%|n|unit"]


def printed(table: TextTable, spare: str) -> list[str]:
    """Return the heads of the tables that are printed, their columns between bars."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        table.spare = spare
        print_table("", table)
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    return [re.sub(r" {2,}", "|", line) for line in lines if line.startswith("response")]


def test_bands_and_hours_of_one_system_have_their_units() -> None:
    done = valmatch("replicate", "valorant", *SMALL, "--set", "measure=[bands, hours]", "-n", "3")
    words = done.out.split()
    assert words.count("[minutes]") == 3 + 1
    assert words.count("[players]") == 1
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    first = next(k for k, line in enumerate(lines) if line.startswith("band"))
    assert lines[first].split()[1:] == ["matched_fraction", "±", "avg_wait_time", "±"]
    assert lines[first + 1].split() == ["[minutes]"]
    assert lines[first + 1].index("]") == lines[first].rindex("avg_wait_time") + 12
    assert sum(line.startswith("5-6h") for line in lines) == 2
    alone = next(
        k for k, line in enumerate(lines) if line.split()[:2] == ["hour", "prioritized_fraction"]
    )
    assert lines[alone + 1].startswith("0-1h")


def test_policies_have_a_table_each() -> None:
    small = ("--set", "n_opponents=4", "--set", "n_games=250")
    done = valmatch("replicate", "kg-fig1-top", *small, "-n", "3")
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    for policy in ("point_estimate", "draw_chance", "knowledge_gradient"):
        first = lines.index(policy)
        assert lines[first - 1] == ""
        assert lines[first + 1].split() == ["response", "mean", "±", "95%", "n", "unit"]
        assert lines[first + 2].split()[0] == "expected_quality.total"
        assert lines[first + 3].split()[0] == "true_draw_probability.1-100"


# ---- optimize ----

BUDGET = ("--budget", "100")


@pytest.mark.slow
def test_the_recommended_point_is_shown_in_the_chosen_responses() -> None:
    chosen = "win_gap,wait_p95.top_1%,avg_wait_time"
    done = valmatch("optimize", "valorant-20min", *BUDGET, "--responses", chosen)
    assert done.code in (0, 3), done.err
    lines = done.out.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("response"))
    names = [line.split()[0] for line in lines[start + 1 : lines.index("", start)]]
    assert names == ["avg_wait_time", "win_gap", "wait_p95.top_1%"]
    assert "matched_fraction" not in done.out
    wrong = refusal("optimize", "valorant-20min", *BUDGET, "--responses", "win_gab")
    assert wrong.startswith("--responses: 'win_gab' is no response (")


@pytest.mark.slow
def test_bands_of_the_recommended_point_are_tables() -> None:
    done = valmatch("optimize", "valorant-20min", *BUDGET, "--set", "measure=[bands]")
    assert max(map(len, done.out.splitlines())) <= 80
    found = tables(done.out)
    for measure, unit in zip(MEASURES, UNITS, strict=True):
        header, *lines = found[measure + unit]
        assert header == ["band", "start", "recommended", "change", "±", "95%"]
        assert [line[0] for line in lines] == BANDS
    assert "avg_wait_time.top_1%" not in done.out


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
