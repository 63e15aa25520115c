"""What a study is to make, and the files that it goes on from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from valmatch.config.config import Config
from valmatch.config.identity import problem_id
from valmatch.execution.shards import WHOLE, Shard
from valmatch.optimization.evaluation import Journal
from valmatch.optimization.journal import FileJournal, open_journal, open_judged
from valmatch.optimization.problem import Problem
from valmatch.optimization.run import RunSpec, Settings
from valmatch.optimization.solvers.own import SolverFactory
from valmatch.storage.run_folder import RunFolder


@dataclass(frozen=True)
class Asked:
    """What a study is to make.

    Attributes
    ----------
    config, problem, settings : Config, Problem, Settings
        What is solved, and what all runs have in common.
    solvers : mapping of str to callable or None
        The solvers by name, with what makes those that were given as functions.
    macroreps : int
        Runs of each solver, in all shards together.
    confidence : float
        Level of the intervals.
    shard : Shard
        The runs to make.
    """

    config: Config
    problem: Problem
    settings: Settings
    solvers: Mapping[str, SolverFactory | None]
    macroreps: int
    confidence: float
    shard: Shard = WHOLE

    @property
    def requested(self) -> int:
        """The number of runs in all shards together."""
        return len(self.solvers) * self.macroreps

    @property
    def tasks(self) -> list[RunSpec]:
        """The runs of the shard."""
        own = self.shard.indices(self.macroreps)
        return [
            RunSpec(name, run, factory) for name, factory in self.solvers.items() for run in own
        ]

    @contextmanager
    def kept_in(self, out: Path | None, resume: bool) -> Iterator[Kept]:
        """Claim a folder for the files of the study, if there is one."""
        identity = {
            "problem_id": problem_id(self.config),
            "seed": self.settings.seed,
            "solver": ",".join(self.solvers),
            "shard": None if self.shard == WHOLE else str(self.shard),
        }
        sizes = {"budget": self.settings.budget, "macroreps": self.macroreps}
        with ExitStack() as stack:
            folder, journal = open_journal(
                stack,
                out,
                self.config,
                self.problem,
                identity,
                resume,
                sizes,
                {"confidence": self.confidence},
            )
            several = out if self.requested > 1 else None
            yield Kept(folder, journal, open_judged(stack, several, self.problem, resume))


class Kept(NamedTuple):
    """The claimed folder of a study and the files it goes on from; None where there is none."""

    folder: RunFolder | None
    journal: FileJournal | None
    judged: Journal | None

    def settle(self) -> None:
        """Leave in the files what the study has used."""
        for one in (self.journal, self.judged):
            if isinstance(one, FileJournal):
                one.settle()
