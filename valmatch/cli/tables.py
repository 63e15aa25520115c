"""Tables on the terminal, in columns of a line's width."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from valmatch.cli.console import title_of
from valmatch.experiments.explain import Explanation
from valmatch.models.model import Response
from valmatch.optimization.problem_of_config import found_scales
from valmatch.optimization.solvers.registry import label_of_solver
from valmatch.optimization.studies.pareto import Front
from valmatch.optimization.studies.solver_study import Study
from valmatch.optimization.studies.sweep import Frontier
from valmatch.present import terminal
from valmatch.present.document import listed
from valmatch.present.responses import compared_parts_sheets
from valmatch.present.sheets import (
    ANSWERS,
    Limit,
    SweptPoint,
    compared_sheet,
    front_sheet,
    limits_sheet,
    point_sheet,
    scores_sheet,
    slopes_sheet,
    solvers_sheet,
    sweep_sheet,
    systems_sheet,
)
from valmatch.present.terminal import WIDTH
from valmatch.statistics.rounding import formatted, mean_and_half, rounded
from valmatch.text.terminal import (
    COUNT,
    UNIT,
    Sheet,
    aligned,
    escaped,
    labelled,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from valmatch.config.config import Config
    from valmatch.experiments.response_list import Listed
    from valmatch.game_logs.comparison import RatingComparison
    from valmatch.game_logs.rating import RatedLog
    from valmatch.game_logs.roster import Ranking
    from valmatch.game_logs.tuning import Tuning
    from valmatch.game_logs.whole_log.result import BatchRating, CoefficientRow, PlayerRow
    from valmatch.models.model import Response
    from valmatch.optimization.post_analysis.post_analysis import BaselineComparison, PostAnalysis
    from valmatch.optimization.studies.solver_comparison import SolverComparison
    from valmatch.optimization.studies.study import StudyResult, StudySpec
    from valmatch.statistics.sequential_tests import SequentialTest


def print_table(header: str, table: Sheet, repeated: int = 1, spare: str = "") -> None:
    """Print a table under a header."""
    table = replace(table, repeated=repeated, spare=spare, title="")
    terminal.print_table(header, table)


def show_no_interval(reason: str, what: str = "no interval") -> None:
    """Say why there are no intervals, where there are none."""
    if reason:
        print(textwrap.fill(escaped(f"{what}: {reason}"), WIDTH))


# Tables of ratings of a whole log: players with intervals, coefficients, what is to be said.

BEST = 10  # players that are printed


def show_batch(found: BatchRating, top: int | None, markdown: bool, min_games: int) -> None:
    """Print ratings and coefficients, as a table to paste if wanted."""
    listed = [row for row in found.players if row.games >= min_games]
    rated = [row for row in listed if row.rating is not None]
    columns = _whole_log_players(rated[: top or (len(rated) if markdown else BEST)], found)
    table = Sheet.of(*columns)
    for cells in zip(*columns.values(), strict=True):
        table.add(*cells)
    if markdown:
        from valmatch.present.markdown import table_of

        table.notes += found.lines
        print("\n".join(table_of(table)).rstrip())
        return
    print_table(found.title, table, repeated=2)
    if found.coefficients:
        _show_coefficients(found.coefficients, f"± {found.facts['level']:.0%}")
    print()
    for line in found.lines:
        print(textwrap.fill(escaped(line), WIDTH, break_long_words=False, subsequent_indent="  "))


def _half(row: PlayerRow | CoefficientRow) -> float | None:
    return None if row.low is None or row.high is None else 0.5 * (row.high - row.low)


def _whole_log_players(rows: Sequence[PlayerRow], found: BatchRating) -> dict[str, list[str]]:
    """Return the columns of some players."""
    columns = {
        "rank": [f"{row.rank}" for row in rows],
        "player": [row.player for row in rows],
        "rating": [formatted(row.rating, ".1f") for row in rows],
    }
    if found.facts["quantile"] is not None:
        columns[f"± {found.facts['level']:.0%}"] = [formatted(_half(row), ".1f") for row in rows]
    if any(row.rank_low is not None for row in rows):
        columns["ranks"] = [f"{row.rank_low}-{row.rank_high}" for row in rows]
    for name in ("games", "wins", "losses", "draws"):
        columns[name] = [f"{getattr(row, name)}" for row in rows]
    if len({row.group for row in found.players if row.rating is not None}) > 1:
        columns["group"] = [f"{row.group}" for row in rows]
    return columns


def _show_coefficients(rows: Sequence[CoefficientRow], half: str) -> None:
    """Print coefficients with the half-widths of their intervals, or the ends of that of nu."""
    table = Sheet.of("coefficient", "value", half, "unit")
    for row in rows:
        digits = 1 if row.unit == "points" else 4
        table.add(row.name, f"{row.value:.{digits}f}", _arms(row, digits), row.unit)
    print()
    print_table("", table)


def _arms(row: CoefficientRow, digits: int) -> str:
    """Return the half-width of an interval, both arms where they differ."""
    if row.low is None or row.high is None:
        return ""
    below, above = row.value - row.low, row.high - row.value
    if row.unit:
        return f"{above:.{digits}f}"
    return f"-{below:.{digits}f}/+{above:.{digits}f}"


# Explanations of waits, as a terminal shows them.

Document = Mapping[str, Any]

ENDS = {
    "COMPLETED": "was matched",
    "TIMED_OUT": "timed out",
    "CANCELLED": "was cancelled",
    "SEARCHING": "still waited",
}

NO_ROOM = "no team had room"


def show_explanations(found: Explanation) -> None:
    """Print why a ticket waited, by search."""
    for number, document in enumerate(found.documents.values()):
        if number:
            print()
        _show(document)


def _show(document: Document) -> None:
    """Print why a ticket waited."""
    _paragraph(f"search {document['search']}: {_headline(document)}", "")
    _paragraph(_who(document))
    if document["unmatchable"]:
        _paragraph(f"no match can take it: no value of {', '.join(document['unmatchable'])}")
    _paragraph(_looked(document))
    for rule, count in document["refused_alone"].items():
        why = NO_ROOM if rule == "no room" else f"{rule} refused it"
        _paragraph(f"even alone, before others were tried: {why} {_times(count)}")
    if document["tried"]["tried"] or document["tried_by_others"]["tried"]:
        _paragraph(_trials(document))
        _show_rules(document)
    for blocker in document["blocked_by"]:
        _paragraph(
            f"blocked: without {' and '.join(blocker['tickets'])}, a match at"
            f" {_reviews(blocker['reviews'])}"
        )
    if document["nearest"]:
        _paragraph(f"nearest: {_nearest(document['nearest'])}")
    if document["fullest"]:
        _paragraph(f"most complete: {_fullest(document['fullest'])}")


def _headline(document: Document) -> str:
    """Return in one sentence what became of a ticket, and why it waited."""
    players = document["players"]
    size = "1 player" if len(players) == 1 else f"party of {len(players)}"
    parts = [size, *([document["region"]] if document["region"] else []), *_means(players)]
    sentence = (
        f"{document['ticket']} ({', '.join(parts)}) {ENDS[document['status']]} after"
        f" {document['waited']:g} s"
    )
    most = max(document["rules"], key=lambda one: one["refused"], default=None)
    if most:
        candidates = document["tried"]["tried"] + document["tried_by_others"]["tried"]
        if candidates:
            share = 100 * most["share"]
            sentence += "; before, " if document["status"] == "COMPLETED" else ": "
            sentence += f"{most['rule']} refused {share:.0f} % of {candidates:,} candidates"
    return sentence


def _means(players: Sequence[Document]) -> Iterator[str]:
    """Yield the numbers of players, of a party the means."""
    for name, value in players[0]["attributes"].items():
        if isinstance(value, float):
            values = [player["attributes"].get(name, value) for player in players]
            yield f"{name} {sum(values) / len(values):.6g}"


def _who(document: Document) -> str:
    """Return when a ticket came and went, and what its players are."""
    when = f"joined at {document['joined']:g} s, ended at {document['ended']:g} s"
    return "; ".join([when, *(_player(player) for player in document["players"])])


def _player(player: Document) -> str:
    """Return a player with its attributes and latencies."""
    parts = [f"{name} {_value(value)}" for name, value in player["attributes"].items()]
    parts += [f"{region} {ping:g} ms" for region, ping in player["latency"].items()]
    return f"{player['id']}: {', '.join(parts)}" if parts else str(player["id"])


def _value(value: Any) -> str:  # noqa: ANN401
    """Return the value of an attribute."""
    if isinstance(value, Mapping):
        return "/".join(f"{key} {number:g}" for key, number in value.items()) or "-"
    if isinstance(value, list | tuple):
        return "/".join(value) or "-"
    return value if isinstance(value, str) else f"{value:.12g}"


def _looked(document: Document) -> str:
    looked = document["looked_at"]
    every = "all" if looked == document["reviews"] else f"{looked:,}"
    return f"still waited after {_reviews(document['reviews'])}, {every} of them looked at"


def _trials(document: Document) -> str:
    own, others = document["tried"], document["tried_by_others"]
    return (
        f"anchor {_times(document['anchor'])}: it tried {own['tried']:,} candidates,"
        f" {own['taken']:,} could join; others tried it {_times(others['tried'])}, it could join"
        f" {_times(others['taken'])}"
    )


def _show_rules(document: Document) -> None:
    """Print which rule refused how many candidates."""
    candidates = document["tried"]["tried"] + document["tried_by_others"]["tried"]
    sheet = Sheet.of(
        "rule", "refused", "share", "alone", "needs", "in force", "from", left=["rule"]
    )
    for rule in document["rules"]:
        (found,) = rule["nearest"]["rules"]
        sheet.add(
            rule["rule"],
            f"{rule['refused']:,}",
            _share(rule["share"]),
            f"{rule['alone']:,}",
            ", ".join(f"{one['property']} {one['needed']:g}" for one in found["needs"]),
            ", ".join(f"{one['in_force']:g}" for one in found["needs"]),
            _since(found["holds_from"]),
        )
    no_room = document["tried"]["no_room"] + document["tried_by_others"]["no_room"]
    sheet.add(NO_ROOM, f"{no_room:,}", _share(no_room / candidates))
    print_table("", sheet)


def _nearest(failed: Document) -> str:
    """Return what the nearest candidate failed by."""
    (rule,) = failed["rules"]
    text = f"{_where(failed)}: {rule['rule']}"
    for need in rule["needs"]:
        text += f" needs {need['property']} {need['needed']:g}, {need['in_force']:g} is in force;"
    since = rule["holds_from"]
    return f"{text} no step allows it" if since is None else f"{text} allowed from {since:g} s"


def _fullest(failed: Document) -> str:
    """Return what the unfinished match with most players lacked."""
    if failed["rules"]:
        refused = ", ".join(rule["rule"] for rule in failed["rules"])
        return f"{_where(failed)}: {failed['players']} players, refused by {refused}"
    teams = [
        f"{name} {team['players']} of {team['least']}"
        for name, team in failed["teams"].items()
        if team["players"] < team["least"]
    ]
    lacking = f"; {', '.join(teams)}" if teams else ""
    return f"{_where(failed)}: {_players(failed['players'])}{lacking}"


def _where(failed: Document) -> str:
    others = failed["with"]
    company = f"with {', '.join(others)}" if others else "alone"
    return f"{company} at {failed['time']:g} s, {failed['age']:g} s old"


def _players(number: int) -> str:
    return "1 player" if number == 1 else f"{number} players"


def _reviews(number: int) -> str:
    return "1 review" if number == 1 else f"{number:,} reviews"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"


def _since(wait: float | None) -> str:
    return "never" if wait is None else f"{wait:g} s"


def _paragraph(text: str, indent: str = "  ") -> None:
    """Print a paragraph."""
    print(
        textwrap.fill(
            escaped(text),
            WIDTH,
            initial_indent=indent,
            subsequent_indent=f"{indent}  ",
            break_on_hyphens=False,
        )
    )


# Lists of `responses`, `solvers` and `problems`.

MEANING = 24  # characters of a line of what a response means, at least

INDENT = "    "


def show_listed(listed: Sequence[Listed]) -> None:
    """Print what each response is, and what asks for it."""
    for group, rows in groupby(listed, key=lambda row: row.group):
        if group:
            print(f"\nmeasure: [{group}]")
        responses = [row.response for row in rows]
        names = max(map(len, ["response", *(r.name for r in responses)]))
        units = max(map(len, [UNIT, *(r.unit for r in responses)]))
        room = WIDTH - names - units - 4
        if room < MEANING:
            _show_meanings_below(responses)
            continue
        table = Sheet.of("response", UNIT, "meaning")
        for response in responses:
            for k, line in enumerate(textwrap.wrap(response.meaning, room) or [""]):
                table.add(*((response.name, response.unit) if k == 0 else ("", "")), line)
        print_table("", table)


def _show_meanings_below(responses: Sequence[Response]) -> None:
    """Print responses whose names leave no room beside them."""
    for response in responses:
        print(escaped(labelled(response.name, response.unit)))
        print(
            textwrap.fill(response.meaning, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)
        )


def show_solver_list(rows: Sequence[Mapping[str, str]]) -> None:
    """Print what solvers there are."""
    names = {"solver": "solver", "summary": "what it does", "needs": "needs", "from": "from"}
    shown = [key for key in names if any(row[key] for row in rows)]
    table = Sheet.of(*(names[key] for key in shown))
    for row in rows:
        table.add(*(row[key] for key in shown))
    print_table("", table)


def show_problem_list(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print what problems are shipped and the best known of each."""
    known = [row["best_known"] or {} for row in rows]
    objectives = [
        rounded(best["objective"], best["ci_high"] - best["objective"])
        if "objective" in best
        else ("infeasible" if best else "", "")
        for best in known
    ]
    noises = [f"{best['noise']['objective']:.2g}" if best else "" for best in known]
    names = ("problem", "variables", "constraints", "noise", "best known", "± 95%")
    table = Sheet.of(*names, "effort", "date")
    columns = [
        [row["problem"] for row in rows],
        [str(row["dimension"]) for row in rows],
        [", ".join(row["constraints"]) or "none" for row in rows],
        aligned(noises),
        aligned([mean for mean, _ in objectives]),
        aligned([half for _, half in objectives]),
        [f"{best['replications']:,}" if best else "" for best in known],
        [best.get("date", "") for best in known],
    ]
    for cells in zip(*columns, strict=True):
        table.add(*cells)
    print_table("", table)


