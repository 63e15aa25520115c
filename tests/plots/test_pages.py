"""Figures that go on in others, what was chosen at compare, several ladders in one figure."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.plots.test_plots import assert_legible, designed, drawn
from tests.support.command import valmatch

pytest.importorskip("matplotlib")

from valmatch import plot
from valmatch.plots import compare, design
from valmatch.plots.compare import ShownDifference
from valmatch.plots.drawing import plot_files
from valmatch.plots.figure_options import FigureOptions
from valmatch.plots.ladder import systems
from valmatch.plots.ladder.systems import names_of
from valmatch.plots.parts import style
from valmatch.plots.parts.pages import pages_of
from valmatch.plots.parts.source import Mean, read_run_files
from valmatch.plots.parts.style import style_context

SMALL = ("--set", "horizon=24", "--set", "team_num=3")
MEASURES = ["matched_fraction", "avg_wait_time", "wait_p50", "wait_p95", "avg_team_diff"]


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "DPI", 30)


def files(folder: Path, *options: str) -> tuple[list[str], str]:
    """Draw a folder; return the names of the files and what is said."""
    done = valmatch("plot", folder, "--format", "png", *options)
    assert done.code == 0, done.err
    return [Path(line).stem for line in done.out.splitlines()], done.err


@pytest.mark.parametrize(("n", "most"), [(1, 1), (7, 3), (24, 24), (25, 24), (100, 7)])
def test_pages_are_about_as_long(n: int, most: int) -> None:
    pages = pages_of(range(n), most)
    assert [k for page in pages for k in page] == list(range(n))
    lengths = [len(page) for page in pages]
    assert max(lengths) <= most
    assert max(lengths) - min(lengths) <= 1
    assert len(pages) == -(-n // most)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two comparisons with bands and hours; read only."""
    root = tmp_path_factory.mktemp("compared")
    asked = ("--set", "measure=[bands, hours]", "-n", "4")
    pair = valmatch(
        *("compare", "valorant", *SMALL, "--variant", "team_diff=90", *asked),
        *("--out", root / "pair"),
    )
    assert pair.code == 0, pair.err
    several = [word for diff in (20, 90) for word in ("--variant", f"team_diff={diff}")]
    made = valmatch("compare", "valorant", *SMALL, *several, *asked, "--out", root / "several")
    assert made.code == 0, made.err
    return root


@pytest.mark.slow
def test_parts_of_a_comparison_have_figures_of_their_own(compared: Path) -> None:
    figures = drawn(compared / "pair", compare)
    figure, bands, hours = figures.values()
    assert list(figures) == ["differences", "differences-bands", "differences-hours"]
    assert len(figure.axes) == 15
    assert [axes.get_title(loc="left").split()[0] for axes in bands.axes] == MEASURES
    with (compared / "pair" / "differences.csv").open() as file:
        means = {row["response"]: float(row["mean"]) for row in csv.DictReader(file)}
    for axes, measure in zip(bands.axes, MEASURES, strict=True):
        names = [text.get_text() for text in axes.get_yticklabels()]
        assert names == ["bottom_10%", "10-50%", "50-90%", "90-99%", "top_1%"]
        places = [bar.lines[0].get_xdata()[0] for bar in axes.containers]
        assert places == pytest.approx([means[f"{measure}.{name}"] for name in names])
    assert len(hours.axes) == 3
    assert len(hours.axes[0].get_yticklabels()) == 24
    for each in (figure, bands, hours):
        assert_legible(each)


@pytest.mark.long
def test_a_comparison_of_several_goes_on_in_further_figures(compared: Path) -> None:
    names, said = files(compared / "several")
    assert names == [
        *("differences", "differences-bands", "differences-hours", "differences-hours-2")
    ]
    assert said == (
        f"{compared / 'several'}: differences-hours has no room for all panels:"
        " differences-hours-2 has the rest\n"
    )
    titles = []
    figures = drawn(compared / "several", compare)
    for name in names[2:]:
        titles += [axes.get_title(loc="left") for axes in figures[name].axes]
        assert_legible(figures[name])
    assert titles[:3] == [
        "avg_queue_length [players], B - A",
        "avg_queue_length [players], C - A",
        "avg_wait_time [minutes], B - A",
    ]
    assert len(titles) == 6


@pytest.mark.slow
def test_what_was_chosen_at_compare_is_drawn(tmp_path: Path) -> None:
    asked = ("--responses", "avg_wait_time,wait_p95.top_1%", "-n", "3", "--out", tmp_path / "run")
    done = valmatch("compare", "valorant", *SMALL, "--set", "team_diff=90", *asked)
    assert done.code == 0, done.err
    figure: Any = plot(tmp_path / "run")
    names = [axes.get_title(loc="left").split()[0] for axes in figure.axes]
    assert names == ["avg_wait_time", "wait_p95.top_1%"]
    other: Any = plot(tmp_path / "run", responses="wait_p50")
    assert [axes.get_title(loc="left").split()[0] for axes in other.axes] == ["wait_p50"]
    assert files(tmp_path / "run")[0] == ["differences"]


@pytest.mark.slow
def test_what_is_measured_is_no_difference_between_two_systems() -> None:
    done = valmatch("compare", "valorant", *SMALL, "--set", "measure=[bands]", "-n", "2",
                    "--set", "team_diff=90")  # fmt: skip
    assert done.code == 0, done.err
    assert "measure" not in done.out
    assert "top_1%" in done.out
    none = valmatch("compare", "valorant", "--set", "measure=[bands]")
    assert none.code == 2
    assert "what is read or measured, and how, holds for both" in none.err


