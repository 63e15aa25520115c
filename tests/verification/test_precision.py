"""Coverage of sequential runs: 3,000 on known distributions, 500 of the model.

Some ten minutes on one core.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.stopping import DATA, Draw, tally
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, run
from valmatch.statistics.precision import Target, parse_target

RUNS = 3000
COVERAGE, ASYMPTOTIC = 0.93, 0.95
"""Least coverage at any sample size; limit for ever smaller targets (Chow and Robbins 1965)."""


@pytest.mark.parametrize("expected", [60, 150, 400, 1500])
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("name", DATA)
def test_coverage_of_the_final_interval(name: str, relative: bool, expected: int) -> None:
    source = DATA[name]
    size = 1.96 * source.std / math.sqrt(expected)
    target = Target("x", 0, size / source.mean if relative else size, relative)
    rng = np.random.default_rng([expected, relative, *name.encode()])
    result = tally(target, lambda _: source.new(rng), source.mean, RUNS)
    print(name, "relative" if relative else "absolute", expected, result)
    error = math.sqrt(COVERAGE * (1 - COVERAGE) / RUNS)
    assert result.reached == 1.0
    assert result.covered >= COVERAGE - 2 * error
    assert result.met >= ASYMPTOTIC - 2 * error
    if expected == 1500:
        assert abs(result.covered - ASYMPTOTIC) <= 4 * error


@pytest.mark.parametrize("text", ["avg_wait_time=1%", "avg_team_diff=2", "matched_fraction=0.05%"])
def test_coverage_of_runs_of_the_model(text: str) -> None:
    model = build(load_config("valorant"))
    target = parse_target(text, {response.name: response.limits for response in model.responses})
    truth = run(model, 1_000_000, range(100_000)).responses[:, target.column].mean()

    def new(seed: int) -> Draw:
        done = 0

        def draw(n: int) -> np.ndarray:
            nonlocal done
            done += n
            return run(model, seed, range(done - n, done)).responses[:, target.column]

        return draw

    runs = 500
    result = tally(target, new, float(truth), runs)
    print(text, truth, result)
    assert result.reached == 1.0
    assert result.covered >= COVERAGE - 2 * math.sqrt(COVERAGE * (1 - COVERAGE) / runs)
    assert result.met >= ASYMPTOTIC - 2 * math.sqrt(ASYMPTOTIC * (1 - ASYMPTOTIC) / runs)
