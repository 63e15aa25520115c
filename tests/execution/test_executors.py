"""Where replications run: the same bytes, an end at once, and what is kept when workers die."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import python, refusal, started, valmatch
from tests.support.crashes import kill_a_worker
from tests.support.folders import results
from tests.support.machine import slowness
from valmatch import InputError, RunError, load_config, replicate
from valmatch.execution import chunks
from valmatch.execution.chunks import result_of
from valmatch.execution.executors import died, open_pool, pool_for, process_pool
from valmatch.execution.interruption import held_signals, is_fragile
from valmatch.execution.run_options import ReplicateArguments
from valmatch.execution.shards import INDICES, WHOLE, Shard, in_job_array, shard_of_job
from valmatch.models.model import Batch
from valmatch.models.valorant.model import ValorantModel
from valmatch.optimization import solver_run
from valmatch.optimization.studies import study

LONG = "rate_multiplier=100000"
"""Days of fifty million players."""


@pytest.mark.slow
def test_threads_processes_and_one_worker_give_the_same_bytes(tmp_path: Path) -> None:
    kinds = {"one": (1, "local"), "threads": (3, "local"), "processes": (2, "processes")}
    for name, (workers, executor) in kinds.items():
        how: dict[str, Any] = {"workers": workers, "executor": executor, "out": tmp_path / name}
        replicate("valorant", 700, shard="1/2", control_variates=True, **how)
    assert results(tmp_path / "threads") == results(tmp_path / "one")
    assert results(tmp_path / "processes") == results(tmp_path / "one")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("executor", "workers", "configs", "here"),
    [
        ("local", 1, ["zonestats"], True),
        ("local", 2, ["valorant", "valorant-published"], True),
        ("local", 2, ["valorant", "zonestats"], False),
        ("processes", 1, ["valorant"], False),
    ],
)
def test_threads_work_for_models_that_say_so(
    executor: str, workers: int, configs: list[str], here: bool
) -> None:
    options = ReplicateArguments(executor=executor, workers=workers)
    with pool_for(options, *map(load_config, configs)) as pool:
        assert pool.here == here
        assert (pool.executor.submit(os.getpid).result(60) == os.getpid()) == here


def raising(error: Exception) -> Callable[..., Batch]:
    """Return a `run_many` that fails in a later chunk."""
    usual = ValorantModel.run_many

    def run_many(self: ValorantModel, streams: Any, replications: Any, *rest: Any) -> Batch:  # noqa: ANN401
        if 50 in replications:
            raise error
        return usual(self, streams, replications, *rest)

    return run_many


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (ZeroDivisionError("x"), RunError("a worker failed: ZeroDivisionError: x")),
        (RunError("no row"), RunError("no row")),
        (InputError("no file"), InputError("no file")),
    ],
)
def test_what_a_worker_raises_reaches_the_user(
    workers: int, error: Exception, seen: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ValorantModel, "run_many", raising(error))
    with pytest.raises(type(seen)) as caught:
        replicate("valorant", 1000, workers=workers, out=tmp_path)
    assert str(caught.value) == str(seen)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    rows = (tmp_path / "replications.csv").read_bytes().count(b"\n") - 1
    assert (manifest["status"], manifest["replications"]) == ("failed", rows)


def test_threads_end_with_a_run_that_fails() -> None:
    config = load_config("valorant", ["rate_multiplier=3000"])

    def fail(done: int) -> None:
        if done:
            raise OSError("full")

    before = threading.active_count()
    with pytest.raises(OSError, match="full"):
        replicate(config, 1000, workers=2, progress=fail)
    assert threading.active_count() == before


@pytest.mark.slow
def test_an_interrupt_ends_very_long_days(tmp_path: Path) -> None:
    command = ["replicate", "valorant", "--set", LONG, "--workers", "2", "-n", "10"]
    process = started(*command, "--out", tmp_path / "out")
    try:
        while not (tmp_path / "out" / "replications.csv").exists():
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        signalled = time.monotonic()
        _, err = process.communicate(timeout=60)
        seconds = time.monotonic() - signalled
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("interrupted")
    assert seconds <= 4.0 * slowness()  # a kernel that runs is not waited for
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["status"] in ("running", "interrupted")
    assert not manifest.get("replications")


def test_a_signal_while_workers_start_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[BaseProcess] = []
    start = ForkServerProcess.start

    def interrupted(process: BaseProcess) -> None:
        start(process)
        started.append(process)
        os.kill(os.getpid(), signal.SIGINT)

    with ctrl_c_raises(), process_pool(2) as pool:
        monkeypatch.setattr(ForkServerProcess, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pool.submit(os.getpid)
    (worker,) = started
    worker.join(60)
    assert worker.exitcode == -signal.SIGKILL


def test_a_pool_leaves_no_thread_that_the_end_of_the_process_could_cut_short() -> None:
    """It takes away the semaphores of the pool, or the resource tracker says that they leaked."""
    before = set(threading.enumerate())
    with process_pool(2) as pool:
        pool.submit(time.sleep, 60.0)
        (manager,) = {
            thread for thread in threading.enumerate() if "Manager" in type(thread).__name__
        }
        assert manager not in before
    assert not manager.is_alive()


SENT_TO_ALL = """
import os, signal, time
from multiprocessing import resource_tracker
from valmatch.execution.interruption import SIGNALS, stop_on_signal
from valmatch.execution.executors import process_pool

