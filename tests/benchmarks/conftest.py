"""Benchmarks in units of a calibration kernel of the same moment, beside the last release.

``pytest tests/benchmarks --benchmark-only -n 0`` ends with the ratios to the kernel and to the last
release; ``--record-release`` makes ``last_release.json``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch
from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel

RECORD = Path(__file__).with_name("last_release.json")

STEPS = 1_000_000
TABLE = np.random.default_rng(1).random(4096)

_units = pytest.StashKey[dict[str, float]]()


@kernel
def _walk(table: Floats, steps: int) -> float:
    """Walk through a table as the kernels do: sums, loads and branches that nobody can predict."""
    place, total = 0, 0.0
    for _ in range(steps):
        value = table[place]
        total += value if value < 0.5 else -value
        place = (5 * place + 1 + int(8 * value)) & 4095
    return total


def calibration_seconds() -> float:
    """Return the seconds of a fixed piece of work, the fastest of ten times."""
    _walk(TABLE, 1)
    seconds = []
    for _ in range(10):
        start = time.perf_counter()
        _walk(TABLE, STEPS)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


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
        request.config.stash.setdefault(_units, {})[request.node.name] = units


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:  # noqa: ANN401
    """Print how long each benchmark takes, in calibrations and releases."""
    if not (found := config.stash.get(_units, {})):
        return
    if config.getoption("--record-release", default=False):
        record = {"version": valmatch.__version__, "calibrations": found}
        RECORD.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    last = json.loads(RECORD.read_text("utf-8"))
    terminalreporter.section("time in units of others")
    terminalreporter.write_line(f"calibrations  {last['version']:>8}")
    for name, units in found.items():
        before = last["calibrations"].get(name)
        ratio = f"{units / before:8.2f}" if before else f"{'new':>8}"
        terminalreporter.write_line(f"{units:12.4f}  {ratio}  {name}")
