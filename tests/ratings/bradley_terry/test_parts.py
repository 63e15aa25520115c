"""The inverse of the information by parts is the inverse of the whole of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from valmatch.ratings.bradley_terry.covariance import inverse_by_parts, moves_freely
from valmatch.ratings.bradley_terry.prior import Information


def information(prior: bool, border: bool, players: int = 150, features: int = 2) -> Information:
    """Return the information of a league in which most players have met few others."""
    rng = np.random.default_rng(1)
    active = rng.pareto(1.1, players) + 1.0
    first, second = rng.choice(players, (2, 900), p=active / active.sum())
    first = np.append(first[first != second], np.arange(players - 1))
    second = np.append(second[: len(first) - players + 1], np.arange(1, players))
    leads = np.zeros((len(first), players + features))
    leads[np.arange(len(first)), first] += 1.0
    leads[np.arange(len(first)), second] -= 1.0
    leads[:, players:] = rng.normal(size=(len(first), features))
    matrix = 0.2 * leads.T @ leads
    shift = np.append(np.ones(players), np.zeros(features))
    rank_one = np.zeros(len(shift))
    if prior:
        matrix += 0.01 * np.diag(shift)
        rank_one = np.sqrt(0.01 / players) * shift
    more = np.zeros(0)
    if border:
        more = np.append(0.01 * leads.T @ rng.normal(size=len(first)), 500.0)
    return Information(sparse.csr_array(matrix), rank_one, shift, more)


@pytest.mark.parametrize("prior", [True, False])
@pytest.mark.parametrize("border", [True, False])
def test_inverse_by_parts_is_the_inverse_with_the_mean_held(prior: bool, border: bool) -> None:
    found = information(prior, border)
    whole = found.dense()  # the mean is held by a weight
    want = np.linalg.inv(whole)
    own = np.flatnonzero(found.shift)
    want[np.ix_(own, own)] -= 1.0 / found.held_weight
    assert moves_freely(found)
    got = inverse_by_parts(found)
    assert got == pytest.approx(want, abs=1e-10 * np.abs(want).max())
    assert np.abs(found.shift @ got).max() < 1e-9 * np.abs(want).max() * len(own)


@pytest.mark.parametrize(
    ("games", "players"),
    [([(k, k + 1) for k in range(0, 80, 2)], 80), ([(0, k) for k in range(1, 60)], 60)],
    ids=["pairs", "star"],
)
def test_all_players_may_be_eliminated_in_turn(games: list[tuple[int, int]], players: int) -> None:
    """Then nothing is left to be inverted at once."""
    leads = np.zeros((len(games), players))
    for row, (first, second) in enumerate(games):
        leads[row, first], leads[row, second] = 1.0, -1.0
    matrix = 0.2 * leads.T @ leads + 0.01 * np.eye(players)
    rank_one = np.full(players, np.sqrt(0.01 / players))
    found = Information(sparse.csr_array(matrix), rank_one, np.ones(players), np.zeros(0))
    want = np.linalg.inv(matrix) - np.full((players, players), 1.0 / (0.01 * players))
    assert inverse_by_parts(found) == pytest.approx(want, abs=1e-10 * np.abs(want).max())


def test_a_prior_that_holds_somebody_moves_with_nobody() -> None:
    found = information(prior=False, border=False)
    held = found.sparse_part + sparse.diags_array(np.eye(1, found.size).ravel())
    holding = Information(sparse.csr_array(held), found.rank_one, found.shift, found.border)
    assert not moves_freely(holding)
