"""Whatever a log holds, it is rated or refused in plain words, and then nothing is written."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.folders import rows
from tests.support.game_logs import LONG
from valmatch.errors import InputError
from valmatch.game_logs.rating import rate_games

LONG_ROWS = [
    f"g{game},p{(3 * game + k) % 7},t{k % 2},{(game * k) % 5},{20 - 5 * k},yes,{game}".split(",")
    for game in range(5)
    for k in range(3)
]
RESULT_ROWS = [
    f"p{game % 4},p{(game + 1) % 4},{game + 1},{game},2024-01-0{game + 1}".split(",")
    for game in range(6)
]
TABLES = [
    [f"{LONG},enabled,time".split(","), *LONG_ROWS],
    [["winner", "loser", "winner_score", "loser_score", "time"], *RESULT_ROWS],
]
CELLS = ["", " ", "0", "-1", "1e308", "nan", "p1", "g1", "t0", "no", "soon", '"', '"a,"', "\r", "é"]
CELLS += ["\n", "\x00", "\ufeff", "2024-01-01", "9999-12-31T23:59:59-23:59", "99999999999999999999"]
EDITS = ("replace", "insert", "remove", "repeat", "drop")


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    """Draw a good log and edit a few of its cells, rows and bytes."""
    table = [list(row) for row in draw(st.sampled_from(TABLES))]
    for _ in range(draw(st.integers(0, 3))):
        row = table[draw(st.integers(0, len(table) - 1))]
        at = draw(st.integers(0, max(0, len(row) - 1)))
        edit = draw(st.sampled_from(EDITS))
        if edit == "replace":
            row[at : at + 1] = [draw(st.sampled_from(CELLS))]
        elif edit == "insert":
            row.insert(at, draw(st.sampled_from(CELLS)))
        elif edit == "remove":
            del row[at : at + 1]
        elif edit == "repeat":
            table.insert(draw(st.integers(0, len(table))), list(row))
        elif len(table) > 1:
            table.remove(row)
    text = draw(st.sampled_from(["\n", "\r\n"])).join(map(",".join, table)).encode()
    if draw(st.booleans()) and text:
        at = draw(st.integers(0, len(text) - 1))
        text = text[:at] + draw(st.binary(max_size=2)) + text[at + draw(st.integers(0, 1)) :]
    return text


@pytest.mark.slow
@given(logs(), st.sampled_from(["zonestats", "elo", "trueskill"]), st.booleans())
@settings(max_examples=250)
def test_any_log_is_rated_or_refused(text: bytes, system: str, skip: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(os, "fsync"):
        path, out = Path(folder, "log.csv"), Path(folder, "out")
        path.write_bytes(text)
        result = None
        with suppress(InputError):
            result = rate_games(path, system, max_bad_rows=1.0 if skip else None, out=out)
        if result is None:
            assert list(path.parent.iterdir()) == [path]
            return
        table = rows(out / "history.csv")
        assert len(table) == result.rows
        assert {row["player"] for row in table} == set(result.ranking.players)
        assert all(0 <= float(row["expected"]) <= 1 for row in table)
        if system == "zonestats":
            points = [float(row["rating_after"]) - float(row["rating_before"]) for row in table]
            assert sum(points) == pytest.approx(0.0, abs=1e-9)
