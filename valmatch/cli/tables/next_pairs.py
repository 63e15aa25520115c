"""Tables of pairs to play next."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from valmatch.cli.tables.layout import WIDTH, print_table
from valmatch.text.sheet import Sheet
from valmatch.text.terminal import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from valmatch.game_logs.next_pairs.result import NextPairs


def show_next(found: NextPairs) -> None:
    """Print pairs, and what there is to say of them."""
    table = Sheet.of(
        "place", "player_a", "player_b", "value", "expected", "std_error", "games", "propensity"
    )
    for row in found.pairs:
        table.add(
            f"{row.place}",
            row.player_a,
            row.player_b,
            f"{row.value:.4g}",
            f"{row.expected_score:.3f}",
            f"{row.std_error:.1f}",
            f"{row.games:,}",
            f"{row.propensity:.4g}",
        )
    sure = all(row.propensity == 1.0 for row in found.pairs)
    print_table(found.title, table, repeated=3, spare="propensity" if sure else "")
    print()
    show_lines(found.lines)


def show_lines(lines: Sequence[str]) -> None:
    """Print sentences, each wrapped."""
    for line in lines:
        print(textwrap.fill(escaped(line), WIDTH, break_long_words=False, subsequent_indent="  "))
