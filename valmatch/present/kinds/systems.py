"""Presentation of a comparison of rating systems: which predicts the games of a log best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from valmatch.game_logs.comparison import RatingComparison
from valmatch.game_logs.scores import Difference
from valmatch.present.document import (
    Block,
    Chart,
    Interval,
    Intervals,
    Presentation,
    View,
    counted,
    joined,
    parameters_table,
)
from valmatch.present.kinds.rate import MEANT, calibration_chart, log_name, tuning_lines
from valmatch.statistics.rounding import arms_of, formatted
from valmatch.text.terminal import Sheet, aligned


def present(result: RatingComparison, view: View) -> Presentation:
    """Return what a comparison of systems shows."""
    log, rivals = log_name(result.source), list(result.parameters)
    sheet = _systems(result.leader, result.means, result.differences)
    if result.no_interval:
        sheet.notes.append(f"no interval: {result.no_interval}")
    tuned = [
        line
        for system, tuning in result.tunings.items()
        for line in tuning_lines(f"tuned {system}:", tuning)
    ]
    return Presentation(
        f"Rating systems on {log}",
        f"Which of {joined(rivals)} predicts the {counted(result.games, 'game')} of {log} best?",
        finding=_finding(result),
        glossary=MEANT,
        tables=[Block("Scores", sheet=sheet, items=tuned)],
        charts=[Block("Charts", charts=_charts(result, rivals), figure="calibration")],
        blocks=[Block("Parameters", sheet=parameters_table(result.parameters), folded=True)],
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
        f"it is not shown to be better than {joined(unbeaten, 'or')}"
        if unbeaten
        else "it is better than all others beyond the intervals"
    )
    level = "95% intervals" if result.blocks > 1 else "no intervals"
    return f"{said}; {verdict}; {level}, n = {result.games:,} games."


def _charts(result: RatingComparison, rivals: Sequence[str]) -> list[Chart]:
    """Return the differences to the leader, and the calibration of all systems."""
    others = {name: own for name, own in result.differences.items() if name != result.leader}
    charts: list[Chart] = [
        Intervals(
            f"{named(measure)}, difference to {result.leader}",
            [_interval(name, own[measure]) for name, own in others.items()],
            zero=True,
        )
        for measure in result.means[result.leader]
        if others
    ]
    rows = [(name, result.predictions[name]["all"]) for name in rivals]
    return [*charts, calibration_chart("Calibration", rows)]


def _interval(name: str, found: Difference) -> Interval:
    """Return a row of a chart of intervals."""
    low, high = found.interval or (math.nan, math.nan)
    mean = math.nan if found.mean is None else found.mean
    half = "" if found.half_width is None else f" ± {found.half_width:.4f}"
    return Interval(name, mean, low, high, f"{name}: {mean:+.4f}{half}")


def _systems(
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
