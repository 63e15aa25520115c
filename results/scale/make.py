"""Measure what runs cost on this machine.

    python results/scale/make.py

takes some ten minutes on two cores, and some 500 MB under the temporary folder. It needs the extra
`dask`. Each run is made three times, the median counts.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from results.study import Row, Study, counted
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build
from valmatch.experiments.replicate import replicate

study = Study(globals())
CONFIG, ROUNDS = "valorant", 3
SMALL, LARGE = 40_000, 100_000
SHARDS, EACH = 10_000, 4  # shards of the largest merging, and replications in each
ROW_BYTES = 8 * len(build(load_config(CONFIG)).responses)
TWO = ("--workers", "2")
RUNS: dict[str, tuple[int, Sequence[str]]] = {
    f"{SMALL:,} replications": (SMALL, ()),
    f"{LARGE:,} replications": (LARGE, ()),
    f"{LARGE:,} replications, two workers (threads)": (LARGE, TWO),
    f"{LARGE:,} replications, two processes": (LARGE, (*TWO, "--executor", "processes")),
    f"{LARGE:,} replications, Dask with two processes": (LARGE, (*TWO, "--executor", "dask")),
}
MERGED = {  # how many shards are merged; 0 where it is the folder of the whole run
    "`combine` of 3,000 shards": 3_000,
    f"`combine` of one folder of {SHARDS * EACH:,} rows": 0,
    f"`combine` of {SHARDS:,} shards": SHARDS,
}


def measured(words: Sequence[str]) -> tuple[float, float, float]:
    """Run a command, and return seconds of a processor and of the clock, and megabytes."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "valmatch", *words, "-q"])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 75):  # 75 where other shards of the run are missing
        sys.exit(f"{' '.join(words[:4])}: exit code {process.returncode}")
    wall = time.perf_counter() - began
    return used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024


def row_of(name: str, commands: Sequence[Sequence[str]]) -> Row:
    """Return the medians of a run that is made again and again."""
    found = zip(*(measured(words) for words in commands), strict=True)
    cpu, wall, memory = (round(median(values), 3) for values in found)
    return {"run": name, "cpu_seconds": cpu, "seconds": wall, "megabytes": memory}


@study.whole_table
def runs() -> Iterator[Row]:
    """Return what each run costs."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, config = Path(scratch), load_config(CONFIG)
        outs = [str(folder / f"out{k}") for k in range(ROUNDS * (len(RUNS) + len(MERGED)))]
        for name, (n, words) in RUNS.items():
            command = ("replicate", CONFIG, "-n", str(n), *words, "--out")
            yield row_of(name, [(*command, outs.pop()) for _ in range(ROUNDS)])
        replicate(config, SHARDS * EACH, out=folder / "whole")
        for k in counted("shards", range(SHARDS), SHARDS):
            replicate(config, SHARDS * EACH, shard=f"{k}/{SHARDS}", out=folder / str(k))
        for name, count in MERGED.items():
            parts = [str(folder / str(k)) for k in range(count)] or [str(folder / "whole")]
            yield row_of(name, [("combine", outs.pop(), *parts) for _ in range(ROUNDS)])


def costs() -> dict[str, float]:
    """Return what is needed of a processor, in seconds: each cost from runs that differ by it."""
    (small, large, threads, processes, dask), (few, whole, all_shards) = (
        [float(study.row("runs", run=name)["cpu_seconds"]) for name in names]
        for names in (RUNS, MERGED)
    )
    replication, shard = (large - small) / (LARGE - SMALL), (all_shards - whole) / (SHARDS - 1)
    row = (whole - few + 2_999 * shard) / (SHARDS * EACH - 3_000 * EACH)
    return {
        "start": small - SMALL * replication,
        "replication": replication,
        "beside": (threads - large) / LARGE,
        "processes": processes - large,
        "cluster": dask - large,
        "merging": whole - shard - SHARDS * EACH * row,
        "shard": shard,
        "row": row,
    }


def duration(seconds: float) -> str:
    """Return a time in the unit that fits it."""
    units = {"hours": 3600.0, "minutes": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6}
    name, size = next((one for one in units.items() if seconds >= one[1]), ("µs", 1e-6))
    return f"{seconds / size:.3g} {name}"


if __name__ == "__main__":
    study.main()
