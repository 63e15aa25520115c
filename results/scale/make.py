"""Measure what runs cost on one machine, and hold a model of cost against runs it has not seen.

    python results/scale/make.py

takes ten to twenty minutes on two cores that others may use, too, and some 500 MB under the
temporary folder. It needs the extra `dask`, and Linux, which tells what a run's processes took.
Each run is made six times, in turn with the others of its command. What counts is the median of
the seconds of a processor of all its processes together, at the pace of a core that is 1 fast
(`pace.py`).
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from valmatch.storage.sum_file import write_sum_file

from results.pages import fill, make_parts, read, say, table
from results.scale.pace import pinned
from valmatch.config.loading import load
from valmatch.execution.shards import Shard
from valmatch.execution.simulator import build
from valmatch.experiments.replicate import replicate
from valmatch.statistics.exact_sums import column_sums
from valmatch.storage.contents import MANIFEST
from valmatch.storage.output import to_json, write_csv
from valmatch.storage.store import ROWS, row_format, sum_format

HERE = Path(__file__).parent
PAGE = HERE / "README.md"
RUNS = HERE / "runs.csv"

CONFIG = "valorant"
ROUNDS = 6
SMALL, LARGE = 40_000, 100_000
SHARDS, EACH = 10_000, 4
"""Shards of the largest merging, and replications in each."""

SUBREAPER = 36
"""Of `prctl`: processes whose parents have ended become children of this one."""

REPLICATIONS, CORES, PLAYERS = 10**9, 10**4, 10**8
"""What the model is asked for in the end."""

DAY = 518
"""Players of a default day."""


COLUMNS = ("cpu seconds", "seconds", "megabytes")
"""Of the file of runs: what `Measured` has."""

ENDED = (0, 75)
"""Exit codes of runs; 75 where shards of a larger run are merged, of which others are missing."""


class Run(NamedTuple):
    """A run to be measured.

    Attributes
    ----------
    name : str
        What it is, in the table.
    terms : dict
        How much of each cost is in it.
    fitted : bool
        Whether the costs are fitted on it; else they predict it.
    words : sequence of str
        The command.
    """

    name: str
    terms: dict[str, float]
    fitted: bool
    words: Sequence[str]


COSTS = {
    "start": "a process: its start, and the end",
    "replication": "a replication of a day of 518 players",
    "beside": "a replication while another one is made, more",
    "row": "a row that is kept and summed",
    "workers": "two worker processes more",
    "cluster": "a Dask cluster of two processes more",
    "merging": "a `combine`: its start",
    "folder": "a shard with sums that it merges",
    "row folder": "a shard with rows that it merges, without the rows",
    "merged row": "a row that it merges",
}
"""The costs by name."""


def replicating(name: str, n: int, *words: str, fitted: bool = False, more: str = "") -> Run:
    """Return a run of `replicate`."""
    rows = 0 if "--summary-only" in words else n
    beside = n if "--workers" in words else 0
    terms: dict[str, float] = {"start": 1, "replication": n, "beside": beside, "row": rows}
    command = ("replicate", CONFIG, "-n", str(n), "-q", *words)
    return Run(name, terms | ({more: 1} if more else {}), fitted, command)


def merging(count: int, kind: str, *, fitted: bool) -> Run:
    """Return a run of `combine` of shards."""
    rows = count * EACH if kind == "rows" else 0
    of_kind = "folder" if kind == "sums" else "row folder"
    terms: dict[str, float] = {"merging": 1, of_kind: count, "merged row": rows}
    name = f"`combine` of {count:,} shards, {kind}"
    return Run(name, terms, fitted, ("combine", kind, str(count)))


SUMS, TWO = "--summary-only", ("--workers", "2")
LOCAL, DASK = (*TWO, "--executor", "processes"), (*TWO, "--executor", "dask")
PLAN = (
    replicating("one replication, sums", 1, SUMS, fitted=True),
    replicating(f"{SMALL:,}, sums", SMALL, SUMS, fitted=True),
    replicating(f"{SMALL:,}, rows", SMALL, fitted=True),
    replicating(f"{SMALL:,}, sums, two workers (threads)", SMALL, SUMS, *TWO, fitted=True),
    replicating("two, two processes, sums", 2, SUMS, *LOCAL, fitted=True, more="workers"),
    replicating("two, Dask with two processes, sums", 2, SUMS, *DASK, fitted=True, more="cluster"),
    merging(300, "sums", fitted=True),
    merging(3_000, "sums", fitted=True),
    merging(3_000, "rows", fitted=True),
    Run(
        f"`combine` of one folder of {SHARDS * EACH:,} rows",
        {"merging": 1, "row folder": 1, "merged row": SHARDS * EACH},
        True,
        ("combine", "whole", "1"),
    ),
    replicating(f"{LARGE:,}, sums", LARGE, SUMS),
    replicating(f"{LARGE:,}, rows", LARGE),
    replicating(f"{LARGE:,}, rows, two workers (threads)", LARGE, *TWO),
    replicating(f"{LARGE:,}, rows, two processes", LARGE, *LOCAL, more="workers"),
    replicating(f"{LARGE:,}, rows, Dask with two processes", LARGE, *DASK, more="cluster"),
    merging(SHARDS, "sums", fitted=False),
    merging(SHARDS, "rows", fitted=False),
)


class Measured(NamedTuple):
    """Seconds of a processor and of the clock, and the most memory of one process in MB."""

    cpu: float
    wall: float
    memory: float


def measured(command: Sequence[str]) -> Measured:
    """Run a command on as many cores as it has workers, and say what it took at pace 1."""
    with pinned(2 if "--workers" in command else 1) as pace:
        one = run_to_end(command)
    speed = pace.speed()
    return Measured(one.cpu * speed, one.wall * speed, one.memory)


def run_to_end(command: Sequence[str]) -> Measured:
    """Run a command to its end, and that of all processes that it has started."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ENDED:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    all_used: list[resource.struct_rusage] = [used]
    with suppress(ChildProcessError):
        while True:
            all_used.append(os.wait3(0)[2])
    cpu = sum(one.ru_utime + one.ru_stime for one in all_used)
    return Measured(cpu, wall, max(one.ru_maxrss for one in all_used) / 1024)


