"""The file of sums of curves: read back as written, and nothing of it where it is torn."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from valmatch.statistics.curve_sums import CurveSums
from valmatch.storage.curve_file import SUMS, read_sums, write_sums

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
