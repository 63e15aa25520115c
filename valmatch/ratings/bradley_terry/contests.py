"""All games of a log in flat arrays, who can be rated by them, and how likely they are.

Parameters are in log odds, in one vector: strengths of players, coefficients of features of sides
(being at home, covariates), ln nu; a side is as strong as the mean of its players.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from valmatch.kernels.arrays import Bools, Floats, Ints


class Levels(NamedTuple):
    """The levels of games: sides of equal points."""

    of_row: Ints  # (rows,) number of the level of each row, the worst of a game first
    games: Ints  # (levels,) game of each
    tied: Bools  # (levels,) whether several sides share it


@dataclass(frozen=True, eq=False)
class Contests:
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

    @cached_property
    def game_of_side(self) -> Ints:
        """The game of each side."""
        return np.repeat(np.arange(self.n_games), np.diff(self.game_starts))

    @cached_property
    def side_of_row(self) -> Ints:
        """The side of each row."""
        return np.repeat(np.arange(len(self.points)), np.diff(self.side_starts))

    @cached_property
    def levels(self) -> Levels:
        """The levels of all games."""
        values, ranks = np.unique(self.points, return_inverse=True)
        keys = self.game_of_side * len(values) + ranks.ravel()
        keys, of_side, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        return Levels(of_side.ravel()[self.side_of_row], keys // len(values), sizes > 1)

    def results(self) -> Ints:
        """Return games, wins, losses and draws of each player; a shared first place is a draw."""
        best = np.maximum.reduceat(self.points, self.game_starts[:-1])
        first = self.points == best[self.game_of_side]
        alone = np.bincount(self.game_of_side, first)[self.game_of_side] == 1
        kinds = (first >= 0, first & alone, ~first, first & ~alone)
        rows, n = self.side_of_row, self.n_players
        return np.array([np.bincount(self.players, kind[rows], n) for kind in kinds], np.int64)

    def meetings(self, games: Bools, order: Ints) -> tuple[Ints, Floats]:
        """Return pairs of some players, by their index, and in how many games they were rivals."""
        sides = self.side_of_row[games[self.game_of_side][self.side_of_row]]
        players = self.players[games[self.game_of_side][self.side_of_row]]
        in_games, on_sides = (
            sparse.csr_array((np.ones(len(players)), (players, kinds)), shape=(self.n_players, n))
            for kinds, n in ((self.game_of_side[sides], self.n_games), (sides, len(self.points)))
        )
        between = sparse.csr_array(in_games @ in_games.T - on_sides @ on_sides.T)
        met = sparse.coo_array(sparse.triu(between[order][:, order], 1))
        by_index = np.lexsort((met.col, met.row))
        return np.column_stack((met.row, met.col)).astype(np.int64)[by_index], met.data[by_index]


# Links of players by wins, which decide who can be rated (Ford 1957).

RATED, ABOVE, BELOW, UNLINKED = "rated", "above", "below", "unlinked"


def graph_of(
    contests: Contests, games: Bools, anchors: Ints, ties: bool = True
) -> sparse.csr_array:
    """Return the edges of wins of some games, (games,), each from row to column."""
    # An edge goes from each loser to each winner, both ways at a draw. Between the levels of a game
    # stands a node of its own, which all of the worse level point to and which points to all of the
    # better, so that edges are as many as rows. Nodes are the players, then the steps up from each
    # level, then the ties of each level, at last what links the anchors.
    levels, n = contests.levels, contests.n_players
    n_levels = len(levels.games)
    rows = np.flatnonzero(games[levels.games[levels.of_row]])
    players, level = contests.players[rows], levels.of_row[rows]
    first = np.append(True, levels.games[1:] != levels.games[:-1])
    higher, tied = ~first[level], levels.tied[level] & ties
    knot, hub = n + n_levels + level[tied], np.full(len(anchors), n + 2 * n_levels)
    tail = np.concatenate([players, n + level[higher] - 1, players[tied], knot, anchors, hub])
    head = np.concatenate([n + level, players[higher], knot, players[tied], hub, anchors])
    size = n + 2 * n_levels + 1
    return sparse.csr_array((np.ones(len(tail)), (tail, head)), shape=(size, size))


class Linked(NamedTuple):
    """Who can be rated, from which games."""

    rated: Bools  # (players,) whether each is
    games: Bools  # (games,) whether each is used
    statuses: list[str]  # of each player; "" of who did not play
    # (players,) number of the part of each that no game links to another, from 1 by size; 0 of who
    # did not play
    groups: Ints


def link(
    contests: Contests, weights: Floats, anchors: Ints, all_rated: bool, grouped: bool = True
) -> Linked:
    """Find who can be rated by games of some weights."""
    games, n_players = weights > 0.0, contests.n_players
    row_games = contests.game_of_side[contests.side_of_row]
    played = np.bincount(contests.players, games[row_games], n_players) > 0.0
    edges = graph_of(contests, games, anchors)

    def by_weight(labels: Ints, among: Bools) -> Ints:
        """Return the first player of each part: the largest, then the heaviest, then by name."""
        players = np.flatnonzero(among)
        _, first, part = np.unique(labels[players], return_index=True, return_inverse=True)
        part = part.ravel()
        sizes, numbers = np.bincount(part), np.full(len(labels), -1)
        shared = np.bincount(sizes)[sizes] > 1  # only parts of one size are told apart by weight
        numbers[players] = np.where(shared[part], part, -1)
        # The weight of the games that touch each part, a game once however many members.
        n, of_rows = len(sizes), numbers[contests.players]
        touched = np.unique((row_games * n + of_rows)[of_rows >= 0])
        heavy = np.bincount(touched % n, weights[touched // n], n)
        return players[first[np.lexsort((first, -heavy, -sizes))]]

    def largest(edges: sparse.csr_array, among: Bools) -> Bools:
        """Return the strong component with most players; with anchors the one that holds them."""
        labels = _components(edges, "strong")[:n_players]
        first = anchors[0] if len(anchors) else by_weight(labels, among)[0]
        members: Bools = (labels == labels[first]) & among
        return members

    groups = np.zeros(n_players, np.int64)
    if grouped:  # the parts that no game links
        labels = _components(edges, "weak")[:n_players]
        numbers, firsts = np.zeros(int(labels.max()) + 1, np.int64), by_weight(labels, played)
        numbers[labels[firsts]] = np.arange(1, len(firsts) + 1)
        groups = np.where(played, numbers[labels], 0)
    if all_rated:
        return Linked(played, games, [RATED if player else "" for player in played], groups)
    rated, used = largest(edges, played), games
    # With sides of several and orders, games that are left out may have held others together.
    while True:
        outside = np.bincount(row_games, ~rated[contests.players], contests.n_games)
        used = used & (outside == 0)
        if len(contests.players) == 2 * contests.n_games:
            break
        within = largest(graph_of(contests, used, anchors), rated)
        if (within == rated).all():
            break
        rated = within
    start, reached = int(np.flatnonzero(rated)[0]), []
    for ways in (edges, edges.T.tocsr()):
        order = csgraph.breadth_first_order(ways, start, return_predecessors=False)
        reached.append(np.isin(np.arange(n_players), order))
    kinds = [~played, rated, *reached]
    statuses = np.select(kinds, ["", RATED, ABOVE, BELOW], UNLINKED)
    return Linked(rated, used, list(map(str, statuses)), groups)


def _components(edges: sparse.csr_array, connection: str) -> Ints:
    _, labels = csgraph.connected_components(edges, directed=True, connection=connection)
    return np.asarray(labels)


def wins_lead_back(contests: Contests, games: Bools, anchors: Ints) -> bool:
    """Return whether wins alone lead from somebody back to them."""
    n, n_levels = contests.n_players, len(contests.levels.games)
    labels = _components(graph_of(contests, games, anchors, ties=False), "strong")
    return bool(np.isin(labels[n : n + n_levels], labels[:n]).any())


# How leads and strengths follow from the parameters.


class Orders(NamedTuple):
    """Games of one number of sides, more than two, each in the order of its sides."""

    games: Ints  # (n,) numbers of the games
    sides: Ints  # (n, k) their sides, the best first
    # (n, k, k) with which share of its weight each side stands for choice at each stage: 1 of who
    # is left, less for tied sides (Efron 1977), 0 of who has been chosen
    shares: Floats


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
    strengths: sparse.csr_array  # (sides, players + features) the strength of each side
    orders: list[Orders]  # the other games


MOST_CELLS = 1 << 22  # cells of an array that is worked on at once


def design_of(contests: Contests) -> Design:
    """Return how leads and strengths in some games follow from the parameters."""
    sizes, members = np.diff(contests.game_starts), np.diff(contests.side_starts)
    strengths = sparse.csr_array(
        (np.repeat(1.0 / members, members), contests.players, contests.side_starts),
        shape=(len(members), contests.n_players),
    )
    if contests.features.size:
        both = [strengths, sparse.csr_array(contests.features)]
        strengths = sparse.csr_array(sparse.hstack(both, format="csr"))
    games = np.flatnonzero(sizes == 2)
    first = contests.game_starts[games]
    scores = 0.5 * (1.0 + np.sign(contests.points[first] - contests.points[first + 1]))
    rows = chosen = np.arange(len(games))
    signs = np.ones(len(games))
    alone = members == 1
    if contests.features.shape[1] <= 1 and bool((alone[first] & alone[first + 1]).all()):
        # Of equal duels the player of the smaller number comes first.
        a, b = (contests.players[contests.side_starts[side]] for side in (first, first + 1))
        signs = np.where(a > b, -1.0, 1.0)
        edge = signs * (contests.features[first] - contests.features[first + 1]).sum(axis=1)
        values, codes = np.unique(edge, return_inverse=True)
        pairs = np.minimum(a, b) * contests.n_players + np.maximum(a, b)
        keys = pairs * max(1, len(values)) + codes.ravel()
        _, chosen, rows = np.unique(keys, return_index=True, return_inverse=True)
        scores = np.where(a > b, 1.0 - scores, scores)
    leads = strengths[first[chosen]] - strengths[first[chosen] + 1]
    leads = sparse.csr_array(sparse.diags_array(signs[chosen]) @ leads)
    orders = []
    for k in np.unique(sizes[sizes > 2]).tolist():
        alike = np.flatnonzero(sizes == k)
        parts = np.array_split(alike, -(-len(alike) * k * k // MOST_CELLS))
        orders += [_ordered(contests, part, k) for part in parts]
    return Design(contests, leads, games, rows.ravel(), scores, strengths, orders)


def _ordered(contests: Contests, games: Ints, k: int) -> Orders:
    """Return games of `k` sides, so few that working space does not matter."""
    sides = contests.game_starts[games, np.newaxis] + np.arange(k)
    order = np.argsort(-contests.points[sides], axis=1, kind="stable")
    sides = np.take_along_axis(sides, order, axis=1)
    points = contests.points[sides]
    tied = points[:, :, np.newaxis] == points[:, np.newaxis, :]
    # Stage s chooses one of the sides tied with the s-th, of whom s - (first of them) have gone.
    gone = (np.arange(k) - np.argmax(tied, axis=2)) / tied.sum(axis=2)
    left = points[:, np.newaxis, :] <= points[:, :, np.newaxis]
    return Orders(games, sides, left - tied * gone[:, :, np.newaxis])


# Sums of products in an order of their own: numpy's `@` of long vectors goes to several threads, so
# that the last digits depend on how many there are.


def dot(first: Floats, second: Floats) -> float:
    """Return the sum of the products of two vectors."""
    return float(np.add.reduce(first * second))


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
    counts = [np.bincount(design.duel_rows, of_games * kind, n) for kind in kinds]
    wins, draws, losses = np.asarray(counts, np.float64)
    return Tallies(wins, draws, losses, weights)


class Terms(NamedTuple):
    """The log likelihood at a point, and its derivatives by leads, strengths and ln nu."""

    value: float  # the log likelihood
    slopes: Floats  # (duels,) derivatives by the leads
    curvature: Floats  # (duels,) minus the second derivatives
    crossed: Floats  # (duels,) minus the derivatives by the leads and ln nu
    # draw_slope, draw_curvature: derivative by ln nu, and minus the second
    draw_slope: float
    draw_curvature: float
    # of each of the orders of a design by strengths of sides: (n, k), and minus the second
    orders: list[tuple[Floats, Floats]]


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
    terms = duel_terms(design.leads @ point, tallies, log_nu)
    for part in design.orders:
        weights, strengths = tallies.weights[part.games], (design.strengths @ point)[part.sides]
        value, slopes, curvature = _order_terms(part.shares, weights, strengths)
        terms.orders.append((slopes, curvature))
        terms = terms._replace(value=terms.value + value)
    return terms


def duel_terms(leads: Floats, tallies: Tallies, log_nu: float) -> Terms:
    """Return the likelihood of duels by their leads (Davidson 1970)."""
    p, q, r, log_stronger = duel_chances(leads, log_nu)
    wins, draws, losses, _ = tallies
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
        [],
    )


def _order_terms(
    shares: Floats, weights: Floats, strengths: Floats
) -> tuple[float, Floats, Floats]:
    """Return the likelihood of orders by the strengths of their sides (Plackett 1975)."""
    strengths = strengths - strengths.max(axis=1, keepdims=True)
    each = strengths[:, np.newaxis, :]
    # Each stage by itself, for those who are left may be far weaker than the first.
    tops = np.where(shares > 0.0, each, -np.inf).max(axis=2, keepdims=True)
    odds = shares * np.exp(np.minimum(each - tops, 0.0))
    sums = odds.sum(axis=2, keepdims=True)
    chances = odds / sums
    value = dot(weights, (strengths - (np.log(sums) + tops)[:, :, 0]).sum(axis=1))
    expected = chances.sum(axis=1)
    curvature = -np.einsum("gsi,gsj->gij", chances, chances)
    diagonal = np.arange(strengths.shape[1])
    curvature[:, diagonal, diagonal] += expected
    weight = weights[:, np.newaxis]
    return value, weight * (1.0 - expected), weight[:, :, np.newaxis] * curvature


def by_side(design: Design, terms: Terms) -> Floats:
    """Return the derivatives by the strengths of all sides of orders, 0 of duels."""
    gradient = np.zeros(design.strengths.shape[0])
    for part, (slopes, _) in zip(design.orders, terms.orders, strict=True):
        gradient[part.sides.ravel()] = slopes.ravel()
    return gradient


def information_of(design: Design, terms: Terms) -> sparse.csr_array:
    """Return minus the second derivatives by all parameters, ln nu at last."""
    leads, n = design.leads, design.strengths.shape[0]
    matrix = leads.T @ (sparse.diags_array(terms.curvature) @ leads)
    for part, (_, curvature) in zip(design.orders, terms.orders, strict=True):
        k = part.sides.shape[1]
        ends = np.repeat(part.sides, k, axis=1).ravel(), np.tile(part.sides, (1, k)).ravel()
        between = sparse.csr_array((curvature.ravel(), ends), shape=(n, n))
        matrix = matrix + design.strengths.T @ (between @ design.strengths)
    side = sparse.csr_array((leads.T @ terms.crossed)[:, np.newaxis])
    corner = sparse.csr_array([[terms.draw_curvature]])
    return sparse.csr_array(sparse.block_array([[matrix, side], [side.T, corner]], format="csr"))


def cluster_gradients(
    design: Design, tallies: Tallies, point: Floats, log_nu: float
) -> sparse.csr_array:
    """Return the (clusters, parameters) sums of the gradients of the games of each cluster."""
    clusters, rows, games = design.contests.clusters, design.duel_rows, design.duel_games
    weights, of, n = tallies.weights[games], clusters[games], int(clusters.max()) + 1
    p, q, r, _ = (chance[rows] for chance in duel_chances(design.leads @ point, log_nu))
    kinds = [design.duel_scores == 1.0, design.duel_scores == 0.5]
    slopes = np.select(kinds, [q + 0.5 * r, 0.5 * (q - p)], -(p + 0.5 * r))
    by_lead = sparse.csr_array((weights * slopes, (of, rows)), shape=(n, design.leads.shape[0]))
    gradients = by_lead @ design.leads
    if design.orders:
        slopes = by_side(design, terms_at(design, tallies, point, log_nu))
        ends = clusters[design.contests.game_of_side], np.arange(len(slopes))
        of_orders = sparse.csr_array((slopes, ends), shape=(n, len(slopes)))
        gradients = gradients + of_orders @ design.strengths
    by_draws = np.bincount(of, weights * np.where(kinds[1], p + q, -r), n)
    more = sparse.csr_array(by_draws[:, np.newaxis])
    return sparse.csr_array(sparse.hstack([gradients, more], format="csr"))
