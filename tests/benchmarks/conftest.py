"""Benchmarks in units of a calibration kernel of the same moment, beside the last release.

``pytest tests/benchmarks --benchmark-only -n 0`` ends with the ratios to the kernel, to the last
release, and of days to a day in plain numba; ``--record-release`` makes ``last_release.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import valmatch
from tests.benchmarks.calibration import calibration_seconds

RECORD = Path(__file__).with_name("last_release.json")

_units = pytest.StashKey[dict[str, float]]()
_plain = pytest.StashKey[dict[str, float]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that records a release."""
    parser.addoption(
        "--record-release", action="store_true", help="keep the speeds as those of a release"
    )


@pytest.fixture(autouse=True)
def _calibrated(request: pytest.FixtureRequest) -> Iterator[None]:
    """Note how long a benchmark takes, in units of the calibration kernel before and after it."""
    if "benchmark" not in request.fixturenames:
        yield
        return
    benchmark = request.getfixturevalue("benchmark")
    before = calibration_seconds()
    yield
    if benchmark.stats is not None:
        units = benchmark.stats["min"] / min(before, calibration_seconds())
        benchmark.extra_info["calibrations"] = units
        name = f"{request.node.path.stem}::{request.node.name}"
        request.config.stash.setdefault(_units, {})[name] = units
        if "plain_days" in benchmark.extra_info:
            in_days = benchmark.extra_info["plain_days"]
            request.config.stash.setdefault(_plain, {})[name] = in_days


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:  # noqa: ANN401
    """Print how long each benchmark takes: in calibrations, releases and plain days."""
    if not (found := config.stash.get(_units, {})):
        return
    if config.getoption("--record-release", default=False):
        record = {"version": valmatch.__version__, "calibrations": found}
        RECORD.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    last: dict[str, Any] = {"version": "no release", "calibrations": {}}
    if RECORD.exists():
        last = json.loads(RECORD.read_text("utf-8"))
    terminalreporter.section("time in units of others")
    terminalreporter.write_line(f"calibrations  {last['version']:>8}  plain day")
    plain = config.stash.get(_plain, {})
    for name, units in found.items():
        before = last["calibrations"].get(name)
        ratio = f"{units / before:8.2f}" if before else f"{'new':>8}"
        in_days = f"{plain[name]:9.2f}" if name in plain else " " * 9
        terminalreporter.write_line(f"{units:12.4f}  {ratio}  {in_days}  {name}")