# Tables of `optimize`: studies, comparisons of solvers, Pareto fronts, sweeps.


def header_of(spec: StudySpec[Any, Any]) -> str:
    """Return what stands above the tables of a study: what is optimised, how, on which scales."""
    header = f"{title_of(spec.config)}, seed {spec.settings.seed}, budget {spec.settings.budget:,}"
    if spec.solver_names:
        header += f"\nsolver: {', '.join(map(label_of_solver, spec.solver_names))}"
    return header + _search_scales(spec.config)


def show_result(header: str, result: StudyResult, chosen: Collection[str] = ()) -> None:
    """Print what came of a study, with the chosen responses if any are."""
    match result:
        case Study():
            show_study(header, result, chosen)
        case Frontier():
            show_frontier(header, result)
        case Front():
            show_front(header, result)


def _search_scales(config: Config) -> str:
    """Return a paragraph on the search scales that were found, "" where all were given."""
    scales: Mapping[str, str] = found_scales(config).get("search_scale", {})
    lines = ""
    for scale in dict.fromkeys(scales.values()):
        names = ", ".join(name for name, found in scales.items() if found == scale)
        why = "no scale is given, and the range spans over two orders of magnitude"
        said = f"search scale: {scale} for {escaped(names)} ({why})"
        lines += "\n" + textwrap.fill(said, WIDTH, subsequent_indent="  ")
    return lines


