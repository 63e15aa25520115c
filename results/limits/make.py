"""Compare the speed of this code with that of an earlier state, in turn, and take it apart.

    python results/limits/make.py

takes an hour on two cores. It needs the history of the repository, from which it clones the
earlier state. Both run in the same environment, in turn.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from results.pages import fill, make_parts, read, table
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = HERE / "README.md"
COMPARED, PARTS, WORKERS, AGAIN, LIBRARIES = (
    HERE / f"{name}.csv" for name in ("compared", "parts", "workers", "again", "libraries")
)

THEN = "d8d7f0f"
"""The state of the code by whose speed the aims were set."""

OF_PROTOTYPE = {"slope": 1.45, "in the process": 1.57}
"""Times the replications of a prototype that it made then, whose 1.9 times were aimed at."""

ROUNDS, FIRST_ROUNDS = 6, 3
SLOW_ROUNDS = 4

IN_TURN = """
import os, sys, time
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {{max(os.sched_getaffinity(0))}})
{preparing}
def measure(k):
    start = time.process_time()
    amount = work(k)
    return (time.process_time() - start) / amount

measure(0)
for k, _ in enumerate(sys.stdin):
    print(measure(k), flush=True)
"""
"""Measures as often as it is asked to, on the same core as others of its kind."""

REPLICATIONS = """
from valmatch.config.loading import load
try:
    from valmatch.execution.simulator import build, run
except ImportError:
    from valmatch.simulator import build, run
model = build(load("{config}", {factors}))
names = [response.name for response in model.responses]
each = names.index("{each}") if "{each}" else None

def work(k):
    found = run(model, 1, range(k * {count}, (k + 1) * {count})).responses
    return {count} if each is None else found[:, each].sum()
"""
WEIGHING = """
import numpy as np
from numba import njit
band, noise_variance, multiplier = {band}, {noise_variance}, {multiplier}
file = np.load("{file}")
waiting = list(zip(file["means"], file["variances"], file["tickets"]))
try:
    from valmatch.policies.pair_weights import knowledge_gradient, narrowest_first
except ImportError:
    from tests.support.mean_orders import ordered
    from results.limits.look_ahead import whole
    worlds = [(ordered(*one, band, noise_variance), one[2]) for one in waiting]
else:
    @njit(error_model="numpy", nogil=True)
    def whole(means, variances, tickets, nearby):
        narrowest_first(variances, band, nearby)
        total = 0.0
        for i in range(means.size):
            for j in range(i + 1, min(i + 1 + band, means.size)):
                total += knowledge_gradient(
                    i, j, means, variances, tickets, nearby, band, noise_variance, multiplier
                )
        return total

    worlds = [(*one, np.zeros((one[0].size + 1, 2 * band + 4), np.int64)) for one in waiting]

found = sum(whole(*one) for one in worlds)
assert abs(found / {found} - 1.0) < 1e-9, found

def work(k):
    for one in worlds:
        whole(*one)
    return file["means"].size
