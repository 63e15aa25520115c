"""Table of `compare`: systems under common random numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from valmatch.cli.console import title_of
from valmatch.cli.tables.layout import WIDTH, print_table, show_no_interval
from valmatch.plots.sheets.comparison import compared_sheet, differences_columns
from valmatch.plots.sheets.parts import Side, compared_parts_sheets, listed
from valmatch.statistics.no_interval import TOO_SHORT
from valmatch.statistics.rounding import mean_and_half
from valmatch.text.sheet import COUNT
from valmatch.text.terminal import one_line

if TYPE_CHECKING:
    from valmatch.experiments.compare import Comparison
    from valmatch.experiments.side_runs import Change

CHANGES = 8  # differences between two configs that are printed


def show_comparison(found: Comparison, chosen: Collection[str] = ()) -> None:
    """Print the paired differences of systems to a base, of the chosen responses if any are."""
    print(f"A: {title_of(found.base.config)}")
    for variant in found.variants:
        print(f"{variant.name.upper()}: {title_of(variant.run.config)}")
        _show_changes(variant.changed)
    responses, columns = found.responses, _columns(found)
    places = [k for k, response in enumerate(responses) if listed(response, chosen)]
    same = all(pair.difference.n == found.n for pair in found.variants[0].comparisons.values())
    intervals = found.intervals_of(chosen)
    said = f"; ±: {intervals}" if intervals else ""
    header = f"seed {found.base.seed}, {found.n:,} common replications{said}"
    sheet = compared_sheet(responses, columns, places)
    print_table(textwrap.fill(header, WIDTH), sheet, spare=COUNT if same else "")
    if not chosen:
        sides = [side for side in columns if side[0] != COUNT]
        for part in compared_parts_sheets(responses, sides):
            print_table(f"\n{part.title}", part)
    show_no_interval(found.no_interval_of(chosen))
    show_no_interval(found.short_intervals_of(chosen), TOO_SHORT)


def _columns(found: Comparison) -> list[Side]:
    """Return the columns of numbers: the base, the other system of a pair, the differences."""
    names = [response.name for response in found.responses]
    pairs = [found.comparisons[name] for name in names]
    means: list[Side] = [("A", [mean_and_half(pair.a)[0] for pair in pairs])]
    if found.is_pair:
        means.append(("B", [mean_and_half(pair.b)[0] for pair in pairs]))
    variants = [
        (variant.name, [variant.comparisons[name].difference for name in names])
        for variant in found.variants
    ]
    return differences_columns(means, variants, found.confidence)


def _show_changes(changed: Sequence[Change]) -> None:
    """Print what differs between two configs, the first of much."""
    for key, here, there in changed[:CHANGES]:
        print(one_line(f"   {key}: {here} -> {there}"))
    if len(changed) > CHANGES:
        print(f"   and {len(changed) - CHANGES} more")
