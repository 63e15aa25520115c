"""How the parts of something are printed for `make.py`, and the least time of several tries."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping

TRIES = 15


def least(work: Callable[[], object], tries: int = TRIES) -> float:
    """Return the least seconds of a processor that something took."""
    found = float("inf")
    for _ in range(tries):
        start = time.process_time()
        work()
        found = min(found, time.process_time() - start)
    return found


def least_in_turn(
    works: Mapping[str, Callable[[], object]], tries: int = TRIES
) -> dict[str, float]:
    """Return the least seconds of each of several, which take turns."""
    found = dict.fromkeys(works, float("inf"))
    for _ in range(tries):
        for name, work in works.items():
            found[name] = min(found[name], least(work, 1))
    return found


def show(parts: Mapping[str, float]) -> None:
    """Print each part and its seconds, where `make.py` reads them."""
    for part, own in parts.items():
        print(part, own, sep="\t", file=sys.stderr)
