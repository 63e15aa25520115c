"""Recommended points beside feasible starts: 200 runs on problems whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.known_problems import LOADS, RULES, registered
from valmatch.optimization.studies.solver_study import optimize

RUNS = 20
BUDGET = 1_000
GAP = 0.02
ROUNDING = 1.0 + 1e-9

NOISY = 0.065
"""The limit of the noisy one, for which 2 % is out of reach: its wait has a deviation of .7 and
falls by .03 for 1 % of cost. A test of 400 replications passes half of the time where a point is
2.1 % above the best, if the search knew the bound exactly; its 600 tell no more of it than these.
"""


@pytest.mark.parametrize("title", RULES)
def test_the_recommended_point_is_never_worse_than_a_certified_start(title: str) -> None:
    rule, gaps, kept, wrong = RULES[title], [], 0, 0
    with registered():
        for seed in range(1, RUNS + 1):
            study = optimize(rule.config(title), budget=BUDGET, seed=seed)
            found = study.verdict
            assert found is not None
            cost, wait = rule.expected(found.point)
            start, _ = rule.expected(study.summary()["start_and_recommended"]["start"])
            assert found.feasible is True, seed
            assert cost <= start * ROUNDING, seed
            responses = study.summary()["start_and_recommended"]["responses"]
            assert responses["objective"]["difference"]["ci_low"] <= 1e-9, seed
            kept += found.name == "start"
            wrong += wait > 5.0
            gaps.append((cost - rule.best) / rule.best)
    median = float(np.median(gaps))
    print(
        f"{title}: median gap {median:.2%}, start kept {kept}, truly infeasible {wrong} of {RUNS}"
    )
    if rule.dimensions == 1:
        assert median < (NOISY if title == "noisy" else GAP)


GAPS = {"three": 0.2, "six": 0.2, "three heavy": 0.6}
"""Median gaps at most."""


@pytest.mark.parametrize("title", LOADS)
def test_loads_in_proportion_never_end_worse_than_the_start(title: str) -> None:
    rule, gaps, certified, wrong = LOADS[title], [], 0, 0
    with registered():
        for seed in range(1, RUNS + 1):
            study = optimize(rule.config(title), budget=BUDGET, seed=seed)
            found = study.verdict
            assert found is not None
            cost, load = rule.expected(found.point)
            start, _ = rule.expected(study.summary()["start_and_recommended"]["start"])
            assert cost <= start * ROUNDING, seed
            assert study.summary()["spent"] == BUDGET
            certified += found.feasible is True
            wrong += found.feasible is True and load > rule.limit
            gaps.append(cost / rule.best - 1.0)
    median = float(np.median(gaps))
    print(
        f"{title}: median gap {median:.1%}, largest {max(gaps):.1%}, certified {certified},"
        f" truly infeasible {wrong} of {RUNS}"
    )
    assert median < GAPS.get(title, np.inf)
