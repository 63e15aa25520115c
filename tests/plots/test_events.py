"""Tables of any model over their times."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import valmatch as library
from tests.support.command import valmatch
from valmatch.storage.contents import MANIFEST


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Return the folder of a replication that claims to be of a model without figures."""
    folder = tmp_path / "made"
    assert valmatch("simulate", "smoke", "--out", folder).code == 0
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["config"]["model"] = "another"
    (folder / MANIFEST).write_text(json.dumps(manifest))
    return folder


def test_columns_of_numbers_are_drawn_over_the_first_of_times(made: Path) -> None:
    header = (made / "players.csv").read_text().splitlines()[0].split(",")
    figure = library.plot(made, "players")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == [name for name in header if name != "arrival_hours"]
    assert {axes.get_xlabel() for axes in figure.axes} == {"arrival_hours"}
    rows = [line.split(",") for line in (made / "players.csv").read_text().splitlines()[1:]]
    place = header.index("rating")
    (line,) = figure.axes[labels.index("rating")].lines
    expected = [float(row[place]) for row in rows]
    np.testing.assert_array_equal(line.get_ydata(), expected)
    # Names of teams are no numbers.
    matches = library.plot(made, "matches")
    assert "team_a" not in [axes.get_ylabel() for axes in matches.axes]


def test_without_times_it_is_said_what_is_missing(made: Path) -> None:
    for name in ("players.csv", "matches.csv"):
        (made / name).write_text("player,rating\n1,1500\n")
    done = valmatch("plot", made)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "nothing to draw: tables players.csv, matches.csv (allowed: a table with" in done.err
