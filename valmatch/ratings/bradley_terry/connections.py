"""Links of players by wins, which decide who can be rated (Ford 1957)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.bradley_terry.contests import Contests

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
