"""Pairs to play next, chosen one by one, each as if the games before it had been played."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.streams import Streams, uniform_at
from valmatch.kernels.arrays import Bools, Floats, Ints, Words
from valmatch.kernels.compilation import at, kernel, variant
from valmatch.policies.joint.belief import Belief, Pairs, number_of, pairs_of
from valmatch.policies.joint.lookahead import pair_information, variance_of
from valmatch.policies.registry import JOINT, function_of

TIED = 1e-9  # values closer than this share of the largest are equal: sums of floats say no more
_OFTEN = 0.2  # seconds between two looks at how far a long choice is, about
EXPLORED = 0x4E455854  # source of the random numbers that pairs are explored by


class Batch(NamedTuple):
    """Pairs to play, in the order in which they were chosen."""

    # first, second: (k,); places of the players of each, first < second; k may be below what was
    # asked for
    first: Ints
    second: Ints
    value: Floats  # (k,); what the policy says that the pair is worth
    std_error: Floats  # (k,); of its difference, after the games chosen before it
    games: Ints  # (k,); its games so far, those chosen before it included
    propensity: Floats  # (k,); the chance with which it was chosen, given those before it


def new_batch(size: int) -> Batch:
    """Return room for pairs."""
    (first, second, games), numbers = np.empty((3, size), np.int64), np.empty((3, size))
    value, std_error, propensity = numbers
    return Batch(first, second, value, std_error, games, propensity)


@kernel
def _pick(pairs: Pairs) -> tuple[int, int]:
    """Return the place and the number of the best open pair; ties: fewer games, then names."""
    n, most = pairs.mean.size, -np.inf
    for p in range(pairs.values.size):
        if pairs.open[at(p)]:
            most = max(most, pairs.values[at(p)])
    p = 0
    least = most - TIED * abs(most)
    best, chosen, player = -1, 0, 0
    for i in range(n):
        for j in range(i + 1, n):
            if pairs.open[at(p)] and pairs.values[at(p)] >= least:
                before = best < 0 or pairs.games[at(p)] < pairs.games[at(best)]
                if not before and pairs.games[at(p)] == pairs.games[at(best)]:
                    own, other = pairs.names[at(i)], pairs.names[at(chosen)]
                    before = own < other or (
                        own == other and pairs.names[at(j)] < pairs.names[at(player)]
                    )
                if before:
                    best, chosen, player = p, i, j
            p += 1
    return best, chosen


@kernel
def _drawn(pairs: Pairs, uniform: float, count: int) -> tuple[int, int]:
    """Return the place and the first player of an open pair, all equally likely."""
    wanted, p = min(int(uniform * count), count - 1), 0
    n = pairs.mean.size
    for i in range(n):
        for _ in range(i + 1, n):
            if pairs.open[at(p)]:
                if wanted == 0:
                    return p, i
                wanted -= 1
            p += 1
    return -1, 0


@kernel
def play(pairs: Pairs, i: int, j: int) -> None:
    """Narrow a belief as a game of two players does on average: V - k k' I / (1 + I s^2)."""
    v = pairs.covariance
    n, information = pairs.mean.size, pair_information(pairs, i, j)
    share = information / (1.0 + information * variance_of(pairs, i, j))
    for a in range(n):
        pairs.gaps[at(a)] = v[at(a), at(i)] - v[at(a), at(j)]
    for a in range(n):
        step = share * pairs.gaps[at(a)]
        for c in range(n):
            v[at(a), at(c)] -= step * pairs.gaps[at(c)]


@kernel
def _close_players(pairs: Pairs, first: int, second: int) -> None:
    """Close all pairs of two players."""
    n, p = pairs.mean.size, 0
    for i in range(n):
        for j in range(i + 1, n):
            if first in (i, j) or second in (i, j):
                pairs.open[at(p)] = False
            p += 1


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
                one = values[number_of(a, c, n)] + values[number_of(b, d, n)]
                other = values[number_of(a, d, n)] + values[number_of(b, c, n)]
                if max(one, other) > least:
                    if one >= other:
                        b, c = c, b
                    else:
                        b, d = d, b
                    first[k], second[k] = min(a, b), max(a, b)
                    first[m], second[m] = min(c, d), max(c, d)
                    gained = True


