"""Worker processes that die, as those do that take too much memory: one line, and nothing lost."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import valmatch
from tests.support.crashes import kill_a_worker
from tests.support.folders import results
from valmatch import RunError
from valmatch.execution import chunks
from valmatch.execution.chunks import result_of
from valmatch.execution.executors import open_pool
from valmatch.execution.processes import died
from valmatch.optimization import evaluation
from valmatch.optimization.studies import parallel_runs

SEARCH = ("optimize", "valorant-20min", "--solver", "random")

COMMANDS = {
    "replicate": ("replicate", "valorant", "-n", 3000),
    "design": ("replicate", "valorant", "-n", 2000, "--sweep", "team_diff=200,300"),
    "compare": ("compare", "valorant", "--set", "team_diff=300", "-n", 2000),
    "one run": (*SEARCH, "--budget", 600),
    "several runs": (*SEARCH, "--budget", 200, "--macroreps", 8),
    "frontier": (*SEARCH, "--budget", 200, "--sweep", "upper_time=20:34:2"),
}

DIED = (
    "a worker process died (out of memory, of which fewer --workers take less, or killed from"
    " outside)"
)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, dict[str, bytes]]:
    files = {}
    for name, command in COMMANDS.items():
        folder = tmp_path_factory.mktemp("undisturbed") / "out"
        assert valmatch(*command, "--out", folder).code == 0
        files[name] = results(folder)
    return files


@pytest.fixture
def deadly(monkeypatch: pytest.MonkeyPatch) -> list[Future[Any]]:
    """Kill a worker when it has done some work; return what has come of it until then."""
    ended: list[Future[Any]] = []

    def once(future: Future[Any]) -> object:
        made = result_of(future)
        ended.append(future)
        if len(ended) == 2:
            kill_a_worker()
        return made

    monkeypatch.setattr(chunks, "result_of", once)
    monkeypatch.setattr(parallel_runs, "result_of", once)
    return ended


LONG = pytest.mark.long


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["processes", "dask"])
@pytest.mark.parametrize(
    "name", [*list(COMMANDS)[:2], *(pytest.param(name, marks=LONG) for name in list(COMMANDS)[2:])]
)
def test_a_run_that_loses_a_worker_says_so_and_goes_on(
    name: str,
    executor: str,
    undisturbed: Mapping[str, dict[str, bytes]],
    deadly: list[Future[Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if executor == "dask":
        pytest.importorskip("distributed")
    monkeypatch.setattr(evaluation, "LEAST_SECONDS", 0.0)
    command = (*COMMANDS[name], "--out", tmp_path / "out")
    lost = valmatch(*command, "--executor", executor, "--workers", 2)
    assert (lost.code, lost.out) == (1, "")
    assert lost.err == f"{DIED}; what is finished is kept, --resume goes on\n"
    assert multiprocessing.active_children() == []
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["status"] == "failed"
    rows = [*tmp_path.rglob("replications.csv"), *tmp_path.rglob("evaluations.csv")]
    assert sum(path.read_bytes().count(b"\n") - 1 for path in rows) > 0
    assert len(deadly) >= 2
    assert valmatch(*command, "--resume").code == 0
    assert results(tmp_path / "out") == undisturbed[name]


@pytest.mark.slow
def test_where_nothing_is_kept_nothing_is_said_of_it(deadly: list[Future[Any]]) -> None:
    lost = valmatch(*COMMANDS["replicate"], "--executor", "processes", "--workers", 2)
    assert (lost.code, lost.out, lost.err) == (1, "", f"{DIED}\n")
    assert deadly


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["processes", "dask"])
def test_a_worker_that_dies_while_there_is_no_work(executor: str) -> None:
    if executor == "dask":
        pytest.importorskip("distributed")
    with open_pool(executor, 2) as pool:
        assert pool.executor.submit(abs, -3).result(60) == 3
        kill_a_worker()
        with pytest.raises(RunError, match="a worker process died"):
            work_on(pool.executor)


def work_on(executor: Executor) -> None:
    """Hand out work until the executor has heard of what happened to its workers."""
    while True:
        result_of(executor.submit(abs, -3))


@pytest.mark.slow
def test_runs_that_have_ended_before_a_loss_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that come after one that has not."""
    awaited = parallel_runs._awaited

    def first_is_lost(future: Future[Any], *rest: Any) -> object:  # noqa: ANN401
        awaited(future, *rest)
        kill_a_worker()
        raise died()

    monkeypatch.setattr(parallel_runs, "_awaited", first_is_lost)
    command = (*COMMANDS["several runs"], "--workers", 2, "--out", tmp_path / "out")
    assert valmatch(*command).code == 1
    assert (tmp_path / "out" / "evaluations.csv").read_bytes().count(b"\n") > 150
