"""All games of a log in flat arrays, and their likelihood with its first and second derivatives.

Parameters are in log odds, in one vector: a strength for each player, a coefficient for each
feature of the sides (being at home, covariates), and at last the logarithm of the weight of draws.
A side is as strong as the mean of its players, and what its features add.

Of two sides at a lead x in log odds one wins in proportion to e^(x/2), the other to e^(-x/2), and
neither to nu (Davidson 1970). Without nu a draw is half a win, which is a likelihood where there
are none. In an order each side is chosen among those left in proportion to e^strength (Plackett
1975), and tied sides leave by equal shares (Efron 1977).
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


def results_of(contests: Contests) -> Ints:
    """Return games, wins, losses and draws of each player; a shared first place is a draw."""
    best = np.maximum.reduceat(contests.points, contests.game_starts[:-1])
    of_side = games_of_sides(contests)
    first = contests.points == best[of_side]
    alone = np.bincount(of_side, first)[of_side] == 1
    rows, n = rows_of_sides(contests), contests.n_players
    kinds = (first >= 0, first & alone, ~first, first & ~alone)
    return np.array([np.bincount(contests.players, kind[rows], n) for kind in kinds], np.int64)


def meetings(contests: Contests, games: Bools, order: Ints) -> tuple[Ints, Floats]:
    """Return pairs of some players, by their places, and in how many games they were opponents."""
    # Shapes: `games` (games,), which count; `order` (players,).
    used = games[games_of_sides(contests)][rows_of_sides(contests)]
    players, sides = contests.players[used], rows_of_sides(contests)[used]
    n, ones = contests.n_players, np.ones(len(players))
    of_rows = games_of_sides(contests)[sides]
    in_games = sparse.csr_array((ones, (players, of_rows)), shape=(n, contests.n_games))
    on_sides = sparse.csr_array((ones, (players, sides)), shape=(n, len(contests.points)))
    between = sparse.csr_array(in_games @ in_games.T - on_sides @ on_sides.T)
    met = sparse.coo_array(sparse.triu(between[order][:, order], 1))
    by_place = np.lexsort((met.col, met.row))
    return np.column_stack((met.row, met.col)).astype(np.int64)[by_place], met.data[by_place]


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
    """Return the distinct duels of single players, the row of each game, and if it is turned."""
    # In a row the player of the smaller number comes first.
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


# Sums of products in an order of their own.
#
# Numpy's `@` of long vectors goes to several threads: the last digits then depend on how many there
# are, and on a machine that others use the threads wait longer for each other than they work.


def dot(first: Floats, second: Floats) -> float:
    """Return the sum of the products of two vectors."""
    return float(np.add.reduce(first * second))


def dots(vector: Floats, columns: Floats) -> Floats:
    """Return the sums of the products of a vector with another one, or with each column."""
    products = vector * columns if columns.ndim == 1 else vector[:, np.newaxis] * columns
    return np.asarray(np.add.reduce(products, axis=0))


class Tallies(NamedTuple):
    """How often the duels of a design ended in which way, and what its orders weigh."""

    # wins, draws, losses: weights of the games of each row of the leads, seen from the first side
    wins: Floats
    draws: Floats
    losses: Floats
    weights: Floats  # (games,) weight of each game


def tallies_of(design: Design, weights: Floats) -> Tallies:
    """Return the tallies of games of some weights."""
    n, of_games = design.leads.shape[0], weights[design.duel_games]
    kinds = (design.duel_scores == score for score in (1.0, 0.5, 0.0))
    counted = [np.bincount(design.duel_rows, of_games * kind, n) for kind in kinds]
    wins, draws, losses = np.asarray(counted, np.float64)
    return Tallies(wins, draws, losses, weights)


class OrderTerms(NamedTuple):
    """Derivatives by the strengths of the sides of `Orders`: (n, k), and minus the second."""

    gradient: Floats
    curvature: Floats


class Terms(NamedTuple):
    """The log likelihood at a point, and its derivatives by leads, strengths and ln nu."""

    value: float  # the log likelihood
    slopes: Floats  # (duels,) derivatives by the leads
    curvature: Floats  # (duels,) minus the second derivatives
    crossed: Floats  # (duels,) minus the derivatives by the leads and ln nu
    # draw_slope, draw_curvature: derivative by ln nu, and minus the second
    draw_slope: float
    draw_curvature: float
    orders: tuple[OrderTerms, ...]  # of the orders of the design


class DuelChances(NamedTuple):
    """Chances of the first side, the second side and a draw in some duels."""

    first: Floats
    second: Floats
    drawn: Floats
    log_stronger: Floats  # the logarithm of the chance of the stronger side


def duel_chances(leads: Floats, log_nu: float) -> DuelChances:
    """Return how duels at some leads end; `log_nu` is -inf where there are no draws."""
    half = 0.5 * np.abs(leads)
    root = np.exp(-half)  # all is in units of the stronger side, so that nothing overflows
    weaker, drawn = root * root, np.exp(log_nu) * root
    others = weaker + drawn
    stronger = 1.0 / (1.0 + others)
    weaker *= stronger
    drawn *= stronger
    ahead = leads >= 0.0
    first, second = np.where(ahead, stronger, weaker), np.where(ahead, weaker, stronger)
    return DuelChances(first, second, drawn, -np.log1p(others))


def terms_at(design: Design, tallies: Tallies, point: Floats, log_nu: float) -> Terms:
    """Return the likelihood of games at a point, (players + features,)."""
    duels = _duel_terms(design.leads @ point, tallies, log_nu)
    value, orders = duels.value, []
    if design.orders:
        strengths = design.strengths @ point
        for part in design.orders:
            likelihood, terms = _order_terms(part, tallies.weights[part.games], strengths)
            value += likelihood
            orders.append(terms)
    return duels._replace(value=value, orders=tuple(orders))


def _duel_terms(leads: Floats, tallies: Tallies, log_nu: float) -> Terms:
    """Return what the duels add to the likelihood, by the leads of all rows."""
    p, q, r, log_stronger = duel_chances(leads, log_nu)
    wins, draws, losses = tallies.wins, tallies.draws, tallies.losses
    total = wins + draws + losses
    # Each in one piece: where leads and weights are large, nothing cancels.
    value = dot(wins, np.minimum(leads, 0.0) + log_stronger)
    value += dot(losses, log_stronger - np.maximum(leads, 0.0))
    value += dot(draws, log_stronger - 0.5 * np.abs(leads))
    if log_nu > -np.inf:
        value += float(draws.sum()) * log_nu
    # Sums of what is left to the score, which keep their digits where a chance is almost 1.
    slopes = wins * (q + 0.5 * r) - losses * (p + 0.5 * r) + 0.5 * draws * (q - p)
    return Terms(
        value,
        slopes,
        0.25 * total * ((p + q) * r + 4.0 * p * q),
        -0.5 * total * r * (p - q),
        dot(draws, p + q) - dot(wins + losses, r),
        dot(total, r * (p + q)),
        (),
    )


def _order_terms(part: Orders, weights: Floats, strengths: Floats) -> tuple[float, OrderTerms]:
    """Return the log likelihood of orders of one length, and its derivatives by their sides."""
    of_sides = strengths[part.sides]
    of_sides = of_sides - of_sides.max(axis=1, keepdims=True)
    # Each stage by itself, for those who are left may be far weaker than the first.
    tops = np.where(part.shares > 0.0, of_sides[:, np.newaxis, :], -np.inf).max(
        axis=2, keepdims=True
    )
    odds = part.shares * np.exp(np.minimum(of_sides[:, np.newaxis, :] - tops, 0.0))
    sums = odds.sum(axis=2, keepdims=True)
    chances = odds / sums
    value = dot(weights, (of_sides - (np.log(sums) + tops)[:, :, 0]).sum(axis=1))
    expected = chances.sum(axis=1)
    curvature = -np.einsum("gsi,gsj->gij", chances, chances)
    places = np.arange(of_sides.shape[1])
    curvature[:, places, places] += expected
    weight = weights[:, np.newaxis]
    return value, OrderTerms(weight * (1.0 - expected), weight[:, :, np.newaxis] * curvature)


def gradient_of(design: Design, terms: Terms) -> Floats:
    """Return the derivatives by all parameters, ln nu at last."""
    by_point = design.leads.T @ terms.slopes
    if design.orders:
        by_point = by_point + design.strengths.T @ _by_side(design, terms)
    return np.append(by_point, terms.draw_slope)


def _by_side(design: Design, terms: Terms) -> Floats:
    gradient = np.zeros(design.strengths.shape[0])
    for part, of_part in zip(design.orders, terms.orders, strict=True):
        gradient[part.sides.ravel()] = of_part.gradient.ravel()
    return gradient


def information_of(design: Design, terms: Terms) -> sparse.csr_array:
    """Return minus the second derivatives by all parameters, ln nu at last."""
    leads, squares = design.leads, design.squares
    if squares is not None:
        cells = squares.of_leads @ terms.curvature, squares.columns, squares.starts
        matrix = sparse.csr_array(cells, shape=(leads.shape[1], leads.shape[1]))
    else:
        matrix = leads.T @ (sparse.diags_array(terms.curvature) @ leads)
    if design.orders:
        sizes = [part.sides.shape[1] for part in design.orders]
        blocks = np.concatenate([of_part.curvature.ravel() for of_part in terms.orders])
        pairs = [*zip(design.orders, sizes, strict=True)]
        rows = np.concatenate([np.repeat(part.sides, k, axis=1).ravel() for part, k in pairs])
        columns = np.concatenate([np.tile(part.sides, (1, k)).ravel() for part, k in pairs])
        n = design.strengths.shape[0]
        by_side = sparse.csr_array((blocks, (rows, columns)), shape=(n, n))
        matrix = matrix + design.strengths.T @ (by_side @ design.strengths)
    side = sparse.csr_array((leads.T @ terms.crossed)[:, np.newaxis])
    corner = sparse.csr_array([[terms.draw_curvature]])
    return sparse.csr_array(sparse.block_array([[matrix, side], [side.T, corner]], format="csr"))


def cluster_gradients(
    design: Design, tallies: Tallies, point: Floats, log_nu: float
) -> sparse.csr_array:
    """Return the (clusters, parameters) sums of the gradients of the games of each cluster."""
    clusters, weights = design.contests.clusters, tallies.weights
    n = int(clusters.max()) + 1
    rows, of_games = design.duel_rows, weights[design.duel_games]
    p, q, r, _ = duel_chances(design.leads @ point, log_nu)
    won, drawn, lost = (design.duel_scores == score for score in (1.0, 0.5, 0.0))
    slopes = won * (q + 0.5 * r)[rows] - lost * (p + 0.5 * r)[rows] + drawn * (0.5 * (q - p))[rows]
    of = clusters[design.duel_games]
    by_lead = sparse.csr_array((of_games * slopes, (of, rows)), shape=(n, len(r)))
    gradients = by_lead @ design.leads
    if design.orders:
        terms = terms_at(design, tallies, point, log_nu)
        games = games_of_sides(design.contests)
        cells = _by_side(design, terms), (clusters[games], np.arange(len(games)))
        gradients = gradients + sparse.csr_array(cells, shape=(n, len(games))) @ design.strengths
    by_draws = np.bincount(of, of_games * (drawn * (p + q)[rows] - (won + lost) * r[rows]), n)
    more = sparse.csr_array(by_draws[:, np.newaxis])
    return sparse.csr_array(sparse.hstack([gradients, more], format="csr"))
