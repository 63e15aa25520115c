"""Queues and pairs: compiled as in plain Python, as the cases play them, the best of all pairs."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.support.command import interpreted
from tests.support.living_days import DAYS, HOUR, TIMEOUT, digests, drawn, matches_of, played
from tests.support.matchmaker_case import LichessPool, OsuQueue
from valmatch.draws.streams import uniform_at
from valmatch.matching.living.lichess import THOUSANDTHS
from valmatch.matching.living.pairing import pair
from valmatch.matching.living.queue import SOURCE, PresetInput
from valmatch.matching.living.registry import numbers_of

Scores = list[list[float | None]]


def choose(scores: Scores) -> list[int]:
    """Return whose partner each is, -1 for none; None stands for a pair that is not allowed."""
    count = len(scores)
    return [int(one) for one in pair(np.array(scores, np.float64).reshape(count, count))]


def best(scores: Scores) -> tuple[int, float]:
    """Return the most pairs and their least total, looking at all sets of who is left."""
    count = len(scores)
    known: dict[int, tuple[int, float]] = {0: (0, 0.0)}

    def of(left: int) -> tuple[int, float]:
        if left not in known:
            first = (left & -left).bit_length() - 1
            rest = left & ~(1 << first)
            found = of(rest)
            for other in range(first + 1, count):
                score = scores[first][other]
                if rest >> other & 1 and score is not None:
                    pairs, total = of(rest & ~(1 << other))
                    found = min(found, (pairs - 1, total + score))
            known[left] = found
        return known[left]

    pairs, total = of((1 << count) - 1)
    return -pairs, total


def world(rng: random.Random, count: int) -> Scores:
    share, spread = rng.choice([0.2, 0.5, 0.8, 1.0]), rng.choice([2, 20, 400])
    scores: Scores = [[None] * count for _ in range(count)]
    for i in range(count):
        for j in range(i):
            if rng.random() < share:
                scores[i][j] = scores[j][i] = float(rng.randint(-spread, spread))
    return scores


def total(scores: Scores, partners: list[int]) -> tuple[int, float]:
    """Return pairs and total of partners, who are each other's and allowed."""
    found = 0.0
    for one, other in enumerate(partners):
        if other >= 0:
            assert partners[other] == one
            score = scores[one][other]
            assert score is not None
            found += score if other > one else 0.0
    return sum(other >= 0 for other in partners) // 2, found


@pytest.mark.slow
def test_most_pairs_then_least_total_in_random_worlds() -> None:
    rng = random.Random(5)
    for _ in range(1000):
        scores = world(rng, rng.randint(0, 11))
        assert total(scores, choose(scores)) == best(scores)


@pytest.mark.slow
def test_also_with_many_blossoms() -> None:
    rng = random.Random(6)
    for _ in range(60):
        scores = world(rng, 16)
        assert total(scores, choose(scores)) == best(scores)


Found = list[tuple[float, list[list[int]]]]


@pytest.mark.slow
def test_compiled_queues_give_what_they_give_in_plain_python() -> None:
    expected = interpreted("tests.support.living_days", "digests", 60)
    assert repr(digests(60)) == expected
    assert len(set(digests(60))) == len(DAYS)


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
