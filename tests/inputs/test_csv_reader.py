"""Rows of CSV files come by column, typed, and every error names file, line and column."""

from __future__ import annotations

import gzip
import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from valmatch.errors import InputError
from valmatch.inputs.csv_reader import COMMAS, WIDTH, Dialect, Row, RowError, read_rows, rows_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "f.csv"


def choose(header: Sequence[str], where: str) -> Sequence[str]:
    return header


def rows(file: Path, text: str, dialect: Dialect = COMMAS) -> list[Row]:
    file.write_text(text)
    return list(read_rows(file, choose, dialect))


def test_cells_come_by_column_with_the_line_where_their_row_ends(file: Path) -> None:
    errors = rows(file, '\na, b\n\n1,"x\ny"\n2, z\n')
    assert [row.cells for row in errors] == [{"a": "1", "b": "x\ny"}, {"a": "2", "b": " z"}]
    assert [row.place for row in errors] == [f"{file}:5", f"{file}:6"]


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_has_no_columns(text: str, file: Path) -> None:
    def refuse(header: Sequence[str], where: str) -> Sequence[str]:
        raise InputError(f"{where}: {list(header)}")

    file.write_text(text)
    with pytest.raises(InputError) as error:
        list(read_rows(file, refuse))
    assert str(error.value) == f"{file}:1: []"


@pytest.mark.parametrize(
    ("dialect", "text", "cells"),
    [
        (Dialect(";"), "a;b\n1,5;2\n", ["1,5", "2"]),
        (Dialect(None), "a;b\n1,5;2\n", ["1,5", "2"]),
        (Dialect(None), "a\tb\n1\t2\n", ["1", "2"]),
        (Dialect(None), "\na;b\n1;2\n", ["1", "2"]),
        (Dialect(None), "a,b;c\n1,2\n", ["1", "2"]),
        (Dialect(trimmed=True), 'a,b\n 1 , "2"\n', ["1", "2"]),
        (Dialect(padded=True), "a,b\n1\n", ["1", ""]),
    ],
)
def test_dialects(dialect: Dialect, text: str, cells: list[str], file: Path) -> None:
    (row,) = rows(file, text, dialect)
    assert list(row.cells.values()) == cells


CELLS: list[tuple[str, Callable[[Row], object], str]] = [
    ("", lambda row: row.text("x"), "x: the cell is empty"),
    ("", lambda row: row.number("x", " of hours"), "x: empty (allowed: a finite number of hours)"),
    ("inf", lambda row: row.number("x"), "x: 'inf' (allowed: a finite number)"),
    ("7", lambda row: row.number_within("x", 0, 5), "x: '7' (allowed: a number from 0 to 5)"),
    ("nan", lambda row: row.number_within("x", 0, 5), "x: 'nan' (allowed: a number from 0 to 5)"),
    ("1.5", lambda row: row.whole("x", 0, 5), "x: '1.5' (allowed: a whole number)"),
    ("-1", lambda row: row.whole("x", 0, 5), "x: '-1' (allowed: a number from 0 to 5)"),
    ("noon", lambda row: row.time("x"), "x: 'noon' (allowed: a number or an ISO 8601 moment)"),
    ("2", lambda row: row.flag("x"), "x: '2' (allowed: yes, no, true, false, 1, 0)"),
]


@pytest.mark.parametrize(("cell", "read", "message"), CELLS)
def test_a_wrong_cell_is_named(cell: str, read: Callable[[Row], object], message: str) -> None:
    with pytest.raises(RowError) as error:
        read(Row("f.csv", 3, {"x": cell}))
    assert str(error.value) == f"f.csv:3: {message}"


def test_typed_cells() -> None:
    row = Row("f.csv", 3, {"n": "2.5", "k": "4", "t": "7", "d": "1970-01-02", "y": "YES", "f": "n"})
    assert row.number("n") == row.number_within("n", 0.0, 3.0) == 2.5
    assert row.whole("k", 0, 9) == 4
    assert row.time("t") == (7.0, False)
    assert row.time("d") == (86400.0, True)
    assert math.isnan(row.time("absent")[0])
    assert (row.flag("y"), row.flag("f")) == (True, False)


BAD = [
    ("a,b,a\n1,2,3\n", ":1: column a appears twice"),
    ("a,b\n1\n", ":2: the row has 1 cells (allowed: 2)"),
    ("a,b\n1,2\n1,2,3\n", ":3: the row has 3 cells (allowed: 2)"),
    ('a,b\n1,"2\n', ":2: cannot be read: unexpected end of data"),
    ('a,b\n"1"2,3\n', ":2: cannot be read: ',' expected after '\"'"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_what_is_no_table_is_refused_with_its_place(text: str, message: str, file: Path) -> None:
    with pytest.raises(InputError) as error:
        rows(file, text)
    assert str(error.value) == f"{file}{message}"


def test_rows_of_another_width_may_be_left_out(file: Path) -> None:
    file.write_text("a,b\n1\n2,3\n")
    errors: list[RowError] = []
    (row,) = read_rows(file, choose, wrong=errors.append)
    assert row.line == 3
    assert [(str(error), error.kind) for error in errors] == [
        (f"{file}:2: the row has 1 cells (allowed: 2)", WIDTH)
    ]


def test_packed_files_standard_input_and_marks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_bytes(gzip.compress(b"a\n'=x\n=x\n''=x\n'x\n"))
    assert [row.cells["a"] for row in read_rows(file, choose)] == ["=x", "=x", "'=x", "'x"]
    monkeypatch.setattr("sys.stdin", io.StringIO("a,b\n1\n"))
    with pytest.raises(InputError, match=r"^standard input:2: the row has 1 cells"):
        list(read_rows(None, choose))


def test_text_that_a_run_wrote_is_damaged() -> None:
    with pytest.raises(InputError) as error:
        list(rows_of(["a\n", '"b\n'], "f.csv", fault="damaged"))
    assert str(error.value) == "f.csv:2: damaged: unexpected end of data"
