"""Pairs: as many as can be, then the least total, against all ways of pairing."""

from __future__ import annotations

import random

import numpy as np
import pytest

from valmatch.matching.living.pairing import pair

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


def test_one_pair_more_outweighs_any_points() -> None:
    scores: Scores = [[None] * 4 for _ in range(4)]
    for i, j, points in ((0, 1, 500.0), (1, 2, -9000.0), (2, 3, 500.0)):
        scores[i][j] = scores[j][i] = points
    assert choose(scores) == [1, 0, 3, 2]