def show_study(header: str, study: Study, chosen: Collection[str] = ()) -> None:
    """Print the point that was found, what it is worth, and whether it is feasible.

    It is shown beside the start in the chosen responses, in all if none are.
    """
    found = study.verdict
    if found is None:
        print_table(header, Sheet.of())
        return
    role = "least violation" if found.feasible is False else "recommended"
    starts = {variable.name: variable.start for variable in study.problem.variables}
    print_table(header, point_sheet(role, found.point, starts, study.problem.today))
    limits = [
        Limit(bound.response, "<=" if bound.sign > 0 else ">=", bound.bound, mean)
        for bound, mean in found.constraints
    ]
    print_table("", limits_sheet(found.objective, limits))
    show_no_interval(found.no_interval)
    print()
    print(textwrap.fill(f"feasible: {ANSWERS[found.feasible]}; {escaped(found.why)}", WIDTH))
    for remark in found.remarks():
        print(textwrap.fill(escaped(remark), WIDTH))
    if study.post_analysis:
        print()
        _show_post_analysis(study.post_analysis, chosen)
    if study.comparison:
        print()
        show_solvers(study.comparison)


def _show_post_analysis(found: PostAnalysis, chosen: Collection[str]) -> None:
    """Print the recommended point beside what the config gives, and what the constraints cost."""
    _show_beside(found.against_start, chosen, found.spent)
    if found.against_today:
        print()
        _show_beside(found.against_today, chosen)
    units = {response.name: response.unit for response in found.against_start.responses}
    if found.prices:
        print()
    for price in found.prices:
        said = price.in_words(units.get(price.constraint.response, ""), units["objective"])
        print(textwrap.fill(escaped(said), WIDTH, subsequent_indent="  "))


