"""A pool of workers, wherever they are: its executor and its size."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import NamedTuple


class WorkerPool(NamedTuple):
    """An executor with what is known of its workers.

    Attributes
    ----------
    executor : Executor
        Takes work.
    slots : callable
        Returns the number of pieces that it can work on at once, now.
    ahead : int
        Pieces to hand out for each of them: one at work, and one waiting where handing out takes
        time.
    finest : int
        Into how many pieces one may be cut where the work ends; few where handing out is slow.
    here : bool
        Whether it works in this process, whose objects the work can then share.
    """

    executor: Executor
    slots: Callable[[], int]
    ahead: int
    finest: int
    here: bool
