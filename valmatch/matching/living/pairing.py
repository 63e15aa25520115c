"""Pairs: as many as can be, and of those the ones with the least total; exact, in O(n^3).

By growing trees from all free vertices at once, with dual variables and blossoms (Edmonds, 1965;
Galil, 1986): odd cycles that are treated as one vertex until they are opened again.
"""

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import kernel, part

UNIT = 1024.0  # points are whole multiples of its reciprocal, so that sums are exact
FAR = 2**62  # more than any step of dual variables
OUTER, INNER, FREE = 0, 1, -1
"""Whether a vertex is at an even or odd distance from a root, or in no tree."""

STEPS = (-1, 1, 0)  # by which labels of vertices change, by their side


class Forest(NamedTuple):
    """The state of a search."""

    weight: Ints  # (v + 1, v + 1); what a pair is worth, > 0; 0: it is not allowed
    tail: Ints  # (m, m); the tail of the best edge from one vertex or blossom to another; 0: none
    head: Ints  # (m, m); and its head
    label: Ints  # (m,); dual variables
    mate: Ints  # (m,); the vertex that is at the other end of the matched edge; 0: none
    slack: Ints  # (m,); the outer vertex with the tightest edge to it; 0: none
    off: Ints  # (m,); by how much that edge is short of being tight
    # (m,); the outermost blossom around a vertex; of a blossom itself if there is none around it, 0
    # if it is none
    top: Ints
    parent: Ints  # (m,); the vertex by which it was reached
    side: Ints  # (m,); `OUTER`, `INNER` or `FREE`
    seen: Ints  # (m,); number of the last walk to the roots that passed it
    within: Ints  # (m, v + 1); of a blossom and a vertex, the member that it is in; 0: not in it
    members: Ints  # (m, v + 1); the cycle of a blossom, the base first
    sizes: Ints  # (m,); members of a blossom
    queue: Ints  # vertices yet to be looked from
    stack: Ints  # room for walks
    counts: Ints  # (4,); vertices, the last number in use, vertices in the queue, walks so far


VERTICES, LAST, QUEUED, WALKS = 0, 1, 2, 3


# Vertices are numbered from 1, so that 0 stands for none; blossoms come after them. Weights are
# made of points so that one pair more outweighs all points.


