"""The figures of the ladder: what is drawn of its queue, days, ratings and careers."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import valmatch
from tests.support.command import valmatch as command
from valmatch.errors import InputError
from valmatch.plots.drawing import plot, plot_files

pytest.importorskip("matplotlib")

from valmatch.plots import curves
from valmatch.plots.ladder import days as ladder_days
from valmatch.plots.ladder import queue as ladder_queue
from valmatch.plots.ladder import ratings as ladder_ratings
from valmatch.plots.parts import style
from valmatch.plots.parts.source import read_run_files

Array = np.ndarray[Any, Any]

SMALL = ("--set", "population.players=60", "--set", "days=6", "--set", "warmup_days=2")
TEAMS = (*SMALL, "--set", "rule.team_num=2", "--set", "population.newcomers_per_day=3")
NOBODY = ("--set", "population.players=3", "--set", "population.newcomers_per_day=0")
FIGURES = ["queue", "days", "ratings"]


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "DPI", 30)


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of two against two; read only."""
    return simulated(tmp_path_factory.mktemp("week"), *TEAMS)


@pytest.fixture(scope="module")
def careers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Replications of one against one; read only."""
    folder = tmp_path_factory.mktemp("careers")
    duels = (*SMALL, "--set", "rule.team_num=1", "-n", "4")
    assert command("replicate", "ladder", *duels, "--out", folder).code == 0
    return folder


def simulated(folder: Path, *options: str) -> Path:
    done = command("simulate", "ladder", *options, "--out", folder)
    assert done.code == 0, done.err
    return folder


def drawn(folder: Path, drawer: Any) -> Any:  # noqa: ANN401 - matplotlib's types are too wide
    """Return the one figure of a drawer."""
    with style.style_context():
        (figure,) = drawer.draw(read_run_files(folder)).values()
    return figure


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def column(path: Path, name: str) -> Array:
    return np.array([float(row[name] or "nan") for row in rows(path)])


def line(axes: Any, label: str) -> Array:  # noqa: ANN401
    (found,) = [one for one in axes.lines if one.get_label() == label]
    return np.array(found.get_data())


def notes(figure: Any) -> list[str]:  # noqa: ANN401
    return [axes.texts[0].get_text() if axes.texts else "" for axes in figure.axes]


def changed(folder: Path, name: str, change: Callable[[list[dict[str, str]]], None]) -> None:
    """Rewrite a table."""
    found = rows(folder / name)
    change(found)
    with (folder / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, found[0])
        writer.writeheader()
        writer.writerows(found)


@pytest.mark.slow
def test_the_files_of_a_run(week: Path) -> None:
    files = plot_files(week)
    assert files == [week / f"{name}.{end}" for name in FIGURES for end in ("png", "svg")]
    first = [file.read_bytes() for file in files]
    assert [file.read_bytes() for file in plot_files(week)] == first


# ---- the queue ----


def test_who_waits_on_the_last_day(week: Path) -> None:
    figure = drawn(week, ladder_queue)
    queue, starts = figure.axes
    tickets = week / "tickets.csv"
    came, went = column(tickets, "queued_hours"), column(tickets, "ended_hours")
    went = np.where(np.isnan(went), math.inf, went)
    corners = queue.collections[0].get_paths()[0].vertices
    for hour in (0.1, 7.7, 23.9):
        there = ((came <= 120.0 + hour) & (went > 120.0 + hour)).sum()
        before = corners[: len(corners) // 2]
        before = before[before[:, 0] <= hour]
        assert before[-1, 1] == there
    matches = {row["match"]: float(row["ended_hours"]) for row in rows(tickets) if row["match"]}
    begun = np.array(list(matches.values())) - 120.0
    rates = starts.patches[0].get_data()
    assert rates.values.tolist() == np.histogram(begun, np.arange(25.0))[0].tolist()
    days = week / "days.csv"
    assert rates.values.sum() == column(days, "matches")[-1]
    assert f"day 5, {int(rates.values.sum())} matches" in figure.get_suptitle()
    assert queue.get_ylabel() == "waiting players"
    assert starts.get_ylabel() == "matches started [per hour]"
    for axes in (queue, starts):
        assert axes.get_xlabel() == "time on day 5 [hours]"
        assert axes.get_xlim() == (0.0, 24.0)
    assert not figure.legends


@pytest.mark.slow
@pytest.mark.parametrize(
    ("days", "warmup", "number", "length", "shaded"),
    [
        ("1", "0", 0, 24.0, 0.0),
        ("0.25", "0.125", 0, 6.0, 3.0),
        ("2.5", "0.5", 1, 24.0, 0.0),
        ("2.5", "1.25", 1, 24.0, 6.0),
        ("2.5", "2.25", 1, 24.0, 24.0),
    ],
)
def test_which_day_is_drawn(
    days: str, warmup: str, number: int, length: float, shaded: float, tmp_path: Path
) -> None:
    time = ("--set", f"days={days}", "--set", f"warmup_days={warmup}")
    simulated(tmp_path, *TEAMS, *time)
    day = ladder_queue.read_day(read_run_files(tmp_path))
    assert (day.number, day.length, day.warmup) == (number, length, shaded)
    figure = drawn(tmp_path, ladder_queue)
    assert figure.axes[0].get_xlim() == (0.0, length)
    assert bool(figure.legends) is bool(shaded)
    if shaded:
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["warm-up"]
    table = column(tmp_path / "days.csv", "matches")
    assert day.starts.size == table[number]
    assert len(plot_files(tmp_path)) == 6


# ---- the days ----


def test_days(week: Path) -> None:
    figure = drawn(week, ladder_days)
    labels = ["win_gap", "avg_wait_time [minutes]", "rating_error [points]", "scale_stretch"]
    assert [axes.get_ylabel() for axes in figure.axes] == labels
    for axes, label in zip(figure.axes, labels, strict=True):
        name = label.partition(" ")[0]
        x, y = axes.lines[-1].get_data()
        assert y.tolist() == column(week / "days.csv", name).tolist()
        # Ratings are those at the end of a day.
        first = 1.0 if name in ("rating_error", "scale_stretch") else 0.5
        assert x.tolist() == [first + k for k in range(6)]
        assert axes.get_xlabel() == "time [days]"
        assert axes.get_xlim() == (0.0, 6.0)
        ends = axes.patches[0].get_extents().transformed(axes.transData.inverted())
        assert (ends.x0, ends.x1) == pytest.approx((0.0, 2.0))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["warm-up", "as the skills"]


def test_days_without_matches_are_gaps(tmp_path: Path) -> None:
    rare = ("sessions.per_day=0.3", "population.players=5", "population.newcomers_per_day=0")
    options = [word for one in (*rare, "rule.team_num=1", "days=12") for word in ("--set", one)]
    simulated(tmp_path, *SMALL, *options, "--set", "rule.team_diff=2000")
    found = column(tmp_path / "days.csv", "win_gap")
    empty = column(tmp_path / "days.csv", "matches") == 0
    assert 0 < empty.sum() < 12
    assert np.isnan(found[empty]).all()
    gap = drawn(tmp_path, ladder_days).axes[0].lines[-1]
    assert np.array_equal(gap.get_ydata(), found, equal_nan=True)
    # A day between two gaps is seen too.
    assert gap.get_marker() == "o"


# ---- matches and players ----


def test_fairness_as_believed_and_in_truth(week: Path) -> None:
    found = ladder_ratings.read_differences(read_run_files(week))
    skill = column(week / "players.csv", "skill")
    seen = {(row["match"], row["player"]): row for row in rows(week / "tickets.csv")}
    games: dict[str, list[dict[str, str]]] = {}
    for row in rows(week / "games.csv"):
        games.setdefault(row["game"], []).append(row)
    wanted = []
    for game, players in sorted(games.items(), key=lambda item: int(item[0])):
        if float(seen[game, players[0]["player"]]["ended_hours"]) < 48.0:
            continue
        true, believed = {"A": 0.0, "B": 0.0}, {"A": 0.0, "B": 0.0}
        for row in players:
            true[row["team"]] += skill[int(row["player"])] / 2.0
            believed[row["team"]] += float(seen[game, row["player"]]["rating"]) / 2.0
        wanted.append((abs(believed["A"] - believed["B"]), abs(true["A"] - true["B"])))
    assert np.array(wanted) == pytest.approx(np.column_stack(found), abs=1e-9)
    assert 100 < len(wanted) <= ladder_ratings.MOST_DOTS
    fairness, _ = drawn(week, ladder_ratings).axes
    assert np.array_equal(line(fairness, "matches"), found)
    means = line(fairness, "means of tenths")
    lowest = np.argsort(found.believed, kind="stable")[: math.ceil(len(wanted) / 10)]
    assert means[1, 0] == pytest.approx(found.true[lowest].mean())
    (equal,) = [one for one in fairness.lines if one.get_label() == "equal"]
    assert equal.get_slope() == 1.0
    assert equal.get_xy1() == (0.0, 0.0)
    assert fairness.get_xlabel() == "believed difference of the teams [points]"
    assert fairness.get_ylabel() == "difference of their mean skills [points]"


def test_the_rule_sees_what_tickets_say(tmp_path: Path) -> None:
    options = ("--set", "rating.match_by=conservative", "--set", "warmup_days=0")
    simulated(tmp_path, *TEAMS, *options)
    found = ladder_ratings.read_differences(read_run_files(tmp_path))
    answers = json.loads((tmp_path / "responses.json").read_text())["responses"]
    still_playing = answers["n_matches"] - found.true.size
    assert 0 <= still_playing < 5
    assert found.believed.mean() == pytest.approx(answers["team_diff"], rel=0.05)
    assert found.true.mean() == pytest.approx(answers["true_team_diff"], rel=0.05)
    if not still_playing:
        assert found.believed.mean() == pytest.approx(answers["team_diff"])


@pytest.mark.slow
def test_many_matches_are_a_density(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulated(tmp_path, *TEAMS)
    monkeypatch.setattr(ladder_ratings, "MOST_DOTS", 50)
    fairness, _, bar = drawn(tmp_path, ladder_ratings).axes
    found = ladder_ratings.read_differences(read_run_files(tmp_path))
    (cells,) = [one for one in fairness.collections if one.get_array() is not None]
    assert cells.get_array().sum() == found.true.size
    assert cells.get_array().min() >= 1
    assert bar.get_ylabel() == "matches"
    files = plot_files(tmp_path)
    first = [file.read_bytes() for file in files]
    assert [file.read_bytes() for file in plot_files(tmp_path)] == first


def test_ratings_against_skills(week: Path) -> None:
    _, ratings = drawn(week, ladder_ratings).axes
    players = week / "players.csv"
    there = (column(players, "games") > 0) & (column(players, "gone") == 0)
    skill, rating = (column(players, name)[there] for name in ("skill", "rating"))
    assert np.array_equal(line(ratings, "players"), [skill, rating])
    slope = json.loads((week / "responses.json").read_text())["responses"]["rating_slope"]
    x, y = line(ratings, f"least squares, slope {slope:.3f}")
    assert (y[1] - y[0]) / (x[1] - x[0]) == pytest.approx(slope)
    fit = np.polyfit(skill, rating, 1)
    assert y.tolist() == pytest.approx(np.polyval(fit, x).tolist())
    assert np.array_equal(*line(ratings, "equal"))
    assert ratings.get_xlabel() == "skill [points]"
    assert ratings.get_ylabel() == "rating at the end [points]"


# ---- what little there may be ----


@pytest.mark.slow
def test_runs_without_a_match(tmp_path: Path) -> None:
    simulated(tmp_path, *SMALL, *NOBODY)
    assert len(plot_files(tmp_path)) == 6
    assert notes(drawn(tmp_path, ladder_queue)) == ["", "no match started"]
    assert notes(drawn(tmp_path, ladder_days)) == ["undefined on all days"] * 4
    assert notes(drawn(tmp_path, ladder_ratings)) == [
        "no measured match ended",
        "nobody has finished a match",
    ]
    late = ("--set", "days=0.01", "--set", "warmup_days=0", "--set", "sessions.per_day=0.001")
    simulated(tmp_path / "short", *TEAMS, *late)
    figure = drawn(tmp_path / "short", ladder_queue)
    assert notes(figure) == ["nobody waited", "no match started"]
    assert not figure.legends


def test_players_who_are_all_alike_have_no_slope(tmp_path: Path) -> None:
    simulated(tmp_path, *TEAMS, "--set", "population.skill_std=0")
    _, ratings = drawn(tmp_path, ladder_ratings).axes
    labels = [text.get_text() for text in ratings.get_legend().get_texts()]
    assert labels == ["players", "equal"]
    figure = drawn(tmp_path, ladder_days)
    assert notes(figure) == ["", "", "", "undefined on all days"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["warm-up"]


def test_tables_that_contradict_each_other(tmp_path: Path) -> None:
    simulated(tmp_path, *TEAMS)

    def other_player(table: list[dict[str, str]]) -> None:
        table[0]["player"] = "59" if table[0]["player"] != "59" else "58"

    changed(tmp_path, "games.csv", other_player)
    with pytest.raises(InputError, match=r"tickets.csv: damaged: .* not those of games.csv"):
        plot_files(tmp_path)


def test_a_manifest_without_days(tmp_path: Path) -> None:
    simulated(tmp_path, *TEAMS)
    path = tmp_path / "manifest.json"
    content = json.loads(path.read_text())
    content["config"]["factors"]["days"] = "long"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"manifest.json: damaged: could not convert"):
        plot_files(tmp_path)


def test_a_result_without_files_is_drawn() -> None:
    factors = {"days": 1, "warmup_days": 0, "population.players": 40, "rule.team_num": 1}
    run = valmatch.simulate(valmatch.load("ladder", factors))
    assert "day 0" in plot(run).get_suptitle()
    assert len(plot(run, "days").axes) == 4


# ---- careers ----


def test_careers(careers: Path) -> None:
    figure = drawn(careers, curves)
    labels = ["win_gap", "wait [minutes]", "error [points]"]
    assert [axes.get_ylabel() for axes in figure.axes] == labels
    assert "mean of 4 replications with 95% bands" in figure.get_suptitle()
    table = rows(careers / "curves.csv")
    for axes, label in zip(figure.axes, labels, strict=True):
        own = [row for row in table if row["measure"] == label.partition(" ")[0]]
        mean, error, n = (
            np.array([float(row[key] or "nan") for row in own])
            for key in ("mean", "std_error", "n")
        )
        assert np.array_equal(axes.lines[0].get_ydata(), mean, equal_nan=True)
        assert np.isnan(mean).any()
        # Of games that some replications do not define, the band is that of the others.
        assert set(n) >= {0.0, 4.0}
        game = max(k for k in range(100) if n[k] in (2.0, 3.0))
        reach = stats.t.ppf(0.975, n[game] - 1.0) * error[game]
        corners = np.concatenate([path.vertices for path in axes.collections[0].get_paths()])
        ends = corners[corners[:, 0] == game + 1.0][:, 1]
        assert (ends.min(), ends.max()) == pytest.approx((mean[game] - reach, mean[game] + reach))
        assert axes.get_ylim()[0] >= 0.0
        assert axes.get_ylim()[1] >= np.nanmax(mean)


def test_a_game_between_two_gaps_is_seen(careers: Path, tmp_path: Path) -> None:
    for name in ("manifest.json", "curves.csv"):
        (tmp_path / name).write_bytes((careers / name).read_bytes())

    def torn(table: list[dict[str, str]]) -> None:
        for row in table[:100]:
            if int(row["game"]) not in (1, 2, 5):
                row.update(n="0", mean="", std_error="")

    changed(tmp_path, "curves.csv", torn)
    gap = drawn(tmp_path, curves).axes[0]
    assert gap.lines[1].get_xdata().tolist() == [5]
    assert gap.lines[1].get_marker() == "o"


@pytest.mark.slow
def test_careers_of_nobody(tmp_path: Path) -> None:
    run = ("replicate", "ladder", *SMALL, *NOBODY, "-n", "2", "--out", tmp_path)
    assert command(*run).code == 0
    figure = drawn(tmp_path, curves)
    assert notes(figure) == ["undefined in all replications"] * 3
    assert "mean of 2 replications" in figure.get_suptitle()
    names = [path.name for path in plot_files(tmp_path)]
    assert names == ["curves.png", "curves.svg", "responses.png", "responses.svg"]


def test_players_of_files_go_by_their_names(tmp_path: Path) -> None:
    names = ["zoe", "ann", "7", "bob"]
    rows_of = [f"{name},{1400 + 50 * k}" for k, name in enumerate(names)]
    (tmp_path / "skills.csv").write_text("\n".join(["player,skill", *rows_of, ""]))
    factors = {"days": 2, "warmup_days": 0, "rule.team_num": 1, "rule.team_diff": 1000}
    factors |= {"population.newcomers_per_day": 0, "sessions.per_day": 10}
    overrides = [f"{name}={value}" for name, value in factors.items()]
    overrides.append(f"skills={tmp_path / 'skills.csv'}")
    run = valmatch.simulate(valmatch.load("ladder", overrides), out=tmp_path / "run")
    skills = dict(zip(names, (1400.0, 1450.0, 1500.0, 1550.0), strict=True))
    players = run["games"]["player"].tolist()
    wanted = [abs(skills[a] - skills[b]) for a, b in zip(players[::2], players[1::2], strict=True)]
    found = ladder_ratings.read_differences(read_run_files(tmp_path / "run"))
    assert len(wanted) > 5
    assert sorted(found.true.tolist()) == sorted(wanted)
    plot(run)
