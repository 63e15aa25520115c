"""Tables of ratings of a whole log: players with intervals, coefficients, what is to be said."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from valmatch.cli.tables.layout import WIDTH, print_table
from valmatch.statistics.rounding import formatted
from valmatch.text.sheet import Sheet
from valmatch.text.terminal import escaped

if TYPE_CHECKING:
    from valmatch.game_logs.batch.result import BatchRating, CoefficientRow, PlayerRow

BEST = 10  # players that are printed


def show_batch(found: BatchRating, top: int | None, markdown: bool, min_games: int) -> None:
    """Print ratings and coefficients, as a table to paste if wanted."""
    listed = [row for row in found.players if row.games >= min_games]
    rated = [row for row in listed if row.rating is not None]
    columns = _players(rated[: top or (len(rated) if markdown else BEST)], found)
    table = Sheet.of(*columns)
    for cells in zip(*columns.values(), strict=True):
        table.add(*cells)
    if markdown:
        from valmatch.plots.report.markdown import table_of

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


def _players(rows: Sequence[PlayerRow], found: BatchRating) -> dict[str, list[str]]:
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
