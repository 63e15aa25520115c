"""Tables as CSV, written some rows at a time; the file of sums of curves, also where it is torn."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valmatch.statistics.curve_sums import CurveSums
from valmatch.storage.curve_file import SUMS, read_sums, write_sums
from valmatch.storage.output import ROWS_AT_ONCE, cell, write_csv
from valmatch.storage.store import RowFormat


def columns_of(n: int) -> dict[str, Any]:
    """Return columns of all kinds, with values that are hard to write."""
    rng = np.random.default_rng(5)
    odd = np.array([0.1, -0.0, 1e300, 5e-324, np.nan, np.inf, -np.inf, 3.0])
    names = np.array(["a", "=b", "-1", 'c"d', "e,f", "", "-x"])
    mixed = [None, 1, "-inf", float("-inf"), float("nan"), True, "=1", -2.5]
    return {
        "floats": odd[rng.integers(odd.size, size=n)],
        "whole": np.array([1.0, np.nan, -7.0])[rng.integers(3, size=n)],
        "numbers": rng.integers(-9, 9, size=n),
        "yes": rng.random(n) < 0.5,
        "names": names[rng.integers(names.size, size=n)],
        "objects": names.astype(np.object_)[rng.integers(names.size, size=n)],
        "mixed": [mixed[k] for k in rng.integers(len(mixed), size=n)],
    }


@pytest.mark.parametrize("n", [0, 1, 7, ROWS_AT_ONCE, 2 * ROWS_AT_ONCE + 3])
def test_a_table_of_many_rows_is_written_as_cell_by_cell(tmp_path: Path, n: int) -> None:
    columns = columns_of(n)
    write_csv(tmp_path / "a.csv", columns, ["whole"])

    def text(name: str, value: object) -> str:
        return cell(value, name == "whole")

    with (tmp_path / "b.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        plain = [v.tolist() if isinstance(v, np.ndarray) else v for v in columns.values()]
        for row in zip(*plain, strict=True):
            writer.writerow(map(text, columns, row))
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_columns_of_unequal_length_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"):
        write_csv(tmp_path / "a.csv", {"a": np.zeros(3), "b": [1, 2]})
    assert list(tmp_path.iterdir()) == []


def test_lines_of_many_rows_are_those_of_each() -> None:
    rng = np.random.default_rng(1)
    form = RowFormat("0123456789ab", 7, ["a", "b", "c", "d"], [False, False, True, False])
    usual = 10.0 ** rng.uniform(-4, 15, (2000, 4)) * rng.choice([-1.0, 1.0], (2000, 4))
    usual[:, 2] = rng.integers(0, 10**15, 2000)
    usual[rng.random((2000, 4)) < 0.1] = 0.0
    usual[:5] = [-0.0, 1e-4, 3, 100.0], [np.nan, np.nan, 0, np.nan], *usual[2:5].round()
    unusual = [1e-5, 5e-324, 1e16, 1e100, -1e22, np.nan]
    for rows in (usual, usual[:1], *(np.vstack([usual[:9], [1.0, 2.0, x, x]]) for x in unusual)):
        if not np.isnan(rows[:, 2]).any():
            rows[:, 2] = np.rint(rows[:, 2])
        numbers = range(5, 5 + 3 * len(rows), 3)
        assert form.lines(numbers, rows) == "".join(map(form.line, numbers, rows.tolist()))


SHAPE = (1, 2, 3)


def written(folder: Path) -> CurveSums:
    """Write sums over five replications, and return them."""
    sums = CurveSums(5, np.arange(6).reshape(SHAPE), np.arange(6).reshape(SHAPE))
    write_sums(folder / SUMS, sums, [range(5)])
    return sums


def test_sums_are_read_back(tmp_path: Path) -> None:
    sums = written(tmp_path)
    known, over = read_sums(tmp_path / SUMS, SHAPE, warn=lambda text: None)
    assert (known.n, over) == (5, [range(5)])
    assert np.array_equal(known.total, sums.total)


def test_a_torn_file_counts_for_nothing_wherever_it_is_torn(tmp_path: Path) -> None:
    """A crash of the machine may leave zeros where its last bytes were."""
    written(tmp_path)
    path = tmp_path / SUMS
    content = path.read_bytes()
    for cut in {*range(1, 40), *range(40, len(content) + 1, 7), len(content)}:
        for tail in (b"", bytes(cut)):
            torn = content[: len(content) - cut] + tail
            if torn == content:
                continue
            path.write_bytes(torn)
            warnings: list[str] = []
            known, over = read_sums(tmp_path / SUMS, SHAPE, warnings.append)
            if warnings:
                assert (known.n, over) == (0, []), (cut, tail[:1])
            else:  # what is torn is not read, such as the length of a comment
                assert (known.n, over) == (5, [range(5)]), (cut, tail[:1])
