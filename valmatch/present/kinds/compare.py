"""Presentation of a comparison: how systems differ that met the same random numbers."""

from __future__ import annotations

import textwrap
from pathlib import Path

from valmatch.experiments.compare import Comparison, Variant
from valmatch.models.model import Response
from valmatch.present import document as d
from valmatch.present.kinds.responses import compared_parts_tables, glossary, responses_table
from valmatch.present.provenance import unit_of_factor
from valmatch.statistics.no_interval import TOO_SHORT
from valmatch.text.terminal import WIDTH, labelled, one_line, shortened

CHANGES = 8  # differences between two configs that a terminal shows
NAMED = 2  # differences between two configs that a sentence names
SYSTEMS = 4  # systems that a finding names
CHARTS = 40  # most responses that are drawn


def present(result: Comparison, view: d.View) -> d.Presentation:
    """Return what a comparison shows."""
    responses, chosen = result.responses, view.responses
    shown = d.headline(responses, chosen)
    places = [k for k, response in enumerate(responses) if d.listed(response, chosen)]
    columns = _columns(result)
    table = responses_table(responses, columns, places)
    same = all(pair.difference.n == result.n for pair in result.comparisons.values())
    table.spare = d.COUNT if same else ""
    table.notes = d.notes_of({"no interval": result.no_interval_of(chosen)})
    tables = [d.Block("Differences", table=table)]
    if not chosen:
        sides = [side for side in columns if side[0] != d.COUNT]
        tables += [d.titled(part, folded=True) for part in compared_parts_tables(responses, sides)]
    tables[-1].items = d.notes_of({TOO_SHORT: result.short_intervals_of(chosen)})
    note = "The interval of each system's difference from A; filled where it leaves 0 out."
    charts = _charts(result, [responses[k] for k in places[:CHARTS]])
    return d.Presentation(
        f"Comparison of {d.config_name(result.base.config)}",
        _question(result),
        finding=_finding(result, shown),
        glossary=d.meanings_in_words(shown),
        header=_header(result, view),
        tables=tables,
        charts=[d.Block("Differences from A", [note], charts=charts, figure="differences")],
        blocks=[_changes(result), *glossary(responses)],
    )


def _header(result: Comparison, view: d.View) -> str:
    """Return which systems were compared, and how."""
    lines = [f"A: {d.config_title(result.base.config)}"]
    for variant in result.variants:
        lines.append(f"{variant.name.upper()}: {d.config_title(variant.run.config)}")
        changed = variant.changed
        lines += [one_line(f"   {k}: {here} -> {there}") for k, here, there in changed[:CHANGES]]
        if len(changed) > CHANGES:
            lines.append(f"   and {len(changed) - CHANGES} more")
    intervals = result.intervals_of(view.responses)
    said = f"; ±: {intervals}" if intervals else ""
    made = f"seed {result.base.seed}, {result.n:,} common replications{said}"
    return "\n".join([*lines, textwrap.fill(made, WIDTH)])


def _in_words(variant: Variant) -> str:
    """Say in few words what differs in a system."""
    said = [f"{name}={shortened(str(there))}" for name, _, there in variant.changed]
    more = f" and {len(said) - NAMED} more" if len(said) > NAMED else ""
    return f"{', '.join(said[:NAMED])}{more}" or "the same config"


def _question(result: Comparison) -> str:
    """Say what was asked."""
    name = d.config_name(result.base.config)
    how = f"the same {d.counted(result.n, 'replication')}, seed {result.base.seed}"
    if not result.is_pair:
        variants = result.variants
        others = [f"{one.name.upper()} ({_in_words(one)})" for one in variants[:SYSTEMS]]
        more = len(variants) - SYSTEMS
        others += [f"{more} more"] if more > 0 else []
        return f"How do {d.joined(others)} differ from {name} as it is (A)? All met {how}."
    (other,) = result.variants
    said = [
        f"{key} is {shortened(str(there))} instead of {shortened(str(here))}"
        for key, here, there in other.changed[:NAMED]
    ]
    said = said or [f"{Path(other.run.config.source).stem} takes its place"]
    more = len(other.changed) - NAMED
    said += [f"{more} more differ"] if more > 0 else []
    return f"What changes in {name} when {d.joined(said)}? Both systems met {how}."


