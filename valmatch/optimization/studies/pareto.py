"""The Pareto front of several objectives: rules of which no other is better in everything."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from valmatch.config.config import Config, TermOptions
from valmatch.config.loading import ConfigLike, load_config
from valmatch.errors import InputError, option
from valmatch.execution.run_options import SearchArguments
from valmatch.inputs import arguments
from valmatch.inputs.options import takes
from valmatch.models.model import Model
from valmatch.models.registry import no_response
from valmatch.optimization.evaluation import Execution, Journal
from valmatch.optimization.problem import Constraint, Problem, Term
from valmatch.optimization.problem_of_config import found_scales, problem_of
from valmatch.optimization.solver_run import CandidatePoint, FrontJob, FrontRun
from valmatch.optimization.solvers.front_search import nondominated
from valmatch.optimization.studies.parallel_runs import Job
from valmatch.optimization.studies.study import (
    BuiltProblem,
    StudyRequest,
    StudyResult,
    StudySpec,
    execute,
    request_of,
)
from valmatch.optimization.verdict import PointResult, at_bound
from valmatch.statistics.estimates import Estimate, estimate
from valmatch.statistics.sampling import INDEPENDENT, Resampled
from valmatch.text.terminal import shortened


@dataclass(frozen=True, kw_only=True)
class FrontPoint(PointResult):
    """A rule of the front, as fresh replications see it."""

    objectives: dict[str, Estimate]  # mean of the response of each objective

    @property
    def n(self) -> int:
        """Its replications."""
        return next(iter(self.objectives.values())).n


@dataclass(frozen=True, kw_only=True, repr=False)
class Front(StudyResult):
    """The front that one run has found.

    Attributes
    ----------
    objectives : sequence of Term
        What is minimised; those of weight -1 are maximised.
    spent : int
        Replications that were made.
    points : sequence of FrontPoint
        In order of the first objective; none if no point was certified.
    tested : int
        Points that were tested on fresh replications.
    complete : bool
        Whether the run came to its end.
    given : mapping of str to str
        What came of the start and of today's rule.
    no_interval : str
        Why means have no interval, "" if all have one.
    """

    table = "front.csv"

    objectives: Sequence[Term]
    spent: int
    points: Sequence[FrontPoint]
    tested: int
    given: Mapping[str, str] = field(default_factory=dict)
    no_interval: str = ""

    @property
    def title(self) -> str:
        """What was solved for and what came of it, in one line."""
        names = ", ".join(term.name for term in self.objectives)
        size = f"front of {names}: {len(self.points)} of {self.tested} tested points"
        return f"{self.title_start}, budget {self.settings.budget:,}; {size}"

    @property
    def certified(self) -> bool:
        """Whether the front has points, which are all certified."""
        return bool(self.points)

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of points of the front."""
        return {"points": len(self.points)}

    def remarks(self) -> list[str]:
        """Say what came of the given points, and which values are at bounds, a sentence each."""
        remarks = [f"{name}: {what}" for name, what in self.given.items()]
        sides = {
            (name, side, one.point[name])
            for one in self.points
            for name, side in one.at_bounds.items()
        }
        return remarks + [at_bound(name, value, side) for name, side, value in sorted(sides)]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            **self.identity(),
            "budget": self.settings.budget,
            "spent": self.spent,
            "objectives": {
                term.name: {"response": term.response, "weight": term.weight}
                for term in self.objectives
            },
            "tested": self.tested,
            "given": dict(self.given),
            "remarks": self.remarks(),
            **({"no_interval": self.no_interval} if self.no_interval else {}),
            **found_scales(self.config),
            "front": [
                one.described(
                    objectives={name: mean.as_dict() for name, mean in one.objectives.items()}
                )
                for one in self.points
            ],
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each point."""
        return [{**one.cells(one.objectives), "n": one.n, "name": one.name} for one in self.points]


@dataclass(frozen=True, kw_only=True)
class FrontSpec(StudySpec[FrontRun, Front]):
    """A Pareto front that is to be found."""

    # responses to be minimised; none: those of the config's `objectives`
    objectives: Sequence[str] = ()

    @classmethod
    def requested(cls, config: Config, request: StudyRequest) -> FrontSpec | None:
        """Return the front that is asked for."""
        pareto = request.pareto
        if pareto is None:
            return None
        given = {
            "sweep": request.sweep,
            "solver": request.solver,
            "macroreps": request.macroreps > 1,
            "shard": request.shard,
        }
        for name, value in given.items():  # its search is one of its own, and is one run
            if value:
                named = f"--pareto {shortened(','.join(pareto))}"
                what = named if pareto else "the section objectives"
                raise InputError(f"{option(name)}: of no use with {what} (leave one of them out)")
        return cls(**request.common(config), objectives=pareto)

    def build(self, model: Model[object]) -> Problem:
        """Return the problem whose outcomes are the objectives, then the excesses over bounds."""
        terms, config, section = self._terms(model), self.config, self.config.optimize
        if not section.objective:  # the objectives take its place
            first = {terms[0].name: _term(terms[0].response)}
            config = replace(config, optimize=section.model_copy(update={"objective": first}))
        problem = problem_of(config, model)
        others = [Constraint(t.name, t.response, int(t.weight), 0.0) for t in terms[1:]]
        return replace(problem, terms=[terms[0]], constraints=[*others, *problem.constraints])

    def _terms(self, model: Model[object]) -> list[Term]:
        """Return the objectives, of weight 1 or -1, which is all that a front depends on."""
        config, names = self.config, self.objectives
        given = config.optimize.objectives
        named = {name: _term(name) for name in names} if names else given
        where = option("pareto") if names else config.at("optimize.objectives")
        responses = [response.name for response in model.responses]
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

    def jobs(self, built: BuiltProblem) -> list[FrontJob]:
        """Return the one run."""
        count = len(self._terms(built.model))
        return [FrontJob(self.config, self.settings, built.problem, count)]

    def identity(self, built: BuiltProblem) -> dict[str, object]:
        """Return what two folders of one front have in common."""
        terms = self._terms(built.model)
        return {
            "budget": self.settings.budget,
            "pareto": ",".join(f"{term.weight:+g} {term.response}" for term in terms),
        }

    def summarise(
        self,
        built: BuiltProblem,
        made: Sequence[tuple[Job[FrontRun], FrontRun]],
        execution: Execution,
        truths: Journal | None,
    ) -> Front:
        """Say which of the tested points are the front."""
        problem, terms = built.problem, self._terms(built.model)
        ((_, run),) = made
        on_front = _front(problem, run.tested, len(terms), self.confidence)
        if self.config.one_history:  # many rules may be one in their outcomes
            first = {tuple(one.sample.mean[: len(terms)]): one for one in reversed(on_front)}
            on_front = list(first.values())[::-1]
        points = [_front_point(built, terms, one, self.confidence) for one in on_front]
        # Of resamples it is their own mean that is tested and shown.
        sampling = built.model.sampling
        sampling = INDEPENDENT if isinstance(sampling, Resampled) else sampling
        n = min((mean.n for one in points for mean in one.objectives.values()), default=None)
        return Front(
            config=self.config,
            settings=self.settings,
            complete=run.finished,
            objectives=terms,
            spent=run.spent,
            points=points,
            tested=len(run.tested),
            given=_given(problem, run.tested, on_front),
            no_interval="" if n is None else sampling.no_interval(n),
        )


@takes(SearchArguments)
def pareto_front(
    config: ConfigLike,
    objectives: str | Sequence[str] = (),
    budget: int | None = None,
    seed: int | None = None,
    **options: Any,  # noqa: ANN401
) -> Front:
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
    given = SearchArguments(budget=budget, seed=seed, **options).in_config(config.optimize)
    spec = FrontSpec.requested(config, request_of(config, given, solvers=(), pareto=names))
    assert spec
    return execute(spec, given)


def _term(response: str) -> TermOptions:
    return TermOptions.model_validate({"response": response})


def _front(
    problem: Problem, tested: Sequence[CandidatePoint], objectives: int, confidence: float
) -> list[CandidatePoint]:
    """Return the certified points that no other one dominates, in order of the first objective.

    One that the config gives is dominated only by a point that is better beyond an interval.
    """
    passed = [point for point in tested if point.certified and not point.sample.undefined]
    if not passed:
        return []
    means = np.array([point.sample.mean[:objectives] for point in passed])
    order = np.argsort(means[:, 0], kind="stable")
    stays = nondominated(means)
    for k, point in enumerate(passed):
        if not stays[k] and problem.name_of(point.unit):
            dominating = np.flatnonzero((means <= means[k]).all(axis=1))
            stays[k] = not any(
                _beaten(point, passed[j], objectives, confidence) for j in dominating.tolist()
            )
    return [passed[k] for k in order.tolist() if stays[k]]


def _beaten(
    point: CandidatePoint, other: CandidatePoint, objectives: int, confidence: float
) -> bool:
    """Return whether a point is better than another one in some objective beyond the interval."""
    changes = (other.sample.outcomes - point.sample.outcomes)[:, :objectives]
    if len(changes) == 1:  # of one history
        return bool((changes < 0.0).any())
    # Of several objectives any may be the one that is better by chance.
    level = 1.0 - (1.0 - confidence) / objectives
    highs = [estimate(change, level).ci_high for change in changes.T]
    return any(high is not None and high < 0.0 for high in highs)


def _given(
    problem: Problem, tested: Sequence[CandidatePoint], on_front: Sequence[CandidatePoint]
) -> dict[str, str]:
    """Say what came of each point that the config gives."""
    names = {problem.name_of(point.unit): point for point in tested}
    fates = {}
    for name in problem.given if tested else ():
        given = names.get(name)
        if given is None:
            fates[name] = "not tested, there were too few replications"
        elif any(point is given for point in on_front):
            fates[name] = "on the front"
        elif given.certified:
            fates[name] = "certified, but a point of the front is better beyond the interval"
        else:
            fates[name] = "not certified as feasible"
    return fates


def _front_point(
    built: BuiltProblem, terms: Sequence[Term], tested: CandidatePoint, confidence: float
) -> FrontPoint:
    """Return what fresh replications say of a point."""
    outcomes = tested.sample.adjusted
    limits = {response.name: response.limits for response in built.model.responses}
    objectives = {
        term.name: estimate(term.weight * outcomes[:, k], confidence, limits[term.response])
        for k, term in enumerate(terms)
    }
    facts = PointResult.facts(
        built.problem,
        tested.unit,
        outcomes[:, len(terms) :],
        lambda values, limits: estimate(values, confidence, limits),
    )
    return FrontPoint(**facts, objectives=objectives)
