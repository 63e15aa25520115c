"""What the commands print on the terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from valmatch.cli.console import title_of
from valmatch.model import Response
from valmatch.optimization.problem import START, TODAY
from valmatch.printable import one_line, printable, shortened
from valmatch.statistics.estimates import Estimate, t_quantile

if TYPE_CHECKING:
    from valmatch.experiments.compare import Comparison
    from valmatch.experiments.compare_variants import ComparedVariants
    from valmatch.experiments.replications import Replications
    from valmatch.experiments.side_runs import Change
    from valmatch.experiments.sweep import DesignReplications
    from valmatch.game_logs.blocks import Difference
    from valmatch.game_logs.compared import ComparedSystems
    from valmatch.game_logs.predicting import PredictedGames
    from valmatch.game_logs.rating import RatedLog
    from valmatch.game_logs.roster import Ranking
    from valmatch.game_logs.scores import Scores
    from valmatch.game_logs.tuning import Tuning
    from valmatch.optimization.afterwards import Afterwards
    from valmatch.optimization.against_start import AgainstStart
    from valmatch.optimization.frontier import Frontier
    from valmatch.optimization.optimize import Study
    from valmatch.optimization.pareto import Front
    from valmatch.optimization.solver_comparison import SolverComparison
    from valmatch.response_list import Listed
    from valmatch.statistics.control_variates import Adjusted

__all__ = [
    "searched",
    "show_comparison",
    "show_experiment_points",
    "show_front",
    "show_frontier",
    "show_listed",
    "show_predictions",
    "show_problem_list",
    "show_rating",
    "show_replications",
    "show_responses",
    "show_solver_list",
    "show_solvers",
    "show_study",
    "show_systems",
    "show_variants",
]


ANSWERS = {True: "yes", False: "no", None: "undecided"}

WIDTH = 80
"""Columns that running text is wrapped at."""

WORDS_OF_SOLVERS = (
    "gap: distance from the {}, as a share of it; 100 % where the point that a run would recommend"
    " is truly infeasible. area: mean gap over the budget. <= 5 %, <= 10 %: share of the runs whose"
    " certified point has no larger gap. wrong: share of the runs that certified a point which is"
    " truly infeasible."
)

PARTS = {"rating": "band", "hour": "hour"}
"""What the rows of tables of parts are called."""

MEANS = 3
"""Responses of which the points of a design are printed."""

CHANGES = 8
"""Differences between two configs that are printed."""

DECIMALS = 12
"""Most decimals of a number; with more it is written with a power of ten."""

CELL = 100
"""Most characters of a cell."""

MEANING = 24
"""Characters of a line of what a response means, at least."""

BEST = 10
"""Players that are printed."""

COUNTS, LAST_GAME = ("wins", "losses", "draws"), "last_game"
"""What is counted of players, and when they played last."""

LEFT = (
    "response",
    "unit",
    "band",
    "hour",
    "meaning",
    "variable",
    "mean of",
    "bound",
    "solver",
    "certified",
    "player",
    "predictions",
    "game",
    "side",
    "newcomers",
    "system",
    "last game",
    "what it does",
    "needs",
    "from",
    "problem",
    "constraints",
)
"""Columns of text."""


def show_responses(
    header: str,
    responses: Sequence[Response],
    values: Sequence[float],
    chosen: Collection[str] = (),
) -> None:
    """Print the responses of one replication; those that are `chosen`, if any are."""
    numbers = [
        "undefined" if math.isnan(v) else f"{v:.0f}" if r.whole else f"{v:.4f}"
        for r, v in zip(responses, values, strict=True)
    ]
    table = _table("response", "value", "unit")
    for response, number in zip(responses, _aligned(numbers), strict=True):
        if _listed(response, chosen):
            _row(table, response.name, number, response.unit)
    _print(header, table)
    if not chosen:
        _show_parts(responses, [("", numbers)])


def show_listed(listed: Sequence[Listed]) -> None:
    """Print what each response is, and what asks for it."""
    for group, rows in groupby(listed, key=lambda one: one.group):
        table = _table("response", "unit", "meaning")
        responses = [one.response for one in rows]
        taken = sum(
            2 + max(map(len, texts))
            for texts in (
                ["response", *(r.name for r in responses)],
                ["unit", *(r.unit for r in responses)],
            )
        )
        for response in responses:
            lines = textwrap.wrap(response.meaning, max(MEANING, WIDTH - taken))
            for k, line in enumerate(lines or [""]):
                _row(table, *((response.name, response.unit) if k == 0 else ("", "")), line)
        _print(f"\nmeasure: [{group}]" if group else "", table)


def show_replications(header: str, result: Replications, chosen: Collection[str] = ()) -> None:
    """Print mean, half-width and count of each response; of those that are `chosen`, if any are."""
    estimates = list(result.estimates.values())
    means, halves = zip(*map(_mean_and_half, estimates), strict=True)
    columns = [_aligned(means), _aligned(halves), [f"{one.n}" for one in estimates]]
    names = ["response", "mean", f"± {result.confidence:.0%}", "n"]
    if result.adjusted:
        found = list(result.adjusted.values())
        pairs = [_adjusted_and_half(one) for one in found]
        columns += [_aligned(side) for side in zip(*pairs, strict=True)]
        columns.append(_aligned([_shown(one.variance_reduction, ".1f") for one in found]))
        names += ["adjusted", "±", "gain"]
    table = _table(*names, "unit")
    for response, *cells in zip(result.responses, *columns, strict=True):
        if _listed(response, chosen):
            _row(table, response.name, *cells, response.unit)
    _print(header, table)
    _show_no_interval(result.no_interval_of(chosen))
    _show_no_interval(result.not_adjusted_of(chosen), "not adjusted")
    if not chosen:
        _show_parts(result.responses, [("", means), ("±", halves)])
    _show_differences(result)


def _listed(response: Response, chosen: Collection[str]) -> bool:
    """Return whether a response has a row of its own: if it is chosen, else if of no part."""
    return response.name in chosen if chosen else response.part is None


def _show_parts(responses: Sequence[Response], sides: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Print the responses of parts, a row for each part and a column for each measure.

    Parameters
    ----------
    responses : sequence of Response
        All responses.
    sides : sequence of tuple of str and sequence of str
        What is printed of each: the name of the column, "" for that of the measure, and the cells.
    """
    for of, title in PARTS.items():
        parts = [(one.part, k) for k, one in enumerate(responses) if one.part]
        parts = [(part, k) for part, k in parts if part.of == of]
        if not parts:
            continue
        names, columns = [title], [list(dict.fromkeys(part.name for part, _ in parts))]
        for measure in dict.fromkeys(part.measure for part, _ in parts):
            own = [k for part, k in parts if part.measure == measure]
            for side, texts in (side for side in sides if any(side[1])):
                names.append(side or measure)
                columns.append(_aligned([texts[k] for k in own]))
        made = _table(*names)
        for row in zip(*columns, strict=True):
            _row(made, *row)
        print()
        _print("", made, repeated=1)


