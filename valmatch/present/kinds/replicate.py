"""Presentation of replications: the mean of each response, by policy, band and hour."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

import numpy as np

from valmatch.experiments.replications import Replications
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Response
from valmatch.present import document as d
from valmatch.present.bins import Lattice, histogram, lattice_of_shares
from valmatch.present.kinds.responses import PARTS, glossary, parts_tables, responses_table
from valmatch.statistics.control_variates import Adjusted
from valmatch.statistics.estimates import Estimate, t_quantile
from valmatch.statistics.no_interval import TOO_SHORT
from valmatch.statistics.rounding import arms_of, formatted, rounded
from valmatch.statistics.windows import PolicyDifference
from valmatch.text.terminal import labelled

HISTOGRAMS = 24  # most responses whose distributions are drawn

FIGURES = {"rating": "bands"}
"""The figure of what is divided; of other parts it is called after them."""


def present(result: Replications, view: d.View) -> d.Presentation:
    """Return what replications show."""
    name, n = d.config_name(result.config), d.counted(result.count, "replication")
    window = any(response.window for response in result.responses)
    found = d.Presentation(
        f"Replications of {name}",
        f"What does {name} give on average? {n}, seed {result.seed}.",
        header=f"{d.config_title(result.config)}, seed {result.seed}, {n}" + "\n" * window,
    )
    if not result.count:
        return found
    shown = d.headline(result.responses, view.responses)
    policies = bool(result.responses[0].window) and not view.responses
    found.finding = _finding_of_policies(result) if policies else _finding(result, shown)
    found.glossary = d.meanings_in_words(result.responses[:1] if policies else shown)
    found.tables = _tables(result, view.responses)
    found.charts = _charts(result, view.responses)
    found.blocks = glossary(result.responses)
    return found


def _tables(result: Replications, chosen: Collection[str]) -> list[d.Block]:
    """Return the tables of means, of bands, hours and weekdays, and of paired differences."""
    means = [d.titled(table, "Means") for table in _means(result, chosen)]
    table = means[-1].table
    assert table
    table.notes += d.notes_of(
        {
            "no interval": result.no_interval_of(chosen),
            "not adjusted": result.not_adjusted_of(chosen),
        }
    )
    parts = parts_tables(
        [] if chosen else result.responses, d.mean_columns("", "±", result.estimates.values())
    )
    blocks = [*means, *(d.titled(part, f"By {part.heads[0]}", folded=True) for part in parts)]
    windows = {r.window for r in result.responses if not chosen or r.name in chosen}
    rows = [
        row
        for row in _differences(result)
        if {(policy, row[0].measure, row[0].games) for policy in (row[0].policy, row[0].other)}
        <= windows
    ]
    blocks += [d.titled(one, folded=True) for one in _paired(rows, result.confidence)]
    if targets := [one.shown for one in result.precision]:
        blocks.append(d.Block("Targets of precision", items=targets))
    blocks[-1].items = [
        *blocks[-1].items,
        *d.notes_of({TOO_SHORT: result.short_intervals_of(chosen)}),
    ]
    return blocks


def _differences(result: Replications) -> list[tuple[PolicyDifference, str]]:
    """Return the paired differences between policies with their units."""
    return list(zip(result.differences, result.paired_columns()["unit"], strict=True))


def _finding(result: Replications, shown: Sequence[Response]) -> str:
    """Say what the means are, and why there are no intervals."""
    means = [result.estimates[response.name] for response in shown]
    said = d.joined([d.mean_in_words(*pair) for pair in zip(shown, means, strict=True)])
    lead = "On average" if result.count > 1 else "Here"
    why = result.no_interval_of([response.name for response in shown])
    return f"{lead} {said}; {d.in_interval_words(means, result.count, 'replication', why)}."


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
    said = f"{of} is " + d.joined([f"{d.value_in_words(mean)} under {name}" for name, mean in own])
    rows = [
        (f"{row.policy} - {row.other}", row.estimate, unit)
        for row, unit in _differences(result)
        if (row.measure, row.games) == (measure, games)
    ]
    sure = [
        f"{name} is {d.value_in_words(change)}{d.after(unit)}"
        for name, change, unit in rows
        if d.is_sure(change)
    ]
    unsure = [
        f"{name} ({d.value_in_words(change)})" for name, change, _ in rows if not d.is_sure(change)
    ]
    more = f"; paired, {d.joined(sure)}" if sure else ""
    if unsure:
        more += f"; no clear paired difference of {d.joined(unsure)}"
    means = [mean for _, mean in own]
    return f"{said}{more}; {d.in_interval_words(means, result.count, 'replication')}."


def _means(result: Replications, chosen: Collection[str] = ()) -> Iterator[d.TextTable]:
    """Yield tables of mean, half-width and count of each response: one, or one for each policy.

    Only of the responses that are `chosen`, if any are. Titles are the policies, "" for none.
    """
    counts = [f"{estimate.n}" for estimate in result.estimates.values()]
    columns = d.mean_columns("mean", f"± {result.confidence:.0%}", result.estimates.values())
    columns.append((d.COUNT, counts))
    if adjusted := list(result.adjusted.values()):
        pairs = list(map(_adjusted_and_half, adjusted))
        columns += [("adjusted", [mean for mean, _ in pairs]), ("±", [half for _, half in pairs])]
        columns.append(("gain", [formatted(one.variance_reduction, ".1f") for one in adjusted]))
    for policy, places in _by_policy(result.responses, chosen).items():
        table = responses_table(result.responses, columns, places, policy)
        table.spare = d.COUNT if set(counts) == {f"{result.count}"} else ""
        yield table


def _by_policy(responses: Sequence[Response], chosen: Collection[str]) -> dict[str, list[int]]:
    """Return the places of responses that have rows of their own, by policy, "" for none."""
    found: dict[str, list[int]] = {}
    for place, response in enumerate(responses):
        if d.listed(response, chosen):
            policy = response.window.policy if response.window else ""
            found.setdefault(policy, []).append(place)
    return found


def _adjusted_and_half(adjusted: Adjusted) -> tuple[str, str]:
    if adjusted.mean_cv is None or adjusted.ci_high_cv is None:
        return "", ""
    assert adjusted.ci_low_cv is not None
    arms = adjusted.mean_cv - adjusted.ci_low_cv, adjusted.ci_high_cv - adjusted.mean_cv
    mean, half = rounded(adjusted.mean_cv, max(arms))
    even = math.isclose(*arms, rel_tol=1e-6, abs_tol=1e-9 * abs(adjusted.mean_cv))
    return mean, half if even else arms_of(arms, half)


def _paired(
    rows: Sequence[tuple[PolicyDifference, str]], confidence: float
) -> Iterator[d.TextTable]:
    """Yield a table of the paired differences between each two policies."""
    for pair, own in groupby(rows, key=lambda row: (row[0].policy, row[0].other)):
        found = list(own)
        estimates = [row.estimate for row, _ in found]
        yield d.TextTable.of_columns(
            [
                ("response", [f"{row.measure}.{row.games}" for row, _ in found]),
                *d.mean_columns("difference", f"± {confidence:.0%}", estimates),
                (d.COUNT, [str(estimate.n) for estimate in estimates]),
                (d.UNIT, [unit for _, unit in found]),
            ],
            title=f"{' - '.join(pair)}, paired",
        )


# ---- charts ----


def _charts(result: Replications, chosen: Collection[str]) -> list[d.Block]:
    """Return charts of curves, of distributions, and of parts."""
    blocks = []
    if result.axes and result.curves:
        note = [f"Means over the replications with {result.confidence:.0%} bands."]
        title = "Over the games of a player"
        blocks.append(d.Block(title, note, charts=curve_charts(result), figure="curves"))
    wanted = [
        response
        for response in result.responses
        if (response.name in chosen if chosen else not (response.part or response.window))
    ][:HISTOGRAMS]
    if wanted and result.count > 1:
        note = ["How often values occur in replications; the line is the mean with its interval."]
        charts = [_distribution(result, response) for response in wanted]
        blocks.append(
            d.Block("Distributions over replications", note, charts=charts, figure="responses")
        )
    if not chosen:
        for of, parts in part_charts(result).items():
            figure = FIGURES.get(of, f"{of}s")
            blocks.append(d.Block(f"By {PARTS[of]}", charts=parts, figure=figure))
    return blocks


def curve_charts(result: Replications) -> list[d.Graph]:
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
    charts: list[d.Graph] = []
    for m, measure in enumerate(axes.measures):
        lines = [
            d.Line(policy if len(axes.policies) > 1 else "", games, *own, colour=k)
            for k, policy in enumerate(axes.policies)
            for own in [(mean[k, m], mean[k, m] - reach[k, m], mean[k, m] + reach[k, m])]
        ]
        label = d.measure_label(axes, result.responses, measure)
        charts.append(d.Graph(label, "games of a player", "", lines))
    return charts


def _distribution(result: Replications, response: Response) -> d.Graph:
    """Return how often values of a response occur."""
    values: Floats = result[response.name]
    defined = np.sort(values[~np.isnan(values)])
    lattice = Lattice(0.0, 1.0) if response.whole else None
    if response.share_of:
        wholes: Floats = result[response.share_of]
        some = ~np.isnan(values) & (wholes > 0.0)
        lattice = lattice_of_shares(values[some], wholes[some]) if some.any() else None
    label, axis = labelled(response.name, response.unit), response.unit or response.name
    mean = d.ends_of(result.estimates[response.name])
    return histogram(defined, lattice, label, axis, "replications", mean=mean)


def part_charts(result: Replications) -> dict[str, list[d.Chart]]:
    """Return a chart of each measure, by what is divided: bands, hours or weekdays."""
    groups: dict[tuple[str, str, str], list[tuple[str, Estimate]]] = {}
    for response, mean in zip(result.responses, result.estimates.values(), strict=True):
        if response.part:
            part = response.part
            key = (part.of, part.measure, response.unit)
            groups.setdefault(key, []).append((part.name, mean))
    charts: dict[str, list[d.Chart]] = {}
    for (of, measure, unit), rows in groups.items():
        title = f"{measure}{f' [{unit}]' if unit else ''} by {PARTS[of]}"
        if len(rows) <= 8:
            own: d.Chart = d.Intervals(title, [d.interval_of(name, mean) for name, mean in rows])
            charts.setdefault(of, []).append(own)
            continue
        names, means = [name for name, _ in rows], [mean for _, mean in rows]
        said = [f"{name}: {d.value_in_words(mean)}" for name, mean in rows]
        line = d.line_of_means("", np.arange(float(len(rows))), means, said)
        charts.setdefault(of, []).append(d.Graph(title, PARTS[of], "", [line], names=names))
    return charts