def _finding(result: Comparison, shown: list[Response]) -> str:
    """Say how the systems differ."""
    variants = result.variants
    if result.is_pair:
        founds = [result.comparisons[response.name].difference for response in shown]
        (other,) = variants
        changes = d.joined([_change(other, response) for response in shown])
        said = f"B ({_in_words(other)}): {changes}"
        why = result.no_interval_of([response.name for response in shown])
        return f"{said}; {d.in_interval_words(founds, result.n, 'common replication', why)}."
    parts, most = [], d.HEADLINE if len(variants) == 2 else NAMED
    for other in variants[:SYSTEMS]:
        changes = d.joined([_change(other, response) for response in shown[:most]])
        parts.append(f"{other.name.upper()} ({_in_words(other)}): {changes}")
    more = f"; {len(variants) - SYSTEMS} more below" if len(variants) > SYSTEMS else ""
    joint = f"intervals that hold together at {d.confidence_in_words(result.confidence)}"
    how = joint if result.intervals_of() else "no intervals"
    return f"{'; '.join(parts)}{more}; {how}, n = {result.n:,} common replications."


def _change(other: Variant, response: Response) -> str:
    pair = other.comparisons[response.name]
    return d.change_in_words(response, pair.difference, pair.a.mean)


def _columns(result: Comparison) -> list[d.Column]:
    """Return the columns of numbers: the base, the other system of a pair, the differences."""
    pairs = [result.comparisons[response.name] for response in result.responses]
    columns = d.mean_columns("A", "", [pair.a for pair in pairs])[:1]
    if result.is_pair:
        columns += d.mean_columns("B", "", [pair.b for pair in pairs])[:1]
    half = f"± {result.confidence:.0%}" if result.is_pair else "±"
    for variant in result.variants:
        found = [variant.comparisons[response.name].difference for response in result.responses]
        columns += d.mean_columns(f"{variant.name.upper()} - A", half, found)
    if result.is_pair:
        columns.append((d.COUNT, [str(pair.difference.n) for pair in pairs]))
    return columns


def _changes(result: Comparison) -> d.Block:
    """Return a table of what differs between the systems, and how many responses do."""
    changed = {one.name: {key: (a, b) for key, a, b in one.changed} for one in result.variants}
    heads = ["A", *(name.upper() for name in changed)]
    table = d.TextTable.of("factor", *heads, d.UNIT)
    for key in dict.fromkeys(key for own in changed.values() for key in own):
        base = next(own[key][0] for own in changed.values() if key in own)
        cells = [str(own[key][1]) if key in own else "" for own in changed.values()]
        table.add(key, str(base), *cells, unit_of_factor(result.base.config.model, key))
    if not table.rows:
        table.notes.append("No factor differs.")
    sure = sum(
        any(d.is_sure(one.comparisons[response.name].difference) for one in result.variants)
        for response in result.responses
    )
    of = d.counted(len(result.responses), "response")
    said = [f"{sure} of {of} differ beyond the interval.", result.intervals_of()]
    return d.Block("What differs", table=table, items=[one for one in said if one])


def _charts(result: Comparison, responses: list[Response]) -> list[d.Chart]:
    """Return a chart of each response, a row for each system."""
    charts: list[d.Chart] = []
    for response in responses:
        found = [(one.name.upper(), one.comparisons[response.name]) for one in result.variants]
        rows = [d.interval_of(name, pair.difference, f"{name} - A") for name, pair in found]
        charts.append(d.Intervals(labelled(response.name, response.unit), rows, zero=True))
    return charts
