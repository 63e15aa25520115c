"""The examples in the docstrings of the modules for researchers."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

from valmatch import matching, policies, ratings, statistics

PUBLIC = matching, policies, ratings, statistics

MODULES = [
    name
    for package in PUBLIC
    for name in (
        package.__name__,
        *(f"{package.__name__}.{found.name}" for found in pkgutil.iter_modules(package.__path__)),
    )
]

WITH_EXAMPLES = {
    "control_variates",
    "crossing",
    "davidson",
    "elo",
    "elo_goals",
    "elo_margin",
    "estimates",
    "glicko",
    "glicko2",
    "lookahead",
    "lookahead_search",
    "matches",
    "matching",
    "moving_blocks",
    "myopic",
    "pair_lookahead",
    "policies",
    "precision",
    "ratings",
    "sequential_tests",
    "statistics",
    "trueskill",
    "trueskill_draws",
    "trueskill_teams",
    "upper_confidence",
    "zonestats",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.failed == 0
    room, _, module = name.removeprefix("valmatch.").rpartition(".")
    wanted = WITH_EXAMPLES | ({"pairs"} if room == "statistics" else set())
    assert found.attempted > 0 or module not in wanted


@pytest.mark.parametrize("package", PUBLIC, ids=lambda package: package.__name__)
def test_every_public_name_is_there(package: object) -> None:
    for name in package.__all__:  # type: ignore[attr-defined]
        assert getattr(package, name) is not None
