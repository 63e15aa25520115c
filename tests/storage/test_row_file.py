"""Lines of replications, written many at a time."""

from __future__ import annotations

import numpy as np

from valmatch.storage.row_file import RowFormat


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
