"""Kernels of tickets that are ended from outside, and commands that Ctrl-C ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from tests.support.machine import slowness
from valmatch import load
from valmatch.execution.chunks import build, run
from valmatch.kernels import halting

LONG: dict[str, dict[str, object]] = {
    "pass": {"arrivals.per_hour": 6000},
    "counted": {"arrivals.per_hour": 2500, "measure": ["rules"]},
}


def halted_after(seconds: float, work: Callable[[], object]) -> float:
    """Halt work some time after it begins; return how long it takes to end then."""
    timer = threading.Timer(seconds, halting.halt)
    begun = time.monotonic()
    timer.start()
    try:
        with pytest.raises(halting.Stopped):
            work()
        return time.monotonic() - begun - seconds
    finally:
        timer.cancel()
        timer.join()
        halting.resume()


@pytest.mark.slow
@pytest.mark.parametrize("what", LONG)
def test_a_long_run_ends_when_it_is_halted(what: str) -> None:
    model = build(load("tickets", LONG[what]))
    run(build(load("tickets", {"hours": 2, **LONG[what], "arrivals.per_hour": 100})), 1, [0])
    assert halted_after(1.0, lambda: run(model, 1, [0])) < 0.5 * slowness()


def test_what_a_halted_run_returns_is_not_used() -> None:
    model = build(load("tickets", {"hours": 1.5, "arrivals.per_hour": 300}))
    whole = run(model, 1, [0]).responses
    halting.halt()
    try:
        with pytest.raises(halting.Stopped):
            run(model, 1, [0])
    finally:
        halting.resume()
    np.testing.assert_array_equal(run(model, 1, [0]).responses, whole)
