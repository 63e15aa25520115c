"""Tables of pairs to play next."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from valmatch.cli.tables.layout import WIDTH, print_table
from valmatch.statistics.rounding import formatted
from valmatch.text.sheet import Sheet
from valmatch.text.terminal import escaped

_ERROR = "± se"

if TYPE_CHECKING:
    from collections.abc import Sequence

    from valmatch.game_logs.next_pairs.result import NextPairs
    from valmatch.game_logs.next_pairs.simulating import SimulatedPairs


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


_PRINTED = 5  # numbers of games that are printed, of those that the file has

_MEANS = {
    "named_best": ("share of worlds in which the leader is the best", ".3f"),
    "misordered": ("neighbours in the wrong order", ".2f"),
    "widest": ("standard error of the widest difference, points", ".1f"),
}


def show_simulated(found: SimulatedPairs) -> None:
    """Print how well the goal is known after further games, a column for each policy."""
    what, form = _MEANS[found.measure]
    names = found.facts["policies"]
    games = list(dict.fromkeys(row.games for row in found.curves))
    places = [round(k * (len(games) - 1) / (_PRINTED - 1)) for k in range(_PRINTED)]
    heads = [head for name in names for head in (name, _ERROR)]
    table = Sheet.of("games", *heads)
    values = {(row.policy, row.games): row for row in found.curves}
    for mark in dict.fromkeys(games[place] for place in places):
        cells = [f"{mark:,}"]
        for name in names:
            row = values[name, mark]._asdict()
            error = row[f"{found.measure}_std_error"]
            cells += [f"{row[found.measure]:{form}}", formatted(error, form)]
        table.add(*cells)
    print_table(f"{found.title}: {what}", table)
    print()
    show_lines(found.lines)


def show_lines(lines: Sequence[str]) -> None:
    """Print sentences, each wrapped."""
    for line in lines:
        print(textwrap.fill(escaped(line), WIDTH, break_long_words=False, subsequent_indent="  "))
