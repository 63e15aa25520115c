"""Monte Carlo decides between the win probability (10) with its square root and as printed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from valmatch.ratings.trueskill import win_probability

GAMES = 4_000_000
PAIRS = [
    # mean_i, variance_i, mean_j, variance_j, noise_variance
    (1.0, 2.5, 0.0, 2.2, 2.5),
    (-2.0, 2.0, 1.0, 3.0, 2.5),
    (0.3, 0.1, 0.0, 0.05, 0.1),
]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("pair", PAIRS)
def test_simulated_games_confirm_the_corrected_form_alone(
    pair: tuple[float, float, float, float, float], seed: int
) -> None:
    mean_i, variance_i, mean_j, variance_j, noise = pair
    rng = np.random.default_rng(seed)
    skill_i = rng.normal(mean_i, math.sqrt(variance_i), GAMES)
    skill_j = rng.normal(mean_j, math.sqrt(variance_j), GAMES)
    wins = rng.normal(skill_i, math.sqrt(noise)) > rng.normal(skill_j, math.sqrt(noise))
    frequency = wins.mean()
    standard_error = math.sqrt(frequency * (1 - frequency) / GAMES)
    assert abs(frequency - win_probability(*pair)) <= 4 * standard_error
    assert abs(frequency - win_probability(*pair, as_printed=True)) > 20 * standard_error
