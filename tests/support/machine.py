"""How fast this machine is at the moment: others may have most of it."""

from __future__ import annotations

import os
import time

LOOP = 0.1
"""Seconds that the loop takes on an idle core, at the most."""


def slowness() -> float:
    """Return how many times as long as on an idle machine things take here, 1 or more."""
    wanted, _, _ = os.getloadavg()
    started = time.monotonic()
    total = 0
    for step in range(1_000_000):
        total += step
    host = max(1.0, (time.monotonic() - started) / LOOP)
    return host * (1.0 + wanted / (os.cpu_count() or 1))