if __name__ == "__main__":
    with stop_on_signal() as stop, process_pool(2) as pool:
        pool.submit(abs, -3).result()
        for number in SIGNALS:
            for process in [resource_tracker._resource_tracker._pid, *pool._processes]:
                os.kill(process, number)
        time.sleep(0.2)
        print(pool.submit(abs, -3).result(), resource_tracker._resource_tracker._check_alive())
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.usefixtures("compiled")
def test_signals_to_all_processes_end_neither_workers_nor_what_looks_after_them(
    tmp_path: Path,
) -> None:
    script = tmp_path / "script.py"
    script.write_text(SENT_TO_ALL)
    done = python(script, timeout=120)
    assert (done.stdout, done.stderr) == ("3 True\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGXCPU])
def test_held_signals_come_when_the_block_is_done(number: signal.Signals) -> None:
    """Also one that another thread gets, which blocks nothing."""
    over, done = threading.Event(), []
    other = threading.Thread(target=over.wait)
    other.start()

    def hold() -> None:
        with held_signals(), held_signals():
            os.kill(os.getpid(), number)
            signal.pthread_kill(other.ident or 0, number)
            time.sleep(0.5)
            done.append(True)

    try:
        with ctrl_c_raises(number), pytest.raises(KeyboardInterrupt):
            hold()
    finally:
        over.set()
        other.join()
    assert done


@pytest.mark.parametrize(
    ("path", "harm"),
    [
        ("lib/llvmlite/binding/executionengine.py", True),
        ("lib/pydantic/main.py", True),
        ("<frozen importlib._bootstrap>", True),
        ("lib/llvmlites/work.py", False),
    ],
)
def test_no_signal_raises_inside_imports_llvmlite_or_pydantic(path: str, harm: bool) -> None:
    verdicts: list[bool] = []
    code = compile("def call(then): then()", path, "exec")
    names: dict[str, Any] = {}
    exec(code, names)
    names["call"](lambda: verdicts.append(is_fragile(sys._getframe())))
    assert verdicts == [harm]


@contextmanager
def ctrl_c_raises(number: signal.Signals = signal.SIGINT) -> Iterator[None]:
    """Let Ctrl-C do what it does in Python's own keeping, or another signal the same."""
    before = signal.signal(number, signal.default_int_handler)
    try:
        yield
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)


SLURM = {
    "SLURM_ARRAY_TASK_ID": "9",
    "SLURM_ARRAY_TASK_COUNT": "4",
    "SLURM_ARRAY_TASK_MIN": "3",
    "SLURM_ARRAY_TASK_STEP": "2",
}


