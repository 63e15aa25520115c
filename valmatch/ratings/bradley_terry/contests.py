"""All games of a log in flat arrays, and how the strengths of their sides follow from parameters.

Parameters are in log odds, in one vector: a strength for each player, a coefficient for each
feature of the sides (being at home, covariates), and at last the logarithm of the weight of draws.
A side is as strong as the mean of its players, and what its features add.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from valmatch.kernels.arrays import Bools, Floats, Ints


class Contests(NamedTuple):
    """Games with two sides or more."""

    n_players: int  # players are numbered below it
    game_starts: Ints  # (games + 1,) first side of each game
    side_starts: Ints  # (sides + 1,) first row of each side
    points: Floats  # (sides,) the greater wins, equal ones draw
    players: Ints  # (rows,) number of each row's player
    features: Floats  # (sides, features) what is known of each side besides its players
    weights: Floats  # (games,) as so many games each one counts, >= 0
    clusters: Ints  # (games,) number of the cluster of each game, from 0

    @property
    def n_games(self) -> int:
        """Number of games."""
        return len(self.weights)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.features.shape[1])


class Orders(NamedTuple):
    """Games of one number of sides, more than two, each in the order of its sides."""

    games: Ints  # (n,) numbers of the games
    sides: Ints  # (n, k) their sides, the best first
    # (n, k, k) with which share of its weight each side stands for choice at each stage: 1 of who
    # is left, less for tied sides (Efron), 0 of who has been chosen
    shares: Floats


class Squares(NamedTuple):
    """How the second derivatives by parameters follow from those by leads."""

    of_leads: sparse.csr_array  # (cells, duels) what each lead adds to each cell
    # starts, columns: the cells: those of a sparse matrix by rows
    starts: Ints
    columns: Ints

    def matrix(self, curvature: Floats) -> sparse.csr_array:
        """Return the second derivatives by parameters."""
        n = len(self.starts) - 1
        return sparse.csr_array(
            (self.of_leads @ curvature, self.columns, self.starts), shape=(n, n)
        )


class Design(NamedTuple):
    """How leads and strengths follow from the parameters."""

    contests: Contests  # the games
    # (duels, players + features) the lead of the first side over the second; equal duels of two
    # players are one
    leads: sparse.csr_array
    # duel_games, duel_rows: (two-sided games,) their numbers, and the row of `leads` of each
    duel_games: Ints
    duel_rows: Ints
    duel_scores: Floats  # (two-sided games,) 1, 0.5 or 0: the score of the first side of that row
    squares: Squares | None  # of the leads; None where there are too many cells
    strengths: sparse.csr_array  # (sides, players + features) the strength of each side
    orders: tuple[Orders, ...]  # the other games


def rows_of_sides(contests: Contests) -> Ints:
    """Return the side of each row."""
    sizes = np.diff(contests.side_starts)
    return np.repeat(np.arange(len(sizes)), sizes)


def games_of_sides(contests: Contests) -> Ints:
    """Return the game of each side."""
    sizes = np.diff(contests.game_starts)
    return np.repeat(np.arange(len(sizes)), sizes)


def design_of(contests: Contests) -> Design:
    """Return how leads and strengths in some games follow from the parameters."""
    sizes = np.diff(contests.game_starts)
    games = np.flatnonzero(sizes == 2)
    first = contests.game_starts[games]
    a, b = contests.points[first], contests.points[first + 1]
    scores = np.where(a == b, 0.5, 0.5 * (1.0 + np.sign(a - b)))
    strengths = _strengths(contests)
    alone = np.diff(contests.side_starts) == 1
    if contests.n_features <= 1 and bool(alone[first].all() and alone[first + 1].all()):
        leads, rows, turned = _merged(contests, first)
        scores = np.where(turned, 1.0 - scores, scores)
    else:
        leads, rows = strengths[first] - strengths[first + 1], np.arange(len(games))
    kinds = [int(k) for k in np.unique(sizes) if k > 2]
    orders = tuple(part for k in kinds for part in _orders(contests, np.flatnonzero(sizes == k), k))
    return Design(contests, leads, games, rows, scores, _squares(leads), strengths, orders)


_MOST_SQUARES = 20_000_000


def _squares(leads: sparse.csr_array) -> Squares | None:
    """Return how second derivatives follow; None where that would take too much memory."""
    sizes = np.diff(leads.indptr)
    total = int((sizes**2).sum())
    if total > _MOST_SQUARES:
        return None
    # Each cell of a row with each cell of the same row.
    row = np.repeat(np.arange(len(sizes)), sizes)
    first = np.repeat(np.arange(len(row)), sizes[row])
    ends = np.cumsum(sizes[row])
    second = np.arange(total) - np.repeat(ends - sizes[row], sizes[row]) + leads.indptr[row[first]]
    n = leads.shape[1]
    keys = leads.indices[first].astype(np.int64) * n + leads.indices[second]
    cells, places = np.unique(keys, return_inverse=True)
    values = leads.data[first] * leads.data[second]
    of_leads = sparse.csr_array(
        (values, (places.ravel(), row[first])), shape=(len(cells), len(sizes))
    )
    starts = np.searchsorted(cells, n * np.arange(n + 1))
    return Squares(of_leads, *(x.astype(leads.indices.dtype) for x in (starts, cells % n)))


def _strengths(contests: Contests) -> sparse.csr_array:
    """Return the strengths of all sides by the parameters."""
    sizes = np.diff(contests.side_starts)
    members = sparse.csr_array(
        (np.repeat(1.0 / sizes, sizes), contests.players, contests.side_starts),
        shape=(len(sizes), contests.n_players),
    )
    if not contests.n_features:
        return members
    return sparse.csr_array(
        sparse.hstack([members, sparse.csr_array(contests.features)], format="csr")
    )


def _merged(contests: Contests, first: Ints) -> tuple[sparse.csr_array, Ints, Bools]:
    """Return the distinct duels of single players, the row of each game, and who is turned round.

    In a row the player of the smaller number comes first.
    """
    a, b = (contests.players[contests.side_starts[side]] for side in (first, first + 1))
    turned = a > b
    low, high = np.minimum(a, b), np.maximum(a, b)
    edge = np.zeros(len(first))
    if contests.n_features:
        edge = contests.features[first, 0] - contests.features[first + 1, 0]
        edge = np.where(turned, -edge, edge)
    values, codes = np.unique(edge, return_inverse=True)
    key = (low * contests.n_players + high) * max(1, len(values)) + codes
    _, chosen, rows = np.unique(key, return_index=True, return_inverse=True)
    n, count = contests.n_players, len(chosen)
    places = np.column_stack([low[chosen], high[chosen]])
    cells = np.tile([1.0, -1.0], (count, 1))
    if contests.n_features:
        places = np.column_stack([places, np.full(count, n)])
        cells = np.column_stack([cells, edge[chosen]])
    starts = np.arange(count + 1) * places.shape[1]
    shape = (count, n + contests.n_features)
    leads = sparse.csr_array((cells.ravel(), places.ravel(), starts), shape=shape)
    return leads, rows.ravel(), turned


MOST_CELLS = 1 << 22  # cells of an array that is worked on at once


def _orders(contests: Contests, games: Ints, k: int) -> list[Orders]:
    """Return games of `k` sides, in parts of a size at which working space does not matter."""
    step = max(1, MOST_CELLS // (k * k))
    return [_ordered(contests, games[at : at + step], k) for at in range(0, len(games), step)]


def _ordered(contests: Contests, games: Ints, k: int) -> Orders:
    sides = contests.game_starts[games, np.newaxis] + np.arange(k)
    points = contests.points[sides]
    order = np.argsort(-points, axis=1, kind="stable")
    sides = np.take_along_axis(sides, order, axis=1)
    points = np.take_along_axis(points, order, axis=1)
    tied = points[:, :, np.newaxis] == points[:, np.newaxis, :]
    # Stage s chooses one of the sides tied with the s-th, of whom s - (first of them) have gone.
    begun = np.argmax(tied, axis=2)
    gone = (np.arange(k) - begun) / tied.sum(axis=2)
    left = points[:, np.newaxis, :] <= points[:, :, np.newaxis]
    shares = left - tied * gone[:, :, np.newaxis]
    return Orders(games, sides, shares)
