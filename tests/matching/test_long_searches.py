"""Searches of joint matching that take long are announced, and end when they are told to."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.support.machine import slowness
from tests.support.signals import ended_badly
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build

ENDLESS = ("team_num=16", "team_diff=1e-7", "player_diff=3000", "matching=joint")
LONG = tuple(word for one in ENDLESS for word in ("--set", one))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize(
    ("command", "status"),
    [
        (("simulate", "valorant-x10"), None),
        (("replicate", "valorant-x10", "-n", "300"), "interrupted"),
        pytest.param(
            ("replicate", "valorant-x10", "-n", "300", "--workers", "2"),
            "interrupted",
            marks=pytest.mark.long,
        ),
        pytest.param(
            ("replicate", "valorant-x10", "-n", "300", "--executor", "processes", "--workers", "2"),
            "interrupted",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_command_in_a_long_search_ends_when_it_is_told_to(
    command: tuple[str, ...], status: str | None, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    seconds = 6.0 * slowness()
    assert ended_badly([*command, *LONG, "-q", "--out", str(out)], seconds, signal.SIGTERM) == []
    if status is None:  # nothing could go on with it
        assert not out.exists()
    else:
        assert json.loads((out / "manifest.json").read_text())["status"] == status
        assert not [path.name for path in out.iterdir() if path.name.startswith(".")]


def test_a_long_search_is_announced() -> None:
    (said,) = build(load_config("valorant-x10", ENDLESS)).warnings
    assert "splits of 32 players" in said
    assert "a smaller team_num" in said
    balanced = ("team_num=16", "matching=joint", "tie_break=balanced")
    (remark,) = build(load_config("valorant", balanced)).warnings
    assert "team_diff" not in remark


@pytest.mark.parametrize("changes", [(), ("team_diff=0",), ("team_num=10",)])
def test_short_searches_are_not_announced(changes: tuple[str, ...]) -> None:
    assert build(load_config("valorant", ["matching=joint", *changes])).warnings == ()
