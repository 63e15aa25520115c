"""CSV files: unpacked, read by column and typed; every error names file, line and column."""

from __future__ import annotations

import gzip
import io
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from valmatch.errors import InputError, RunError
from valmatch.game_logs.rating import rate_games
from valmatch.inputs.csv_reader import WIDTH, Row, RowError, open_text, read_rows


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "f.csv"


def choose(header: Sequence[str], where: str) -> Sequence[str]:
    return header


def rows(file: Path, text: str, **dialect: Any) -> list[Row]:  # noqa: ANN401
    file.write_text(text)
    return list(read_rows(file, choose, **dialect))


def test_cells_come_by_column_with_the_line_where_their_row_ends(file: Path) -> None:
    errors = rows(file, '\na, b\n\n1,"x\ny"\n2, z\n')
    assert [row.cells for row in errors] == [{"a": "1", "b": "x\ny"}, {"a": "2", "b": " z"}]
    assert [row.place for row in errors] == [f"{file}:5", f"{file}:6"]


@pytest.mark.parametrize(
    ("dialect", "text", "cells"),
    [
        ({"separator": None}, "a;b\n1,5;2\n", ["1,5", "2"]),
        ({"separator": None}, "a\tb\n1\t2\n", ["1", "2"]),
        ({"separator": None}, "a,b;c\n1,2\n", ["1", "2"]),
        ({"trimmed": True}, 'a,b\n 1 , "2"\n', ["1", "2"]),
        ({"padded": True}, "a,b\n1\n", ["1", ""]),
    ],
)
def test_dialects(dialect: dict[str, Any], text: str, cells: list[str], file: Path) -> None:
    (row,) = rows(file, text, **dialect)
    assert list(row.cells.values()) == cells


CELLS: list[tuple[str, Callable[[Row], object], str]] = [
    ("", lambda row: row.text("x"), "x: the cell is empty"),
    ("", lambda row: row.number("x", " of hours"), "x: empty (allowed: a finite number of hours)"),
    ("7", lambda row: row.number_within("x", 0, 5), "x: '7' (allowed: a number from 0 to 5)"),
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
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1\n")))
    with pytest.raises(InputError, match=r"^standard input:2: the row has 1 cells"):
        list(read_rows(None, choose))


def packed_by_gzip(content: bytes) -> bytes:
    """Pack without the time of day, so that all test processes name a case alike."""
    return gzip.compress(content, mtime=0)


TEXT = b"player,arrival_hours,rating\nann,1,1500\n"


def zipped(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return file.getvalue()


@pytest.mark.parametrize("content", [TEXT, packed_by_gzip(TEXT), TEXT[:1], b""])
def test_text_is_opened_packed_or_not(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with open_text(path) as file:
        for _ in range(2):
            file.seek(0)
            assert file.read() == (TEXT if content.startswith(b"\x1f") else content)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"PAR1\x15\x04rest", "it is a Parquet file (allowed: CSV text in UTF-8, plain or packed"),
        (zipped("log.csv"), "it is a zip archive"),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), "it is an Excel workbook"),
        (zipped("mimetype", "content.xml"), "it is an OpenDocument file"),
        (TEXT.decode().encode("utf-16")[:-1], "damaged text in UTF-16"),
        (packed_by_gzip(packed_by_gzip(TEXT)), "it is a gzip file in a gzip file"),
        (packed_by_gzip(TEXT)[:-9], "the gzip file ends too early"),
        (b"\x1f\x8bnothing of the kind", "a damaged gzip file"),
        (bytes(5000), "too large (allowed: 4,096 bytes)"),
    ],
)
def test_what_is_no_text_is_named(content: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        open_text(path, 4096)
    assert str(error.value).startswith(f"{path}: cannot be read: {what}")


def test_a_file_is_unpacked_and_closed_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []

    def kept(path: Path, mode: str) -> Any:  # noqa: ANN401
        opened.append(open(path, mode))  # noqa: SIM115, PTH123 - closed by what is tested
        return opened[-1]

    (tmp_path / "packed").write_bytes(packed_by_gzip(TEXT))
    (tmp_path / "bad").write_bytes(b"PAR1")
    monkeypatch.setattr(Path, "open", kept)
    with open_text(tmp_path / "packed") as file:
        assert file.read() == TEXT
    with pytest.raises(InputError, match="bad: cannot be read: it is a Parquet file"):
        open_text(tmp_path / "bad")
    assert [file.closed for file in opened] == [True, True]


def test_a_full_disk_is_a_failed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.gz").write_bytes(packed_by_gzip(TEXT))
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: open("/dev/full", "w+b", 0))  # noqa: SIM115, PTH123
    with pytest.raises(RunError, match="no room for a temporary file: No space left on device"):
        open_text(tmp_path / "log.gz")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    with pytest.raises(RunError, match="no room for a temporary file: No space left on device"):
        rate_games("-", "elo")
