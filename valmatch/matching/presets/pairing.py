"""Pairs: as many as can be, and of those the ones with the least total; exact, in O(n^3).

Weights are made of points so that one pair more outweighs all points; the matching of greatest
weight is found by growing trees from all free vertices at once, with dual variables and blossoms
(Edmonds, 1965; Galil, 1986).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import at, internal, njit
from valmatch.matching.presets.blossoms import (
    FREE,
    INNER,
    LAST,
    OUTER,
    QUEUED,
    VERTICES,
    WALKS,
    Forest,
    enqueue,
    make_blossom,
    make_forest,
    open_blossom,
    set_mate,
)

UNIT = 1024.0  # points are whole multiples of its reciprocal, so that sums are exact
FAR = 2**62  # more than any step of dual variables


@njit
def pair(forest: Forest, points: Floats, count: int, partners: Ints) -> int:
    """Pair as many as can be, with the least total of points.

    Shapes: `points` (n, n); `partners` (n,).
    """
    _weigh(forest, points, count)
    _begin(forest, count)
    pairs = 0
    while _grow(forest):
        pairs += 1
    for vertex in range(count):
        partners[vertex] = forest.mate[vertex + 1] - 1
    return pairs


@internal
def _weigh(forest: Forest, points: Floats, count: int) -> None:
    """Make weights of points."""
    low, high = np.inf, -np.inf
    for i in range(count):
        for j in range(i):
            if points[i, j] == points[i, j]:
                low = min(low, points[i, j])
                high = max(high, points[i, j])
    pair_more = 0
    if low <= high:
        pair_more = int(np.rint((high - low) * UNIT) + 1.0) * (count // 2 + 1)
    for i in range(count):
        forest.weight[i + 1, i + 1] = 0
        for j in range(i):
            weight = 0
            if points[i, j] == points[i, j]:
                weight = pair_more + int(np.rint((high - points[i, j]) * UNIT))
            forest.weight[i + 1, j + 1] = weight
            forest.weight[j + 1, i + 1] = weight


@internal
def _begin(forest: Forest, count: int) -> None:
    """Let there be no pairs and no blossoms."""
    forest.counts[VERTICES] = count
    forest.counts[LAST] = count
    forest.counts[WALKS] = 0
    most = 0
    for first in range(1, count + 1):
        for second in range(1, count + 1):
            weight = forest.weight[first, second]
            most = max(most, weight)
            forest.tail[first, second] = first if weight > 0 else 0
            forest.head[first, second] = second if weight > 0 else 0
            forest.within[first, second] = first if first == second else 0
    for number in range(forest.top.size):
        forest.top[number] = number if number <= count else 0
        forest.mate[number] = 0
        forest.sizes[number] = 0
        forest.seen[number] = 0
        forest.label[number] = most if 0 < number <= count else 0


@internal
def _grow(forest: Forest) -> bool:
    """Grow trees until there is a pair more; return whether there is one."""
    count = forest.counts[VERTICES]
    forest.counts[QUEUED] = 0
    for number in range(1, forest.counts[LAST] + 1):
        forest.side[number] = FREE
        forest.slack[number] = 0
    for number in range(1, forest.counts[LAST] + 1):
        if forest.top[number] == number and forest.mate[number] == 0:
            forest.parent[number] = 0
            forest.side[number] = OUTER
            enqueue(forest, number)
    if forest.counts[QUEUED] == 0:
        return False
    while True:
        place = 0
        while place < forest.counts[QUEUED]:
            vertex = forest.queue[place]
            place += 1
            if forest.side[forest.top[vertex]] == INNER:
                continue
            inside, own = forest.top[vertex], forest.label[vertex]
            for other in range(1, count + 1):
                weight = forest.weight[at(vertex), at(other)]
                if weight == 0:
                    continue
                top = forest.top[at(other)]
                if top == inside or forest.side[at(top)] == INNER:
                    continue
                short = own + forest.label[at(other)] - 2 * weight
                if short > 0:
                    if forest.slack[at(top)] == 0 or short < forest.off[at(top)]:
                        forest.slack[at(top)] = vertex
                        forest.off[at(top)] = short
                elif _join(forest, vertex, other):
                    return True
                else:
                    inside = forest.top[vertex]
        if not _loosen(forest):
            return False
        forest.counts[QUEUED] = 0
        for number in range(1, forest.counts[LAST] + 1):
            tight = forest.slack[number]
            if (
                forest.top[number] == number
                and tight > 0
                and forest.top[tight] != number
                and forest.off[number] == 0
                and _join(forest, forest.tail[tight, number], forest.head[tight, number])
            ):
                return True
        for number in range(count + 1, forest.counts[LAST] + 1):
            if (
                forest.top[number] == number
                and forest.side[number] == INNER
                and forest.label[number] == 0
            ):
                open_blossom(forest, number)


@internal
def _loosen(forest: Forest) -> bool:
    """Change dual variables until something more is tight; return whether that is possible."""
    count, last = forest.counts[VERTICES], forest.counts[LAST]
    step = FAR
    for number in range(1, last + 1):
        if forest.top[number] != number:
            continue
        if number > count and forest.side[number] == INNER:
            step = min(step, forest.label[number] // 2)
        if forest.slack[number] > 0:
            short = forest.off[number]
            if forest.side[number] == FREE:
                step = min(step, short)
            elif forest.side[number] == OUTER:
                step = min(step, short // 2)
    for vertex in range(1, count + 1):
        if forest.side[forest.top[vertex]] == OUTER and forest.label[vertex] <= step:
            return False
    for vertex in range(1, count + 1):
        side = forest.side[forest.top[vertex]]
        if side == OUTER:
            forest.label[vertex] -= step
        elif side == INNER:
            forest.label[vertex] += step
    for number in range(1, last + 1):
        if forest.slack[number] > 0 and forest.side[number] != INNER:
            forest.off[number] -= step if forest.side[number] == FREE else 2 * step
    for number in range(count + 1, last + 1):
        if forest.top[number] == number:
            if forest.side[number] == OUTER:
                forest.label[number] += 2 * step
            elif forest.side[number] == INNER:
                forest.label[number] -= 2 * step
    return True


@internal
def _join(forest: Forest, tail: int, head: int) -> bool:
    """Take a tight edge from an outer vertex in; return whether it made a pair more."""
    one, other = forest.top[tail], forest.top[head]
    if forest.side[other] == FREE:
        forest.parent[other] = tail
        forest.side[other] = INNER
        next_ = forest.top[forest.mate[other]]
        forest.slack[other] = 0
        forest.slack[next_] = 0
        forest.side[next_] = OUTER
        enqueue(forest, next_)
    elif forest.side[other] == OUTER:
        base = _meeting(forest, one, other)
        if base == 0:
            _augment(forest, one, other)
            _augment(forest, other, one)
            return True
        make_blossom(forest, one, base, other)
    return False


@internal
def _meeting(forest: Forest, first: int, second: int) -> int:
    """Return where the walks of two to their roots meet; 0 where they do not."""
    forest.counts[WALKS] += 1
    walk = forest.counts[WALKS]
    one, other = first, second
    while one > 0 or other > 0:
        if one > 0:
            if forest.seen[one] == walk:
                return one
            forest.seen[one] = walk
            one = forest.top[forest.mate[one]]
            if one > 0:
                one = forest.top[forest.parent[one]]
        one, other = other, one
    return 0


@internal
def _augment(forest: Forest, first: int, second: int) -> None:
    """Swap what is matched on the walk from one to its root, when it gets another partner."""
    one, other = first, second
    while True:
        left = forest.top[forest.mate[one]]
        set_mate(forest, one, other)
        if left == 0:
            return
        parent = forest.top[forest.parent[left]]
        set_mate(forest, left, parent)
        one, other = parent, left


def choose(scores: Sequence[Sequence[float | None]]) -> list[int]:
    """Return whose partner each is, -1 for none; None stands for a pair that is not allowed."""
    count = len(scores)
    points = np.full((count, count), np.nan)
    for i, row in enumerate(scores):
        for j, one in enumerate(row):
            if one is not None:
                points[i, j] = one
    partners = np.full(count, -1, np.int64)
    pair(make_forest(count), points, count, partners)
    return [int(one) for one in partners]
