"""`optimize` by several workers and in job arrays: always the bytes of one process."""

from __future__ import annotations

import json
import shutil
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.command import refusal, started, success, valmatch
from tests.support.crashes import wait_for
from tests.support.sectioned_model import SHOTS
from tests.support.sweeps import swept
from valmatch import InputError, load_config, optimize
from valmatch.execution.chunks import build
from valmatch.execution.executors import open_pool
from valmatch.execution.interruption import Stop
from valmatch.optimization import solver_run
from valmatch.optimization.problem import problem_of
from valmatch.optimization.solver_run import Evaluator, Execution, SharedPool
from valmatch.optimization.studies import solver_study
from valmatch.optimization.studies.combine import combine_optimizations

STUDY = ("--macroreps", 5, "--solver", "random,spsa", "--budget", 100)
SWEEP = ("--sweep", "far=4:8:1", "--solver", "random", "--budget", 100)

ARRAY = "SLURM_ARRAY_TASK_"


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder but its manifest."""
    names = [path.name for path in folder.iterdir() if path.name != "manifest.json"]
    assert "summary.json" in names
    assert "evaluations.csv" in names
    return {name: (folder / name).read_bytes() for name in sorted(names)}


def facts(folder: Path) -> dict[str, Any]:
    """Return what a manifest says of the run, but for when and where it was made."""
    manifest = json.loads((folder / "manifest.json").read_text())
    own = ("started", "wall_seconds", "pid", "host", "argv")
    return {key: value for key, value in manifest.items() if key not in own}


@pytest.fixture(autouse=True)
def _judged_by_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge points by fewer replications, which takes less time."""
    monkeypatch.setattr(solver_study, "POST", (20, 20_000))


@pytest.fixture
def shots(tmp_path: Path, sectioned: None) -> Path:
    """Return the file of a problem that is solved in no time."""
    path = tmp_path / "c.yaml"
    path.write_text(json.dumps(SHOTS))
    return path


# Several workers for one run


@pytest.mark.slow
@pytest.mark.parametrize(
    "executor", ["local", "processes", pytest.param("dask", marks=pytest.mark.long)]
)
def test_one_run_gives_the_same_bytes_on_any_number_of_workers(
    executor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    make = SharedPool.make

    def counted(self: SharedPool, *given: Any) -> Any:  # noqa: ANN401
        made.append(len(given[-1]))
        return make(self, *given)

    monkeypatch.setattr(SharedPool, "make", counted)
    monkeypatch.setattr(solver_run, "LEAST_SECONDS", 0.0)
    with ExitStack() as stack:
        options: dict[str, Any] = {"executor": executor}
        if executor == "dask":
            distributed = pytest.importorskip("distributed")
            cluster = distributed.LocalCluster(2, dashboard_address=None)
            options["scheduler"] = stack.enter_context(cluster).scheduler_address
        for workers in (1, 2, 3) if executor == "local" else (1, 2):
            how = {**options, "workers": workers}
            optimize("valorant-30min", "spsa", 150, out=tmp_path / str(workers), **how)
            assert bool(made) == ((workers, executor) != (1, "local"))
    whole = contents(tmp_path / "1")
    assert contents(tmp_path / "2") == whole
    if executor == "local":
        assert contents(tmp_path / "3") == whole


def test_what_the_journal_has_is_not_made_by_workers_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = load_config("valorant-20min")
    problem = problem_of(config, build(config))
    alone = Evaluator(config, problem, 1, 7, 100).evaluate(problem.start, 12)
    point = tuple(problem.point(problem.start).values())
    journal: dict[tuple[float, ...], tuple[float, ...]] = {}
    Evaluator(config, problem, 1, 7, 100, Execution(journal)).evaluate(problem.start, 12)
    for k in (0, 4, 5, 9):
        del journal[(*point, 7 + k)]
    shared: list[range] = []
    monkeypatch.setattr(solver_run, "LEAST_SECONDS", 0.0)
    with open_pool("local", 2, threads=True) as pool:
        one = SharedPool(pool, Stop())
        make = one.make

        def noted(*given: Any) -> Any:  # noqa: ANN401
            shared.append(given[-1])
            return make(*given)

        monkeypatch.setattr(one, "make", noted)
        evaluator = Evaluator(config, problem, 1, 7, 100, Execution(journal, one))
        np.testing.assert_array_equal(evaluator.evaluate(problem.start, 12), alone)
    assert shared == [range(11, 13)]
    assert len(journal) == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("--macroreps", 2, "--solver", "random,spsa", "--budget", 100),
        ("--sweep", "upper_time=20:40:10", "--solver", "random", "--budget", 100),
        ("--pareto", "avg_team_diff,avg_wait_time", "--budget", 120),
    ],
)
def test_runs_at_once_give_the_bytes_of_one_after_the_other(
    command: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solver_run, "LEAST_SECONDS", 0.0)
    for workers in (1, 2, 4):
        options = ("--workers", workers, "--out", tmp_path / str(workers))
        assert valmatch("optimize", "valorant-30min", *command, *options).code in (0, 3)
    for workers in (2, 4):
        assert contents(tmp_path / str(workers)) == contents(tmp_path / "1")


