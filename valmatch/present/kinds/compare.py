"""Presentation of a comparison: how systems differ that met the same random numbers."""

from __future__ import annotations

import textwrap
from pathlib import Path

from valmatch.experiments.compare import Comparison, Variant
from valmatch.models.model import Response
from valmatch.present.document import (
    HEADLINE,
    Block,
    Chart,
    Interval,
    Intervals,
    Presentation,
    View,
    change_in_words,
    confidence_in_words,
    config_name,
    config_title,
    counted,
    ends_of,
    headline,
    in_interval_words,
    is_sure,
    joined,
    listed,
    meanings_in_words,
    titled,
    value_in_words,
)
from valmatch.present.kinds.responses import (
    Side,
    compared_parts_sheets,
    compared_table,
    differences_columns,
    glossary,
)
from valmatch.present.provenance import unit_of_factor
from valmatch.present.terminal import WIDTH
from valmatch.statistics.no_interval import TOO_SHORT
from valmatch.statistics.rounding import mean_and_half
from valmatch.text.terminal import COUNT, Sheet, labelled, one_line, shortened

CHANGES = 8  # differences between two configs that a terminal shows
NAMED = 2  # differences between two configs that a sentence names
SYSTEMS = 4  # systems that a finding names
CHARTS = 40  # most responses that are drawn


def present(result: Comparison, view: View) -> Presentation:
    """Return what a comparison shows."""
    responses, chosen = result.responses, view.responses
    shown = headline(responses, chosen)
    places = [k for k, response in enumerate(responses) if listed(response, chosen)]
    columns = _columns(result)
    sheet = compared_table(responses, columns, places)
    same = all(pair.difference.n == result.n for pair in result.comparisons.values())
    sheet.spare = COUNT if same else ""
    if reason := result.no_interval_of(chosen):
        sheet.notes.append(f"no interval: {reason}")
    tables = [Block("Differences", sheet=sheet)]
    if not chosen:
        sides = [side for side in columns if side[0] != COUNT]
        tables += [titled(part, folded=True) for part in compared_parts_sheets(responses, sides)]
    if short := result.short_intervals_of(chosen):
        tables[-1].items = [f"{TOO_SHORT}: {short}"]
    note = "The interval of each system's difference from A; filled where it leaves 0 out."
    charts = _charts(result, [responses[k] for k in places[:CHARTS]])
    return Presentation(
        f"Comparison of {config_name(result.base.config)}",
        _question(result),
        finding=_finding(result, shown),
        glossary=meanings_in_words(shown),
        header=_header(result, view),
        tables=tables,
        charts=[Block("Differences from A", [note], charts=charts, figure="differences")],
        blocks=[_changes(result), *glossary(responses)],
    )


def _header(result: Comparison, view: View) -> str:
    """Return which systems were compared, and how."""
    lines = [f"A: {config_title(result.base.config)}"]
    for variant in result.variants:
        lines.append(f"{variant.name.upper()}: {config_title(variant.run.config)}")
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
    name = config_name(result.base.config)
    how = f"the same {counted(result.n, 'replication')}, seed {result.base.seed}"
    if not result.is_pair:
        variants = result.variants
        others = [f"{one.name.upper()} ({_in_words(one)})" for one in variants[:SYSTEMS]]
        more = len(variants) - SYSTEMS
        others += [f"{more} more"] if more > 0 else []
        return f"How do {joined(others)} differ from {name} as it is (A)? All met {how}."
    (other,) = result.variants
    said = [
        f"{key} is {shortened(str(there))} instead of {shortened(str(here))}"
        for key, here, there in other.changed[:NAMED]
    ]
    said = said or [f"{Path(other.run.config.source).stem} takes its place"]
    more = len(other.changed) - NAMED
    said += [f"{more} more differ"] if more > 0 else []
    return f"What changes in {name} when {joined(said)}? Both systems met {how}."


def _finding(result: Comparison, shown: list[Response]) -> str:
    """Say how the systems differ."""
    variants = result.variants
    if result.is_pair:
        founds = [result.comparisons[response.name].difference for response in shown]
        (other,) = variants
        changes = joined([_change(other, response) for response in shown])
        said = f"B ({_in_words(other)}): {changes}"
        why = result.no_interval_of([response.name for response in shown])
        return f"{said}; {in_interval_words(founds, result.n, 'common replication', why)}."
    parts, most = [], HEADLINE if len(variants) == 2 else NAMED
    for other in variants[:SYSTEMS]:
        changes = joined([_change(other, response) for response in shown[:most]])
        parts.append(f"{other.name.upper()} ({_in_words(other)}): {changes}")
    more = f"; {len(variants) - SYSTEMS} more below" if len(variants) > SYSTEMS else ""
    joint = f"intervals that hold together at {confidence_in_words(result.confidence)}"
    how = joint if result.intervals_of() else "no intervals"
    return f"{'; '.join(parts)}{more}; {how}, n = {result.n:,} common replications."


def _change(other: Variant, response: Response) -> str:
    pair = other.comparisons[response.name]
    return change_in_words(response, pair.difference, pair.a.mean)


def _columns(result: Comparison) -> list[Side]:
    """Return the columns of numbers: the base, the other system of a pair, the differences."""
    names = [response.name for response in result.responses]
    pairs = [result.comparisons[name] for name in names]
    means: list[Side] = [("A", [mean_and_half(pair.a)[0] for pair in pairs])]
    if result.is_pair:
        means.append(("B", [mean_and_half(pair.b)[0] for pair in pairs]))
    variants = [
        (variant.name, [variant.comparisons[name].difference for name in names])
        for variant in result.variants
    ]
    return differences_columns(means, variants, result.confidence)


def _changes(result: Comparison) -> Block:
    """Return a table of what differs between the systems, and how many responses do."""
    changed = {one.name: {key: (a, b) for key, a, b in one.changed} for one in result.variants}
    heads = ["A", *(name.upper() for name in changed)]
    sheet = Sheet.of("factor", *heads, "unit", left=("factor", "unit"))
    for key in dict.fromkeys(key for own in changed.values() for key in own):
        base = next(own[key][0] for own in changed.values() if key in own)
        cells = [str(own[key][1]) if key in own else "" for own in changed.values()]
        sheet.add(key, str(base), *cells, unit_of_factor(result.base.config.model, key))
    if not sheet.rows:
        sheet.notes.append("No factor differs.")
    sure = sum(
        any(is_sure(one.comparisons[response.name].difference) for one in result.variants)
        for response in result.responses
    )
    of = counted(len(result.responses), "response")
    said = [f"{sure} of {of} differ beyond the interval.", result.intervals_of()]
    return Block("What differs", sheet=sheet, items=[one for one in said if one])


def _charts(result: Comparison, responses: list[Response]) -> list[Chart]:
    """Return a chart of each response, a row for each system."""
    charts: list[Chart] = []
    for response in responses:
        rows = []
        for variant in result.variants:
            found, name = variant.comparisons[response.name].difference, variant.name.upper()
            rows.append(Interval(name, *ends_of(found), f"{name} - A: {value_in_words(found)}"))
        charts.append(Intervals(labelled(response.name, response.unit), rows, zero=True))
    return charts
