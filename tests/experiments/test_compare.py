"""Systems under common random numbers: two, and several variants."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import valmatch as library
from tests.support.command import refusal, success, valmatch
from tests.support.crashes import contents
from tests.support.folders import rows
from valmatch.config.loading import load_config
from valmatch.errors import InputError
from valmatch.execution.shards import Shard
from valmatch.experiments.compare import compare, compare_runs
from valmatch.experiments.replicate import replicate
from valmatch.statistics.estimates import estimate
from valmatch.statistics.pairs import paired
from valmatch.statistics.sampling import INDEPENDENT, Widened, widening


@pytest.mark.slow
def test_files_of_a_comparison(tmp_path: Path) -> None:
    change = ["--set", "team_diff=150"]
    done = valmatch("compare", "valorant", *change, "-n", 9, "--out", tmp_path, "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document == json.loads((tmp_path / "summary.json").read_text())
    assert document["changed"] == {"team_diff": {"a": 400.0, "b": 150.0}}
    table = {row["response"]: row for row in rows(tmp_path / "differences.csv")}
    assert list(table) == list(document["differences"])
    assert float(table["avg_wait_time"]["mean"]) == document["differences"]["avg_wait_time"]["mean"]
    valmatch("replicate", "valorant", "-n", 9, *change, "--out", tmp_path / "alone")
    assert contents(tmp_path / "b") == contents(tmp_path / "alone")
    # Two configs are changed alike; two folders need no simulation.
    both = valmatch("compare", "valorant", "valorant", *change, "-n", 9, "--json")
    assert json.loads(both.out)["differences"]["avg_wait_time"]["max"] == 0.0
    folders = valmatch("compare", tmp_path / "a", tmp_path / "b", "--json")
    assert json.loads(folders.out)["differences"] == document["differences"]


@pytest.mark.slow
def test_what_stops_the_first_run_stops_the_second(tmp_path: Path) -> None:
    def interrupt(done: int) -> None:
        if done:
            signal.raise_signal(signal.SIGINT)

    change = load_config("valorant", ["team_diff=150"])
    found = compare("valorant", change, 3000, progress=interrupt, out=tmp_path)
    assert 0 < len(found.base.values) < 3000
    other = found.variants[0].run
    assert (len(other.values), other.status, found.status) == (0, "interrupted", "interrupted")
    assert found.comparisons["avg_wait_time"].difference.mean is None
    late = compare("valorant", change, 10, max_seconds=0.0)
    assert (len(late.base.values), len(late.variants[0].run.values)) == (0, 0)
    assert late.status == "out of time"
    resumed = compare("valorant", change, 3000, out=tmp_path, resume=True)
    assert (resumed.n, resumed.status) == (3000, "complete")


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    small = ["n_games=5", "n_opponents=3", "rank=1"]
    with pytest.raises(InputError, match="no response in common"):
        compare("valorant", load_config("kg-fig1-top", small), 2, out=tmp_path / "none")
    assert not (tmp_path / "none").exists()
    a = replicate("valorant", 4, seed=1)
    with pytest.raises(InputError, match="seeds 1 and 2"):
        compare_runs(a, [replicate("valorant", 4, seed=2)])
    halves = [replicate("valorant", 4, shard=Shard(k, 2)) for k in (0, 1)]
    assert compare_runs(halves[0], [halves[1]]).n == 0
    assert compare_runs(a, [halves[1]]).n == 2


@pytest.mark.slow
def test_control_variates_on_any_workers_shards_and_after_a_resume(tmp_path: Path) -> None:
    command = ["replicate", "valorant", "-n", 40, "--control-variates"]
    whole = valmatch(*command, "--out", tmp_path / "whole", "--json")
    one = json.loads(whole.out)["responses"]["avg_wait_time"]
    assert one["variance_reduction"] > 1.0
    assert one["ci_low_cv"] < one["mean_cv"] < one["ci_high_cv"]
    valmatch(*command, "--workers", 2, "--out", tmp_path / "two")
    for index in range(3):
        valmatch(*command, "--shard", f"{index}/3", "--out", tmp_path / str(index))
    parts = [tmp_path / str(index) for index in (1, 2, 0)]
    valmatch("combine", tmp_path / "all", *parts)
    # A run without them is resumed with them.
    valmatch(*command[:-1], "--out", tmp_path / "late")
    valmatch(*command, "--out", tmp_path / "late", "--resume")
    wanted = contents(tmp_path / "whole")
    controls = (tmp_path / "whole" / "controls.csv").read_bytes()
    for name in ("two", "all", "late"):
        assert contents(tmp_path / name) == wanted, name
        assert (tmp_path / name / "controls.csv").read_bytes() == controls
    small = ["kg-fig1-top", "--set", "n_games=5"]
    assert "opponent has none" in refusal("replicate", *small, "-n", 2, "--control-variates")


TIGHT, QUICK = "team_diff=150", "team_diff=300,wait_thresh=6 min"
VARIANTS = ("--variant", TIGHT, "--variant", QUICK)


def test_intervals_are_those_of_runs_compared_by_hand(tmp_path: Path) -> None:
    done = success("compare", "valorant", *VARIANTS, "-n", 30, "--out", tmp_path, "--json")
    assert done.err == ""
    document = json.loads(done.out)
    assert document == json.loads((tmp_path / "summary.json").read_text())
    assert document["simultaneous"]["method"] == "bonferroni"
    assert document["simultaneous"]["intervals"] == 2
    base = replicate("valorant", 30, 1)
    changes: dict[str, dict[str, float]] = {
        "b": {"team_diff": 150},
        "c": {"team_diff": 300, "wait_thresh": 0.1},
    }
    for name, change in changes.items():
        run = replicate(library.load_config("valorant", change), 30, 1)
        found = document["variants"][name]
        for response in ("avg_team_diff", "avg_wait_time", "matched_fraction"):
            difference = run[response] - base[response]
            one = found["differences"][response]
            mean, error = difference.mean(), difference.std(ddof=1) / np.sqrt(30)
            half = stats.t.ppf(1.0 - 0.05 / 2 / 2, 29) * error  # two variants, two sides
            half *= widening(difference, 1.0 - 0.05 / 2, 30)
            plain = estimate(difference, 1.0 - 0.05 / 2)
            assert plain.ci_low is not None
            assert plain.ci_high is not None
            assert one["mean"] == pytest.approx(mean, rel=1e-12)
            assert one["ci_low"] == pytest.approx(min(mean - half, plain.ci_low), rel=1e-12)
            assert one["ci_high"] == pytest.approx(max(mean + half, plain.ci_high), rel=1e-12)
            assert one["mean_variant"] == pytest.approx(run[response].mean(), rel=1e-12)
        assert {k: v[name] for k, v in found["changed"].items()} == change
    table = rows(tmp_path / "differences.csv")
    names = list(document["variants"]["b"]["differences"])
    pairs = [(variant, name) for variant in "bc" for name in names]
    assert [(row["variant"], row["response"]) for row in table] == pairs
    changed = {row["changed"] for row in table}
    assert changed == {"team_diff=150.0", "team_diff=300.0; wait_thresh=0.1"}
    for row in table:
        one = document["variants"][row["variant"]]["differences"][row["response"]]
        assert float(row["mean"]) == one["mean"]
        assert (row["confidence"], row["simultaneous_confidence"]) == ("0.975", "0.95")
    alone = ("--set", TIGHT, "--out", tmp_path / "alone")
    success("replicate", "valorant", "-n", 30, *alone)
    assert contents(tmp_path / "b") == contents(tmp_path / "alone")


@pytest.mark.slow
def test_intervals_of_skewed_counts_hold_together() -> None:
    """Differences that few replications have, as of matches: Student's held 0.91 at 40."""
    rng, n, level = np.random.default_rng(1), 40, 1.0 - 0.05 / 3
    rates = (0.25, 0.35, 0.5)
    held = {INDEPENDENT: 0, Widened(): 0}
    rounds = 600
    for _ in range(rounds):
        values = np.column_stack([rng.poisson(rate, n) for rate in rates]).astype(float)
        for sampling in held:
            found = paired(np.zeros((n, 3)), values, level, (sampling, sampling))
            ends = [(one.difference.ci_low, one.difference.ci_high) for one in found]
            held[sampling] += all(
                low is not None and high is not None and low <= rate <= high
                for (low, high), rate in zip(ends, rates, strict=True)
            )
    assert min(held.values()) >= 0.94 * rounds


def test_responses_by_which_variants_rarely_differ_are_named() -> None:
    """Of 60 days, 15 or so have another number of matches under the variants."""
    variants = [library.load_config("valorant", {"team_diff": diff}) for diff in (150, 300)]
    found = library.compare("valorant", variants, 60)
    base = found.base["n_matches"]
    fewest = min(
        60 - np.unique(one.run["n_matches"] - base, return_counts=True)[1].max()
        for one in found.variants
    )
    assert 0 < fewest < 20
    assert found.rare["n_matches"] == fewest
    assert found.rare["n_players"] == 0
    assert "avg_team_diff" not in found.rare
    (few,) = [one for one in found.warnings if one.kind == "differ_in_few"]
    names = few.partition(": intervals may not hold together: a variant differs in fewer than 20")
    assert names[0].split(", ")[0] == next(iter(found.rare))
    assert (few.n, names[2]) == (len(found.rare), " replications")
    assert found.summary()["simultaneous"]["differ_in_few"] == found.rare
    fewer = library.compare("valorant", variants, 19)
    assert set(fewer.rare) == {response.name for response in fewer.responses}
