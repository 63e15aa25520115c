"""Tables of systems under common random numbers."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from valmatch.game_logs.blocks import Difference
from valmatch.models.model import Response
from valmatch.optimization.problem import START, TODAY
from valmatch.optimization.solvers.registry import label_of_solver
from valmatch.statistics.control_variates import Adjusted
from valmatch.statistics.estimates import Estimate, t_quantile
from valmatch.statistics.rounding import arms_of, decimals, formatted, mean_and_half, rounded
from valmatch.statistics.windows import PolicyDifference
from valmatch.text.terminal import COUNT, UNIT, Sheet, aligned, labelled

# Tables of responses of parts: of bands of players, of hours of the day, of days of the week.

PARTS = {
    "rating": "band",
    "hour": "hour",
    "weekday": "weekday",
    "size": "size",
    "region": "home",
    "skill": "skill",
    "attribute": "attribute",
    "step": "step",
    "rule": "rule",
    "reason": "reason",
}
"""What the rows of tables of parts are called."""

Side = tuple[str, Sequence[str]]  # a column: its name, and a cell for each response


def listed(response: Response, chosen: Collection[str]) -> bool:
    """Return whether a response has a row of its own: if it is chosen, else if of no part."""
    return response.name in chosen if chosen else response.part is None


def parts_sheets(responses: Sequence[Response], sides: Sequence[Side]) -> Iterator[Sheet]:
    """Yield tables of the responses of parts, a row for each part and a column for each measure.

    The first row has their units.
    """
    for title, names, measures in _divisions(responses):
        heads, columns = [title], [["", *names]]
        for measure, unit, own in measures:
            for side, texts in (side for side in sides if any(side[1])):
                heads.append(side or measure)
                above = f"[{unit}]" if unit and not side else ""
                columns.append([above, *aligned([texts[k] for k in own])])
        if not any(unit for _, unit, _ in measures):
            columns = [column[1:] for column in columns]
        yield _sheet("", heads, columns)


def compared_parts_sheets(responses: Sequence[Response], sides: Sequence[Side]) -> Iterator[Sheet]:
    """Yield tables of the responses of parts under several systems, one for each measure."""
    for title, names, measures in _divisions(responses):
        for measure, unit, own in measures:
            columns = [aligned([texts[k] for k in own]) for _, texts in sides]
            heads = [title, *(side for side, _ in sides)]
            yield _sheet(labelled(measure, unit), heads, [names, *columns])


def _divisions(
    responses: Sequence[Response],
) -> Iterator[tuple[str, list[str], list[tuple[str, str, list[int]]]]]:
    """Yield what is divided, the names of its parts, and each measure: name, unit, places."""
    for of, title in PARTS.items():
        parts = [(response.part, k) for k, response in enumerate(responses) if response.part]
        parts = [(part, k) for part, k in parts if part.of == of]
        measures = []
        for measure in dict.fromkeys(part.measure for part, _ in parts):
            own = [k for part, k in parts if part.measure == measure]
            measures.append((measure, responses[own[0]].unit, own))
        if measures:
            yield title, list(dict.fromkeys(part.name for part, _ in parts)), measures


def _sheet(title: str, heads: Sequence[str], columns: Sequence[Sequence[str]]) -> Sheet:
    sheet = Sheet.of(*heads, title=title)
    for row in zip(*columns, strict=True):
        sheet.add(*row)
    return sheet


def differences_columns(
    means: Sequence[Side], variants: Sequence[tuple[str, Sequence[Estimate]]], confidence: float
) -> list[Side]:
    """Return the columns of numbers of a comparison: means, differences, counts of a pair."""
    columns = list(means)
    for name, differences in variants:
        cells = [mean_and_half(difference) for difference in differences]
        half = f"± {confidence:.0%}" if len(variants) == 1 else "±"
        columns.append((f"{name.upper()} - A", [mean for mean, _ in cells]))
        columns.append((half, [width for _, width in cells]))
    if len(variants) == 1:
        columns.append((COUNT, [str(difference.n) for difference in variants[0][1]]))
    return columns


def compared_sheet(
    responses: Sequence[Response], columns: Sequence[Side], places: Sequence[int]
) -> Sheet:
    """Return a table of some responses, by their places, with their units."""
    sheet = Sheet.of("response", *(name for name, _ in columns), UNIT)
    shown = [aligned([cells[k] for k in places]) for _, cells in columns]
    for k, *cells in zip(places, *shown, strict=True):
        sheet.add(responses[k].name, *cells, responses[k].unit)
    return sheet


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


# Tables of replays of tickets: ends, waits, steps, rules, and what a game's log says.

ENDS = ("matches", "matched", "timed_out", "cancelled", "failed", "searching")
WAITS = {
    "time_to_match": "time to match, mean",
    "time_to_match_p50": "time to match, half",
    "time_to_match_p90": "time to match, 90 %",
}


def comparison_sheet(compared: Mapping[str, Any]) -> Sheet:
    """Return how tickets ended in a game's log and by the rules."""
    sheet = Sheet.of("tickets", "in the log", "by the rules", left=["tickets"])
    log, rules = compared["log"], compared["rules"]
    for name in ENDS:
        sheet.add(name.replace("_", " "), f"{log[name]:,}", f"{rules[name]:,}")
    for name, said in WAITS.items():
        sheet.add(said, seconds(log[name]), seconds(rules[name]))
    tickets = sum(log[name] for name in ENDS[1:])
    sheet.notes.append(f"{compared['same_end']:,} of {tickets:,} tickets end alike")
    both, difference = compared["matched_in_both"], compared["wait_difference"]
    if difference is not None:
        longer = "longer" if difference >= 0 else "shorter"
        said = f"by the rules they wait {abs(difference):.4g} s {longer}"
        sheet.notes.append(f"{both:,} are matched in both: {said}")
    same = compared["same_matches"]
    sheet.notes.append(f"{same:,} of {log['matches']:,} matches of the log have the same tickets")
    return sheet


