"""The recommended point beside the start, on replications that chose neither."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.support.command import success, valmatch
from tests.support.folders import rows
from tests.support.refusals import defined
from tests.support.sweeps import swept
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, run
from valmatch.optimization.evaluation import Evaluator
from valmatch.optimization.post_analysis import POST_ANALYSIS
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.solver_run import RUN, STAGE
from valmatch.optimization.studies.solver_study import optimize

PROBLEM = "valorant-30min"
FILE = "start_and_recommended.csv"


def rows_of(folder: Path) -> dict[str, dict[str, str]]:
    return {row["response"]: row for row in rows(folder / FILE)}


@pytest.mark.slow
def test_both_points_meet_the_same_fresh_replications(tmp_path: Path) -> None:
    done = success("optimize", PROBLEM, "--budget", 400, "--out", tmp_path, "--json")
    document = json.loads(done.out)
    found = document["start_and_recommended"]
    assert found["recommended"] == document["recommended"]["point"]
    start = {"player_diff": 150, "team_diff": 200, "wait_thresh": 0.15}
    start |= {"player_slack": 100, "team_slack": 100}
    assert found["start"] == start
    n = found["replications"]
    assert n == 20
    values = []
    for point in (start, found["recommended"]):
        model = build(load_config("valorant", point))
        table = run(model, 1, range(POST_ANALYSIS, POST_ANALYSIS + n)).responses
        columns = dict(zip(model.responses.names, table.T, strict=True))
        columns["objective"] = columns["avg_team_diff"] + columns["avg_player_diff"]
        values.append(columns)
    written = rows_of(tmp_path)
    assert list(written) == list(found["responses"]) == ["objective", *model.responses.names]
    for name, row in written.items():
        change = values[1][name] - values[0][name]
        assert float(row["start"]) == pytest.approx(values[0][name].mean(), rel=1e-12)
        assert float(row["recommended"]) == pytest.approx(values[1][name].mean(), rel=1e-12)
        assert float(row["difference"]) == pytest.approx(change.mean(), rel=1e-9, abs=1e-12)
        if not found["responses"][name]["difference"]["remarks"]:
            half = stats.t.ppf(0.975, n - 1) * change.std(ddof=1) / np.sqrt(n)
            assert float(row["ci_high"]) == pytest.approx(change.mean() + half, rel=1e-9, abs=1e-12)
        assert (row["n"], row["undefined"]) == (str(n), "0")
        assert float(row["difference"]) == found["responses"][name]["difference"]["mean"]
    used = {int(row["replication"]) for row in rows(tmp_path / "evaluations.csv")}
    assert max(used) < POST_ANALYSIS
    assert min(RUN, POST_ANALYSIS + STAGE) > POST_ANALYSIS + (1 << 30)
    assert document["spent"] <= 400
    assert document["spent_beyond_budget"] >= 2 * n


@pytest.mark.slow
def test_what_is_printed() -> None:
    done = valmatch("optimize", PROBLEM, "--budget", 300, "--confidence", 0.9)
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    heads = [line.split() for line in lines if line.startswith("response")]  # of what is in halves
    named = ("start", "recommended", "change", "±", "90%", "n", "unit")
    assert {"n", *(word for head in heads for word in head)} == {"response", *named}
    assert "on the same 15 fresh replications" in done.out
    assert "made beyond" in done.out
    after = [lines[k + 1] for k, line in enumerate(lines) if line.startswith("response")]
    assert {line.split()[0] for line in after} == {"objective"}
    assert any(line.startswith("upper_time (avg_wait_time <= 30): ") for line in lines)


def test_a_loose_bound_costs_nothing() -> None:
    loose = load_config(PROBLEM, {"upper_time": 100000})
    study = optimize(loose, budget=200)
    (price,) = defined(study.post_analysis).prices
    assert (price.slope, price.why) == (None, "")
    assert study.summary()["prices"]["upper_time"]["binding"] is False


def test_nothing_is_compared_where_nothing_is_recommended(tmp_path: Path) -> None:
    impossible = load_config(PROBLEM, {"upper_time": 0.1})
    study = optimize(impossible, budget=120, out=tmp_path / "out")
    assert (study.post_analysis, study.status) == (None, "complete")
    assert "start_and_recommended" not in study.summary()
    assert not (tmp_path / "out" / FILE).exists()


@pytest.mark.slow
def test_it_goes_on_after_an_interruption(tmp_path: Path) -> None:
    """Of several runs too; what they have spent is what they would have without it."""
    how = {"budget": 150, "macroreps": 2}
    whole = optimize(PROBLEM, out=tmp_path / "whole", **how)  # type: ignore[arg-type]
    done = 0

    def interrupt(more: int) -> None:
        nonlocal done
        done += more
        if done >= 300:  # the last test of the last run
            signal.raise_signal(signal.SIGINT)

    out = tmp_path / "out"
    early = optimize(PROBLEM, out=out, progress=interrupt, **how)  # type: ignore[arg-type]
    assert (early.status, early.post_analysis) == ("interrupted", None)
    late = optimize(PROBLEM, out=out, resume=True, **how)  # type: ignore[arg-type]
    assert late.status == "complete"
    assert late.summary() == whole.summary()
    for name in (FILE, "evaluations.csv", "summary.json"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.slow
def test_a_log_is_one_history(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    lines = [f"{k / 20},{1000 + 37 * k % 400}" for k in range(80)]
    log.write_text("arrival_hours,rating\n" + "\n".join(lines) + "\n")
    config = load_config(PROBLEM, [f"arrivals={log}", "team_num=2", "upper_time=200"])
    study = optimize(config, budget=100, out=tmp_path / "out")
    analysis = defined(study.post_analysis)
    assert analysis.spent == 2
    row = rows_of(tmp_path / "out")["avg_wait_time"]
    assert (row["n"], row["ci_low"], row["std_error"]) == ("1", "", "")
    factors = {**analysis.against_start.recommended, "team_num": 2}
    alone = build(load_config({"model": "valorant", "factors": factors}, [f"arrivals={log}"]))
    (value,) = run(alone, 1, [0]).responses[:, alone.responses.names.index("avg_wait_time")]
    assert float(row["recommended"]) == value
    (price,) = analysis.prices
    assert "its cost is not known, as one log shows no slope" in price.why


@pytest.mark.slow
def test_a_frontier_says_what_its_bound_costs() -> None:
    config = load_config("valorant-30min")
    frontier = swept(config, "upper_time=25:35:5", "random", 400)
    assert [found.feasible for _, found in frontier.verdicts] == [True] * 3
    means = [one.objective.mean for _, one in frontier.verdicts]
    problem = problem_of(config, build(config))
    evaluator = Evaluator(config, problem, 1, 2 * STAGE, 1 << 62)

    def unit_of(point: Mapping[str, float]) -> NDArray[np.float64]:
        return np.array([one.to_unit(point[one.name]) for one in problem.variables])

    assert [(low, high) for low, high, _ in frontier.prices] == [(25.0, 30.0), (30.0, 35.0)]
    for k, (_, _, slope) in enumerate(frontier.prices):
        first, second = defined(means[k]), defined(means[k + 1])
        # Of the replications that both tests share, plainly; the means are of each test, adjusted.
        before, after = (
            evaluator.evaluate(unit_of(frontier.verdicts[j][1].point), slope.n)[:, 0].mean()
            for j in (k, k + 1)
        )
        assert slope.mean == pytest.approx((after - before) / 5.0, rel=1e-9, abs=1e-9)
        same = frontier.verdicts[k][1].point == frontier.verdicts[k + 1][1].point
        low, high = defined(slope.ci_low), defined(slope.ci_high)
        assert slope.mean == 0.0 if same else low <= (second - first) / 5.0 <= high
    prices = frontier.summary()["prices"]
    assert prices[0]["from"] == 25.0
    assert prices[0]["objective_per_unit_of_bound"]["n"] == frontier.prices[0][2].n
    assert swept(config, "w_team=1:2:1", "random", 100).prices == []
