"""The figures of all commands: which files, what is on the axes, what is drawn."""

from __future__ import annotations

import csv
import json
import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.support.command import valmatch
from valmatch.errors import InputError
from valmatch.plots.drawing import plot_files
from valmatch.plots.optimization.reading import reference_of
from valmatch.plots.parts.source import read_run_files
from valmatch.plots.parts.style import style_context
from valmatch.statistics.rounding import plus_minus

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from valmatch.plots import compare, curves, design, rate, responses
from valmatch.plots import zonestats as simulate_zonestats
from valmatch.plots.opponent import simulate as simulate_opponent
from valmatch.plots.optimization import study as optimize
from valmatch.plots.optimization.reading import final_point
from valmatch.plots.optimization.search import read_search
from valmatch.plots.optimization.sweep import read_frontier
from valmatch.plots.parts import style
from valmatch.plots.parts.source import Units
from valmatch.plots.parts.waiting import MOST_STEPS
from valmatch.plots.valorant import simulate as simulate_valorant

Array = np.ndarray[Any, Any]

SMALL_STUDY = ("kg-fig1-top", "--set", "n_opponents=5", "--set", "n_games=60")
SMALL_LEAGUE = ("zonestats", "--set", "n_players=12", "--set", "games_per_player=30")
SMALL_LADDER = (
    *("ladder", "--set", "population.players=60", "--set", "rule.team_num=2"),
    *("--set", "days=6", "--set", "warmup_days=2"),
)
LOG = "winner,loser\n" + "".join(
    f"{a},{b}\n" for _ in range(6) for a, b in product("abcdefg", repeat=2) if a < b
)
COMMANDS: dict[str, tuple[str, ...]] = {
    "day": ("simulate", "valorant"),
    "path": ("simulate", *SMALL_STUDY),
    "league": ("simulate", *SMALL_LEAGUE),
    "ladder": ("simulate", *SMALL_LADDER),
    "days": ("replicate", "valorant", "-n", "40"),
    "paths": ("replicate", *SMALL_STUDY, "-n", "20"),
    "leagues": ("replicate", *SMALL_LEAGUE, "-n", "8"),
    "ladders": ("replicate", *SMALL_LADDER, "-n", "5"),
    "search": ("optimize", "valorant-20min", "--budget", "150"),
    "solvers": (
        *("optimize", "valorant-20min", "--budget", "150"),
        *("--solver", "auto,random", "--macroreps", "2"),
    ),
    "frontier": (
        *("optimize", "valorant-20min", "--budget", "100"),
        *("--sweep", "upper_time=10:30:10"),
    ),
    "rated": ("rate", "log.csv"),
}
FILES = {
    "day": ["day"],
    "path": ["path"],
    "league": ["ratings"],
    "ladder": ["queue", "days", "ratings"],
    "days": ["responses"],
    "paths": ["curves", "responses"],
    "leagues": ["curves", "responses"],
    "ladders": ["curves", "responses"],
    "search": ["search", "slices"],
    "solvers": ["progress", "solvability", "slices"],
    "frontier": ["frontier"],
    "rated": ["history", "calibration"],
    "compared": ["differences"],
    "line": ["design"],
    "grid": ["design"],
    "cloud": ["design"],
    "cube": ["design"],
}
KINDS = sorted(FILES)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder of each kind; read only."""
    root = tmp_path_factory.mktemp("made")
    log = root / "log.csv"
    log.write_text(LOG)
    for name, arguments in COMMANDS.items():
        given = [log if word == "log.csv" else word for word in arguments]
        done = valmatch(*given, "--out", root / name)
        assert done.code in (0, 3), done.err
    compared(root / "compared")
    designed(root / "line", {"factors.team_diff": [50, 100, 400]})
    designed(root / "grid", {"team_diff": [50, 100, 400], "matching": ["team_first", "joint"]})
    rng = np.random.default_rng(1)
    designed(root / "cloud", {"team_diff": rng.random(20), "wait_thresh": rng.random(20)}, True)
    designed(root / "cube", {"team_diff": [1, 2], "player_diff": [1, 2], "team_num": [1, 2]})
    return root


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies a folder, to be spoilt."""

    def copied(name: str) -> Path:
        shutil.copytree(made / name, tmp_path / name)
        return tmp_path / name

    return copied


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "DPI", 30)


def manifest(folder: Path, command: str, **more: object) -> None:
    content = {
        "command": command,
        "status": "complete",
        "config_id": "c0ffee",
        "seed": 1,
        "source": "valorant.yaml",
        "config": {"model": "valorant", "factors": {}},
        **more,
    }
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(content))


def estimate(mean: float | None, half: float | None, n: int = 50) -> dict[str, Any]:
    ends = (None, None) if mean is None or half is None else (mean - half, mean + half)
    found = {"n": n, "undefined": 50 - n, "mean": mean, "std": half, "std_error": half}
    return {**found, "ci_low": ends[0], "ci_high": ends[1], "confidence": 0.95}


def compared(folder: Path) -> None:
    """Write what a comparison leaves."""
    manifest(folder, "compare")
    differences = {
        "avg_team_diff": {**estimate(-12.5, 2.0), "mean_a": 200.0, "mean_b": 187.5},
        "avg_wait_time": {**estimate(0.5, 1.0), "mean_a": 20.0, "mean_b": 20.5},
        "n_players": {**estimate(0.0, 0.0), "mean_a": 518.0, "mean_b": 518.0},
        "wait_p50": {**estimate(None, None, 0), "mean_a": None, "mean_b": None},
        "max_wait_time": {**estimate(-3.0, None, 1), "mean_a": 0.0, "mean_b": -3.0},
    }
    sides = {side: {"source": f"x/{side}.yaml", "config_id": f"id-{side}"} for side in "ab"}
    content = {"model": "valorant", **sides, "seed": 1, "confidence": 0.95, "replications": 50}
    content["changed"] = {
        "team_diff": {"a": 400.0, "b": 300.0},
        **{name: {"a": 1, "b": None} for name in ("review", "tie_break", "matching", "horizon")},
    }
    content["differences"] = differences
    (folder / "summary.json").write_text(json.dumps(content))


