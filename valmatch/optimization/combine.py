"""Merging the folders of one optimisation, such as its shards.

What a run has used is in the folders' replications, and all else follows from them: every run is
made again from these alone, and one that lacks any is owed.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valmatch.config.config import Config
from valmatch.errors import InputError
from valmatch.execution.interruption import Stop
from valmatch.execution.shards import Shard, parse_shard
from valmatch.execution.simulator import build
from valmatch.experiments.combine import (
    SHARD,
    config_of,
    files_of_runs,
    read_manifests,
    refuse_other_run,
    with_whole,
)
from valmatch.experiments.run_manifests import OptimizeManifest
from valmatch.models.model import Model
from valmatch.optimization.asked import Asked
from valmatch.optimization.evaluation import Journal
from valmatch.optimization.frontier import (
    AskedFrontier,
    Frontier,
    conclude_frontier,
    parse_sweep,
)
from valmatch.optimization.journal import JOURNAL, JUDGED, Address, FileJournal, Row, read_journal
from valmatch.optimization.optimize import Study, conclude
from valmatch.optimization.parallel_runs import Job
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.run import Settings, SolverRun, run_solver
from valmatch.optimization.solvers.registry import check as check_solvers
from valmatch.storage.contents import CONTENTS
from valmatch.storage.manifest import MANIFEST
from valmatch.storage.output import cell
from valmatch.storage.ownership import refuse_to_replace

Warn = Callable[[str], None]
Rows = dict[Address, Row]

SHOWN = 8
"""Missing runs that are named one by one."""

INCOMPLETE = "incomplete"

SAME = {
    "problem_id": "problems",
    "solver": "solvers",
    "budget": "budgets",
    "confidence": "confidence levels",
    "sweep": "sweeps",
}
"""Entries of the manifests that are the same in all folders of one optimisation."""


@dataclass(frozen=True)
class CombinedOptimization:
    """The runs of several folders.

    Attributes
    ----------
    whole : Study or Frontier
        All of them together.
    owed : mapping of str to list of int
        The runs that are missing, by the shard that owes them; one item without shards.
    what : str
        What is owed: "run" or "point".
    """

    whole: Study | Frontier
    owed: Mapping[str, Sequence[int]]
    what: str

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds, and what is missing."""
        return self.whole.summary() | ({"missing": dict(self.owed)} if self.owed else {})

    def shortfalls(self) -> list[str]:
        """Return one line for each shard that owes runs."""
        lines = []
        for name, owed in self.owed.items():
            n = len(owed)
            shown = ", ".join(map(str, owed[:SHOWN])) + (", ..." if n > SHOWN else "")
            lines.append(f"{name} owes {n} {self.what}{'s' * (n > 1)}: {shown}")
        return lines


def combine_optimizations(
    out: Path,
    folders: Sequence[Path],
    *,
    check: bool = False,
    warn: Warn = lambda text: None,
) -> CombinedOptimization:
    """Merge the folders of one optimisation; see `valmatch.experiments.combine.combine`.

    Raises
    ------
    InputError
        If a folder is not of this optimisation, or two folders contradict each other.
    RunError
        If the whole cannot be written.
    """
    manifests = read_manifests(with_whole(out, folders), "optimize", OptimizeManifest, warn)
    one, first = next(iter(manifests.items()))
    for folder, manifest in manifests.items():
        _refuse_other(first, one, manifest, folder)
    config = config_of(first, one)
    model = build(config)
    problem = problem_of(config, model)
    found = _Found(
        list(manifests.values()),
        config,
        model,
        problem,
        _union(manifests, JOURNAL, problem),
        _union(manifests, JUDGED, problem),
    )
    to = None if check else out
    if to:
        names = (MANIFEST, *CONTENTS["optimize"].files)
        refuse_to_replace(to, names, files_of_runs("optimize", folders, to))
    return _combine_runs(found, to) if first.sweep is None else _combine_points(found, to)


