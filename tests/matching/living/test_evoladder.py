"""EvoLadderBot's waves against a plain twin and its published numbers."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

from results.published.rules import PUBLISHED, SCRIPT, snapshots
from results.study import half_widths
from tests.support.living_days import DAYS, HOUR, TIMEOUT, drawn, matches_of, played
from valmatch.draws.streams import uniform_at
from valmatch.matching.living.evoladder import Numbers
from valmatch.matching.living.queue import SOURCE, PresetInput

Match = tuple[float, list[list[int]]]


def by_plain_lists(numbers: Numbers, tickets: PresetInput, horizon: float) -> list[Match]:
    """Return the matches of tickets, by lists of players who wait."""
    until = np.minimum(tickets.cancels, tickets.times + TIMEOUT)
    ratings, waves, matches = tickets.parties.ratings, Counter[int](), list[Match]()
    draws = [uniform_at(tickets.rng_key, SOURCE, k, 0) for k in range(until.size)]
    shares = 0.0, numbers.first_only, numbers.first_only + numbers.second_only, 1.0
    done = set[int]()

    def gap(lead: int, other: int) -> float:
        off = float(abs(ratings[lead] - ratings[other]))
        waited = max(waves[lead], waves[other]) if numbers.either_reach else waves[lead]
        return off if off <= numbers.reach + numbers.reach_grows * waited else np.inf

    for wave in range(1, int(horizon / numbers.tick) + 1):
        now = wave * numbers.tick
        there = np.flatnonzero((tickets.times <= now) & (until > now)).tolist()
        here = [k for k in there if k not in done]
        waves.update(here)
        first, second, both = (
            [k for k in here if low <= draws[k] < high] for low, high in pairwise(shares)
        )
        while both:
            if len(first) < len(second):
                first.append(both.pop())
            else:
                second.append(both.pop(0))
        scores = []
        for a, b in product(*sorted((sorted(first), sorted(second)), key=len)):
            waited = sum(float(waves[k]) ** numbers.wait_power for k in (a, b))
            if gap(a, b) < np.inf:
                scores.append((gap(a, b) ** 2 - numbers.wait_bonus * waited, a, b))
        chosen: list[list[int]] = []
        for _, a, b in sorted(scores):
            if not done & {a, b}:
                chosen.append([a, b])
                done |= {a, b}
        for _, (left, right) in product(range(numbers.swap_passes), pairwise(chosen)):
            squares = gap(*left) ** 2 + gap(*right) ** 2
            if gap(left[0], right[1]) ** 2 + gap(right[0], left[1]) ** 2 < squares:
                left[1], right[1] = right[1], left[1]
        for pair in chosen:
            matches.append((now, [[k] for k in sorted(pair, key=lambda k: k not in first)]))
    return matches


@pytest.mark.slow
@pytest.mark.parametrize("name", ["evoladder", "evoladder_lead"])
def test_matches_are_those_of_plain_lists(name: str) -> None:
    day, hours = DAYS[name], 2.0
    tickets = drawn(day, hours, 1)
    expected = by_plain_lists(Numbers.model_validate(day.numbers), tickets, hours * HOUR)
    assert matches_of(played(day, tickets, hours)[0]) == expected
    assert len(expected) > 100


@pytest.mark.slow
@pytest.mark.parametrize("queued", PUBLISHED)
def test_gaps_and_matches_of_a_wave_are_the_published_ones(queued: int) -> None:
    runs = snapshots(SCRIPT, queued, runs=20, seed=11)
    for ours, theirs in zip(runs, PUBLISHED[queued], strict=True):
        assert abs(ours.mean() - theirs) < half_widths(6) * ours.std(ddof=1)