def designed(folder: Path, factors: dict[str, Any], cloud: bool = False) -> None:
    """Write what a design leaves: a grid of factors, or a cloud of points."""
    manifest(folder, "design")
    names = list(factors)
    points = list((zip if cloud else product)(*factors.values()))
    header = "n,undefined,mean,std,std_error,ci_low,ci_high,confidence"
    lines = [f"point,config_id,{','.join(names)},response,{header}\n"]
    for k, point in enumerate(points):
        place = ",".join(map(str, point))
        size = 100.0 + 10.0 * k
        for response, shift in (("avg_team_diff", 0.0), ("avg_wait_time", -90.0)):
            mean = size + shift
            cells = f"30,0,{mean},4.0,0.7,{mean - 2},{mean + 2},0.95"
            lines.append(f"{k},id{k},{place},{response},{cells}\n")
        lines.append(f"{k},id{k},{place},wait_p50,0,30,,,,,,0.95\n")
    (folder / "design.csv").write_text("".join(lines))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def column(path: Path, name: str) -> Array:
    return np.array([float(row[name] or "nan") for row in rows(path)])


def drawn(folder: Path, drawer: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the figures; matplotlib's types are too wide to look into."""
    with style.style_context():
        figures: dict[str, Any] = drawer.draw(read_run_files(folder))
    return figures


def refused(folder: Path) -> str:
    with pytest.raises(InputError) as info:
        plot_files(folder)
    message = str(info.value)
    assert "\n" not in message
    return message


def line(axes: Any, label: str) -> Array:  # noqa: ANN401
    """Return the points of the one line of that label, (2, n)."""
    found = [one for one in axes.lines if one.get_label() == label]
    assert len(found) == 1, [one.get_label() for one in axes.lines]
    return np.array(found[0].get_data(), dtype=float)


def bars(axes: Any) -> Iterator[tuple[Array, Array | None]]:  # noqa: ANN401
    """Yield the marks (2, n) of each error bar with the ends of the bars (n, 2, 2), if any."""
    for container in axes.containers:
        marks, _, lines = container
        ends = np.array(lines[0].get_segments()) if lines else None
        yield np.array(marks.get_data(), dtype=float), ends


def interval(found: dict[str, Any]) -> tuple[float, float]:
    return found["ci_low"], found["ci_high"]


# ---- all kinds ----


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_small_files_in_which_no_text_is_cut_or_overlaps(
    kind: str, copy: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy(kind)
    figures: dict[str, Figure] = {}
    save = style.save

    def keep(found: dict[str, Figure], folder: Path, formats: Sequence[str]) -> list[Path]:
        figures.update(found)
        return save(found, folder, formats)

    monkeypatch.setattr(style, "save", keep)
    monkeypatch.setattr(style, "DPI", 100)  # that of the canvas below: texts have the same places
    files = plot_files(folder)
    assert files == [folder / f"{name}.{end}" for name in FILES[kind] for end in ("png", "svg")]
    contents = [file.read_bytes() for file in files]
    assert all(content.startswith(b"\x89PNG\r\n") for content in contents[::2])
    assert all(b"<svg" in content and len(content) < 1_500_000 for content in contents[1::2])
    assert list(figures) == FILES[kind]
    for figure in figures.values():
        assert_legible(figure)


def assert_legible(figure: Any) -> None:  # noqa: ANN401
    """Check that texts lie within the figure, and labels of ticks beside each other."""
    canvas: Any = FigureCanvasAgg(figure)
    with style.style_context():
        canvas.draw()
    renderer = canvas.get_renderer()
    texts = [figure._suptitle, *figure.legends]
    for axes in figure.axes:
        texts += [axes.xaxis.label, axes.yaxis.label, axes.title, axes._left_title]
        texts += [axes._right_title, axes.get_legend()]
        titles = (axes.title, axes._left_title, axes._right_title)
        placed = [text.get_window_extent(renderer) for text in titles if text.get_text()]
        assert not any(a.overlaps(b) for a, b in combinations(placed, 2)), titles
        for axis in (axes.xaxis, axes.yaxis):
            labels = [tick.label1 for tick in axis._update_ticks()]
            labels = [text for text in labels if text.get_text() and text.get_visible()]
            boxes = [text.get_window_extent(renderer) for text in labels]
            shown = [text.get_text() for text in labels]
            assert not any(a.overlaps(b) for a, b in pairwise(boxes)), shown
            texts += labels
    for text in filter(None, texts):
        box = text.get_window_extent(renderer)
        if box.width > 0.0:
            corners = box.padded(-1.0).corners()
            assert all(figure.bbox.contains(*corner) for corner in corners), text


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["league", "cloud", "rated"])
def test_the_same_files_every_time(kind: str, copy: Callable[[str], Path]) -> None:
    folder = copy(kind)
    first = [file.read_bytes() for file in plot_files(folder)]
    assert [file.read_bytes() for file in plot_files(folder)] == first


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("day", "players.csv"),
        ("day", "matches.csv"),
        ("path", "games.csv"),
        ("path", "players.csv"),
        ("league", "games.csv"),
        ("league", "players.csv"),
        ("ladder", "tickets.csv"),
        ("ladder", "days.csv"),
        ("ladder", "games.csv"),
        ("ladder", "players.csv"),
        ("days", "replications.csv"),
        ("leagues", "curves.csv"),
        ("compared", "summary.json"),
        ("line", "design.csv"),
        ("search", "summary.json"),
        ("search", "trajectory.csv"),
        ("search", "candidates.csv"),
        ("search", "evaluations.csv"),
        ("solvers", "progress.csv"),
        ("frontier", "summary.json"),
        ("rated", "history.csv"),
        ("rated", "ratings.csv"),
        ("rated", "summary.json"),
    ],
)
def test_missing_and_damaged_files(kind: str, name: str, copy: Callable[[str], Path]) -> None:
    folder = copy(kind)
    path = folder / name
    good = path.read_text()
    for text in ("", "{}\n", "a,b\n1,2\n", good[: len(good) // 3].rpartition(",")[0] + "\n"):
        path.write_text(text)
        assert refused(folder).startswith(str(path)), text[:20]
    path.write_bytes(b"\xff\xfe\n")
    assert refused(folder).startswith(str(path))
    path.unlink()
    assert refused(folder) == f"{path}: cannot be read: No such file or directory"
    content = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**content, "status": "running"}))
    assert refused(folder).endswith("directory (incomplete: the run is running)")
    assert not list(folder.glob("*.png"))


