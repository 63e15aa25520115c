"""Exact sums in place of rows: the same summary, from any shards, after any kill."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest

import valmatch
from tests.support.command import valmatch as command
from tests.support.crashes import CASES
from valmatch.config.config import Config
from valmatch.config.loading import load
from valmatch.errors import InputError
from valmatch.execution.shards import Shard
from valmatch.experiments.combine import combine
from valmatch.experiments.replicate import replicate
from valmatch.experiments.replications import Replications
from valmatch.storage.sum_file import SUMS_OF_ROWS, replications_in

SUMMARY = ("summary.json", "summary.csv", "paired.csv", "curves.csv")

EXACT = (*SUMMARY, SUMS_OF_ROWS)

Case = tuple[Config, int, Path, dict[str, bytes]]


def files(folder: Path, names: tuple[str, ...] = EXACT) -> dict[str, bytes]:
    """Return the files of a folder that hold numbers."""
    return {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}


@pytest.fixture(scope="module", params=list(CASES))
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Return a config, a number of replications, the run with rows, the files of one without."""
    source, overrides, n = CASES[request.param]
    config, n = load(source, overrides), n // 10
    folder = tmp_path_factory.mktemp("case")
    replicate(config, n, out=folder / "rows")
    replicate(config, n, out=folder / "sums", summary_only=True)
    return config, n, folder / "rows", files(folder / "sums")


def test_the_files_are_those_of_the_rows(case: Case) -> None:
    _, _, rows, sums = case
    kept = files(rows, SUMMARY)
    assert kept.keys() == sums.keys() - {SUMS_OF_ROWS}
    assert kept.get("curves.csv") == sums.get("curves.csv")


