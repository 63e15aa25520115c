"""Columns of files of ratings are what Python's own writer makes, and read back."""

from __future__ import annotations

import csv
import io

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from valmatch.game_logs.rating_files import numerals, text_cells
from valmatch.inputs.csv_reader import mark


@settings(deadline=None)
@given(arrays.arrays(np.float64, st.integers(1, 30), elements=st.floats()))
@example(np.array([0.0, -0.0, 1e-4, 9.999999999999999e-5, 1e-5, -1e-5, 1.5e-7, 5e-324]))
@example(np.array([1e15, 9999999999999998.0, 1e16, -1.2345e16, 1.7976931348623157e308]))
@example(np.array([np.nan, np.inf, -np.inf, 520.0, 0.1 + 0.2]))
def test_floats_are_as_repr_writes_them(values: np.ndarray) -> None:
    assert numerals(values) == [repr(value) for value in values.tolist()]


@settings(deadline=None)
@given(st.lists(st.text(alphabet="a,\"\r\n é雪'=-@+\t", min_size=1), min_size=1))
def test_names_are_marked_and_quoted_where_they_have_to_be(names: list[str]) -> None:
    cells = text_cells(names)
    text = "".join(f"{cell},0\n" for cell in cells)
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert rows == [[mark(name), "0"] for name in names]
    quoted = [any(letter in name for letter in ',"\r\n') for name in names]
    assert [cell.startswith('"') for cell in cells] == quoted
