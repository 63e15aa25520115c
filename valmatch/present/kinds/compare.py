"""Presentation of a comparison: how systems differ that met the same random numbers."""

from __future__ import annotations

import textwrap
from pathlib import Path

from valmatch.experiments.compare import Comparison, Variant
from valmatch.inputs.fields import plain_number
from valmatch.models.model import Response
from valmatch.present import document as d
from valmatch.present.kinds.responses import compared_parts_tables, glossary, responses_table
from valmatch.present.provenance import unit_of_factor
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
    changed = [k for k in places if _changed(result, responses[k])]
    if not chosen:
        shown = d.headline([responses[k] for k in changed] or responses)
    unchanged = [responses[k].name for k in places if k not in changed]
    brief = view.changed and not chosen
    table = responses_table(responses, columns, (changed or places) if brief else places)
    if brief and changed and unchanged:
        table.notes.append(f"no clear change: {', '.join(unchanged)}")
    same = all(pair.difference.n == result.n for pair in result.comparisons.values())
    table.spare = d.COUNT if same else ""
    tables = [d.Block("Differences", table=table)]
    if brief and (parts := [response for response in responses if response.part]):
        sure = sum(_changed(result, response) for response in parts)
        table.notes.append(
            f"{sure} of {len(parts)} responses of groups changed clearly; --all lists all"
        )
    elif not chosen:
        sides = [side for side in columns if side[0] != d.COUNT]
        tables += [d.titled(part, folded=True) for part in compared_parts_tables(responses, sides)]
    note = "The interval of each system's difference from A; filled where it leaves 0 out."
    charts = [_chart(result, responses[k]) for k in places[:CHARTS]]
    return d.Presentation(
        f"Comparison of {d.config_name(result.base.config)}",
        _question(result),
        finding=_finding(result, shown),
        glossary=d.meanings_in_words(shown),
        header=_header(result),
        tables=tables,
        charts=[d.Block("Differences from A", [note], charts=charts, figure="differences")],
        blocks=[_changes(result), *glossary(responses)],
    )


def _header(result: Comparison) -> str:
    """Return which systems were compared, and how."""
    lines = [f"A: {d.config_title(result.base.config)}"]
    for variant in result.variants:
        lines.append(f"{variant.name.upper()}: {d.config_title(variant.run.config)}")
        changed = variant.changed
        lines += [
            one_line(f"   {k}: {_written(here)} -> {_written(there)}")
            for k, here, there in changed[:CHANGES]
        ]
        if len(changed) > CHANGES:
            lines.append(f"   and {len(changed) - CHANGES} more")
    joint = f"; ±: {result.joint}" if result.joint else ""
    made = f"seed {result.base.seed}, {result.replications_in_words}{joint}"
    return "\n".join([*lines, textwrap.fill(made, WIDTH)])


def _changed(result: Comparison, response: Response) -> bool:
    """Return whether some system clearly differs from the base in a response."""
    return any(d.is_sure(v.comparisons[response.name].difference) for v in result.variants)


def _written(value: object) -> str:
    """Return a value of a factor as people write it."""
    return shortened(plain_number(value) if isinstance(value, float) else str(value))


def _in_words(variant: Variant) -> str:
    """Say in few words what differs in a system."""
    changes = [f"{name}={_written(there)}" for name, _, there in variant.changed]
    more = f" and {len(changes) - NAMED} more" if len(changes) > NAMED else ""
    return f"{', '.join(changes[:NAMED])}{more}" or "the same config"


def _question(result: Comparison) -> str:
    """Say what was asked."""
    name, variants = d.config_name(result.base.config), result.variants
    how = f"{result.replications_in_words}, seed {result.base.seed}"
    if not result.is_pair:
        others = [
            f"{variant.name.upper()} ({_in_words(variant)})" for variant in variants[:SYSTEMS]
        ]
        more = len(variants) - SYSTEMS
        others += [f"{more} more"] if more > 0 else []
        return f"How do {d.joined(others)} differ from {name} as it is (A)? {how}."
    (other,) = variants
    changes = [
        f"{key} is {_written(there)} instead of {_written(here)}"
        for key, here, there in other.changed[:NAMED]
    ] or [f"{Path(other.run.config.source).stem} takes its place"]
    more = len(other.changed) - NAMED
    changes += [f"{more} more differ"] if more > 0 else []
    return f"What changes in {name} when {d.joined(changes)}? {how}."


def _finding(result: Comparison, shown: list[Response]) -> str:
    """Say how the systems differ."""
    variants, most = result.variants, d.HEADLINE if len(result.variants) <= 2 else NAMED
    parts = []
    for other in variants[:SYSTEMS]:
        changes = []
        for response in shown[:most]:
            pair = other.comparisons[response.name]
            changes.append(d.change_in_words(response, pair.difference, pair.a.mean))
        parts.append(f"{other.name.upper()} ({_in_words(other)}): {d.joined(changes)}")
    if result.is_pair:
        names = [response.name for response in shown]
        means, why = (
            [result.comparisons[name].difference for name in names],
            result.why_no_interval(names),
        )
        how = d.in_interval_words(means, result.replications_in_words, why)
        return f"{parts[0]}; {how}."
    more = f"; {len(variants) - SYSTEMS} more below" if len(variants) > SYSTEMS else ""
    joint = f"intervals that hold together at {d.confidence_in_words(result.confidence)}"
    how = joint if result.joint else "no intervals"
    return f"{'; '.join(parts)}{more}; {how}, n = {result.replications_in_words}."


def _columns(result: Comparison) -> list[d.Column]:
    """Return the columns of numbers: the base, the other system of a pair, the differences."""
    pairs = [result.comparisons[response.name] for response in result.responses]
    columns = d.mean_columns("A", "", [pair.a for pair in pairs])[:1]
    if result.is_pair:
        columns += d.mean_columns("B", "", [pair.b for pair in pairs])[:1]
    half = f"± {result.confidence:.0%}" if result.is_pair else "±"
    for variant in result.variants:
        differences = [
            variant.comparisons[response.name].difference for response in result.responses
        ]
        columns += d.mean_columns(f"{variant.name.upper()} - A", half, differences)
    if result.is_pair:
        columns.append((d.COUNT, [str(pair.difference.n) for pair in pairs]))
    return columns


def _changes(result: Comparison) -> d.Block:
    """Return a table of what differs between the systems, and how many responses do."""
    changed = [{key: (a, b) for key, a, b in variant.changed} for variant in result.variants]
    names = [variant.name.upper() for variant in result.variants]
    table = d.TextTable.of("factor", "A", *names, d.UNIT)
    for key in dict.fromkeys(key for of_variant in changed for key in of_variant):
        base = next(of_variant[key][0] for of_variant in changed if key in of_variant)
        cells = [str(of_variant[key][1]) if key in of_variant else "" for of_variant in changed]
        table.add(key, str(base), *cells, unit_of_factor(result.base.config.model, key))
    if not table.rows:
        table.notes.append("No factor differs.")
    sure = sum(_changed(result, response) for response in result.responses)
    of = d.counted(len(result.responses), "response")
    items = [f"{sure} of {of} differ beyond the interval.", result.joint]
    return d.Block("What differs", table=table, items=[item for item in items if item])


def _chart(result: Comparison, response: Response) -> d.Chart:
    """Return a chart of a response, a row for each system."""
    rows = []
    for variant in result.variants:
        name, pair = variant.name.upper(), variant.comparisons[response.name]
        rows.append(d.interval_of(name, pair.difference, f"{name} - A"))
    return d.Intervals(labelled(response.name, response.unit), rows, zero=True)
