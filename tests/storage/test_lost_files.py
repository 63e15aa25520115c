"""Files that no command may touch: what it reads, and what somebody else has written."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.case_tables import cases
from tests.support.command import Outcome, success, valmatch
from valmatch.cli.app import MODULES
from valmatch.config.loading import shipped_configs
from valmatch.storage.output import CONTENTS

LOG = "game,player,score\n" + "".join(
    f"g{game},p{(game + k) % 7},{(game * 5 + k * 3) % 4}\n" for game in range(40) for k in range(2)
)

QUEUE = "arrival_hours,rating\n" + "".join(f"{k / 60},{1500 + k % 9}\n" for k in range(60))

TEAM = {"name": "a", "minPlayers": 2, "maxPlayers": 2}
RULES = json.dumps({"ruleLanguageVersion": "1.0", "teams": [TEAM]})

TICKETS = "".join(
    json.dumps({"id": f"t{k}", "time": k, "players": [{"id": f"p{k}"}]}) + "\n" for k in range(5)
)

CONFIG = "model: valorant\nfactors: {team_diff: 350}\narrivals: queue.csv\n"

COMMANDS = {
    name: (command, argv.split(), inputs.split())
    for name, command, argv, inputs in cases("""
simulate | simulate | simulate AT/mine.yaml | mine.yaml queue.csv
replicate | replicate | replicate AT/drawn.yaml -n 2 | drawn.yaml
sweep | design | replicate AT/drawn.yaml -n 2 --sweep team_diff=300,400 | drawn.yaml
explore | design | explore AT/drawn.yaml -n 2 --over team_diff=300,400 -o AT/page.html | drawn.yaml
compare | compare | compare AT/drawn.yaml --set team_diff=300 -n 2 | drawn.yaml
optimize | optimize | optimize AT/problem.yaml --budget 100 --solver random | problem.yaml
combine | replicate | combine OUT AT/0 AT/1 | 0/replications-0-of-2.csv 1/manifest.json
rate | rate | rate AT/log.csv --system elo | log.csv
rate systems | rate | rate AT/log.csv --system elo,glicko2 | log.csv
rank | rank | rank AT/log.csv --prior 300 | log.csv
predict | predict | predict AT/week AT/fixtures.csv | week/ratings.csv week/manifest.json
  fixtures.csv
next | next | next AT/whole | whole/ratings.csv whole/posterior.npz whole/summary.json
plan | plan | plan AT/whole --half-width 100 --replications 2 | whole/ratings.csv
  whole/posterior.npz whole/summary.json
rules replay | rules replay | rules replay AT/rules.json --tickets AT/tickets.jsonl | rules.json
  tickets.jsonl
