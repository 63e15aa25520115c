"""The points that a study comes to, and what is known of them in numbers and in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np

from valmatch.config.config import Constraint
from valmatch.inputs.fields import plain_number
from valmatch.kernels.arrays import Floats
from valmatch.models.model import ANY, Model
from valmatch.optimization.certification import Certificate
from valmatch.optimization.problem import Problem, Term
from valmatch.optimization.solver_run import SolverRun
from valmatch.optimization.solvers.search import OFTEN
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.no_interval import why_no_interval
from valmatch.statistics.sampling import INDEPENDENT, OneHistory, Resampled

RESAMPLES = "which resamples of the log show (--set log.resample=block)"

# (values of replications, the limits of such values) -> the estimate of their mean
Means: TypeAlias = Callable[[Floats, tuple[float, float]], Estimate]

Bounded: TypeAlias = tuple[Constraint, Estimate]  # a bound, and the mean of its response

OBJECTIVE = "objective"  # what the objective is called where there is one


@dataclass(frozen=True, kw_only=True)
class PointResult:
    """A tested point and what fresh replications say of it."""

    point: Mapping[str, float]  # values of the decision variables
    objectives: Mapping[str, Estimate]  # "objective" alone, or those of a front by name
    constraints: Mapping[str, Bounded]  # by name
    name: str = ""  # "start" or "today's rule" where it is that, "" otherwise
    # the variables whose value is at a bound, ``"low"`` or ``"high"``
    at_bounds: Mapping[str, str] = field(default_factory=dict)
    feasible: bool | None = True  # True, False or None for undecided
    why: str = ""  # the reason in words
    no_interval: str = ""  # why means have no interval, "" if all have one
    remarks: Sequence[str] = ()  # what else there is to know of it, a sentence each
    value: float = 0.0  # of a sweep, the value that it is of

    @property
    def objective(self) -> Estimate:
        """The mean of its objective, of several the first."""
        return next(iter(self.objectives.values()))

    @property
    def means(self) -> dict[str, Estimate]:
        """All means, those of constraints by their response."""
        return {**self.objectives, **{c.response: mean for c, mean in self.constraints.values()}}

    def entry(self) -> dict[str, Any]:
        """Return the part of ``summary.json`` that holds the point."""
        means = {name: mean.as_dict() for name, mean in self.objectives.items()}
        return {
            "point": dict(self.point),
            "name": self.name or None,
            "at_bounds": dict(self.at_bounds),
            **(means if list(means) == [OBJECTIVE] else {"objectives": means}),
            "constraints": {
                name: {
                    "response": bound.response,
                    "sense": bound.sense,
                    "bound": bound.bound,
                    **mean.as_dict(),
                }
                for name, (bound, mean) in self.constraints.items()
            },
        }

    def verdict_entry(self) -> dict[str, Any]:
        """Return the part of ``summary.json`` that says what the point is recommended as."""
        infeasible = {"recommended": None, "least_violation": self.entry()}
        return {
            **(infeasible if self.feasible is False else {"recommended": self.entry()}),
            "feasible": "undecided" if self.feasible is None else self.feasible,
            "why": self.why,
            **({"no_interval": self.no_interval} if self.no_interval else {}),
            "remarks": list(self.remarks),
        }

    @classmethod
    def read(cls, entry: Mapping[str, Any], **verdict: Any) -> Self:  # noqa: ANN401
        """Return the point that a part of ``summary.json`` holds."""
        means = entry.get("objectives") or {OBJECTIVE: entry[OBJECTIVE]}
        return cls(
            point={name: float(value) for name, value in entry["point"].items()},
            objectives={name: Estimate.read(mean) for name, mean in means.items()},
            constraints={
                name: (
                    Constraint.of(of["response"], 1 if of["sense"] == "<=" else -1, of["bound"]),
                    Estimate.read(of),
                )
                for name, of in entry["constraints"].items()
            },
            name=entry["name"] or "",
            at_bounds=entry["at_bounds"],
            **verdict,
        )

    @classmethod
    def read_verdict(cls, document: Mapping[str, Any], swept: str = "") -> Self | None:
        """Return the point of a verdict, if there is one; of a sweep, that of its value."""
        entry = document.get("recommended") or document.get("least_violation")
        if not entry:
            return None
        answer = document["feasible"]
        return cls.read(
            entry,
            feasible=answer if isinstance(answer, bool) else None,
            why=document["why"],
            no_interval=document.get("no_interval", ""),
            remarks=document.get("remarks", ()),
            value=float(document[swept]) if swept else 0.0,
        )

    def row(self) -> dict[str, Any]:
        """Return the columns of a table that hold it; a response stands there once."""
        row: dict[str, Any] = dict(self.point)
        for name, mean in self.means.items():
            row |= {name: mean.mean, f"{name}_low": mean.ci_low, f"{name}_high": mean.ci_high}
        return row


def facts_of_point(
    problem: Problem, unit: Floats, excesses: Floats, means: Means
) -> dict[str, Any]:
    """Return fields of a point's result, by the excesses over the last constraints of a problem."""
    point, constraints = problem.point(unit), {}
    bounded = list(problem.constraints.items())[len(problem.constraints) - excesses.shape[1] :]
    for (name, bound), excess in zip(bounded, excesses.T, strict=True):
        values, limits = bound.bound + bound.sign * excess, problem.limits.get(bound.response, ANY)
        for limit in limits:  # they are met although sums round
            values[np.isclose(values, limit, rtol=1e-12, atol=1e-15)] = limit
        constraints[name] = bound, means(values, limits)
    return {
        "point": point,
        "constraints": constraints,
        "name": problem.name_of(unit),
        "at_bounds": problem.at_bounds(point),
    }