@pytest.mark.slow
def test_a_cell_that_is_no_number(copy: Callable[[str], Path]) -> None:
    for kind, name in (("day", "matches.csv"), ("line", "design.csv"), ("rated", "ratings.csv")):
        path = copy(kind) / name
        head, last = path.read_text().rstrip("\n").rsplit("\n", 1)
        path.write_text(f"{head}\n{','.join(['x'] * last.count(','))},x\n")
        last_line = head.count("\n") + 2
        assert refused(path.parent).startswith(f"{path}:{last_line}: damaged: ")
        assert refused(path.parent).endswith(": 'x' (allowed: a number)")


def test_what_gaps_are_relative_to_is_cut_short() -> None:
    assert reference_of({}) == "best known objective"
    assert reference_of({"gap_to": "best of this study"}) == "best of this study"
    assert len(reference_of({"gap_to": "x" * 10_000})) < 100


def test_factors_that_the_model_does_not_take(copy: Callable[[str], Path]) -> None:
    folder = copy("paths")
    content = json.loads((folder / "manifest.json").read_text())
    content["config"]["factors"]["gamma"] = "high"
    (folder / "manifest.json").write_text(json.dumps(content))
    assert "factors.gamma: " in refused(folder)
    del content["config"]["factors"]["rank"]
    (folder / "manifest.json").write_text(json.dumps(content))
    assert refused(folder).endswith("manifest.json: damaged: there is no 'rank'")


