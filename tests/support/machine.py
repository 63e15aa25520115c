"""How fast this machine is at the moment: others may have most of it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

LOOP = 0.1
"""Seconds that the loop takes on an idle core, at the most."""


class Times(NamedTuple):
    """Time of all cores so far: of what ran, and of what waited for the host to let it run."""

    ran: float
    waited: float


def times() -> Times:
    """Return the times of this moment."""
    line = Path("/proc/stat").read_text().splitlines()[0]
    user, nice, system, _idle, _disk, interrupts, soft, stolen = map(float, line.split()[1:9])
    return Times(user + nice + system + interrupts + soft, stolen)


def slowness(since: Times | None = None) -> float:
    """Return how many times as long as on an idle machine things take here, 1 or more."""
    wanted, _, _ = os.getloadavg()
    started = time.monotonic()
    total = 0
    for step in range(1_000_000):
        total += step
    taken = time.monotonic() - started
    host = max(1.0, taken / LOOP)
    if since is not None:
        ran, waited = (now - then for now, then in zip(times(), since, strict=True))
        host = max(host, (ran + waited) / ran if ran > 0.0 else 1.0)
    return host * (1.0 + wanted / (os.cpu_count() or 1))
