"""Pages with sliders: what they hold, what is refused before anything runs, how often they hold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch as library
from tests.support.case_tables import cases
from tests.support.command import refusal, success, valmatch
from tests.support.folders import rows
from valmatch.config.identity import config_id
from valmatch.experiments.compare import compare_runs
from valmatch.experiments.replicate import Replications
from valmatch.experiments.sweep import Design, DesignReplications
from valmatch.models.model import Response
from valmatch.present.html import html_of
from valmatch.present.presenting import present
from valmatch.statistics.estimates import Estimate, mean_and_half

OVER: dict[str, list[Any]] = {"team_diff": [200, 10], "wait_thresh": ["6 min", "60min"]}
SMALL = {"model": "valorant", "factors": {"horizon": 4, "team_num": 2, "wait_thresh": 1}}


def data_of(page: str) -> dict[str, Any]:
    """Return what the script of a page reads."""
    text = page.partition('<script type="application/json">')[2].partition("</script>")[0]
    return dict(json.loads(text))


def text_of(row: Mapping[str, Any]) -> str:
    """Return a mean as a page holds it, of a row of a table."""
    facts = {key: None if value == "" else value for key, value in row.items()}
    mark = [" ?"] if "few_values" in row["remarks"] else []
    return " ".join(mean_and_half(Estimate.read(facts | {"remarks": ()}))) + "".join(mark)


def test_a_page_holds_the_numbers_of_its_folder(tmp_path: Path) -> None:
    out, file = tmp_path / "run", tmp_path / "page.html"
    page = library.explore(SMALL, OVER, 6, out=out, page=file)
    data = data_of(page)
    assert file.read_text("utf-8") == page
    assert data_of(library.report(out)) == data
    assert [(f["texts"], f["today"], f["start"], f["unit"]) for f in data["factors"]] == [
        (["10", "200"], "400", 1, "Elo points"),
        (["0.1", "1"], "1", 1, "hours"),
    ]
    assert data["today"] == 4  # beside the grid, whose points are in order
    table = rows(out / "design.csv")
    ids = list(dict.fromkeys(row["config_id"] for row in table))
    means = {(row["point"], row["response"]): text_of(row) for row in table}
    runs: list[Any] = [library.load_result(out / "points" / ids[k]) for k in (4, 2)]
    comparisons = compare_runs(runs[0], runs[1:]).comparisons
    for response in data["responses"]:
        assert response["means"] == [means[point, response["name"]] for point in "23014"]
        difference = comparisons[response["name"]].difference
        assert response["changes"][0] == text_of(difference.as_row())
        assert response["changes"][4].startswith("0")
    for key, levels in ((ids[0], ("200", "0.1")), (ids[3], ("10", "1.0"))):
        rule = data["rule"][:]
        rule[1::2] = [levels[int(k)] for k in rule[1::2]]
        (tmp_path / "rule.yaml").write_text("".join(rule))
        assert config_id(library.load_config(tmp_path / "rule.yaml")) == key
    all_points = page.partition("<details open>")[2].partition("</table>")[0]
    assert all_points.count("<tr><td>") == 5
    assert "Means at each point" not in page  # nor are they there twice


@pytest.mark.parametrize(
    ("words", "message"),
    cases("""
team_diff=1:9:1 --over wait_thresh=1:999:1 | the design has 8991 points (allowed: at most 5000)
wait_thres=1,2 | --over wait_thres=1: factors.wait_thres: unknown key (did you mean
team_diff=1,2 --over wait_thresh=6min | --over wait_thresh: a single value (allowed: two or more)
wait_thresh=2,2 | --over wait_thresh: a single value (allowed: two or more)
team_diff=1,2 --over team_diff=3,4 | a key is given twice
team_diff=1,2 --responses wait_p9 | 'wait_p9' is no response (did you
team_diff=1,2 --shard 0/2 | --shard: needs --out
replicate.n=1,2 | --over replicate.n: is no factor
"""),
)
def test_refused_before_anything_runs(words: str, message: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    outcome = valmatch("explore", "valorant", "--over", *words.split(), "-o", page)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert message in outcome.err
    page.write_text("mine")
    command = ("explore", "valorant", "--over", "team_diff=1,2")
    assert "is there already and is no report" in refusal(*command, "-o", page)
    assert page.read_text() == "mine"
    assert "-o: is missing" in refusal(*command)


@pytest.mark.slow
def test_shards_of_a_page_combine(tmp_path: Path) -> None:
    words = ["explore", "valorant", "-n", 5, "--over", "team_diff=100,300", "--set", "horizon=4"]
    for k in range(2):
        success(*words, "--shard", f"{k}/2", "--out", tmp_path / "run")
    success("combine", tmp_path / "run")
    data = data_of(library.report(tmp_path / "run"))
    assert data["today"] == 2
    assert all(response["changes"] for response in data["responses"])


def drawn(rng: np.random.Generator, names: list[str], n: int, base: int) -> DesignReplications:
    """Return a grid of 4 points whose k-th mean is k, under common random numbers."""
    common = rng.normal(size=(n, len(names)))
    responses, points, runs = [Response(name, "", "") for name in names], [], []
    for k in range(4):
        config = library.load_config("valorant", {"team_diff": 100 + k})
        values = common * (1 + k / 4) + k + 0.3 * rng.normal(size=common.shape)
        runs.append(Replications(config, 1, n, responses, range(n), values, 0.95))
        points.append((100 + k,))
    return DesignReplications(runs[base].config, Design(["team_diff"], points), runs)


def test_paired_intervals_of_known_differences_hold() -> None:
    """4,500 intervals as a page shows them: 93 to 97 %; all are of 15 replications."""
    rng, names = np.random.default_rng(5), [f"r{k}" for k in range(20)]
    held = []
    for _ in range(75):
        explorer = present(drawn(rng, names, 15, base=1)).explorer()
        assert explorer
        for response, k in product(explorer.data["responses"], (0, 2, 3)):
            mean, half, *_ = response["changes"][k].split(" ")
            below, above = map(abs, map(float, (half.split("/") * 2)[:2]))
            held.append(-below <= k - 1 - float(mean) <= above)
    assert len(held) == 4500
    assert math.isclose(np.mean(held), 0.95, abs_tol=0.02)


def test_names_are_texts_whatever_they_hold() -> None:
    name = "</script><script>alert(1)</script><!--\u202e"
    text = html_of([present(drawn(np.random.default_rng(1), [name, "b"], 5, base=0))])
    assert data_of(text)["responses"][0]["name"] == name.replace("\u202e", "\\u202e")
    assert "<script>alert" not in text
    assert text.count("</script>") == 2
