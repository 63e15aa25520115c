"""The Pareto front of several objectives: rules of which no other is better in everything."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from valmatch.config.config import Config, Constraint, TermOptions
from valmatch.config.loading import ConfigLike, load_config
from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.execution.interruption import Stopped
from valmatch.execution.run_options import SearchArguments
from valmatch.inputs import arguments
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Floats
from valmatch.models.registry import no_response
from valmatch.optimization.certification import AdjustedOutcomes, FeasibilityTest, others
from valmatch.optimization.problem import Problem, Term, problem_of, scales_by_default
from valmatch.optimization.solver_run import (
    SOLVER_SOURCE,
    STAGE,
    Evaluator,
    Execution,
    Journal,
    Settings,
    run_search,
)
from valmatch.optimization.solvers.bayes import FrontSearch, nondominated
from valmatch.optimization.solvers.registry import search_budget
from valmatch.optimization.solvers.search import Archive, Noise, Search, SearchTask
from valmatch.optimization.studies.study import (
    Job,
    Outcome,
    Runs,
    Study,
    StudySpec,
    common_fields,
    execute,
)
from valmatch.optimization.verdict import PointResult, at_bound, facts_of_point
from valmatch.statistics.estimates import Estimate, estimate
from valmatch.statistics.sampling import INDEPENDENT, Resampled

# Fresh replications of a point, about; fewest and most points that are tested.
TEST_REPLICATIONS, FINALISTS = 20, (3, 24)

MOST = 20_000  # fresh replications of a point beyond which more would be idle


class CandidatePoint(NamedTuple):
    """A point and its outcomes on fresh replications: the objectives, then the excesses."""

    unit: Floats  # the point in the unit cube
    sample: AdjustedOutcomes  # what the control variates make of the outcomes
    certified: bool  # whether it passes the test of the constraints


class FrontRun(NamedTuple):
    """The run that looked for a front."""

    tested: Sequence[CandidatePoint]  # points that were tested; none if it was stopped before
    spent: int  # replications that were made


def run_front(
    config: Config, problem: Problem, objectives: int, settings: Settings, execution: Execution
) -> FrontRun:
    """Search, then test; a stop leaves nothing tested."""
    # The outcomes of the problem are so many objectives, then the excesses over the bounds.
    budget, seed, exact = settings.budget, settings.seed, config.one_history
    evaluator, fresh = (
        Evaluator(config, problem, seed, stage * STAGE, budget, execution) for stage in (0, 1)
    )
    tested: list[CandidatePoint] = []
    try:
        part = budget if exact else search_budget(budget)
        test = 0 if exact else max(1, (part // 2) // TEST_REPLICATIONS)
        rng, archive = (
            Streams(seed).stream(0, SOLVER_SOURCE),
            Archive(problem, test, evaluator.controls),
        )
        task = SearchTask(problem, part, rng, problem.start, archive)
        front = FrontSearch(task, objectives)
        run_search(Search(task, front.steps), evaluator, Execution(progress=execution.progress))
        known = archive.estimates()
        noise = known.noise or Noise.unknown(problem.limits_of_excesses)
        noise = noise.take(slice(objectives - 1, None))
        if exact:  # the constraints hold or do not, at all points
            for unit in known.units:
                outcomes = evaluator.evaluate(unit, 1)
                holds = bool((outcomes[:, objectives:] <= 0.0).all())  # not where one is undefined
                sample = AdjustedOutcomes(outcomes, evaluator.controls)
                tested.append(CandidatePoint(unit, sample, holds))
        else:
            count = (budget - part) // TEST_REPLICATIONS - len(problem.baselines)
            units = front.finalists(int(np.clip(count, *FINALISTS)))
            room = max(0, budget - evaluator.spent - len(units))
            units = np.vstack([units, *others(problem, problem.baselines.values(), units)[:room]])
            n = min(MOST, (budget - evaluator.spent) // len(units))
            for unit in units:
                outcomes = fresh.evaluate(unit, n)
                sample = AdjustedOutcomes(outcomes, fresh.controls)
                bounded = np.delete(outcomes, range(1, objectives), 1)
                alone = AdjustedOutcomes(bounded, fresh.controls)
                passes = FeasibilityTest(unit, alone, settings.alpha, noise).passes
                tested.append(CandidatePoint(unit, sample, passes))
        execution.progress(fresh.spent)
    except Stopped:
        tested.clear()
    return FrontRun(tested, evaluator.spent + fresh.spent)


@dataclass(frozen=True, kw_only=True)
class FrontSpec(StudySpec):
    """A Pareto front that is to be found."""

    # responses to be minimised; none: those of the config's `objectives`
    objectives: Sequence[str] = ()

    @cached_property
    def problem(self) -> Problem:
        """The problem whose outcomes are the objectives, then the excesses over bounds."""
        terms, config, section = self.terms, self.config, self.config.optimize
        if not section.objective:  # the objectives take its place
            first = {terms[0].name: _term(terms[0].response)}
            config = replace(config, optimize=section.model_copy(update={"objective": first}))
        problem = problem_of(config, self.model)
        others = {
            f"objectives.{term.name}": Constraint.of(term.response, int(term.weight), 0.0)
            for term in terms[1:]
        }
        return replace(problem, terms=[terms[0]], constraints={**others, **problem.constraints})

    @cached_property
    def terms(self) -> list[Term]:
        """The objectives, of weight 1 or -1, which is all that a front depends on."""
        config, names = self.config, self.objectives
        named = {name: _term(name) for name in names} if names else config.optimize.objectives
        where = option("pareto") if names else config.at("optimize.objectives")
        responses = [response.name for response in self.model.responses]
        if len(named) < 2 or len(named) < len(names):
            count = len(named)
            raise InputError(f"{where}: {count} objectives (allowed: two or more, all different)")
        for name, term in named.items():
            if term.response not in responses:
                at = where if names else config.at(f"optimize.objectives.{name}.response")
                what = no_response(config.model, config.factors, term.response, responses)
                raise InputError(f"{at}: {what}")
            if term.weight == 0.0:
                at = config.at(f"optimize.objectives.{name}.weight")
                raise InputError(f"{at}: 0 (allowed: another number)")
        return [
            Term(name, term.response, math.copysign(1.0, term.weight))
            for name, term in named.items()
        ]

    def jobs(self) -> list[Job]:
        """Return the one run."""
        how = self.config, self.problem, len(self.terms), self.settings
        return [Job(0, 0, partial(run_front, *how))]

    def identity(self) -> dict[str, object]:
        """Return what two folders of one front have in common."""
        pareto = ",".join(f"{term.weight:+g} {term.response}" for term in self.terms)
        return {"budget": self.settings.budget, "pareto": pareto}

    def summarise(self, made: Runs, execution: Execution, truths: Journal | None) -> Outcome:
        """Say which of the tested points are the front."""
        problem, terms = self.problem, self.terms
        ((_, run),) = made
        on_front = _front(problem, run.tested, len(terms), self.confidence)
        if self.config.one_history:  # many rules may be one in their outcomes
            first = {tuple(p.sample.mean[: len(terms)]): p for p in reversed(on_front)}
            on_front = list(first.values())[::-1]
        points = [_point(problem, terms, tested, self.confidence) for tested in on_front]
        # Of resamples it is their own mean that is tested and shown.
        sampling = self.model.sampling
        sampling = INDEPENDENT if isinstance(sampling, Resampled) else sampling
        counts = [mean.n for point in points for mean in point.objectives.values()]
        no_interval = sampling.no_interval(min(counts)) if counts else ""
        fates = _fates(problem, run.tested, on_front)
        sides = {(k, side, p.point[k]) for p in points for k, side in p.at_bounds.items()}
        remarks = [f"{name}: {what}" for name, what in fates.items()]
        remarks += [at_bound(name, value, side) for name, side, value in sorted(sides)]
        document = {
            "budget": self.settings.budget,
            "spent": run.spent,
            "objectives": {t.name: {"response": t.response, "weight": t.weight} for t in terms},
            "tested": len(run.tested),
            "given": fates,
            "remarks": remarks,
            **({"no_interval": no_interval} if no_interval else {}),
            **scales_by_default(problem),
            "front": [point.entry() for point in points],
        }
        return Outcome(document, bool(run.tested), {"points": len(points)})


def front_spec(config: Config, options: SearchArguments, objectives: Sequence[str]) -> FrontSpec:
    """Return the study that finds a front."""
    return FrontSpec(**common_fields(config, options), objectives=objectives, table="front.csv")


@takes(SearchArguments)
def pareto_front(
    config: ConfigLike,
    objectives: str | Sequence[str] = (),
    budget: int | None = None,
    seed: int | None = None,
    **options: Any,  # noqa: ANN401
) -> Study:
    """Find the rules of which no other is better in all of several objectives.

    The constraints of the config's problem hold at every point; its single objective plays no part.
    The search takes 60 % of the budget. Its best guesses along the front are tested on the rest,
    on fresh replications that are common to all of them: a point stays if every constraint holds
    by its one-sided bound, and if no other such point has better means in everything. The start
    and today's rule are tested, too, and stay unless they are beaten beyond an interval.

    Parameters
    ----------
    config : Config or what `valmatch.load_config` takes
        What to optimise.
    objectives : str or sequence of str
        Responses to be minimised, at least two; none: those of the config's `objectives`.
    budget, seed : int or None
        As of `valmatch.optimize`.
    **options

    Raises
    ------
    InputError
        If problem, objectives, budget or folder cannot be used.
    RunError
        If the run fails.
    """
    names = arguments.names("pareto", objectives)
    config = load_config(config)
    how = SearchArguments(budget=budget, seed=seed, **options).in_config(config.optimize)
    return execute(front_spec(config, how, names), how)


def _term(response: str) -> TermOptions:
    return TermOptions.model_validate({"response": response})


def _front(
    problem: Problem, tested: Sequence[CandidatePoint], objectives: int, confidence: float
) -> list[CandidatePoint]:
    """Return the certified points that no other one dominates, in order of the first objective."""
    # One that the config gives is dominated only by a point that is better beyond an interval.
    passed = [point for point in tested if point.certified and not point.sample.undefined]
    if not passed:
        return []
    means = np.array([point.sample.mean[:objectives] for point in passed])
    order = np.argsort(means[:, 0], kind="stable")
    stays = nondominated(means)
    # Of several objectives any may be the one that is better by chance.
    level = 1.0 - (1.0 - confidence) / objectives
    for k, point in enumerate(passed):
        if not stays[k] and problem.name_of(point.unit):
            stays[k] = True
            for j in np.flatnonzero((means <= means[k]).all(axis=1)).tolist():
                changes = (passed[j].sample.outcomes - point.sample.outcomes)[:, :objectives]
                highs = (
                    [estimate(change, level).ci_high for change in changes.T]
                    if len(changes) > 1
                    else changes[0].tolist()  # of one history
                )
                stays[k] &= not any(high is not None and high < 0.0 for high in highs)
    return [passed[k] for k in order.tolist() if stays[k]]


def _fates(
    problem: Problem, tested: Sequence[CandidatePoint], on_front: Sequence[CandidatePoint]
) -> dict[str, str]:
    """Say what came of each point that the config gives."""
    if not tested:
        return {}
    fates = dict.fromkeys(problem.baselines, "not tested, there were too few replications")
    for point in tested:
        if name := problem.name_of(point.unit):
            fates[name] = "not certified as feasible"
            if point.certified:
                fates[name] = "certified, but a point of the front is better beyond the interval"
            if any(other is point for other in on_front):
                fates[name] = "on the front"
    return fates


def _point(
    problem: Problem, terms: Sequence[Term], tested: CandidatePoint, confidence: float
) -> PointResult:
    """Return what fresh replications say of a point."""

    def means(values: Floats, limits: tuple[float, float]) -> Estimate:
        return estimate(values, confidence, limits)

    outcomes = tested.sample.adjusted
    objectives = {
        term.name: means(term.weight * outcomes[:, k], problem.limits[term.response])
        for k, term in enumerate(terms)
    }
    facts = facts_of_point(problem, tested.unit, outcomes[:, len(terms) :], means)
    return PointResult(**facts, objectives=objectives)