"""
"""Of the earlier state as of this one: all pairs near each other are weighed."""


def replications(config: str, factors: Sequence[str], count: int, each: str) -> str:
    """Return a script that measures the seconds of replications, or of one of what they count."""
    given = {"config": config, "factors": tuple(factors), "count": count, "each": each}
    return IN_TURN.format(preparing=REPLICATIONS.format(**given))


def days(*factors: str, count: int) -> str:
    """Return a script that measures the seconds of a day, so many at a time."""
    return replications("valorant", factors, count, "")


def ladder(players: int, length: float, *factors: str, config: str = "ladder-elo") -> str:
    """Return a script that measures the seconds of a ticket of a ladder without newcomers."""
    size = (f"population.players={players}", "population.newcomers_per_day=0")
    time = (f"days={length}", "warmup_days=0")
    return replications(config, (*size, *time, *factors), 1, "n_tickets")


PAIRS = (
    *("rule.policy=knowledge_gradient", "rule.matching=pairs", "rule.team_num=1"),
    *("sessions.per_day=30", "sessions.continue_prob=0.95", "rule.tick_seconds=120"),
)
"""Players who play some ten games each, so that beliefs about them differ."""


def weighing(file: Path) -> str:
    """Return a script that measures the seconds of a player whose pairs are weighed.

    Those who wait are written to a file, from which both states read them.
    """
    from results.limits import look_ahead

    seeds = range(look_ahead.WORLDS)
    columns = zip(*(look_ahead.waiting(seed) for seed in seeds), strict=True)
    means, variances, tickets = (np.array(column) for column in columns)
    np.savez(file, means=means, variances=variances, tickets=tickets)
    given = {
        "band": look_ahead.BAND,
        "noise_variance": look_ahead.NOISE_VARIANCE,
        "multiplier": look_ahead.MULTIPLIER,
        "found": sum(look_ahead.whole(*look_ahead.world(seed)) for seed in seeds),
    }
    return IN_TURN.format(preparing=WEIGHING.format(file=file, **given))


class Task(NamedTuple):
    """What is timed.

    Attributes
    ----------
    kind : str
        What is compared anew with it.
    title : str
        As the table has it.
    script : str
        Measures when it is asked to, see `IN_TURN`; "" for a whole process.
    command : sequence of str
        Of `valmatch`, as a whole process.
    clock : bool
        Whether the seconds of the clock count, and not those of a processor.
    fresh : bool
        Whether nothing is compiled before.
    aim : float
        The ratio that was aimed at: new time to old; NaN where none was named.
    rounds : int
        How many processes of each there are.
    turns : int
        How often each process measures, in turn with one of the other state.
    """

    kind: str
    title: str
    script: str = ""
    command: Sequence[str] = ()
    clock: bool = False
    fresh: bool = False
    aim: float = float("nan")
    rounds: int = ROUNDS
    turns: int = 20


def first_use(config: str, aim: float) -> Task:
    """Return the first use of a config after installation."""
    command = ("replicate", config, "-n", "1", "--workers", "1", "--quiet")
    return Task(
        "first", f"first use of `{config}`", command=command, fresh=True, aim=aim,
        rounds=FIRST_ROUNDS,
    )  # fmt: skip


def rating(log: Path, title: str, system: str, aim: float) -> Task:
    """Return the rating of a log, of which a part is read by one core while another works."""
    command = ("rate", str(log), "--quiet", "--system", system)
    return Task("rate", f"`rate`, 1,000,000 rows, {title}", command=command, clock=True, aim=aim)


KINDS = ("day", "ladder", "pairs", "optimize", "rate", "first")


def tasks(log: Path, waiting: Path) -> list[Task]:
    """Return what is compared; `log` has a million rows of games, `waiting` is to be written."""
    pairs = ladder(12_000, 0.2, *PAIRS, config="ladder")
    optimize = ("optimize", "valorant-20min", "--quiet")
    return [
        Task("day", "a default day", days(count=400), aim=OF_PROTOTYPE["slope"] / 1.9),
        Task("day", "a day of ten times the players", days("rate_multiplier=10", count=40)),
        Task("ladder", "a ticket of 20,000 players", ladder(20_000, 5), aim=2.3 / 4.0,
             rounds=SLOW_ROUNDS, turns=8),
        Task("ladder", "a ticket of 200,000 players", ladder(200_000, 1), aim=1.5 / 4.0,
             rounds=SLOW_ROUNDS, turns=8),
        Task("ladder", "a ticket of pairs, 800 waiting", pairs, rounds=SLOW_ROUNDS, turns=8),
        Task("pairs", "pairs weighed, a player of 800", weighing(waiting), aim=2.0 / 6.7),
        Task("optimize", "`optimize valorant-20min`", command=optimize, aim=0.69),
        rating(log, "Elo", "elo", 2.0 / 2.3),
        rating(log, "TrueSkill", "trueskill", 1.0),
        first_use("valorant", 10.0 / 19.3),
        first_use("ladder", 10.0 / 26.0),
        first_use("kg-fig4", float("nan")),
    ]  # fmt: skip


def write_log(path: Path) -> None:
    """Write 500,000 duels of 100,000 players."""
    rng = np.random.default_rng(1)
    players = rng.integers(0, 100_000, (500_000, 2))
    players[:, 1] += players[:, 0] == players[:, 1]
    scores = rng.integers(0, 20, (500_000, 2))
    lines = ["game,player,team,score,minutes\n"]
    for game, (ours, points) in enumerate(zip(players.tolist(), scores.tolist(), strict=True)):
        lines += [f"g{game},p{ours[side]},{side},{points[side]},10\n" for side in range(2)]
    path.write_text("".join(lines), encoding="utf-8")


@contextmanager
def both_states() -> Iterator[dict[str, Path]]:
    """Clone the earlier state and the present one."""
    with tempfile.TemporaryDirectory() as folder:
        places = {"then": Path(folder, "then"), "now": Path(folder, "now")}
        for name, place in places.items():
            subprocess.run(["git", "clone", "-q", str(ROOT), str(place)], check=True)
            state = THEN if name == "then" else "HEAD"
            subprocess.run(["git", "-C", str(place), "checkout", "-q", state], check=True)
        yield places


def seconds(task: Task, place: Path) -> float:
    """Return the seconds that a whole process takes in a clone."""
    with tempfile.TemporaryDirectory() as folder:
        environment = environment_of(place)
        if task.fresh:
            environment["NUMBA_CACHE_DIR"] = folder
        command = [sys.executable, "-m", "valmatch", *task.command, "--out", f"{folder}/out"]
        before, start = cpu_of_children(), time.perf_counter()
        subprocess.run(command, cwd=place, env=environment, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        clock, cpu = time.perf_counter() - start, cpu_of_children() - before
        return clock if task.clock else cpu


def environment_of(place: Path) -> dict[str, str]:
    """Return the environment in which a clone is used."""
    environment = {**os.environ, "PYTHONPATH": str(place)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # sources would be compiled each time
    return environment


def whole(task: Task, places: Mapping[str, Path]) -> tuple[float, float, float]:
    """Return the least seconds of whole processes, then and now, and their ratio."""
    found: dict[str, list[float]] = {"then": [], "now": []}
    if not task.fresh:
        for place in places.values():
            seconds(task, place)  # compile
    for number in range(task.rounds):
        for name in ("then", "now") if number % 2 else ("now", "then"):
            found[name].append(seconds(task, places[name]))
    then, now = min(found["then"]), min(found["now"])
    return then, now, now / then


def in_turn(task: Task, places: Mapping[str, Path]) -> tuple[float, float, float]:
    """Return the median measured then and now, and the mean ratio of pairs of processes.

    Two processes take turns, so that both see the same moods of the machine: the ratio of a pair is
    the median of those of its turns.
    """
    found: dict[str, list[float]] = {"then": [], "now": []}
    ratios: list[float] = []
    for number in range(task.rounds):
        with ExitStack() as stack:
            processes = {
                name: stack.enter_context(
                    subprocess.Popen(
                        [sys.executable, "-c", task.script], cwd=place, env=environment_of(place),
                        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                    )
                )
                for name, place in places.items()
            }  # fmt: skip
            turns = []
            for turn in range(task.turns):
                order = ("then", "now") if (turn + number) % 2 else ("now", "then")
                took = {name: asked(processes[name]) for name in order}
                for name in order:
                    found[name].append(took[name])
                turns.append(took["now"] / took["then"])
            ratios.append(statistics.median(turns))
    then, now = (statistics.median(found[name]) for name in ("then", "now"))
    return then, now, statistics.mean(ratios)


def asked(process: subprocess.Popen[str]) -> float:
    """Return what a process measures when it is asked to."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def cpu_of_children() -> float:
    """Return the seconds of a processor that ended children have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare(kind: str) -> None:
    """Run both states in turn; the rows of other kinds stay."""
    with both_states() as places, tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.csv")
        write_log(log)
        plan = tasks(log, Path(folder, "waiting.npz"))
        rows = {row["task"]: list(row.values()) for row in read(COMPARED)}
        for task in plan:
            if task.kind != kind:
                continue
            compared = (in_turn if task.script else whole)(task, places)
            row = (task.title, *compared, task.aim, task.rounds)
            rows[task.title] = ["" if cell != cell else str(cell) for cell in row]
            print(task.title, f"{compared[-1]:.2f}", file=sys.stderr)
        ordered = [rows[task.title] for task in plan if task.title in rows]
    columns = ("task", "then", "now", "ratio", "aim", "rounds")
    write_csv(COMPARED, dict(zip(columns, map(list, zip(*ordered, strict=True)), strict=True)))


MANY = {100_000: SLOW_ROUNDS, 1_000_000: 2}
"""Replications of a run, and how often it is made."""


def workers() -> None:
    """Make replications with one worker and with two, and two such runs at once."""
    names = ("replications", "one", "two", "at_once")
    columns: dict[str, list[float]] = {name: [] for name in names}
    for count, rounds in MANY.items():
        for _ in range(rounds):
            row = (count, walls(count, 1, 1), walls(count, 2, 1), walls(count, 1, 2))
            for name, cell in zip(names, row, strict=True):
                columns[name].append(cell)
    write_csv(WORKERS, columns)


def walls(replications: int, workers: int, processes: int) -> float:
    """Return the seconds until processes with so many workers each have ended."""
    run = ["replicate", "valorant", "-n", str(replications), "--workers", str(workers), "--quiet"]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        start = time.perf_counter()
        for number in range(processes):
            command = [sys.executable, "-m", "valmatch", *run, "--out", f"{folder}/{number}"]
            running.enter_context(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL))
        running.close()
        return time.perf_counter() - start


MODULES = {"day": "day_parts", "ticket": "ladder_parts", "pairs": "look_ahead"}
"""What is taken apart by a script of its own."""

TAKEN_APART = (*MODULES, "optimize", "rate", "valorant", "ladder")


def profiles() -> None:
    """Take an optimisation and a rating apart."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.csv")
        write_log(log)
        for words in (["optimize", "valorant-20min"], ["rate", str(log), "--system", "elo"]):
            call = [*words, "--quiet", "--out"]
            printed(["-m", "valmatch", *call, f"{folder}/warm-{words[0]}"])
            found = printed(["-m", "results.limits.profiled", *call, f"{folder}/{words[0]}"])
            write_parts(words[0], found)


