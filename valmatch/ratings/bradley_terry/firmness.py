"""Firmness of ratings of duels: the fewest games that decide, bought wins, the best of equals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry.contests import (
    Contests,
    Design,
    cluster_gradients,
    design_of,
    duel_chances,
    tallies_of,
)
from valmatch.ratings.bradley_terry.covariance import meat, times_meat
from valmatch.ratings.bradley_terry.fit import EXACT, POINTS, solve
from valmatch.ratings.bradley_terry.rating import Estimate, Refit, WholeModel, refit

AT_ONCE = 8  # games from which on half of those that seem needed are removed before the next look
BACK = 24  # removed games of which is tried whether they can stay
TIE = 1e-6  # points by which somebody is ahead
MOST_BOUGHT = 1 << 24  # wins beyond which nobody looks

WON, DRAWN, LOST = range(3)

Pairs = Sequence[tuple[int, int]]  # of players, by number


@dataclass(frozen=True)
class Cells:
    """The games of a log by who met whom and how it ended, as games of a design with weights."""

    design: Design  # of three games for each pairing: won by the first side, drawn, lost
    model: WholeModel
    of_games: Ints  # (games of the log,) the cell of each
    weights: Floats  # (cells,) how many games of the log each holds

    @classmethod
    def of(cls, used: Design, model: WholeModel, beside: Pairs = ()) -> "Cells":
        """Return the cells of games of two sides, and last those of further pairs without games."""
        contests, (rows, first) = used.contests, np.unique(used.duel_rows, return_index=True)
        sides = contests.game_starts[first][:, np.newaxis] + np.arange(2)
        # Equal duels are seen from one side, which a game may name second.
        players = contests.players[contests.side_starts[sides[:, 0]]]
        turned = np.asarray(used.leads[rows, players]).ravel() < 0.0
        sides[turned] = sides[turned, ::-1]
        starts = contests.side_starts
        members = [contests.players[starts[k] : starts[k + 1]] for k in sides.ravel().tolist()]
        members += [np.array([player]) for pair in beside for player in pair]
        pairs = len(members) // 2
        features = np.zeros((2 * pairs, contests.features.shape[1]))
        features[: sides.size] = contests.features[sides.ravel()]
        index = np.repeat(np.arange(2 * pairs).reshape(pairs, 2), 3, axis=0).ravel()
        members = [members[k] for k in index.tolist()]
        cells = Contests(
            contests.n_players,
            2 * np.arange(3 * pairs + 1),
            np.cumsum([0, *map(len, members)]),
            np.tile([1.0, 0.0, 0.5, 0.5, 0.0, 1.0], pairs),
            np.concatenate(members),
            features[index],
            np.zeros(3 * pairs),
            np.arange(3 * pairs),
        )
        of_games = 3 * used.duel_rows + np.rint(2.0 - 2.0 * used.duel_scores).astype(np.int64)
        weights = np.bincount(of_games, minlength=3 * pairs).astype(np.float64)
        return cls(design_of(cells), model, of_games, weights)

    def fit(self, weights: Floats, before: Estimate) -> Refit:
        """Return the ratings by other weights."""
        return refit(self.design, self.model, before, weights)

    def influences(self, at: Estimate, pairs: Pairs) -> Floats:
        """Return (cells, pairs) by how many points a game less moves the first's lead."""
        problem, point = at.fit.problem, at.fit.point
        right = np.zeros((len(point), len(pairs)))
        for k, (a, b) in enumerate(pairs):
            right[a, k], right[b, k] = 1.0, -1.0
        solved = solve(at.fit.information, np.asfortranarray(right[problem.free]), 0.0, EXACT)
        if solved is None:
            return np.zeros((len(self.weights), len(pairs)))
        each = tallies_of(self.design, np.ones(len(self.weights)))
        gradients = cluster_gradients(self.design, each, point[:-1], float(point[-1]))
        influences: Floats = gradients[:, problem.free] @ solved
        return -influences / POINTS

    def simulated(self, at: Estimate, rng: np.random.Generator) -> Floats:
        """Return as many games of each pairing, which end by the chances of an estimate."""
        point, rows = at.fit.point, self.design.duel_rows[::3]
        p, q, r, _ = duel_chances(self.design.leads @ point[:-1], float(point[-1]))
        turned = self.design.duel_scores[::3] == 0.0
        first, second = np.where(turned, q[rows], p[rows]), np.where(turned, p[rows], q[rows])
        counts = self.weights.reshape(-1, 3).astype(np.int64)
        if at.draw_weight == 0.0:  # draws are no results of their own: they stay
            decided = counts[:, WON] + counts[:, LOST]
            won = rng.binomial(decided, first)
            ends = np.column_stack([won, counts[:, DRAWN], decided - won])
        else:
            chances = np.column_stack([first, r[rows], second])
            chances /= chances.sum(axis=1, keepdims=True)
            ends = rng.multinomial(counts.sum(axis=1), chances)
        return ends.astype(np.float64).ravel()


