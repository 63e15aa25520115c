"""Table of `compare`: systems under common random numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from valmatch.cli.console import title_of
from valmatch.cli.tables.layout import WIDTH, print_table, show_no_interval
from valmatch.cli.tables.parts import listed, show_parts_compared
from valmatch.statistics.rounding import mean_and_half
from valmatch.text.sheet import COUNT, UNIT, Sheet, aligned
from valmatch.text.terminal import one_line

if TYPE_CHECKING:
    from valmatch.experiments.compare import Comparison
    from valmatch.experiments.side_runs import Change

CHANGES = 8
"""Differences between two configs that are printed."""


def show_comparison(found: Comparison, chosen: Collection[str] = ()) -> None:
    """Print the paired differences of systems to a base, of the chosen responses if any are."""
    print(f"A: {title_of(found.base.config)}")
    for variant in found.variants:
        print(f"{variant.name.upper()}: {title_of(variant.run.config)}")
        _show_changes(variant.changed)
    responses, columns = found.responses, _columns(found)
    places = [k for k, response in enumerate(responses) if listed(response, chosen)]
    same = all(pair.difference.n == found.n for pair in found.variants[0].comparisons.values())
    table = Sheet.of("response", *(name for name, _ in columns), UNIT)
    shown = [aligned([cells[k] for k in places]) for _, cells in columns]
    for k, *cells in zip(places, *shown, strict=True):
        table.add(responses[k].name, *cells, responses[k].unit)
    intervals = found.intervals_of(chosen)
    said = f"; ±: {intervals}" if intervals else ""
    header = f"seed {found.base.seed}, {found.n:,} common replications{said}"
    print_table(textwrap.fill(header, WIDTH), table, spare=COUNT if same else "")
    if not chosen:
        show_parts_compared(responses, [side for side in columns if side[0] != COUNT])
    show_no_interval(found.no_interval_of(chosen))


def _columns(found: Comparison) -> list[tuple[str, list[str]]]:
    """Return the columns of numbers: the base, the other system of a pair, the differences."""
    names = [response.name for response in found.responses]
    pairs = [found.comparisons[name] for name in names]
    columns = [("A", [mean_and_half(pair.a)[0] for pair in pairs])]
    if found.is_pair:
        columns.append(("B", [mean_and_half(pair.b)[0] for pair in pairs]))
    for variant in found.variants:
        differences = [mean_and_half(variant.comparisons[name].difference) for name in names]
        half = f"± {found.confidence:.0%}" if found.is_pair else "±"
        columns.append((f"{variant.name.upper()} - A", [mean for mean, _ in differences]))
        columns.append((half, [width for _, width in differences]))
    if found.is_pair:
        columns.append((COUNT, [str(pair.difference.n) for pair in pairs]))
    return columns


def _show_changes(changed: Sequence[Change]) -> None:
    """Print what differs between two configs, the first of much."""
    for key, here, there in changed[:CHANGES]:
        print(one_line(f"   {key}: {here} -> {there}"))
    if len(changed) > CHANGES:
        print(f"   and {len(changed) - CHANGES} more")
