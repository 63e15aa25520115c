"""Where the time of a ticket of a ladder goes, a part a line."""

from __future__ import annotations

import numpy as np

from results.limits.parting import least, show
from valmatch.config.loading import load
from valmatch.draws.addressed import exponential_at, uniform_at
from valmatch.draws.streams import Streams
from valmatch.execution.simulator import build, run
from valmatch.kernels.arrays import Floats, Records, Words
from valmatch.kernels.compilation import njit
from valmatch.models.ladder.event_heap import cancel, new_heap, schedule

CALLS, WAITING, TRIES = 1_000_000, 512, 5

LADDER = (
    *("population.players=20000", "population.newcomers_per_day=0"),
    *("days=10", "warmup_days=0"),
)


@njit
def draws(place: Words, calls: int) -> float:
    """Draw a uniform and an exponential number, so many times."""
    total = 0.0
    for k in range(calls):
        total += uniform_at(place, 3, k % 20000, k // 20000)
        total += exponential_at(place, 4, k % 20000, k // 20000)
    return total


@njit
def hold(heap: Records, waits: Floats, calls: int) -> int:
    """Take the next event of a full heap and put one in, so many times."""
    size = 0
    for k in range(heap.size - 1):
        size = schedule(waits[k], k, size, heap, None)
    for k in range(calls):
        now, player = heap[0]["time"], heap[0]["player"]
        size = cancel(0, size, heap, None)
        size = schedule(now + waits[k % waits.size], player, size, heap, None)
    return size


def measured() -> dict[str, float]:
    """Return the seconds of a ticket by part."""
    model = build(load("ladder-elo", LADDER))
    waits, place = np.random.default_rng(1).exponential(size=1 << 16), Streams(1).place(0)
    responses = run(model, 1, range(1)).responses[0]
    tickets = responses[[response.name for response in model.responses].index("n_tickets")]
    draws(place, 1)
    hold(new_heap(WAITING), waits, 1)
    ticket = least(lambda: run(model, 1, range(1)), TRIES) / tickets
    drawn = 1.4 * least(lambda: draws(place, CALLS), TRIES) / CALLS
    heaped = least(lambda: hold(new_heap(WAITING), waits, CALLS), TRIES) / CALLS
    return {
        "2.8 draws": drawn,
        "an event into a heap of 512, one out": heaped,
        "matching, rating, players, responses": ticket - drawn - heaped,
    }


if __name__ == "__main__":
    show(measured())
