"""Arrays that are kept in files, and the table that is worked out from them."""

from __future__ import annotations

import errno
import mmap
import os
import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import python
from valmatch.errors import RunError
from valmatch.kernels import scratch
from valmatch.kernels.scratch import MEMORY, Scratch
from valmatch.models.model import LargeTable, Table

PAIR = np.dtype([("a", "f8"), ("b", "i8")])


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scratch:
    """Keep everything in files, however small."""
    monkeypatch.setattr(scratch, "LEAST_BYTES", 1)
    return Scratch(tmp_path)


def test_an_array_in_a_file_holds_what_one_in_memory_does(kept: Scratch, tmp_path: Path) -> None:
    arrays = [where.zeros((5, 3), np.float64) for where in (kept, MEMORY)]
    records = [where.zeros(70_000, PAIR) for where in (kept, MEMORY)]
    for array, record in zip(arrays, records, strict=True):
        assert not array.any()
        assert array.shape == (5, 3)
        array += np.arange(3)
        record["b"][1::7] = 9
        kept.release()
        record["a"] = record["b"] / 2
        kept.release()
    assert arrays[0].tobytes() == arrays[1].tobytes()
    assert records[0].tobytes() == records[1].tobytes()
    assert not list(tmp_path.iterdir())  # files have no names


def test_nothing_needs_no_file(kept: Scratch) -> None:
    assert kept.zeros(0, PAIR).size == 0
    assert kept.zeros((0, 2), np.float64).shape == (0, 2)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's own account")
def test_what_is_released_is_out_of_memory(kept: Scratch) -> None:
    def resident() -> int:
        text = Path("/proc/self/status").read_text(encoding="utf-8")
        return 1024 * sum(int(line.split()[1]) for line in text.splitlines() if "RssFile" in line
                          or "RssShmem" in line)  # fmt: skip

    array = kept.zeros(8_000_000, np.float64)
    before = resident()
    array[:] = 1.0
    assert resident() - before > 60_000_000
    kept.release()
    assert resident() - before < 6_000_000
    assert array.sum() == 8_000_000


@pytest.mark.parametrize("has_call", [False, True])
def test_a_file_is_made_by_writing_where_the_system_cannot_reserve(
    kept: Scratch, monkeypatch: pytest.MonkeyPatch, has_call: bool
) -> None:
    def unsupported(*_: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "not here")

    monkeypatch.setattr(os, "posix_fallocate", unsupported)
    if not has_call:
        monkeypatch.delattr(os, "posix_fallocate")
    array = kept.zeros(400_000, np.float64)
    array += 1.0
    assert array.sum() == 400_000


def test_memory_is_taken_where_files_cannot_be_memory(
    kept: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: int) -> None:
        raise OSError(errno.ENODEV, "not here")

    monkeypatch.setattr(mmap, "mmap", unsupported)
    array = kept.zeros(1_000, np.float64)
    array += 1.0
    kept.release()
    assert array.sum() == 1_000


def test_no_room_is_said_before_anything_happens(kept: Scratch, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=rf"{tmp_path}: no room for .* GiB of what happens: \w"):
        kept.zeros(1 << 55, np.float64)


FULL = """
import resource, sys
from pathlib import Path
from valmatch.__main__ import main
from valmatch.kernels import scratch
scratch.LEAST_BYTES = 1
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
sys.argv[0] = "valmatch"
main()
"""


@pytest.mark.slow
def test_a_full_disk_ends_a_recorded_ladder_in_one_line(tmp_path: Path) -> None:
    small = ["--set", "population.players=200", "--set", "days=2", "--set", "warmup_days=1"]
    words = ["simulate", "ladder", *small, "--out", tmp_path / "out", "--quiet"]
    done = python("-B", "-c", FULL, *words)
    assert done.returncode == 1
    # Kernels that are not compiled yet, and cannot be kept either, are spoken of before.
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(f"{tmp_path / 'out'}: no room for .* GiB of .*: File too large", last)
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_large_table_gives_its_rows_in_parts() -> None:
    columns = {"x": np.arange(10), "y": np.arange(10) / 4}
    small = Table("t", columns, whole=("x",))
    large = LargeTable("t", 10, lambda rows: {k: v[rows] for k, v in columns.items()}, ("x",))
    assert (large.names, len(large), large.whole) == (small.names, 10, small.whole)
    for count in (1, 3, 10, 20):
        pieces = [list(table.parts(count)) for table in (small, large)]
        assert [len(part["x"]) for part in pieces[0]] == [len(part["x"]) for part in pieces[1]]
        for name in columns:
            whole = [np.concatenate([part[name] for part in of]) for of in pieces]
            assert whole[0].tolist() == whole[1].tolist() == columns[name].tolist()
    assert large.columns["y"].tolist() == columns["y"].tolist()
    assert large.part(slice(-2, None))["x"].tolist() == [8, 9]
    assert repr(large) == repr(small)