def _show_differences(result: Replications) -> None:
    """Print the paired differences between each two policies."""
    found = result.paired_columns()
    cells = [_mean_and_half(one.estimate) for one in result.differences]
    pairs = zip(found["policy"], found["other"], strict=True)
    for pair, rows in groupby(enumerate(pairs), key=itemgetter(1)):
        places = [place for place, _ in rows]
        columns = [_aligned([cells[place][side] for place in places]) for side in (0, 1)]
        table = _table("response", "difference", f"± {result.confidence:.0%}", "n", "unit")
        for place, *numbers in zip(places, *columns, strict=True):
            name = f"{found['measure'][place]}.{found['games'][place]}"
            _row(table, name, *numbers, str(found["n"][place]), found["unit"][place])
        _print(f"\n{' - '.join(pair)}, paired", table)


def show_experiment_points(
    header: str, experiment: DesignReplications, chosen: Sequence[str] = ()
) -> None:
    """Print the means of the first responses, or of the chosen ones, at each point of a design."""
    names = [name.removeprefix("factors.") for name in experiment.design.factors]
    results = experiment.results
    shown = [response.name for response in results[0].responses[:MEANS]] if results else []
    shown = list(chosen) if results and chosen else shown
    table = _table(*names, *(part for name in shown for part in (name, "±")))
    columns = [
        [f"{value:.6g}" if isinstance(value, float) else str(value) for value in point.values()]
        for point in experiment.points
    ]
    means = [[_mean_and_half(one.estimates[name]) for one in results] for name in shown]
    aligned = [
        (_aligned([mean for mean, _ in column]), _aligned([half for _, half in column]))
        for column in means
    ]
    for number, levels in enumerate(columns):
        _row(table, *levels, *(side[number] for pair in aligned for side in pair))
    _print(header, table, repeated=len(names))
    _show_no_interval(experiment.no_interval_of(shown))