def judged_sheet(compared: Mapping[str, Any], rows: Sequence[tuple[str, float, float]]) -> Sheet:
    """Return how often rules passed and failed, in the log where it says so.

    Shapes: `rows` (str, float, float).
    """
    logged = compared.get("judged_in_log", {})
    heads = ["rule", "passed", "failed", *(["passed in the log", "failed in it"] if logged else [])]
    sheet = Sheet.of(*heads, left=["rule"])
    for name, passed, failed in rows:
        own = logged.get(name)
        theirs = [f"{own['passed']:,}", f"{own['failed']:,}"] if own else []
        sheet.add(name, f"{passed:,.0f}", f"{failed:,.0f}", *theirs)
    return sheet


def ends_sheet(statuses: Sequence[str], unmatchable: int) -> Sheet:
    """Return how many tickets ended how."""
    sheet = Sheet.of("end", "tickets", "share", left=["end"])
    for status in dict.fromkeys(statuses):
        number = list(statuses).count(status)
        said = status.lower().replace("_", " ") or "after the horizon"
        sheet.add(said, f"{number:,}", f"{number / len(statuses):.1%}")
    if unmatchable:
        sheet.notes.append(f"{unmatchable:,} tickets lack an attribute and cannot be matched")
    return sheet


def waits_sheet(waits: Mapping[int, Sequence[float]], tickets: Mapping[int, int]) -> Sheet:
    """Return waits by the size of tickets."""
    sheet = Sheet.of("players", "tickets", "matched", "mean wait", "half", "90 %", left=[])
    for size, number in sorted(tickets.items()):
        own = waits.get(size, ())
        share = f"{len(own) / number:.1%}" if number else ""
        mean = math.fsum(own) / len(own) if own else None
        levels = [seconds(quantile(own, level)) for level in (0.5, 0.9)]
        sheet.add(f"{size}", f"{number:,}", share, seconds(mean), *levels)
    return sheet


def steps_sheet(rows: Sequence[tuple[str, float, str, float]], matches: int) -> Sheet:
    """Return which steps held when matches were proposed.

    Shapes: `rows` (str, float, str, float).
    """
    sheet = Sheet.of("value", "from", "is", "matches", "share", left=["value"])
    last = ""
    for what, begins, value, number in rows:
        share = f"{number / matches:.1%}" if matches else ""
        sheet.add("" if what == last else what, f"{begins:g} s", value, f"{number:,.0f}", share)
        last = what
    return sheet


def quantile(values: Sequence[float], level: float) -> float | None:
    """Return the least value that so large a share of sorted values does not exceed."""
    return values[max(math.ceil(level * len(values)) - 1, 0)] if len(values) else None


def seconds(value: float | None) -> str:
    """Return seconds as tables show them."""
    return "" if value is None else f"{value:.1f} s"


# Tables of `simulate` and `replicate`: responses, means, differences, points of a design.


class Means(NamedTuple):
    """What replications say of the mean of each response."""

    responses: Sequence[Response]  # the responses
    estimates: Sequence[Estimate]  # one for each
    adjusted: Sequence[Adjusted]  # one for each; none without control variates
    confidence: float  # level of the intervals


def responses_sheets(
    responses: Sequence[Response], values: Sequence[float], chosen: Collection[str] = ()
) -> Iterator[Sheet]:
    """Yield the tables of one replication; of the responses that are `chosen`, if any are."""
    numbers = [
        "undefined" if math.isnan(v) else f"{v:.0f}" if r.whole else f"{v:.4f}"
        for r, v in zip(responses, values, strict=True)
    ]
    sheet = Sheet.of("response", "value", UNIT)
    for response, number in zip(responses, aligned(numbers), strict=True):
        if listed(response, chosen):
            sheet.add(response.name, number, response.unit)
    yield sheet
    if not chosen:
        yield from parts_sheets(responses, [("", numbers)])