def test_no_rows_are_kept(case: Case, tmp_path: Path) -> None:
    config, n, *_ = case
    found = replicate(config, n, out=tmp_path, summary_only=True)
    assert not (tmp_path / "replications.csv").exists()
    assert (found.count, found.values.size) == (n, 0)
    for name, mean in replicate(config, n).estimates.items():
        of_sums = found.estimates[name]
        assert (of_sums.mean, of_sums.std, of_sums.n) == (mean.mean, mean.std, mean.n)
        assert of_sums == mean or mean.remarks  # of the shape of values sums say nothing
    for take in (found.to_dict, lambda: found[found.responses[0].name]):
        with pytest.raises(InputError, match="no rows are kept"):
            take()
    with pytest.raises(KeyError, match="avg"):
        found["avg"]


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_change_nothing(case: Case, workers: int, tmp_path: Path) -> None:
    config, n, _, sums = case
    replicate(config, n, workers=workers, out=tmp_path, summary_only=True)
    assert files(tmp_path) == sums


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["processes", "dask"])
def test_executors_change_nothing(case: Case, executor: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    config, n, _, sums = case
    replicate(config, n, workers=2, executor=executor, out=tmp_path, summary_only=True)
    assert files(tmp_path) == sums


def test_shards_in_any_order_some_of_them_twice(case: Case, tmp_path: Path) -> None:
    config, n, _, sums = case
    rng = Random(n)
    for count in (1, 3, 5):
        folders = [tmp_path / f"{count}-{index}" for index in range(count)]
        for index, folder in enumerate(folders):
            replicate(config, n, shard=Shard(index, count), out=folder, summary_only=True)
        rng.shuffle(folders)
        out = tmp_path / f"{count}-all"
        for given in (folders + folders[:2], folders[:1], [out]):
            combine(out, given)
            assert files(out) == sums


def test_one_by_one(case: Case, tmp_path: Path) -> None:
    config, n, _, sums = case
    for index in (2, 0, 1):
        folder = tmp_path / str(index)
        replicate(config, n, shard=Shard(index, 3), out=folder, summary_only=True)
        found = combine(tmp_path / "all", [folder])
        held = sum(len(Shard(k, 3).indices(n)) for k in ([2], [2, 0], [2, 0, 1])[(index + 1) % 3])
        assert (found.replications.count, len(found.missing)) == (held, n - held)
    assert files(tmp_path / "all") == sums


def test_what_is_missing_is_said_by_shard(tmp_path: Path) -> None:
    config = load("valorant")
    for index in (0, 2):
        folder = tmp_path / str(index)
        replicate(config, 20, shard=Shard(index, 4), out=folder, summary_only=True)
    found = combine(tmp_path / "all", [tmp_path / "0", tmp_path / "2"], check=True)
    owed = {name: list(missing) for name, missing in found.owed.items()}
    assert owed == {f"shard {k}/4": list(range(k, 20, 4)) for k in (1, 3)}


def test_resume_goes_on(case: Case, tmp_path: Path) -> None:
    config, n, _, sums = case
    replicate(config, n // 3, out=tmp_path, summary_only=True)
    done: list[int] = []
    replicate(config, n, out=tmp_path, summary_only=True, resume=True, progress=done.append)
    assert done[0] == n // 3
    assert files(tmp_path) == sums


@pytest.mark.parametrize("name", CASES)
def test_a_kill_costs_at_most_the_chunk_in_flight(name: str, tmp_path: Path) -> None:
    source, overrides, _ = CASES[name]
    config, out = load(source, overrides), tmp_path / "killed"
    pid = os.fork()
    if pid == 0:
        try:
            replicate(config, 10**6, out=out, summary_only=True)
        finally:
            os._exit(0)
    deadline = time.monotonic() + 60
    while replications_in(out) < 20 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    kept = replications_in(out)
    assert kept >= 20
    with pytest.raises(InputError, match="resume=True goes on with it"):
        replicate(config, kept + 3, out=out, summary_only=True)
    done: list[int] = []
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(manifest | {"requested": kept + 3}))
    replicate(config, kept + 3, out=out, summary_only=True, resume=True, progress=done.append)
    # Curves may have been one chunk behind, and are then made again for themselves.
    assert done[0] in ((kept,) if "curves.csv" not in files(out) else range(kept + 1))
    replicate(config, kept + 3, out=tmp_path / "whole", summary_only=True)
    assert files(out) == files(tmp_path / "whole")
    combine(tmp_path / "all", [out])
    assert files(tmp_path / "all") == files(out)


@pytest.mark.usefixtures("command_line_words")
def test_what_needs_rows_is_refused(tmp_path: Path) -> None:
    config = load("valorant")
    for given, said in {
        "targets": r"--target: needs the rows, which --summary-only does not keep",
        "control_variates": r"--control-variates: needs the rows",
    }.items():
        what = {"targets": "avg_wait_time=1%"} if given == "targets" else {given: True}
        with pytest.raises(InputError, match=said):
            replicate(config, 50, summary_only=True, out=tmp_path / "out", **what)
    times = ",1500\n".join(f"{hour / 9}" for hour in range(9 * 24 * 3))
    (tmp_path / "queue.csv").write_text(f"arrival_hours,rating\n{times},1500\n")
    (tmp_path / "log.yaml").write_text("model: valorant\narrivals: queue.csv\n")
    (tmp_path / "resampled.yaml").write_text(
        "model: valorant\narrivals: queue.csv\nfactors: {log: {resample: block}}\n"
    )
    with pytest.raises(InputError, match=r"--summary-only: .* skewness of its resamples"):
        replicate(tmp_path / "resampled.yaml", 5, summary_only=True, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    alone = replicate(tmp_path / "log.yaml", 3, summary_only=True)
    assert alone.estimates == replicate(tmp_path / "log.yaml", 3).estimates


@pytest.mark.usefixtures("command_line_words")
def test_folders_of_the_two_kinds_do_not_mix(tmp_path: Path) -> None:
    config, rows, sums = load("valorant"), tmp_path / "rows", tmp_path / "sums"
    replicate(config, 4, out=rows)
    replicate(config, 4, out=sums, summary_only=True)
    with pytest.raises(InputError, match=r"combine folders of one kind"):
        combine(tmp_path / "all", [rows, sums])
    for out, only in ((rows, True), (sums, False)):
        before = files(out, (*EXACT, "replications.csv", "manifest.json"))
        with pytest.raises(InputError, match=r"holds the results of another run .summary_only"):
            replicate(config, 6, out=out, summary_only=only, resume=True)
        assert files(out, (*EXACT, "replications.csv", "manifest.json")) == before
    compared = command("compare", rows, sums)
    assert (compared.code, compared.err.count("\n")) == (2, 1)
    assert "sums: holds only sums" in compared.err


def test_sums_that_overlap_in_part_are_refused(tmp_path: Path) -> None:
    config = load("valorant")
    replicate(config, 8, out=tmp_path / "whole", summary_only=True)
    for name, shard in {"half": Shard(0, 2), "third": Shard(1, 3)}.items():
        replicate(config, 12, shard=shard, out=tmp_path / name, summary_only=True)
    with pytest.raises(InputError, match=r"4 of its 6 replications are in other folders"):
        combine(tmp_path / "all", [tmp_path / "whole", tmp_path / "half"])
    with pytest.raises(InputError, match=r"third: 2 of its 4 replications are in other folders"):
        combine(tmp_path / "all", [tmp_path / "half", tmp_path / "third"])
    assert not (tmp_path / "all").exists()


def test_contradictions_and_damage_are_refused(tmp_path: Path) -> None:
    config = load("valorant")
    for name in "ab":
        replicate(config, 5, out=tmp_path / name, summary_only=True)
    path = tmp_path / "b" / SUMS_OF_ROWS
    content = json.loads(path.read_text())
    wait = content["sums"]["avg_wait_time"]
    sums = content["sums"] | {"avg_wait_time": wait | {"max": wait["max"] + 1.0}}
    path.write_text(json.dumps(content | {"sums": sums}))
    with pytest.raises(InputError, match="contradict each other on the same replications"):
        combine(tmp_path / "all", [tmp_path / "a", tmp_path / "b"])
    for key, value in (
        ("sum", "12"),
        ("sum", "0x0p0"),  # below five times the least
        ("squares", "0x1p-9999"),
        ("squares", "0x1p90"),
        ("n", 4),
        ("min", 1e300),
        ("max", None),
        ("undefined", -1),
    ):
        sums = content["sums"] | {"avg_wait_time": wait | {key: value}}
        path.write_text(json.dumps(content | {"sums": sums}))
        with pytest.raises(InputError, match=r"b.sums\.json: damaged: sums\.avg_wait_time"):
            combine(tmp_path / "all", [tmp_path / "b"])
    others: list[dict[str, object]] = [
        {"replications": [[0, 5]]},
        {"replications": [[5, 0, 1]]},
        {"sums": {}},
    ]
    for damaged in others:
        path.write_text(json.dumps(content | damaged))
        with pytest.raises(InputError, match=r"b.sums\.json: damaged"):
            replicate(config, 9, out=tmp_path / "b", summary_only=True, resume=True)
    path.write_text(json.dumps(content | {"seed": 2}))
    with pytest.raises(InputError, match=r"b.sums\.json: holds the sums of another run"):
        combine(tmp_path / "all", [tmp_path / "b"])
    assert not (tmp_path / "all").exists()


def test_gaps_cannot_be_resumed(tmp_path: Path) -> None:
    config = load("valorant")
    replicate(config, 8, shard=Shard(1, 2), out=tmp_path / "1", summary_only=True)
    combine(tmp_path / "all", [tmp_path / "1"])
    before = files(tmp_path / "all")
    with pytest.raises(InputError, match="gaps, and sums cannot be taken apart"):
        replicate(config, 8, out=tmp_path / "all", summary_only=True, resume=True)
    assert files(tmp_path / "all") == before


@pytest.mark.slow
def test_at_the_command_line(tmp_path: Path) -> None:
    whole = command("replicate", "valorant", "-n", 30, "--out", tmp_path / "rows", "--json")
    for index in range(2):
        shard = ("--shard", f"{index}/2", "--out", tmp_path / str(index))
        done = command("replicate", "valorant", "-n", 30, "--summary-only", *shard)
        assert done.code == 0
    part = command("combine", tmp_path / "all", tmp_path / "1")
    assert (part.code, "shard 0/2 owes 15 replications: 0, 2" in part.err) == (75, True)
    combined = command("combine", tmp_path / "all", tmp_path / "0", "--json")
    assert (combined.code, combined.out) == (0, whole.out)
    status = json.loads(command("status", tmp_path / "all", "--json").out)["runs"][0]
    assert (status["done"], status["wanted"]) == (30, 30)
    pytest.importorskip("matplotlib")
    refused = command("plot", tmp_path / "all")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "holds only sums" in refused.err
    report = command("report", tmp_path / "all", "-o", tmp_path / "page.html")
    assert report.code == 0
    assert "avg_wait_time" in (tmp_path / "page.html").read_text()


@pytest.mark.slow
def test_designs(tmp_path: Path) -> None:
    sweep = ("replicate", "valorant", "-n", 12, "--sweep", "team_diff=300,400")
    assert command(*sweep, "--out", tmp_path / "rows").code == 0
    for index in range(2):
        shard = ("--shard", f"{index}/2", "--out", tmp_path / str(index))
        assert command(*sweep, "--summary-only", *shard).code == 0
    assert command("combine", tmp_path / "all", tmp_path / "0", tmp_path / "1").code == 0
    names = ("design.csv", "summary.json")
    assert files(tmp_path / "all", names) == files(tmp_path / "rows", names)
    assert not list((tmp_path / "all").rglob("replications.csv"))


def test_figures_from_python_need_rows() -> None:
    pytest.importorskip("matplotlib")
    found: Replications = valmatch.replicate("valorant", 3, summary_only=True)
    assert np.isfinite(found.estimates["avg_wait_time"].mean or np.nan)
    with pytest.raises(InputError, match="no rows are kept"):
        valmatch.plot(found)
