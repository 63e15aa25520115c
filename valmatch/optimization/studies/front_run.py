"""The run that looks for a Pareto front: search, then tests, within a budget of replications."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from valmatch.config.config import Config
from valmatch.draws.streams import Streams
from valmatch.execution.interruption import Stopped
from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification.selection import AdjustedOutcomes, FeasibilityTest
from valmatch.optimization.evaluation import Evaluator, Execution
from valmatch.optimization.problem import Problem
from valmatch.optimization.solver_run import SOLVER_SOURCE, STAGE, Settings
from valmatch.optimization.solvers.front_search import FrontSearch
from valmatch.optimization.solvers.noise import Noise
from valmatch.optimization.solvers.registry import search_budget
from valmatch.optimization.solvers.search import Archive, Search, SearchTask

TEST_REPLICATIONS, FINALISTS = 20, (3, 24)
"""Fresh replications of a point, about; fewest and most points that are tested."""

MOST = 20_000  # fresh replications of a point beyond which more would be idle


@dataclass(frozen=True)
class CandidatePoint:
    """A point and its outcomes on fresh replications: the objectives, then the excesses."""

    unit: Floats  # the point in the unit cube
    sample: AdjustedOutcomes  # what the control variates make of the outcomes
    certified: bool  # whether it passes the test of the constraints


@dataclass(frozen=True)
class FrontRun:
    """The run that looked for a front."""

    tested: Sequence[CandidatePoint]  # points that were tested; none if it was stopped before
    spent: int  # replications that were made
    finished: bool  # whether it came to its end


@dataclass(frozen=True)
class FrontJob:
    """The search for a front, and the tests of what it found."""

    config: Config  # what is simulated, with budget and seed
    settings: Settings
    # what is searched: its outcomes are the objectives, then the excesses over the bounds
    problem: Problem
    objectives: int  # number of objectives
    index: int = 0  # there is only one such job, from the first replication on
    first: int = 0

    def make(self, execution: Execution) -> FrontRun:
        """Search, then test; a stop leaves nothing tested."""
        budget, seed = self.settings.budget, self.settings.seed
        search, fresh = (
            Evaluator(self.config, self.problem, seed, stage * STAGE, budget, execution)
            for stage in (0, 1)
        )
        tested: list[CandidatePoint] = []
        finished = False
        with suppress(Stopped):
            part = budget if self.config.one_history else search_budget(budget)
            units, noise = self._search(search, part, execution.progress)
            left = budget - search.spent
            exact = self.config.one_history
            tested = self._seen(units, search) if exact else self._test(units, fresh, left, noise)
            execution.progress(fresh.spent)
            finished = True
        return FrontRun(tested, search.spent + fresh.spent, finished)

    def _search(
        self, evaluator: Evaluator, budget: int, progress: Callable[[int], None]
    ) -> tuple[Floats, Noise]:
        """Search; return the points worth testing, all where evaluations are exact.

        With them goes what is known of the noise of the constraints.
        """
        problem, exact = self.problem, self.config.one_history
        test = 0 if exact else max(1, (budget // 2) // TEST_REPLICATIONS)
        rng = Streams(self.settings.seed).stream(0, SOLVER_SOURCE)
        archive = Archive(problem, test, evaluator.controls)
        task = SearchTask(problem, budget, rng, problem.start, archive)
        front = FrontSearch(task, self.objectives)
        search = Search(task, front.steps)
        while (request := search.ask()) is not None:
            before = evaluator.spent
            search.tell(request, evaluator.evaluate(request.unit, request.n))
            progress(evaluator.spent - before)
        known = archive.estimates()
        noise = known.noise or Noise.unknown(problem.constraints)
        noise = noise.take(slice(self.objectives - 1, None))
        if exact:
            return known.units, noise
        fewest, most = FINALISTS
        left = self.settings.budget - budget
        count = left // TEST_REPLICATIONS - len(problem.given)
        return front.finalists(min(most, max(fewest, count))), noise

    def _test(
        self, units: Floats, evaluator: Evaluator, left: int, noise: Noise
    ) -> list[CandidatePoint]:
        """Test points on fresh replications, and those that the config gives if enough are left."""
        points = [self.problem.point(unit) for unit in units]
        given = self.problem.given.values()
        others = [unit for unit in given if self.problem.point(unit) not in points]
        units = np.vstack([units, *others[: max(0, left - len(units))]])
        n, tested = min(MOST, left // len(units)), []
        for unit in units:
            outcomes = evaluator.evaluate(unit, n)
            bounded = np.delete(outcomes, range(1, self.objectives), 1)
            alone = AdjustedOutcomes(bounded, evaluator.controls)
            test = FeasibilityTest(unit, alone, self.settings.alpha, noise)
            sample = AdjustedOutcomes(outcomes, evaluator.controls)
            tested.append(CandidatePoint(unit, sample, test.passes))
        return tested

    def _seen(self, units: Floats, evaluator: Evaluator) -> list[CandidatePoint]:
        """Return evaluated points, whose outcomes are exact: the constraints hold or do not."""
        tested = []
        for unit in units:
            outcomes = evaluator.evaluate(unit, 1)
            # Not where one is undefined.
            holds = bool((outcomes[:, self.objectives :] <= 0.0).all())
            sample = AdjustedOutcomes(outcomes, evaluator.controls)
            tested.append(CandidatePoint(unit, sample, holds))
        return tested
