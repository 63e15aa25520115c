"""Several variants of a system under common random numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import valmatch as library
from tests.support.command import success, valmatch
from tests.support.crashes import contents
from tests.support.folders import rows
from valmatch.experiments.replicate import replicate
from valmatch.statistics.estimates import estimate
from valmatch.statistics.pairs import paired
from valmatch.statistics.sampling import INDEPENDENT, Widened, widening

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


@pytest.mark.slow
def test_configs_folders_and_python_give_the_same(tmp_path: Path) -> None:
    tight = tmp_path / "tight.yaml"
    tight.write_text("model: valorant\nfactors: {team_diff: 150}\n")
    how = ("-n", 6, "--seed", 4, "--json")
    mixed = valmatch("compare", "valorant", tight, "--variant", QUICK, *how, "--out",
                     tmp_path / "all")  # fmt: skip
    document = json.loads(mixed.out)
    folders = [tmp_path / "all" / name for name in "abc"]
    again = json.loads(valmatch("compare", *folders, "--json").out)
    assert [one["differences"] for one in again["variants"].values()] == [
        one["differences"] for one in document["variants"].values()
    ]
    others: list[dict[str, float]] = [{"team_diff": 150}, {"team_diff": 300, "wait_thresh": 0.1}]
    found = library.compare(
        "valorant", [library.load_config("valorant", one) for one in others], 6, 4, workers=2
    )
    assert [one["differences"] for one in found.summary()["variants"].values()] == [
        one["differences"] for one in document["variants"].values()
    ]
    assert len(found.to_dict()["mean"]) == len(found.columns()["mean"])
    assert "hold together" in repr(found)
