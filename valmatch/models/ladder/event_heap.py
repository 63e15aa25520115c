"""The next event of its kind of each player, in a heap by time, then by player."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Records
from valmatch.kernels.compilation import at, inlined

EVENT = np.dtype([("time", "f8"), ("player", "i8")])
NONE = -1

Places = NDArray[np.int32]
"""Where players are in a heap."""


def new_heap(players: int) -> tuple[Records, Places]:
    """Return an empty heap for `players`, and where in it each of them is: nowhere."""
    return np.zeros(players, EVENT), np.full(players, NONE, np.int32)


@inlined
def schedule(time: float, player: int, size: int, heap: Records, places: Places) -> int:
    """Enter the event of a player who has none; return the size of the heap."""
    _rise(time, player, size, heap, places)
    return size + 1


@inlined
def cancel(player: int, size: int, heap: Records, places: Places) -> int:
    """Take the event of a player out; return the size of the heap."""
    place = int(places[at(player)])
    places[at(player)] = NONE
    size -= 1
    if place < size:
        last = heap[at(size)]
        time, other = last["time"], last["player"]
        place = _sink(time, other, place, size, heap, places)
        _rise(time, other, place, heap, places)
    return size


@inlined
def _before(time: float, player: int, other: int, heap: Records) -> bool:
    """Return whether an event is earlier than that at the place `other`."""
    event = heap[at(other)]
    return time < event["time"] or (time == event["time"] and player < event["player"])


@inlined
def _rise(time: float, player: int, place: int, heap: Records, places: Places) -> None:
    """Put an event at a place, or as far up from it as it is early."""
    while place > 0:
        parent = (place - 1) // 2
        if not _before(time, player, parent, heap):
            break
        heap[at(place)] = heap[at(parent)]
        places[at(heap[at(place)]["player"])] = place
        place = parent
    heap[at(place)]["time"], heap[at(place)]["player"] = time, player
    places[at(player)] = place


@inlined
def _sink(time: float, player: int, place: int, size: int, heap: Records, places: Places) -> int:
    """Let all that are earlier come up from below a free place; return the place left free."""
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size:
            right = heap[at(child + 1)]
            if _before(right["time"], right["player"], child, heap):
                child += 1
        if _before(time, player, child, heap):
            break
        heap[at(place)] = heap[at(child)]
        places[at(heap[at(place)]["player"])] = place
        place = child
    return place
