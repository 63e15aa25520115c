"""Numbers as texts."""

from __future__ import annotations

import pytest

from valmatch.statistics.rounding import arms_of


@pytest.mark.parametrize(
    ("arms", "text"),
    [
        ((0.00004, 0.0037), "0.0000/+0.0037"),
        ((-1e-17, 0.2), "0.0000/+0.2000"),
        ((0.1, 0.0), "-0.1000/0.0000"),
    ],
)
def test_an_arm_that_rounds_to_nothing_has_no_sign(arms: tuple[float, float], text: str) -> None:
    assert arms_of(arms, "0.0037") == text
