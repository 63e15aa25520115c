"""Taking the parts of a log in a thread, one ahead of what is done with them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")


class Ahead:
    """A thread that reads while others work; most of reading is done without the GIL.

    Whoever takes the parts gets them in order, and an error in place of the part that it kept
    from being read.
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    def over(self, parts: Iterator[T]) -> Iterator[T]:
        """Yield the parts; the next one is read meanwhile."""
        from concurrent.futures import ThreadPoolExecutor  # of no use to short logs

        self._pool = self._pool or ThreadPoolExecutor(1, "reading")
        coming = self._pool.submit(_following, parts)
        while part := coming.result():
            coming = self._pool.submit(_following, parts)
            yield from part

    def close(self) -> None:
        """Wait for the part that is being read, and end the thread."""
        if self._pool:
            self._pool.shutdown()


def _following(parts: Iterator[T]) -> list[T]:
    """Return the next part; nothing where there is none."""
    return list(islice(parts, 1))