@pytest.mark.parametrize(
    ("environment", "shard"),
    [
        ({"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "4"}, Shard(3, 4)),
        (SLURM, Shard(3, 4)),
        (SLURM | {"SLURM_ARRAY_TASK_ID": "3"}, Shard(0, 4)),
        ({}, WHOLE),
        ({"PBS_ARRAY_INDEX": ""}, WHOLE),
        ({"SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_COUNT": "1"}, WHOLE),
    ],
)
def test_places_in_arrays(environment: Mapping[str, str], shard: Shard) -> None:
    assert shard_of_job(environment) == shard
    assert in_job_array(environment) == (shard != WHOLE)


@pytest.mark.usefixtures("command_line_words")
@pytest.mark.parametrize("index", INDICES)
def test_an_index_without_its_count_is_refused(index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(index, "3")
    for command in (["replicate", "valorant"], ["optimize", "valorant-20min", "--macroreps", 2]):
        line = refusal(*command)
        assert line.startswith(f"{index}=3: a task of an array, but not which of how many")
        assert "give --shard I/K, I from 0, or 0/1 for the whole" in line
    assert valmatch("replicate", "valorant", "-n", 1, "--shard", "0/1").code == 0
    assert "does the whole work" in valmatch("simulate", "valorant").err


@pytest.mark.usefixtures("command_line_words")
@pytest.mark.parametrize(
    ("name", "value"),
    [*(("ID", value) for value in ("8", "11", "x")), ("STEP", "0"), ("COUNT", "1000000000")],
)
def test_what_is_no_place_is_refused(name: str, value: str) -> None:
    with pytest.raises(InputError, match=r"SLURM_ARRAY_TASK_ID=.*: a task of an array, but not"):
        shard_of_job(SLURM | {f"SLURM_ARRAY_TASK_{name}": value})


COMMANDS = {
    "replicate": ("replicate", "valorant", "-n", 3000),
    "design": ("replicate", "valorant", "-n", 2000, "--sweep", "team_diff=200,300"),
    "several runs": ("optimize", "valorant-20min", "--budget", 200, "--macroreps", 8),
}

DIED = (
    "a worker process died (out of memory, of which fewer --workers take less, or killed from"
    " outside)"
)


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
    monkeypatch.setattr(study, "result_of", once)
    return ended


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["replicate", "design", pytest.param("several runs", marks=pytest.mark.long)]
)
def test_a_run_that_loses_a_worker_says_so_and_goes_on(
    name: str, deadly: list[Future[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solver_run, "LEAST_SECONDS", 0.0)
    command = (*COMMANDS[name], "--out", tmp_path / "out")
    lost = valmatch(*command, "--executor", "processes", "--workers", 2)
    assert (lost.code, lost.out) == (1, "")
    assert lost.err == f"{DIED}; what is finished is kept, --resume goes on\n"
    assert multiprocessing.active_children() == []
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["status"] == "failed"
    rows = [*tmp_path.rglob("replications.csv"), *tmp_path.rglob("evaluations.csv")]
    assert sum(path.read_bytes().count(b"\n") - 1 for path in rows) > 0
    assert len(deadly) >= 2
    assert valmatch(*command, "--resume").code == 0
    assert valmatch(*COMMANDS[name], "--out", tmp_path / "whole").code == 0
    assert results(tmp_path / "out") == results(tmp_path / "whole")


@pytest.mark.slow
def test_a_worker_that_dies_while_there_is_no_work() -> None:
    with open_pool("processes", 2) as pool:
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
    awaited = study._awaited

    def first_is_lost(future: Future[Any], *rest: Any) -> object:  # noqa: ANN401
        awaited(future, *rest)
        kill_a_worker()
        raise died()

    monkeypatch.setattr(study, "_awaited", first_is_lost)
    command = (*COMMANDS["several runs"], "--workers", 2, "--out", tmp_path / "out")
    assert valmatch(*command).code == 1
    assert (tmp_path / "out" / "evaluations.csv").read_bytes().count(b"\n") > 150
