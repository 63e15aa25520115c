"""Nothing is lost and nothing counted twice, whatever happens to a run."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from random import Random

import pytest

from tests.support.command import refusal, valmatch
from tests.support.crashes import CASES, contents, run_and_kill, start, suffer
from tests.support.signals import living
from valmatch.config.config import Config
from valmatch.config.loading import load_config
from valmatch.errors import InputError
from valmatch.experiments.replicate import replicate


@pytest.fixture(scope="module", params=list(CASES))
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Config, int, dict[str, bytes]]:
    """Return a config, a number of replications and the files of an undisturbed run."""
    source, overrides, n = CASES[request.param]
    config = load_config(source, overrides)
    folder = tmp_path_factory.mktemp("undisturbed")
    replicate(config, n, out=folder)
    return config, n, contents(folder)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_kills_tears_and_duplicates_change_nothing(
    case: tuple[Config, int, dict[str, bytes]], seed: int, tmp_path: Path
) -> None:
    config, n, undisturbed = case
    suffer(config, n, tmp_path, Random(seed))
    assert contents(tmp_path) == undisturbed


def test_a_kill_costs_at_most_the_chunk_in_flight(tmp_path: Path) -> None:
    config = load_config("valorant")
    run_and_kill(config, 10**6, tmp_path, 0.5, lines=200)
    lines = (tmp_path / "replications.csv").read_text().count("\n") - 1
    done: list[int] = []
    before = (tmp_path / "replications.csv").read_bytes()
    with pytest.raises(InputError, match="replications that this run is not to make"):
        replicate(config, lines - 5, out=tmp_path, resume=True)
    assert (tmp_path / "replications.csv").read_bytes() == before
    replicate(config, 10**6, out=tmp_path, resume=True, max_seconds=1e-6, progress=done.append)
    assert lines > 100
    assert done[0] == lines


@pytest.mark.parametrize("cut", [0, 1, 5, 60, 100_000])
def test_a_torn_tail_is_dropped_with_a_warning(tmp_path: Path, cut: int) -> None:
    config = load_config("valorant")
    replicate(config, 20, out=tmp_path)
    path = tmp_path / "replications.csv"
    before = path.read_bytes()
    path.write_bytes(before[: max(0, len(before) - cut)])
    warnings: list[str] = []
    replicate(config, 20, out=tmp_path, resume=True, warn=warnings.append)
    assert path.read_bytes() == before
    # A cut at the end of a line leaves nothing torn, and neither does an empty file.
    assert len(warnings) == (0 < cut < 100_000)
    assert all("torn" in warning for warning in warnings)


def test_damage_in_the_middle_is_refused_by_its_place(tmp_path: Path) -> None:
    config = load_config("valorant")
    replicate(config, 5, out=tmp_path)
    path = tmp_path / "replications.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:2], lines[2][:30] + "\n", *lines[3:]]))
    with pytest.raises(InputError, match=r"replications\.csv:3: damaged"):
        replicate(config, 5, out=tmp_path, resume=True)
    path.write_text("".join([*lines[:2], lines[2].replace(",1,1,", ",1,0,"), *lines[3:]]))
    with pytest.raises(InputError, match=r"replications\.csv:3: contradicts .* replication 0"):
        replicate(config, 5, out=tmp_path, resume=True)


def test_a_gap_is_filled(tmp_path: Path) -> None:
    config = load_config("valorant")
    replicate(config, 8, out=tmp_path)
    path = tmp_path / "replications.csv"
    before = path.read_bytes()
    lines = before.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4] + lines[5:]))
    warnings: list[str] = []
    replicate(config, 8, out=tmp_path, resume=True, warn=warnings.append)
    assert path.read_bytes() == before
    assert "4 replications after a gap are made again" in warnings[0]


def test_resume_extends_a_finished_run(tmp_path: Path) -> None:
    config = load_config("kg-fig1-top", ["n_opponents=4", "n_games=20", "rank=1"])
    replicate(config, 30, out=tmp_path / "a")
    replicate(config, 70, out=tmp_path / "a", resume=True)
    replicate(config, 70, out=tmp_path / "b", resume=True)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@pytest.mark.slow
def test_an_unfinished_run_is_not_started_over(tmp_path: Path) -> None:
    out = tmp_path / "o"
    first = valmatch("replicate", "valorant", "-n", 10**6, "--max-time", "0.2s", "--out", out)
    assert first.code == 75
    assert "out of time after" in first.err
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["status"], manifest["requested"]) == ("out of time", 10**6)
    before = (out / "replications.csv").read_bytes()
    assert manifest["replications"] == before.count(b"\n") - 1 > 0
    again = refusal("replicate", "valorant", "-n", 10**6, "--out", out)
    assert "--resume goes on with it" in again
    assert (out / "replications.csv").read_bytes() == before


@pytest.mark.slow
def test_two_processes_on_one_folder_are_refused(tmp_path: Path) -> None:
    command = ["replicate", "valorant", "-n", 1000000, "--out", tmp_path]
    process = start(*command)
    refused = refusal(*command, "--resume")
    assert f"in use by process {process.pid} on {os.uname().nodename}" in refused
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in err  # no more, where the machine is slow
    assert json.loads((tmp_path / "manifest.json").read_text())["status"] == "interrupted"
    done = valmatch(*command, "--resume", "--max-time", "0.01")
    assert done.code == 75


@pytest.mark.slow
def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    workers = ("--workers", 2, "--executor", "processes")
    process = start("replicate", "valorant", "-n", 1000000, *workers, "--out", tmp_path)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and living(process.pid):
        time.sleep(0.1)
    assert living(process.pid) == []
