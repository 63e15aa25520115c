"""The figures of the opponent-selection study: what is drawn, from which folders."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import valmatch
from valmatch.errors import InputError
from valmatch.plots.drawing import plot, plot_files

SMALL = ["--set", "n_opponents=5", "--set", "n_games=30", "-n", "20"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of the study side by side."""
    folder = tmp_path_factory.mktemp("runs")
    for name, rank in (("1-top", "top"), ("2-third", "3")):
        done = valmatch(
            "replicate", "kg-fig1-top", *SMALL, "--set", f"rank={rank}", "--out", folder / name
        )
        assert done.code == 0
    return folder


def refused(folder: Path) -> str:
    with pytest.raises(InputError) as info:
        plot_files(folder)
    message = str(info.value)
    assert "\n" not in message
    return message


def manifest(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "manifest.json").write_text(text)
    return folder


def test_folders_that_hold_nothing_to_draw(tmp_path: Path) -> None:
    assert refused(tmp_path / "none").endswith("none: no such folder")
    assert "no manifest.json here or in a folder below" in refused(tmp_path)
    assert "manifest.json: damaged: " in refused(manifest(tmp_path / "bad", "{"))
    assert "manifest.json: not a manifest" in refused(manifest(tmp_path / "list", "[]"))
    other = json.dumps({"command": "predict", "config": {"model": "chess"}})
    assert ": nothing is drawn of predict chess (allowed: simulate valorant, " in refused(
        manifest(tmp_path / "other", other)
    )


@pytest.mark.long
def test_points_of_a_design_are_drawn_in_its_order(tmp_path: Path) -> None:
    changes = [*SMALL, "--set", "rank=1", "--sweep", "rank=3,1,2"]
    run = ["replicate", "kg-fig3-25", *changes, "--out", tmp_path]
    assert valmatch(*run).code == 0
    files = {path.name for path in plot_files(tmp_path)}
    assert {"curves.png", "curves.svg"} < files
    figure = plot(tmp_path, "curves")
    titles = [title for axes in figure.axes if (title := axes.get_title())]
    assert [title.partition(" of 6 by skill, ")[0] for title in titles] == [
        "rank 3", "rank 1", "rank 2"
    ]  # fmt: skip
    assert len(figure.axes) == 3 * 4


@pytest.mark.slow
def test_draws_have_a_panel_where_there_are_any(tmp_path: Path) -> None:
    run = ["replicate", "kg-fig1-top", *SMALL, "--set", "draw_margin=0.5", "--out", tmp_path]
    assert valmatch(*run).code == 0
    labels = [axes.get_ylabel() for axes in plot(tmp_path, "curves").axes]
    assert len(labels) == 5
    assert labels[-1].startswith("share of games drawn")
    # A run of a release without draws has no such factor.
    content = json.loads((tmp_path / "manifest.json").read_text())
    del content["config"]["factors"]["draw_margin"], content["config"]["factors"]["rank_by"]
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    assert len(plot(tmp_path, "curves").axes) == 4


def test_runs_of_different_kinds_are_not_drawn_together(runs: Path, tmp_path: Path) -> None:
    for name, command in (("a", "replicate"), ("b", "simulate")):
        kind = {"command": command, "config": {"model": "opponent"}}
        manifest(tmp_path / name, json.dumps(kind))
    assert "different kinds (replicate opponent and simulate opponent)" in refused(tmp_path)


def test_without_matplotlib_the_extra_is_named(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert refused(runs).endswith("pip install 'valmatch[plot]'")


def test_matplotlib_is_not_imported_before_something_is_drawn() -> None:
    code = "import sys, valmatch.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_bad_curves(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = manifest(tmp_path / "a", (runs / "1-top" / "manifest.json").read_text())
    curves = folder / "curves.csv"
    assert refused(folder).endswith("curves.csv: cannot be read: No such file or directory")
    header = "policy,game,measure,n,mean,std_error\n"
    for text, message in [
        (header, "holds no curves"),
        ("a,b\n1,2\n", "damaged: there is no column 'n'"),
        (header + "oracle,1,win_fraction,2,x,0\n", ":2: damaged: mean: 'x' (allowed: a number)"),
        (header + "oracle,1,win_fraction,2,0,0\n", "no curve of true_draw_probability under a"),
        (header + "x,1,true_draw_probability,2,0,0\n", "under a policy 'x'"),
    ]:
        curves.write_text(text)
        assert message in refused(folder)


@pytest.mark.slow
def test_one_run_and_several_become_pictures(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from valmatch.plots.parts import style

    monkeypatch.setattr(style, "DPI", 40)
    widths = []
    for folder in (runs / "1-top", runs):
        files = plot_files(folder)
        names = ["curves"] if folder == runs else ["curves", "responses"]
        assert files == [folder / f"{name}.{kind}" for name in names for kind in ("png", "svg")]
        first = [file.read_bytes() for file in files]
        assert first[0].startswith(b"\x89PNG\r\n")
        assert b"<svg" in first[1]
        widths.append(int.from_bytes(first[0][16:20], "big"))
        assert [file.read_bytes() for file in plot_files(folder)] == first
    assert widths[1] > 1.5 * widths[0]


def test_panels_show_the_curves_with_bands_and_labels(runs: Path) -> None:
    pytest.importorskip("matplotlib")
    from valmatch.plots.drawing import _runs
    from valmatch.plots.opponent.replications import PANELS, _figure, moving_average
    from valmatch.plots.parts.curves import read_curves

    folders = _runs(runs)
    curves = [read_curves(run) for run in folders]
    axes = np.array(_figure(folders, curves).axes).reshape(len(PANELS), 2)
    assert "top rank, informative prior, corrected" in axes[0, 0].get_title()
    assert "rank 3 of 6" in axes[0, 1].get_title()
    names = ["point estimate", "DrawChance", "knowledge gradient"]
    policies = ["point_estimate", "draw_chance", "knowledge_gradient"]
    for row, panel in enumerate(PANELS):
        assert axes[row, 0].get_ylabel().startswith(panel.label[:10])
        for column, own in enumerate(curves):
            panel_axes = axes[row, column]
            lines = {line.get_label(): line for line in panel_axes.lines}
            assert [name for name in lines if not name.startswith("_")] == names
            for name, policy in zip(names, policies, strict=True):
                _, mean, error = own[policy, panel.measure]
                drawn = moving_average(mean, panel.span)
                assert np.array_equal(lines[name].get_xdata(), np.arange(1, 31))
                assert np.array_equal(lines[name].get_ydata(), drawn)
                band = panel_axes.collections[names.index(name)].get_paths()[0].vertices[:, 1]
                reach = 1.96 * moving_average(error, panel.span)
                assert band.min() == pytest.approx((drawn - reach).min())
                assert band.max() == pytest.approx((drawn + reach).max())
    assert len({line.get_color() for line in axes[0, 0].lines}) == 3
    assert len({str(line.get_linestyle()) for line in axes[0, 0].lines}) >= 2
    assert axes[-1, 0].get_xlabel() == "game"


def test_moving_average_is_the_mean_of_the_neighbours() -> None:
    pytest.importorskip("matplotlib")
    from valmatch.plots.opponent.replications import moving_average

    values = np.random.default_rng(1).random(9)
    for span in (1, 3, 5, 11):
        expected = []
        for k in range(9):
            reach = min(span // 2, k, 8 - k)
            expected.append(values[k - reach : k + reach + 1].mean())
        assert moving_average(values, span) == pytest.approx(expected, rel=1e-14)
    assert np.array_equal(moving_average(values[:1], 5), values[:1])
