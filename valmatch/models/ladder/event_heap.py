"""The next event of its kind of each player, in a heap by time, then by player.

Where an event may be taken out that is not the first, the places of all players are kept as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Records
from valmatch.kernels.compilation import at, inlined

EVENT = np.dtype([("time", "f8"), ("player", "i8")])
NONE = -1

Places = NDArray[np.int32]  # where players are in a heap


def new_heap(players: int) -> Records:
    """Return an empty heap for `players`."""
    return np.zeros(players, EVENT)


def nowhere(players: int) -> Places:
    """Return that none of `players` is in a heap."""
    return np.full(players, NONE, np.int32)


@inlined
def schedule(time: float, player: int, size: int, heap: Records, places: Places | None) -> int:
    """Enter the event of a player who has none; return the size of the heap."""
    _rise(time, player, size, heap, places)
    return size + 1


@inlined
def cancel(place: int, size: int, heap: Records, places: Places | None) -> int:
    """Take the event at a place out, 0 for the earliest; return the size of the heap."""
    _note(heap[at(place)]["player"], NONE, places)
    size -= 1
    if place < size:
        free = _sink(place, size, heap, places)
        last = heap[at(size)]
        _rise(last["time"], last["player"], free, heap, places)
    return size


@inlined
def _note(player: int, place: int, places: Places | None) -> None:
    """Note where a player is, if that is kept."""
    if places is not None:
        places[at(player)] = place


@inlined
def _before(time: float, player: int, other: int, heap: Records) -> bool:
    """Return whether an event is earlier than that at the place `other`."""
    event = heap[at(other)]
    return time < event["time"] or (time == event["time"] and player < event["player"])


@inlined
def _rise(time: float, player: int, place: int, heap: Records, places: Places | None) -> None:
    """Put an event at a place, or as far up from it as it is early."""
    while place > 0:
        parent = (place - 1) // 2
        if not _before(time, player, parent, heap):
            break
        heap[at(place)] = heap[at(parent)]
        _note(heap[at(place)]["player"], place, places)
        place = parent
    heap[at(place)]["time"], heap[at(place)]["player"] = time, player
    _note(player, place, places)


@inlined
def _sink(place: int, size: int, heap: Records, places: Places | None) -> int:
    """Let the earliest come up from below a free place, to the bottom; return what is free then.

    The last event takes that place and seldom rises from there, so it is not compared on the way.
    """
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size:
            right = heap[at(child + 1)]
            child += int(_before(right["time"], right["player"], child, heap))
        heap[at(place)] = heap[at(child)]
        _note(heap[at(place)]["player"], place, places)
        place = child
    return place
