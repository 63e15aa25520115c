"""Tables of `rate`: scores of predictions, of one system and of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from valmatch.game_logs.blocks import Difference
from valmatch.statistics.estimates import t_quantile
from valmatch.statistics.rounding import arms_of, formatted
from valmatch.text.sheet import Sheet, aligned


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
