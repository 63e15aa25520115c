"""Presentation of a comparison of rating systems: which predicts the games of a log best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from valmatch.game_logs.comparison import RatingComparison
from valmatch.game_logs.scores import Difference
from valmatch.present import document as d
from valmatch.present.kinds.rate import MEANT, calibration_chart, log_name, tuning_lines
from valmatch.statistics.rounding import arms_of, formatted


def present(result: RatingComparison, view: d.View) -> d.Presentation:
    """Return what a comparison of systems shows."""
    log, rivals = log_name(result.source), list(result.parameters)
    games = d.counted(result.games, "game")
    table = _systems(result.leader, result.means, result.differences)
    if result.no_interval:
        table.notes.append(f"no interval: {result.no_interval}")
    tuned = [
        line
        for system, tuning in result.tunings.items()
        for line in tuning_lines(f"tuned {system}:", tuning)
    ]
    return d.Presentation(
        f"Rating systems on {log}",
        f"Which of {d.joined(rivals)} predicts the {games} of {log} best?",
        finding=_finding(result),
        glossary=MEANT,
        tables=[d.Block("Scores", table=table, items=tuned)],
        charts=[d.Block("Charts", charts=_charts(result, rivals), figure="calibration")],
        blocks=[d.Block("Parameters", table=d.parameters_table(result.parameters), folded=True)],
    )


def _finding(result: RatingComparison) -> str:
    """Say which system is the best, or that none is shown to be."""
    leader, measure = result.leader, "log_loss"
    first = result.means[leader][measure]
    spread = "" if first.half_width is None else f" ± {first.half_width:.4f}"
    said = f"{leader} has the least log loss, {first.mean:.4f}{spread}"
    others = [
        f"{name} {own[measure].mean:+.4f}"
        + ("" if own[measure].half_width is None else f" ± {own[measure].half_width:.4f}")
        for name, own in result.differences.items()
        if name != leader
    ]
    said += f" ({', '.join(others)})" if others else ""
    unbeaten = list(result.unbeaten)
    verdict = (
        f"it is not shown to be better than {d.joined(unbeaten, 'or')}"
        if unbeaten
        else "it is better than all others beyond the intervals"
    )
    level = "95% intervals" if result.blocks > 1 else "no intervals"
    return f"{said}; {verdict}; {level}, n = {result.games:,} games."


def _charts(result: RatingComparison, rivals: Sequence[str]) -> list[d.Chart]:
    """Return the differences to the leader, and the calibration of all systems."""
    others = {name: own for name, own in result.differences.items() if name != result.leader}
    charts: list[d.Chart] = [
        d.Intervals(
            f"{named(measure)}, difference to {result.leader}",
            [_interval(name, own[measure]) for name, own in others.items()],
            zero=True,
        )
        for measure in result.means[result.leader]
        if others
    ]
    rows = [(name, result.predictions[name]["all"]) for name in rivals]
    return [*charts, calibration_chart("Calibration", rows)]


def _interval(name: str, found: Difference) -> d.Interval:
    """Return a row of a chart of intervals."""
    low, high = found.interval or (math.nan, math.nan)
    mean = math.nan if found.mean is None else found.mean
    half = "" if found.half_width is None else f" ± {found.half_width:.4f}"
    return d.Interval(name, mean, low, high, f"{name}: {mean:+.4f}{half}")


def _systems(
    leader: str,
    means: Mapping[str, Mapping[str, Difference]],
    differences: Mapping[str, Mapping[str, Difference]],
) -> d.TextTable:
    """Return a table of how well systems predicted, and how far they fall behind the leader."""
    columns = [("system", list(means))]
    for measure in means[leader]:
        pairs = [_rounded_to(own[measure]) for own in differences.values()]
        columns.append(
            (named(measure), [formatted(o[measure].mean, ".4f") for o in means.values()])
        )
        columns.append((f"- {leader}", [mean for mean, _ in pairs]))
        columns.append(("± 95%", [half for _, half in pairs]))
    return d.TextTable.of_columns(columns)


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
