"""Pairs to play next, chosen one by one, each as if the games before it had been played."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.streams import Streams, uniform_at
from valmatch.kernels.arrays import Bools, Floats, Ints, Words
from valmatch.kernels.compilation import at, kernel
from valmatch.policies.joint.belief import Belief, Pairs, number_of, pairs_of
from valmatch.policies.joint.lookahead import pair_information, variance_of
from valmatch.policies.registry import JOINT, function_of

TIED = 1e-9  # values closer than this share of the largest are equal: sums of floats say no more
EXPLORED = 0x4E455854  # source of the random numbers that pairs are explored by


class Batch(NamedTuple):
    """Pairs to play, in the order in which they were chosen."""

    # first, second: (k,); the players of each, first < second; k may be below what was wanted
    first: Ints
    second: Ints
    value: Floats  # (k,); what the policy says that the pair is worth
    std_error: Floats  # (k,); of its difference, after the games chosen before it
    games: Ints  # (k,); its games so far, those chosen before it included
    propensity: Floats  # (k,); the chance with which it was chosen, given those before it


def _pick(pairs: Pairs) -> int:
    """Return the number of the best open pair; ties: fewer games, then names."""
    values = np.where(pairs.open, pairs.values, -np.inf)
    tied = np.flatnonzero(values >= values.max() - TIED * abs(values.max()))
    first, second = (pairs.names[players[tied]] for players in (pairs.first, pairs.second))
    return int(tied[np.lexsort((second, first, pairs.games[tied]))[0]])


@kernel
def play(pairs: Pairs, i: int, j: int) -> None:
    """Narrow a belief as a game of two players does on average: V - k k' I / (1 + I s^2)."""
    v, gaps, information = pairs.covariance, pairs.gaps, pair_information(pairs, i, j)
    share = information / (1.0 + information * variance_of(pairs, i, j))
    for a in range(gaps.size):
        gaps[at(a)] = v[at(a), at(i)] - v[at(a), at(j)]
    for a in range(gaps.size):
        for c in range(gaps.size):
            v[at(a), at(c)] -= share * gaps[at(a)] * gaps[at(c)]


@kernel
def _exchange(pairs: Pairs, first: Ints, second: Ints) -> None:
    """Exchange the players of two pairs, as long as the sum of their values grows by that."""
    n, values = pairs.mean.size, pairs.values
    gained = True
    while gained:
        gained = False
        for k in range(first.size):
            for m in range(k + 1, first.size):
                a, b, c, d = first[k], second[k], first[m], second[m]
                now = values[number_of(a, b, n)] + values[number_of(c, d, n)]
                least = now + TIED * abs(now)
                across = values[number_of(a, c, n)] + values[number_of(b, d, n)]
                other = values[number_of(a, d, n)] + values[number_of(b, c, n)]
                if max(across, other) > least:
                    if across >= other:
                        b, c = c, b
                    else:
                        b, d = d, b
                    first[k], second[k] = min(a, b), max(a, b)
                    first[m], second[m] = min(c, d), max(c, d)
                    gained = True


class Choice(NamedTuple):
    """How pairs are chosen."""

    policy: str = "knowledge_gradient"
    goal: str = "best"
    once: bool = False  # whether no player has a game before another, by values of now
    repeat: bool = True  # whether a pair may be chosen twice
    explore: float = 0.0  # with which probability any pair is chosen
    rng_key: Words | None = None  # where the random numbers of that lie


DEFAULT = Choice()


def choose_batch(
    belief: Belief,
    how: Choice = DEFAULT,
    size: int = 10,
    *,
    allowed: Bools | None = None,
    games: Ints | None = None,
    names: Ints | None = None,
    start: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Batch:
    """Choose pairs to play next by a belief about all players."""
    # Each is chosen as if the games before it had been played, V <- V - k k' I / (1 + I s^2), the
    # means as they are. Ties: fewer games of the pair, then `names`.
    #
    # Shapes: `allowed` (n, n); `games` (n, n); `names` (n,).
    policy, goal, once, repeat, explore, rng_key = how
    n = belief.mean.size
    upper = np.triu_indices(n, 1)
    pairs = pairs_of(
        belief,
        goal,
        np.ones(upper[0].size, np.bool_) if allowed is None else allowed[upper],
        np.zeros(upper[0].size, np.int64) if games is None else games[upper].astype(np.int64),
        np.arange(n) if names is None else names,
        once,
    )
    first, second = pairs.first, pairs.second
    value_pairs = function_of(JOINT[policy])
    rng_key = Streams(0).place(0) if rng_key is None else rng_key
    rows: list[tuple[int, int, float, float, int, float]] = []
    for k in range(start, start + size):
        candidates = np.flatnonzero(pairs.open)
        if not (count := candidates.size):
            break
        if not (rows and once):
            value_pairs(pairs)
        best = p = _pick(pairs)
        if explore > 0.0 and uniform_at(rng_key, EXPLORED, k, 0) < explore:
            p = int(candidates[min(int(uniform_at(rng_key, EXPLORED, k, 1) * count), count - 1)])
            if p != best and not once:  # its own value, which may be a bound
                others = pairs.open.copy()
                pairs.open[:] = False
                pairs.open[p] = True
                value_pairs(pairs)
                pairs.open[:] = others
        propensity = explore / count + (1.0 - explore) * (p == best)
        rows.append((*_described(pairs, int(first[p]), int(second[p])), propensity))
        i, j, *_ = rows[-1]
        if once:
            pairs.open[(first == i) | (first == j) | (second == i) | (second == j)] = False
        else:
            pairs.games[p] += 1
            pairs.open[p] = repeat
            play(pairs, i, j)
            progress(1)
    if once and explore == 0.0:
        rows = [(*_described(pairs, i, j), 1.0) for i, j in _settled(pairs, rows)]
    columns = zip(*rows, strict=True) if rows else [()] * len(Batch._fields)
    kinds = (np.int64, np.int64, np.float64, np.float64, np.int64, np.float64)
    return Batch._make(map(np.array, columns, kinds))


def _described(pairs: Pairs, i: int, j: int) -> tuple[int, int, float, float, int]:
    """Return two players with the value, the standard error and the games of their pair."""
    p = number_of(i, j, pairs.mean.size)
    deviation = math.sqrt(variance_of(pairs, i, j))
    return i, j, float(pairs.values[p]), deviation, int(pairs.games[p])


def _settled(pairs: Pairs, rows: Sequence[tuple[Any, ...]]) -> list[tuple[int, int]]:
    """Return pairs in which each player is once, improved by exchanges, the best first."""
    first, second = (np.array([row[side] for row in rows], np.int64) for side in (0, 1))
    _exchange(pairs, first, second)
    ends = list(zip(first.tolist(), second.tolist(), strict=True))
    values = [pairs.values[number_of(i, j, pairs.mean.size)] for i, j in ends]
    for k in range(len(ends)):
        best = max(range(k, len(ends)), key=values.__getitem__)
        for column in (ends, values):
            column[k], column[best] = column[best], column[k]
    return ends
