"""Kernels that put tickets in order: by a key, or together by camp."""

from __future__ import annotations

from valmatch.kernels.arrays import Ints, Records
from valmatch.kernels.compilation import internal


@internal
def stable_sort(order: Ints, spare: Ints, slots: Records, count: int) -> None:
    """Sort the first `count` of some tickets by their keys; equal ones keep their order."""
    width = 1
    while width < count:
        for start in range(0, count, 2 * width):
            middle, end = min(start + width, count), min(start + 2 * width, count)
            one, other = start, middle
            for k in range(start, end):
                first = one < middle and (
                    other >= end or not slots[order[other]]["key"] < slots[order[one]]["key"]
                )
                if first:
                    spare[k] = order[one]
                    one += 1
                else:
                    spare[k] = order[other]
                    other += 1
        for k in range(count):
            order[k] = spare[k]
        width *= 2


@internal
def group(
    source: Ints, count: int, target: Ints, tickets: Records, firsts: Ints, ends: Ints
) -> None:
    """Put tickets together by camp, in each in the order in which they come."""
    for k in range(count):
        camp = tickets[source[k]]["camp"]
        if camp >= 0:
            ends[camp] = 0
    for k in range(count):
        camp = tickets[source[k]]["camp"]
        if camp >= 0:
            ends[camp] += 1
    # Where a camp begins is known at its first ticket, and is its end, yet to grow, from then on.
    # Until then the end is a number of tickets; afterwards it is negative, less one.
    total = 0
    for k in range(count):
        camp = tickets[source[k]]["camp"]
        if camp < 0:
            continue
        if ends[camp] >= 0:
            firsts[camp], total = total, total + ends[camp]
            ends[camp] = -firsts[camp] - 1
        target[-ends[camp] - 1] = source[k]
        ends[camp] -= 1
    for k in range(count):
        camp = tickets[source[k]]["camp"]
        if camp >= 0 and ends[camp] < 0:
            ends[camp] = -ends[camp] - 1


@internal
def place_in(line: Ints, first: int, end: int, ticket: int) -> int:
    """Return the place of the first ticket of an increasing line that is not below a ticket."""
    while first < end:
        middle = (first + end) // 2
        if line[middle] < ticket:
            first = middle + 1
        else:
            end = middle
    return first