def _show_beside(beside: BaselineComparison, chosen: Collection[str], spent: int = 0) -> None:
    """Print the recommended point beside another one, in the chosen responses if any are."""
    responses, rows = beside.responses, list(beside.compared)
    differences = [mean_and_half(pair.difference) for pair in rows]
    columns = [
        (beside.name, [mean_and_half(pair.a)[0] for pair in rows]),
        ("recommended", [mean_and_half(pair.b)[0] for pair in rows]),
        ("change", [mean for mean, _ in differences]),
        (f"± {rows[0].difference.confidence:.0%}", [width for _, width in differences]),
    ]
    places = [k for k, response in enumerate(responses) if listed(response, chosen)]
    counts = [str(pair.difference.n) for pair in rows]
    table = compared_sheet(responses, [*columns, (COUNT, counts)], places)
    s = "s" * (beside.n != 1)
    header = f"{beside.name} and recommended point on the same {beside.n:,} fresh replication{s}"
    if spent:
        header += f" ({spent:,} made beyond the budget, with those for costs)"
    spare = COUNT if set(counts) == {str(beside.n)} else ""
    print_table(textwrap.fill(header, WIDTH), table, spare=spare)
    if not chosen:
        for part in compared_parts_sheets(responses, columns):
            print_table(f"\n{part.title}", part)
    show_no_interval(beside.no_interval)