@pytest.mark.slow
def test_runs_in_subfolders_are_drawn_each_in_its_own(made: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(made / "line", tmp_path / name)
    expected = [tmp_path / n / f"design.{end}" for n in ("one", "two") for end in ("png", "svg")]
    assert plot_files(tmp_path) == expected


# ---- simulate ----


def test_day(made: Path) -> None:
    folder = made / "day"
    queue, waits, ratings, matches = drawn(folder, simulate_valorant)["day"].axes
    day = simulate_valorant.read_day(read_run_files(folder))
    found = json.loads((folder / "responses.json").read_text())["responses"]
    steps = simulate_valorant.waiting(day)
    mean = float(np.sum(np.diff(steps.hours) * steps.players[:-1])) / 24.0
    assert mean == pytest.approx(found["avg_queue_length"], rel=1e-12)
    assert steps.players[-1] == 0.0
    prioritized = simulate_valorant.waiting(day, prioritized=True)
    assert (prioritized.players <= np.interp(prioritized.hours, *steps) + 12).all()
    rises = np.maximum(np.diff(prioritized.players, prepend=0.0), 0.0).sum()
    assert rises == pytest.approx(found["prioritized_fraction"] * found["n_players"])
    for steps_of, polygon in zip((steps, prioritized), queue.collections, strict=True):
        corners = polygon.get_paths()[0].vertices
        assert corners[:, 1].max() == steps_of.players.max()
        assert corners[:, 0].max() == 24.0
    assert queue.get_xlabel() == "time [hours]"
    assert queue.get_ylabel() == "waiting players"
    assert waits.get_ylabel() == "wait of matched players [minutes]"
    hours, wait, _, _ = simulate_valorant.rolling(day)
    assert np.array_equal(line(waits, "mean over 60 minutes"), [hours, wait])
    wanted = np.abs(day.arrival - hours[70]) <= 0.5
    assert wait[70] == pytest.approx(np.nanmean(day.wait[wanted]))
    players = folder / "players.csv"
    matched = ~np.isnan(column(players, "wait_minutes"))
    points = [column(players, name)[matched] for name in ("rating", "wait_minutes")]
    assert np.array_equal(line(ratings, "matched"), points)
    assert line(ratings, "unmatched").shape[1] == found["unmatched"]
    assert ratings.get_xlabel() == "rating [Elo points]"
    assert ratings.get_ylabel() == "wait [minutes]"
    assert matches.patches[0].get_data().values.sum() == found["n_matches"]
    limits = {one.get_label(): one.get_xdata()[0] for one in matches.lines}
    assert limits == {
        f"mean {found['avg_team_diff']:.4g}": pytest.approx(found["avg_team_diff"]),
        "team_diff 400": 400.0,
        "with slack 600": 600.0,
    }
    assert matches.get_xlabel() == "difference of the mean ratings [Elo points]"


@pytest.mark.parametrize(("rows", "end"), [("0.5,4\n", 0.5), ("0.5,4\n0.6,4\n", 24.0)])
def test_a_short_log_is_drawn_to_its_end(tmp_path: Path, rows: str, end: float) -> None:
    (tmp_path / "log.csv").write_text("arrival_hours,rating\n0.1,1\n0.2,2\n0.3,3\n" + rows)
    two = ("--set", "team_num=2", "--set", f"arrivals={tmp_path / 'log.csv'}")
    assert valmatch("simulate", "valorant", *two, "--out", tmp_path / "a").code == 0
    figure = drawn(tmp_path / "a", simulate_valorant)["day"]
    # Whoever waits to the end of the day is seen waiting.
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim() == (0.0, end)
    assert figure.get_suptitle().endswith(f"{3 + rows.count(',')} players, 1 match")


@pytest.mark.slow
def test_days_without_matches_and_long_days(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("arrival_hours,rating\n0.5,1\n1,2\n2,4\n")
    arrivals = f"arrivals={tmp_path / 'log.csv'}"
    assert valmatch("simulate", "valorant", "--set", arrivals, "--out", tmp_path / "a").code == 0
    axes = drawn(tmp_path / "a", simulate_valorant)["day"].axes
    texts = [one.texts[0].get_text() if one.texts else "" for one in axes]
    assert texts == ["", "nobody was matched", "", "no matches"]
    assert axes[0].collections[0].get_paths()[0].vertices[:, 1].max() == 3
    busy = ("--set", "rate_multiplier=20", "--out", tmp_path / "b")
    assert valmatch("simulate", "valorant", *busy).code == 0
    files = plot_files(tmp_path / "b")
    assert files[1].stat().st_size < 1_000_000
    day = simulate_valorant.read_day(read_run_files(tmp_path / "b"))
    steps = simulate_valorant.waiting(day)
    assert steps.hours.size == MOST_STEPS
    at = 1234
    left = np.where(np.isnan(day.leaving), 25.0, day.leaving)
    there = (day.arrival <= steps.hours[at]) & (left > steps.hours[at])
    assert steps.players[at] == there.sum()


def test_sample_path(made: Path) -> None:
    folder = made / "path"
    belief, gap, error, won = drawn(folder, simulate_opponent)["path"].axes
    games = [row for row in rows(folder / "games.csv") if row["policy"] == "draw_chance"]
    assert line(error, "DrawChance")[1].tolist() == [float(row["squared_error"]) for row in games]
    assert line(belief, "DrawChance")[1].tolist() == [float(row["mean"]) for row in games]
    skill = belief.lines[0].get_ydata()[0]
    last = games[-1]
    assert (float(last["mean"]) - skill) ** 2 == pytest.approx(float(last["squared_error"]))
    wins = [int(row["win"]) for row in games]
    assert line(won, "DrawChance")[1, -1] == pytest.approx(sum(wins) / len(wins))
    assert gap.get_ylabel().startswith("skill of player 0 - opponent [skill]")
    assert error.get_ylabel() == "squared error of the belief [skill²]"
    assert all(axes.get_xlabel() == "game" for axes in (belief, gap, error, won))


def test_league(made: Path) -> None:
    folder = made / "league"
    scatter, error, paths = drawn(folder, simulate_zonestats)["ratings"].axes
    players = folder / "players.csv"
    points = [column(players, name) for name in ("skill", "rating")]
    assert np.array_equal(line(scatter, "players at the end"), points)
    found = json.loads((folder / "responses.json").read_text())["responses"]
    games, values = np.array(error.lines[0].get_data())
    assert values[-1] == pytest.approx(found["rating_error"], rel=1e-9)
    assert values[0] == pytest.approx(points[0].std())
    assert games[-1] == pytest.approx(30.0)
    best = int(points[0].argmax())
    own = [row for row in rows(folder / "games.csv") if int(row["player"]) == best]
    ends = [one.get_ydata()[-1] for one in paths.lines if len(one.get_xdata()) == len(own) + 1]
    assert any(end == pytest.approx(points[1][best], rel=1e-12) for end in ends)
    assert "[points]" in error.get_ylabel()
    assert scatter.get_xlabel() == "latent skill [points]"


# ---- replicate ----


def test_histograms(made: Path) -> None:
    folder = made / "days"
    found = json.loads((folder / "summary.json").read_text())["responses"]
    figure = drawn(folder, responses)["responses"]
    assert "seed 1, 40 replications, means with 95% intervals" in figure.get_suptitle()
    for axes, (name, one) in zip(figure.axes, found.items(), strict=True):
        assert axes.get_xlabel().startswith(name)
        counts = axes.patches[0].get_data()
        assert counts.values.sum() == 40
        assert counts.edges[0] <= one["min"]
        assert counts.edges[-1] >= one["max"]
        assert axes.lines[0].get_xdata()[0] == pytest.approx(one["mean"])
        band = axes.patches[1].get_extents().transformed(axes.transData.inverted())
        assert (band.x0, band.x1) == pytest.approx(interval(one))
        assert (" ± " in axes.get_title()) != ("skewed" in one["remarks"])
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert "avg_wait_time [minutes]" in labels
    assert "avg_team_diff [Elo points]" in labels


@pytest.mark.slow
@pytest.mark.parametrize("resample", ["block", "null"])
def test_intervals_of_logs_are_those_of_their_summary(resample: str, tmp_path: Path) -> None:
    times = np.sort(np.random.default_rng(4).uniform(0.0, 48.0, 300))
    rows = "".join(f"{time!r},{1000.0 + k % 7}\n" for k, time in enumerate(times.tolist()))
    (tmp_path / "log.csv").write_text(f"arrival_hours,rating\n{rows}")
    options = [f"arrivals={tmp_path / 'log.csv'}", f"log.resample={resample}", "log.block_hours=6"]
    sets = [word for option in options for word in ("--set", option)]
    folder = tmp_path / "run"
    assert valmatch("replicate", "valorant", *sets, "-n", "9", "--out", folder).code == 0
    one = json.loads((folder / "summary.json").read_text())["responses"]["avg_wait_time"]
    figure = drawn(folder, responses)["responses"]
    (axes,) = (one for one in figure.axes if one.get_xlabel().startswith("avg_wait_time [min"))
    assert axes.lines[0].get_xdata()[0] == pytest.approx(one["mean"])
    assert len(axes.patches) == (2 if resample == "block" else 1)
    if resample == "block":
        band = axes.patches[1].get_extents().transformed(axes.transData.inverted())
        assert (band.x0, band.x1) == pytest.approx(interval(one))


@pytest.mark.slow
def test_undefined_and_equal_values(tmp_path: Path) -> None:
    rare = ("--set", "poisson_rate=[0.3]", "--set", "horizon=1", "--set", "team_num=1")
    assert valmatch("replicate", "valorant", *rare, "-n", "60", "--out", tmp_path / "a").code == 0
    axes = drawn(tmp_path / "a", responses)["responses"].axes
    by_name = {one.get_xlabel().partition(" ")[0]: one for one in axes}
    found = json.loads((tmp_path / "a" / "summary.json").read_text())["responses"]
    one = found["avg_wait_time"]
    assert 0 < one["undefined"] < 60
    assert by_name["avg_wait_time"].get_title().endswith(f"\nundefined in {one['undefined']}")
    assert by_name["avg_player_diff"].patches[0].get_data().values.sum() == one["n"]
    never = ("--set", "team_num=1000", "-n", "5")
    assert valmatch("replicate", "valorant", *never, "--out", tmp_path / "b").code == 0
    axes = drawn(tmp_path / "b", responses)["responses"].axes
    by_name = {one.get_xlabel().partition(" ")[0]: one for one in axes}
    assert by_name["avg_wait_time"].texts[0].get_text() == "undefined in all 5 replications"
    assert by_name["n_matches"].get_title() == "0 ± 0"
    files = plot_files(tmp_path / "b")
    assert [file.name for file in files] == ["responses.png", "responses.svg"]


def test_interrupted_replications(copy: Callable[[str], Path]) -> None:
    folder = copy("days")
    content = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**content, "status": "interrupted"}))
    path = folder / "replications.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:6]) + lines[6][:30])  # a kill tears the last line
    (folder / "summary.json").unlink()
    figure = drawn(folder, responses)["responses"]
    assert "5 replications" in figure.get_suptitle()
    assert "incomplete: the run is interrupted" in figure.get_suptitle().replace("\n", " ")
    assert figure.axes[0].patches[0].get_data().values.sum() == 5
    path.write_text(lines[0])
    message = "replications.csv: holds no replications (incomplete: the run is interrupted)"
    assert refused(folder).endswith(message)


