"""The figures and the chapter of a replay of tickets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import valmatch
from valmatch.errors import InputError
from valmatch.plots.drawing import plot_files
from valmatch.plots.parts.source import read_run_files
from valmatch.plots.parts.style import style_context
from valmatch.plots.report.chapters.replay import chapter

pytest.importorskip("matplotlib")

from matplotlib.patches import Rectangle

from valmatch.plots import replay
from valmatch.plots.parts.replay_files import read_replay

WORLDS = Path(__file__).parents[1] / "fixtures" / "ticket_worlds"

TICKETS = (
    *({"id": f"t{k}", "time": k, "players": [{"id": f"p{k}"}]} for k in range(4)),
    {"id": "duo", "time": 5, "players": [{"id": "x"}, {"id": "y"}]},
    {"id": "late", "time": 6, "players": [{"id": "z"}]},
)
"""Of two a match each: four single tickets make two, a party makes one, the last waits alone."""

RULES = "{teams: {duel: {size: 2, fewer: [[9, 1]]}}}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.yaml").write_text(RULES)
    (tmp_path / "tickets.jsonl").write_text("".join(json.dumps(one) + "\n" for one in TICKETS))
    files = (tmp_path / "rules.yaml", "--tickets", tmp_path / "tickets.jsonl")
    done = valmatch("rules", "replay", *files, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    return tmp_path / "out"


def test_what_is_read(folder: Path) -> None:
    (found,) = read_replay(read_run_files(folder)).values()
    assert found.by_size == {1: 5, 2: 1}
    assert {size: own.tolist() for size, own in found.matched.items()} == {
        1: [0.0, 0.0, 1.0, 1.0, 9.0],
        2: [0.0],
    }
    assert found.matches.tolist() == [1.0, 3.0, 5.0, 15.0]
    assert [tuple(step) for step in found.steps] == [
        ("duel: least players", 0.0, "2", 3.0),
        ("duel: least players", 9.0, "1", 1.0),
    ]


def test_figures(folder: Path) -> None:
    with style_context():
        figures = replay.draw(read_run_files(folder))
    assert list(figures) == ["queue", "waits", "steps"]
    waiting, made = figures["queue"].axes
    assert waiting.get_ylabel() == "waiting tickets"
    assert made.get_xlabel() == "time [seconds]"
    (waits,) = figures["waits"].axes
    single, party = waits.get_lines()
    assert [line.get_label() for line in (single, party)] == [
        "1 player (n = 5)",
        "2 players (n = 1)",
    ]
    x, y = map(np.asarray, single.get_data())
    assert (x[-1], y[-1]) == (9.0, 1.0)
    assert y[np.searchsorted(x, 5.0) - 1] == 0.8  # four of five within five seconds
    (steps,) = figures["steps"].axes
    assert [bar.get_width() for bar in steps.patches if isinstance(bar, Rectangle)] == [0.75, 0.25]
    assert [one.get_text() for one in steps.texts] == ["2 from 0 s", "1 from 9 s"]


def test_files_and_several_searches(tmp_path: Path) -> None:
    world = WORLDS / "01-fair_teams.json"
    assert valmatch("rules", "replay", world, "--out", tmp_path / "out").code == 0
    names = {file.name for file in plot_files(tmp_path / "out")}
    assert names == {
        f"{name}.{end}" for name in ("queue", "waits", "steps") for end in ("png", "svg")
    }
    with style_context():
        figures = replay.draw(read_run_files(tmp_path / "out"))
    assert [len(figure.axes) for figure in figures.values()] == [4, 2, 2]
    assert figures["queue"].axes[2].get_title() == "search exhaustive"


def test_nobody_is_matched_or_comes(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("teams: 2x5\nlatency: {max: 9, widen: [[1, 10]]}\n")
    for number, text in enumerate(('{"id": "t", "time": 0, "players": [{"id": "p"}]}', "\n")):
        (tmp_path / "tickets.jsonl").write_text(text)
        out = tmp_path / f"out{number}"
        files = (tmp_path / "rules.yaml", "--tickets", tmp_path / "tickets.jsonl")
        assert valmatch("rules", "replay", *files, "--out", out).code == 0
        assert valmatch("plot", out).code == 0
        assert valmatch("report", out, "-o", tmp_path / f"{number}.html").code == 0


def test_the_chapter(folder: Path) -> None:
    found = chapter(read_run_files(folder))
    assert found.found == (
        "By the search pass, of all tickets (n = 6), 6 tickets are matched, half of those within"
        " 0.0 s and 90 % within 9.0 s, and 0 time out. This is one replay,"
        " without intervals."
    )
    sheets = {block.title: block.sheet for block in found.blocks if block.sheet}
    assert sheets["Waits by players of a ticket"].rows[0] == [
        *("1", "5", "100.0%", "2.2 s", "1.0 s", "9.0 s")
    ]
    assert sheets["Steps of expansions"].rows[1][1:] == ["9 s", "1", "1", "25.0%"]


def test_damaged_files_are_refused(folder: Path) -> None:
    (folder / "steps.csv").write_text("search,what\npass,x\n")
    with pytest.raises(InputError, match=r"steps.csv: damaged: there is no column 'from_seconds'"):
        plot_files(folder)
