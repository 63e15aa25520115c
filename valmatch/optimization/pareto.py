"""The Pareto front of several objectives: rules of which no other is better in everything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from valmatch.arrays import Floats
from valmatch.config.config import Config
from valmatch.config.identity import config_id, problem_id
from valmatch.config.loading import ConfigLike, load
from valmatch.config.sections import TermOptions
from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.execution.interruption import stop_on_signal
from valmatch.execution.listeners import Listeners
from valmatch.execution.run_options import RunKeywords, RunOptions, split
from valmatch.execution.simulator import build
from valmatch.inputs import arguments
from valmatch.kernels.halting import Stopped
from valmatch.models.model import ANY, Model, Response
from valmatch.optimization.against_start import limits_of_objective
from valmatch.optimization.evaluation import Evaluator
from valmatch.optimization.journal import open_journal
from valmatch.optimization.nondominated import nondominated
from valmatch.optimization.optimize import DEFAULT_BUDGET
from valmatch.optimization.parallel_runs import hire
from valmatch.optimization.problem import Constraint, Problem, Term
from valmatch.optimization.problem_of_config import found_scales, problem_of
from valmatch.optimization.run import SOLVER_SOURCE, STAGE
from valmatch.optimization.selection import FeasibilityTest, Sample
from valmatch.optimization.solvers.front_search import FrontSearch
from valmatch.optimization.solvers.registry import search_budget
from valmatch.optimization.solvers.search import Archive, Search, SearchTask
from valmatch.optimization.verdict import at_bound
from valmatch.statistics.estimates import Estimate, estimate
from valmatch.statistics.sampling import INDEPENDENT, Resampled
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

TESTED = 20, (3, 24)
"""Fresh replications of a point, about; fewest and most points that are tested."""

MOST = 20_000
"""Fresh replications of a point beyond which more would be idle."""


@dataclass(frozen=True)
class FrontPoint:
    """A rule of the front, as fresh replications see it.

    Attributes
    ----------
    point : dict of str to float
        Values of the variables.
    objectives : dict of str to Estimate
        Mean of the response of each objective.
    constraints : list of tuple
        The mean of each constraint's response, with the constraint.
    name : str
        "start" or "today's rule" where it is that, "" otherwise.
    at_bounds : mapping of str to str
        The variables whose value is at a bound, ``"low"`` or ``"high"``.
    """

    point: dict[str, float]
    objectives: dict[str, Estimate]
    constraints: list[tuple[Constraint, Estimate]]
    name: str = ""
    at_bounds: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the part of ``summary.json`` that holds it."""
        bounds = {
            one.name: {
                "response": one.response,
                "sense": "<=" if one.sign > 0 else ">=",
                "bound": one.bound,
                **mean.as_dict(),
            }
            for one, mean in self.constraints
        }
        objectives = {name: mean.as_dict() for name, mean in self.objectives.items()}
        return {
            "point": self.point,
            "name": self.name or None,
            "at_bounds": dict(self.at_bounds),
            "objectives": objectives,
            "constraints": bounds,
        }


