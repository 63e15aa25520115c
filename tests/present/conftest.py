"""The runs that reports are made of, each made once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.report_runs import make_runs


@pytest.fixture(scope="session")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what gives the folder of a run of `tests.support.report_runs.RUNS`."""
    base = tmp_path_factory.getbasetemp()
    return make_runs((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "report-runs")