def first_uses() -> None:
    """Take two first uses apart."""
    for config in ("valorant", "ladder"):
        with tempfile.TemporaryDirectory() as folder:
            call = ["replicate", config, "-n", "1", "--workers", "1", "-q", "--out", folder]
            fresh = {"NUMBA_CACHE_DIR": f"{folder}/kernels"}
            write_parts(config, printed(["-m", "results.limits.compiled", *call], fresh))


def parts_of(task: str) -> None:
    """Let a script of its own take something apart."""
    write_parts(task, printed(["-m", f"results.limits.{MODULES[task]}"]))


def write_parts(task: str, found: Sequence[tuple[str, float]]) -> None:
    """Write the parts of a task, the largest first; those of others stay."""
    rows = {other: [row for row in read(PARTS) if row["task"] == other] for other in TAKEN_APART}
    whole = sum(own for _, own in found)
    rows[task] = [
        {"task": task, "part": part, "seconds": str(own), "share": str(own / whole)}
        for part, own in sorted(found, key=lambda row: -row[1])
    ]
    columns = ("task", "part", "seconds", "share")
    every = [row for some in rows.values() for row in some]
    write_csv(PARTS, {name: [row[name] for row in every] for name in columns})


def again() -> None:
    """Match days that are all different, and few days again and again."""
    rows = printed(["-m", "results.limits.days_again"])
    write_csv(
        AGAIN, dict(zip(("days", "seconds"), map(list, zip(*rows, strict=True)), strict=True))
    )