def test_distributions_of_the_policies(made: Path) -> None:
    folder = made / "paths"
    found = json.loads((folder / "summary.json").read_text())["responses"]
    figure = drawn(folder, responses)["responses"]
    panels = {axes.get_xlabel().replace("\n", " "): axes for axes in figure.axes}
    axes = panels["squared_error, games 1-60 [skill squared]"]
    values = np.sort(column(folder / "replications.csv", "squared_error.draw_chance.1-60"))
    steps = line(axes, "DrawChance")
    assert np.array_equal(steps[0, :-1], values)
    assert steps[1, -1] == 1.0
    centres = [found[f"squared_error.{p}.1-60"] for p in ("point_estimate", "draw_chance")]
    for (marks, ends), one in zip(bars(axes), centres, strict=False):
        assert marks[0, 0] == pytest.approx(one["mean"])
        assert ends is not None
        assert ends[0, :, 0].tolist() == pytest.approx(interval(one))
    assert list(panels)[-1].startswith("expected_quality, all games")
    assert len(panels) == 7 + 1


def test_curves(made: Path) -> None:
    folder = made / "leagues"
    error, loss = drawn(folder, curves)["curves"].axes
    assert error.get_ylabel() == "rating_error [points]"
    assert loss.get_ylabel() == "log_loss"
    table = [row for row in rows(folder / "curves.csv") if row["measure"] == "rating_error"]
    assert error.lines[0].get_ydata().tolist() == [float(row["mean"]) for row in table]
    band = error.collections[0].get_paths()[0].vertices
    reach = stats.t.ppf(0.975, 7) * float(table[-1]["std_error"])
    last = band[band[:, 0] == 30.0][:, 1]
    assert last.max() - last.min() == pytest.approx(2 * reach)


# ---- compare, design ----


def test_differences(made: Path) -> None:
    figure = drawn(made / "compared", compare)["differences"]
    head = figure.get_suptitle()
    assert "b - a in 50 paired replications" in head
    assert "a: a, config id-a\nb: b, config id-b" in head
    changed = "team_diff: 400.0 -> 300.0, review: 1 -> None, tie_break: 1 -> None and 2 more"
    assert changed in head.replace("\n", " ")
    team, wait, players, undefined, single = figure.axes
    assert [axes.get_title(loc="left") for axes in (team, wait, players)] == [
        "avg_team_diff [Elo points]",
        "avg_wait_time [minutes]",
        "n_players",
    ]
    assert team.get_title(loc="right") == "-12.5 ± 2.0  (-6.2%)"
    ((marks, ends),) = bars(team)
    assert marks[0, 0] == -12.5
    assert ends is not None
    assert ends[0, :, 0].tolist() == [-14.5, -10.5]
    filled = [next(iter(axes.containers))[0].get_markerfacecolor() for axes in (team, wait)]
    assert filled[0] != "white"
    assert filled[1] == "white"
    assert players.get_title(loc="right") == "no difference"
    assert undefined.get_title(loc="right") == "undefined  undefined in 50"
    assert not undefined.containers
    assert single.get_title(loc="right") == "-3  undefined in 49"
    for axes in figure.axes:
        low, high = axes.get_xlim()
        assert low == -high < 0
        assert axes.lines[0].get_xdata() == [0, 0]


def test_a_design_of_one_factor(made: Path) -> None:
    team, wait, never = drawn(made / "line", design)["design"].axes
    ((marks, ends),) = bars(team)
    assert marks.tolist() == [[50.0, 100.0, 400.0], [100.0, 110.0, 120.0]]
    assert ends is not None
    assert ends[1, :, 1].tolist() == [108.0, 112.0]
    assert team.get_xlabel() == "team_diff [Elo points]"
    assert wait.get_ylabel() == "avg_wait_time [minutes]"
    assert never.get_title() == "undefined in 90 of 90"
    assert never.get_xlim() == team.get_xlim()


def test_a_grid_has_a_line_for_each_value(made: Path) -> None:
    figure = drawn(made / "grid", design)["design"]
    found = list(bars(figure.axes[0]))
    assert [marks.tolist() for marks, _ in found] == [
        [[50.0, 100.0, 400.0], [100.0, 120.0, 140.0]],
        [[50.0, 100.0, 400.0], [110.0, 130.0, 150.0]],
    ]
    (legend,) = figure.legends
    assert legend.get_title().get_text() == "matching"
    assert [text.get_text() for text in legend.get_texts()] == ["team_first", "joint"]


def test_a_cloud_is_coloured_by_the_second_factor(made: Path) -> None:
    figure = drawn(made / "cloud", design)["design"]
    path = made / "cloud" / "design.csv"
    own = [row for row in rows(path) if row["response"] == "avg_team_diff"]
    (dots,) = [one for one in figure.axes[0].collections if one.get_array() is not None]
    assert dots.get_array().tolist() == [float(row["wait_thresh"]) for row in own]
    assert figure.axes[-1].get_xlabel() == "wait_thresh [hours]"


