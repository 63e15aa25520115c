"""Chapters on replications: what a system gives on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from valmatch.models.model import Response
from valmatch.present.bins import bin_edges
from valmatch.present.curves import read_curves
from valmatch.present.document import (
    Block,
    Chart,
    Graph,
    Interval,
    Intervals,
    Line,
    Presentation,
    after,
    counted,
    ends_of,
    estimate_of,
    headline,
    in_interval_words,
    is_sure,
    joined,
    mean_in_words,
    meanings_in_words,
    response_of,
    titled,
    value_in_words,
)
from valmatch.present.provenance import run_name
from valmatch.present.sheets import (
    PARTS,
    Means,
    differences_sheets,
    means_of_parts_sheets,
    means_sheets,
)
from valmatch.present.source import RunFiles, read_samples
from valmatch.statistics.control_variates import Adjusted
from valmatch.statistics.estimates import Estimate, t_quantile
from valmatch.statistics.no_interval import TOO_SHORT, short_intervals
from valmatch.statistics.windows import PolicyDifference
from valmatch.storage.result_files import damaged

SUMMARY, ROWS, CURVES, PAIRED = "summary.json", "replications.csv", "curves.csv", "paired.csv"

SAMPLE = 2000
"""Replications of which distributions are drawn, so that a report of many takes no longer."""

HISTOGRAMS = 16  # most responses whose distributions are drawn

CONTROLS = tuple(Adjusted().as_dict())


def chapter(run: RunFiles) -> Presentation:
    """Return the chapter on a run of `replicate`."""
    found, given = _means(run)
    n = max((mean.n + mean.undefined for mean in found.estimates), default=0)
    asked = (
        f"What does {run_name(run)} give on average? {counted(n, 'replication')}, seed"
        f" {run.manifest.seed}."
    )
    chapter = Presentation(f"Replications of {run_name(run)}", asked)
    if not found.responses or not n:
        return chapter
    differences = _differences(run)
    chapter.finding = _finding(run, found, n, differences, str(given.get("no_interval", "")))
    policies = bool(found.responses[0].window) and not run.chosen
    shown = found.responses[:1] if policies else headline(run, found.responses)
    chapter.glossary = meanings_in_words(shown)
    reasons = {"no_interval": "No interval: ", "not_adjusted": "Not adjusted: "}
    notes = [f"{said}{given[key]}" for key, said in reasons.items() if given.get(key)]
    means = zip((response.name for response in found.responses), found.estimates, strict=True)
    if short := short_intervals(means, "sampling" in given):
        notes.append(f"{TOO_SHORT.capitalize()}: {short}")
    charts = _charts(run, found, n)
    tables = [titled(sheet, "Means", folded=policies) for sheet in means_sheets(found, run.chosen)]
    tables[-1].items = notes
    paired = differences_sheets(differences, found.confidence)
    tables += [*_targets(given), *(titled(sheet, folded=True) for sheet in paired)]
    # The tables of several policies are long, and the curves show what is in them.
    chapter.blocks += [*charts, *tables] if policies else [*tables, *charts]
    if not run.chosen:
        parts = means_of_parts_sheets(found)
        chapter.blocks += [titled(sheet, f"By {sheet.heads[0]}", folded=True) for sheet in parts]
    chapter.blocks += glossary(found.responses)
    return chapter


def _means(run: RunFiles) -> tuple[Means, dict[str, Any]]:
    """Return the means of the summary; of a run that has none yet, of its rows."""
    if not (run.folder / SUMMARY).exists() and run.status != "complete":
        return _means_of_rows(run), {}
    given = run.json(SUMMARY)
    with damaged(run.folder / SUMMARY):
        facts: dict[str, dict[str, Any]] = given["responses"]
        responses = [response_of(run, name) for name in facts]
        estimates = [estimate_of(fact) for fact in facts.values()]
        adjusted = []
        if facts and all(CONTROLS[0] in fact for fact in facts.values()):
            adjusted = [Adjusted(*(fact[key] for key in CONTROLS)) for fact in facts.values()]
        level = estimates[0].confidence if estimates else 0.95
        return Means(responses, estimates, adjusted, level), given


def _means_of_rows(run: RunFiles) -> Means:
    """Return the means of what a run without a summary has made so far."""
    responses = list(run.units.responses.values())
    level = run.manifest.confidence or 0.95
    if not (run.folder / ROWS).exists() or not responses or not _has_rows(run):
        return Means([], [], [], level)
    samples = read_samples(run, responses)
    return Means(responses, [sample.estimate for sample in samples], [], level)


def _has_rows(run: RunFiles) -> bool:
    return next(iter(run.rows(ROWS, run.header(ROWS)[:1])), None) is not None


def _finding(
    run: RunFiles,
    found: Means,
    n: int,
    differences: Sequence[tuple[PolicyDifference, str]],
    why: str,
) -> str:
    """Say what the means are, of policies how they differ, and why there are no intervals."""
    named = dict(zip((r.name for r in found.responses), found.estimates, strict=True))
    first = found.responses[0]
    if first.window and not run.chosen:
        return _finding_of_policies(found, first, n, differences)
    shown = headline(run, found.responses)
    said = joined([mean_in_words(response, named[response.name]) for response in shown])
    means = [named[response.name] for response in shown]
    lead = "On average" if n > 1 else "Here"
    return f"{lead} {said}; {in_interval_words(means, n, 'replication', why)}."


def _finding_of_policies(
    found: Means, first: Response, n: int, differences: Sequence[tuple[PolicyDifference, str]]
) -> str:
    """Say what the first measure is under each policy, and how the policies differ."""
    assert first.window
    measure, games = first.window.measure, first.window.games
    pairs = zip(found.responses, found.estimates, strict=True)
    own = [
        (response.window.policy, mean)
        for response, mean in pairs
        if response.window and (response.window.measure, response.window.games) == (measure, games)
    ]
    of = f"{measure} ({'sum over all games' if games == 'total' else f'games {games}'})"
    said = f"{of} is " + joined([f"{value_in_words(mean)} under {name}" for name, mean in own])
    rows = [
        (f"{row.policy} - {row.other}", row.estimate, unit)
        for row, unit in differences
        if (row.measure, row.games) == (measure, games)
    ]
    sure = [
        f"{name} is {value_in_words(change)}{after(unit)}"
        for name, change, unit in rows
        if is_sure(change)
    ]
    unsure = [
        f"{name} ({value_in_words(change)})" for name, change, _ in rows if not is_sure(change)
    ]
    more = f"; paired, {joined(sure)}" if sure else ""
    if unsure:
        more += f"; no clear paired difference of {joined(unsure)}"
    means = [mean for _, mean in own]
    return f"{said}{more}; {in_interval_words(means, n, 'replication')}."


def _differences(run: RunFiles) -> list[tuple[PolicyDifference, str]]:
    """Return the paired differences between policies, with their units."""
    if not (run.folder / PAIRED).exists():
        return []
    keys = ("n", "undefined", "mean", "std", "std_error", "ci_low", "ci_high", "confidence")
    table = run.table(PAIRED, keys, ("policy", "other", "measure", "games", "unit"))
    found = []
    for row in range(len(table)):
        facts = {key: table.numbers[key][row] for key in keys}
        policy, other, measure, games, unit = (table.texts[key][row] for key in table.texts)
        with damaged(table.path):
            difference = PolicyDifference(policy, other, measure, games, estimate_of(facts))
        found.append((difference, unit))
    return found


def _targets(given: Mapping[str, Any]) -> list[Block]:
    """Return what became of targets of precision."""
    items = [
        ", ".join(f"{key} {value}" for key, value in target.items() if value is not None)
        for target in given.get("targets", ())
    ]
    return [Block("Targets of precision", items=items)] if items else []


def glossary(responses: Sequence[Response]) -> list[Block]:
    """Return what responses mean; bands, hours and policies are not repeated."""
    meanings: dict[str, str] = {}
    for response in responses:
        name = response.name
        if response.part:
            name = response.part.measure
        elif response.window:
            name = response.window.measure
        if response.meaning:
            meanings.setdefault(name, response.meaning)
    items = [f"{name}: {meaning}" for name, meaning in meanings.items()]
    return [Block("What the responses mean", items=items, folded=True)] if items else []


# ---- charts ----


def _charts(run: RunFiles, found: Means, n: int) -> list[Block]:
    """Return charts of curves, of parts, and of distributions."""
    blocks = []
    if (run.folder / CURVES).exists():
        charts = curve_charts(run)
        level = f"{run.manifest.confidence or 0.95:.0%}"
        note = [f"Means over the replications with {level} bands; lines are thinned."]
        blocks.append(Block("Over the games of a player", note, charts=charts, figure="curves"))
    parts = part_charts(found) if not run.chosen else []
    if parts:
        blocks.append(Block("Bands, hours, weekdays", charts=parts, figure="parts"))
    wanted = [
        response
        for response in found.responses
        if (response.name in run.chosen if run.chosen else not (response.part or response.window))
    ][:HISTOGRAMS]
    if wanted and n > 1 and (run.folder / ROWS).exists():
        blocks.append(_distributions(run, wanted, found, n))
    return blocks


def curve_charts(run: RunFiles) -> list[Chart]:
    """Return a chart of each measure with curves, a line for each policy."""
    curves = read_curves(run)
    level = (1.0 + (run.manifest.confidence or 0.95)) / 2.0
    charts: list[Chart] = []
    for measure in dict.fromkeys(measure for _, measure in curves):
        lines = []
        own = [(policy, curve) for (policy, of), curve in curves.items() if of == measure]
        for k, (policy, curve) in enumerate(own):
            times = [t_quantile(level, max(1.0, x - 1.0)) for x in np.unique(curve.n).tolist()]
            reach = curve.error * np.array(times)[np.unique(curve.n, return_inverse=True)[1]]
            games = np.arange(1.0, curve.mean.size + 1.0)
            name = policy if len(own) > 1 else ""
            low, high = curve.mean - reach, curve.mean + reach
            lines.append(Line(name, games, curve.mean, low, high, colour=k))
        charts.append(Graph(run.units.measure(measure), "games of a player", "", lines))
    return charts


def part_charts(found: Means) -> list[Chart]:
    """Return a chart of each measure over bands, hours or weekdays."""
    groups: dict[tuple[str, str, str], list[tuple[str, Estimate]]] = {}
    for response, mean in zip(found.responses, found.estimates, strict=True):
        if response.part:
            part = response.part
            key = (part.of, part.measure, response.unit)
            groups.setdefault(key, []).append((part.name, mean))
    charts: list[Chart] = []
    for (of, measure, unit), rows in groups.items():
        title = f"{measure}{f' [{unit}]' if unit else ''} by {PARTS[of]}"
        if len(rows) <= 8:
            charts.append(Intervals(title, [interval_of(name, mean) for name, mean in rows]))
            continue
        values, low, high = (
            np.array([np.nan if x is None else x for x in column])
            for column in zip(*((m.mean, m.ci_low, m.ci_high) for _, m in rows), strict=True)
        )
        said = [f"{name}: {value_in_words(mean)}" for name, mean in rows]
        line = Line("", np.arange(float(len(rows))), values, low, high, marks=True, said=said)
        names = [name for name, _ in rows]
        charts.append(Graph(title, PARTS[of], "", [line], names=names))
    return charts


def interval_of(name: str, mean: Estimate) -> Interval:
    """Return a row of a chart of intervals."""
    return Interval(name, *ends_of(mean), f"{name}: {value_in_words(mean)}")


def _distributions(run: RunFiles, wanted: Sequence[Response], found: Means, n: int) -> Block:
    """Return histograms of responses over the first replications."""
    means = {r.name: mean for r, mean in zip(found.responses, found.estimates, strict=True)}
    charts: list[Chart] = []
    for sample in read_samples(run, wanted, SAMPLE):
        if not sample.values.size:
            continue
        counts, edges = np.histogram(sample.values, bin_edges(sample.values, sample.lattice))
        unit = f" [{sample.response.unit}]" if sample.response.unit else ""
        title = f"{sample.response.name}{unit}"
        charts.append(
            Graph(
                title,
                sample.response.unit or sample.response.name,
                "replications",
                edges=edges,
                counts=counts.astype(np.float64),
                mean=ends_of(means[sample.response.name]),
            )
        )
    few = f" Of the first {SAMPLE:,} of {n:,} replications." if n > SAMPLE else ""
    note = f"How often values occur in replications; the line is the mean with its interval.{few}"
    return Block("Distributions over replications", [note], charts=charts, figure="responses")