IMPORTED = "numpy, scipy.special, numba, pydantic, typer, rich.progress, yaml"
"""What an optimisation imports that is not part of the package."""


def libraries() -> None:
    """Start Python, import libraries, and optimise, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        optimize = ["-m", "valmatch", "optimize", "valorant-20min", "-q", "--out", f"{folder}/out"]
        plan = {
            "Python by itself": ["-c", ""],
            "its libraries imported": ["-c", f"import {IMPORTED}"],
            "`optimize valorant-20min`": optimize,
        }
        least = dict.fromkeys(plan, float("inf"))
        for _ in range(2 * ROUNDS):
            for name, words in plan.items():
                shutil.rmtree(f"{folder}/out", ignore_errors=True)
                before = cpu_of_children()
                subprocess.run([sys.executable, *words], cwd=ROOT, env=environment_of(ROOT),
                               stdout=subprocess.DEVNULL, check=True)  # fmt: skip
                least[name] = min(least[name], cpu_of_children() - before)
    write_csv(LIBRARIES, {"what": list(least), "seconds": list(least.values())})


def printed(words: Sequence[str], more: Mapping[str, str] | None = None) -> list[tuple[str, float]]:
    """Return what Python prints: names and seconds."""
    done = subprocess.run(
        [sys.executable, *words], env={**os.environ, **(more or {})}, cwd=ROOT, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True,
    )  # fmt: skip
    lines = [line.split("\t") for line in done.stderr.splitlines() if "\t" in line]
    return [(part, float(own)) for part, own in lines]


def amount(number: float) -> str:
    """Return seconds in a unit that fits."""
    units = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
    rounded = float(f"{number:.2g}")
    unit, size = next((one for one in units.items() if rounded >= one[1]), ("ns", 1e-9))
    return f"{rounded / size:g} {unit}"


def page() -> None:
    """Put the tables into the page."""
    compared = [
        (row["task"], amount(float(row["then"])), amount(float(row["now"])),
         f"{float(row['ratio']):.2f}", f"{float(row['aim']):.2f}" if row["aim"] else "")
        for row in read(COMPARED)
    ]  # fmt: skip
    texts = {
        "compared": table(["", "then", "now", "now / then", "aim"], compared),
        **{task: _parts_of(task) for task in dict.fromkeys(row["task"] for row in read(PARTS))},
    }
    days = [[row["days"], amount(float(row["seconds"]))] for row in read(AGAIN)]
    imported = [[row["what"], amount(float(row["seconds"]))] for row in read(LIBRARIES)]
    texts["libraries"] = table(["process", "seconds of a processor"], imported)
    texts["again"] = table(["different days, in turn", "matching a player"], days)
    rows = [
        (f"{int(row['replications']):,}",
         *(f"{float(row[name]):.1f}" for name in ("one", "two", "at_once")))
        for row in read(WORKERS)
    ]  # fmt: skip
    head = [
        "replications",
        "one worker, s",
        "two workers, s",
        "two runs with one worker at once, s",
    ]
    fill(PAGE, {**texts, "workers": table(head, rows)})


def _parts_of(task: str) -> str:
    rows = [row for row in read(PARTS) if row["task"] == task]
    cells = [
        (row["part"], amount(float(row["seconds"])), f"{100.0 * float(row['share']):.0f} %")
        for row in rows
        if float(row["share"]) > 0.01
    ]
    return table(["part", "time", "share"], cells)


RUNS: Mapping[str, Callable[[], None]] = {
    **{kind: partial(compare, kind) for kind in KINDS},
    **{f"{task}-parts": partial(parts_of, task) for task in MODULES},
    "workers": workers,
    "again": again,
    "libraries": libraries,
    "profiles": profiles,
    "first-uses": first_uses,
    "page": page,
}

if __name__ == "__main__":
    make_parts(__doc__, RUNS)