def games_needed(held: Floats, gains: Floats, lead: float) -> tuple[Ints, float]:
    """Return the useful cells, the best first, and how many games seem to use up a lead."""
    useful = np.flatnonzero(gains > 0.0)
    order: Ints = useful[np.argsort(-gains[useful], kind="stable")]
    ends, most = np.cumsum(held[order]), np.cumsum(held[order] * gains[order])
    k = int(np.searchsorted(most, lead))
    if k == len(order):
        return order, float(held[order].sum())
    before, games = (most[k - 1], ends[k - 1]) if k else (0.0, 0.0)
    return order, float(games + math.ceil((lead - before) / gains[order[k]]))


def first_looks(cells: Cells, weights: Floats, at: Estimate, pairs: Pairs) -> list[float]:
    """Return of each pair how many games less seem to put the second ahead, without a refit."""
    needed = []
    for (a, b), column in zip(pairs, -cells.influences(at, pairs).T, strict=True):
        gains = np.where(weights > 0.0, column, 0.0)
        order, games = games_needed(weights, gains, float(at.ratings[a] - at.ratings[b]))
        most = float(weights.sum())  # where nothing helps
        needed.append(max(1.0, games) if len(order) else most)
    return needed


def is_ahead(of: Refit, player: int, other: int) -> bool:
    """Return whether a player is ahead of another, whatever rating who has none would get."""
    return bool(of.low[player] > of.high[other] + TIE)


def fewest_games(cells: Cells, at: Estimate, pair: tuple[int, int]) -> Floats | None:
    """Return how many games of each cell to remove so that the second is ahead; None for no way."""
    # Games are taken in the order of their influence on the lead, one Newton step each (Broderick,
    # Giordano, Meager 2020), which is worked out again after each refit; in the end games that are
    # not needed stay. That is an upper bound of the fewest.
    (a, b), now, removed = pair, at, np.zeros(len(cells.weights))
    while True:
        left = cells.weights - removed
        gains = np.where(left > 0.0, -cells.influences(now, [pair])[:, 0], 0.0)
        order, needed = games_needed(left, gains, float(now.ratings[a] - now.ratings[b]))
        if not len(order):
            return None
        some = 1.0 if needed <= AT_ONCE else needed // 2
        before = np.cumsum(left[order]) - left[order]
        removed[order] += np.clip(some - before, 0.0, left[order])
        again = cells.fit(cells.weights - removed, now)
        if is_ahead(again, b, a):
            break
        if again.estimate is None or not again.estimate.linked.rated[[a, b]].all():
            return None
        now = again.estimate
    there = np.flatnonzero(removed)
    for cell in there[np.argsort(gains[there], kind="stable")][:BACK].tolist():
        while removed[cell]:
            removed[cell] -= 1.0
            if not is_ahead(cells.fit(cells.weights - removed, now), b, a):
                removed[cell] += 1.0
                break
    return removed


def bought_wins(cells: Cells, at: Estimate, player: int, cell: int) -> int | None:
    """Return the fewest more games of a cell that put a player first; None for more than some."""
    others = np.delete(np.arange(len(at.ratings)), player)

    def first(wins: int) -> bool:
        more = cells.weights.copy()
        more[cell] += wins
        again = cells.fit(more, at)
        high = again.high[others][at.linked.rated[others]]
        return bool(again.low[player] > high.max(initial=-np.inf) + TIE)

    low, high = -1, 0
    while not first(high):
        low, high = high, max(1, 2 * high)
        if high > MOST_BOUGHT:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if first(middle) else (middle, high)
    return high


def expected_largest(n: int) -> float:
    """Return the expected largest of some independent standard normal numbers."""
    from scipy.special import ndtr  # takes long to import

    at = np.linspace(-12.0, 12.0, 4801)
    slopes = np.exp(-0.5 * at**2) / math.sqrt(2.0 * math.pi) * n * ndtr(at) ** (n - 1)
    return float(np.trapezoid(at * slopes, at))


def error_of_feature(at: Estimate, feature: int, sandwich: bool) -> float:
    """Return the standard error of a coefficient in points, without those of all others."""
    problem, unit = at.fit.problem, np.zeros((len(at.fit.point), 1), order="F")
    unit[problem.n_players + feature] = 1.0
    solved = solve(at.fit.information, unit[problem.free], 0.0, EXACT)
    if solved is None:
        return math.nan
    inner = times_meat(at.fit, meat(at.fit), solved) if sandwich else unit[problem.free]
    return math.sqrt((solved.T @ inner).item()) / POINTS


def error_of_own_games(at: Estimate) -> tuple[float, float]:
    """Return the median games of a rated player, and the deviation in points that these leave."""
    # It is of equal players against the same rivals, whose errors all of them share.
    problem, rated = at.fit.problem, np.flatnonzero(at.linked.rated)
    squares = problem.design.leads[:, rated].multiply(problem.design.leads[:, rated])
    wins, draws, losses, _ = problem.tallies
    played = (squares > 0.0).T @ (wins + draws + losses)
    each = float(np.median(played))
    information = each * (squares.T @ at.fit.terms.curvature) / np.maximum(played, 1.0)
    prior = np.zeros(len(at.fit.point))
    prior[problem.free] = problem.prior.matrix.diagonal()
    errors = np.sqrt(information) / np.maximum(information + prior[rated], 1e-300)
    return each, float(np.median(errors)) / POINTS
