"""What may be asked of figures, and that their texts have room however large they are."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.plots.test_plots import assert_legible, bars, designed, drawn, rows
from tests.support.command import valmatch
from valmatch import InputError, plot

pytest.importorskip("matplotlib")

from valmatch.plots import design, responses
from valmatch.plots.figure_options import INCH, LEAST, drawn_with, figure_options
from valmatch.plots.parts import style
from valmatch.plots.parts.bins import Lattice, bin_edges, lattice_of, lattice_of_shares
from valmatch.plots.parts.labels import legend_below
from valmatch.plots.parts.source import read_run_files
from valmatch.plots.parts.style import head, new_figure, wrapped
from valmatch.plots.valorant import bands, hours


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Replications with bands and hours; read only."""
    folder = tmp_path_factory.mktemp("made") / "run"
    asked = ("--set", "measure=[bands, hours]", "-n", "40")
    assert valmatch("replicate", "valorant", *asked, "--out", folder).code == 0
    return folder


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder, to be written to."""
    shutil.copytree(made, tmp_path / "run")
    return tmp_path / "run"


def summary(folder: Path) -> dict[str, dict[str, str]]:
    return {row["response"]: row for row in rows(folder / "summary.csv")}


# ---- the options ----


@pytest.mark.slow
def test_title_size_and_formats(copied: Path) -> None:
    done = valmatch(
        *("plot", copied, "--responses", "wait_p95,matched_fraction", "--size", "20x8"),
        *("--title", "What  the top waits", "--format", "png,pdf"),
    )
    assert done.code == 0, done.err
    assert [Path(line).name for line in done.out.splitlines()] == ["responses.png", "responses.pdf"]
    assert not list(copied.glob("*.svg"))
    content = (copied / "responses.png").read_bytes()
    assert struct.unpack(">II", content[16:24]) == (int(20 / INCH * 120), int(8 / INCH * 120))
    first = (copied / "responses.pdf").read_bytes()
    assert first.startswith(b"%PDF")
    figure = plot(copied, responses="wait_p95", title="What the top waits", size=(20, 8))
    assert figure.get_suptitle() == "What the top waits"
    assert figure.get_size_inches().tolist() == pytest.approx([20 / INCH, 8 / INCH])
    assert valmatch("plot", copied, "--responses", "wait_p95", "--format", "pdf").code == 0
    again = (copied / "responses.pdf").read_bytes()
    assert valmatch("plot", copied, "--responses", "wait_p95", "--format", "pdf").code == 0
    assert (copied / "responses.pdf").read_bytes() == again


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--size", "20"), "--size: '20' (allowed: WIDTHxHEIGHT in centimetres, each from 5 to"),
        (("--size", "20x8x3"), "--size: '20x8x3' (allowed: WIDTHxHEIGHT"),
        (("--size", "nanx8"), "--size: 'nanx8' (allowed: WIDTHxHEIGHT"),
        (("--size", "4x8"), "--size: '4x8' (allowed: WIDTHxHEIGHT"),
        (("--size", "20x101"), "--size: '20x101' (allowed: WIDTHxHEIGHT"),
        (("--size", "6x6"), "--size: 6x6 is too small for what is drawn (allowed: "),
        (("--format", "jpg"), "--format: 'jpg' (allowed: png or svg or pdf; did you mean png?)"),
        (("--format", ""), "--format: '' (allowed: png or svg or pdf)"),
        (("--responses", "wait_p96"), "--responses: 'wait_p96' is not in "),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_line(
    options: tuple[str, ...], said: str, copied: Path
) -> None:
    before = sorted(copied.iterdir())
    done = valmatch("plot", copied, *options)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith(said), done.err
    assert done.err.count("\n") == 1
    assert sorted(copied.iterdir()) == before


@pytest.mark.parametrize("size", [12, (16,), (16, "x"), [16, 9, 3], (True, 9)])
def test_sizes_that_python_cannot_give(size: Any, made: Path) -> None:  # noqa: ANN401
    with pytest.raises(InputError, match=r"^size: .*allowed: WIDTHxHEIGHT in centimetres"):
        plot(made, size=size)
    with pytest.raises(InputError, match=r"^title: 3 "):
        plot(made, title=3)  # type: ignore[arg-type]


def test_the_last_of_several_folders_is_drawn_before_the_first_is_written(tmp_path: Path) -> None:
    for name in "ab":
        designed(tmp_path / name, {"team_diff": [1, 2]})
    (tmp_path / "b" / "design.csv").write_text("point\n")
    assert valmatch("plot", tmp_path).code == 2
    assert not list(tmp_path.glob("*/*.png"))


# ---- texts have room ----


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["line", "grid", "cube", "responses", "bands", "hours"])
def test_the_smallest_figures_are_legible(kind: str, made: Path, tmp_path: Path) -> None:
    folder, drawer = made, {"responses": responses, "bands": bands, "hours": hours}.get(kind)
    if drawer is None:
        folder, drawer = tmp_path, design
        sides: dict[str, list[Any]] = {"team_diff": [50, 100, 400], "matching": ["joint", "fast"]}
        sides["team_num"] = [3, 5, 7]
        designed(folder, dict(list(sides.items())[: ["line", "grid", "cube"].index(kind) + 1]))
    (figure,) = drawn(folder, drawer).values()
    least = [INCH * LEAST * side + 0.1 for side in figure.get_size_inches()]
    with style.style_context(figure_options(size=least)):
        (small,) = drawer.draw(read_run_files(folder)).values()
    assert small.get_size_inches().tolist() == pytest.approx([side / INCH for side in least])
    assert_legible(small)


def test_titles_take_two_lines_at_most() -> None:
    figure = new_figure(6.0, 4.0)
    head(figure, "one", "two")
    assert figure.get_suptitle() == "one\ntwo"
    head(figure, "word " * 100, "the end")
    lines = figure.get_suptitle().split("\n")
    assert len(lines) == 2
    assert lines[1].endswith(" …")
    assert max(map(len, lines)) <= 78
    with drawn_with(figure_options("mine " * 100)):
        head(figure, "word")
    assert figure.get_suptitle().startswith("mine mine")
    assert len(figure.get_suptitle().split("\n")) == 2


def test_names_are_broken_behind_their_joints() -> None:
    assert wrapped("avg_player_diff.bottom_10% [Elo points]", 1.5) == (
        "avg_player_diff.\nbottom_10%\n[Elo points]"
    )
    assert wrapped("wait [minutes]", 3.0) == "wait [minutes]"


@pytest.mark.parametrize(("inches", "columns"), [(3.0, 1), (5.5, 2), (12.0, 3)])
def test_legends_are_as_wide_as_their_figure(inches: float, columns: int) -> None:
    texts = ["violates a bound in the search", "keeps to all bounds in the search", "recommended"]
    with style.style_context():
        figure = new_figure(inches, 3.0)
        lines = [figure.subplots().plot([0, 1], label=text)[0] for text in texts]
        legend_below(figure, lines, texts)
    (legend,) = figure.legends
    assert legend._ncols == columns  # type: ignore[attr-defined]
    assert [text.get_text() for text in legend.get_texts()] == texts
    assert_legible(figure)


# ---- bins ----


@pytest.mark.parametrize("step", [0.1, 1 / 518, 7.0])
def test_bins_hold_equally_many_points_of_a_lattice(step: float) -> None:
    points = np.sort(np.random.default_rng(1).integers(0, 90, 900))
    values = np.asarray(0.3 + step * points, np.float64)
    found = lattice_of(values)
    assert found is not None
    assert found.step == pytest.approx(step)
    edges = bin_edges(values)
    counts, _ = np.histogram(values, edges)
    assert counts.sum() == 900
    places = (edges - 0.3) / step
    assert np.abs(places % 1.0 - 0.5).max() < 1e-6
    assert np.ptp(np.diff(places)) == pytest.approx(0.0, abs=1e-6)


def test_values_of_no_lattice() -> None:
    rng = np.random.default_rng(2)
    assert all(lattice_of(np.sort(rng.normal(size=n))) is None for n in (10, 100, 1000))
    assert bin_edges(np.array([2.0, 2.0])).tolist() == [1.9, 2.1]
    assert bin_edges(np.array([0.0])).tolist() == [-0.5, 0.5]
    assert bin_edges(np.array([3.0]), Lattice(0.0, 1.0)).tolist() == [2.5, 3.5]


def test_shares_of_varying_numbers_make_no_comb() -> None:
    rng = np.random.default_rng(3)
    wholes = rng.poisson(518, 4000).astype(np.float64)
    shares = 1.0 - rng.integers(0, 12, 4000) / wholes
    values = np.sort(shares)
    counts, edges = np.histogram(values, bin_edges(values, lattice_of_shares(shares, wholes)))
    inner = counts[1:-1]
    assert counts.sum() == 4000
    assert inner.size >= 8
    assert inner.min() > 0.7 * inner.max()  # of bins of one width without a lattice: 0
    assert 1.0 <= edges[-1] < 1.001


# ---- bands and hours ----


def test_bands_have_a_panel_for_each_measure(made: Path) -> None:
    found = summary(made)
    figure = drawn(made, bands)["bands"]
    names = [axes.get_xlabel().partition(" ")[0] for axes in figure.axes]
    assert names == ["matched_fraction", "avg_wait_time", "wait_p50", "wait_p95", "avg_team_diff"]
    axes = figure.axes[names.index("wait_p95")]
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels == ["bottom_10%", "10-50%", "50-90%", "90-99%", "top_1%"]
    for place, ((marks, ends), band) in enumerate(zip(bars(axes), labels, strict=True)):
        row = found[f"wait_p95.{band}"]
        assert marks[:, 0].tolist() == pytest.approx([float(row["mean"]), place])
        assert ends is not None
        assert ends[0, :, 0] == pytest.approx([float(row["ci_low"]), float(row["ci_high"])])


def test_hours_are_drawn_with_their_intervals(made: Path) -> None:
    found = summary(made)
    figure = drawn(made, hours)["hours"]
    measures = ["avg_queue_length", "avg_wait_time", "prioritized_fraction"]
    labels = [f"{measures[0]} [players]", f"{measures[1]} [minutes]", measures[2]]
    assert [axes.get_ylabel() for axes in figure.axes] == labels
    for axes, measure in zip(figure.axes, measures, strict=True):
        mean = axes.patches[1].get_data().values
        names = [f"{measure}.{hour}-{hour + 1}h" for hour in range(24)]
        assert mean.tolist() == pytest.approx([float(found[name]["mean"]) for name in names])
        ends = np.array(axes.collections[0].get_segments())
        low = [float(found[name]["ci_low"]) for name in names]
        assert ends[:, 0, 1].tolist() == pytest.approx(low)
    (legend,) = figure.legends
    said = [text.get_text() for text in legend.get_texts()]
    assert said == ["10% to 90% of the replications", "mean", "its interval"]


@pytest.mark.slow
def test_parts_are_no_histograms_unless_they_are_chosen(made: Path) -> None:
    plain = plot(made)
    assert len(plain.axes) == 15
    chosen = plot(made, responses=["wait_p95.top_1%", "avg_queue_length.17-18h"])
    names = [axes.get_xlabel().partition(" ")[0] for axes in chosen.axes]
    assert names == ["wait_p95.top_1%", "avg_queue_length.17-18h"]
    with pytest.raises(InputError, match="no figure 'bands'"):
        plot(made, "bands", responses="wait_p95.top_1%")
    pair = ["wait_p95.top_1%", "wait_p95.bottom_10%"]
    assert len(plot(made, "bands", responses=pair).axes) == 1


def test_a_design_is_drawn_of_chosen_responses(tmp_path: Path) -> None:
    designed(tmp_path, {"team_diff": [1, 2]})
    (axes,) = plot(tmp_path, responses="avg_wait_time").axes
    assert axes.get_ylabel() == "avg_wait_time [minutes]"
    with pytest.raises(InputError, match="responses: 'win_gap' is not in"):
        plot(tmp_path, responses="win_gap")
