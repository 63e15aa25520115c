"""Tables on the terminal: units once, 80 columns; the leaderboard of a rating."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.command import refusal, success, valmatch
from tests.support.folders import rows
from valmatch.game_logs.rating import rate_games

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
