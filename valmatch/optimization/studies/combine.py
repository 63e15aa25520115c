"""Studies of optimisation by what is asked for; folders of one, such as its shards, merged."""

from collections import ChainMap
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from valmatch.config.config import Config
from valmatch.errors import InputError, option
from valmatch.execution.interruption import Stop
from valmatch.execution.run_options import OptimizeArguments
from valmatch.execution.shards import shard_files
from valmatch.experiments import combine as experiments
from valmatch.optimization.solver_run import Address, Execution, Row
from valmatch.optimization.studies.pareto import front_spec
from valmatch.optimization.studies.solver_study import named_solvers, study_spec, sweep_spec
from valmatch.optimization.studies.study import (
    JOURNAL,
    TRUTHS,
    Job,
    Study,
    StudySpec,
    open_files,
    read_journal,
    summarised,
)
from valmatch.storage.manifest import OptimizeManifest
from valmatch.text.terminal import shortened

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


def spec_of(
    config: Config,
    options: OptimizeArguments,
    solvers: str | None = None,
    sweep: str | None = None,
    pareto: Sequence[str] | None = None,
) -> StudySpec:
    """Return the study of a config that is asked for."""
    # `pareto` names the responses of a front, () for the objectives of the config; None for no
    # front.
    if pareto is None:
        names = named_solvers(config, solvers)
        if sweep is None:
            return study_spec(config, options, names)
        return sweep_spec(config, options, names, sweep)
    front = front_spec(config, options, pareto)
    several = (options.macroreps or config.optimize.macroreps or 1) > 1
    used = {"sweep": sweep, "solver": solvers, "macroreps": several, "shard": options.shard}
    for name, value in used.items():  # its search is one of its own, and is one run
        if value:
            of = f"--pareto {shortened(','.join(pareto))}" if pareto else "the section objectives"
            raise InputError(f"{option(name)}: of no use with {of} (leave one of them out)")
    return front


def combine_optimizations(
    out: Path, folders: Sequence[Path], *, check: bool = False, warn: Warn = lambda text: None
) -> experiments.Combined[Study]:
    """Merge the folders of one optimisation; see `valmatch.experiments.combine.combine`."""
    parts = experiments.with_whole(out, folders)
    manifests = experiments.read_manifests(parts, "optimize", OptimizeManifest, warn, SAME)
    first_folder, first = next(iter(manifests.items()))
    if first.solver is None:
        raise InputError(
            f"{first_folder}: the front of several objectives is one run (allowed: folders of"
            " several runs, or of a sweep)"
        )
    config = first.same_config(first_folder, "combine")
    macroreps = max(manifest.macroreps or 1 for manifest in manifests.values())
    options = OptimizeArguments(
        budget=first.budget, seed=first.seed, macroreps=macroreps, confidence=first.confidence
    )
    spec = spec_of(config, options, first.solver, first.sweep)
    read = experiments.files_of_runs("optimize", folders, out)
    result, made = _combined(spec, manifests, None if check else out, read)
    files = (shard_files(folder, JOURNAL).values() for folder in manifests)
    owed = experiments.owed_by_shard(range(spec.size), made, set(chain.from_iterable(files)))
    lines = [experiments.owes(name, *runs, spec.part) for name, runs in owed.items()]
    missing = {name: indices for name, (_, indices) in owed.items()}
    return experiments.Combined(result, {"missing": missing}, lines, owed)


def _combined(
    spec: StudySpec, folders: Iterable[Path], out: Path | None, read: Sequence[Path]
) -> tuple[Study, set[int]]:
    """Make a study again of its replications; return it with the indices of what is there."""
    # What a run has used is in these, and all else follows from them: one that lacks any is owed.
    known = {name: read_journal(folders, name, spec.problem) for name in (JOURNAL, TRUTHS)}
    with open_files(spec, out, True, known, read) as files:
        assert files.journal is not None
        past = _Past(files.journal)
        made: list[tuple[Job, Any]] = []
        missing = set[int]()
        for job in spec.jobs():
            try:
                made.append((job, job.make(Execution(past))))
            except _Absent:
                missing.add(job.index)
        execution, stopped = Execution(check=Stop().check), INCOMPLETE if missing else ""
        there = set(range(spec.size)) - missing
        return summarised(spec, made, files, execution, lambda: stopped), there


class _Absent(Exception):  # noqa: N818 - no error
    """Ends a run that lacks a replication."""


class _Past(ChainMap[Address, Row]):
    """A journal to which nothing is added: what it lacks ends a run."""

    def __contains__(self, address: object) -> bool:
        if not super().__contains__(address):
            raise _Absent
        return True
