"""`valmatch status`: how far runs are, and whether anybody is at work on them."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.support.command import valmatch
from tests.support.crashes import start

SMALL = ("--set", "horizon=2")
DESIGN = ("replicate", "valorant", "-n", 6, "--sweep", "team_diff=100,200,300", *SMALL)


def told(*folders: Path) -> list[dict[str, Any]]:
    """Return what is said of folders, in which nothing may change."""
    before = [_state(folder) for folder in folders]
    done = valmatch("status", *folders, "--json")
    assert done.code == 0, done.err
    assert [_state(folder) for folder in folders] == before
    runs: list[dict[str, Any]] = json.loads(done.out)["runs"]
    return runs


def _state(folder: Path) -> dict[str, tuple[int, int, int]]:
    facts = {str(path): path.stat() for path in folder.rglob("*")}
    return {name: (f.st_size, f.st_mtime_ns, f.st_ino) for name, f in facts.items()}


def alter(folder: Path, **changes: object) -> None:
    """Change entries of a manifest."""
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    ("argv", "command", "counts"),
    [
        (("replicate", "valorant", "-n", 6, *SMALL), "replicate", (6, 6)),
        (("replicate", "valorant", "-n", 7, "--shard", "1/3", *SMALL), "replicate", (2, 2)),
        (DESIGN, "design", (18, 18)),
        (("compare", "valorant", "--set", "team_diff=90", "-n", 5, *SMALL), "compare", (10, 10)),
        (("simulate", "valorant", *SMALL), "simulate", (1, 1)),
        (("optimize", "valorant-30min", "--budget", 100, "--solver", "random"), "optimize", None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_runs_that_have_ended(
    argv: Sequence[object], command: str, counts: tuple[int, int] | None, tmp_path: Path
) -> None:
    out = tmp_path / "o"
    assert valmatch(*argv, "--out", out).code in (0, 3)
    (one,) = told(out)
    assert (one["command"], one["state"], one["alive"]) == (command, "complete", False)
    assert (one["done"], one["wanted"]) == (counts or (one["done"], one["done"]))
    assert one["done"] > 0
    assert (one["rate"] is None) == (command == "simulate")
    assert one["seconds_left"] is None
    table = valmatch("status", out).out.splitlines()
    assert table[0].split() == ["folder", "command", "state", "done", "of", "rate", "left"]
    assert table[1].split()[1:3] == [command, "complete"]
    assert max(map(len, table)) <= 80


def test_ratings_have_no_replications(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\nann,bob\n")
    assert valmatch("rate", log, "--out", tmp_path / "o").code == 0
    (one,) = told(tmp_path / "o")
    assert (one["command"], one["state"], one["alive"]) == ("rate", "complete", False)
    assert one["done"] is one["wanted"] is one["rate"] is None


@pytest.mark.slow
def test_what_is_left_of_an_unfinished_run(tmp_path: Path) -> None:
    out = tmp_path / "o"
    asked = ("replicate", "valorant", "-n", 10**6, "--max-time", "0.2s", "--out", out)
    assert valmatch(*asked).code == 75
    (one,) = told(out)
    assert (one["state"], one["wanted"], one["alive"]) == ("out of time", 10**6, False)
    assert one["done"] == (out / "replications.csv").read_text().count("\n") - 1 > 0
    # The rate of a run that goes on is that of what it has made itself.
    assert valmatch(*asked, "--resume").code == 75
    (again,) = told(out)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["resumed"] == one["done"]
    made = again["done"] - one["done"]
    assert again["rate"] == pytest.approx(made / manifest["wall_seconds"], rel=1e-6)


@pytest.mark.skipif(os.name != "posix", reason="needs locks that can be looked at")
def test_the_lock_tells_whether_a_run_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "o"
    assert valmatch("replicate", "valorant", "-n", 8, "--out", out, *SMALL).code == 0
    alter(out, status="running", requested=20, wall_seconds=None)
    assert (told(out)[0]["state"], told(out)[0]["alive"]) == ("killed", False)
    lock = FileLock(out / ".lock")
    with lock:
        (one,) = told(out)
        assert (one["state"], one["alive"], one["done"], one["wanted"]) == ("running", True, 8, 20)
        assert one["seconds_left"] == pytest.approx(12 / one["rate"])
        alter(out, host="elsewhere")
        assert told(out)[0]["alive"] is True
    (out / ".lock").touch()  # whoever holds it on another host may not be seen from here
    (one,) = told(out)
    assert (one["state"], one["alive"]) == ("running?", None)
    done = valmatch("status", out)
    assert "running?" in done.out
    assert "on elsewhere, whose lock cannot be seen from here; last written" in done.err
    (out / ".lock").unlink()
    assert told(out)[0]["state"] == "killed"


def test_a_design_that_goes_on_counts_what_it_has_made_itself(tmp_path: Path) -> None:
    assert valmatch(*DESIGN, "--out", tmp_path).code == 0
    first, second, third = sorted((tmp_path / "points").iterdir())
    began = "2026-01-01T00:00:00+00:00"
    for folder in (tmp_path, first, second):
        alter(folder, status="running", started=began, wall_seconds=None)
    alter(tmp_path, wall_seconds=2.0)
    alter(first, resumed=6)
    alter(second, resumed=2)
    alter(third, started="2025-01-01T00:00:00+00:00")
    (one,) = told(tmp_path)
    assert (one["done"], one["wanted"], one["rate"]) == (18, 18, (6 - 2) / 2.0)


@pytest.mark.slow
def test_a_run_is_seen_alive_and_killed(tmp_path: Path) -> None:
    process = start("replicate", "valorant", "-n", 10**6, "--out", tmp_path)
    try:
        (alive,) = json.loads(valmatch("status", tmp_path, "--json").out)["runs"]
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert (alive["state"], alive["alive"], alive["pid"]) == ("running", True, process.pid)
    assert alive["seconds_left"] > 0
    (killed,) = told(tmp_path)
    assert (killed["state"], killed["alive"]) == ("killed", False)
    assert killed["done"] >= alive["done"] > 0


def test_folders_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    assert valmatch("simulate", "valorant", "--out", ours, *SMALL).code == 0
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "manifest.json").write_text('{"command": "make"}')
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "manifest.json").write_text('{"command": "compare", "variants": 3}')
    for folder, said in (
        (tmp_path / "nowhere", "no such folder"),
        (tmp_path, "no manifest.json, so no run has begun here"),
        (theirs, "its manifest.json is that of another program"),
        (damaged, "damaged: variants: 3"),
    ):
        done = valmatch("status", ours, folder)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert said in done.err
