"""Tables of systems under common random numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from valmatch.game_logs.blocks import Difference
from valmatch.optimization.problem import START, TODAY
from valmatch.optimization.solvers.registry import label_of_solver
from valmatch.statistics.estimates import Estimate, t_quantile
from valmatch.statistics.rounding import arms_of, decimals, formatted, mean_and_half
from valmatch.text.terminal import COUNT, Sheet, aligned

# Tables of `optimize`: points and their means, solvers, Pareto fronts, sweeps.

ANSWERS = {True: "yes", False: "no", None: "undecided"}

WORDS_OF_SOLVERS = (
    "gap: distance from the {}, as a share of it; 100 % where the point that a run would recommend"
    " is truly infeasible. area: mean gap over the budget. <= 5 %, <= 10 %: share of the runs whose"
    " certified point has no larger gap. wrong: share of the runs that certified a point which is"
    " truly infeasible."
)

SHARES = (
    "area_under_curve",
    "within_5_percent",
    "within_10_percent",
    "wrongly_called_feasible",
)
"""What is said of each solver besides its median objective; the first of them is no share."""

Point = Mapping[str, float]


class Limit(NamedTuple):
    """The mean of a response that has a bound."""

    # response, sense: the response; "<=" or ">="
    response: str
    sense: str
    bound: float  # the bound
    mean: Estimate  # the mean

    @property
    def in_words(self) -> str:
        """The bound."""
        return f"{self.sense} {self.bound:g}"


class SweptPoint(NamedTuple):
    """What was found for one value of a sweep."""

    value: float  # the value
    objective: Estimate  # the mean objective of the point
    feasible: bool | None  # whether the point is certified, None for undecided
    point: Point  # the point


def point_sheet(role: str, point: Point, start: Point, today: Point | None) -> Sheet:
    """Return a table of a point beside those that the config gives."""
    sheet = Sheet.of("variable", role, START, *([TODAY] if today else []))
    values = aligned([f"{value:.4g}" for value in point.values()])
    for name, shown in zip(point, values, strict=True):
        own = [f"{today[name]:.4g}"] if today else []
        sheet.add(name, shown, f"{start[name]:.4g}" if name in start else "", *own)
    return sheet


def limits_sheet(objective: Estimate, limits: Sequence[Limit]) -> Sheet:
    """Return a table of the means of a point."""
    sheet = Sheet.of("mean of", "value", f"± {objective.confidence:.0%}", COUNT, "bound")
    rows = [("objective", objective, "")]
    rows += [(limit.response, limit.mean, limit.in_words) for limit in limits]
    for name, mean, bound in rows:
        value, half = mean_and_half(mean)
        sheet.add(name, value, half, str(mean.n), bound)
    return sheet


def solvers_sheet(solvers: Mapping[str, Mapping[str, Any]], reference: str, best: Any) -> Sheet:  # noqa: ANN401
    """Return a table of a line for each solver."""
    heads = ("solver", "runs", "median objective", "area", "<= 5 %", "<= 10 %", "wrong")
    known = "none" if best is None else f"{best:g}"
    sheet = Sheet.of(*heads, title=f"Solvers, judged by fresh replications; {reference} {known}")
    for name, line in solvers.items():
        median = line["median_objective"]["value"]
        area, *shares = (line[key]["value"] for key in SHARES)
        shown = "none" if median is None else f"{median:.{max(1, decimals(median, 3))}f}"
        cells = [f"{area:.3f}", *(f"{share:.0%}" for share in shares)]
        sheet.add(label_of_solver(name), str(line["runs"]), shown, *cells)
    sheet.notes.append(WORDS_OF_SOLVERS.format(reference))
    return sheet


def front_sheet(points: Sequence[tuple[Mapping[str, Estimate], Point]]) -> Sheet:
    """Return a table of the points of a Pareto front, objectives first."""
    first, point = points[0]
    sheet = Sheet.of(*(part for name in first for part in (name, "±")), *point)
    columns = []
    for name in first:
        cells = [mean_and_half(objectives[name]) for objectives, _ in points]
        columns += [aligned([cell[side] for cell in cells]) for side in (0, 1)]
    for number, (_, values) in enumerate(points):
        own = [f"{x:.4g}" for x in values.values()]
        sheet.add(*(column[number] for column in columns), *own)
    return sheet


def sure_of(objectives: Iterable[Estimate]) -> str:
    """Return what to call points that keep their bounds: of one replication none is certified."""
    return "certified" if any(found.n > 1 for found in objectives) else "feasible"


def sweep_sheet(name: str, found: Sequence[SweptPoint]) -> Sheet:
    """Return a table of the certified point of each value of a sweep."""
    variables = list(found[0].point) if found else []
    sure = sure_of(one.objective for one in found)
    sheet = Sheet.of(name, "objective", "± 95%", sure, *variables)
    for value, objective, feasible, point in found:
        mean, half = mean_and_half(objective)
        own = [f"{x:.4g}" for x in point.values()]
        sheet.add(f"{value:g}", mean, half, ANSWERS[feasible], *own)
    return sheet


def slopes_sheet(name: str, slopes: Sequence[tuple[float, float, Estimate]]) -> Sheet:
    """Return a table of what a bound costs between each two certified values of a sweep."""
    level = slopes[0][2].confidence
    title = f"what {name} costs between two certified bounds"
    sheet = Sheet.of("from", "to", "objective per unit", f"± {level:.0%}", COUNT, title=title)
    for low, high, slope in slopes:
        mean, half = mean_and_half(slope)
        sheet.add(f"{low:g}", f"{high:g}", mean, half, str(slope.n))
    return sheet


# Tables of `rate`: scores of predictions, of one system and of several.


def scores_sheet(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Sheet:
    """Return a table of how well games were predicted."""
    names = ["predictions", "games", "accuracy", "log loss", "± 95%", "Brier score"]
    if rows[0][1].get("three_way_log_loss") is not None:
        names.append("three-way log loss")
    sheet = Sheet.of(*names)
    for label, scores in rows:
        sheet.add(label, *_cells_of(scores))
    return sheet


def _cells_of(scores: Mapping[str, Any]) -> list[str]:
    """Return the cells of a row of scores."""
    loss, width = scores["log_loss"], half_of(scores)
    half = formatted(width, ".4f")
    if loss is not None and width is not None and width > loss:  # no loss is below 0
        half = arms_of((loss, width), half)
    cells = [formatted(scores["accuracy"], ".4f"), formatted(loss, ".4f"), half]
    cells.append(formatted(scores["brier_score"], ".4f"))
    three_way = scores.get("three_way_log_loss")
    if three_way is not None:
        cells.append(f"{three_way:.4f}")
    return [f"{scores['games']}", *cells]


def half_of(scores: Mapping[str, Any]) -> float | None:
    """Return half the length of the 95% interval of the log loss of so many games."""
    error = scores["log_loss_std_error"]
    return None if error is None else t_quantile(0.975, scores["games"] - 1) * error


def systems_sheet(
    leader: str,
    means: Mapping[str, Mapping[str, Difference]],
    differences: Mapping[str, Mapping[str, Difference]],
) -> Sheet:
    """Return a table of how well systems predicted, and how far they fall behind the leader."""
    names, columns = ["system"], [list(means)]
    for measure in means[leader]:
        pairs = [_rounded_to(own[measure]) for own in differences.values()]
        columns.append([formatted(own[measure].mean, ".4f") for own in means.values()])
        columns += [aligned(side) for side in zip(*pairs, strict=True)]
        names += [named(measure), f"- {leader}", "± 95%"]
    sheet = Sheet.of(*names)
    for cells in zip(*columns, strict=True):
        sheet.add(*cells)
    return sheet


def named(measure: str) -> str:
    """Return the name of a measure in words."""
    return measure.replace("_", " ").replace("brier", "Brier").replace("three ", "three-")


def _rounded_to(difference: Difference) -> tuple[str, str]:
    """Return a difference and its half-width; nothing of what differs from itself."""
    if difference.mean is None or not (difference.mean or difference.half_width):
        return "", ""
    half = formatted(difference.half_width, ".4f")
    arms = difference.arms
    return formatted(difference.mean, "+.4f"), arms_of(arms, half) if arms else half
