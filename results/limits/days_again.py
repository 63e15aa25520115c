"""What matching a player takes where few days are matched again and again, by their number."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from results.limits.parting import least_in_turn, show
from valmatch.config.loading import load
from valmatch.draws.streams import Streams
from valmatch.execution.simulator import build
from valmatch.matching.queue_statistics import clear

DAYS = 400
"""That are matched, different ones or some of them again."""

DIFFERENT = (DAYS, 16, 4, 1)


def measured() -> dict[str, float]:
    """Return the least seconds a player by the number of days that differ."""
    model: Any = build(load("valorant"))
    chunks = [list(model.draw(Streams(1), k)) for k in range(DAYS)]
    days = [
        [np.concatenate([getattr(chunk, name) for chunk in day]) for name in ("times", "ratings")]
        for day in chunks
    ]
    room = max(times.size for times, _ in days)
    counts = model._counts._replace(waits=np.empty(room), log=model._no_log)
    rules, queue = model._rules, model._rule.new(room, model._rules)

    def match(different: int) -> int:
        players = 0
        for k in range(DAYS):
            times, ratings = days[k % different]
            model._rule.reset(queue)
            clear(counts.statistics)
            players += model._run(times, ratings, 0, True, rules, queue, counts)
        return players

    players = {different: match(different) for different in DIFFERENT}  # compiles, too
    took = least_in_turn({str(different): partial(match, different) for different in DIFFERENT})
    return {different: own / players[int(different)] for different, own in took.items()}


if __name__ == "__main__":
    show(measured())
