"""Where the time of a default day goes, a part a line."""

from __future__ import annotations

import time
from typing import Any

from results.limits.parting import TRIES, show
from valmatch.config.loading import load
from valmatch.draws.streams import Streams
from valmatch.execution.simulator import build, run

DAYS = 1000
"""Of one try."""

LARGE = 100
"""Times the players, where only their draws are timed."""


def measured() -> tuple[float, float, float]:
    """Return the least seconds of a day, of its players and matching, and of its players."""
    model: Any = build(load("valorant"))
    large: Any = build(load("valorant", (f"rate_multiplier={LARGE}",)))
    make, spent = model._make_days, 0.0

    def timed(*given: object) -> object:
        nonlocal spent
        start = time.process_time()
        found = make(*given)
        spent += time.process_time() - start
        return found

    run(model, 1, range(2))
    model._make_days = timed
    days, draws = [], []
    for k in range(TRIES):
        spent, start = 0.0, time.process_time()
        run(model, 1, range(k * DAYS, (k + 1) * DAYS))
        middle = time.process_time()
        for chunk in large._process.chunks(Streams(1), k):
            assert chunk.times.size
        days.append(((middle - start) / DAYS, spent / DAYS))
        draws.append((time.process_time() - middle) / LARGE)
    return (*min(days), min(draws))


if __name__ == "__main__":
    whole, made, drawn = measured()
    show(
        {
            "players drawn": drawn,
            "matching": made - drawn,
            "quantiles of waits, records of responses": whole - made,
        }
    )