def test_three_factors_have_a_panel_for_each_value_of_one(made: Path) -> None:
    figure = drawn(made / "cube", design)["design"]
    # Two panels for each of three responses; the means of team_diff and player_diff at each team.
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:4] == ["team_num = 1", "team_num = 2"] * 2
    assert titles[4] == "team_num = 1\nundefined in 120 of 120"
    first, second = figure.axes[:2]
    assert first.get_ylabel() == "avg_team_diff [Elo points]"
    assert first.get_ylim() == second.get_ylim()
    found = [marks.tolist() for marks, _ in bars(second)]
    assert found == [[[1.0, 2.0], [110.0, 150.0]], [[1.0, 2.0], [130.0, 170.0]]]
    assert first.get_xlabel() == "team_diff [Elo points]"
    (legend,) = figure.legends
    assert legend.get_title().get_text() == "player_diff [Elo points]"
    assert [text.get_text() for text in legend.get_texts()] == ["1", "2"]


def test_more_factors_have_a_panel_each(tmp_path: Path) -> None:
    sides = {name: [1, 2] for name in ("team_diff", "player_diff", "team_num", "team_slack")}
    designed(tmp_path, sides)
    figure = drawn(tmp_path, design)["design"]
    grid = np.array(figure.axes).reshape(3, 4)
    assert [axes.get_xlabel() for axes in grid[-1]] == [
        "team_diff [Elo points]",
        "player_diff [Elo points]",
        "team_num [players]",
        "team_slack [Elo points]",
    ]
    for k in range(4):
        marks, _ = next(bars(grid[0, k]))
        assert sorted(marks[1].tolist()) == [100.0 + 10.0 * i for i in range(16)]


@pytest.mark.slow
def test_a_large_design_stays_small_as_a_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    names = ("team_diff", "player_diff", "wait_thresh", "team_slack")
    designed(tmp_path, {name: rng.random(600) for name in names}, cloud=True)
    assert plot_files(tmp_path)[1].stat().st_size < 2_000_000


def test_a_design_without_factors_or_points(copy: Callable[[str], Path]) -> None:
    folder = copy("line")
    path = folder / "design.csv"
    header = path.read_text().splitlines()[0]
    path.write_text(header + "\n")
    assert refused(folder) == f"{path}: holds no points"
    path.write_text(header.replace("factors.team_diff,", "") + "\n")
    assert "no factor stands between config_id and response" in refused(folder)


# ---- optimize ----


def test_search(made: Path) -> None:
    folder = made / "search"
    figure = drawn(folder, optimize)["search"]
    objective, wait = figure.axes
    assert objective.get_ylabel() == "objective [Elo points]"
    assert wait.get_ylabel() == "avg_wait_time [minutes]"
    assert wait.get_xlabel() == "replications spent"
    summary = json.loads((folder / "summary.json").read_text())
    table = [row for row in rows(folder / "candidates.csv") if row["stage"] == "search"]
    keeps = [float(row["upper_time"]) <= 20.0 for row in table]
    for label, wanted in (("keeps to all bounds", True), ("violates a bound", False)):
        own = [float(r["objective"]) for r, k in zip(table, keeps, strict=True) if k is wanted]
        assert line(objective, f"{label} in the search")[1].tolist() == own
    best = summary["recommended"]
    for axes, one in ((objective, best["objective"]), (wait, best["constraints"]["upper_time"])):
        ((marks, ends),) = bars(axes)
        assert marks.ravel().tolist() == [summary["spent"], one["mean"]]
        assert ends is not None
        assert ends[0, :, 1].tolist() == pytest.approx(interval(one))
    assert any(list(one.get_ydata()) == [20.0, 20.0] for one in wait.lines)
    answer = {True: "feasible", False: "infeasible", "undecided": "undecided"}[summary["feasible"]]
    assert f"recommended: {answer}; " in figure.get_suptitle()


@pytest.mark.slow
@pytest.mark.parametrize("runs", [1, 2])
def test_no_figure_recommends_an_infeasible_point(runs: int, tmp_path: Path) -> None:
    options = ["--budget", 100, "--solver", "random", "--macroreps", runs]
    assert valmatch("optimize", "valorant-1", *options, "--out", tmp_path).code == 3
    figures = drawn(tmp_path, optimize)
    assert set(figures) - {"solvability"} == {"slices", "search" if runs == 1 else "progress"}
    for figure in figures.values():
        texts = [one.get_text() for one in figure.findobj(Text)]
        assert any("least violation" in text for text in texts)
        assert not any("recommended" in text for text in texts)


def test_spent_replications_and_incumbents(made: Path) -> None:
    run = read_run_files(made / "search")
    found = final_point(run, run.json("summary.json"))
    search = read_search(run, found)
    table = rows(made / "search" / "candidates.csv")
    counts = [int(row["n"]) for row in table if row["stage"] == "search"]
    assert not np.isnan(search.spent).any()
    assert search.spent.max() == sum(counts)
    assert search.spent.min() == counts[int(search.spent.argmin())]
    assert (search.incumbents >= 0).all()
    assert (search.changed <= search.spent.max()).all()
    assert search.total == run.json("summary.json")["spent"] > 100


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["search", "solvers"])
def test_slices(kind: str, made: Path) -> None:
    folder = made / kind
    figure = drawn(folder, optimize)["slices"]
    summary = json.loads((folder / "summary.json").read_text())
    point = summary["recommended"]["point"]
    grid = np.array(figure.axes).reshape(2, len(point))
    table = [row for row in rows(folder / "candidates.csv") if row["stage"] == "search"]
    for axes, (name, best) in zip(grid[0], point.items(), strict=True):
        star = line(axes, "recommended")
        assert star.ravel().tolist() == [best, summary["recommended"]["objective"]["mean"]]
        shown = [
            x
            for label in ("keeps to all bounds in the search", "violates a bound in the search")
            for x in line(axes, label)[0].tolist()
        ]
        assert sorted(shown) == sorted(float(row[name]) for row in table)
    assert [axes.get_xlabel() for axes in grid[1]][2] == "wait_thresh [hours]"
    assert grid[1, 0].get_ylabel() == "avg_wait_time [minutes]"


