"""Files of CSV text: unpacked, or named as what they are."""

from __future__ import annotations

import gzip
import io
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from valmatch.errors import InputError, RunError
from valmatch.game_logs.rating import rate_games
from valmatch.inputs.csv_reader import as_text, open_text, other_separator


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
        (packed_by_gzip(b"PAR1\x15\x04rest"), "it is a Parquet file"),
        (zipped("log.csv"), "it is a zip archive"),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), "it is an Excel workbook"),
        (zipped("mimetype", "content.xml"), "it is an OpenDocument file"),
        (b"PK\x03\x04 torn", "it is a zip archive"),
        (TEXT.decode().encode("utf-16"), "it is text in UTF-16"),
        (TEXT.decode().encode("utf-16-le"), "it is text in UTF-16"),
        (TEXT.decode().encode("utf-16-be"), "it is text in UTF-16"),
        (packed_by_gzip(packed_by_gzip(TEXT)), "it is a gzip file in a gzip file"),
        (packed_by_gzip(TEXT)[:-9], "the gzip file ends too early"),
        (packed_by_gzip(TEXT)[:20] + bytes(30), "a damaged gzip file"),
        (b"\x1f\x8bnothing of the kind", "a damaged gzip file"),
        (packed_by_gzip(bytes(5000)), "too large (allowed: 4,096 bytes)"),
        (bytes(5000), "too large (allowed: 4,096 bytes)"),
    ],
)
def test_what_is_no_text_is_named(content: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        open_text(path, 4096)
    assert str(error.value).startswith(f"{path}: cannot be read: {what}")


def test_an_open_file_can_be_unpacked_and_is_closed_in_time() -> None:
    packed = io.BytesIO(packed_by_gzip(TEXT))
    with as_text(packed, "standard input") as file:
        assert file.read() == TEXT
    assert packed.closed
    bad = io.BytesIO(b"PAR1")
    with pytest.raises(InputError, match=r"standard input: cannot be read: it is a Parquet file"):
        as_text(bad, "standard input")
    assert bad.closed


def test_a_full_disk_is_a_failed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.gz").write_bytes(packed_by_gzip(TEXT))
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: open("/dev/full", "w+b", 0))  # noqa: SIM115, PTH123
    with pytest.raises(RunError, match="no room for a temporary file: No space left on device"):
        open_text(tmp_path / "log.gz")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    with pytest.raises(RunError, match="no room for a temporary file: No space left on device"):
        rate_games("-", "elo")


@pytest.mark.parametrize(
    ("header", "separator", "other"),
    [
        (["player;rating"], ",", "semicolon"),
        (["player\trating"], ",", "tab"),
        (["player|rating"], ",", "bar"),
        (["player,rating"], ";", "comma"),
        (["player;note", "more;rating"], ",", "semicolon"),
        (["player;x", "rating", "time"], ",", ""),
        (["player"], ",", ""),
        ([], ",", ""),
    ],
)
def test_another_separator_is_found(header: list[str], separator: str, other: str) -> None:
    assert other_separator(header, separator) == other
