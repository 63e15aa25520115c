"""Every kind of result: read back from its folder, and the same numbers wherever it is shown."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import valmatch
from tests.support.command import valmatch as command
from tests.support.report_runs import RUNS, SMALL
from valmatch.errors import InputError
from valmatch.present.document import View
from valmatch.present.loading import load_result
from valmatch.present.presenting import present
from valmatch.storage.results import Result

RunOf = Callable[[str], Path]

LOG = "winner,loser\n" + "ann,bob\nbob,cy\nann,cy\n" * 12


class _Cells(HTMLParser):
    """Collects the texts of the cells of tables."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "td":
            self._inside = True
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.cells[-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "td"


def cells_of(page: str) -> list[str]:
    """Return the cells of the tables of a page."""
    parser = _Cells()
    parser.feed(page)
    return [cell.strip("\N{FIGURE SPACE}\N{PUNCTUATION SPACE} ") for cell in parser.cells]


def numbers_in(text: str) -> set[str]:
    return set(re.findall(r"\d+\.\d+", text))


@pytest.mark.parametrize("name", RUNS)
def test_terminal_markdown_page_and_repr_have_the_same_numbers(name: str, run_of: RunOf) -> None:
    result = load_result(run_of(name))
    shown = present(result, View(top=30))
    tables = [block.table for block in shown.tables if block.table]
    cells = [cell.strip() for table in tables for row in table.rows for cell in row]
    text = valmatch.report(run_of(name), markdown=True).replace("\\", "")
    page, notebook = cells_of(valmatch.report(run_of(name))), cells_of(result._repr_html_())
    for cell in filter(numbers_in, cells):
        assert cell in page
        assert f"| {cell} |" in text
    tables = [block.table for block in present(result).tables if block.table]
    first = [cell.strip() for table in tables for row in table.rows[:30] for cell in row]
    printed = " ".join(repr(result).split())
    for cell in filter(numbers_in, first):
        assert " ".join(cell.split()) in printed
        assert cell in notebook
    assert shown.finding
    assert " ".join(present(result).finding.split()) in printed
    assert numbers_in(shown.finding) <= numbers_in(text)


def made(root: Path) -> dict[str, Callable[[Path], Result]]:
    """Return a public function for each kind of result, called with a folder."""
    log = root / "log.csv"
    log.write_text(LOG)
    factors = {"horizon": 4.0, "team_num": 2}
    small, other, third = (
        {"model": "valorant", "factors": {**factors, **more}}
        for more in ({}, {"team_diff": 50.0}, {"team_diff": 20.0})
    )
    games = {"model": "opponent", "factors": {"n_opponents": 4, "n_games": 20}}

    def whole(out: Path) -> Result:
        return valmatch.rank_games(log, prior=200.0, out=out)

    def rated(out: Path) -> Path:
        whole(out)
        return out

    def predicted(out: Path) -> Result:
        valmatch.rate_games(log, "glicko2", out=root / "by")
        return valmatch.predict_games(root / "by", pair=["ann,bob", "new,cy"], out=out)

    return {
        "simulate": lambda out: valmatch.simulate(small, out=out),
        "replicate": lambda out: valmatch.replicate(small, 4, out=out),
        "curves": lambda out: valmatch.replicate(games, 4, out=out),
        "compare": lambda out: valmatch.compare(small, other, 4, out=out),
        "variants": lambda out: valmatch.compare(small, [other, third], 4, out=out),
        "rate": lambda out: valmatch.rate_games(log, "elo", tune="K", out=out),
        "systems": lambda out: valmatch.compare_ratings(log, ["elo", "glicko2"], out=out),
        "whole": whole,
        "paths": lambda out: valmatch.rank_games(dated(root), "whole_history", out=out),
        "predict": predicted,
        "next": lambda out: valmatch.next_pairs(rated(root / "n"), out=out),
        "plan": lambda out: valmatch.plan_games(
            rated(root / "p"), half_width=90.0, replications=2, out=out
        ),
    }


def dated(root: Path) -> Path:
    rows = [f"{'abc'[k % 3]},{'abc'[(k + 1) % 3]},2024-05-{1 + k // 3:02d}" for k in range(24)]
    (root / "dated.csv").write_text("\n".join(["winner,loser,time", *rows]) + "\n")
    return root / "dated.csv"


KINDS = "simulate replicate curves compare variants rate systems whole paths predict next plan"


@pytest.mark.parametrize("kind", KINDS.split())
def test_a_result_is_read_back_as_it_was_made(kind: str, tmp_path: Path) -> None:
    result = made(tmp_path)[kind](tmp_path / "out")
    back = load_result(tmp_path / "out")
    assert type(back) is type(result)
    assert json.dumps(back.summary(), default=str) == json.dumps(result.summary(), default=str)
    columns = [{k: [*map(str, v)] for k, v in one.columns().items()} for one in (result, back)]
    assert columns[0] == columns[1]
    assert repr(back) == repr(result)
    assert back.folder == result.folder
    shown = [present(one) for one in (result, back)]
    assert str(shown[0]) == str(shown[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["optimize", "front"])
def test_a_study_is_read_back_as_it_is_shown(name: str, tmp_path: Path) -> None:
    config = {"model": "valorant", "factors": {"horizon": 4.0}, "optimize": PROBLEM}
    if name == "front":
        objectives = ["avg_team_diff", "avg_wait_time"]
        result: Result = valmatch.pareto_front(config, objectives, 100, out=tmp_path)
    else:
        result = valmatch.optimize(config, "random", 100, out=tmp_path)
    back = load_result(tmp_path)
    assert json.dumps(back.summary(), default=str) == json.dumps(result.summary(), default=str)
    assert str(present(back)) == str(present(result))
    assert repr(back) == repr(result)
    assert back.folder == result.folder


PROBLEM = {
    "variables": {"team_diff": {"low": 10, "high": 500}},
    "objective": {"gap": {"response": "avg_team_diff"}},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["solvers", "frontier"])
def test_a_study_shows_what_its_folder_does(name: str, tmp_path: Path) -> None:
    asked = [word for word in RUNS[name] if word != "--quiet"]
    done = command(*asked, "--out", tmp_path / "out")
    back = load_result(tmp_path / "out")
    tables = repr(back).rpartition("\n\n")[0]
    assert tables.splitlines()[:12] == done.out.splitlines()[:12]


def test_a_name_that_looks_like_a_number_stays_a_name(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(LOG.replace("ann", "3.14159265"))
    valmatch.rate_games(tmp_path / "log.csv", "elo", out=tmp_path / "out")
    assert "| 3.14159265 |" in valmatch.report(tmp_path / "out", markdown=True)


def test_all_ratings_are_in_the_chart(tmp_path: Path) -> None:
    rows = "".join(f"a{k},b{k}\n" for k in range(1500))
    (tmp_path / "log.csv").write_text(f"winner,loser\n{rows}")
    result = valmatch.rate_games(tmp_path / "log.csv", "elo")
    (block,) = [one for one in present(result).charts if one.figure == "calibration"]
    chart: Any = block.charts[1]
    assert chart.counts.sum() == 3000


def test_the_interval_of_a_chart_is_wilsons(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("winner,loser\nann,bob\n")
    result = valmatch.rate_games(tmp_path / "log.csv", "elo")
    (block,) = [one for one in present(result).charts if one.figure == "calibration"]
    line = block.charts[0].lines[0]  # type: ignore[union-attr]
    assert line.low is not None
    assert line.high is not None
    # One game whose favourite got half a point: from Wilson, z^2 / 4 (n + z^2) about the middle.
    assert line.low.tolist() == pytest.approx([0.0546], abs=1e-3)
    assert line.high.tolist() == pytest.approx([0.9454], abs=1e-3)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda run: shutil.rmtree(run), "no such folder"),
        (lambda run: (run / "manifest.json").unlink(), "no manifest.json here"),
        (lambda run: (run / "summary.json").write_text("{"), "summary.json: damaged"),
        (lambda run: (run / "summary.json").unlink(), "summary.json: cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(
    spoil: Callable[[Path], Any], said: str, run_of: RunOf, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(run_of("replicate"), run)
    spoil(run)
    with pytest.raises(InputError, match=re.escape(said)) as error:
        load_result(run)
    assert "\n" not in str(error.value)


def test_a_notebook_shows_the_finding_and_the_tables() -> None:
    result = valmatch.replicate({"model": SMALL[0], "factors": {"horizon": 3.0}}, 3)
    page = result._repr_html_()
    assert page.startswith("<p><strong>On average ")
    assert "<table" in page
