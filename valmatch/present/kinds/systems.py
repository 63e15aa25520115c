"""Presentation of a comparison of rating systems: which predicts the games of a log best."""

from __future__ import annotations

from valmatch.game_logs.rating import RatingComparison
from valmatch.game_logs.roster import Difference
from valmatch.present import document as d
from valmatch.present.kinds.rate import MEANT, calibration_chart, log_name, tuning_lines
from valmatch.statistics.rounding import arms_of, formatted


def present(result: RatingComparison, view: d.View) -> d.Presentation:
    """Return what a comparison of systems shows."""
    log, systems = log_name(result.source), list(result.parameters)
    games = d.counted(result.games, "game")
    table = _systems(result)
    if result.no_interval:
        table.notes.append(f"no interval: {result.no_interval}")
    tuned = [
        line
        for system, of in result.systems.items()
        for line in (tuning_lines(f"tuned {system}:", of.tuning) if of.tuning else ())
    ]
    calibrations = [(name, result.systems[name].predictions["all"]) for name in systems]
    charts = [*_differences(result), calibration_chart("Calibration", calibrations)]
    return d.Presentation(
        f"Rating systems on {log}",
        f"Which of {d.joined(systems)} predicts the {games} of {log} best?",
        finding=_finding(result),
        glossary=MEANT,
        tables=[d.Block("Scores", table=table, items=tuned)],
        charts=[d.Block("Charts", charts=charts, figure="calibration")],
        blocks=d.parameters_block(result.parameters),
    )


def _finding(result: RatingComparison) -> str:
    """Say which system is the best, or that none is shown to be."""
    leader, measure = result.leader, "log_loss"
    first = result.systems[leader].means[measure]
    text = f"{leader} has the least log loss, {first.mean:.4f}{_spread(first)}"
    others = [
        f"{name} {of.to_best[measure].mean:+.4f}{_spread(of.to_best[measure])}"
        for name, of in result.systems.items()
        if name != leader
    ]
    text += f" ({', '.join(others)})" if others else ""
    verdict = "it is better than all others beyond the intervals"
    if unbeaten := list(result.unbeaten):
        verdict = f"it is not shown to be better than {d.joined(unbeaten, 'or')}"
    level = "95% intervals" if result.blocks > 1 else "no intervals"
    return f"{text}; {verdict}; {level}, n = {result.games:,} games."


def _spread(difference: Difference) -> str:
    half = difference.half_width
    return "" if half is None else f" ± {half:.4f}"


def _differences(result: RatingComparison) -> list[d.Chart]:
    """Return a chart of the differences to the leader for each measure, if there are others."""
    others = {name: of.to_best for name, of in result.systems.items() if name != result.leader}
    charts: list[d.Chart] = []
    for measure in result.systems[result.leader].means if others else ():
        rows = []
        for name, scores in others.items():
            difference = scores[measure]
            mean, low, high = d.floats((difference.mean, difference.ci_low, difference.ci_high))
            label = f"{name}: {mean:+.4f}{_spread(difference)}"
            rows.append(d.Interval(name, float(mean), float(low), float(high), label))
        title = f"{named(measure)}, difference to {result.leader}"
        charts.append(d.Intervals(title, rows, zero=True))
    return charts


def _systems(result: RatingComparison) -> d.TextTable:
    """Return a table of how well systems predicted, and how far they fall behind the leader."""
    columns: list[d.Column] = [("system", list(result.systems))]
    for measure in result.systems[result.leader].means:
        means = [of.means[measure].mean for of in result.systems.values()]
        pairs = [_rounded(of.to_best[measure]) for of in result.systems.values()]
        columns.append((named(measure), [formatted(mean, ".4f") for mean in means]))
        columns.append((f"- {result.leader}", [mean for mean, _ in pairs]))
        columns.append(("± 95%", [half for _, half in pairs]))
    return d.TextTable.of_columns(columns)


def named(measure: str) -> str:
    """Return the name of a measure in words."""
    return measure.replace("_", " ").replace("brier", "Brier").replace("three ", "three-")


def _rounded(difference: Difference) -> tuple[str, str]:
    """Return a difference and its half-width; nothing of what differs from itself."""
    if difference.mean is None or not (difference.mean or difference.half_width):
        return "", ""
    half = formatted(difference.half_width, ".4f")
    arms = difference.arms
    return formatted(difference.mean, "+.4f"), arms_of(arms, half) if arms else half
