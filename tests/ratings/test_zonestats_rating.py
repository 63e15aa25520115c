"""The ZoneStats rule: its equations by hand, its invariants on any game."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valmatch.ratings import zonestats
from valmatch.ratings.zonestats import (
    RatedGame,
    Rules,
    adjust,
    cap_scale,
    predicted_outcome,
    score_per_hour,
    time_together,
)

RULES = Rules(120.0, 2.0, 20.0, False)
EVERY_PLAYER = RULES._replace(every_player=True)


class Party(NamedTuple):
    """One game: ratings, scores, minutes, sides."""

    ratings: Sequence[float]
    scores: Sequence[float]
    minutes: Sequence[float]
    sides: Sequence[int]


def played(party: Party, joins: Sequence[float] = ()) -> RatedGame:
    rates = [score_per_hour(s, m) for s, m in zip(party.scores, party.minutes, strict=True)]
    columns = [np.array(column, float) for column in (party.ratings, rates, party.minutes, joins)]
    return RatedGame(*[*columns, np.array(party.sides), *np.empty((2, len(rates)))])


def adjustments(party: Party, rules: Rules = RULES, joins: Sequence[float] = ()) -> list[float]:
    game = played(party, joins)
    assert 0.0 <= adjust(rules, game) <= 1.0
    return list(map(float, game.adjustments))


def offsets(party: Party) -> list[float]:
    game = played(party)
    adjust(RULES, game)
    return list(map(float, game.offsets))


def test_constants_are_those_of_the_source() -> None:
    constants = (zonestats.T, zonestats.GAME_MULT, zonestats.MAX_GAME_LENGTH)
    assert (*constants, zonestats.INITIAL_RATING) == (120.0, 2.0, 20.0, 500.0)


def test_equation_1_predicted_outcome() -> None:
    assert predicted_outcome(500.0, 500.0, 120.0) == 0.5
    # 120 points ahead: 1 / (1 + e^-1) = 0.7310585786
    assert predicted_outcome(620.0, 500.0, 120.0) == pytest.approx(0.7310585786300049, rel=1e-15)
    assert predicted_outcome(500.0, 620.0, 120.0) == pytest.approx(0.2689414213699951, rel=1e-15)
    # T ln 3 = 131.83 points ahead: three wins in four
    lead = 120.0 * math.log(3.0)
    assert predicted_outcome(500.0 + lead, 500.0, 120.0) == pytest.approx(0.75, rel=1e-14)
    assert predicted_outcome(0.0, 1e6, 120.0) == 0.0  # no overflow
    assert predicted_outcome(1e6, 0.0, 120.0) == 1.0


def test_time_together_is_that_of_every_minute_in_which_both_are_there() -> None:
    rng = np.random.default_rng(4)
    for a, m, b, k in rng.integers(0, 12, (300, 4)).tolist():
        both = len({*range(a, a + m)} & {*range(b, b + k)})
        assert time_together(float(a), float(m), float(b), float(k)) == both <= min(m, k)


@pytest.mark.parametrize(
    ("offsets", "minutes", "scale"),
    [
        ([1.0, -1.0], [10.0, 10.0], 1.0),  # never scaled up
        ([0.0, 0.0], [10.0, 10.0], 1.0),
        # 40 minutes in the game allow 80 points, although contests count 20 minutes at most.
        ([160.0, -80.0, -80.0], [40.0, 1.0, 1.0], 0.5),
        # Of equally far players the shortest time counts; equal but for rounding is equal.
        ([40.0, -40.0], [30.0, 10.0], 0.5),
        ([-40.0, 40.0], [10.0, 30.0], 0.5),
        ([40.0, -np.nextafter(40.0, 0.0)], [30.0, 10.0], 0.5),
        ([40.0, -39.9], [30.0, 10.0], 1.0),
    ],
)
def test_cap_by_hand(offsets: list[float], minutes: list[float], scale: float) -> None:
    assert cap_scale(RULES, np.array(offsets), np.array(minutes)) == scale


def most_per_minute(party: Party, rules: Rules) -> float:
    changes = adjustments(party, rules)
    return max(abs(x) / m for x, m in zip(changes, party.minutes, strict=True))


# Of five equal players who stay 20 minutes one beats the others: 4 * .5 * 2 * 20 = 80 points, of
# which equation 5 allows them 40. A sixth, there for 2 minutes, beats all five: 5 * .5 * 2 * 2 = 10
# points in 2 minutes.
VISIT = Party([500] * 6, [50, 4, 4, 4, 4, 9], [20, 20, 20, 20, 20, 2], list(range(6)))
# In an hour one of fifty beats the others: 49 * .5 * 2 * 20 = 980 points.
HOUR = Party([500] * 50, [9] + [4] * 49, [60] * 50, list(range(50)))


def test_equation_5_lets_others_than_the_most_distant_exceed_two_points_a_minute() -> None:
    """Step 7: "if any of the player's gained/lost more than 2 rating points per minute"."""
    visit = VISIT._replace(scores=[10.0, 4, 4, 4, 4, 9])
    assert offsets(visit) == [78.0, -22.0, -22.0, -22.0, -22.0, 10.0]
    assert adjustments(visit)[-1] == pytest.approx(10 * 40 / 78)  # 2.56 points in each minute
    assert most_per_minute(visit, RULES) > 2
    # Without anyone beyond 2 points a minute who is most distant, nothing is scaled at all.
    short = Party([500] * 7, [1, 2, 2, 2, 2, 2, 60], [40] + [20] * 5 + [2], list(range(7)))
    assert most_per_minute(short, RULES) > 2


def test_every_player_stays_within_two_points_a_minute_of_his_own() -> None:
    for party in (VISIT._replace(scores=[10.0, 4, 4, 4, 4, 9]), HOUR):
        assert most_per_minute(party, EVERY_PLAYER) <= 2 * (1 + 1e-15)


@st.composite
def parties(draw: st.DrawFn) -> Party:
    n = draw(st.integers(2, 12))
    finite = {"allow_nan": False, "allow_infinity": False}
    ratings = st.floats(-3000, 5000, **finite)  # type: ignore[arg-type]
    scores = st.integers(-5, 30).map(float)
    minutes = st.sampled_from([0.5, 1.0, 7.0, 20.0, 45.0])
    teams = draw(st.booleans())
    sides = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) if teams else list(range(n))
    columns = [draw(st.lists(s, min_size=n, max_size=n)) for s in (ratings, scores, minutes)]
    return Party(columns[0], columns[1], columns[2], sides)


@pytest.mark.slow
@given(parties())
@settings(max_examples=300)
def test_every_game_sums_to_zero(party: Party) -> None:
    result = adjustments(party)
    assert abs(math.fsum(result)) <= 1e-12 * max(1.0, sum(map(abs, result)))


@pytest.mark.slow
@given(parties())
@settings(max_examples=300)
def test_nobody_moves_more_than_two_points_a_minute_of_the_farthest(party: Party) -> None:
    before, after = offsets(party), adjustments(party)
    highest = max(map(abs, before))
    allowed = [2.0 * m for o, m in zip(before, party.minutes, strict=True) if abs(o) == highest]
    assert max(map(abs, after)) <= min(allowed) * (1 + 1e-12)
    # All shrink alike, and none grows.
    scale = max(map(abs, after)) / highest if highest else 1.0
    assert scale <= 1.0
    assert after == pytest.approx([scale * offset for offset in before], rel=1e-12, abs=1e-12)


@pytest.mark.slow
@given(parties())
@settings(max_examples=300)
def test_every_player_gains_no_more_than_his_limit_and_what_others_lose(party: Party) -> None:
    before, after = offsets(party), adjustments(party, EVERY_PLAYER)
    assert abs(math.fsum(after)) <= 1e-12 * max(1.0, sum(map(abs, after)))
    limits = [2.0 * min(20.0, minutes) for minutes in party.minutes]
    shares = [abs(x) / limit for x, limit in zip(after, limits, strict=True)]
    assert max(shares) <= 1 + 1e-12
    # All shrink alike, and no more than the one who is farthest beyond their limit has to.
    needed = max(abs(x) / limit for x, limit in zip(before, limits, strict=True))
    assert after == pytest.approx([x / max(1.0, needed) for x in before], rel=1e-12, abs=1e-12)


@pytest.mark.slow
@given(parties())
@settings(max_examples=100)
def test_unit_of_ratings_is_free(party: Party) -> None:
    """Ratings, T and GAME_MULT times 4 are the same game, exactly, 4 being a power of 2."""
    scaled = party._replace(ratings=[4.0 * rating for rating in party.ratings])
    larger = adjustments(scaled, Rules(480.0, 8.0, 20.0, False))
    assert larger == [4.0 * value for value in adjustments(party)]
