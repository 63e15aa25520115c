"""The queue of living matchmakers: compiled as in plain Python, and as the queues of the cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.interpreted import interpreted
from tests.support.living_days import DAYS, HOUR, TIMEOUT, digests, drawn, matches_of, played
from tests.support.matchmaker_case import LichessPool, OsuQueue
from valmatch.draws.streams import uniform_at
from valmatch.matching.living.lichess import THOUSANDTHS
from valmatch.matching.living.queue import SOURCE, PresetInput
from valmatch.matching.living.registry import numbers_of

Found = list[tuple[float, list[list[int]]]]


@pytest.mark.slow
def test_compiled_queues_give_what_they_give_in_plain_python() -> None:
    expected = interpreted("tests.support.living_days", "digests", 120)
    assert repr(digests(120)) == expected
    assert len(set(digests(120))) == len(DAYS)


def spans_of(tickets: PresetInput) -> list[tuple[float, float]]:
    """Return when tickets join, and until when they wait at most."""
    until = np.minimum(tickets.cancels, tickets.times + TIMEOUT)
    return list(zip(tickets.times.tolist(), until.tolist(), strict=True))


def by_osu(numbers: Any, tickets: PresetInput, horizon: float) -> Found:  # noqa: ANN401
    """Let users join and leave; of a user who waits the ticket does not count."""
    ratings = np.zeros(tickets.users.max() + 1)
    ratings[tickets.users] = tickets.parties.ratings
    queue = OsuQueue(ratings.tolist(), numbers)
    queue.rng_key = tickets.rng_key
    events = [(time, 0, k) for k, (time, _) in enumerate(spans_of(tickets))]
    events += [(end, 1, k) for k, (_, end) in enumerate(spans_of(tickets)) if end <= horizon]
    events += [(numbers.tick * k, 2, 0) for k in range(1, int(horizon / numbers.tick) + 1)]
    found: Found = []
    for time, kind, k in sorted(events):
        user = int(tickets.users[k])
        if kind == 0 and user not in queue.present:
            queue.ids[user] = k
            queue.take("join", time, user)
        elif kind == 1 and queue.ids[user] == k:
            queue.take("leave", time, user)
        elif kind == 2:
            before = len(queue.matches)
            queue.take("tick", time)
            for _, members in queue.matches[before:]:
                found.append((time, [[queue.ids[one]] for one in members]))
    return found


def by_lichess(numbers: Any, tickets: PresetInput, horizon: float) -> Found:  # noqa: ANN401
    """Let the pool of the cases play."""
    parties = tickets.parties
    members = [
        {
            "time": time,
            "cancel": end,
            "user": str(tickets.users[k]),
            "rating": float(parties.ratings[k]),
            "range": [int(parties.low[k]), int(parties.high[k])] if parties.ranged[k] else None,
            "provisional": bool(parties.unrated[k]),
        }
        for k, (time, end) in enumerate(spans_of(tickets))
    ]
    pool = LichessPool(members, numbers)

    def jitter(wave: int) -> float:
        drawn = np.floor(THOUSANDTHS * uniform_at(tickets.rng_key, SOURCE, 0, wave))
        return float(numbers.wave_jitter * drawn / THOUSANDTHS)

    pool.jitter = jitter
    pool.play(horizon)
    return [(time, [[first], [second]]) for time, (first, second) in pool.matches]


@pytest.mark.slow
@pytest.mark.parametrize("crowded", [False, True])
@pytest.mark.parametrize("name", ["osu", "osu_lobby", "lichess"])
def test_matches_are_those_of_the_queues_of_the_cases(name: str, crowded: bool) -> None:
    day, hours = DAYS[name], 0.5
    numbers = numbers_of(day.preset).model_validate(day.numbers)
    tickets = drawn(day, hours, 1, crowded)
    expected = (by_osu if day.preset == "osu" else by_lichess)(numbers, tickets, hours * HOUR)
    assert sorted(matches_of(played(day, tickets, hours)[0])) == sorted(expected)
    assert len(expected) > (0 if crowded else 10)
