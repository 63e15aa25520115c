"""What `compare` prints of systems under common random numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from valmatch.cli.console import title_of
from valmatch.cli.tables.layout import (
    WIDTH,
    add_row,
    aligned,
    mean_and_half,
    new_table,
    print_table,
    show_no_interval,
)
from valmatch.printable import one_line

if TYPE_CHECKING:
    from valmatch.experiments.compare import Comparison
    from valmatch.experiments.compare_variants import ComparedVariants
    from valmatch.experiments.side_runs import Change

CHANGES = 8
"""Differences between two configs that are printed."""


def show_comparison(found: Comparison, chosen: Collection[str] = ()) -> None:
    """Print the paired differences of two systems, of the chosen responses if any are."""
    for name, run in (("A", found.a), ("B", found.b)):
        print(f"{name}: {title_of(run.config)}")
    _show_changes(found.changed)
    table = new_table("response", "A", "B", "B - A", f"± {found.confidence:.0%}", "n", "unit")
    rows = list(found.comparisons.values())
    differences = [mean_and_half(one.difference) for one in rows]
    columns = [
        aligned([mean_and_half(one.a)[0] for one in rows]),
        aligned([mean_and_half(one.b)[0] for one in rows]),
        aligned([mean for mean, _ in differences]),
        aligned([half for _, half in differences]),
        [str(one.difference.n) for one in rows],
    ]
    for response, *cells in zip(found.responses, *columns, strict=True):
        if not chosen or response.name in chosen:
            add_row(table, response.name, *cells, response.unit)
    print_table(f"seed {found.a.seed}, {found.n:,} common replications", table, repeated=1)
    show_no_interval(found.no_interval)


def show_variants(found: ComparedVariants, chosen: Collection[str] = ()) -> None:
    """Print the paired differences of several systems to one, of the chosen responses if any."""
    print(f"A: {title_of(found.base.config)}")
    for one in found.variants:
        print(f"{one.name.upper()}: {title_of(one.run.config)}")
        _show_changes(one.changed)
    shown = [one for one in found.responses if not chosen or one.name in chosen]
    first = found.variants[0].comparisons
    base = [mean_and_half(first[one.name].a)[0] for one in shown]
    names, columns = ["response", "A"], [[one.name for one in shown], aligned(base)]
    for variant in found.variants:
        pairs = [mean_and_half(variant.comparisons[one.name].difference) for one in shown]
        names += [f"{variant.name.upper()} - A", "±"]
        columns += [aligned(side) for side in zip(*pairs, strict=True)]
    table = new_table(*names, "unit")
    for cells in zip(*columns, [one.unit for one in shown], strict=True):
        add_row(table, *cells)
    said = f"; ±: {found.intervals}" if found.intervals else ""
    header = f"seed {found.base.seed}, {found.n:,} common replications{said}"
    print_table(textwrap.fill(header, WIDTH), table, repeated=1)
    show_no_interval(found.no_interval)


def _show_changes(changed: Sequence[Change]) -> None:
    """Print what differs between two configs, the first of much."""
    for key, here, there in changed[:CHANGES]:
        print(one_line(f"   {key}: {here} -> {there}"))
    if len(changed) > CHANGES:
        print(f"   and {len(changed) - CHANGES} more")