def show_comparison(found: Comparison, chosen: Collection[str] = ()) -> None:
    """Print the paired differences of two systems, of the chosen responses if any are."""
    for name, run in (("A", found.a), ("B", found.b)):
        print(f"{name}: {title_of(run.config)}")
    _show_changes(found.changed)
    table = _table("response", "A", "B", "B - A", f"± {found.confidence:.0%}", "n", "unit")
    rows = list(found.comparisons.values())
    differences = [_mean_and_half(one.difference) for one in rows]
    columns = [
        _aligned([_mean_and_half(one.a)[0] for one in rows]),
        _aligned([_mean_and_half(one.b)[0] for one in rows]),
        _aligned([mean for mean, _ in differences]),
        _aligned([half for _, half in differences]),
        [str(one.difference.n) for one in rows],
    ]
    for response, *cells in zip(found.responses, *columns, strict=True):
        if not chosen or response.name in chosen:
            _row(table, response.name, *cells, response.unit)
    _print(f"seed {found.a.seed}, {found.n:,} common replications", table, repeated=1)
    _show_no_interval(found.no_interval_of(chosen))


def show_variants(found: ComparedVariants, chosen: Collection[str] = ()) -> None:
    """Print the paired differences of several systems to one, of the chosen responses if any."""
    print(f"A: {title_of(found.base.config)}")
    for one in found.variants:
        print(f"{one.name.upper()}: {title_of(one.run.config)}")
        _show_changes(one.changed)
    shown = [one for one in found.responses if not chosen or one.name in chosen]
    first = found.variants[0].comparisons
    base = [_mean_and_half(first[one.name].a)[0] for one in shown]
    names, columns = ["response", "A"], [[one.name for one in shown], _aligned(base)]
    for variant in found.variants:
        pairs = [_mean_and_half(variant.comparisons[one.name].difference) for one in shown]
        names += [f"{variant.name.upper()} - A", "±"]
        columns += [_aligned(side) for side in zip(*pairs, strict=True)]
    table = _table(*names, "unit")
    for cells in zip(*columns, [one.unit for one in shown], strict=True):
        _row(table, *cells)
    intervals = found.intervals_of(chosen)
    said = f"; ±: {intervals}" if intervals else ""
    header = f"seed {found.base.seed}, {found.n:,} common replications{said}"
    _print(textwrap.fill(header, WIDTH), table, repeated=1)
    _show_no_interval(found.no_interval_of(chosen))


def _show_no_interval(reason: str, what: str = "no interval") -> None:
    """Say why there are no intervals, where there are none."""
    if reason:
        print(textwrap.fill(printable(f"{what}: {reason}"), WIDTH))