@kernel(allocates=True)
def pair(points: Floats) -> Ints:
    """Return whose partner each is, -1 for none: as many pairs as can be, of the least total."""
    # Shapes: `points` (n, n); NaN where a pair is not allowed.
    count = len(points)
    size = 2 * count + 2
    edges, rows = np.zeros((2, size, size), np.int64), np.zeros((9, size), np.int64)
    groups = np.zeros((2, size, count + 1), np.int64)
    rows[4, : count + 1] = np.arange(count + 1)
    forest = Forest(
        weight=np.zeros((count + 1, count + 1), np.int64),
        tail=edges[0],
        head=edges[1],
        label=rows[0],
        mate=rows[1],
        slack=rows[2],
        off=rows[3],
        top=rows[4],
        parent=rows[5],
        side=rows[6],
        seen=rows[7],
        within=groups[0],
        members=groups[1],
        sizes=rows[8],
        queue=np.zeros(2 * size, np.int64),
        stack=np.zeros((2 * size, 2), np.int64),
        counts=np.array([count, count, 0, 0]),
    )
    low, high = np.inf, -np.inf
    for i in range(count):
        forest.within[i + 1, i + 1] = i + 1
        for j in range(i):
            if not np.isnan(points[i, j]):
                low, high = min(low, points[i, j]), max(high, points[i, j])
    one_more = int(np.rint((high - low) * UNIT) + 1.0) * (count // 2 + 1) if low <= high else 0
    for i in range(count):
        for j in range(count):
            if i != j and not np.isnan(points[i, j]):
                weight = one_more + int(np.rint((high - points[i, j]) * UNIT))
                forest.weight[i + 1, j + 1] = weight
                forest.tail[i + 1, j + 1], forest.head[i + 1, j + 1] = i + 1, j + 1
    forest.label[1 : count + 1] = forest.weight.max()
    while _grow(forest):
        pass
    return forest.mate[1 : count + 1] - 1


@kernel(allocates=True)
def _grow(forest: Forest) -> bool:
    """Grow trees until there is a pair more; return whether there is one."""
    count = forest.counts[VERTICES]
    forest.counts[QUEUED] = 0
    forest.side[:], forest.slack[:] = FREE, 0
    for number in range(1, forest.counts[LAST] + 1):
        if forest.top[number] == number and forest.mate[number] == 0:
            forest.parent[number], forest.side[number] = 0, OUTER
            _enqueue(forest, number)
    if forest.counts[QUEUED] == 0:
        return False
    while True:
        index = 0
        while index < forest.counts[QUEUED]:
            vertex = forest.queue[index]
            index += 1
            if forest.side[forest.top[vertex]] == INNER:
                continue
            inside, label = forest.top[vertex], forest.label[vertex]
            for other in range(1, count + 1):
                weight = forest.weight[vertex, other]
                if weight == 0:
                    continue
                top = forest.top[other]
                if top == inside or forest.side[top] == INNER:
                    continue
                short = label + forest.label[other] - 2 * weight
                if short > 0:
                    if forest.slack[top] == 0 or short < forest.off[top]:
                        forest.slack[top], forest.off[top] = vertex, short
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
                _open_blossom(forest, number)


@part
def _loosen(forest: Forest) -> bool:
    """Change dual variables until something more is tight; return whether that is possible."""
    count, last = forest.counts[VERTICES], forest.counts[LAST]
    step = FAR
    for number in range(1, last + 1):
        side = forest.side[number]
        if forest.top[number] == number and number > count and side == INNER:
            step = min(step, forest.label[number] // 2)
        if forest.top[number] == number and forest.slack[number] > 0 and side != INNER:
            step = min(step, forest.off[number] if side == FREE else forest.off[number] // 2)
    for vertex in range(1, count + 1):
        if forest.side[forest.top[vertex]] == OUTER and forest.label[vertex] <= step:
            return False
    for vertex in range(1, count + 1):
        forest.label[vertex] += step * STEPS[forest.side[forest.top[vertex]]]
    for number in range(1, last + 1):
        if forest.slack[number] > 0 and forest.side[number] != INNER:
            forest.off[number] -= step if forest.side[number] == FREE else 2 * step
    for number in range(count + 1, last + 1):
        if forest.top[number] == number:
            forest.label[number] -= 2 * step * STEPS[forest.side[number]]
    return True


@kernel(allocates=True)
def _join(forest: Forest, tail: int, head: int) -> bool:
    """Take a tight edge from an outer vertex in; return whether it made a pair more."""
    node, other = forest.top[tail], forest.top[head]
    if forest.side[other] == FREE:
        next_ = forest.top[forest.mate[other]]
        forest.parent[other], forest.side[other], forest.side[next_] = tail, INNER, OUTER
        forest.slack[other] = forest.slack[next_] = 0
        _enqueue(forest, next_)
    elif forest.side[other] == OUTER:
        forest.counts[WALKS] += 1
        walk, first, second = forest.counts[WALKS], node, other
        while first > 0 or second > 0:  # by turns on the walks to their roots
            if first > 0 and forest.seen[first] == walk:
                _make_blossom(forest, node, first, other)
                return False
            if first > 0:
                forest.seen[first] = walk
                first = forest.top[forest.mate[first]]
            if first > 0:
                first = forest.top[forest.parent[first]]
            first, second = second, first
        for start, partner in ((node, other), (other, node)):
            first, second = start, partner
            while True:  # what is matched is swapped on the walk to the root
                left = forest.top[forest.mate[first]]
                _set_mate(forest, first, second)
                if left == 0:
                    break
                first, second = forest.top[forest.parent[left]], left
                _set_mate(forest, left, first)
        return True
    return False


# Blossoms.


@part
def _tightness(forest: Forest, first: int, second: int) -> int:
    """Return by how much the best edge between two is short of being tight."""
    tail, head = forest.tail[first, second], forest.head[first, second]
    return forest.label[tail] + forest.label[head] - 2 * forest.weight[tail, head]


@part
def _find_slack(forest: Forest, other: int) -> None:
    """Look for the outer vertex with the tightest edge to a vertex or blossom."""
    forest.slack[other] = 0
    for vertex in range(1, forest.counts[VERTICES] + 1):
        if (
            forest.tail[other, vertex] > 0
            and forest.top[vertex] != other
            and forest.side[forest.top[vertex]] == OUTER
        ):
            short = _tightness(forest, vertex, other)
            if forest.slack[other] == 0 or short < forest.off[other]:
                forest.slack[other], forest.off[other] = vertex, short


@part
def _enqueue(forest: Forest, group: int) -> None:
    """Queue all vertices of a blossom, or a vertex."""
    for vertex in range(1, forest.counts[VERTICES] + 1):
        if forest.within[group, vertex] > 0:
            forest.queue[forest.counts[QUEUED]] = vertex
            forest.counts[QUEUED] += 1


@part
def _set_top(forest: Forest, group: int, top: int) -> None:
    """Say of a blossom, its members and vertices what the outermost blossom around them is."""
    forest.top[group] = top
    for index in range(forest.sizes[group]):
        forest.top[forest.members[group, index]] = top
    for vertex in range(1, forest.counts[VERTICES] + 1):
        if forest.within[group, vertex] > 0:
            forest.top[vertex] = top


@kernel(allocates=True)
def _even_place(forest: Forest, blossom: int, member: int) -> int:
    """Return an even place of a member in the cycle of a blossom, which may turn it around."""
    size, index = forest.sizes[blossom], 0
    members = forest.members[blossom, :size]
    while members[index] != member:
        index += 1
    if index % 2 == 0:
        return index
    members[1:] = members[:0:-1].copy()
    return size - index


@kernel(allocates=True)
def _set_mate(forest: Forest, first: int, second: int) -> None:
    """Match one vertex or blossom with another, and inside of blossoms the rest in pairs."""
    forest.stack[0, 0], forest.stack[0, 1] = first, second
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node, other = forest.stack[waiting, 0], forest.stack[waiting, 1]
        forest.mate[node] = forest.head[node, other]
        if node <= forest.counts[VERTICES]:
            continue
        base = forest.within[node, forest.tail[node, other]]
        index, members = _even_place(forest, node, base), forest.members[node]
        for k in range(index):
            forest.stack[waiting, 0], forest.stack[waiting, 1] = members[k], members[k ^ 1]
            waiting += 1
        forest.stack[waiting, 0], forest.stack[waiting, 1] = base, other
        waiting += 1
        size = forest.sizes[node]
        members[:size] = np.roll(members[:size], -index)  # the cycle begins at the base


@kernel(allocates=True)
def _make_blossom(forest: Forest, first: int, base: int, second: int) -> None:
    """Make a blossom of the walks from two outer ones to the base that both come to."""
    blossom = forest.counts[VERTICES] + 1
    while blossom <= forest.counts[LAST] and forest.top[blossom] != 0:
        blossom += 1
    forest.counts[LAST] = max(forest.counts[LAST], blossom)
    forest.label[blossom], forest.side[blossom] = 0, OUTER
    forest.mate[blossom] = forest.mate[base]
    members = forest.members[blossom]
    size = _walk(forest, members, 0, first, base)
    members[size] = base
    members[: size + 1] = members[size::-1].copy()
    forest.sizes[blossom] = _walk(forest, members, size + 1, second, base)
    # It has the best edges of its members, and their vertices.
    last = forest.counts[LAST]
    forest.tail[blossom], forest.tail[:, blossom], forest.within[blossom] = 0, 0, 0
    for member in members[: forest.sizes[blossom]]:
        for other in range(1, last + 1):
            if forest.tail[member, other] > 0 and (
                forest.tail[blossom, other] == 0
                or _tightness(forest, member, other) < _tightness(forest, blossom, other)
            ):
                for edges in (forest.tail, forest.head):
                    edges[blossom, other] = edges[member, other]
                    edges[other, blossom] = edges[other, member]
        for vertex in range(1, forest.counts[VERTICES] + 1):
            if forest.within[member, vertex] > 0:
                forest.within[blossom, vertex] = member
    _set_top(forest, blossom, blossom)
    _find_slack(forest, blossom)


@part
def _walk(forest: Forest, members: Ints, size: int, node: int, base: int) -> int:
    """Take what is on the walk from an outer one to a base; return the members so far."""
    while node != base:
        inner = forest.top[forest.mate[node]]
        members[size], members[size + 1] = node, inner
        size += 2
        _enqueue(forest, inner)
        node = forest.top[forest.parent[inner]]
    return size


@kernel(allocates=True)
def _open_blossom(forest: Forest, blossom: int) -> None:
    """Open an inner blossom: what is on the way through it stays in the tree."""
    size, members = forest.sizes[blossom], forest.members[blossom]
    for member in members[:size]:
        _set_top(forest, member, member)
    reached = forest.tail[blossom, forest.parent[blossom]]
    entry = forest.within[blossom, reached]
    index = _even_place(forest, blossom, entry)
    for k in range(0, index, 2):
        inner, outer = members[k], members[k + 1]
        forest.parent[inner], forest.slack[inner] = forest.tail[outer, inner], 0
        forest.side[inner], forest.side[outer] = INNER, OUTER
        _find_slack(forest, outer)
        _enqueue(forest, outer)
    forest.side[entry], forest.parent[entry] = INNER, forest.parent[blossom]
    for member in members[index + 1 : size]:
        forest.side[member] = FREE
        _find_slack(forest, member)
    forest.top[blossom] = 0
