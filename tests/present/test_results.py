"""Every kind of result: read back from its folder, the same numbers on all faces; SVG charts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import valmatch
from tests.support.command import valmatch as command
from tests.support.report_runs import RUNS
from valmatch.present.document import Graph, Interval, Intervals, Line, View
from valmatch.present.presenting import load_result, present
from valmatch.present.svg import MOST_POINTS, svg_of
from valmatch.storage.results import Result
from valmatch.text.terminal import Notice

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
        self._inside = self._inside and tag not in ("td", "tbody")


def cells_of(page: str) -> list[str]:
    """Return the cells of the tables of a page."""
    parser = _Cells()
    parser.feed(page)
    return [cell.strip("\N{FIGURE SPACE}\N{PUNCTUATION SPACE} \n") for cell in parser.cells]


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


def made(root: Path) -> dict[str, Callable[[Path], Any]]:
    """Return a function for each kind of result, of input that has to be warned of."""
    rows = ["0.5,1500", "0.6,x", *(f"{1 + k / 20:g},{1500 + 7 * k}" for k in range(60))]
    (root / "queue.csv").write_text("\n".join(["arrival_hours,rating", *rows]) + "\n")
    games = ["player_a,player_b,result", "ann,bob,7-7", *["ann,bob,1-0", "bob,cy,0-1"] * 40]
    log = root / "games.csv"
    skip: dict[str, Any] = {"skip_bad_games": True, "max_bad_rows": 0.1}
    log.write_text("\n".join(games) + "\n")
    factors = {"log": {"skip_bad_rows": True}}
    queue = {"model": "valorant", "arrivals": str(root / "queue.csv"), "factors": factors}
    other, third = ({**queue, "factors": {**factors, "team_diff": x}} for x in (99, 50))
    games_of_models = {"model": "opponent", "factors": {"n_opponents": 4, "n_games": 20}}
    variables = {"team_diff": {"low": 0, "high": 500}}
    problem = {"variables": variables, "objective": {"a": {"response": "avg_team_diff"}}}
    skill = {"id": "p", "attributes": {"skil": 3}}
    (root / "tickets.jsonl").write_text(json.dumps({"id": "t", "time": 1, "players": [skill]}))
    (root / "rules.yaml").write_text("teams: {duel: {size: 2}}\n")

    def rated(name: str) -> Path:
        valmatch.rank_games(log, prior=200.0, **skip, out=root / name)
        return root / name

    def at_home() -> Path:
        valmatch.rate_games(log, "elo", parameters={"home_advantage": 60.0}, **skip, out=root / "h")
        return root / "h"

    return {
        "simulate": lambda out: valmatch.simulate(queue, out=out),
        "replicate": lambda out: valmatch.replicate(queue, 2, out=out),
        "design": lambda out: command(
            *("replicate", "valorant", "--set", f"arrivals={root / 'queue.csv'}", "--out", out),
            *("--skip-bad-rows", "--sweep", "team_diff=10,20"),
        ),
        "curves": lambda out: valmatch.replicate(games_of_models, 4, out=out),
        "compare": lambda out: valmatch.compare(queue, other, 2, out=out),
        "variants": lambda out: valmatch.compare(queue, [other, third], 2, out=out),
        "optimize": lambda out: valmatch.optimize(
            {**queue, "optimize": problem}, "random", 100, out=out
        ),
        "front": lambda out: valmatch.pareto_front(
            {**queue, "optimize": {"variables": variables}},
            ["avg_team_diff", "wait_p90"],
            100,
            out=out,
        ),
        "rate": lambda out: valmatch.rate_games(log, "elo", tune="K", **skip, out=out),
        "systems": lambda out: valmatch.compare_ratings(log, ["elo", "glicko"], **skip, out=out),
        "rank": lambda out: valmatch.rank_games(log, prior=200.0, **skip, out=out),
        "paths": lambda out: valmatch.rank_games(dated(root), "whole_history", out=out),
        "predict": lambda out: valmatch.predict_games(
            at_home(), pair=["ann,bob", "new,cy"], out=out
        ),
        "next": lambda out: valmatch.next_pairs(rated("n"), out=out),
        "plan": lambda out: valmatch.plan_games(
            rated("p"), half_width=180.0, replications=2, policy="closeness", out=out
        ),
        "replay": lambda out: command(
            *("rules", "replay", root / "rules.yaml", "--out", out),
            *("--tickets", root / "tickets.jsonl"),
        ),
    }


def dated(root: Path) -> Path:
    rows = [f"{'abc'[k % 3]},{'abc'[(k + 1) % 3]},2024-05-{1 + k // 3:02d}" for k in range(24)]
    (root / "dated.csv").write_text("\n".join(["winner,loser,time", *rows]) + "\n")
    return root / "dated.csv"


KINDS = (
    *("simulate", "replicate", "design", "curves", "compare", "variants", "optimize"),
    *("front", "rate", "systems", "rank", "paths", "predict", "next", "plan", "replay"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_read_back_as_it_was_made(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = made(tmp_path)[kind](out)
    back = load_result(out)
    if isinstance(result, Result):
        assert type(back) is type(result)
        assert json.dumps(back.summary(), default=str) == json.dumps(result.summary(), default=str)
        assert repr(back) == repr(result)
        assert back.folder == result.folder
        assert str(present(back)) == str(present(result))
        columns = [
            {k: [*map(str, v)] for k, v in side.columns().items()} for side in (result, back)
        ]
        assert columns[0] == columns[1]
    assert back.warnings or kind == "curves"
    every_face_has_the_warnings(back, out)


def every_face_has_the_warnings(result: Result, folder: Path) -> None:
    """Check that each warning is in the summary, and once on each face."""
    (file,) = [name for name in ("responses.json", "summary.json") if (folder / name).exists()]
    document = json.loads((folder / file).read_text())
    assert document.get("warnings", []) == [Notice.of(text).as_dict() for text in result.warnings]
    assert all(row["kind"] and row["count"] >= 1 for row in document.get("warnings", []))
    faces = {
        "repr": repr(result),
        "notebook": unescape(result._repr_html_()),
        "Markdown": valmatch.report(folder, markdown=True).replace("\\", ""),
        "page": unescape(valmatch.report(folder)),
    }
    for face, text in faces.items():
        for warning in result.warnings:
            shown = " ".join(text.replace("\N{ZERO WIDTH NON-JOINER}", "").split())
            assert shown.count(" ".join(warning.split())) == 1, (face, warning)


def test_a_name_that_looks_like_a_number_stays_a_name(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(LOG.replace("ann", "3.14159265"))
    valmatch.rate_games(tmp_path / "log.csv", "elo", out=tmp_path / "out")
    assert "| 3.14159265 |" in valmatch.report(tmp_path / "out", markdown=True)


def test_the_interval_of_a_chart_is_wilsons(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("winner,loser\nann,bob\n")
    result = valmatch.rate_games(tmp_path / "log.csv", "elo")
    (block,) = [block for block in present(result).charts if block.figure == "calibration"]
    line = block.charts[0].lines[0]  # type: ignore[union-attr]
    assert line.low is not None
    assert line.high is not None
    # One game whose favourite got half a point: from Wilson, z^2 / 4 (n + z^2) about the middle.
    assert line.low.tolist() == pytest.approx([0.0546], abs=1e-3)
    assert line.high.tolist() == pytest.approx([0.9454], abs=1e-3)


def points_of(svg: str) -> list[tuple[float, float]]:
    """Return the points of the first line of a chart."""
    (path,) = re.findall(r'data-name="[^"]*" d="([^"]*)"', svg)[:1]
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+),([\d.]+)", path)]


def test_a_line_lies_within_its_axes_and_keeps_its_order() -> None:
    xs = np.arange(50.0)
    svg = svg_of(Graph("t", "x", "y", [Line("a", xs, xs**2)]))
    places = points_of(svg)
    assert len(places) == 50
    assert places == sorted(places)
    assert [y for _, y in places] == sorted((y for _, y in places), reverse=True)
    assert all(52.0 <= x <= 350.0 and 8.0 <= y <= 192.0 for x, y in places)


def test_a_long_line_is_thinned() -> None:
    xs = np.arange(1e5)
    svg = svg_of(Graph("t", "x", "y", [Line("a", xs, np.sin(xs), xs - 1.0, xs + 1.0)]))
    assert len(points_of(svg)) <= MOST_POINTS
    assert len(svg) < 8000


def test_gaps_stay_gaps_and_the_undefined_draws_nothing() -> None:
    ys = np.array([1.0, 2.0, math.nan, 4.0, 5.0])
    svg = svg_of(Graph("t", "x", "y", [Line("a", np.arange(5.0), ys)]))
    assert svg.count("M", svg.index("data-name")) >= 2
    empty = svg_of(Graph("t", "x", "y", [Line("a", np.arange(5.0), np.full(5, math.nan))]))
    assert "data-name" not in empty
    assert "nan" not in svg + empty


@pytest.mark.parametrize("values", [[0.0], [1e300], [-1e-300], [3.0, 3.0], [1e15, 1e15 + 1.0]])
def test_axes_have_ticks_whatever_the_values(values: list[float]) -> None:
    ys = np.array(values)
    svg = svg_of(Graph("t", "x", "y", [Line("", np.arange(float(ys.size)), ys, marks=True)]))
    assert 2 <= svg.count("<text") <= 30
    assert not re.search("nan|inf", svg)


def test_texts_are_escaped_and_the_whole_is_well_formed() -> None:
    name = "<b>&\"'\u202e"
    rows = [Interval(name, 1.0, 0.5, 1.5, name), Interval(name, math.nan, math.nan, math.nan, name)]
    graph = Graph(name, name, name, [Line(name, np.arange(2.0), np.arange(2.0), marks=True)])
    for chart in (graph, Intervals(name, rows, zero=True)):
        tree = ElementTree.fromstring(svg_of(chart))
        tags = {element.tag for element in tree.iter()}
        assert tags <= {"svg", "g", "path", "text", "circle", "title"}
