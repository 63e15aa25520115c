"""The flags of this process by which compiled searches are ended from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_halted = False

_searches: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""The state of each search, by its identity: kernels look at one that they have at hand."""


class Stopped(Exception):  # noqa: N818 - no error
    """Ends a piece of work that was asked to stop, from inside."""


def watched(state: NDArray[np.void]) -> NDArray[np.void]:
    """Return the state of a search, whose field ``halt`` is not 0 from `halt` to `resume`."""
    _searches[id(state)] = state
    state["halt"] = _halted
    return state


def halt() -> None:
    """End all searches of this process; what they return then is of no meaning."""
    _set(True)


def resume() -> None:
    """Let searches begin again."""
    _set(False)


def check() -> None:
    """Raise `Stopped` where searches are ended: what a kernel has returned is of no meaning."""
    if _halted:
        raise Stopped


def _set(halted: bool) -> None:
    global _halted
    _halted = halted
    for state in list(_searches.values()):
        state["halt"] = halted