""")
}
"""What writes a folder: the command that its manifest names, its arguments, and what it reads."""

SILENT = {
    *("configs", "factors", "fit", "help", "models", "problems", "responses", "solvers", "sprt"),
    *("status", "warm"),
}
"""Commands that write no file."""


def test_every_command_is_here() -> None:
    known = {argv[0] for _, argv, _ in COMMANDS.values()}
    known |= {"check", "plot", "report"}  # they write no folder, and have tests of their own
    assert {*MODULES, "help", "rules"} - SILENT == known
    assert {command for command, *_ in COMMANDS.values()} == set(CONTENTS)


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the commands read."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "mine.yaml").write_text(CONFIG)
    (folder / "drawn.yaml").write_text("model: valorant\nfactors: {team_diff: 350}\n")
    (folder / "problem.yaml").write_bytes(shipped_configs()["valorant-20min"].read_bytes())
    (folder / "queue.csv").write_text(QUEUE)
    (folder / "log.csv").write_text(LOG)
    (folder / "rules.json").write_text(RULES)
    (folder / "tickets.jsonl").write_text(TICKETS)
    (folder / "fixtures.csv").write_text("player_a,player_b\np0,p1\n")
    done("rate", folder / "log.csv", "--system", "elo", "--out", folder / "week")
    done("rank", folder / "log.csv", "--prior", 300, "--out", folder / "whole")
    for shard in range(2):
        shards = ("-n", 4, "--shard", f"{shard}/2", "--out", folder / str(shard))
        done("replicate", folder / "drawn.yaml", *shards)
    return folder


@pytest.fixture
def fresh(at: Path, tmp_path: Path) -> Path:
    """Return a copy of it that a test may change."""
    return Path(shutil.copytree(at, tmp_path / "inputs"))


def run(name: str, at: Path, out: Path) -> Outcome:
    argv = [word.replace("AT/", f"{at}/") for word in COMMANDS[name][1]]
    if "OUT" in argv:
        return valmatch(*(out if word == "OUT" else word for word in argv))
    return valmatch(*argv, "--out", out)


def done(*argv: object) -> None:
    outcome = valmatch(*argv)
    assert outcome.code in (0, 3), outcome.err


def lines_of(outcome: Outcome) -> list[str]:
    """Return what a command says on stderr besides warnings."""
    return [
        line for line in outcome.err.splitlines() if not line.startswith(("warning: ", "note: "))
    ]


def tree(folder: Path) -> dict[str, str]:
    """Return the digests of all that is below a folder; links by where they lead."""
    outcome = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            outcome[name] = f"link to {path.readlink()}"
        elif path.is_dir():
            outcome[name] = "folder"
        else:
            outcome[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return outcome


def refused(name: str, at: Path, out: Path, below: Path, what: str) -> None:
    """Check that a command is refused in one line and leaves everything as it was."""
    before = tree(below)
    outcome = run(name, at, out)
    assert (outcome.code, len(lines_of(outcome)), outcome.out) == (2, 1, ""), outcome
    assert what in outcome.err
    assert tree(below) == before


# Folders of others


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_of_others_is_refused(name: str, at: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "deep").mkdir(parents=True)
    refused(name, at, out, tmp_path, "holds deep and no manifest.json of a run")
    (out / "deep").rmdir()
    (out / "summary.json").write_text("mine\n")
    refused(name, at, out, tmp_path, "holds summary.json and no manifest.json of a run")
    (out / "manifest.json").write_text('{"name": "an app", "start_url": "."}\n')
    outcome = "made by  (allowed" if name == "combine" else "is that of another program"
    if name != "combine":
        refused(name, at, out, tmp_path, outcome)
    for content in ("", "[]", "{", "\0\1"):
        (out / "manifest.json").write_text(content)
        refused(name, at, out, tmp_path, "manifest.json")


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_other_files_stay_beside_a_run(name: str, at: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(name, at, out).code in (0, 3)
    files = {path.name for path in out.iterdir() if path.is_file()} - {"manifest.json"}
    assert sorted(json.loads((out / "manifest.json").read_text())["files"]) == sorted(files)
    if name != "simulate":
        assert files <= set(CONTENTS[COMMANDS[name][0]])
    (out / ".d.part").mkdir()
    kept = (".notes.part", ".summary.json.part", ".summary.json.backup.part", "notes.txt", "x/y")
    for file_name in kept:
        (out / file_name).parent.mkdir(exist_ok=True)
        (out / file_name).write_text("mine\n")
    before = tree(out)
    assert run(name, at, out).code in (0, 3)
    assert {file_name: tree(out).get(file_name) for file_name in kept} == {
        file_name: before[file_name] for file_name in kept
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["compare", "sweep"])
def test_no_side_is_made_where_another_is_refused(name: str, at: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(name, at, out)
    sides = out if name == "compare" else out / "points"
    last = max(path for path in sides.iterdir() if path.is_dir())
    (last / "manifest.json").unlink()
    refused(name, at, out, tmp_path, "and no manifest.json of a run")


# What is read


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_read_is_not_replaced(name: str, fresh: Path, tmp_path: Path) -> None:
    """Where it is a file of our own run, too, under another name or through a link."""
    out = tmp_path / "out"
    assert run(name, fresh, out).code in (0, 3)
    (tmp_path / "way").symlink_to(out)
    file = CONTENTS[COMMANDS[name][0]][0]
    if name == "combine" or not (out / file).exists():
        file = "summary.json"
    for file_name in COMMANDS[name][2]:
        held = (out / file).read_bytes()
        path = fresh / file_name
        for link in (os.link, os.symlink):
            (out / file).unlink()
            link(path, out / file)
            for way in (out, tmp_path / "way", out / ".." / "out"):
                refused(name, fresh, way, tmp_path, f"would replace what is read, {path}")
        (out / file).unlink()
        # The input itself is in the folder, and a link leads to it.
        content = path.read_bytes()
        (out / file).write_bytes(content)
        path.unlink()
        path.symlink_to(out / file)
        refused(name, fresh, out, tmp_path, "would replace what is read")
        path.unlink()
        path.write_bytes(content)
        (out / file).write_bytes(held)


def test_standard_input_is_read_too(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    week = fresh / "week"
    before = tree(fresh)
    with (week / "history.csv").open() as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file.buffer))
        outcome = valmatch("rate", "-", "--system", "elo", "--out", week)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1), outcome
    assert tree(fresh) == before


# Figures


@pytest.fixture
def day(at: Path, tmp_path: Path) -> Path:
    pytest.importorskip("matplotlib")
    run("simulate", at, tmp_path / "runs" / "day")
    return tmp_path / "runs" / "day"


@pytest.mark.slow
def test_figures_replace_figures_alone(day: Path) -> None:
    drawn = success("plot", day, "--format", "svg")
    files = [Path(line) for line in drawn.out.splitlines()]
    first = tree(day)
    assert valmatch("plot", day, "--format", "svg").code == 0
    assert tree(day) == first
    for file in files:
        figure = file.read_bytes()
        for content in (b"mine\n", b"", figure[:20]):
            file.write_bytes(content)
            before = tree(day)
            outcome = valmatch("plot", day, "--format", "svg")
            assert (outcome.code, outcome.err.count("\n")) == (2, 1)
            assert f"{file}: is there already and was not drawn by valmatch" in outcome.err
            assert tree(day) == before
        file.unlink()
        file.symlink_to(day / "players.csv")
        before = tree(day)
        assert valmatch("plot", day, "--format", "svg").code == 2
        assert tree(day) == before
        file.unlink()
        file.write_bytes(figure)
