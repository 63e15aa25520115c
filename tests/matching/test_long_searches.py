"""Searches of joint matching that take long are announced, and end when they are told to."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from tests.support.early_signals import ended_badly
from valmatch.config.loading import load
from valmatch.execution.chunks import build, run
from valmatch.kernels import halting

ENDLESS = ("team_num=16", "team_diff=1e-7", "player_diff=3000", "matching=joint")
LONG = tuple(word for one in ENDLESS for word in ("--set", one))


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize(
    "command",
    [
        ("simulate", "valorant-x10"),
        ("replicate", "valorant-x10", "-n", "300"),
        ("replicate", "valorant-x10", "-n", "300", "--workers", "2"),
        ("replicate", "valorant-x10", "-n", "300", "--executor", "processes", "--workers", "2"),
    ],
)
def test_a_long_search_ends_when_it_is_told_to(command: tuple[str, ...]) -> None:
    said = _warning()
    assert ended_badly([*command, *LONG], 8.0, signal.SIGTERM, (said,)) == []


def _warning() -> str:
    (remark,) = build(load("valorant-x10", ENDLESS)).warnings
    return f"warning: {remark}"


def test_a_long_search_is_announced() -> None:
    said = _warning()
    assert "splits of 32 players" in said
    assert "a smaller team_num" in said
    balanced = ("team_num=16", "matching=joint", "tie_break=balanced")
    (remark,) = build(load("valorant", balanced)).warnings
    assert "team_diff" not in remark


@pytest.mark.parametrize("changes", [(), ("team_diff=0",), ("team_num=10",)])
def test_short_searches_are_not_announced(changes: tuple[str, ...]) -> None:
    assert build(load("valorant", ["matching=joint", *changes])).warnings == ()


def test_what_a_halted_search_returns_is_not_used() -> None:
    model = build(load("valorant", ["matching=joint"]))
    whole = run(model, 1, [0, 1]).responses
    halting.halt()
    try:
        with pytest.raises(halting.Stopped):
            run(model, 1, [0, 1])
        other = build(load("valorant", ["matching=joint"]))
        with pytest.raises(halting.Stopped):
            run(other, 1, [0, 1])
    finally:
        halting.resume()
    np.testing.assert_array_equal(run(model, 1, [0, 1]).responses, whole)
    np.testing.assert_array_equal(run(other, 1, [0, 1]).responses, whole)
