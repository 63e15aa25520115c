"""Compiled functions of ratings agree to the last bit with their Python source."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from tests.ratings.test_glicko import random_period
from tests.ratings.test_trueskill_rating import margins, random_pairs
from tests.ratings.test_zonestats_rating import EVERY_PLAYER, RULES, Party, played
from valmatch.ratings import elo, glicko2, trueskill, trueskill_teams, zonestats

rng = np.random.default_rng(1)
LINE = np.linspace(-12, 12, 81).tolist()
GAMES = [(*i, *j, noise) for i, j, noise in random_pairs(100, seed=5)]
DRAWN = [(*game, margin) for game, margin in zip(GAMES, margins(100, seed=11), strict=True)]
FORMS = [(*game, printed) for game in GAMES for printed in (False, True)]
PERIODS = [random_period(rng) for _ in range(300)]
LEADS = [float(lead) for lead in rng.normal(0.0, 5.0, 300)]
TEAMS = [(lead, 40.0, 4, trueskill_teams.margin_quantile(p)) for lead in LEADS for p in (0.1, 0.5)]
MARGINS = [(float(margin), 180.0 * lead) for margin, lead in zip(range(30), LEADS, strict=False)]
MINUTES = rng.uniform(1, 40, (50, 4)).tolist()

CALLS: list[tuple[Any, Iterable[tuple[Any, ...]]]] = [
    (elo.margin_multiplier, [(*pair, 2200.0) for pair in MARGINS]),
    (elo.goals_multiplier, [pair[:1] for pair in MARGINS]),
    (glicko2.damping, [period[:1] for period in PERIODS]),
    (glicko2.expected_score, zip(LEADS, (phi for phi, *_ in PERIODS), strict=True)),
    (
        glicko2.result,
        [(x, p[0], s) for x, p in zip(LEADS, PERIODS, strict=True) for s in (0.0, 0.5, 1.0)],
    ),
    (
        glicko2.volatility_slope,
        [(x, p[0], 2.0 * math.log(p[1]), *p[2:]) for x, p in zip(LEADS, PERIODS, strict=True)],
    ),
    (glicko2.new_volatility, PERIODS),
    (glicko2.updated, PERIODS),
    (glicko2.grown, [(phi, sigma, 7.0) for phi, sigma, *_ in PERIODS]),
    (glicko2.updated_by_glicko, [(phi, *sums, 0.2) for phi, _, *sums, _ in PERIODS]),
    (trueskill.hazard_excess, [(abs(x),) for x in LINE]),
    (trueskill.normal_density, [(x,) for x in LINE]),
    (trueskill.normal_cdf, [(x,) for x in LINE]),
    (trueskill.v_and_w, [(x,) for x in LINE]),
    (trueskill.standardised, [(form[0], form[1], form[-1]) for form in FORMS]),
    (trueskill.update, FORMS),
    (trueskill.win_probability, FORMS),
    (trueskill.draw_quality, GAMES),
    (trueskill.draw_quality_normalised, GAMES),
    (trueskill.true_draw_probability, [game[::2] for game in GAMES]),
    (trueskill.draw_probability, DRAWN),
    (trueskill.update_drawn, DRAWN),
    (trueskill.v_and_w_draw, [(x, abs(y)) for x, y in itertools.pairwise(LEADS)]),
    (trueskill_teams.pulls, [(*x[:3], 4.0, x[3], drawn) for x in TEAMS for drawn in (False, True)]),
    (trueskill_teams.chances, [(*team[:3], 4.0, team[3]) for team in TEAMS]),
    (zonestats.score_per_hour, [times[:2] for times in MINUTES]),
    (zonestats.predicted_outcome, [(100.0 * a, 100.0 * b, 120.0) for a, b, *_ in MINUTES]),
    (zonestats.pairwise_result, [(3.0, 2.0, 0.3), (2.0, 3.0, 0.3), (2.0, 2.0, 0.3)]),
    (zonestats.time_together, MINUTES),
]


@pytest.mark.parametrize(("kernel", "arguments"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_kernels_agree_with_their_interpreted_twins(
    kernel: Callable[..., object], arguments: Iterable[tuple[Any, ...]]
) -> None:
    for values in arguments:
        assert kernel(*values) == vars(kernel)["py_func"](*values)


def test_games_of_zonestats_agree_with_their_interpreted_twins() -> None:
    for _ in range(20):
        n = int(rng.integers(2, 9))
        columns = (rng.integers(low, high, n).tolist() for low, high in ((0, 9), (1, 40), (0, 3)))
        party = Party(rng.normal(500, 200, n).tolist(), *columns)
        joins = rng.integers(0, 20, n).tolist()
        for rules, came in itertools.product((RULES, EVERY_PLAYER), (joins, ())):
            compiled, plain = played(party, came), played(party, came)
            assert zonestats.adjust(rules, compiled) == vars(zonestats.adjust)["py_func"](
                rules, plain
            )
            assert compiled.adjustments.tolist() == plain.adjustments.tolist()
