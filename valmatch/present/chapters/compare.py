"""Chapters on comparisons: how systems differ that met the same random numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from valmatch.experiments.compare import ENOUGH
from valmatch.models.model import Response
from valmatch.present.chapters.replicate import glossary
from valmatch.present.document import (
    HEADLINE,
    Block,
    Chart,
    Interval,
    Intervals,
    Presentation,
    change_in_words,
    confidence_in_words,
    counted,
    ends_of,
    estimate_of,
    headline,
    in_interval_words,
    is_sure,
    joined,
    meanings_in_words,
    response_of,
    titled,
    value_in_words,
)
from valmatch.present.provenance import run_name
from valmatch.present.sheets import (
    compared_parts_sheets,
    compared_sheet,
    differences_columns,
    listed,
)
from valmatch.present.source import RunFiles
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.no_interval import TOO_SHORT, short_intervals
from valmatch.statistics.rounding import rounded
from valmatch.storage.result_files import damaged
from valmatch.text.terminal import Sheet, shortened

SUMMARY = "summary.json"

NAMED = 2  # differences between two configs that a sentence names
SYSTEMS = 4  # systems that a finding names
CHARTS = 12  # most responses of several systems that are drawn


class System(NamedTuple):
    """A system beside the base."""

    name: str  # its letter
    # source, config_id: its config
    source: str
    config_id: str
    changed: Mapping[str, tuple[object, object]]  # what differs: the value of the base, and its own
    differences: Mapping[str, Estimate]  # by response
    # base, own: mean of the base and of this system, by response; NaN where undefined
    base: Mapping[str, float]
    own: Mapping[str, float]

    @property
    def in_words(self) -> str:
        """What differs, as few words."""
        said = [f"{name}={shortened(str(there))}" for name, (_, there) in self.changed.items()]
        more = f" and {len(said) - NAMED} more" if len(said) > NAMED else ""
        return f"{', '.join(said[:NAMED])}{more}" or "the same config"


def chapter(run: RunFiles) -> Presentation:
    """Return the chapter on a run of `compare`."""
    name = run_name(run)
    if not (run.folder / SUMMARY).exists() and run.status != "complete":
        return Presentation(f"Comparison of {name}", f"How do variants of {name} differ?")
    given = run.json(SUMMARY)
    with damaged(run.folder / SUMMARY):
        systems = _systems(given)
        responses = [response_of(run, name) for name in systems[0].differences]
        n, level = int(given["replications"]), float(given["confidence"])
        return _chapter(run, given, systems, responses, n, level)


def _systems(given: Mapping[str, Any]) -> list[System]:
    """Return the systems of a summary, of one that compares several or a pair."""
    if "variants" in given:
        return [_system(name, own, own["differences"]) for name, own in given["variants"].items()]
    own = {**given["b"], "changed": given.get("changed", {})}
    return [_system("b", own, given["differences"])]


def _system(name: str, own: Mapping[str, Any], found: Mapping[str, Any]) -> System:
    means = [_means(found, keys) for keys in (("mean_a", "mean_base"), ("mean_b", "mean_variant"))]
    return System(
        name,
        str(own["source"]),
        str(own["config_id"]),
        {key: (values["a"], values[name]) for key, values in own["changed"].items()},
        {response: estimate_of(facts) for response, facts in found.items()},
        *means,
    )


def _means(found: Mapping[str, Any], keys: Sequence[str]) -> dict[str, float]:
    """Return the means that stand under one of some keys."""
    means = {}
    for response, facts in found.items():
        value = facts[next((key for key in keys if key in facts), keys[0])]
        means[response] = math.nan if value is None else float(value)
    return means


def _chapter(
    run: RunFiles,
    given: Mapping[str, Any],
    systems: Sequence[System],
    responses: Sequence[Response],
    n: int,
    level: float,
) -> Presentation:
    """Return the chapter on what a summary says."""
    asked = _asked(run, systems, n)
    chapter = Presentation(f"Comparison of {run_name(run)}", asked)
    chapter.finding = _finding(run, given, systems, responses)
    chapter.glossary = meanings_in_words(headline(run, responses))
    chapter.blocks.append(Block("What differs", sheet=_changes(run, given, systems)))
    columns = _columns(systems, responses, level)
    places = [k for k, response in enumerate(responses) if listed(response, run.chosen)]
    sheet = compared_sheet(responses, columns, places)
    notes = _notes(given, systems, responses, level)
    chapter.blocks.append(Block("Differences", sheet=sheet))
    sheet.notes += notes
    charts = _charts(run, systems, responses, places)
    note = "The interval of each system's difference from A; filled where it leaves 0 out."
    block = Block("Differences from A", charts=charts, paragraphs=[note], figure="differences")
    chapter.blocks.append(block)
    if not run.chosen:
        sides = [side for side in columns if side[0] != "n"]
        for part in compared_parts_sheets(responses, sides):
            chapter.blocks.append(titled(part, folded=True))
    chapter.blocks += glossary(responses)
    return chapter


def _asked(run: RunFiles, systems: Sequence[System], n: int) -> str:
    """Say what was asked."""
    name, how = run_name(run), f"the same {counted(n, 'replication')}, seed {run.manifest.seed}"
    if len(systems) > 1:
        others = [f"{one.name.upper()} ({one.in_words})" for one in systems[:SYSTEMS]]
        more = len(systems) - SYSTEMS
        others += [f"{more} more"] if more > 0 else []
        return f"How do {joined(others)} differ from {name} as it is (A)? All met {how}."
    (other,) = systems
    changed = other.changed
    said = [
        f"{key} is {shortened(str(there))} instead of {shortened(str(here))}"
        for key, (here, there) in list(changed.items())[:NAMED]
    ]
    if not changed:
        said = [f"{Path(other.source).stem} takes its place"]
    more = len(changed) - NAMED
    said += [f"{more} more differ"] if more > 0 else []
    return f"What changes in {name} when {joined(said)}? Both systems met {how}."


def _finding(
    run: RunFiles,
    given: Mapping[str, Any],
    systems: Sequence[System],
    responses: Sequence[Response],
) -> str:
    """Say how the systems differ."""
    n, level = int(given["replications"]), float(given["confidence"])
    why = str(given.get("no_interval", ""))
    shown = headline(run, responses)
    if len(systems) == 1:
        (other,) = systems
        founds = [other.differences[response.name] for response in shown]
        said = joined([_change(other, response) for response in shown])
        return f"{said}; {in_interval_words(founds, n, 'common replication', why)}."
    parts, most = [], HEADLINE if len(systems) == 2 else NAMED
    for other in systems[:SYSTEMS]:
        changes = joined([_change(other, response) for response in shown[:most]])
        parts.append(f"{other.name.upper()} ({other.in_words}): {changes}")
    more = f"; {len(systems) - SYSTEMS} more below" if len(systems) > SYSTEMS else ""
    known = any(found.ci_low is not None for found in systems[0].differences.values())
    joint = f"intervals that hold together at {confidence_in_words(level)}"
    how = joint if known else "no intervals"
    return f"{'; '.join(parts)}{more}; {how}, n = {n:,} common replications."


def _change(other: System, response: Response) -> str:
    name = response.name
    return change_in_words(response, other.differences[name], other.base[name])


def _changes(run: RunFiles, given: Mapping[str, Any], systems: Sequence[System]) -> Sheet:
    """Return a table of what differs between the systems."""
    names = dict.fromkeys(key for system in systems for key in system.changed)
    heads = ["A", *(system.name.upper() for system in systems)]
    sheet = Sheet.of("factor", *heads, "unit", left=("factor", "unit", *heads))
    for name in names:
        base = next(system.changed[name][0] for system in systems if name in system.changed)
        own = [str(system.changed[name][1]) if name in system.changed else "" for system in systems]
        sheet.add(name, str(base), *own, run.units.of_factor(name))
    ids = [str(given["a"]["config_id"]), *(system.config_id for system in systems)]
    sheet.add("config", *ids, "")
    if not names:
        sheet.notes.append("No factor differs.")
    return sheet


def _columns(
    systems: Sequence[System], responses: Sequence[Response], level: float
) -> list[tuple[str, Sequence[str]]]:
    """Return the columns of the table: means with the digits of differences, and differences."""
    first = systems[0]
    digits = [(r.name, first.differences[r.name]) for r in responses]
    means = [("A", [_mean(first.base[name], difference) for name, difference in digits])]
    if len(systems) == 1:
        means.append(("B", [_mean(first.own[name], difference) for name, difference in digits]))
    found = [(one.name, [one.differences[r.name] for r in responses]) for one in systems]
    return differences_columns(means, found, level)


def _mean(value: float, difference: Estimate) -> str:
    """Return a mean with as many digits as a difference from it has."""
    return "undefined" if math.isnan(value) else rounded(value, difference.half_width)[0]


def _notes(
    given: Mapping[str, Any], systems: Sequence[System], responses: Sequence[Response], level: float
) -> list[str]:
    """Say what has to be known of the differences."""
    notes = []
    if len(systems) > 1:
        joint = given["simultaneous"]
        notes.append(
            f"±: the {joint['intervals']} intervals of a response hold together at"
            f" {confidence_in_words(level)} (Bonferroni, each at"
            f" {confidence_in_words(joint['confidence_each'])})."
        )
        rare = list(joint.get("differ_in_few") or ())
        if rare:
            notes.append(
                f"Those of {joined(rare)} may not: a variant differs in fewer than {ENOUGH}"
                " replications."
            )
    sure = [
        response.name
        for response in responses
        if any(is_sure(system.differences[response.name]) for system in systems)
    ]
    notes.append(
        f"{len(sure)} of {counted(len(responses), 'response')}"
        f" {'differ' if len(sure) != 1 else 'differs'} beyond the interval."
    )
    names = [response.name for response in responses]
    differences = [(name, system.differences[name]) for system in systems for name in names]
    if short := short_intervals(differences):
        notes.append(f"{TOO_SHORT.capitalize()}: {short}")
    if given.get("no_interval"):
        notes.append(f"No interval: {given['no_interval']}")
    return notes


def _charts(
    run: RunFiles, systems: Sequence[System], responses: Sequence[Response], places: Sequence[int]
) -> list[Chart]:
    """Return a chart of each response, a row for each system."""
    charts: list[Chart] = []
    for place in places[:CHARTS]:
        response = responses[place]
        rows = []
        for system in systems:
            found = system.differences[response.name]
            said = f"{system.name.upper()} - A: {value_in_words(found)}"
            rows.append(Interval(system.name.upper(), *ends_of(found), said))
        charts.append(Intervals(run.units.response(response.name), rows, zero=True))
    return charts
