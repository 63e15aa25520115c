"""The examples in the docstrings of the modules for researchers."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

from valmatch import ratings

MODULES = [
    ratings.__name__,
    *(f"{ratings.__name__}.{found.name}" for found in pkgutil.iter_modules(ratings.__path__)),
]

WITH_EXAMPLES = {
    "davidson",
    "elo",
    "glicko2",
    "matches",
    "ratings",
    "trueskill",
    "trueskill_draws",
    "trueskill_teams",
    "zonestats",
}


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.failed == 0
    assert found.attempted > 0 or name.split(".")[-1] not in WITH_EXAMPLES
