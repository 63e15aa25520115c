"""A paired difference as charts show it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from valmatch.plots.source import Mean
from valmatch.plots.style import GOOD, GREY, plus_minus

__all__ = ["Difference"]


class Difference(NamedTuple):
    """The paired difference b - a of one response, and its mean under a; NaN where undefined."""

    response: str
    found: Mean
    mean_a: float

    @property
    def sure(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.found.low > 0.0 or self.found.high < 0.0

    @property
    def colour(self) -> str:
        """The colour of its mark."""
        return GOOD if self.sure else GREY

    @property
    def in_words(self) -> str:
        """The difference in its unit and in percent of the mean under a."""
        mean, half = self.found.mean, self.found.high - self.found.mean
        if mean == 0.0 and half == 0.0:
            return "no difference"
        text = plus_minus(mean, half)
        if self.mean_a and math.isfinite(self.mean_a) and math.isfinite(mean):
            percent = 100.0 * mean / abs(self.mean_a)
            text += f"  ({percent:+,.0f}%)" if abs(percent) >= 10 else f"  ({percent:+.2g}%)"
        if self.found.undefined:
            text += f"  undefined in {self.found.undefined:,}"
        return text

    @classmethod
    def of(cls, response: str, found: dict[str, Any], base: str) -> Difference:
        """Return what a summary says, which calls the mean under a by the key `base`."""
        mean_a = found[base]
        return cls(response, Mean.of(found), math.nan if mean_a is None else float(mean_a))
