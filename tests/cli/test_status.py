"""`valmatch status`: how far runs are, and which shards are missing."""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import refusal, success, valmatch
from tests.support.crashes import start

SMALL = ("--set", "horizon=2")
DESIGN = ("replicate", "valorant", "-n", 6, "--sweep", "team_diff=100,200,300", *SMALL)


def told(*folders: Path) -> list[dict[str, Any]]:
    """Return what is said of folders, in which nothing may change."""
    before = [_state(folder) for folder in folders]
    done = success("status", *folders, "--json")
    assert [_state(folder) for folder in folders] == before
    runs: list[dict[str, Any]] = json.loads(done.out)["runs"]
    return runs


def _state(folder: Path) -> dict[str, tuple[int, int, int]]:
    facts = {str(path): path.stat() for path in folder.rglob("*")}
    return {name: (f.st_size, f.st_mtime_ns, f.st_ino) for name, f in facts.items()}


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
    assert (one["command"], one["state"]) == (command, "complete")
    assert (one["done"], one["wanted"]) == (counts or (one["done"], one["done"]))
    assert one["done"] > 0
    table = valmatch("status", out).out.splitlines()
    assert [word for word in table[0].split() if word != "shard"] == [
        *("folder", "command", "state", "done", "of")
    ]
    assert [word for word in table[1].split()[1:4] if word != "1/3"][:2] == [command, "complete"]
    assert max(map(len, table)) <= 80


def test_ratings_have_no_replications(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\nann,bob\n")
    assert valmatch("rate", log, "--out", tmp_path / "o").code == 0
    (one,) = told(tmp_path / "o")
    assert (one["command"], one["state"]) == ("rate", "complete")
    assert one["done"] is one["wanted"] is None


@pytest.mark.slow
def test_what_is_left_of_an_unfinished_run(tmp_path: Path) -> None:
    out = tmp_path / "o"
    done = valmatch("replicate", "valorant", "-n", 10**6, "--max-time", "0.2s", "--out", out)
    assert done.code == 75
    (one,) = told(out)
    assert (one["state"], one["wanted"]) == ("out of time", 10**6)
    assert one["done"] == (out / "replications.csv").read_text().count("\n") - 1 > 0


@pytest.mark.slow
def test_a_run_that_goes_on_and_one_that_was_killed_have_not_ended(tmp_path: Path) -> None:
    process = start("replicate", "valorant", "-n", 10**6, "--out", tmp_path)
    try:
        (alive,) = json.loads(valmatch("status", tmp_path, "--json").out)["runs"]
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    (killed,) = told(tmp_path)
    assert alive["state"] == killed["state"] == "not ended"
    assert killed["done"] >= alive["done"] > 0
    assert alive["wanted"] == killed["wanted"] == 10**6


@pytest.mark.parametrize(
    "argv", [("replicate", "valorant", "-n", 9, *SMALL), DESIGN], ids=["run", "design"]
)
def test_shards_that_no_folder_holds_are_named(argv: Sequence[object], tmp_path: Path) -> None:
    folders = [tmp_path / str(index) for index in range(4)]
    for index in (0, 2):
        done = success(*argv, "--shard", f"{index}/4", "--out", folders[index])
    half = ("--shard", "1/2", "--seed", 2, "--out", folders[3])
    assert valmatch(*argv, *half).code == 0
    done = valmatch("status", folders[0], folders[2], folders[3], "--json")
    assert json.loads(done.out)["missing_shards"] == ["1/4", "3/4", "0/2"]
    assert done.err == "in none of these folders: shards 1/4, 3/4, 0/2\n"
    assert valmatch("status", folders[0], folders[2]).err.endswith(": shards 1/4, 3/4\n")


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
        assert said in refusal("status", ours, folder)
