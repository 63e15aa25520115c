"""Presentation of replications: the mean of each response, by policy, band and hour."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

import numpy as np

from valmatch.experiments.replications import Replications
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Response
from valmatch.present.bins import Lattice, bin_edges, lattice_of_shares
from valmatch.present.document import (
    Block,
    Chart,
    Graph,
    Interval,
    Intervals,
    Line,
    Presentation,
    View,
    after,
    config_name,
    config_title,
    counted,
    ends_of,
    headline,
    in_interval_words,
    is_sure,
    joined,
    listed,
    mean_in_words,
    meanings_in_words,
    measure_label,
    titled,
    value_in_words,
)
from valmatch.present.kinds.responses import PARTS, glossary, parts_sheets
from valmatch.statistics.control_variates import Adjusted
from valmatch.statistics.estimates import Estimate, t_quantile
from valmatch.statistics.no_interval import TOO_SHORT
from valmatch.statistics.rounding import arms_of, formatted, mean_and_half, rounded
from valmatch.statistics.windows import PolicyDifference
from valmatch.text.terminal import COUNT, UNIT, Sheet, aligned, labelled

HISTOGRAMS = 24  # most responses whose distributions are drawn

FIGURES = {"rating": "bands"}
"""The figure of what is divided; of other parts it is called after them."""


def present(result: Replications, view: View) -> Presentation:
    """Return what replications show."""
    name, n = config_name(result.config), counted(result.count, "replication")
    window = any(response.window for response in result.responses)
    found = Presentation(
        f"Replications of {name}",
        f"What does {name} give on average? {n}, seed {result.seed}.",
        header=f"{config_title(result.config)}, seed {result.seed}, {n}" + "\n" * window,
    )
    if not result.count:
        return found
    shown = headline(result.responses, view.responses)
    policies = bool(result.responses[0].window) and not view.responses
    found.finding = _finding_of_policies(result) if policies else _finding(result, shown)
    found.glossary = meanings_in_words(result.responses[:1] if policies else shown)
    found.tables = _tables(result, view.responses)
    found.charts = _charts(result, view.responses)
    found.blocks = glossary(result.responses)
    return found


def _tables(result: Replications, chosen: Collection[str]) -> list[Block]:
    """Return the tables of means, of bands, hours and weekdays, and of paired differences."""
    means = [titled(sheet, "Means") for sheet in _means(result, chosen)]
    reasons = {
        "no interval": result.no_interval_of(chosen),
        "not adjusted": result.not_adjusted_of(chosen),
    }
    sheet = means[-1].sheet
    assert sheet
    sheet.notes += [f"{what}: {why}" for what, why in reasons.items() if why]
    parts = [] if chosen else _means_of_parts(result)
    blocks = [*means, *(titled(part, f"By {part.heads[0]}", folded=True) for part in parts)]
    windows = {r.window for r in result.responses if not chosen or r.name in chosen}
    rows = [
        (row, unit)
        for row, unit in zip(result.differences, result.paired_columns()["unit"], strict=True)
        if {(policy, row.measure, row.games) for policy in (row.policy, row.other)} <= windows
    ]
    blocks += [titled(one, folded=True) for one in _paired(rows, result.confidence)]
    if targets := [one.shown for one in result.precision]:
        blocks.append(Block("Targets of precision", items=targets))
    if short := result.short_intervals_of(chosen):
        blocks[-1].items = [*blocks[-1].items, f"{TOO_SHORT}: {short}"]
    return blocks


def _finding(result: Replications, shown: Sequence[Response]) -> str:
    """Say what the means are, and why there are no intervals."""
    means = [result.estimates[response.name] for response in shown]
    said = joined([mean_in_words(*pair) for pair in zip(shown, means, strict=True)])
    lead = "On average" if result.count > 1 else "Here"
    why = result.no_interval_of([response.name for response in shown])
    return f"{lead} {said}; {in_interval_words(means, result.count, 'replication', why)}."


def _finding_of_policies(result: Replications) -> str:
    """Say what the first measure is under each policy, and how the policies differ."""
    first = result.responses[0]
    assert first.window
    measure, games = first.window.measure, first.window.games
    pairs = zip(result.responses, result.estimates.values(), strict=True)
    own = [
        (response.window.policy, mean)
        for response, mean in pairs
        if response.window and (response.window.measure, response.window.games) == (measure, games)
    ]
    of = f"{measure} ({'sum over all games' if games == 'total' else f'games {games}'})"
    said = f"{of} is " + joined([f"{value_in_words(mean)} under {name}" for name, mean in own])
    rows = [
        (f"{row.policy} - {row.other}", row.estimate, unit)
        for row, unit in zip(result.differences, result.paired_columns()["unit"], strict=True)
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
    return f"{said}{more}; {in_interval_words(means, result.count, 'replication')}."


def _means(result: Replications, chosen: Collection[str] = ()) -> Iterator[Sheet]:
    """Yield tables of mean, half-width and count of each response: one, or one for each policy.

    Only of the responses that are `chosen`, if any are. Titles are the policies, "" for none.
    """
    means, halves = zip(*map(mean_and_half, result.estimates.values()), strict=True)
    counts = [f"{estimate.n}" for estimate in result.estimates.values()]
    columns = [aligned(means), aligned(halves), counts]
    names = ["response", "mean", f"± {result.confidence:.0%}", COUNT]
    if result.adjusted:
        pairs = [_adjusted_and_half(adjusted) for adjusted in result.adjusted.values()]
        columns += [aligned(side) for side in zip(*pairs, strict=True)]
        gains = [
            formatted(adjusted.variance_reduction, ".1f") for adjusted in result.adjusted.values()
        ]
        columns.append(aligned(gains))
        names += ["adjusted", "±", "gain"]
    for policy, places in _by_policy(result.responses, chosen).items():
        sheet = Sheet.of(*names, UNIT, title=policy)
        sheet.spare = COUNT if set(counts) == {f"{result.count}"} else ""
        for place in places:
            response = result.responses[place]
            cells = [column[place] for column in columns]
            sheet.add(_name_under(policy, response), *cells, response.unit)
        yield sheet


def _means_of_parts(result: Replications) -> Iterator[Sheet]:
    """Yield tables of the means of bands, hours and weekdays."""
    means, halves = zip(*map(mean_and_half, result.estimates.values()), strict=True)
    yield from parts_sheets(result.responses, [("", means), ("±", halves)])


def _by_policy(responses: Sequence[Response], chosen: Collection[str]) -> dict[str, list[int]]:
    """Return the places of responses that have rows of their own, by policy, "" for none."""
    found: dict[str, list[int]] = {}
    for place, response in enumerate(responses):
        if listed(response, chosen):
            policy = response.window.policy if response.window else ""
            found.setdefault(policy, []).append(place)
    return found


def _name_under(policy: str, response: Response) -> str:
    """Return what a response is called in the table of a policy."""
    window = response.window
    return f"{window.measure}.{window.games}" if policy and window else response.name


def _adjusted_and_half(adjusted: Adjusted) -> tuple[str, str]:
    if adjusted.mean_cv is None or adjusted.ci_high_cv is None:
        return "", ""
    assert adjusted.ci_low_cv is not None
    arms = adjusted.mean_cv - adjusted.ci_low_cv, adjusted.ci_high_cv - adjusted.mean_cv
    mean, half = rounded(adjusted.mean_cv, max(arms))
    even = math.isclose(*arms, rel_tol=1e-6, abs_tol=1e-9 * abs(adjusted.mean_cv))
    return mean, half if even else arms_of(arms, half)


def _paired(rows: Sequence[tuple[PolicyDifference, str]], confidence: float) -> Iterator[Sheet]:
    """Yield a table of the paired differences between each two policies."""
    for pair, own in groupby(rows, key=lambda row: (row[0].policy, row[0].other)):
        found = list(own)
        cells = [mean_and_half(row.estimate) for row, _ in found]
        columns = [aligned([cell[side] for cell in cells]) for side in (0, 1)]
        heads = ("response", "difference", f"± {confidence:.0%}", COUNT, UNIT)
        sheet = Sheet.of(*heads, title=f"{' - '.join(pair)}, paired")
        for (row, unit), *numbers in zip(found, *columns, strict=True):
            sheet.add(f"{row.measure}.{row.games}", *numbers, str(row.estimate.n), unit)
        yield sheet


# ---- charts ----


def _charts(result: Replications, chosen: Collection[str]) -> list[Block]:
    """Return charts of curves, of distributions, and of parts."""
    blocks = []
    if result.axes and result.curves:
        note = [f"Means over the replications with {result.confidence:.0%} bands."]
        title = "Over the games of a player"
        blocks.append(Block(title, note, charts=curve_charts(result), figure="curves"))
    wanted = [
        response
        for response in result.responses
        if (response.name in chosen if chosen else not (response.part or response.window))
    ][:HISTOGRAMS]
    if wanted and result.count > 1:
        note = ["How often values occur in replications; the line is the mean with its interval."]
        charts = [_distribution(result, response) for response in wanted]
        blocks.append(
            Block("Distributions over replications", note, charts=charts, figure="responses")
        )
    if not chosen:
        for of, parts in part_charts(result).items():
            figure = FIGURES.get(of, f"{of}s")
            blocks.append(Block(f"By {PARTS[of]}", charts=parts, figure=figure))
    return blocks


def curve_charts(result: Replications) -> list[Graph]:
    """Return a chart of each measure with curves, a line for each policy."""
    axes, sums = result.axes, result.curves
    assert axes
    assert sums
    scales = np.array(axes.scales)[:, np.newaxis]
    mean, error = scales * sums.mean, scales * sums.std_error
    numbers, at = np.unique(sums.defined, return_inverse=True)
    half = (1.0 + result.confidence) / 2.0
    times = [t_quantile(half, n - 1) if n > 1 else math.nan for n in numbers.tolist()]
    reach = error * np.array(times)[at].reshape(error.shape)
    games = np.arange(1.0, axes.games + 1.0)
    charts: list[Graph] = []
    for m, measure in enumerate(axes.measures):
        lines = [
            Line(policy if len(axes.policies) > 1 else "", games, *own, colour=k)
            for k, policy in enumerate(axes.policies)
            for own in [(mean[k, m], mean[k, m] - reach[k, m], mean[k, m] + reach[k, m])]
        ]
        label = measure_label(axes, result.responses, measure)
        charts.append(Graph(label, "games of a player", "", lines))
    return charts


def _distribution(result: Replications, response: Response) -> Graph:
    """Return how often values of a response occur."""
    values: Floats = result[response.name]
    defined = np.sort(values[~np.isnan(values)])
    label = labelled(response.name, response.unit)
    if not defined.size:
        return Graph(label, response.unit or response.name, "replications")
    lattice = Lattice(0.0, 1.0) if response.whole else None
    if response.share_of:
        wholes: Floats = result[response.share_of]
        some = ~np.isnan(values) & (wholes > 0.0)
        lattice = lattice_of_shares(values[some], wholes[some]) if some.any() else None
    counts, edges = np.histogram(defined, bin_edges(defined, lattice))
    return Graph(
        label,
        response.unit or response.name,
        "replications",
        edges=edges,
        counts=counts.astype(np.float64),
        mean=ends_of(result.estimates[response.name]),
    )


def part_charts(result: Replications) -> dict[str, list[Chart]]:
    """Return a chart of each measure, by what is divided: bands, hours or weekdays."""
    groups: dict[tuple[str, str, str], list[tuple[str, Estimate]]] = {}
    for response, mean in zip(result.responses, result.estimates.values(), strict=True):
        if response.part:
            part = response.part
            key = (part.of, part.measure, response.unit)
            groups.setdefault(key, []).append((part.name, mean))
    charts: dict[str, list[Chart]] = {}
    for (of, measure, unit), rows in groups.items():
        title = f"{measure}{f' [{unit}]' if unit else ''} by {PARTS[of]}"
        if len(rows) <= 8:
            own: Chart = Intervals(title, [interval_of(name, mean) for name, mean in rows])
            charts.setdefault(of, []).append(own)
            continue
        values, low, high = (
            np.array([np.nan if x is None else x for x in column])
            for column in zip(*((m.mean, m.ci_low, m.ci_high) for _, m in rows), strict=True)
        )
        said = [f"{name}: {value_in_words(mean)}" for name, mean in rows]
        line = Line("", np.arange(float(len(rows))), values, low, high, marks=True, said=said)
        names = [name for name, _ in rows]
        charts.setdefault(of, []).append(Graph(title, PARTS[of], "", [line], names=names))
    return charts


def interval_of(name: str, mean: Estimate) -> Interval:
    """Return a row of a chart of intervals."""
    return Interval(name, *ends_of(mean), f"{name}: {value_in_words(mean)}")
