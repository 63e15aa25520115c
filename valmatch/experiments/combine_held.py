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
    """What folders hold together."""

    indices: Sequence[int]  # their replications
    there: Collection[int]  # the same, quick to be asked for one
    common: Callable[[range], int]  # returns how many of a range are there
    # values, rows, sums, curves, controls: as in the result
    values: Floats
    rows: Rows = NOTHING
    sums: ColumnSums | None = None
    curves: CurveSums | None = None
    controls: Mapping[str, Any] = NOTHING