def make_shards(folder: Path) -> None:
    """Write the folders of the shards of a run, with sums and with rows, as their runs would.

    One run makes the replications. What it has written is divided; its last shard is made by a run
    of its own, and must be the same to the last byte.
    """
    config, n = load(CONFIG), SHARDS * EACH
    found = replicate(config, n, out=folder / "whole")
    model, manifest = build(config), json.loads((folder / "whole" / MANIFEST).read_text("utf-8"))
    lines = row_format(config, 1, model)
    for index in range(SHARDS):
        own = Shard(index, SHARDS).indices(n)
        facts = {"shard": f"{index}/{SHARDS}", "replications": EACH}
        for kind in ("sums", "rows"):
            place = folder / kind / str(index)
            place.mkdir(parents=True)
            of_kind = facts | {"summary_only": True if kind == "sums" else None}
            (place / MANIFEST).write_text(to_json(manifest | of_kind), "utf-8")
        rows = found.values[own.start :: SHARDS]
        text = lines.header + lines.lines(own, rows)
        (folder / "rows" / str(index) / ROWS).write_text(text, "utf-8")
        sums = folder / "sums" / str(index)
        write_sum_file(sums, sum_format(config, 1, model), column_sums(rows), [own])
    for kind in ("sums", "rows"):
        own_run = folder / f"one-{kind}"
        last = Shard(SHARDS - 1, SHARDS)
        replicate(config, n, shard=last, out=own_run, summary_only=kind == "sums")
        name = "sums.json" if kind == "sums" else ROWS
        divided = folder / kind / str(SHARDS - 1) / name
        assert divided.read_bytes() == (own_run / name).read_bytes()


def command_of(run: Run, shards: Path, out: Path) -> Sequence[str]:
    """Return the words of a run."""
    start = (sys.executable, "-m", "valmatch")
    if run.words[0] == "replicate":
        return (*start, *run.words, "--out", str(out))
    _, kind, count = run.words
    folders = [str(shards / kind / str(index)) for index in range(int(count))]
    if kind == "whole":
        folders = [str(shards / kind)]
    return (*start, "combine", str(out), *folders, "-q")


