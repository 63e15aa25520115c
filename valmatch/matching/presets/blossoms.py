"""The forest of a search for pairs: vertices, blossoms of an odd number of them, and their labels.

A blossom is an odd cycle that is treated as one vertex until it is opened again (Edmonds, 1965).
Vertices are numbered from 1, so that 0 stands for none; blossoms come after them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Ints
from valmatch.kernels.compilation import internal

OUTER, INNER, FREE = 0, 1, -1
"""Whether a vertex is at an even or odd distance from a root, or in no tree."""


class Forest(NamedTuple):
    """The state of a search."""

    weight: Ints  # (v + 1, v + 1); what a pair is worth, > 0; 0: it is not allowed
    # tail, head: (m, m); the ends of the best edge from one vertex or blossom to another, 0 where
    # there is none
    tail: Ints
    head: Ints
    label: Ints  # (m,); dual variables
    mate: Ints  # (m,); the vertex that is at the other end of the matched edge; 0: none
    slack: Ints  # (m,); the outer vertex with the tightest edge to it; 0: none
    off: Ints  # (m,); by how much that edge is short of being tight
    top: Ints  # (m,); the outermost blossom around it, itself where there is none; 0 of no blossom
    parent: Ints  # (m,); the vertex by which it was reached
    side: Ints  # (m,); `OUTER`, `INNER` or `FREE`
    seen: Ints  # (m,); number of the last walk to the roots that passed it
    # (m, v + 1); of a blossom and a vertex, the member that it is in; 0: it is not in it
    within: Ints
    members: Ints  # (m, v + 1); the cycle of a blossom, the base first
    sizes: Ints  # (m,); members of a blossom
    # queue, stack, spare: vertices yet to be looked from; room for walks
    queue: Ints
    stack: Ints
    spare: Ints
    counts: Ints  # (4,); vertices, the last number in use, vertices in the queue, walks so far


VERTICES, LAST, QUEUED, WALKS = 0, 1, 2, 3


def make_forest(most: int) -> Forest:
    """Return room for a search among so many vertices."""
    numbers = 2 * most + 2

    def square(rows: int, columns: int) -> Ints:
        return np.zeros((rows, columns), np.int64)

    def row() -> Ints:
        return np.zeros(numbers, np.int64)

    return Forest(
        weight=square(most + 1, most + 1),
        tail=square(numbers, numbers),
        head=square(numbers, numbers),
        label=row(),
        mate=row(),
        slack=row(),
        off=row(),
        top=row(),
        parent=row(),
        side=row(),
        seen=row(),
        within=square(numbers, most + 1),
        members=square(numbers, most + 1),
        sizes=row(),
        queue=np.zeros(2 * numbers, np.int64),
        stack=np.zeros((2 * numbers, 2), np.int64),
        spare=row(),
        counts=np.zeros(4, np.int64),
    )


@internal
def tightness(forest: Forest, first: int, second: int) -> int:
    """Return by how much the best edge between two is short of being tight."""
    tail, head = forest.tail[first, second], forest.head[first, second]
    return forest.label[tail] + forest.label[head] - 2 * forest.weight[tail, head]


@internal
def tell_slack(forest: Forest, outer: int, other: int) -> None:
    """Let a vertex or blossom know of an outer vertex."""
    short = tightness(forest, outer, other)
    if forest.slack[other] == 0 or short < forest.off[other]:
        forest.slack[other] = outer
        forest.off[other] = short


@internal
def find_slack(forest: Forest, other: int) -> None:
    """Look for the outer vertex with the tightest edge to a vertex or blossom."""
    forest.slack[other] = 0
    for vertex in range(1, forest.counts[VERTICES] + 1):
        if (
            forest.tail[other, vertex] > 0
            and forest.top[vertex] != other
            and forest.side[forest.top[vertex]] == OUTER
        ):
            tell_slack(forest, vertex, other)


@internal
def enqueue(forest: Forest, whole: int) -> None:
    """Queue all vertices of a blossom, or a vertex."""
    count, queued = forest.counts[VERTICES], forest.counts[QUEUED]
    if whole <= count:
        forest.queue[queued] = whole
        forest.counts[QUEUED] = queued + 1
        return
    for vertex in range(1, count + 1):
        if forest.within[whole, vertex] > 0:
            forest.queue[queued] = vertex
            queued += 1
    forest.counts[QUEUED] = queued


@internal
def set_top(forest: Forest, whole: int, top: int) -> None:
    """Say of everything in a blossom what the outermost blossom around it is."""
    forest.stack[0, 0] = whole
    size = 1
    while size > 0:
        size -= 1
        one = forest.stack[size, 0]
        forest.top[one] = top
        if one > forest.counts[VERTICES]:
            for place in range(forest.sizes[one]):
                forest.stack[size, 0] = forest.members[one, place]
                size += 1


@internal
def even_place(forest: Forest, blossom: int, member: int) -> int:
    """Return an even place of a member in the cycle of a blossom, which may turn it around."""
    size = forest.sizes[blossom]
    place = 0
    while forest.members[blossom, place] != member:
        place += 1
    if place % 2 == 0:
        return place
    low, high = 1, size - 1
    while low < high:
        kept = forest.members[blossom, low]
        forest.members[blossom, low] = forest.members[blossom, high]
        forest.members[blossom, high] = kept
        low += 1
        high -= 1
    return size - place


@internal
def set_mate(forest: Forest, first: int, second: int) -> None:
    """Match one vertex or blossom with another, and inside of blossoms the rest in pairs."""
    forest.stack[0, 0] = first
    forest.stack[0, 1] = second
    waiting = 1
    while waiting > 0:
        waiting -= 1
        one, other = forest.stack[waiting, 0], forest.stack[waiting, 1]
        forest.mate[one] = forest.head[one, other]
        if one <= forest.counts[VERTICES]:
            continue
        base = forest.within[one, forest.tail[one, other]]
        place = even_place(forest, one, base)
        for k in range(place):
            forest.stack[waiting, 0] = forest.members[one, k]
            forest.stack[waiting, 1] = forest.members[one, k ^ 1]
            waiting += 1
        forest.stack[waiting, 0] = base
        forest.stack[waiting, 1] = other
        waiting += 1
        _turn(forest, one, place)


@internal
def _turn(forest: Forest, blossom: int, place: int) -> None:
    """Let the cycle of a blossom begin at a place."""
    size = forest.sizes[blossom]
    for k in range(size):
        forest.spare[k] = forest.members[blossom, k]
    for k in range(size):
        forest.members[blossom, k] = forest.spare[(k + place) % size]


@internal
def make_blossom(forest: Forest, first: int, base: int, second: int) -> None:
    """Make a blossom of the walks from two outer ones to the base that both come to."""
    count, last = forest.counts[VERTICES], forest.counts[LAST]
    blossom = count + 1
    while blossom <= last and forest.top[blossom] != 0:
        blossom += 1
    if blossom > last:
        forest.counts[LAST] = last = blossom
    forest.label[blossom] = 0
    forest.side[blossom] = OUTER
    forest.mate[blossom] = forest.mate[base]
    size = _walk(forest, blossom, 0, first, base)
    forest.members[blossom, size] = base
    size += 1
    low, high = 0, size - 1
    while low < high:
        kept = forest.members[blossom, low]
        forest.members[blossom, low] = forest.members[blossom, high]
        forest.members[blossom, high] = kept
        low += 1
        high -= 1
    forest.sizes[blossom] = _walk(forest, blossom, size, second, base)
    _inherit(forest, blossom, count, last)
    set_top(forest, blossom, blossom)
    find_slack(forest, blossom)


@internal
def _walk(forest: Forest, blossom: int, size: int, start: int, base: int) -> int:
    """Take what is on the walk from an outer one to a base; return the members so far."""
    one = start
    while one != base:
        inner = forest.top[forest.mate[one]]
        forest.members[blossom, size] = one
        forest.members[blossom, size + 1] = inner
        size += 2
        enqueue(forest, inner)
        one = forest.top[forest.parent[inner]]
    return size


@internal
def _inherit(forest: Forest, blossom: int, count: int, last: int) -> None:
    """Give a blossom the best edges of its members, and their vertices."""
    for other in range(1, last + 1):
        forest.tail[blossom, other] = 0
        forest.tail[other, blossom] = 0
    for vertex in range(1, count + 1):
        forest.within[blossom, vertex] = 0
    for place in range(forest.sizes[blossom]):
        member = forest.members[blossom, place]
        for other in range(1, last + 1):
            if forest.tail[member, other] > 0 and (
                forest.tail[blossom, other] == 0
                or tightness(forest, member, other) < tightness(forest, blossom, other)
            ):
                forest.tail[blossom, other] = forest.tail[member, other]
                forest.head[blossom, other] = forest.head[member, other]
                forest.tail[other, blossom] = forest.tail[other, member]
                forest.head[other, blossom] = forest.head[other, member]
        for vertex in range(1, count + 1):
            if forest.within[member, vertex] > 0:
                forest.within[blossom, vertex] = member


@internal
def open_blossom(forest: Forest, blossom: int) -> None:
    """Open an inner blossom: what is on the way through it stays in the tree."""
    size = forest.sizes[blossom]
    for place in range(size):
        member = forest.members[blossom, place]
        set_top(forest, member, member)
    reached = forest.tail[blossom, forest.parent[blossom]]
    entry = forest.within[blossom, reached]
    place = even_place(forest, blossom, entry)
    for k in range(0, place, 2):
        inner, outer = forest.members[blossom, k], forest.members[blossom, k + 1]
        forest.parent[inner] = forest.tail[outer, inner]
        forest.side[inner] = INNER
        forest.side[outer] = OUTER
        forest.slack[inner] = 0
        find_slack(forest, outer)
        enqueue(forest, outer)
    forest.side[entry] = INNER
    forest.parent[entry] = forest.parent[blossom]
    for k in range(place + 1, size):
        member = forest.members[blossom, k]
        forest.side[member] = FREE
        find_slack(forest, member)
    forest.top[blossom] = 0