def means_sheets(found: Means, chosen: Collection[str] = ()) -> Iterator[Sheet]:
    """Yield tables of mean, half-width and count of each response: one, or one for each policy.

    Only of the responses that are `chosen`, if any are. Titles are the policies, "" for none.
    """
    means, halves = zip(*map(mean_and_half, found.estimates), strict=True)
    counts = [f"{estimate.n}" for estimate in found.estimates]
    columns = [aligned(means), aligned(halves), counts]
    names = ["response", "mean", f"± {found.confidence:.0%}", COUNT]
    if found.adjusted:
        pairs = [_adjusted_and_half(adjusted) for adjusted in found.adjusted]
        columns += [aligned(side) for side in zip(*pairs, strict=True)]
        gains = [formatted(adjusted.variance_reduction, ".1f") for adjusted in found.adjusted]
        columns.append(aligned(gains))
        names += ["adjusted", "±", "gain"]
    for policy, places in _by_policy(found.responses, chosen).items():
        sheet = Sheet.of(*names, UNIT, title=policy)
        for place in places:
            response = found.responses[place]
            cells = [column[place] for column in columns]
            sheet.add(_name_under(policy, response), *cells, response.unit)
        yield sheet


def means_of_parts_sheets(found: Means) -> Iterator[Sheet]:
    """Yield tables of the means of bands, hours and weekdays."""
    means, halves = zip(*map(mean_and_half, found.estimates), strict=True)
    yield from parts_sheets(found.responses, [("", means), ("±", halves)])


def _by_policy(responses: Sequence[Response], chosen: Collection[str]) -> dict[str, list[int]]:
    """Return the places of responses that have rows of their own, by policy, "" for none."""
    found: dict[str, list[int]] = {}
    for place, response in enumerate(responses):
        if listed(response, chosen):
            policy = response.window.policy if response.window else ""
            found.setdefault(policy, []).append(place)
    return found


def _name_under(policy: str, response: Response) -> str:
    """Return what a response is called in the table of a policy."""
    window = response.window
    return f"{window.measure}.{window.games}" if policy and window else response.name


def _adjusted_and_half(adjusted: Adjusted) -> tuple[str, str]:
    if adjusted.mean_cv is None or adjusted.ci_high_cv is None:
        return "", ""
    assert adjusted.ci_low_cv is not None
    arms = adjusted.mean_cv - adjusted.ci_low_cv, adjusted.ci_high_cv - adjusted.mean_cv
    mean, half = rounded(adjusted.mean_cv, max(arms))
    even = math.isclose(*arms, rel_tol=1e-6, abs_tol=1e-9 * abs(adjusted.mean_cv))
    return mean, half if even else arms_of(arms, half)


def differences_sheets(
    rows: Sequence[tuple[PolicyDifference, str]], confidence: float
) -> Iterator[Sheet]:
    """Yield a table of the paired differences between each two policies."""
    for pair, own in groupby(rows, key=lambda row: (row[0].policy, row[0].other)):
        found = list(own)
        cells = [mean_and_half(row.estimate) for row, _ in found]
        columns = [aligned([cell[side] for cell in cells]) for side in (0, 1)]
        heads = ("response", "difference", f"± {confidence:.0%}", COUNT, UNIT)
        sheet = Sheet.of(*heads, title=f"{' - '.join(pair)}, paired")
        for (row, unit), *numbers in zip(found, *columns, strict=True):
            sheet.add(f"{row.measure}.{row.games}", *numbers, str(row.estimate.n), unit)
        yield sheet


def at_every_point(points: Sequence[Sequence[Response]]) -> list[Response]:
    """Return the responses that every point of a design has, a measure's policies side by side.

    Factors may decide of which stretches of a history there are responses.
    """
    common = set.intersection(*({response.name for response in point} for point in points))
    found: dict[object, list[Response]] = {}
    for response in points[0]:
        if response.name in common:
            window = response.window
            measure = (window.measure, window.games) if window else response.name
            found.setdefault(measure, []).append(response)
    return [response for measure in found.values() for response in measure]


def points_sheet(
    points: Sequence[Mapping[str, object]],
    estimates: Sequence[Mapping[str, Estimate]],
    shown: Sequence[str],
    names: Sequence[str],
) -> Sheet:
    """Return a table of the means of some responses at each point of a design."""
    sheet = Sheet.of(*names, *(part for name in shown for part in (name, "±")))
    levels = [
        [f"{value:.6g}" if isinstance(value, float) else str(value) for value in point.values()]
        for point in points
    ]
    columns = []
    for name in shown:
        cells = [mean_and_half(found[name]) if name in found else ("", "") for found in estimates]
        columns += [aligned([cell[side] for cell in cells]) for side in (0, 1)]
    for number, own in enumerate(levels):
        sheet.add(*own, *(column[number] for column in columns))
    return sheet