def _show_changes(changed: Sequence[Change]) -> None:
    """Print what differs between two configs, the first of much."""
    for key, here, there in changed[:CHANGES]:
        print(one_line(f"   {key}: {here} -> {there}"))
    if len(changed) > CHANGES:
        print(f"   and {len(changed) - CHANGES} more")


def searched(found: Mapping[str, Any]) -> str:
    """Return a paragraph on the search scales that were found, "" where all were given.

    Parameters
    ----------
    found : mapping
        What a summary says of them.
    """
    scales = found.get("search_scale", {})
    lines = ""
    for scale in dict.fromkeys(scales.values()):
        names = ", ".join(name for name, one in scales.items() if one == scale)
        why = "no scale is given, and the range spans over two orders of magnitude"
        said = f"search scale: {scale} for {printable(names)} ({why})"
        lines += "\n" + textwrap.fill(said, WIDTH, subsequent_indent="  ")
    return lines


def show_study(header: str, study: Study) -> None:
    """Print the point that was found, what it is worth, and whether it is feasible."""
    found = study.verdict
    if found is None:
        _print(header, _table())
        return
    role = "least violation" if found.feasible is False else "recommended"
    today = study.problem.today
    table = _table("variable", role, START, *([TODAY] if today else []))
    starts = {variable.name: variable.start for variable in study.problem.variables}
    values = _aligned([f"{value:.4g}" for value in found.point.values()])
    for name, shown in zip(found.point, values, strict=True):
        own = [f"{today[name]:.4g}"] if today else []
        _row(table, name, shown, f"{starts[name]:.4g}", *own)
    _print(header, table)
    confidence = found.objective.confidence
    table = _table("mean of", "value", f"± {confidence:.0%}", "n", "bound")
    rows = [("objective", found.objective, "")]
    for one, mean in found.constraints:
        rows.append((one.response, mean, f"{'<=' if one.sign > 0 else '>='} {one.bound:g}"))
    for name, one_mean, bound in rows:
        mean_text, half = _mean_and_half(one_mean)
        _row(table, name, mean_text, half, str(one_mean.n), bound)
    _print("", table)
    _show_no_interval(found.no_interval)
    print()
    print(textwrap.fill(f"feasible: {ANSWERS[found.feasible]}; {printable(found.why)}", WIDTH))
    for remark in found.remarks():
        print(textwrap.fill(printable(remark), WIDTH))
    if study.afterwards:
        print()
        _show_afterwards(study.afterwards)
    if study.comparison:
        print()
        show_solvers(study.comparison)


def _show_afterwards(found: Afterwards) -> None:
    """Print the recommended point beside what the config gives, and what the constraints cost."""
    _show_beside(found.against_start, found.spent)
    if found.against_today:
        print()
        _show_beside(found.against_today)
    units = {one.name: one.unit for one in found.against_start.responses}
    if found.prices:
        print()
    for price in found.prices:
        said = price.in_words(units.get(price.constraint.response, ""), units["objective"])
        print(textwrap.fill(printable(said), WIDTH, subsequent_indent="  "))


def _show_beside(beside: AgainstStart, spent: int = 0) -> None:
    """Print the recommended point beside another one."""
    rows = list(beside.compared)
    differences = [_mean_and_half(one.difference) for one in rows]
    half = f"± {rows[0].difference.confidence:.0%}"
    table = _table("response", beside.name, "recommended", "change", half, "n", "unit")
    columns = [
        _aligned([_mean_and_half(one.a)[0] for one in rows]),
        _aligned([_mean_and_half(one.b)[0] for one in rows]),
        _aligned([mean for mean, _ in differences]),
        _aligned([width for _, width in differences]),
        [str(one.difference.n) for one in rows],
    ]
    for response, *cells in zip(beside.responses, *columns, strict=True):
        _row(table, response.name, *cells, response.unit)
    s = "s" * (beside.n != 1)
    header = f"{beside.name} and recommended point on the same {beside.n:,} fresh replication{s}"
    if spent:
        header += f" ({spent:,} made beyond the budget, with those for costs)"
    _print(textwrap.fill(header, WIDTH), table, repeated=1)
    _show_no_interval(beside.no_interval)


