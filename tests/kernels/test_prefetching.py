"""Asking for memory: a kernel asks with the processor's instruction, and no value changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import kernel
from valmatch.kernels.references import prefetch

WIDE = np.dtype([("a", "f8"), ("b", "f8", (9,))])


@kernel(allocates=True)
def _total(records: Records, matrix: Floats, order: Ints) -> float:
    total = 0.0
    for k in range(order.size):
        if k + 1 < order.size:
            prefetch(records, order[k + 1])
            prefetch(matrix, order[k + 1])
        total += records[order[k]]["a"] * matrix[order[k], 1]
    return total


def test_no_value_changes() -> None:
    rng = np.random.default_rng(1)
    records = np.zeros(50, WIDE)
    records["a"] = np.arange(50.0)
    matrix, order = np.arange(150.0).reshape(50, 3), rng.permutation(50)
    before = records.copy(), matrix.copy()
    assert _total(records, matrix, order) == np.sum(np.arange(50.0) * matrix[:, 1])
    assert records.tobytes() == before[0].tobytes()
    assert matrix.tobytes() == before[1].tobytes()


def _ask(records: Records, matrix: Floats, index: int) -> None:
    prefetch(records, index)
    prefetch(matrix, index)


@pytest.mark.usefixtures("compiled_anew")
def test_every_line_of_a_record_is_asked_for() -> None:
    function: Any = kernel(_ask, allocates=True)
    function(np.zeros(2, WIDE), np.zeros((2, 2)), 1)
    (text,) = function.inspect_llvm().values()
    calls = [line for line in text.splitlines() if "call void @llvm.prefetch" in line]
    # 80 bytes lie in two or three lines; a number lies in one.
    assert len(calls) == 3 + 1
