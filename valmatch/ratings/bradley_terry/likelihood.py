"""The likelihood of all games, with its first and second derivatives.

Of two sides at a lead x in log odds one wins in proportion to e^(x/2), the other to e^(-x/2), and
neither to nu (Davidson 1970). Without nu a draw is half a win, which is a likelihood where there
are none. In an order each side is chosen among those left in proportion to e^strength (Plackett
1975), and tied sides leave by equal shares (Efron 1977).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from valmatch.kernels.arrays import Floats
from valmatch.ratings.bradley_terry.contests import Design, Orders

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
    """Chances of the first side, the second side and a draw in some duels.

    `log_stronger` is the logarithm of the chance of the stronger side.
    """

    first: Floats
    second: Floats
    drawn: Floats
    log_stronger: Floats


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
    """Return the likelihood of games at a point.

    Shapes: `point` (players + features,).
    """
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
    leads = design.leads
    if design.squares is not None:
        matrix = design.squares.matrix(terms.curvature)
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
        games = np.repeat(np.arange(design.contests.n_games), np.diff(design.contests.game_starts))
        sides = np.arange(len(games))
        cells = _by_side(design, terms), (clusters[games], sides)
        gradients = gradients + sparse.csr_array(cells, shape=(n, len(games))) @ design.strengths
    by_draws = np.bincount(of, of_games * (drawn * (p + q)[rows] - (won + lost) * r[rows]), n)
    more = sparse.csr_array(by_draws[:, np.newaxis])
    return sparse.csr_array(sparse.hstack([gradients, more], format="csr"))
