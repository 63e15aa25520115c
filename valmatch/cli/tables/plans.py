"""The table of a plan: what is known after how many games, and how many are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from valmatch.cli.tables.layout import print_table
from valmatch.cli.tables.next_pairs import show_lines
from valmatch.statistics.rounding import formatted
from valmatch.text.sheet import Sheet

if TYPE_CHECKING:
    from valmatch.game_logs.planning.result import PlannedGames

MOST = 12  # numbers of games that are printed: those about the answer, or the last ones


def show_plan(found: PlannedGames) -> None:
    """Print the curves near what was found, that, and what choosing does to intervals."""
    columns = found.columns()
    table = Sheet.of("games", "half-width", "named best", "shown best", "coverage")
    n = len(found.grid)
    middle = n if found.games is None else int((found.grid < found.games).sum())
    start = max(0, min(middle - MOST // 2, n - MOST))
    for k in range(start, min(start + MOST, n)):
        table.add(
            f"{columns['games'][k]}",
            formatted(columns["half_width"][k], ".1f"),
            formatted(columns["named_best"][k], ".3f"),
            formatted(columns["shown_best"][k], ".3f"),
            formatted(columns["coverage"][k], ".3f"),
        )
    print_table(found.title, table)
    print()
    show_lines([found.sentence, *found.lines])