def show_solvers(comparison: SolverComparison) -> None:
    """Print one line for each solver."""
    from valmatch.optimization.solvers.registry import labelled

    table = _table("solver", "runs", "median objective", "area", "<= 5 %", "<= 10 %", "wrong")
    for name, line in comparison.solvers.items():
        median = line["median_objective"]["value"]
        cells = [
            f"{line[key]['value']:.3f}"
            if key == "area_under_curve"
            else f"{line[key]['value']:.0%}"
            for key in (
                "area_under_curve",
                "within_5_percent",
                "within_10_percent",
                "wrongly_called_feasible",
            )
        ]
        shown = "none" if median is None else f"{median:.{max(1, _decimals(median, 3))}f}"
        _row(table, labelled(name), str(line["runs"]), shown, *cells)
    best = "none" if comparison.best_known is None else f"{comparison.best_known:g}"
    _print(f"Solvers, judged by fresh replications; {comparison.reference} {best}", table)
    print(textwrap.fill(WORDS_OF_SOLVERS.format(comparison.reference), WIDTH))


def show_solver_list(rows: Sequence[Mapping[str, str]]) -> None:
    """Print what solvers there are."""
    names = {"solver": "solver", "summary": "what it does", "needs": "needs", "from": "from"}
    shown = [key for key in names if any(row[key] for row in rows)]
    table = _table(*(names[key] for key in shown))
    for row in rows:
        _row(table, *(row[key] for key in shown))
    _print("", table)