def show_solvers(comparison: SolverComparison) -> None:
    """Print one line for each solver."""
    best, reference = comparison.best_known, comparison.reference
    sheet = solvers_sheet(comparison.solvers, reference, best)
    print_table(sheet.title, sheet)
    for note in sheet.notes:
        print(textwrap.fill(note, WIDTH))


def show_front(header: str, front: Front) -> None:
    """Print the points of a Pareto front, objectives first."""
    if not front.points:
        print_table(
            f"{header}\nnone of {front.tested} tested points is certified as feasible", Sheet.of()
        )
        return
    sheet = front_sheet([(point.objectives, point.point) for point in front.points])
    repeated = 2 * len(front.points[0].objectives)
    print_table(f"{header}\n{front.found}", sheet, repeated=repeated)
    show_no_interval(front.no_interval)
    for remark in front.remarks():
        print(textwrap.fill(escaped(remark), WIDTH))


def show_frontier(header: str, frontier: Frontier) -> None:
    """Print the certified point of each value of a sweep."""
    swept = [
        SweptPoint(value, found.objective, found.feasible, found.point)
        for value, found in frontier.verdicts
    ]
    print_table(header, sweep_sheet(frontier.sweep.name, swept))
    for value, found in frontier.verdicts:
        for remark in found.remarks():
            text = f"{frontier.sweep.name} {value:g}: {remark}"
            print(textwrap.fill(escaped(text), WIDTH))
    if frontier.prices:
        sheet = slopes_sheet(frontier.sweep.name, frontier.prices)
        print_table(f"\n{sheet.title}", sheet)
    if frontier.no_interval:
        print()
        show_no_interval(frontier.no_interval)


# Tables of `rate` and `predict`: scores of predictions, players, games to come.

COUNTS, LAST_GAME = ("wins", "losses", "draws"), "last_game"
"""What is counted of players, and when they played last."""


def show_rating(header: str, result: RatedLog, min_games: int = 0) -> None:
    """Print how well games were predicted, and the best players who have so many games."""
    later = f"after {result.burn_in} games of every player"
    rows = [
        (label, result.predictions[name].as_dict())
        for name, label in (("all", "all games"), ("after_burn_in", later))
    ]
    if result.tuning:
        trials = (("published", result.tuning.published), ("tuned", result.tuning.tuned))
        share = f"{result.tuning.train:.0%}"
        rows += [(f"first {share}, {label}", trial.first.as_dict()) for label, trial in trials]
        rows += [(f"rest, {label}", trial.rest.as_dict()) for label, trial in trials]
    print_table(header, scores_sheet(rows))
    if result.tuning:
        _show_tuning("tuned", result.tuning)
    _show_leaderboard(result.ranking, min_games)


