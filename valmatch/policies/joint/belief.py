"""The joint belief about all players: what a choice and a game make of it, and how unsure it is."""

import math
from typing import NamedTuple

import numpy as np

from valmatch.draws.distributions import fill_normal
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Bools, Floats, Ints, Words
from valmatch.kernels.compilation import at, kernel, macro
from valmatch.policies.registry import GOALS

LOOKS = 11  # numbers of games that a look-ahead tries: 1, 2, 4, ..., 1024


class Belief(NamedTuple):
    """A normal belief about the ratings of players, N(mean, covariance), and how games end."""

    mean: Floats  # (n,); ratings in points
    covariance: Floats  # (n, n); of these
    draw_weight: float = 0.0  # nu of Davidson's model; 0 where there are no draws


class Pairs(NamedTuple):
    """A choice of pairs under way; pairs i < j are numbered in rows of a triangle."""

    # first, second: (pairs,) their players
    first: Ints
    second: Ints
    # mean, draw_weight: as in `Belief`
    mean: Floats
    covariance: Floats  # (n, n); as it is after the games chosen so far
    draw_weight: float
    exact: bool  # whether values of pairs are wanted that cannot be the best
    goal: int  # place in `GOALS`
    open: Bools  # which pairs may be chosen
    games: Ints  # games of each pair so far, those chosen included
    values: Floats  # what each open pair is worth; -inf of the others
    by_mean: Ints  # (n,); the players, the best first
    names: Ints  # (n,); place of each by name, for ties
    # (n, n); scratch of a look-ahead: covariances of each player with some differences
    parts: Floats
    gaps: Floats  # (n,); scratch: what goes with these
    bends: Floats  # (2 n, 2); scratch of an envelope
    inverse: Floats  # (n,); scratch: the inverses of `gaps`


@macro
def number_of(i: int, j: int, n: int) -> int:
    """Return the number of the pair of two of n players."""
    low, high = min(i, j), max(i, j)
    return low * (2 * n - low - 1) // 2 + high - low - 1


def pairs_of(
    belief: Belief, goal: str, open: Bools, games: Ints, names: Ints, exact: bool = True
) -> Pairs:
    """Return a choice about to begin; the arrays given are copied."""
    n = belief.mean.size
    first, second = np.triu_indices(n, 1)
    return Pairs(
        first.copy(),
        second.copy(),
        belief.mean,
        belief.covariance.copy(),
        float(belief.draw_weight),
        exact,
        GOALS.index(goal),
        open.copy(),
        games.copy(),
        np.empty(open.size),
        np.argsort(-belief.mean, kind="stable"),
        names,
        np.empty((n, n)),
        np.empty(n),
        np.empty((2 * n, 2)),
        np.empty(n),
    )


# Outcomes of a game of two players whose lead is known as a normal distribution.
#
# The lead x is in log odds. One wins in proportion to e^(x/2), the other to e^(-x/2), and neither
# to the draw weight nu (Davidson 1970). Means over the lead are trapezoidal sums: of functions
# without poles within pi of the real line they are right to 1e-12 at the steps taken here
# (Trefethen, Weideman, "The exponentially convergent trapezoidal rule", SIAM Review 56, 2014).

_REACH = 8.4  # standard deviations to each side, beyond which a normal distribution holds 4e-17
_STEP = 0.6  # the widest step in standard deviations; half of it where the deviation doubles
_WIDEST = 0.9  # the standard deviation in log odds up to which that step does
_HALVINGS = 9  # after so many the step stays: deviations beyond 460 in log odds are 80,000 points


@kernel
def expected_score_at(lead: float, draw_weight: float) -> float:
    """Return the expected score of a game at a lead."""
    root = math.exp(-0.5 * abs(lead))
    total = 1.0 + root * (root + draw_weight)
    better = (1.0 + 0.5 * root * draw_weight) / total
    return better if lead >= 0.0 else 1.0 - better


@macro
def _halvings(deviation: float) -> int:
    """Return how often the step is halved for a standard deviation in log odds."""
    halvings, widest = 0, _WIDEST
    while deviation > widest and halvings < _HALVINGS:
        halvings += 1
        widest *= 2.0
    return halvings


@kernel
def game_information(lead: float, deviation: float, draw_weight: float) -> float:
    """Return the mean information of a game, over a normal distribution of the lead in log odds."""
    step = _STEP / 2 ** _halvings(deviation)
    mean, weights, reach = 0.0, 0.0, round(_REACH / step)
    for k in range(-reach, reach + 1):
        z = k * step
        weight = math.exp(-0.5 * z * z)
        weights += weight
        # The variance of the score at this lead is the information of the game about it.
        root = math.exp(-0.5 * abs(lead + deviation * z))
        total = 1.0 + root * (root + draw_weight)
        odds = root * ((1.0 + root * root) * draw_weight + 4.0 * root)
        mean += weight * (0.25 * odds / (total * total))
    return mean / weights


@macro
def _entropy_term(chance: float) -> float:
    return -chance * math.log(chance) if chance > 0.0 else 0.0


