"""CSV text made column by column reads back, and is what Python's own writer makes."""

from __future__ import annotations

import csv
import io

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from valmatch.game_logs.csv_rows import lines, numerals
from valmatch.game_logs.names import Texts
from valmatch.inputs.csv_reader import mark


def pieces(texts: Texts) -> list[str]:
    return [texts.text(k) for k in range(len(texts.starts))]


@given(arrays.arrays(np.float64, st.integers(1, 30), elements=st.floats()))
@example(np.array([0.0, -0.0, 1e-4, 9.999999999999999e-5, 1e-5, -1e-5, 1.5e-7, 5e-324]))
@example(np.array([1e15, 9999999999999998.0, 1e16, -1.2345e16, 1.7976931348623157e308]))
@example(np.array([np.nan, np.inf, -np.inf, 520.0, 0.1 + 0.2]))
def test_floats_are_as_repr_writes_them(values: np.ndarray) -> None:
    assert pieces(numerals(values)) == [repr(value) for value in values.tolist()]


@given(arrays.arrays(np.int64, st.integers(1, 30)))
def test_whole_numbers_are_as_repr_writes_them(values: np.ndarray) -> None:
    assert pieces(numerals(values)) == [repr(value) for value in values.tolist()]


@given(
    st.lists(
        st.tuples(
            st.text(alphabet="a,\"\r\n é雪'=-"), st.floats(allow_nan=False), st.integers(0, 99)
        ),
        min_size=1,
    )
)
def test_lines_read_back(rows: list[tuple[str, float, int]]) -> None:
    names, values, counts = zip(*rows, strict=True)
    text = lines((Texts.of(names), numerals(np.array(values)), numerals(np.array(counts))))
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read == [[mark(name), repr(value), str(count)] for name, value, count in rows]


@given(st.lists(st.text(alphabet='a,"\n é雪', min_size=1), min_size=1))
def test_quotes_stand_where_the_csv_module_puts_them(names: list[str]) -> None:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([name, "0"] for name in names)
    zeros = numerals(np.zeros(len(names), np.int64))
    assert lines((Texts.of(names), zeros)) == file.getvalue()