def _show_tuning(title: str, tuning: Tuning) -> None:
    """Print what was fitted, how it does on the rest, and whether it is adopted."""
    fitted = {name: f"{name} = {tuning.tuned.parameters[name]:.6g}" for name in tuning.fitted}
    change = tuning.score_change
    spread = "" if change.half_width is None else f" ± {change.half_width:.4f}"
    measure = tuning.measure.replace("three_", "three-").replace("_", " ")
    verdict = "adopted" if tuning.adopted else "not adopted"
    gain = f"{measure} of the rest {formatted(change.mean, '+.4f')}{spread} (95%): {verdict}"
    lines = [f"{fitted.pop(name)}: {_untested(name)}" for name in tuning.untested]
    if fitted:
        lines.append(f"{', '.join(fitted.values())}: {gain}")
    print()
    for line in lines or ["nothing"]:
        print(textwrap.fill(f"{title} {line}", WIDTH))


def _untested(name: str) -> str:
    """Say why a fitted value was compared with none."""
    if name == "draw_probability":
        return "adopted (without it a draw has no probability)"
    return "unchanged"


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
        "change": [formatted(ranking.change[k], f"+.{digits}f") for k in best],
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
    table = Sheet.of(*columns)
    for row in zip(*columns.values(), strict=True):
        table.add(*row)
    of = f"of {len(listed):,} players" + (f" with {min_games:,} games" if min_games > 1 else "")
    print_table(f"\nbest {of}", table, repeated=2)


def _digits(values: Sequence[float]) -> int:
    """Return after how many decimals the largest of some numbers has five digits, at most four."""
    largest = max(map(abs, values))
    return 2 if largest == 0.0 else max(0, min(4, 4 - math.floor(math.log10(largest))))


def show_systems(found: RatingComparison) -> None:
    """Print how well systems predicted, and by how much they fall behind the first of them."""
    table = systems_sheet(found.leader, found.means, found.differences)
    print_table(found.title, table)
    show_no_interval(found.no_interval)
    for system, tuning in found.tunings.items():
        _show_tuning(f"tuned {system}:", tuning)


# The table of a sequential test: counts, where the ratio stands, what is to be expected.

HEADS = {3: ("losses", "draws", "wins"), 5: ("0", "1/2", "1", "3/2", "2")}
"""What the counts are called, by how many there are."""


def show_test(found: SequentialTest, who: str) -> None:
    """Print what a test says."""
    counts = found.counts
    table = Sheet.of(*HEADS[len(counts)], "score", "Elo")
    table.add(*(f"{n}" for n in counts), f"{found.score:.4f}", f"{found.elo:+.1f}")
    of = f"sprt of {shortened(escaped(who))}" if who else "sprt"
    pairs = "" if len(counts) == 3 else f" in {found.games // 2:,} pairs, by their points"
    print_table(f"{of}, {found.games:,} game{'s' * (found.games != 1)}{pairs}", table)
    print()
    for line in _sentences(found):
        print(textwrap.fill(line, WIDTH, break_long_words=False, subsequent_indent="  "))


def _sentences(found: SequentialTest) -> list[str]:
    """Return what is said below the table."""
    meanings = {
        "accept_h1": f"elo1 = {found.elo1:g} is accepted",
        "accept_h0": f"elo0 = {found.elo0:g} is accepted",
        "continue": "neither is shown yet, play on",
    }
    lines = [
        f"{found.decision}: {meanings[found.decision]}",
        f"log likelihood ratio {found.llr:.3f}, bounds {found.lower_bound:.3f} and"
        f" {found.upper_bound:.3f} (elo0 {found.elo0:g}, elo1 {found.elo1:g},"
        f" alpha {found.alpha:g}, beta {found.beta:g})",
    ]
    at0, at1, here = (found.expected_games[name] for name in ("elo0", "elo1", "estimate"))
    lines.append(
        f"a test takes on average {max(at0, 1.0):,.0f} games at elo0, {max(at1, 1.0):,.0f} at"
        f" elo1, {max(here, 1.0):,.0f} at the score found"
    )
    if found.alike:
        lines.append(
            "all results are the same: the Elo and the games to expect rest on the .001 that"
            " counts for each of the others"
        )
    if found.decision != "continue":
        lines.append(
            "the Elo of the score is biased after a stop: tests end where the score happens to be"
            " far out"
        )
    if found.left_out:
        n = found.left_out
        lines.append(f"{n:,} game{'s' * (n != 1)} left out: not in a pair of two")
    return lines