# Shards


@pytest.mark.slow
@pytest.mark.parametrize("what", [STUDY, SWEEP])
def test_shards_in_any_order_are_the_whole(
    shots: Path, what: tuple[object, ...], tmp_path: Path
) -> None:
    command = ("optimize", shots, *what)
    assert valmatch(*command, "--out", tmp_path / "whole").code in (0, 3)
    of = "runs of each solver" if what is STUDY else "values of far"
    for index, own in enumerate((2, 2, 1)):
        done = valmatch(*command, "--shard", f"{index}/3", "--out", tmp_path / str(index))
        assert (done.code, done.err.splitlines()[0]) == (0, f"shard {index}/3: {own} of 5 {of}")
    folders = [tmp_path / name for name in ("2", "0", "1")]
    whole = contents(tmp_path / "whole")
    # At once, one by one, once more with itself; with a folder of all of it.
    steps = ([folders], [[one] for one in folders], [folders, folders[:1]], [[tmp_path / "whole"]])
    for number, step in enumerate(steps):
        out = tmp_path / f"all-{number}"
        codes = [valmatch("combine", out, *given).code for given in step]
        # The points of a sweep share replications, so that another shard's may be enough.
        assert codes[-1] == 0
        assert codes[0] == (75 if number == 1 else 0)
        assert contents(out) == whole
        assert facts(out) == facts(tmp_path / "whole")
    printed = valmatch("combine", tmp_path / "all-0", *folders, "--json")
    assert json.loads(printed.out) == json.loads((tmp_path / "whole" / "summary.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("what", [STUDY, SWEEP])
def test_a_killed_shard_owes_what_it_lacks_and_goes_on(
    shots: Path, what: tuple[object, ...], tmp_path: Path
) -> None:
    command = ("optimize", shots, *what)
    for index in (0, 1):
        valmatch(*command, "--shard", f"{index}/2", "--out", tmp_path / str(index))
    killed = tmp_path / "killed"
    shutil.copytree(tmp_path / "0", killed)
    path = killed / "evaluations-0-of-2.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-3]) + lines[-3][:9])
    manifest = json.loads((killed / "manifest.json").read_text()) | {"shards": {}}
    (killed / "manifest.json").write_text(json.dumps(manifest))
    warnings: list[str] = []
    found = combine_optimizations(tmp_path / "part", [killed], warn=warnings.append)
    assert warnings == [f"{killed}: shard 0/2 has not ended, or was killed"]
    assert list(found.owed) == ["shard 0/2", "shard 1/2"]
    if what is STUDY:
        assert found.missing["missing"] == {"shard 0/2": [4], "shard 1/2": [1, 3]}
    assert (tmp_path / "part" / "evaluations.csv").read_text().count("\n") == len(lines) - 3
    success(*command, "--shard", "0/2", "--resume", "--out", killed)
    assert path.read_bytes() == (tmp_path / "0" / path.name).read_bytes()
    assert combine_optimizations(tmp_path / "all", [killed, tmp_path / "1"]).shortfalls == []
    valmatch(*command, "--out", tmp_path / "whole")
    assert valmatch(*command, "--resume", "--out", tmp_path / "part").code in (0, 3)
    for name in ("all", "part"):
        assert contents(tmp_path / name) == contents(tmp_path / "whole")


@pytest.mark.slow
def test_tasks_of_a_job_array_make_their_shards(
    shots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("optimize", shots, *STUDY)
    assert valmatch(*command, "--out", tmp_path / "whole").code in (0, 3)
    for name, value in {"COUNT": "3", "MIN": "1", "STEP": "1"}.items():
        monkeypatch.setenv(ARRAY + name, value)
    for task in (1, 2, 3):
        monkeypatch.setenv(f"{ARRAY}ID", str(task))
        done = success(*command, "--resume", "--max-time", "50m", "--out", tmp_path / "all")
        assert f"shard {task - 1}/3: " in done.err
    alone = valmatch("optimize", shots, "--budget", 120)
    assert "a single run of optimize takes no shares" in alone.err
    assert "rule.aim" in alone.out
    front = valmatch("optimize", shots, "--budget", 120, "--pareto", "miss,far")
    assert "optimize takes no shares" in front.err
    for name in ("COUNT", "ID"):
        monkeypatch.delenv(ARRAY + name)
    assert valmatch("combine", tmp_path / "all").code == 0
    assert contents(tmp_path / "all") == contents(tmp_path / "whole")


@pytest.mark.slow
def test_what_does_not_belong_together_is_refused(shots: Path, tmp_path: Path) -> None:
    small = ("--solver", "random", "--budget", 120, "--macroreps", 2)
    runs: dict[str, tuple[object, ...]] = {
        "a": small,
        "seed": (*small, "--seed", 2),
        "sweep": (*small[:4], "--sweep", "far=4:5:1"),
        "front": ("--budget", 120, "--pareto", "miss,far"),
    }
    for name, given in runs.items():
        out = ("--out", tmp_path / name)
        assert valmatch("optimize", shots, *given, *out).code in (0, 3)
    for name, shown in {
        "seed": "different seeds, 1 and 2",
        "sweep": "different sweeps, None and far=4:5:1",
        "nowhere": "no such folder",
    }.items():
        assert shown in refusal("combine", tmp_path / "all", tmp_path / "a", tmp_path / name)
        assert not (tmp_path / "all").exists()
    alone = valmatch("combine", tmp_path / "front").err
    assert "front: the front of several objectives is one run (allowed: folders of s" in alone


@pytest.mark.slow
def test_contradictions_and_damage_are_refused(shots: Path, tmp_path: Path) -> None:
    command = ("optimize", shots, "--solver", "random", "--budget", 120, "--macroreps", 2)
    for name in "ab":
        valmatch(*command, "--out", tmp_path / name)
    path = tmp_path / "b" / "evaluations.csv"
    header, first, *lines = path.read_text().splitlines(keepends=True)
    path.write_text(header + first.rpartition(",")[0] + ",7.5\n" + "".join(lines))
    with pytest.raises(
        InputError, match=r"a/\S+ and \S+b/\S+: contradict each other on evaluations at "
    ):
        combine_optimizations(tmp_path / "all", [tmp_path / "a", tmp_path / "b"])
    path.write_text(header + "x\n" + "".join(lines))
    with pytest.raises(InputError, match=r"evaluations.csv:2: damaged"):
        combine_optimizations(tmp_path / "all", [tmp_path / "a", tmp_path / "b"])
    assert not (tmp_path / "all").exists()


def test_points_of_a_frontier_do_not_depend_on_each_other(sectioned: None) -> None:
    config = load_config(SHOTS)
    all_of_it = swept(config, "far=4:8:2", "random", 120)
    one = swept(config, "far=8:8:1", "random", 120)
    assert all_of_it.points[-1] == one.points[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "given"),
    [
        (signal.SIGTERM, ()),
        (signal.SIGKILL, ("--workers", "2")),
        (signal.SIGTERM, ("--workers", "2", "--macroreps", "2")),
    ],
)
def test_a_run_that_is_stopped_goes_on(
    how: signal.Signals, given: tuple[str, ...], tmp_path: Path
) -> None:
    out = tmp_path / "o"
    command = ("optimize", "valorant-x10", "--solver", "random", "--budget", 100000, *given)
    process = started(*command, "--out", out)
    path = out / "evaluations.csv"
    # Of jobs elsewhere nothing is there before they have ended.
    wait_for(path, 1 if "--macroreps" in given else 50)
    process.send_signal(how)
    _, err = process.communicate(timeout=30)
    if how == signal.SIGTERM:
        assert err == f"results in {out}\nwarning: interrupted; --resume goes on\n"
        assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"
        assert json.loads((out / "summary.json").read_text())["feasible"] is None
    assert process.returncode == (130 if how == signal.SIGTERM else -signal.SIGKILL)
    made = path.read_text().count("\n")
    assert made > 10 or "--macroreps" in given
    resumed = valmatch(*command, "--out", out, "--resume", "--max-time", "0.5s")
    assert resumed.code == 75
    assert path.read_text().count("\n") >= made - 1
