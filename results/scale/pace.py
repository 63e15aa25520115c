"""The speed of the cores of this machine while something else runs on them.

A core of a virtual machine shares its clock and its cache with others and takes, from one second
to the next, up to 1.6 times as long for the same work. A short loop that is timed on the same
cores, again and again while a run lasts, slows down with it: what the run took, in units of the
loop, stays the same within a few percent.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean

STEPS = 100_000
"""Of the loop; some 3 ms."""

BETWEEN = 0.1
"""Seconds between two loops on a core."""

STEP_SECONDS = 20e-9
"""What a step of the loop takes on a core that is called as fast as 1."""


class Pace:
    """The speed of some cores, by the loops that were timed on them."""

    def __init__(self, cores: list[int]) -> None:
        self._speeds: dict[int, list[float]] = {core: [] for core in cores}
        self._ended = threading.Event()
        self._watchers = [threading.Thread(target=self._watch, args=(core,)) for core in cores]
        for watcher in self._watchers:
            watcher.start()

    def speed(self) -> float:
        """Return the mean speed of the cores; 1 where a step takes `STEP_SECONDS`."""
        return fmean(fmean(of_core) for of_core in self._speeds.values())

    def end(self) -> None:
        """Time no more loops."""
        self._ended.set()
        for watcher in self._watchers:
            watcher.join()

    def _watch(self, core: int) -> None:
        """Time the loop on a core until the run has ended."""
        os.sched_setaffinity(0, {core})
        speeds = self._speeds[core]
        while not speeds or not self._ended.wait(BETWEEN):
            began = time.thread_time()
            for _ in range(STEPS):
                pass
            speeds.append(STEP_SECONDS * STEPS / (time.thread_time() - began))


@contextmanager
def pinned(count: int) -> Iterator[Pace]:
    """Keep this thread, and what it starts, on so many cores, and watch how fast they are."""
    before = os.sched_getaffinity(0)
    cores = sorted(before)[:count]
    os.sched_setaffinity(0, cores)
    pace = Pace(cores)
    try:
        yield pace
    finally:
        pace.end()
        os.sched_setaffinity(0, before)
