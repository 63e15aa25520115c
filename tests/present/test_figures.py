"""Figures: the charts of reports as files, what may be asked of them, room for their texts."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch as library
from tests.support.command import refusal, success
from valmatch import plot

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from valmatch.present import experiments, figures
from valmatch.present.document import Interval, Intervals, bin_edges
from valmatch.present.figures import INCH

RunOf = Callable[[str], Path]

DRAWN = (
    *(
        "simulate",
        "simulate-zones",
        "parts",
        "games",
        "compare",
        "variants",
        "optimize",
        "frontier",
    ),
    *("front", "rate", "systems", "whole", "plan", "replay"),
)
"""Runs of all kinds of charts."""


@pytest.fixture
def copied(run_of: RunOf, tmp_path: Path) -> Path:
    """Return a copy of a run with bands and hours, to be written to."""
    pictures = shutil.ignore_patterns("*.png", "*.svg")
    shutil.copytree(run_of("parts"), tmp_path / "run", ignore=pictures)
    return tmp_path / "run"


def assert_legible(figure: Any) -> None:  # noqa: ANN401
    """Check that labels of ticks lie beside each other, and titles above their panels."""
    canvas: Any = FigureCanvasAgg(figure)
    with figures.style_context():
        figure.draw_without_rendering()
    renderer = canvas.get_renderer()
    named = [axes.title for axes in figure.axes if axes.title.get_text()]
    titles = [title.get_window_extent(renderer) for title in named]
    assert not any(a.overlaps(b) for a, b in combinations(titles, 2))
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            labels = [tick.label1 for tick in axis._update_ticks()]
            labels = [text for text in labels if text.get_text() and text.get_visible()]
            labels = [text for text in labels if not text.get_rotation()]
            boxes = [text.get_window_extent(renderer) for text in labels]
            shown = [text.get_text() for text in labels]
            assert not any(a.overlaps(b) for a, b in pairwise(boxes)), shown


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_figures_match_the_report(
    name: str, run_of: RunOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []

    def kept(by_name: dict[str, Figure], *rest: Any) -> list[Path]:  # noqa: ANN401
        drawn.extend(by_name.values())
        return save(by_name, *rest)

    save = figures.save
    monkeypatch.setattr(figures, "save", kept)
    monkeypatch.setattr(figures, "DPI", 30)
    files = [Path(line) for line in success("plot", run_of(name)).out.splitlines()]
    assert [file.suffix for file in files] == [".png", ".svg"] * len(drawn)
    assert all(file.stat().st_size < 1_500_000 for file in files)
    for figure in drawn:
        assert_legible(figure)
    panels = sum(len(figure.axes) for figure in drawn)
    assert panels == library.report(run_of(name)).count("<figure>")


def test_intervals_and_the_undefined_are_drawn() -> None:
    rows = [Interval("a", 1.0, 0.5, 1.5, ""), Interval("b", 0.2, -0.5, 1.0, "")]
    rows.append(Interval("c", float("nan"), float("nan"), float("nan"), ""))
    with figures.style_context():
        figure: Any = figures.figures_of("one", [Intervals("t", rows, zero=True)], "heading")["one"]
    (axes,) = figure.axes
    first, second = axes.containers
    colours = [mark.lines[0].get_markerfacecolor() for mark in (first, second)]
    assert colours == [figures.GOOD, "white"]
    ends = first.lines[2][0].get_segments()[0]
    assert ends[:, 0].tolist() == [0.5, 1.5]
    assert [text.get_text() for text in axes.texts] == ["undefined"]


@pytest.mark.parametrize("values", [[1.0, -np.inf, 2.0], [-np.inf] * 3])
def test_infinite_values_are_left_out_of_a_distribution(
    values: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = library.replicate("valorant", 3)
    monkeypatch.setattr(type(result), "__getitem__", lambda *_: np.array(values))
    graph = experiments._distribution(result, result.responses[0])
    assert (0 if graph.counts is None else graph.counts.sum()) == np.isfinite(values).sum()


# ---- the options ----


@pytest.mark.slow
def test_title_size_and_formats(copied: Path) -> None:
    done = success(
        *("plot", copied, "--responses", "wait_p95,matched_fraction", "--size", "20x12"),
        *("--title", "What  the top waits", "--format", "png,pdf"),
    )
    assert [Path(line).name for line in done.out.splitlines()] == ["responses.png", "responses.pdf"]
    assert not list(copied.glob("*.svg"))
    content = (copied / "responses.png").read_bytes()
    assert struct.unpack(">II", content[16:24]) == (int(20 / INCH * 120), int(12 / INCH * 120))
    first = (copied / "responses.pdf").read_bytes()
    assert first.startswith(b"%PDF")
    figure = plot(copied, responses="wait_p95", title="What the top waits", size=(20, 12))
    assert figure.get_suptitle() == "What the top waits"
    assert figure.get_size_inches().tolist() == pytest.approx([20 / INCH, 12 / INCH])
    success("plot", copied, "--responses", "wait_p95", "--format", "pdf")
    again = (copied / "responses.pdf").read_bytes()
    success("plot", copied, "--responses", "wait_p95", "--format", "pdf")
    assert (copied / "responses.pdf").read_bytes() == again


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--size", "20"), "--size: '20' (allowed: WIDTHxHEIGHT in centimetres, each from 5 to"),
        (("--size", "20x101"), "--size: '20x101' (allowed: WIDTHxHEIGHT"),
        (("--size", "6x6"), "--size: 6x6 is too small for what is drawn (allowed: "),
        (("--format", "jpg"), "--format: 'jpg' (allowed: png or svg or pdf; did you mean png?)"),
        (("--responses", "wait_p96"), "--responses: 'wait_p96' is no response here ("),
    ],
)
def test_what_cannot_be_drawn_is_said(options: tuple[str, ...], message: str, copied: Path) -> None:
    before = sorted(copied.iterdir())
    assert refusal("plot", copied, *options).startswith(message)
    assert sorted(copied.iterdir()) == before


# ---- bins ----


def test_bins_hold_equally_many_whole_numbers() -> None:
    values = np.sort(np.random.default_rng(1).integers(0, 90, 900)).astype(np.float64)
    edges = bin_edges(values)
    assert np.histogram(values, edges)[0].sum() == 900
    assert set(edges % 1.0) == {0.5}
    assert np.ptp(np.diff(edges)) == 0.0
    assert bin_edges(np.array([2.0, 2.0])).tolist() == [1.9, 2.1]
    assert bin_edges(np.array([0.0])).tolist() == [-0.5, 0.5]
