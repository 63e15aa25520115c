"""Reports of how far a run is, where it is not shown on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable

from valmatch.text.durations import in_words

EVERY = 30.0  # least seconds between two reports


def rate_in_words(rate: float) -> str:
    """Return a number a second, a slow one with a decimal."""
    return f"{rate:,.0f}/s" if rate >= 10.0 else f"{rate:,.2g}/s"


class Reports:
    """Lines on how far a run is, at most every `EVERY` seconds."""

    def __init__(self, what: str, total: int | None, say: Callable[[str], None] | None) -> None:
        self._what, self._total, self._say = what, total, say
        self._found = 0
        self._begun = self._last = -1.0

    def found(self, count: int) -> None:
        """Note what an earlier run left, which says nothing of the pace of this one."""
        self._found += count

    def __call__(self, done: int) -> None:
        """Take in how many are there by now."""
        now = time.monotonic()
        if self._begun < 0.0:
            self._begun = self._last = now
        elif self._say and now - self._last >= EVERY:
            self._last = now
            self._say(self._line(done, now - self._begun))

    def _line(self, done: int, seconds: float) -> str:
        of = "" if self._total is None else f" of {self._total:,}"
        made = done - self._found
        if made <= 0 or seconds <= 0.0:
            return f"{self._what}: {done:,}{of}"
        rate = made / seconds
        left = "" if self._total is None else in_words(max(0, self._total - done) / rate)
        return f"{self._what}: {done:,}{of}, {rate_in_words(rate)}{left and f', {left} left'}"