def test_differences_of_rounding_are_none() -> None:
    def words(mean: float, half: float, base: float) -> str:
        found = Mean(9, 0, mean, mean - half, mean + half, 0.95)
        return ShownDifference(found, base).in_words

    assert words(-2e-14, 8e-14, 7.0) == "no difference"
    assert words(0.0, 0.0, float("nan")) == "no difference"
    assert words(-2e-9, 8e-9, 7.0) != "no difference"


@pytest.mark.parametrize(
    ("factors", "responses", "rows", "panels"),
    [
        ({"team_diff": [1, 2]}, 30, 8, [15, 15]),
        pytest.param(
            {"team_diff": [1, 2, 3], "player_diff": [1, 2, 3], "team_num": [1, 2, 3]},
            21,
            8,
            [33, 30],
            marks=pytest.mark.long,
        ),
        (
            {"team_diff": [1, 2], "player_diff": [1, 2], "team_num": [1, 2], "wait_thresh": [1, 2]},
            *(9, 8, [20, 16]),
        ),
    ],
)
@pytest.mark.slow
def test_a_large_design_goes_on_in_further_figures(
    factors: dict[str, Any], responses: int, rows: int, panels: list[int], tmp_path: Path
) -> None:
    designed(tmp_path, factors)
    with (tmp_path / "design.csv").open() as file:
        header, *points = list(csv.reader(file))
    place = header.index("response")
    first = points[0][place]
    with (tmp_path / "design.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for k in range(responses):
            for row in points:
                if row[place] == first:
                    writer.writerow([*row[:place], f"response_{k}", *row[place + 1 :]])
    figures = drawn(tmp_path, design)
    assert list(figures) == ["design", "design-2"]
    assert [len(figure.axes) for figure in figures.values()] == panels
    for figure in figures.values():
        assert max(axes.get_subplotspec().get_gridspec().nrows for axes in figure.axes) <= rows
        assert_legible(figure)


# ---- several ladders ----

LADDER = ("--set", "population.players=60", "--set", "rule.team_num=2", "--set", "days=4")


@pytest.fixture(scope="module")
def ladders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make runs of two rating systems; written to only by `plot`."""
    root = tmp_path_factory.mktemp("ladders")
    for system in ("elo", "glicko2"):
        how = (*LADDER, "--set", "warmup_days=1", "--set", f"rating.system={system}")
        for command, more in (("replicate", ("-n", "4")), ("simulate", ())):
            out = ("--out", root / command / system)
            assert valmatch(command, "ladder", *how, *more, *out).code == 0
    return root


@pytest.mark.long
def test_systems_of_replications_are_drawn_in_one_figure(ladders: Path) -> None:
    runs = [read_run_files(ladders / "replicate" / system) for system in ("elo", "glicko2")]
    with style_context():
        figures: Any = systems.draw_all(runs)
    figure, means = figures["systems"], figures["means-2"]
    names = ["rating.system elo", "rating.system glicko2"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == names
    for axes in figure.axes:
        assert [line.get_label() for line in axes.lines if line.get_label() in names] == names
    with (ladders / "replicate" / "glicko2" / "curves.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["measure"] == "error"]
    (axes,) = (axes for axes in figure.axes if axes.get_ylabel().startswith("error"))
    line = next(line for line in axes.lines if line.get_label() == names[1])
    expected = [float(row["mean"] or "nan") for row in rows]
    np.testing.assert_allclose(line.get_ydata(), expected)
    (axes,) = (axes for axes in means.axes if axes.get_xlabel().startswith("scale_stretch"))
    with (ladders / "replicate" / "elo" / "summary.csv").open() as file:
        found = {row["response"]: row for row in csv.DictReader(file)}
    first = axes.containers[0].lines[0]
    assert first.get_xdata()[0] == pytest.approx(float(found["scale_stretch"]["mean"]))
    for each in (figure, means):
        assert_legible(each)
    said: list[str] = []
    made = plot_files(
        ladders / "replicate", wanted=FigureOptions(formats=("png",)), inform=said.append
    )
    assert [file.stem for file in made] == [
        *("systems", "means", "means-2"), *["curves", "responses"] * 2
    ]  # fmt: skip
    first = f"{ladders / 'replicate'}: means has no room for all panels: means-2 has the rest"
    assert first in said


@pytest.mark.slow
def test_days_of_several_systems_are_drawn_in_one_figure(ladders: Path) -> None:
    figure: Any = plot(ladders / "simulate", "systems")
    (axes,) = (axes for axes in figure.axes if axes.get_ylabel().startswith("rating_error"))
    for line, system in zip(axes.lines, ("elo", "glicko2"), strict=True):
        with (ladders / "simulate" / system / "days.csv").open() as file:
            errors = [float(row["rating_error"] or "nan") for row in csv.DictReader(file)]
        assert line.get_label() == f"rating.system {system}"
        np.testing.assert_allclose(line.get_ydata(), errors)
    assert_legible(figure)


@pytest.mark.slow
def test_runs_that_no_factor_tells_apart_go_by_their_folders(ladders: Path) -> None:
    runs = [read_run_files(ladders / kind / "elo") for kind in ("replicate", "simulate")]
    assert names_of(runs) == [str(Path("replicate", "elo")), str(Path("simulate", "elo"))]
