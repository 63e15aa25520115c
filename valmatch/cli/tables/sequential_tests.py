"""The table of a sequential test: counts, where the ratio stands, what is to be expected."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from valmatch.cli.tables.layout import WIDTH, print_table
from valmatch.text.sheet import Sheet
from valmatch.text.terminal import escaped, shortened

if TYPE_CHECKING:
    from valmatch.statistics.sequential_tests import SequentialTest

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
