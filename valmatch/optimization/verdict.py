"""The points that a study comes to: what is known of them, compared with baselines, and priced."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np

from valmatch.config.config import Config, Constraint
from valmatch.execution import chunks
from valmatch.inputs.fields import plain_number
from valmatch.kernels.arrays import Floats
from valmatch.models.model import ANY, Model, Response
from valmatch.optimization.certification import Certificate, Evaluate
from valmatch.optimization.problem import EDGE, START, TODAY, Problem, Term, with_factors
from valmatch.optimization.solver_run import (
    STAGE,
    Evaluation,
    Evaluator,
    Execution,
    Settings,
    SolverRun,
)
from valmatch.optimization.solvers.search import OFTEN
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.no_interval import why_no_interval
from valmatch.statistics.pairs import PairedDifference, paired
from valmatch.statistics.sampling import INDEPENDENT, OneHistory, Resampled, Sampling
from valmatch.storage.results import columns_of

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
    return replace(result, no_interval=why_no_interval(result.means, sampling.no_interval(n)))


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
    worst, mean = constraints[int(np.nanmean(best.adjusted[:, 1:], axis=0).argmax())]
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


SHORT = {START: START, TODAY: "today"}  # what files call the baselines
RECOMMENDED, LEAST = "recommended", "least_violation"  # what they call the point


def beside(baseline: str, role: str) -> str:
    """Return the key of a summary, and the name of the file, of a comparison with a baseline."""
    return f"{SHORT[baseline]}_and_{role}"


COMPARISONS = [f"{beside(name, role)}.csv" for name in SHORT for role in (RECOMMENDED, LEAST)]

# What these files have of each change, after its mean.
COLUMNS = "std_error", "ci_low", "ci_high", "confidence", "n", "undefined"

# Index of the first replication of the post-analysis, used by no search and no test.
POST_ANALYSIS = 3 * STAGE

# A point gets this part of the budget, and at least and at most so many replications.
SHARE, FEWEST, MOST = 20, 10, 1000

# The model at a point, with its responses and the objective in each replication.
Replications: TypeAlias = tuple[Model[object], Mapping[str, Floats]]

Tables: TypeAlias = dict[str, dict[str, list[Any]]]  # columns of CSV files by name


def post_analysis(
    config: Config,
    model: Model[object],
    problem: Problem,
    run: SolverRun,
    settings: Settings,
    check: Callable[[], None],
) -> tuple[dict[str, Any], Tables]:
    """Compare the point of a run with what the config gives; price the constraints there."""
    # Returns parts of ``summary.json``, and a table of each comparison.
    n = 1 if config.one_history else min(MOST, max(FEWEST, settings.budget // SHARE))
    unit, confidence = run.certificate.unit, 1.0 - settings.alpha
    role = LEAST if run.certificate.feasible is False else RECOMMENDED

    def replications(values: Mapping[str, float]) -> Replications:
        at_point = chunks.build(config, with_factors(config, values))
        indices = range(POST_ANALYSIS, POST_ANALYSIS + n)
        made = chunks.run(at_point, settings.seed, indices, check=check).responses
        columns = dict(zip(at_point.responses.names, made.T, strict=True))
        return at_point, {OBJECTIVE: problem.outcomes(columns)[:, 0], **columns}

    point = problem.point(unit)
    baselines = {START: problem.point(problem.start)}
    if problem.today:
        baselines[TODAY] = dict(problem.today)
    recommended = replications(point)
    units: dict[str, str] = {}
    entries: dict[str, Any] = {}
    tables: Tables = {}
    for name, values in baselines.items():
        pairs, why = _compared(problem, replications(values), recommended, confidence)
        units = {response.name: response.unit for response, _ in pairs}
        of, key = SHORT[name], beside(name, role)
        responses, rows = {}, []
        for response, pair in pairs:
            means, change = {of: pair.a.mean, role: pair.b.mean}, pair.difference.as_dict()
            responses[response.name] = {**means, "difference": change}
            row = {"response": response.name, **means, "difference": change["mean"]}
            row |= {column: change[column] for column in COLUMNS}
            rows.append({**row, "unit": response.unit})
        reason = {"no_interval": why} if why else {}
        points = {"replications": n, of: values, role: point}
        entries[key] = {**points, **reason, "responses": responses}
        tables[key] = columns_of(rows)
    made = n * (1 + len(baselines))
    if role == LEAST:
        return {**entries, "spent_beyond_budget": made}, tables
    if config.one_history:
        why = "cost unknown: not measurable from one log (a sweep of limits shows it)"
        priced = [Price(constraint, why=why) for constraint in problem.constraints.values()]
    else:
        how = Execution(check=check)
        evaluator = Evaluator(config, problem, settings.seed, POST_ANALYSIS, 1 << 62, how)
        bounds, n = list(problem.constraints.values()), max(PILOT, n // 2)
        around, evaluate, sampling = run.evaluations, evaluator.evaluate, model.sampling
        priced = prices(bounds, around, unit, evaluate, n, sampling, confidence)
        made += evaluator.spent
    entries["prices"] = {
        name: price.entry(name, units.get(price.constraint.response, ""), units[OBJECTIVE])
        for name, price in zip(problem.constraints, priced, strict=True)
    }
    entries["spent_beyond_budget"] = made
    return entries, tables


def _compared(
    problem: Problem, baseline: Replications, point: Replications, confidence: float
) -> tuple[list[tuple[Response, PairedDifference]], str]:
    """Compare a point with a baseline in the objective and in every response that both have."""
    # Returns also why changes have no interval, "" if all have one.
    (model, before), (other, after) = baseline, point
    common = [response for response in model.responses if response.name in after]
    units = {response.name: response.unit for response in common}
    of_terms = {units.get(term.response, "") for term in problem.terms}
    unit = of_terms.pop() if len(of_terms) == 1 else ""
    limits = limits_of_objective(problem.terms, problem.limits)
    responses = [Response(OBJECTIVE, unit, "what is minimised", limits=limits), *common]
    first, second = (
        np.column_stack([values[response.name] for response in responses])
        for values in (before, after)
    )
    samplings, ends = (model.sampling, other.sampling), [response.limits for response in responses]
    pairs = paired(first, second, confidence, samplings, limits=ends)
    rows = list(zip(responses, pairs, strict=True))
    changes = {response.name: pair.difference for response, pair in rows}
    return rows, why_no_interval(changes, model.sampling.no_interval(len(first)))


# Prices of constraints: the change of the best objective per unit of its bound.
#
# It is the paired difference of the objective by that of the response between a tighter and a
# looser bound near the recommended point (`steps_along`): at an optimum all small moves that change
# a binding response by a unit change the objective by as much. The best points of two searches
# would not do: they miss the best by more than neighbouring bounds are worth.
#
# A price is given where its interval lies on the side on which prices lie. A constraint is called
# not binding on evidence alone: its response is short of the bound beyond its interval, and going
# there could gain no more than a hundredth of the objective, nor more than the objective is known
# to. Everything else is not distinguishable from 0, or not known, with the reason.

MOST_ALIKE = 25.0  # condition of their changes beyond which constraints cannot be told apart
FAR = 10.0  # a bound is out of reach this many times the range of the response in the search away

# Shares of the objective that are as good as nothing: always, and if it is known no better.
NOTHING, LITTLE = 1e-3, 1e-2

SOME = 0.1  # share of the change between both bounds that a slack counts for at least

UNKNOWN = "cost unknown:"


@dataclass(frozen=True)
class Price:
    """What one constraint costs."""

    constraint: Constraint
    # change of the best objective when its bound is one larger; None where it is not known, not
    # distinguishable from 0, or 0 as the constraint is not binding
    slope: Estimate | None = None
    why: str = ""  # why it is not known; "" where it is, is 0, or is not distinguishable from 0
    # the interval of a change that is not distinguishable from 0; one of its ends is 0
    between: tuple[float, float] | None = None

    def entry(self, name: str, unit: str = "", of_objective: str = "") -> dict[str, Any]:
        """Return the part of ``summary.json`` that holds it, with the units of both."""
        bound = self.constraint
        known = not self.why and self.between is None
        return {
            "response": bound.response,
            "sense": bound.sense,
            "bound": bound.bound,
            "binding": self.slope is not None if known else None,
            "objective_per_unit_of_bound": self.slope.as_dict() if self.slope else None,
            **({"not_distinguishable_from_0": list(self.between)} if self.between else {}),
            "in_words": f"{name} ({bound.response} {bound.sense} {plain_number(bound.bound)}):"
            f" {self._in_words(unit, of_objective)}",
        }

    def _in_words(self, unit: str, of_objective: str) -> str:
        """Say what the constraint costs."""
        bound, slope = self.constraint, self.slope
        if self.why:
            return self.why
        # A share is not changed by 1.
        step = 1.0 if abs(bound.bound) > 1.0 or bound.bound == 0.0 else 0.01
        more = "more allowed" if bound.sign > 0 else "less demanded"
        named = unit.removesuffix("s") if step == 1.0 else unit
        what = " ".join(filter(None, (plain_number(step), named, more)))
        what, unit = f"{what} changes the objective by", of_objective and f" {of_objective}"
        if self.between:
            ends = sorted(step * end * bound.sign for end in self.between)
            # No exponent where they are of a common size.
            low, high = (plain_number(float(f"{end:.3g}")) if end else "0" for end in ends)
            return f"its cost is not distinguishable from 0 ({what} between {low} and {high}{unit})"
        if slope is None or slope.mean is None:
            return "not binding, it costs nothing"
        spread = "" if slope.half_width is None else f" ± {step * slope.half_width:.2g}"
        return f"{what} {step * slope.mean * bound.sign:+.3g}{spread}{unit}"


@dataclass(frozen=True, eq=False)
class _Local:
    """A constraint and what fresh replications say of it around the recommended point."""

    k: int  # its outcome, from 1
    levels: tuple[float, float]  # the mean excess before and after the steps
    changes: Floats  # (n, 1 + constraints): of all outcomes, from the one to the other
    # how far the recommended point is from the bound, 0 unless that is beyond its interval
    slack: float

    @property
    def size(self) -> float:
        """How far the response changes."""
        return abs(self.levels[1] - self.levels[0])

    def multiplier(self, others: "Mapping[_Local, Floats]") -> Floats:
        """Return (n,) values whose mean is the multiplier, and whose spread is its error."""
        # What the constraints that are active let the objective change is taken off.
        change, level = self.changes[:, 0].copy(), self.changes.mean(axis=0)
        for other, values in others.items():
            mean = values.mean()
            change += mean * self.changes[:, other.k] + (values - mean) * level[other.k]
        mean = -change.mean() / level[self.k]
        result: Floats = mean - (change + mean * self.changes[:, self.k]) / level[self.k]
        return result


def prices(
    constraints: Sequence[Constraint],
    evaluations: Sequence[Evaluation],
    unit: Floats,
    evaluate: Evaluate,
    n: int,
    sampling: Sampling,
    confidence: float,
) -> list[Price]:
    """Estimate what each constraint costs at the point that a run came to."""
    around = points_near(evaluations, unit)
    if around is None:
        why = f"{UNKNOWN} the search looked at too few points"
        return [Price(bound, why=why) for bound in constraints]
    seen = np.array([point.mean for point in evaluations if not np.isnan(point.mean).any()])
    center = evaluate(unit, PILOT + n)[PILOT:]
    known = sampling.estimate(center[:, 0], confidence)
    priced: dict[int, Price] = {}
    shown: list[_Local] = []
    for k, bound in enumerate(constraints, 1):
        # How far the response is from the bound, 0 unless that is beyond its interval.
        excess = sampling.estimate(center[:, k], confidence)
        beyond = excess.mean is not None and excess.ci_high is not None and excess.ci_high < 0.0
        slack = -(excess.mean or 0.0) if beyond else 0.0
        if slack > FAR * float(np.ptp(seen[:, k])):
            priced[k] = Price(bound)
            continue
        steps = steps_along(around, k, unit, evaluate, n, 2.0 * slack)
        if steps is not None:
            before, after = (evaluate(point, PILOT + n)[PILOT:] for point in steps)
            levels = float(before[:, k].mean()), float(after[:, k].mean())
            if levels[0] != levels[1] and not np.isnan(after - before).any():
                shown.append(_Local(k, levels, after - before, slack))
                continue
        priced[k] = Price(bound, why=f"{UNKNOWN} no small move of the variables shows it")
    active, left_out = _active(shown, sampling, confidence)
    for local in shown:
        bound = constraints[local.k - 1]
        if local not in active and local.slack == 0.0:
            why = f"{UNKNOWN} it cannot be told apart from that of another constraint"
            priced[local.k] = Price(bound, why=why)
            continue
        values = active[local] if local in active else left_out.get(local, local.multiplier(active))
        priced[local.k] = _price(bound, local, values, local in active, known, sampling)
    return [priced[k] for k in range(1, 1 + len(constraints))]


def _active(
    shown: Sequence[_Local], sampling: Sampling, confidence: float
) -> tuple[dict[_Local, Floats], dict[_Local, Floats]]:
    """Return the constraints that may hold up the objective together, and those that may not."""
    # Each with (n,) values, whose mean is its multiplier and whose spread is the error of that. The
    # constraints are those whose bound is reached, nearest first, and can be told apart; one that
    # the recommended point is short of may not where its multiplier is not above 0.
    left_out: dict[_Local, Floats] = {}
    candidates = [of for of in shown if of.slack == 0.0 or min(of.levels) <= 0.0 <= max(of.levels)]
    candidates.sort(key=lambda local: local.slack / local.size)
    while True:
        chosen: list[_Local] = []
        for local in candidates:
            several = [*chosen, local]
            sizes = np.array([of.size for of in several])
            if np.linalg.cond(_slopes(several) / sizes) <= MOST_ALIKE:
                chosen = several
        multipliers = _multipliers(chosen)
        doubtful: dict[_Local, float] = {}
        for local, values in multipliers.items():
            multiplier = sampling.estimate(values, confidence)
            if local.slack > 0.0 and (multiplier.ci_low is None or multiplier.ci_low <= 0.0):
                doubtful[local] = (multiplier.mean or 0.0) / (multiplier.std_error or 1.0)
        if not doubtful:
            return multipliers, left_out
        least = min(doubtful, key=lambda local: doubtful[local])
        left_out[least] = multipliers[least]
        candidates.remove(least)


def _slopes(chosen: Sequence[_Local]) -> Floats:
    """Return how the response of each constraint changes along the steps of each."""
    return np.array([[a.changes[:, b.k].mean() for b in chosen] for a in chosen])


def _multipliers(chosen: Sequence[_Local]) -> dict[_Local, Floats]:
    """Return (n,) values for each constraint, whose mean is its multiplier."""
    # Along the steps of each, the objective changes by what all of them cost together.
    if not chosen:
        return {}
    slopes, columns = _slopes(chosen), [local.k for local in chosen]
    gains = np.array([local.changes[:, 0] for local in chosen])
    means = -np.linalg.solve(slopes, gains.mean(axis=1))
    rest = gains + [local.changes[:, columns] @ means for local in chosen]
    return dict(zip(chosen, means[:, None] - np.linalg.solve(slopes, rest), strict=True))


def _price(
    bound: Constraint,
    local: _Local,
    multiplier: Floats,
    active: bool,
    known: Estimate,
    sampling: Sampling,
) -> Price:
    """Say what a constraint costs, given the values of its multiplier and the objective."""
    price = sampling.estimate(multiplier, known.confidence)
    if price.ci_low is None or price.ci_high is None:
        return Price(bound, why=f"{UNKNOWN} it has no interval")
    if not active:
        # What all of the slack could gain; where that is next to nothing, so would be the gain.
        gain = price.ci_high * max(local.slack, SOME * local.size)
        size = abs(known.mean or 0.0)
        if gain <= max(NOTHING * size, min(LITTLE * size, known.half_width or 0.0)):
            return Price(bound)
        if price.ci_low > 0.0:
            return Price(bound, why=f"{UNKNOWN} the search stopped before the limit")
    if price.ci_high <= 0.0 and price.ci_low < 0.0:
        what = "the objective also falls where the response moves away from its bound"
        return Price(bound, why=f"{UNKNOWN} {what}")
    if price.ci_low <= 0.0:
        low, high = sorted((0.0, -bound.sign * price.ci_high))
        return Price(bound, between=(low, high))
    return Price(bound, sampling.estimate(-bound.sign * multiplier, known.confidence))


# Steps go where the search saw the response change most, in proportion to how far the search went:
# it is long where the objective is flat, so that this is about the path of the optimum as the bound
# moves. Pilot replications, used for nothing else, say how long steps must be.

NEAR = 4  # points near the recommended one that are looked at, for each variable and one more
PILOT = 10  # replications that tell how long steps must be

TRIALS = 7
GROWTH = 3.0  # by which factor steps are made longer or shorter, at most

# Change of the response between both points, in its standard errors: wanted, and at least.
CLEAR, LEAST_CLEAR = 20.0, 6.0

SAME = 0.4  # logarithm of two lengths that are as good as one
SHORTEST, LONGEST = 1e-3, 0.5  # lengths of a step in the unit cube


# Points of the unit cube, their mean outcomes, and weights of sum 1.
Near: TypeAlias = tuple[Floats, Floats, Floats]


def points_near(evaluations: Sequence[Evaluation], unit: Floats) -> Near | None:
    """Return the points near `unit` as they were seen last; None if there are too few."""
    # More replications and less distance count more.
    last = {tuple(evaluation.unit.tolist()): evaluation for evaluation in evaluations}
    seen = [evaluation for evaluation in last.values() if not np.isnan(evaluation.mean).any()]
    if len(seen) < 2 * (1 + len(unit)):
        return None
    units = np.array([evaluation.unit for evaluation in seen])
    distances = np.linalg.norm(units - unit, axis=1)
    order = np.argsort(distances, kind="stable")
    nearest = order[: NEAR * (1 + len(unit))]
    reach = distances[order[: len(nearest) + 1]][-1] * (1.0 + 1e-9)
    closeness = (1.0 - (distances[nearest] / reach) ** 3) ** 3
    weights = np.array([seen[k].n for k in nearest]) * closeness
    return units[nearest], np.array([seen[k].mean for k in nearest]), weights / weights.sum()


def steps_along(
    around: Near, k: int, unit: Floats, evaluate: Evaluate, n: int, least: float
) -> Floats | None:
    """Return the points before and after `unit` between which outcome `k` changes clearly."""
    # By `least`, if they can. None if there are none. Variables at their bounds stay there, unless
    # no other is left.
    units, means, weights = around
    away = units - weights @ units
    excess = means[:, k] - weights @ means[:, k]
    direction = np.ones(1) if len(unit) == 1 else (weights * excess) @ away
    held = (unit < EDGE) | (unit > 1.0 - EDGE)
    if (direction[~held] != 0.0).any():
        direction[held] = 0.0
    else:  # into the cube, either all that do so forwards or all that do so backwards
        inward = direction * np.where(unit < 0.5, 1.0, -1.0)
        sides = np.where(inward > 0.0, direction, 0.0), np.where(inward < 0.0, direction, 0.0)
        direction = max(sides, key=lambda side: float(np.linalg.norm(side)))
    norm = float(np.linalg.norm(direction))
    if not norm > 0.0:
        return None
    direction = direction / norm
    spread = math.sqrt(float(weights @ ((units - unit) @ direction) ** 2))
    length, steps, clearest = min(LONGEST / 4.0, max(SHORTEST, spread)), None, LEAST_CLEAR
    for _ in range(TRIALS):
        points = _points(unit, direction, length)
        before, after = (evaluate(point, PILOT)[:, k] for point in points)
        change = after - before
        error, size = float(change.std(ddof=1)) / math.sqrt(n), abs(float(change.mean()))
        clear = size / max(error, 1e-12 * size) if size else 0.0
        if min(CLEAR, clear) >= clearest:
            steps, clearest = points, min(CLEAR, clear)
        # Undefined outcomes are as bad as a change that is far too large.
        wanted = max(CLEAR / clear, least / size) if clear > 0.0 else GROWTH if size == 0.0 else 0.0
        longer = length * min(GROWTH, max(1.0 / GROWTH, wanted))
        longer = min(LONGEST, max(SHORTEST, longer))
        if abs(math.log(longer / length)) < SAME:
            break
        length = longer
    return steps


def _points(unit: Floats, direction: Floats, length: float) -> Floats:
    """Return a point on each side, equally far; on one side alone if that is where the room is."""
    moving = direction != 0.0
    far = (np.where(direction > 0.0, 1.0, 0.0) - unit)[moving] / direction[moving]
    back = (np.where(direction > 0.0, 0.0, 1.0) - unit)[moving] / direction[moving]
    up, down = float(far.min()), float(-back.max())
    if min(up, down) >= 0.5 * min(length, max(up, down)):
        ends = -min(length, up, down), min(length, up, down)
    else:
        ends = (0.0, min(length, up)) if up > down else (-min(length, down), 0.0)
    return np.array([np.clip(unit + end * direction, 0.0, 1.0) for end in ends])