def _remarks(facts: Mapping[str, Any], best: Certificate) -> list[str]:
    """Say why a point that the config gives is recommended, and which values are at bounds."""
    remarks, recommended = [], f"{facts['name']}: it is what is recommended,"
    if best.unbeaten is not None:
        change = best.unbeaten
        half = "an unknown error" if change.half_width is None else f"{change.half_width:.2g}"
        what = (
            "the best other certified one has undefined responses"
            if change.undefined
            else f"the best other certified point changes the objective by {change.mean:+.3g} ±"
            f" {half} ({change.n} replications of both)"
        )
        remarks.append(f"{recommended} as it is not beaten beyond the interval: {what}")
    elif facts["name"] and best.feasible is True:
        remarks.append(f"{recommended} no better point was certified")
    sides = facts["at_bounds"].items()
    return remarks + [at_bound(name, facts["point"][name], side) for name, side in sides]


def at_bound(name: str, value: float, side: str) -> str:
    """Say that a value is at a bound of its variable."""
    return (
        f"{name} = {value:.6g} is at its {'lower' if side == 'low' else 'upper'} bound: what lies"
        " beyond was not searched"
    )


def verdict(
    model: Model[object], problem: Problem, runs: Sequence[SolverRun], confidence: float
) -> PointResult | None:
    """Return the best point that some runs came to; None if there are none."""
    if not runs:
        return None
    best = best_run(runs).certificate
    # What is tested is the mean over resamples of a log, so that this is what is shown.
    sampling = INDEPENDENT if isinstance(model.sampling, Resampled) else model.sampling

    def means(values: Floats, limits: tuple[float, float]) -> Estimate:
        return sampling.estimate(values, confidence, limits=limits)

    facts = facts_of_point(problem, best.unit, best.adjusted[:, 1:], means)
    constraints = list(facts["constraints"].values())
    limit, n = "", len(best.outcomes)
    if isinstance(model.sampling, Resampled):  # the probabilities are not about other logs
        broken = (best.outcomes[:, 1:] > 0.0).any(axis=1).sum()
        alone = f"; single resamples break a bound in {broken} of {n} cases" * bool(constraints)
        of = f"{model.sampling.of}{alone}"
        limit = f"; means and intervals are {of}: other months may differ by more"
    # Which searches of one log left budget, and why.
    ends = [f"; {run.task.solver}: {run.ended}" for run in runs if run.ended]
    ended = "".join(ends[:1]) + f" (so did {len(ends) - 1:,} more)" * (len(ends) > 1)
    limits = limits_of_objective(problem.terms, problem.limits)
    result = PointResult(
        **facts,
        objectives={OBJECTIVE: means(best.adjusted[:, 0], limits)},
        feasible=best.feasible,
        why=_why(model, problem, best, constraints) + limit + ended,
        remarks=_remarks(facts, best),
    )
    no_interval = sampling.no_interval(n)
    return replace(result, no_interval=why_no_interval(result.means, no_interval))


