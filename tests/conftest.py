"""Kernels are compiled before the first test, so that no command announces it."""

from __future__ import annotations

import pytest

from valmatch.config import load
from valmatch.simulator import build, run


@pytest.fixture(scope="session", autouse=True)
def _compiled_kernels() -> None:
    for matching in ("team_first", "joint"):
        run(build(load("valorant", [f"matching={matching}"])), 1, [0])
