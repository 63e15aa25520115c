"""Merging the folders of one optimisation, such as its shards.

What a run has used is in the folders' replications, and all else follows from them: every run is
made again from these alone, and one that lacks any is owed.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from valmatch.errors import InputError
from valmatch.execution.interruption import Stop
from valmatch.execution.run_options import OptimizeArguments
from valmatch.execution.shards import shard_files
from valmatch.experiments.combine import (
    Combined,
    Owed,
    files_of_runs,
    name_of,
    read_manifests,
    shards_of,
    with_whole,
)
from valmatch.experiments.run_manifests import OptimizeManifest, config_of
from valmatch.optimization.evaluation import Address, Execution, Journal, Row, Rows
from valmatch.optimization.studies.journal import JOURNAL, TRUTHS, FileJournal, read_journal
from valmatch.optimization.studies.kinds import spec_of
from valmatch.optimization.studies.parallel_runs import Job
from valmatch.optimization.studies.study import (
    BuiltProblem,
    StudyResult,
    StudySpec,
    built_problem,
    open_files,
    summarised,
)
from valmatch.storage.contents import CONTENTS, MANIFEST
from valmatch.storage.run_folder import refuse_to_replace

Warn = Callable[[str], None]

INCOMPLETE = "incomplete"

# Entries of the manifests that are the same in all folders of one optimisation.
SAME = {
    "problem_id": "problems",
    "solver": "solvers",
    "budget": "budgets",
    "confidence": "confidence levels",
    "sweep": "sweeps",
}


@dataclass(frozen=True)
class CombinedOptimization(Combined[StudyResult]):
    """The runs of several folders, and those that are missing, by the shard that owes them."""

    spec: StudySpec[Any]  # what was asked for


def combine_optimizations(
    out: Path,
    folders: Sequence[Path],
    *,
    check: bool = False,
    warn: Warn = lambda text: None,
) -> CombinedOptimization:
    """Merge the folders of one optimisation; see `valmatch.experiments.combine.combine`."""
    parts = with_whole(out, folders)
    manifests = read_manifests(parts, "optimize", OptimizeManifest, warn, SAME)
    first_folder, first = next(iter(manifests.items()))
    if first.solver is None:
        raise InputError(
            f"{first_folder}: the front of several objectives is one run (allowed: folders of"
            " several runs, or of a sweep)"
        )
    config = config_of(first, first_folder, "combine")
    macroreps = max(manifest.macroreps or 1 for manifest in manifests.values())
    options = OptimizeArguments(
        budget=first.budget, seed=first.seed, macroreps=macroreps, confidence=first.confidence
    )
    spec = spec_of(config, options, first.solver, first.sweep)
    built = built_problem(spec, lambda text: None)
    rows, truths = (read_journal(manifests, name, built.problem) for name in (JOURNAL, TRUTHS))
    to = None if check else out
    if to:
        names = (MANIFEST, *CONTENTS["optimize"].files)
        refuse_to_replace(to, names, files_of_runs("optimize", folders, to))
    result, missing = _combined(spec, built, rows, truths, to)
    owed = _owed(manifests, missing)
    lines = [Owed(len(runs), runs).in_words(name, spec.part) for name, runs in owed.items()]
    return CombinedOptimization(result, {"missing": owed}, lines, owed, spec)


def _combined(
    spec: StudySpec[Any], built: BuiltProblem, rows: Rows, truths: Rows, out: Path | None
) -> tuple[StudyResult, list[int]]:
    """Make a study again of its replications; return it with the indices of what is missing."""
    jobs = spec.jobs(built)
    with open_files(spec, built, out, resume=True) as files:
        past = _Past(_with_rows(files.journal, rows))
        files = files._replace(truths=_with_rows(files.truths, truths))
        runs = [(job, _made_again(job, past)) for job in jobs]
        missing = sorted({job.index for job, run in runs if run is None})
        made = [(job, run) for job, run in runs if run is not None]
        stopped = INCOMPLETE if missing else ""
        execution = Execution(check=Stop().check)
        return summarised(spec, built, made, files, execution, lambda: stopped), missing


def _made_again(job: Job, journal: Journal) -> Any:  # noqa: ANN401
    """Make a job once more of its replications; None if any is missing."""
    try:
        return job.make(Execution(journal))
    except _Absent:
        return None


def _owed(folders: Iterable[Path], missing: Sequence[int]) -> dict[str, list[int]]:
    """Return what is missing by the shard that owes it."""
    files = (shard_files(folder, JOURNAL).values() for folder in folders)
    shards = shards_of(set(chain.from_iterable(files)))
    owed = {
        name_of(shard): [index for index in missing if index % shard.count == shard.index]
        for shard in shards
    }
    return {name: indices for name, indices in owed.items() if indices}


class _Absent(Exception):  # noqa: N818 - no error
    """Ends a run that lacks a replication."""


class _Past(ChainMap[Address, Row]):
    """A journal to which nothing is added: what it lacks ends a run."""

    def __contains__(self, address: object) -> bool:
        if not super().__contains__(address):
            raise _Absent
        return True


def _with_rows(journal: Journal | None, rows: Rows) -> Journal:
    """Return a journal that has all rows, in a file if there is one."""
    if not isinstance(journal, FileJournal):
        return rows
    journal.absorb(rows)
    return journal