@dataclass(frozen=True)
class _Found:
    """What is in the folders: their manifests, what they solve, and what they have made of it."""

    manifests: Sequence[OptimizeManifest]
    config: Config
    model: Model[object]
    problem: Problem
    rows: Rows
    judged: Rows

    @property
    def settings(self) -> Settings:
        first = self.manifests[0]
        return Settings(first.budget, first.seed, 1.0 - first.confidence)

    def again(self, job: Job, journal: Journal) -> SolverRun | None:
        """Make a run once more of its replications; None if any is missing."""
        try:
            return run_solver(self.config, *job, self.settings, journal)
        except _Absent:
            return None

    def owed(self, missing: Sequence[int]) -> dict[str, list[int]]:
        """Return what is missing by the shard that owes it."""
        counts = {parse_shard(one.shard).count for one in self.manifests if one.shard}
        if len(counts) != 1:
            return {"the run": list(missing)} if missing else {}
        count = counts.pop()
        shards = {Shard(index % count, count): index % count for index in sorted(missing)}
        return {
            f"{SHARD}{shard}": [one for one in missing if one % count == rest]
            for shard, rest in sorted(shards.items(), key=lambda item: item[1])
        }


def _combine_runs(found: _Found, out: Path | None) -> CombinedOptimization:
    """Merge the runs of a study."""
    first = found.manifests[0]
    asked = Asked(
        found.config,
        found.problem,
        found.settings,
        check_solvers((first.solver or "").split(",")),
        max(one.macroreps or 1 for one in found.manifests),
        first.confidence,
    )
    with asked.kept_in(out, resume=True) as kept:
        journal = _Past(_taken(kept.journal, found.rows))
        kept = kept._replace(judged=_taken(kept.judged, found.judged))
        made = [(task, found.again((found.problem, task), journal)) for task in asked.tasks]
        missing = sorted({task.macrorep for task, run in made if run is None})
        study = conclude(
            asked,
            found.model,
            [run for _, run in made if run is not None],
            kept,
            Stop(),
            stopped=INCOMPLETE if missing else "",
        )
    return CombinedOptimization(study, found.owed(missing), "run")


def _combine_points(found: _Found, out: Path | None) -> CombinedOptimization:
    """Merge the points of a frontier."""
    first = found.manifests[0]
    asked = AskedFrontier(
        found.config,
        found.problem,
        found.settings,
        parse_sweep(found.config, first.sweep or ""),
        first.solver or "",
        first.confidence,
    )
    check_solvers([asked.solver])
    with asked.kept_in(out, resume=True) as (folder, journal):
        past = _Past(_taken(journal, found.rows))
        made = {place: found.again(job, past) for place, job in asked.jobs.items()}
        runs = {place: run for place, run in made.items() if run is not None}
        missing = [place for place in made if place not in runs]
        stopped = INCOMPLETE if missing else ""
        frontier = conclude_frontier(asked, found.model, runs, folder, journal, stopped)
    return CombinedOptimization(frontier, found.owed(missing), "point")


class _Absent(Exception):  # noqa: N818 - no error
    """Ends a run that lacks a replication."""


class _Past(ChainMap[Address, Row]):
    """A journal to which nothing is added: what it lacks ends a run."""

    def __contains__(self, address: object) -> bool:
        if not super().__contains__(address):
            raise _Absent
        return True


def _taken(journal: Journal | None, rows: Rows) -> Journal:
    """Return a journal that has all rows, in a file if there is one."""
    if not isinstance(journal, FileJournal):
        return rows
    journal.absorb(rows)
    return journal


def _refuse_other(
    first: OptimizeManifest, one: Path, other: OptimizeManifest, folder: Path
) -> None:
    """Refuse a folder of another optimisation, and of one that has no parts."""
    if other.solver is None:
        raise InputError(
            f"{folder}: the front of several objectives is one run (allowed: folders of several"
            " runs, or of a sweep)"
        )
    refuse_other_run(first, one, other, folder)
    for key, what in SAME.items():
        mine, theirs = first.get(key), other.get(key)
        if mine != theirs:
            raise InputError(f"{one} and {folder}: different {what}, {mine} and {theirs}")


def _union(folders: Sequence[Path] | Mapping[Path, object], name: str, problem: Problem) -> Rows:
    """Return what one file of all folders holds; what several hold must be the same there."""
    rows: Rows = {}
    origin: dict[Address, Path] = {}
    for folder in folders:
        for address, row in read_journal(folder, name, problem).items():
            known = rows.setdefault(address, row)
            origin.setdefault(address, folder)
            if repr(known) != repr(row):  # NaN is the same there
                raise InputError(
                    f"{origin[address]} and {folder}: contradict each other on {name[:-4]} at"
                    f" {', '.join(map(cell, address))} ({known} and {row}); one of them was"
                    " changed, or made by another version"
                )
    return rows
