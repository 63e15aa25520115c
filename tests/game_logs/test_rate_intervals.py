"""Paired intervals of rating systems hold the truth about as often as they say."""

from __future__ import annotations

import pytest

from tests.support.leagues import League, covered


@pytest.mark.slow
def test_coverage_over_a_few_leagues() -> None:
    """240 intervals, of 60 leagues, on whole days and on equal blocks: within 4 standard errors."""
    found = [
        covered(League(600, 20, 150.0, days=days), 30, seed).mean()
        for seed, days in enumerate((3, 30))
    ]
    assert all(0.88 <= share <= 1.0 for share in found)
    assert sum(found) / 2 >= 0.9
