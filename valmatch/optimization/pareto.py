"""The Pareto front of several objectives: rules of which no other is better in everything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.config import arguments
from valmatch.config.arguments import PathLike
from valmatch.config.config import Config
from valmatch.config.identity import config_id, problem_id
from valmatch.config.loading import ConfigLike, load
from valmatch.config.sections import TermOptions
from valmatch.errors import InputError, option
from valmatch.execution.interruption import Stopped, stop_on_signal
from valmatch.model import Model
from valmatch.nearest import hint
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
from valmatch.printable import shown
from valmatch.simulator import build
from valmatch.statistics.estimates import Estimate, estimate
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result
from valmatch.streams import Streams

__all__ = ["Front", "FrontPoint", "pareto_front"]

Floats = NDArray[np.float64]

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
    """

    point: dict[str, float]
    objectives: dict[str, Estimate]
    constraints: list[tuple[Constraint, Estimate]]

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
        return {"point": self.point, "objectives": objectives, "constraints": bounds}


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


def pareto_front(
    config: ConfigLike,
    objectives: str | Sequence[str] = (),
    budget: int = DEFAULT_BUDGET,
    seed: int = 1,
    *,
    workers: int = 1,
    executor: str | None = None,
    scheduler: str | None = None,
    confidence: float = 0.95,
    max_seconds: float = math.inf,
    out: PathLike | None = None,
    resume: bool = False,
    progress: Callable[[int], None] = lambda done: None,
    warn: Callable[[str], None] = lambda text: None,
    detail: Callable[[str], None] = lambda text: None,
) -> Front:
    """Find the rules of which no other is better in all of several objectives.

    The constraints of the config's problem hold at every point; its single objective plays no part.
    The search takes 60 % of the budget. Its best guesses along the front are tested on the rest,
    on fresh replications that are common to all of them: a point stays if every constraint holds
    by its one-sided bound, and if no other such point has better means in everything.

    Parameters
    ----------
    config : Config or what `valmatch.load` takes
        What to optimise.
    objectives : str or sequence of str
        Responses to be minimised, at least two; none: those of the config's `objectives`.
    budget, seed, workers, executor, scheduler, confidence, max_seconds, out, resume, progress, warn
        As of `valmatch.optimize`; the confidence is that of each point.
    detail : callable
        Likewise.

    Raises
    ------
    InputError
        If problem, objectives, budget or folder cannot be used.
    RunError
        If the run fails.
    """
    loaded = load(config)
    arguments.whole("budget", budget)
    arguments.whole("seed", seed)
    arguments.level("confidence", confidence)
    limit = arguments.seconds("max_seconds", max_seconds)
    path = None if out is None else arguments.path("out", out)
    model = build(loaded, warn=warn)
    terms = _terms(loaded, arguments.names("pareto", objectives), model)
    posed = _posed(loaded, terms, model)
    identity = {
        "problem_id": problem_id(loaded),
        "seed": seed,
        "budget": budget,
        "pareto": ",".join(f"{term.weight:+g} {term.response}" for term in terms),
    }
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signal(limit))
        hired = stack.enter_context(
            hire(loaded, 1, stop, workers, executor, scheduler, warn, detail)
        )
        folder, journal = open_journal(
            stack, path, loaded, posed, identity, resume, facts={"confidence": confidence}
        )
        stages = [
            Evaluator(loaded, posed, seed, k * STAGE, budget, journal, stop.check, hired.crew)
            for k in (0, 1)
        ]
        tested: list[_Tested] = []
        with suppress(Stopped):
            units = _searched(posed, len(terms), stages[0], search_budget(budget), seed, progress)
            left, alpha = budget - stages[0].spent, 1.0 - confidence
            tested = _tested(units, stages[1], left, len(terms), alpha)
            progress(stages[1].spent)
        kept = _front(tested, len(terms))
        points = [_front_point(posed, terms, one, confidence) for one in kept]
        spent = sum(stage.spent for stage in stages)
        front = Front(loaded, terms, budget, seed, spent, points, len(tested), stop.reason, path)
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


def _searched(
    posed: Problem,
    objectives: int,
    evaluator: Evaluator,
    budget: int,
    seed: int,
    progress: Callable[[int], None],
) -> Floats:
    """Search; return the points worth testing."""
    test = max(1, (budget // 2) // TESTED[0])
    rng = Streams(seed).stream(0, SOLVER_SOURCE)
    task = SearchTask(posed, budget, rng, posed.start, Archive(posed, test, evaluator.controls))
    front = FrontSearch(task, objectives)
    search = Search(task, front.steps)
    while (request := search.ask()) is not None:
        before = evaluator.spent
        search.tell(request, evaluator.evaluate(request.unit, request.n))
        progress(evaluator.spent - before)
    few, many = TESTED[1]
    return front.finalists(min(many, max(few, budget * 2 // 3 // TESTED[0])))


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


def _front(tested: Sequence[_Tested], objectives: int) -> list[_Tested]:
    """Return the certified points that no other one dominates, in order of the first objective."""
    passed = [one for one in tested if one.certified and not one.sample.undefined]
    if not passed:
        return []
    means = np.array([one.sample.mean[:objectives] for one in passed])
    order = np.argsort(means[:, 0], kind="stable")
    kept = nondominated(means)
    return [passed[k] for k in order.tolist() if kept[k]]


def _front_point(
    posed: Problem, terms: Sequence[Term], test: _Tested, confidence: float
) -> FrontPoint:
    """Return what fresh replications say of a point."""
    outcomes = test.sample.adjusted
    objectives = {
        term.name: estimate(term.weight * outcomes[:, k], confidence)
        for k, term in enumerate(terms)
    }
    bounds = posed.constraints[len(terms) - 1 :]
    constraints = [
        (one, estimate(one.bound + one.sign * outcomes[:, len(terms) + k], confidence))
        for k, one in enumerate(bounds)
    ]
    return FrontPoint(posed.point(test.unit), objectives, constraints)