def show_problem_list(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print what problems are shipped and the best known of each."""
    known = [row["best_known"] or {} for row in rows]
    objectives = [
        _rounded(one["objective"], one["ci_high"] - one["objective"])
        if "objective" in one
        else ("infeasible" if one else "", "")
        for one in known
    ]
    noises = [f"{one['noise']['objective']:.2g}" if one else "" for one in known]
    names = ("problem", "variables", "constraints", "noise", "best known", "± 95%")
    table = _table(*names, "effort", "date")
    columns = [
        [row["problem"] for row in rows],
        [str(row["dimension"]) for row in rows],
        [", ".join(row["constraints"]) or "none" for row in rows],
        _aligned(noises),
        _aligned([mean for mean, _ in objectives]),
        _aligned([half for _, half in objectives]),
        [f"{one['replications']:,}" if one else "" for one in known],
        [one.get("date", "") for one in known],
    ]
    for cells in zip(*columns, strict=True):
        _row(table, *cells)
    _print("", table, repeated=1)


def show_front(header: str, front: Front) -> None:
    """Print the points of a Pareto front, objectives first."""
    if not front.points:
        _print(f"{header}\nnone of {front.tested} tested points is certified as feasible", _table())
        return
    names = list(front.points[0].objectives)
    table = _table(*(part for name in names for part in (name, "±")), *front.points[0].point)
    means = [[_mean_and_half(one.objectives[name]) for one in front.points] for name in names]
    aligned = [
        (_aligned([mean for mean, _ in column]), _aligned([half for _, half in column]))
        for column in means
    ]
    for number, one in enumerate(front.points):
        cells = [side[number] for pair in aligned for side in pair]
        _row(table, *cells, *(f"{x:.4g}" for x in one.point.values()))
    _print(f"{header}\n{front.found}", table, repeated=2 * len(names))
    _show_no_interval(front.no_interval)
    for remark in front.remarks():
        print(textwrap.fill(printable(remark), WIDTH))


def show_frontier(header: str, frontier: Frontier) -> None:
    """Print the certified point of each value of a sweep."""
    names = list(frontier.verdicts[0][1].point) if frontier.verdicts else []
    table = _table(frontier.sweep.name, "objective", "± 95%", "certified", *names)
    for value, found in frontier.verdicts:
        mean, half = _mean_and_half(found.objective)
        point = [f"{x:.4g}" for x in found.point.values()]
        _row(table, f"{value:g}", mean, half, ANSWERS[found.feasible], *point)
    _print(header, table, repeated=1)
    for value, found in frontier.verdicts:
        for remark in found.remarks():
            text = f"{frontier.sweep.name} {value:g}: {remark}"
            print(textwrap.fill(printable(text), WIDTH))
    if frontier.prices:
        level = frontier.prices[0][2].confidence
        table = _table("from", "to", "objective per unit", f"± {level:.0%}", "n")
        for low, high, slope in frontier.prices:
            mean, half = _mean_and_half(slope)
            _row(table, f"{low:g}", f"{high:g}", mean, half, str(slope.n))
        _print(f"\nwhat {frontier.sweep.name} costs between two certified bounds", table)
    if frontier.no_interval:
        print()
        _show_no_interval(frontier.no_interval)


def show_rating(header: str, result: RatedLog, min_games: int = 0) -> None:
    """Print how well games were predicted, and the best players who have so many games."""
    names = ["predictions", "games", "accuracy", "log loss", "± 95%", "Brier score"]
    if result.predictions["all"].three_way_log_loss is not None:
        names.append("three-way log loss")
    table = _table(*names)
    later = f"after {result.burn_in} games of every player"
    for name, label in (("all", "all games"), ("after_burn_in", later)):
        _row(table, label, *_predictions(result.predictions[name]))
    if result.tuning:
        trials = (("published", result.tuning.published), ("tuned", result.tuning.tuned))
        share = f"{result.tuning.train:.0%}"
        for label, trial in trials:
            _row(table, f"first {share}, {label}", *_predictions(trial.first))
        for label, trial in trials:
            _row(table, f"rest, {label}", *_predictions(trial.rest))
    _print(header, table)
    if result.tuning:
        _show_tuning("tuned", result.tuning)
    _show_leaderboard(result.ranking, min_games)


def _show_tuning(title: str, tuning: Tuning) -> None:
    """Print what was fitted, how it does on the rest, and whether it is adopted."""
    values = ", ".join(f"{name} = {tuning.tuned.parameters[name]:.6g}" for name in tuning.fitted)
    judged = tuning.judged
    spread = "" if judged.half_width is None else f" ± {judged.half_width:.4f}"
    measure = tuning.measure.replace("three_", "three-").replace("_", " ")
    verdict = "adopted" if tuning.adopted else "not adopted"
    gain = f"{measure} of the rest {_shown(judged.mean, '+.4f')}{spread} (95%): {verdict}"
    print()
    print(textwrap.fill(f"{title} {values or 'nothing'}: {gain}", WIDTH))


def _show_leaderboard(ranking: Ranking, min_games: int) -> None:
    """Print the best players who have so many games."""
    listed = [k for k, games in enumerate(ranking.games) if games >= min_games]
    best = listed[:BEST]
    if not best:
        print(f"\nno player has {min_games:,} games")
        return
    ratings = [ranking.ratings[k] for k in listed]
    digits = _digits([ranking.ratings[k] for k in best])
    columns = {
        "rank": [f"{1 + ratings.index(ranking.ratings[k])}" for k in best],
        "player": [ranking.players[k] for k in best],
        "rating": [f"{ranking.ratings[k]:.{digits}f}" for k in best],
        "change": [_shown(ranking.change[k], f"+.{digits}f") for k in best],
    }
    for name in ("games", *COUNTS):
        columns[name] = [f"{getattr(ranking, name)[k]}" for k in best]
    columns[LAST_GAME.replace("_", " ")] = [ranking.last_game[k] for k in best]
    for name in ranking.printed:
        own = [ranking.state[name][k] for k in best]
        columns[name] = [f"{x:.{_digits(own)}f}" for x in own]
    for name in ("change", "last game"):
        if not any(columns[name]):
            del columns[name]
    table = _table(*columns)
    for row in zip(*columns.values(), strict=True):
        _row(table, *row)
    of = f"of {len(listed):,} players" + (f" with {min_games:,} games" if min_games > 1 else "")
    _print(f"\nbest {of}", table)


def _digits(values: Sequence[float]) -> int:
    """Return after how many decimals the largest of some numbers has five digits, at most four."""
    largest = max(map(abs, values))
    return 2 if largest == 0.0 else max(0, min(4, 4 - math.floor(math.log10(largest))))


def show_systems(found: ComparedSystems) -> None:
    """Print how well systems predicted, and by how much they fall behind the first of them."""
    names, columns = ["system"], [list(found.means)]
    for measure in next(iter(found.means.values())):
        pairs = [_rounded_to(one[measure]) for one in found.differences.values()]
        columns.append([_shown(one[measure].mean, ".4f") for one in found.means.values()])
        columns += [_aligned(side) for side in zip(*pairs, strict=True)]
        title = measure.replace("_", " ").replace("brier", "Brier").replace("three ", "three-")
        names += [title, f"- {found.leader}", "± 95%"]
    table = _table(*names)
    for cells in zip(*columns, strict=True):
        _row(table, *cells)
    _print(found.title, table)
    _show_no_interval(found.no_interval)
    for system, tuning in found.tunings.items():
        _show_tuning(f"tuned {system}:", tuning)


def _rounded_to(one: Difference) -> tuple[str, str]:
    """Return a difference and its half-width; nothing of what differs from itself."""
    if one.mean is None or not (one.mean or one.half_width):
        return "", ""
    half = _shown(one.half_width, ".4f")
    return _shown(one.mean, "+.4f"), _arms(one.arms, half) if one.arms else half


def show_predictions(result: PredictedGames) -> None:
    """Print the probabilities of the results of games to come."""
    rows = result.columns()
    names = ["game", "side", "win"]
    columns = [rows["game"], rows["players"], [f"{x:.1%}" for x in rows["win"]]]
    if None not in rows["win_low"]:
        names.append("95%")
        ends = zip(rows["win_low"], rows["win_high"], strict=True)
        columns.append([f"{low:.1%} to {high:.1%}" for low, high in ends])
    if any(draw is not None for draw in rows["draw"]):
        names.append("draw")
        columns.append([_shown(x, ".1%") for x in rows["draw"]])
    if any(rows["newcomers"]):
        names.append("newcomers")
        columns.append(rows["newcomers"])
    table = _table(*names)
    last = None
    for game, *cells in zip(*columns, strict=True):
        _row(table, "" if game == last else game, *cells)
        last = game
    _print(result.title, table)


def _predictions(scores: Scores) -> list[str]:
    """Return the cells of a row of scores."""
    loss, width = scores.log_loss, _half(scores.log_loss_std_error, scores.games)
    half = _shown(width, ".4f")
    if loss is not None and width is not None and width > loss:  # no loss is below 0
        half = _arms((loss, width), half)
    cells = [_shown(scores.accuracy, ".4f"), _shown(loss, ".4f"), half]
    cells.append(_shown(scores.brier_score, ".4f"))
    if scores.three_way_log_loss is not None:
        cells.append(f"{scores.three_way_log_loss:.4f}")
    return [f"{scores.games}", *cells]


def _half(std_error: float | None, n: int) -> float | None:
    """Return half the length of a 95% interval of a mean over so many games."""
    return None if std_error is None else t_quantile(0.975, n - 1) * std_error


def _mean_and_half(one: Estimate) -> tuple[str, str]:
    """Return a mean and its half-width with two digits of the half-width."""
    if one.mean is None:
        return "undefined", ""
    mean, half = _rounded(one.mean, one.half_width)
    return mean, _arms(one.arms, half) if one.cut else half


def _rounded(mean: float, half: float | None) -> tuple[str, str]:
    """Return a mean and its half-width; without one, four digits of what is below 1."""
    most = _decimals(max(abs(mean), half or 0.0), 4)
    digits = max(4, most) if not half else min(max(6, most), _decimals(half, 2))
    if digits > DECIMALS:
        return f"{mean:.3e}", _shown(half, ".1e")
    return f"{mean:.{digits}f}", _shown(half, f".{digits}f")


def _decimals(value: float, digits: int) -> int:
    """Return after how many decimals a number has so many digits."""
    if not value or not math.isfinite(value):
        return 0
    return max(0, digits - 1 - math.floor(math.log10(abs(value))))


def _adjusted_and_half(one: Adjusted) -> tuple[str, str]:
    if one.mean_cv is None or one.ci_high_cv is None:
        return "", ""
    assert one.ci_low_cv is not None
    arms = one.mean_cv - one.ci_low_cv, one.ci_high_cv - one.mean_cv
    mean, half = _rounded(one.mean_cv, max(arms))
    even = math.isclose(*arms, rel_tol=1e-6, abs_tol=1e-9 * abs(one.mean_cv))
    return mean, half if even else _arms(arms, half)


def _arms(arms: tuple[float, float] | None, half: str) -> str:
    """Return both arms of an interval that limits have cut, with the digits of the longer one."""
    assert arms is not None
    digits = len(half.partition(".")[2])
    return f"-{arms[0]:.{digits}f}/+{arms[1]:.{digits}f}"


def _shown(value: float | None, form: str) -> str:
    return "" if value is None else f"{value:{form}}"


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(_cell(name), justify="left" if name in LEFT else "right")
    return table


def _row(table: Table, *cells: str) -> None:
    table.add_row(*map(_cell, cells))


def _cell(text: str) -> Text:
    """Return a cell; names are no markup, whatever they hold."""
    return Text(shortened(printable(text), CELL))


def _print(header: str, table: Table, repeated: int = 0) -> None:
    """Print a table; where it is too wide, its first `repeated` columns with some others at a time.

    With `repeated` 0 the table is never divided: a long line is better than a name cut short.
    """
    console = Console(highlight=False, width=10_000)
    with console.capture() as printed:
        if header:
            console.print(header, markup=False, soft_wrap=True)
        for number, part in enumerate(_divided(table, repeated) if repeated else [table]):
            console.print(*([""] if number else []), part, sep="\n")
    # Columns are padded; in a file that would be blanks at the end of lines.
    *lines, _ = printed.get().split("\n")
    console.file.write("".join(f"{line.rstrip(' ')}\n" for line in lines))


def _divided(table: Table, repeated: int) -> Iterator[Table]:
    """Yield tables of at most `WIDTH` columns of text with all columns of a table between them."""
    headers = [str(column.header) for column in table.columns]
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    widths = [2 + max(map(len, [name, *own])) for name, own in zip(headers, cells, strict=True)]
    groups: list[list[int]] = []
    for place in range(repeated, len(headers)):
        if headers[place].startswith("±"):
            groups[-1].append(place)  # a half-width stays with its mean
        else:
            groups.append([place])
    parts: list[list[int]] = []
    room = 0
    for group in groups:
        needed = sum(widths[place] for place in group)
        if not parts or needed > room:
            parts.append([])
            room = WIDTH + 2 - sum(widths[:repeated])
        parts[-1] += group
        room -= needed
    for part in parts:
        columns = [*range(repeated), *part]
        divided = _table(*(headers[k] for k in columns))
        for row in zip(*(cells[k] for k in columns), strict=True):
            _row(divided, *row)
        yield divided


def _aligned(numbers: Sequence[str]) -> list[str]:
    """Pad numbers on the right so that their decimal points stand below each other."""
    tails = [len(number) - number.rfind(".") if "." in number else 0 for number in numbers]
    widest = max(tails, default=0)
    return [number + " " * (widest - tail) for number, tail in zip(numbers, tails, strict=True)]