@pytest.mark.slow
def test_progress_curves(made: Path) -> None:
    folder = made / "solvers"
    summary = json.loads((folder / "summary.json").read_text())
    curve_axes, objective, area, shares = drawn(folder, optimize)["progress"].axes
    found = summary["solvers"]
    for k, name in enumerate(("auto", "random")):
        spent, gap = line(curve_axes, name)
        assert spent[-1] == 150
        # The area under a curve is the mean of its heights.
        assert gap.mean() == pytest.approx(100 * found[name]["area_under_curve"]["value"])
        own = [row for row in rows(folder / "progress.csv") if row["solver"] == name]
        last = [float(row["gap"] or 1.0) for row in own if row["replications"] == "150"]
        assert gap[-1] == pytest.approx(100 * sum(min(1.0, x) for x in last) / 2)
        low, high = np.array(
            [
                [100 * min(1.0, float(row["gap"] or 1.0)) for row in own if row["macrorep"] == m]
                for m in "01"
            ]
        )[:, -1]
        band = curve_axes.collections[k].get_paths()[0].vertices
        ends = band[band[:, 0] == 150.0][:, 1]
        assert (ends.min(), ends.max()) == pytest.approx(tuple(sorted((low, high))))
    areas = [float(marks[0, 0]) for marks, _ in bars(area)]
    assert areas == [
        pytest.approx(100 * found[n]["area_under_curve"]["value"])
        for n in found
        if n in ("auto", "random")
    ]
    assert objective.get_xlabel() == "median objective [Elo points]"
    assert len(list(bars(shares))) == 8
    assert "[%]" in curve_axes.get_ylabel()


@pytest.mark.slow
def test_solvability_profiles(made: Path) -> None:
    folder = made / "solvers"
    found = json.loads((folder / "summary.json").read_text())["solvers"]
    assert found["start_objective"] is None  # it waits for 30 minutes: infeasible
    scale = found["best_known"]
    curve, *profiles = drawn(folder, optimize)["solvability"].axes
    table = rows(folder / "progress.csv")
    for name in ("auto", "random"):
        runs = []
        for number in "01":
            own = [row for row in table if (row["solver"], row["macrorep"]) == (name, number)]
            gaps = [
                min(1.0, abs(float(row["objective"] or "nan") - found["best_known"]) / scale)
                if float(row["violation"]) <= 0
                else 1.0
                for row in own
            ]
            runs.append(gaps)
        assert line(curve, name)[1].tolist() == pytest.approx(np.mean(runs, axis=0).tolist())
        for axes, alpha in zip(profiles, (0.01, 0.05, 0.10), strict=True):
            spent, share = line(axes, name)
            assert spent[-1] == 150
            solved = [min(gaps[: k + 1]) <= alpha for gaps in runs for k in range(len(gaps))]
            expected = 100 * np.reshape(solved, (2, -1)).mean(axis=0)
            assert share.tolist() == pytest.approx(expected.tolist())
            assert (np.diff(share) >= 0).all()


@pytest.mark.slow
def test_gaps_are_shares_of_that_of_a_feasible_start(copy: Callable[[str], Path]) -> None:
    folder = copy("solvers")
    before = line(drawn(folder, optimize)["solvability"].axes[0], "random")[1]
    summary = json.loads((folder / "summary.json").read_text())
    summary["solvers"]["start_objective"] = 3.0 * summary["solvers"]["best_known"]
    (folder / "summary.json").write_text(json.dumps(summary))
    curve, *_ = drawn(folder, optimize)["solvability"].axes
    halved = line(curve, "random")[1]
    assert curve.get_ylabel() == "gap, as a share of that of the start"
    assert (halved <= before).all()
    assert halved.min() == pytest.approx(before.min() / 2)
    del summary["solvers"]["start_objective"]  # as former releases have it
    (folder / "summary.json").write_text(json.dumps(summary))
    former = drawn(folder, optimize)["solvability"].axes[0]
    assert line(former, "random")[1].tolist() == before.tolist()


@pytest.mark.slow
def test_progress_without_a_feasible_point(copy: Callable[[str], Path]) -> None:
    folder = copy("solvers")
    summary = json.loads((folder / "summary.json").read_text())
    summary["solvers"]["best_known"] = None
    for name in ("auto", "random"):
        summary["solvers"][name]["median_objective"] = dict.fromkeys(("value", "ci_low", "ci_high"))
    (folder / "summary.json").write_text(json.dumps(summary))
    path = folder / "progress.csv"
    lines = [row.rsplit(",", 2)[0] for row in path.read_text().splitlines()[1:]]
    ends = ["inf,", *["2.5,"] * (len(lines) - 1)]
    text = "".join(f"{start},{end}\n" for start, end in zip(lines, ends, strict=True))
    path.write_text("solver,macrorep,replications,objective,violation,gap\n" + text)
    figures = drawn(folder, optimize)
    curve_axes, objective, *_ = figures["progress"].axes
    assert set(line(curve_axes, "auto")[1].tolist()) == {2.5}
    assert curve_axes.get_ylabel() == "excess over the worst bound [minutes]"
    assert [text.get_text() for text in objective.texts] == ["none feasible"] * 2
    assert_legible(figures["progress"])


def test_frontier(made: Path) -> None:
    folder = made / "frontier"
    objective, wait = drawn(folder, optimize)["frontier"].axes
    name, values, _ = read_frontier(read_run_files(folder))
    table = rows(folder / "frontier.csv")
    assert name == "upper_time"
    assert values.tolist() == [float(row["sweep.upper_time"]) for row in table] == [10, 20, 30]
    drawn_at = {(x, y) for marks, _ in bars(objective) for x, y in marks.T.tolist()}
    assert drawn_at == {(float(r["sweep.upper_time"]), float(r["objective"])) for r in table}
    answers = {"True": "certified", "False": "not feasible", "undecided": "undecided"}
    labels = {container.get_label() for container in objective.containers}
    assert labels == {answers[row["feasible"]] for row in table}
    markers = {c[0].get_marker() for c in objective.containers}
    assert len(markers) == len(labels) >= 2
    assert objective.get_xlabel() == "upper_time: bound on avg_wait_time [minutes]"
    bound = wait.lines[0]
    assert list(bound.get_xdata()) == list(bound.get_ydata()) == [10.0, 20.0, 30.0]


def test_an_optimisation_that_never_finished_a_run(copy: Callable[[str], Path]) -> None:
    folder = copy("search")
    for path, changes in (
        ("summary.json", {"recommended": None, "feasible": None}),
        ("manifest.json", {"status": "interrupted"}),
    ):
        content = json.loads((folder / path).read_text())
        (folder / path).write_text(json.dumps({**content, **changes}))
    message = "no run was finished (incomplete: the run is interrupted)"
    assert refused(folder) == f"{folder / 'summary.json'}: {message}"


