"""What the folders of runs hold together: their replications, as rows or as sums."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from valmatch.kernels.arrays import Floats
from valmatch.statistics.curve_sums import CurveSums
from valmatch.statistics.exact_sums import ColumnSums

Rows = Mapping[int, tuple[str, list[float]]]
"""Lines of ``replications.csv`` and their values, by replication."""

NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Held(NamedTuple):
    """What folders hold together.

    Attributes
    ----------
    indices : sequence of int
        Their replications.
    there : collection of int
        The same, quick to be asked for one.
    common : callable
        Returns how many of a range are there.
    values, rows, sums, curves, controls
        As in the result.
    """

    indices: Sequence[int]
    there: Collection[int]
    common: Callable[[range], int]
    values: Floats
    rows: Rows = NOTHING
    sums: ColumnSums | None = None
    curves: CurveSums | None = None
    controls: Mapping[str, Any] = NOTHING
