"""Intervals of scores of predictions end where the scores do, and say why where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import success, valmatch
from tests.support.folders import rows
from valmatch.game_logs.scores import FIRST_BIN, MEASURES, difference


@pytest.mark.parametrize(
    ("measure", "least", "largest"),
    [("accuracy", 0.0, 1.0), ("brier_score", 0.0, 1.0), ("log_loss", 0.0, np.inf)],
)
def test_intervals_end_where_scores_do(measure: str, least: float, largest: float) -> None:
    """Two blocks, one predicted as well as can be and one as badly: few degrees of freedom."""
    column, weight = MEASURES[measure]
    sums = np.zeros((2, FIRST_BIN))
    sums[:, weight], sums[0, column] = 10.0, 10.0
    found = difference(measure, sums)
    assert found.mean is not None
    assert found.half_width is not None
    assert found.mean - found.half_width < least
    assert (found.ci_low, found.ci_high) == (least, min(largest, found.mean + found.half_width))
    assert found.mean == 0.5
    assert found.arms == (0.5 - least, (found.ci_high or 0.0) - 0.5)
    paired = difference(measure, sums, sums[::-1])
    assert paired.half_width is not None
    assert paired.half_width > 1.0
    assert (paired.ci_low, paired.ci_high) == (
        (-1.0, 1.0) if largest == 1.0 else (-paired.half_width, paired.half_width)
    )


def test_tables_and_files_show_the_ends_of_cut_intervals(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\na,b\na,b\nb,a\na,b\n")
    success("rate", log, "--system", "elo,glicko2", "--out", tmp_path / "out")
    table = rows(tmp_path / "out" / "comparison.csv")
    assert table
    for row in table:
        for name in ("accuracy", "brier_score"):
            assert 0.0 <= float(row[f"{name}_low"]) <= float(row[f"{name}_high"]) <= 1.0
            assert float(row[f"{name}_to_best_low"]) >= -1.0
            assert float(row[f"{name}_to_best_high"]) <= 1.0
        assert float(row["log_loss_low"]) >= 0.0


def test_one_block_of_games_gives_no_interval_and_says_so(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\na,b\n")
    command = ("rate", log, "--system", "elo,glicko2")
    assert "no interval: there is one block of games only" in valmatch(*command).out
    summary = json.loads(valmatch(*command, "--json").out)
    assert summary["no_interval"] == "there is one block of games only"
