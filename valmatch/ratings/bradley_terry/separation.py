"""Separation: games that leave the weight of draws without an estimate (Albert, Anderson 1984).

They do if some direction raises it and makes no game less likely: leads x and ln nu move so that
x/2 >= ln nu at every win and abs(x)/2 <= ln nu at every draw, and in no order does a side gain on
one before it. A linear program finds such a direction or shows that there is none.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from valmatch.kernels.arrays import Bools, Ints
from valmatch.ratings.bradley_terry.connections import Levels, wins_lead_back
from valmatch.ratings.bradley_terry.contests import Design
from valmatch.ratings.bradley_terry.likelihood import Tallies


def draws_are_separated(
    design: Design, levels: Levels, tallies: Tallies, games: Bools, anchors: Ints
) -> bool:
    """Return whether the weight of draws runs off to infinity or to 0."""
    if not tallies.draws.any():
        return True
    # Where wins lead back, the fit itself finds what runs off: features, or sides of several.
    if wins_lead_back(design.contests, levels, games, anchors):
        return False
    from scipy.optimize import linprog  # takes long to import, and hardly any league needs it

    limits = _limits(design, tallies, anchors)
    n = limits.shape[1]
    bounds = np.array([[-np.inf, np.inf]] * (n - 1) + [[0.0, 1.0]])
    found = linprog(-np.eye(1, n, n - 1)[0], limits, np.zeros(limits.shape[0]), bounds=bounds)
    assert found.success, found.message
    return bool(found.x[-1] > 0.5)  # a direction has any length: the largest is 0 or 1


def _limits(design: Design, tallies: Tallies, anchors: Ints) -> sparse.csr_array:
    """Return the rows over parameters and ln nu that must not be positive along the direction."""
    halves = 0.5 * (design.leads if tallies.rows is None else design.leads[tallies.rows])
    won, drawn, lost = (own > 0.0 for own in (tallies.wins, tallies.draws, tallies.losses))
    rows, signs = [-halves[won], halves[lost], halves[drawn], -halves[drawn]], [1, 1, -1, -1]
    for part in design.orders:
        weighty = tallies.weights[part.games] > 0.0
        sides, shares = part.sides[weighty], part.shares[weighty]
        gains = design.strengths[sides[:, 1:].ravel()] - design.strengths[sides[:, :-1].ravel()]
        before = np.arange(sides.shape[1] - 1)
        tied = shares[:, before + 1, before].ravel() > 0.0  # who has been chosen has no share
        rows, signs = [*rows, gains, -gains[tied]], [*signs, 0, 0]
    leads = sparse.vstack(rows, format="csc")
    largest = abs(leads).max(axis=0).toarray().ravel()
    largest[anchors] = 0.0
    leads = leads[:, largest > 0.0] @ sparse.diags_array(1.0 / largest[largest > 0.0])
    weight = np.repeat(signs, [own.shape[0] for own in rows])
    return sparse.csr_array(sparse.hstack([leads, sparse.csr_array(weight[:, np.newaxis])]))