@pytest.mark.slow
def test_a_problem_whose_responses_are_always_undefined(tmp_path: Path) -> None:
    never = ("--set", "team_num=1000", "--budget", "100", "--out", tmp_path)
    assert valmatch("optimize", "valorant-20min", *never).code == 3
    figures = drawn(tmp_path, optimize)
    for figure in figures.values():
        assert_legible(figure)
    axes = figures["search"].axes[0]
    assert axes.get_title(loc="left").startswith("undefined at ")


# ---- rate ----


def test_history(made: Path) -> None:
    folder = made / "rated"
    (axes,) = drawn(folder, rate)["history"].axes
    ranking = rows(folder / "ratings.csv")
    assert len(axes.lines) == 5
    for one, row in zip(axes.lines, ranking, strict=False):
        assert one.get_label() == f"{row['rank']}. {row['player']}"
        own = [r for r in rows(folder / "history.csv") if r["player"] == row["player"]]
        x, y = one.get_data()
        assert y[:-1].tolist() == [
            float(own[0]["rating_before"]),
            *(float(r["rating_after"]) for r in own),
        ]
        assert y[-1] == float(row["rating"])
        assert x[-1] == 126
        assert x[1] == float(own[0]["game"])
    assert axes.get_ylabel() == "rating by zonestats [points]"


def test_calibration(made: Path) -> None:
    folder = made / "rated"
    upper, lower = drawn(folder, rate)["calibration"].axes
    summary = json.loads((folder / "summary.json").read_text())
    bins = summary["predictions"]["all"]["calibration"]
    marks, ends = next(bars(upper))
    assert marks[0].tolist() == [one["predicted"] for one in bins]
    assert marks[1].tolist() == [one["observed"] for one in bins]
    assert ends is not None
    for one, end in zip(bins, ends, strict=True):
        wins = one["games"] * one["observed"]
        if wins == round(wins):
            test = stats.binomtest(round(wins), round(one["games"]))
            wanted = test.proportion_ci(0.95, method="wilson")
            assert end[:, 1].tolist() == pytest.approx([wanted.low, wanted.high], abs=1e-4)
    heights = [patch.get_height() for patch in lower.patches[: len(bins)]]
    assert heights == [one["games"] for one in bins]
    assert sum(heights) == pytest.approx(126)
    assert lower.get_xlabel() == "expected score of the favourite"


@pytest.mark.parametrize("value", ["x" * 10_000, None, [], 10**400])
def test_calibration_of_no_numbers(value: object, copy: Callable[[str], Path]) -> None:
    folder = copy("rated")
    summary = json.loads((folder / "summary.json").read_text())
    summary["predictions"]["all"]["calibration"][1]["predicted"] = value
    (folder / "summary.json").write_text(json.dumps(summary))
    assert "summary.json: damaged: " in refused(folder)


@pytest.mark.slow
def test_names_that_look_like_mathematics(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text('winner,loser\n$a_1^2$,"b\nc"\n' + f"{'x' * 40},$y\n")
    assert valmatch("rate", log, "--out", tmp_path / "out").code == 0
    (axes,) = drawn(tmp_path / "out", rate)["history"].axes
    labels = [str(one.get_label()) for one in axes.lines]
    assert "1. $a_1^2$" in labels
    assert f"1. {'x' * 23}…" in labels
    assert any(label.endswith(r"b\nc") for label in labels)
    plot_files(tmp_path / "out")
    with style_context():
        assert not Figure().text(0, 0, "$a_1^2$").get_parse_math()


# ---- parts ----


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (18.8691, 0.0549, "18.869 ± 0.055"),
        (-31.24, 1.52, "-31.2 ± 1.5"),
        (12345.6, 78.0, "12,346 ± 78"),
        (2.0, 0.0, "2 ± 0"),
        (2.0, math.nan, "2"),
        (math.nan, math.nan, "undefined"),
        (1.0, 1e-9, "1 ± 1e-09"),
    ],
)
def test_means_in_words(mean: float, half: float, text: str) -> None:
    assert plus_minus(mean, half) == text


def test_many_marks_are_thinned_and_become_a_picture() -> None:
    axes = Figure().subplots()
    many = np.arange(50_001.0)
    style.dots(axes, many, many, label="many")
    few = np.arange(100.0)
    style.dots(axes, few, few, label="few")
    shown = line(axes, "many")[0]
    assert shown.size == 16_667
    assert np.array_equal(shown, many[::3])
    assert [one.get_rasterized() for one in axes.lines] == [True, False]


def test_axes_are_logarithmic_where_values_span_orders_of_magnitude() -> None:
    for values, scale in (
        (np.linspace(0.0, 100.0, 50), "linear"),
        (np.geomspace(1.0, 1000.0, 50), "log"),
        (np.append(0.0, np.geomspace(1.0, 1000.0, 50)), "symlog"),
        (np.full(3, np.nan), "linear"),
        (np.zeros(3), "linear"),
    ):
        axes = Figure().subplots()
        axes.plot(values, values)
        style.spread_out(axes, "x", values)
        assert axes.get_xscale() == scale


def test_units() -> None:
    units = Units("opponent", None)
    assert units.of_response("squared_error.draw_chance.1-100") == "skill squared"
    assert units.of_response("squared_error.draw_chance.201-777") == "skill squared"
    assert units.of_response("nothing") == ""
    assert Units("valorant").factor("factors.poisson_rate.3") == "poisson_rate.3 [players per hour]"
    assert Units("").of_factor("anything") == ""
    with pytest.raises(InputError, match="'chess' is not a model"):
        Units("chess").of_response("mate")


@pytest.mark.usefixtures("sectioned")
def test_factors_in_sections_have_units() -> None:
    units = Units("sectioned")
    assert [units.factor(name) for name in ("factors.rule.aim", "noise.bias.1", "rule.shots")] == [
        "rule.aim [m]",
        "noise.bias.1 [m]",
        "rule.shots",
    ]
    assert [units.of_factor(name) for name in ("aim", "rule", "rule.zzz", "zzz.aim")] == [""] * 4
