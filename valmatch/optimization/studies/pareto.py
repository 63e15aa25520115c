"""The Pareto front of several objectives: rules of which no other is better in everything."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.config.config import Config, TermOptions
from valmatch.config.identity import problem_id
from valmatch.config.loading import ConfigLike, load_config
from valmatch.errors import InputError, option
from valmatch.execution.run_options import SearchArguments, first_given
from valmatch.inputs import arguments
from valmatch.inputs.options import takes
from valmatch.models.model import ANY, Model
from valmatch.models.registry import no_response
from valmatch.optimization.evaluation import Execution, Journal
from valmatch.optimization.nondominated import nondominated
from valmatch.optimization.problem import Constraint, Problem, Term
from valmatch.optimization.problem_of_config import found_scales, problem_of
from valmatch.optimization.studies.front_run import CandidatePoint, FrontJob, FrontRun
from valmatch.optimization.studies.parallel_runs import Job
from valmatch.optimization.studies.study import (
    PosedProblem,
    StudyRequest,
    StudyResult,
    StudySpec,
    execute,
    settings_in,
    settings_of,
)
from valmatch.optimization.verdict import at_bound, constraints_as_dict, limits_of_objective
from valmatch.statistics.estimates import Estimate, estimate
from valmatch.statistics.sampling import INDEPENDENT, Resampled
from valmatch.storage.output import write_csv
from valmatch.text.terminal import shortened


@dataclass(frozen=True)
class FrontPoint:
    """A rule of the front, as fresh replications see it."""

    point: dict[str, float]  # values of the variables
    objectives: dict[str, Estimate]  # mean of the response of each objective
    # the mean of each constraint's response, with the constraint
    constraints: list[tuple[Constraint, Estimate]]
    name: str = ""  # "start" or "today's rule" where it is that, "" otherwise
    # the variables whose value is at a bound, ``"low"`` or ``"high"``
    at_bounds: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the part of ``summary.json`` that holds it."""
        objectives = {name: mean.as_dict() for name, mean in self.objectives.items()}
        return {
            "point": self.point,
            "name": self.name or None,
            "at_bounds": dict(self.at_bounds),
            "objectives": objectives,
            "constraints": constraints_as_dict(self.constraints),
        }


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

    objectives: Sequence[Term]
    spent: int
    points: Sequence[FrontPoint]
    tested: int
    complete: bool = True
    given: Mapping[str, str] = field(default_factory=dict)
    no_interval: str = ""

    @property
    def title(self) -> str:
        """What was solved for and what came of it, in one line."""
        return f"{self.title_start}, budget {self.settings.budget:,}; {self.found}"

    @property
    def found(self) -> str:
        """How many points the front has."""
        names = ", ".join(term.name for term in self.objectives)
        return f"front of {names}: {len(self.points)} of {self.tested} tested points"

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
        said = [f"{name}: {what}" for name, what in self.given.items()]
        sides = {
            (name, side, found.point[name])
            for found in self.points
            for name, side in found.at_bounds.items()
        }
        return said + [at_bound(name, value, side) for name, side, value in sorted(sides)]

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
            "front": [found.as_dict() for found in self.points],
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``front.csv``: a row for each point."""
        rows = [dict(_cells(found)) for found in self.points]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else [])}

    def write(self, folder: Path) -> None:
        """Write ``front.csv``."""
        write_csv(folder / "front.csv", self.columns())


def _cells(found: FrontPoint) -> Iterator[tuple[str, Any]]:
    """Yield the cells of a row; a response that is bounded and an objective stands there once."""
    yield from found.point.items()
    means = dict(found.objectives)
    means |= {constraint.response: mean for constraint, mean in found.constraints}
    for name, mean in means.items():
        yield name, mean.mean
        yield f"{name}_low", mean.ci_low
        yield f"{name}_high", mean.ci_high
    yield "n", next(iter(found.objectives.values())).n
    yield "name", found.name


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
        return cls(
            config=config,
            settings=settings_of(request.budget, request.seed, request.confidence),
            confidence=request.confidence,
            objectives=pareto,
        )

    def pose(self, model: Model[object]) -> Problem:
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

    def jobs(self, posed: PosedProblem) -> list[FrontJob]:
        """Return the one run."""
        count = len(self._terms(posed.model))
        return [FrontJob(self.config, self.settings, posed.problem, count)]

    def identity(self, posed: PosedProblem) -> dict[str, object]:
        """Return what two folders of one front have in common."""
        terms = self._terms(posed.model)
        return {
            "problem_id": problem_id(self.config),
            "seed": self.settings.seed,
            "budget": self.settings.budget,
            "pareto": ",".join(f"{term.weight:+g} {term.response}" for term in terms),
        }

    def conclude(
        self,
        posed: PosedProblem,
        made: Sequence[tuple[Job[FrontRun], FrontRun]],
        execution: Execution,
        truths: Journal | None,
    ) -> Front:
        """Say which of the tested points are the front."""
        model, problem, terms = posed.model, posed.problem, self._terms(posed.model)
        ((_, run),) = made
        on_front = _front(problem, run.tested, len(terms), self.confidence)
        if self.config.one_history:  # many rules may be one in their outcomes
            on_front = _first_of_equal(on_front, len(terms))
        points = [_front_point(posed, terms, found, self.confidence) for found in on_front]
        return Front(
            config=self.config,
            settings=self.settings,
            objectives=terms,
            spent=run.spent,
            points=points,
            tested=len(run.tested),
            complete=run.finished,
            given=_given(problem, run.tested, on_front),
            no_interval=_no_interval(points, model),
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
    loaded = load_config(config)
    given = SearchArguments(budget=budget, seed=seed, **options).in_config(loaded.optimize)
    confidence = first_given(given.confidence, loaded.optimize.confidence, 0.95)
    spec = FrontSpec(
        config=loaded,
        settings=settings_in(loaded, given),
        confidence=confidence,
        objectives=names,
    )
    return execute(spec, given)


def _term(response: str) -> TermOptions:
    return TermOptions.model_validate({"response": response})


def _front(
    posed: Problem, tested: Sequence[CandidatePoint], objectives: int, confidence: float
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
        if not stays[k] and posed.name_of(point.unit):
            dominating = np.flatnonzero((means <= means[k]).all(axis=1))
            stays[k] = not any(
                _beaten(point, passed[j], objectives, confidence) for j in dominating.tolist()
            )
    return [passed[k] for k in order.tolist() if stays[k]]


def _first_of_equal(points: Sequence[CandidatePoint], objectives: int) -> list[CandidatePoint]:
    """Return points without those whose objectives are equal to those of one before."""
    first = {tuple(point.sample.mean[:objectives]): point for point in reversed(points)}
    return list(first.values())[::-1]


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
    posed: Problem, tested: Sequence[CandidatePoint], on_front: Sequence[CandidatePoint]
) -> dict[str, str]:
    """Say what came of each point that the config gives."""
    names = {posed.name_of(point.unit): point for point in tested}
    said = {}
    for name in posed.given:
        given = names.get(name)
        if given is None:
            said[name] = "not tested, there were too few replications"
        elif any(point is given for point in on_front):
            said[name] = "on the front"
        elif given.certified:
            said[name] = "certified, but a point of the front is better beyond the interval"
        else:
            said[name] = "not certified as feasible"
    return said if tested else {}


def _no_interval(points: Sequence[FrontPoint], model: Model[object]) -> str:
    """Say why means of the points have no interval; "" if all have one."""
    if not points:
        return ""
    least = min(mean.n for point in points for mean in point.objectives.values())
    # Of resamples it is their own mean that is tested and shown.
    resampled = isinstance(model.sampling, Resampled)
    return (INDEPENDENT if resampled else model.sampling).no_interval(least)


def _front_point(
    posed: PosedProblem, terms: Sequence[Term], found: CandidatePoint, confidence: float
) -> FrontPoint:
    """Return what fresh replications say of a point."""
    outcomes, problem, responses = found.sample.adjusted, posed.problem, posed.model.responses
    limits = {response.name: response.limits for response in responses}
    objectives = {
        term.name: estimate(term.weight * outcomes[:, k], confidence).within(
            limits_of_objective([term], list(responses))
        )
        for k, term in enumerate(terms)
    }
    constraints = [
        (
            bound,
            estimate(bound.bound + bound.sign * outcomes[:, k], confidence).within(
                limits.get(bound.response, ANY)
            ),
        )
        for k, bound in enumerate(problem.constraints[len(terms) - 1 :], len(terms))
    ]
    point = problem.point(found.unit)
    name, at_bounds = problem.name_of(found.unit), problem.at_bounds(point)
    return FrontPoint(point, objectives, constraints, name, at_bounds)