def limits_of_objective(
    terms: Sequence[Term], limits: Mapping[str, tuple[float, float]]
) -> tuple[float, float]:
    """Return the least and the largest weighted sum of responses within their limits."""
    low = high = 0.0
    for term in terms:
        if term.weight:
            ends = sorted(term.weight * end for end in limits.get(term.response, ANY))
            low, high = low + ends[0], high + ends[1]
    return low, high


def best_run(runs: Sequence[SolverRun]) -> SolverRun:
    """Return the run that came to the best point."""

    def rank(run: SolverRun) -> tuple[int, float]:
        best = run.certificate
        if best.undefined:
            return 2, float(best.undefined)
        mean = best.adjusted.mean(axis=0)
        return (0, float(mean[0])) if best.feasible else (1, float(mean[1:].max(initial=0.0)))

    return min(runs, key=rank)


def _why(
    model: Model[object], problem: Problem, best: Certificate, constraints: Sequence[Bounded]
) -> str:
    """Say why a point is called feasible, infeasible or neither."""
    if isinstance(model.sampling, OneHistory):
        return _why_of_one_history(best, constraints, model.sampling.of)
    n = len(best.outcomes)
    adjusted = "" if best.adjusted is best.outcomes else ", adjusted by control variates"
    if best.undefined:
        return (
            f"a response is undefined (no matches) in {best.undefined} of {n} fresh replications"
            " of the least violating point found"
        )
    if best.feasible:
        if not constraints:
            return "there are no constraints"
        return (
            f"meets all limits with {100.0 * (1.0 - best.alpha):.4g}% confidence on"
            f" {best.tested or n} fresh replications{adjusted},"
            " unless there are large values too rare to be seen in them"
        )
    excess = np.nanmean(best.adjusted[:, 1:], axis=0)
    worst, mean = constraints[int(excess.argmax())]
    extreme = "least" if worst.sign > 0 else "largest"
    interval, floor = f"[{mean.ci_low:.4g}, {mean.ci_high:.4g}]", ""
    if worst.sign > 0 and worst.response in model.floors:
        value, reason = model.floors[worst.response]
        floor = f"; by theory it cannot fall below {value:.4g} {reason}"
    seen = (
        f"the {extreme} {worst.response} found is {mean.mean:.4g} {interval}"
        f" ({mean.confidence:.0%} interval, {n} fresh replications{adjusted}), the bound is"
        f" {plain_number(worst.bound)}"
    )
    if best.feasible is None:
        return f"{seen}: {_lacking(problem, best)}"
    return f"no feasible point was found, {seen}{floor}"


def _lacking(problem: Problem, best: Certificate) -> str:
    """Say what it takes to decide."""
    bounds, limits = problem.constraints.values(), problem.limits_of_excesses[:, 1]
    for bound, most, column in zip(bounds, limits, best.outcomes[:, 1:].T, strict=True):
        values, counts = np.unique(column, return_counts=True)
        if len(values) > 2 or (len(values) == 2 and counts.min() >= OFTEN):
            continue
        alike = (
            f"all replications gave the same {bound.response}"
            if len(values) == 1
            else f"{bound.response} had two values, one of them once"
        )
        if len(values) == 1 and values[0] < 0.0 < most < np.inf:
            least = np.log(best.alpha) / np.log1p(values[0] / (most - values[0]))
            return f"undecided, as {alike}: a test is passed by {np.ceil(least):,.0f} such or more"
        return (
            f"undecided, as {alike}, and nothing says how often there are others: it takes limits"
            " of its values in the model, or a budget at which each of two values is seen twice"
        )
    return "too close to call, try a larger budget"


def _why_of_one_history(best: Certificate, constraints: Sequence[Bounded], of: str) -> str:
    """Say what holds in the one history that there is, and of nothing else."""
    if best.undefined:
        return f"a response is undefined (no matches) {of} at the least violating point found"
    if best.feasible and not constraints:
        return f"there are no constraints; the objective is that {of}, {RESAMPLES}"
    if best.feasible:
        elsewhere = f"what just holds here is often broken in other months, {RESAMPLES}"
        return f"every constraint holds {of}; {elsewhere}"
    worst, mean = constraints[int(best.outcomes[0, 1:].argmax())]
    what = f"the {'least' if worst.sign > 0 else 'largest'} {worst.response} is"
    if len(constraints) > 1:
        what = f"at the point of least violation {worst.response} is"
    return (
        f"no feasible point was found {of}: {what} {mean.mean:.4g}, the bound is"
        f" {plain_number(worst.bound)}; other months differ"
    )