def _choose(pairs: Pairs, once: bool, explore: float, place: Words, start: int, out: Batch) -> int:
    """Fill in a batch; return how many pairs there are. To be compiled for each policy.

    With `once` values are those of now, as no player has a game before another.
    """
    n = pairs.mean.size
    for k in range(out.first.size):
        count = 0
        for is_open in pairs.open:
            count += is_open
        if count == 0:
            return k
        if k == 0 or not once:
            value_pairs(pairs)  # type: ignore[name-defined]  # noqa: F821 - of the policy
        p, i = _pick(pairs)
        chosen = p
        if explore > 0.0 and uniform_at(place, EXPLORED, start + k, 0) < explore:
            p, i = _drawn(pairs, uniform_at(place, EXPLORED, start + k, 1), count)
            if p != chosen and not once:  # its own value, which may be a bound
                others, bounds = pairs.open.copy(), pairs.values.copy()
                pairs.open[:] = False
                pairs.open[p] = True
                value_pairs(pairs)  # type: ignore[name-defined]  # noqa: F821
                bounds[p] = pairs.values[p]
                pairs.open[:], pairs.values[:] = others, bounds
        j = p - number_of(i, i + 1, n) + i + 1
        out.first[k], out.second[k] = i, j
        out.propensity[k] = explore / count + (1.0 - explore) * (p == chosen)
        _note(pairs, k, out)
        if once:
            _close_players(pairs, i, j)
        else:
            pairs.games[p] += 1
            play(pairs, i, j)
    return out.first.size


@kernel
def _note(pairs: Pairs, k: int, out: Batch) -> None:
    """Fill in what is said of a pair that is chosen."""
    i, j = out.first[k], out.second[k]
    p = number_of(i, j, pairs.mean.size)
    out.value[k], out.games[k] = pairs.values[p], pairs.games[p]
    out.std_error[k] = math.sqrt(variance_of(pairs, i, j))


@kernel
def _settle(pairs: Pairs, out: Batch) -> None:
    """Improve a batch in which each player is once, and put the best pair first."""
    n, size = pairs.mean.size, out.first.size
    _exchange(pairs, out.first, out.second)
    for k in range(size):
        best = k
        for m in range(k + 1, size):
            value = pairs.values[number_of(out.first[m], out.second[m], n)]
            if value > pairs.values[number_of(out.first[best], out.second[best], n)]:
                best = m
        for column in (out.first, out.second):
            column[k], column[best] = column[best], column[k]
    for k in range(size):
        _note(pairs, k, out)


@cache
def chooser(policy: str) -> Any:  # noqa: ANN401 - a compiled function
    """Return the kernel of `_choose` for a policy."""
    return kernel(variant(_choose, policy, value_pairs=function_of(JOINT[policy])), allocates=True)


def choose_batch(
    belief: Belief,
    policy: str = "knowledge_gradient",
    goal: str = "best",
    size: int = 10,
    *,
    once: bool = False,
    allowed: Bools | None = None,
    games: Ints | None = None,
    names: Ints | None = None,
    explore: float = 0.0,
    streams: Streams | None = None,
    replication: int = 0,
    start: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Batch:
    """Choose pairs to play next by a belief about all players.

    Each is chosen as if the games before it had been played, V <- V - k k' I / (1 + I s^2), the
    means as they are. Ties: fewer games of the pair, then `names`.

    Shapes: `allowed` (n, n); `games` (n, n); `names` (n,).
    """
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
    place = (streams or Streams(0)).place(replication)
    out, found = new_batch(size), 0
    choose, part = chooser(policy), size if once or progress is None else 1
    while found < size:
        some = Batch._make(column[found : found + part] for column in out)
        began = time.perf_counter()
        made = choose(pairs, once, float(explore), place, start + found, some)
        found += made
        if made < some.first.size:
            break
        if progress:
            progress(made)
        if time.perf_counter() - began < _OFTEN:
            part *= 2
    chosen = Batch._make(column[:found] for column in out)
    if once and explore == 0.0:
        _settle(pairs, chosen)
    return chosen