@dataclass(frozen=True, repr=False)
class Front(Result):
    """The front that one run has found.

    Attributes
    ----------
    config : Config
        What was asked for.
    objectives : sequence of Term
        What is minimised; those of weight -1 are maximised.
    budget, seed, spent : int
        Replications allowed, the seed, and the replications made.
    points : sequence of FrontPoint
        In order of the first objective; none if no point was certified.
    tested : int
        Points that were tested on fresh replications.
    given : mapping of str to str
        What came of the start and of today's rule.
    no_interval : str
        Why means have no interval, "" if all have one.
    stopped : str
        Why the run was stopped, "" if it was not.
    """

    config: Config
    objectives: Sequence[Term]
    budget: int
    seed: int
    spent: int
    points: Sequence[FrontPoint]
    tested: int
    stopped: str = ""
    folder: Path | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    no_interval: str = ""

    @property
    def title(self) -> str:
        """What was solved for and what came of it, in one line."""
        return (
            f"{self.config.model}, config {config_id(self.config)}, seed {self.seed}, budget"
            f" {self.budget:,}; {self.found}"
        )

    @property
    def found(self) -> str:
        """How many points the front has."""
        names = ", ".join(term.name for term in self.objectives)
        return f"front of {names}: {len(self.points)} of {self.tested} tested points"

    @property
    def status(self) -> str:
        """The status "complete", or why it is not."""
        return self.stopped or "complete"

    def remarks(self) -> list[str]:
        """Say what came of the given points, and which values are at bounds, a sentence each."""
        said = [f"{name}: {what}" for name, what in self.given.items()]
        sides = {
            (name, side, one.point[name])
            for one in self.points
            for name, side in one.at_bounds.items()
        }
        return said + [at_bound(name, value, side) for name, side, value in sorted(sides)]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            "model": self.config.model,
            "config_id": config_id(self.config),
            "problem_id": problem_id(self.config),
            "seed": self.seed,
            "budget": self.budget,
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
            "front": [one.as_dict() for one in self.points],
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``front.csv``: a row for each point."""
        rows = [dict(_cells(one)) for one in self.points]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else [])}


def _cells(one: FrontPoint) -> Iterator[tuple[str, Any]]:
    """Yield the cells of a row; a response that is bounded and an objective stands there once."""
    yield from one.point.items()
    means = dict(one.objectives)
    means |= {constraint.response: mean for constraint, mean in one.constraints}
    for name, mean in means.items():
        yield name, mean.mean
        yield f"{name}_low", mean.ci_low
        yield f"{name}_high", mean.ci_high
    yield "n", next(iter(one.objectives.values())).n
    yield "name", one.name


def pareto_front(
    config: ConfigLike,
    objectives: str | Sequence[str] = (),
    budget: int = DEFAULT_BUDGET,
    seed: int = 1,
    *,
    confidence: float = 0.95,
    **keywords: Unpack[RunKeywords],
) -> Front:
    """Find the rules of which no other is better in all of several objectives.

    The constraints of the config's problem hold at every point; its single objective plays no part.
    The search takes 60 % of the budget. Its best guesses along the front are tested on the rest,
    on fresh replications that are common to all of them: a point stays if every constraint holds
    by its one-sided bound, and if no other such point has better means in everything. The start
    and today's rule are tested, too, and stay unless they are beaten beyond an interval.

    Parameters
    ----------
    config : Config or what `valmatch.load` takes
        What to optimise.
    objectives : str or sequence of str
        Responses to be minimised, at least two; none: those of the config's `objectives`.
    budget, seed, confidence
        As of `valmatch.optimize`; the confidence is that of each point.
    **keywords
        workers, executor, scheduler, max_seconds, out, resume, progress, warn, detail, as of
        `valmatch.optimize`.

    Raises
    ------
    InputError
        If problem, objectives, budget or folder cannot be used.
    RunError
        If the run fails.
    """
    names = arguments.names("pareto", objectives)
    options, listeners = split(keywords, RunKeywords)
    return find_front(load(config), names, budget, seed, confidence, options, listeners)


def find_front(
    loaded: Config,
    objectives: Sequence[str],
    budget: int,
    seed: int,
    confidence: float,
    options: RunOptions,
    listeners: Listeners,
) -> Front:
    """Find the Pareto front of a config; see `pareto_front`."""
    arguments.whole("budget", budget)
    arguments.whole("seed", seed)
    arguments.level("confidence", confidence)
    path, resume, progress = options.out, options.resume, listeners.progress
    model = build(loaded, warn=listeners.warn)
    terms = _terms(loaded, objectives, model)
    posed = _posed(loaded, terms, model)
    identity = {
        "problem_id": problem_id(loaded),
        "seed": seed,
        "budget": budget,
        "pareto": ",".join(f"{term.weight:+g} {term.response}" for term in terms),
    }
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signal(options.max_seconds))
        hired = stack.enter_context(hire(loaded, 1, stop, options, listeners))
        folder, journal = open_journal(
            stack, path, loaded, posed, identity, resume, facts={"confidence": confidence}
        )
        stages = [
            Evaluator(loaded, posed, seed, k * STAGE, budget, journal, stop.check, hired.crew)
            for k in (0, 1)
        ]
        tested: list[_Tested] = []
        with suppress(Stopped):
            exact = loaded.one_history
            part = budget if exact else search_budget(budget)
            search = _Sought(posed, len(terms), exact)
            units = _searched(search, stages[0], part, seed, progress)
            left, alpha = budget - stages[0].spent, 1.0 - confidence
            if exact:
                tested = _seen(units, stages[0], len(terms))
            else:
                units = _with_given(posed, units, left)
                tested = _tested(units, stages[1], left, len(terms), alpha)
            progress(stages[1].spent)
        kept = _front(posed, tested, len(terms), confidence)
        if loaded.one_history:  # many rules may be one in their outcomes
            kept = [*{tuple(one.sample.mean[: len(terms)]): one for one in kept[::-1]}.values()]
            kept.reverse()
        points = [
            _front_point(posed, terms, one, confidence, list(model.responses)) for one in kept
        ]
        spent = sum(stage.spent for stage in stages)
        front = Front(
            loaded,
            terms,
            budget,
            seed,
            spent,
            points,
            len(tested),
            stop.reason,
            path,
            _given(posed, tested, kept),
            _no_interval(points, model),
        )
        if folder:
            write_csv(folder.path / "front.csv", front.columns())
            with write_atomically(folder.path / "summary.json") as file:
                file.write(to_json(front.summary()))
            folder.close(front.status, points=len(points))
    return front


def _terms(config: Config, names: Sequence[str], model: Model[object]) -> list[Term]:
    """Return the objectives, each with the weight 1 or -1, which is all that a front depends on."""
    given = config.optimize.objectives
    named = {name: _term(name) for name in names} if names else given
    where = option("pareto") if names else config.at("optimize.objectives")
    responses = [response.name for response in model.responses]
    if len(named) < 2 or len(named) < len(names):
        raise InputError(f"{where}: {len(named)} objectives (allowed: two or more, all different)")
    for name, one in named.items():
        if one.response not in responses:
            at = where if names else config.at(f"optimize.objectives.{name}.response")
            raise InputError(
                f"{at}: {config.model} has no response {shown(one.response)}"
                f" ({hint(one.response, responses)})"
            )
        if one.weight == 0.0:
            raise InputError(
                f"{config.at(f'optimize.objectives.{name}.weight')}: 0 (allowed: another number)"
            )
    return [Term(name, one.response, math.copysign(1.0, one.weight)) for name, one in named.items()]


def _term(response: str) -> TermOptions:
    return TermOptions.model_validate({"response": response})


def _posed(config: Config, terms: Sequence[Term], model: Model[object]) -> Problem:
    """Return the problem whose outcomes are the objectives, then the excesses over the bounds."""
    section = config.optimize
    if not section.objective:  # the objectives take its place
        first = {terms[0].name: _term(terms[0].response)}
        config = replace(config, optimize=section.model_copy(update={"objective": first}))
    problem = problem_of(config, model)
    others = [Constraint(t.name, t.response, int(t.weight), 0.0) for t in terms[1:]]
    return replace(problem, terms=[terms[0]], constraints=[*others, *problem.constraints])


@dataclass(frozen=True)
class _Tested:
    """A point and its outcomes on fresh replications: the objectives, then the excesses.

    Attributes
    ----------
    unit : numpy.ndarray
        The point in the unit cube.
    sample : Sample
        What the control variates make of the outcomes.
    certified : bool
        Whether it passes the test of the constraints.
    """

    unit: Floats
    sample: Sample
    certified: bool


@dataclass(frozen=True)
class _Sought:
    """What is searched for: the problem, its first outcomes being the objectives.

    Attributes
    ----------
    exact : bool
        Whether all replications of a point are the same.
    """

    posed: Problem
    objectives: int
    exact: bool


def _searched(
    sought: _Sought,
    evaluator: Evaluator,
    budget: int,
    seed: int,
    progress: Callable[[int], None],
) -> Floats:
    """Search; return the points worth testing, all where evaluations are exact."""
    posed = sought.posed
    test = 0 if sought.exact else max(1, (budget // 2) // TESTED[0])
    rng = Streams(seed).stream(0, SOLVER_SOURCE)
    archive = Archive(posed, test, evaluator.controls)
    task = SearchTask(posed, budget, rng, posed.start, archive)
    front = FrontSearch(task, sought.objectives)
    search = Search(task, front.steps)
    while (request := search.ask()) is not None:
        before = evaluator.spent
        search.tell(request, evaluator.evaluate(request.unit, request.n))
        progress(evaluator.spent - before)
    if sought.exact:
        return archive.estimates().units
    few, many = TESTED[1]
    count = budget * 2 // 3 // TESTED[0] - len(posed.given)
    return front.finalists(min(many, max(few, count)))


def _tested(
    units: Floats, evaluator: Evaluator, left: int, objectives: int, alpha: float
) -> list[_Tested]:
    """Simulate points on fresh replications, as many as are left, and test their constraints."""
    n, tested = min(MOST, left // len(units)), []
    for unit in units:
        outcomes = evaluator.evaluate(unit, n)
        posed = np.delete(outcomes, range(1, objectives), 1)
        test = FeasibilityTest(unit, posed, alpha, evaluator.controls)
        tested.append(_Tested(unit, Sample(outcomes, evaluator.controls), test.passes))
    return tested


def _seen(units: Floats, evaluator: Evaluator, objectives: int) -> list[_Tested]:
    """Return evaluated points; their outcomes are exact, so that the constraints hold or do not."""
    tested = []
    for unit in units:
        outcomes = evaluator.evaluate(unit, 1)
        holds = bool((outcomes[:, objectives:] <= 0.0).all())  # not where one is undefined
        tested.append(_Tested(unit, Sample(outcomes, evaluator.controls), holds))
    return tested


def _with_given(posed: Problem, units: Floats, left: int) -> Floats:
    """Return points with those that the config gives, where there are replications for all."""
    known = [posed.point(unit) for unit in units]
    others = [unit for unit in posed.given.values() if posed.point(unit) not in known]
    return np.vstack([units, *others[: max(0, left - len(units))]])


def _front(
    posed: Problem, tested: Sequence[_Tested], objectives: int, confidence: float
) -> list[_Tested]:
    """Return the certified points that no other one dominates, in order of the first objective.

    One that the config gives is dominated only by a point that is better beyond an interval.
    """
    passed = [one for one in tested if one.certified and not one.sample.undefined]
    if not passed:
        return []
    means = np.array([one.sample.mean[:objectives] for one in passed])
    order = np.argsort(means[:, 0], kind="stable")
    kept = nondominated(means)
    for k, one in enumerate(passed):
        if not kept[k] and posed.name_of(one.unit):
            dominating = np.flatnonzero((means <= means[k]).all(axis=1))
            kept[k] = not any(
                _beaten(one, passed[j], objectives, confidence) for j in dominating.tolist()
            )
    return [passed[k] for k in order.tolist() if kept[k]]


def _beaten(one: _Tested, other: _Tested, objectives: int, confidence: float) -> bool:
    """Return whether a point is better than another one in some objective beyond the interval."""
    changes = (other.sample.outcomes - one.sample.outcomes)[:, :objectives]
    if len(changes) == 1:  # of one history
        return bool((changes < 0.0).any())
    # Of several objectives any may be the one that is better by chance.
    level = 1.0 - (1.0 - confidence) / objectives
    highs = [estimate(change, level).ci_high for change in changes.T]
    return any(high is not None and high < 0.0 for high in highs)


def _given(posed: Problem, tested: Sequence[_Tested], kept: Sequence[_Tested]) -> dict[str, str]:
    """Say what came of each point that the config gives."""
    names = {posed.name_of(one.unit): one for one in tested}
    said = {}
    for name in posed.given:
        one = names.get(name)
        if one is None:
            said[name] = "not tested, there were too few replications"
        elif any(point is one for point in kept):
            said[name] = "on the front"
        elif one.certified:
            said[name] = "certified, but a point of the front is better beyond the interval"
        else:
            said[name] = "not certified as feasible"
    return said if tested else {}


def _no_interval(points: Sequence[FrontPoint], model: Model[object]) -> str:
    """Say why means of the points have no interval; "" if all have one."""
    if not points:
        return ""
    least = min(mean.n for one in points for mean in one.objectives.values())
    # Of resamples it is their own mean that is tested and shown.
    resampled = isinstance(model.sampling, Resampled)
    return (INDEPENDENT if resampled else model.sampling).no_interval(least)


def _front_point(
    posed: Problem,
    terms: Sequence[Term],
    test: _Tested,
    confidence: float,
    responses: Sequence[Response],
) -> FrontPoint:
    """Return what fresh replications say of a point."""
    outcomes = test.sample.adjusted
    limits = {one.name: one.limits for one in responses}
    objectives = {
        term.name: estimate(term.weight * outcomes[:, k], confidence).within(
            limits_of_objective([term], responses)
        )
        for k, term in enumerate(terms)
    }
    bounds = posed.constraints[len(terms) - 1 :]
    constraints = [
        (
            one,
            estimate(one.bound + one.sign * outcomes[:, len(terms) + k], confidence).within(
                limits.get(one.response, ANY)
            ),
        )
        for k, one in enumerate(bounds)
    ]
    point = posed.point(test.unit)
    return FrontPoint(
        point, objectives, constraints, posed.name_of(test.unit), posed.at_bounds(point)
    )