def measure(command: str) -> None:
    """Make all runs of a command in turn, round after round."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SUBREAPER, 1, 0, 0, 0):
        sys.exit("needs Linux: processes whose parents have ended could not be waited for")
    runs = [run for run in PLAN if run.words[0] == command]
    found: dict[str, list[Measured]] = {run.name: [] for run in runs}
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        if command == "combine":
            make_shards(place)
            say("shards made")
        for number in range(ROUNDS):
            for run in runs:
                out = place / "out"
                found[run.name].append(measured(command_of(run, place, out)))
                shutil.rmtree(out)
            say(f"round {number + 1} of {ROUNDS}")
            write(found)


def write(found: dict[str, list[Measured]]) -> None:
    """Write the median of each run; those of other commands stay."""
    written = {row["run"]: row for row in read(RUNS)} if RUNS.exists() else {}
    of_run = {
        name: Measured(*(float(row[column]) for column in COLUMNS)) for name, row in written.items()
    }
    for name, measures in found.items():
        of_run[name] = Measured(*map(median, zip(*measures, strict=True)))
    runs = [run for run in PLAN if run.name in of_run]
    found_of = [of_run[run.name] for run in runs]
    write_csv(
        RUNS,
        {
            "run": [run.name for run in runs],
            "fitted": ["yes" if run.fitted else "no" for run in runs],
            **{
                column: [round(one[k], places) for one in found_of]
                for k, (column, places) in enumerate(zip(COLUMNS, (3, 3, 1), strict=True))
            },
        },
    )


def costs(cpu: dict[str, float]) -> dict[str, float]:
    """Return what each cost is, in seconds: as many runs are fitted as there are costs."""
    import numpy as np

    fitted = [run for run in PLAN if run.fitted]
    matrix = np.array([[run.terms.get(name, 0.0) for name in COSTS] for run in fitted])
    solved = np.linalg.solve(matrix, np.array([cpu[run.name] for run in fitted]))
    return dict(zip(COSTS, solved.tolist(), strict=True))


def duration(seconds: float) -> str:
    """Return a time in the unit that fits it."""
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    small = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}
    name, size = next((one for one in small.items() if seconds >= one[1]), ("µs", 1e-6))
    return f"{seconds / size:.3g} {name}"


def page() -> None:
    """Put the tables, and what follows from the model, into the page."""
    rows = {row["run"]: row for row in read(RUNS)}
    cpu = {name: float(row["cpu seconds"]) for name, row in rows.items()}
    cost = costs(cpu)
    told = {run.name: sum(cost[term] * x for term, x in run.terms.items()) for run in PLAN}
    off = {run.name: told[run.name] / cpu[run.name] - 1.0 for run in PLAN if not run.fitted}
    worst = max(off, key=lambda name: abs(off[name]))
    outside = [name for name, x in off.items() if abs(x) > 0.15]
    said = "All are within 15 %."
    if outside:
        said = f"Not within 15 %: {'; '.join(outside)}."
    merged = [rows[f"`combine` of {SHARDS:,} shards, {kind}"] for kind in ("sums", "rows")]
    per_core = REPLICATIONS / CORES
    on_one = cost["start"] + per_core * cost["replication"]
    whole = cost["merging"] + CORES * cost["folder"]
    row_bytes = 8 * len(build(load(CONFIG)).responses)
    of_rows = cost["row"] * REPLICATIONS + cost["merged row"] * REPLICATIONS
    texts = {
        "runs": table(
            ["run", "processor", "model", "off", "clock"],
            [
                [
                    run.name,
                    f"{cpu[run.name]:.2f} s",
                    "fitted" if run.fitted else f"{told[run.name]:.2f} s",
                    "" if run.fitted else f"{off[run.name]:+.0%}",
                    f"{float(rows[run.name]['seconds']):.1f} s",
                ]
                for run in PLAN
            ],
        ),
        "costs": table(
            ["cost", "seconds of a processor"],
            [[meaning, duration(max(cost[name], 0.0))] for name, meaning in COSTS.items()],
        ),
        "off": f"{said} The farthest is {off[worst]:+.0%} ({worst}).",
        "merging": " and ".join(
            f"{float(row['cpu seconds']):.1f} s and {float(row['megabytes']):.0f} MB of {kind}"
            for row, kind in zip(merged, ("sums", "rows"), strict=True)
        ),
        "at scale": table(
            ["what", "by the model"],
            [
                [
                    "10^9 replications on one core, sums",
                    duration(cost["replication"] * REPLICATIONS),
                ],
                ["10^9 replications on 10^4 cores, a shard each, sums", duration(on_one)],
                ["their `combine`, one core", duration(whole)],
                ["10^9 rows: to keep and merge them, one core", duration(of_rows)],
                ["10^9 rows in memory, numbers alone", f"{row_bytes * REPLICATIONS / 1e9:.0f} GB"],
                [
                    "10^8 players who arrive once, one core",
                    duration(cost["replication"] * PLAYERS / DAY),
                ],
                [
                    "replications that make a shard's start 5 % of it",
                    f"{19 * cost['start'] / cost['replication']:,.0f}",
                ],
            ],
        ),
        "share": f"{cost['start'] / on_one:.0%}",
        "combine share": f"{whole / (whole + on_one):.0%}",
    }
    fill(PAGE, texts)


if __name__ == "__main__":
    of_command = {name: partial(measure, name) for name in ("replicate", "combine")}
    make_parts(__doc__, {**of_command, "page": page})