@kernel
def mutual_information(lead: float, deviation: float, draw_weight: float) -> float:
    """Return how much the outcome of a game tells of the lead, in nats (Lindley 1956)."""
    step = _STEP / 2 ** _halvings(deviation)
    reach = round(_REACH / step)
    log_nu = math.log(draw_weight) if draw_weight > 0.0 else 0.0
    weights, won, drawn, entropy = 0.0, 0.0, 0.0, 0.0
    for k in range(-reach, reach + 1):
        z = k * step
        weight = math.exp(-0.5 * z * z)
        x = lead + deviation * z
        root = math.exp(-0.5 * abs(x))
        others = root * (root + draw_weight)
        better = 1.0 / (1.0 + others)
        draw = root * draw_weight * better
        worse = root * root * better
        weights += weight
        won += weight * (better if x >= 0.0 else worse)
        drawn += weight * draw
        # The logarithms of the chances are 0, -|x| and ln nu - |x|/2, less that of the total.
        entropy += weight * (math.log1p(others) + worse * abs(x) + draw * (0.5 * abs(x) - log_nu))
    won, drawn, entropy = won / weights, drawn / weights, entropy / weights
    mean = _entropy_term(won) + _entropy_term(drawn) + _entropy_term(1.0 - won - drawn)
    return max(mean - entropy, 0.0)


# Doubt of a belief: of the best player, of the order, of the widest difference.


@kernel
def times_ahead(
    root: Floats, gaps: Floats, draws: int, words: Words, normals: Floats, pool: Floats
) -> int:
    """Return in how many draws no lead is below 0."""
    # Shapes: `root` (n, n); `gaps` (n,); `normals` (n,); `pool` (m,).
    ahead, taken = 0, pool.size
    for _ in range(draws):
        above = True
        for k in range(gaps.size):
            if taken == pool.size:
                fill_normal(words, pool)
                taken = 0
            normals[at(k)] = pool[at(taken)]
            taken += 1
            lead = gaps[at(k)]
            for c in range(k + 1):
                lead += root[at(k), at(c)] * normals[at(c)]
            if lead < 0.0:
                above = False
                break
        ahead += above
    return ahead


DRAWS = 100_000

BEST = 0x42455354  # source of the random numbers of whether the leader is the best

_POOL = 4096
_NEGLIGIBLE = 1e-4  # chance that any of the rivals is above the leader who are not drawn


class Unsure(NamedTuple):
    """How unsure a belief is."""

    leader_best: float  # probability that the first is the best, by `DRAWS` draws
    misordered: float  # expected number of neighbours by mean who are in the wrong order
    widest: tuple[int, int]  # the two whose difference is known the least
    widest_error: float  # standard error of that difference


def unsure_of(belief: Belief, streams: Streams) -> Unsure:
    """Return how unsure a belief is about players, the best first."""
    v, mean = belief.covariance, belief.mean
    variances = np.diag(v)
    neighbours = np.maximum(variances[:-1] + variances[1:] - 2.0 * np.diag(v, 1), 0.0)
    wrong = float(_chances_above(-np.diff(mean), np.sqrt(neighbours)).sum())
    widest, first, second = -1.0, 0, 0
    for k in range(len(mean) - 1):
        spread = variances[k] + variances[k + 1 :] - 2.0 * v[k, k + 1 :]
        j = int(spread.argmax())
        if spread[j] > widest:
            widest, first, second = float(spread[j]), k, k + 1 + j
    error = math.sqrt(max(widest, 0.0))
    return Unsure(leader_best(belief, streams), wrong, (first, second), error)


def _chances_above(gaps: Floats, errors: Floats) -> Floats:
    """Return the chances that normal errors are above gaps, without importing scipy."""
    ratios = np.divide(gaps, errors, out=np.where(gaps == 0.0, 0.0, np.inf), where=errors > 0.0)
    return np.array([0.5 * math.erfc(x * math.sqrt(0.5)) for x in ratios.tolist()])


def leader_best(belief: Belief, streams: Streams) -> float:
    """Return the probability that the first player is the best, by `DRAWS` draws."""
    v, mean = belief.covariance, belief.mean
    variances = np.diag(v)
    gaps = mean[0] - mean
    spread = np.maximum(variances + variances[0] - 2.0 * v[0], 0.0)
    ratio = np.divide(gaps, np.sqrt(spread), out=np.full_like(gaps, np.inf), where=spread > 0.0)
    rivals = np.argsort(ratio, kind="stable")
    rivals = rivals[rivals != 0]
    further = np.cumsum(_chances_above(ratio[rivals], np.ones(rivals.size))[::-1])[::-1]
    rivals = rivals[further > _NEGLIGIBLE]
    if not rivals.size:
        return 1.0
    # Of the leads over the rivals; a ridge far below all that is shown, as some may be tied.
    n, to_leader = rivals.size, v[rivals, 0]
    covariance = v[np.ix_(rivals, rivals)] - to_leader - to_leader[:, None] + variances[0]
    covariance[range(n), range(n)] += 1e-9 * spread.max() + 1e-12
    root = np.linalg.cholesky(covariance)
    words = streams.words(None, BEST)
    return times_ahead(root, gaps[rivals], DRAWS, words, np.empty(n), np.empty(_POOL)) / DRAWS
