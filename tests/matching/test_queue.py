"""Every rule of the queue keeps the protocol; its kernels are kept between processes."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import valmatch
from tests.support.days import random_rules
from valmatch.kernels.cache import files_of
from valmatch.matching import joint, queue, team_first
from valmatch.matching.living.ladder_adapter import queue_of
from valmatch.matching.living.registry import PRESETS
from valmatch.matching.queue import Arrivals, QueueRule, kernel_of, new_counts, parameters_of
from valmatch.matching.registry import OF_RATINGS, PRESET, QUEUES, meanings, queue_rule, readers
from valmatch.models.ladder.factors import Rule
from valmatch.models.valorant.factors import ValorantFactors

VERBS = [name for name in vars(QueueRule) if not name.startswith("_")]


def parameters(function: Callable[..., object]) -> list[str]:
    """Return the parameters of a function, compiled or not."""
    return list(inspect.signature(getattr(function, "py_func", function)).parameters)


@pytest.mark.parametrize("name", [*sorted(set(QUEUES) - {PRESET}), *PRESETS])
def test_rules_have_the_functions_of_the_protocol(name: str) -> None:
    rule = queue_of(name) if name in PRESETS else queue_rule(name)
    assert len(VERBS) == 11
    for verb in VERBS:
        expected = [one for one in parameters(getattr(QueueRule, verb)) if one != "self"]
        assert len(parameters(getattr(rule, verb))) == len(expected), verb
    assert {"horizon"} <= set(rule.Parameters._fields)


def test_factors_follow_from_the_registry() -> None:
    for factors, names in ((ValorantFactors, OF_RATINGS), (Rule, tuple(QUEUES))):
        schema = factors.model_json_schema()["properties"]["matching"]
        assert schema["enum"] == list(names)
        assert schema["description"] == meanings(names)
    options = {option for entry in QUEUES.values() for option in entry.options}
    assert options <= {*Rule.model_fields, *ValorantFactors.model_fields}
    assert readers("tie_break") == ("joint",)


def test_parameters_are_those_that_the_rule_reads() -> None:
    rules = random_rules(np.random.default_rng(1), 3)
    assert parameters_of(team_first, {**rules._asdict(), "band": 8}) == rules


def test_the_kernel_of_a_rule_is_made_once_and_is_its_own() -> None:
    run = kernel_of(queue.run, team_first)
    assert kernel_of(queue.run, team_first) is run
    assert kernel_of(queue.run, joint) is not run
    assert (run.__qualname__, queue.run.__qualname__) == ("run_team_first", "run")


def test_kernels_of_a_rule_are_compiled_from_its_files_and_not_from_others() -> None:
    package = Path(valmatch.__file__).parent
    driver, rules = package / "matching" / "queue.py", package / "matching"
    found = files_of(package, driver) | files_of(package, rules / "joint.py")
    assert {driver, rules / "joint.py", rules / "fifo.py"} <= found
    assert not {rules / "team_first.py", rules / "pairs.py", rules / "registry.py"} & found


@pytest.mark.slow
def test_another_process_finds_the_kernel_in_the_cache() -> None:
    rules = random_rules(np.random.default_rng(1), 1)._replace(team_num=1)
    times = ratings = np.zeros(2)
    counts = new_counts(np.empty(3), np.empty((1, 5)))
    run = kernel_of(queue.run, team_first)
    arrivals = Arrivals(times, ratings, 0, True)
    assert run(arrivals, None, rules, team_first.new(2, rules), counts) == 2
    code = (
        "import numpy as np; from tests.matching.test_queue import *\n"
        "rules = random_rules(np.random.default_rng(1), 1)._replace(team_num=1)\n"
        "counts = new_counts(np.empty(3), np.empty((1, 5)))\n"
        "run = kernel_of(queue.run, team_first)\n"
        "arrivals = Arrivals(np.zeros(2), np.zeros(2), 0, True)\n"
        "run(arrivals, None, rules, team_first.new(2, rules), counts)\n"
        "print(sum(run.stats.cache_hits.values()), sum(run.stats.cache_misses.values()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "0"]
