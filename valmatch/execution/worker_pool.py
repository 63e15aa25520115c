"""A pool of workers, wherever they are: its executor and its size."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import NamedTuple


class WorkerPool(NamedTuple):
    """An executor with what is known of its workers."""

    executor: Executor  # takes work
    slots: Callable[[], int]  # returns the number of pieces that it can work on at once, now
    # pieces to hand out for each of them: one at work, and one waiting where handing out takes time
    ahead: int
    # into how many pieces one may be cut where the work ends; few where handing out is slow
    finest: int
    here: bool  # whether it works in this process, whose objects the work can then share
