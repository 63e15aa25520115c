"""Presentation of replications: the mean of each response, by policy, band and hour."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

import numpy as np

from valmatch.experiments.replications import Replications
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Response, Window
from valmatch.present import document as d
from valmatch.present.bins import histogram
from valmatch.present.kinds.responses import PARTS, glossary, parts_tables, responses_table
from valmatch.statistics.control_variates import Adjusted
from valmatch.statistics.estimates import Estimate, t_quantile
from valmatch.statistics.rounding import arms_of, formatted, rounded
from valmatch.text.terminal import labelled

HISTOGRAMS = 24  # most responses whose distributions are drawn
MOST_ROWS = 8  # parts that are drawn as rows; more are drawn along an axis

FIGURES = {"rating": "bands"}
"""The figure of what is divided; of other parts it is called after them."""


def present(result: Replications, view: d.View) -> d.Presentation:
    """Return what replications show."""
    name, n = d.config_name(result.config), d.counted(result.count, "replication")
    window = any(response.window for response in result.responses)
    page = d.Presentation(
        f"Replications of {name}",
        f"What does {name} give on average? {n}, seed {result.seed}.",
        header=f"{d.config_title(result.config)}, seed {result.seed}, {n}" + "\n" * window,
    )
    if not result.count:
        return page
    shown = d.headline(result.responses, view.responses)
    first = result.responses[0].window
    policies = first if first and not view.responses else None
    page.finding = _finding_of_policies(result, policies) if policies else _finding(result, shown)
    page.concluded = bool(policies or result.precision)
    page.glossary = d.meanings_in_words(result.responses[:1] if policies else shown)
    page.tables = _tables(result, view.responses)
    page.charts = _charts(result, view.responses)
    page.blocks = glossary(result.responses)
    return page


def _tables(result: Replications, chosen: Collection[str]) -> list[d.Block]:
    """Return the tables of means, of bands, hours and weekdays, and of paired differences."""
    blocks = [d.titled(table, "Means") for table in _means(result, chosen)]
    if not chosen:
        sides = d.mean_columns("", "±", result.estimates.values())
        parts = parts_tables(result.responses, sides)
        blocks += [d.titled(part, f"By {part.heads[0]}", folded=True) for part in parts]
    blocks += [d.titled(table, folded=True) for table in _paired(result, chosen)]
    if targets := [target.shown for target in result.precision]:
        blocks.append(d.Block("Targets of precision", items=targets))
    return blocks


def _finding(result: Replications, shown: Sequence[Response]) -> str:
    """Say what the means are, and why there are no intervals."""
    means = [result.estimates[response.name] for response in shown]
    text = d.joined([d.mean_in_words(*pair) for pair in zip(shown, means, strict=True)])
    lead = "On average" if result.count > 1 else "Here"
    why = result.why_no_interval([response.name for response in shown])
    how = d.in_interval_words(means, d.counted(result.count, "replication"), why)
    return f"{lead} {text}; {how}."


def _finding_of_policies(result: Replications, first: Window) -> str:
    """Say what the first measure is under each policy, and how the policies differ."""
    measure, games = first.measure, first.games
    means = {
        response.window.policy: result.estimates[response.name]
        for response in result.responses
        if response.window and response.window[1:] == first[1:]
    }
    of = f"{measure} ({'sum over all games' if games == 'total' else f'games {games}'})"
    under = [f"{d.value_in_words(mean)} under {name}" for name, mean in means.items()]
    unit = d.after(result.responses[0].unit)
    sure, unsure = [], []
    for row in result.differences:
        if (row.measure, row.games) == (measure, games):
            name, value = f"{row.policy} - {row.other}", d.value_in_words(row.estimate)
            if d.is_sure(row.estimate):
                sure.append(f"{name} is {value}{unit}")
            else:
                unsure.append(f"{name} ({value})")
    more = f"; paired, {d.joined(sure)}" if sure else ""
    more += f"; no clear paired difference of {d.joined(unsure)}" if unsure else ""
    how = d.in_interval_words(list(means.values()), d.counted(result.count, "replication"))
    return f"{of} is {d.joined(under)}{more}; {how}."


def _means(result: Replications, chosen: Collection[str] = ()) -> Iterator[d.TextTable]:
    """Yield tables of mean, half-width and count of each chosen response, one for each policy."""
    counts = [f"{estimate.n}" for estimate in result.estimates.values()]
    columns = d.mean_columns("mean", f"± {result.confidence:.0%}", result.estimates.values())
    columns.append((d.COUNT, counts))
    if adjusted := list(result.adjusted.values()):
        pairs = list(map(_adjusted_and_half, adjusted))
        columns += [("adjusted", [mean for mean, _ in pairs]), ("±", [half for _, half in pairs])]
        columns.append(
            ("gain", [formatted(response.variance_reduction, ".1f") for response in adjusted])
        )
    places: dict[str, list[int]] = {}
    for k, response in enumerate(result.responses):
        if d.listed(response, chosen):
            policy = response.window.policy if response.window else ""
            places.setdefault(policy, []).append(k)
    for policy, rows in places.items():
        table = responses_table(result.responses, columns, rows, policy)
        table.spare = d.COUNT if set(counts) == {f"{result.count}"} else ""
        yield table


def _adjusted_and_half(adjusted: Adjusted) -> tuple[str, str]:
    if adjusted.mean_cv is None or adjusted.ci_high_cv is None:
        return "", ""
    assert adjusted.ci_low_cv is not None
    arms = adjusted.mean_cv - adjusted.ci_low_cv, adjusted.ci_high_cv - adjusted.mean_cv
    mean, half = rounded(adjusted.mean_cv, max(arms))
    even = math.isclose(*arms, rel_tol=1e-6, abs_tol=1e-9 * abs(adjusted.mean_cv))
    return mean, half if even else arms_of(arms, half)


def _paired(result: Replications, chosen: Collection[str]) -> Iterator[d.TextTable]:
    """Yield a table of the paired differences between each two policies."""
    windows = {r.window for r in result.responses if not chosen or r.name in chosen}
    rows = [
        (row, unit)
        for row, unit in zip(result.differences, result.paired_columns()["unit"], strict=True)
        if {Window(policy, row.measure, row.games) for policy in (row.policy, row.other)} <= windows
    ]
    for pair, group in groupby(rows, key=lambda row: (row[0].policy, row[0].other)):
        of_pair = list(group)
        means = [row.estimate for row, _ in of_pair]
        columns: list[d.Column] = [
            ("response", [f"{row.measure}.{row.games}" for row, _ in of_pair]),
            *d.mean_columns("difference", f"± {result.confidence:.0%}", means),
            (d.COUNT, [str(mean.n) for mean in means]),
            (d.UNIT, [unit for _, unit in of_pair]),
        ]
        yield d.TextTable.of_columns(columns, title=f"{' - '.join(pair)}, paired")


# Charts.


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
    ]
    if result.count > 1:
        title = "Distributions over replications"
        note = ["How often values occur in replications; the line is the mean with its interval."]
        charts = [_distribution(result, response) for response in wanted[:HISTOGRAMS]]
        blocks.append(d.Block(title, note, charts=charts, figure="responses"))
    for of, parts in ({} if chosen else part_charts(result)).items():
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
        lines = []
        for k, policy in enumerate(axes.policies):
            name, y, width = policy if len(axes.policies) > 1 else "", mean[k, m], reach[k, m]
            lines.append(d.Line(name, games, y, y - width, y + width, colour=k))
        label = d.measure_label(axes, result.responses, measure)
        charts.append(d.Graph(label, "games of a player", "", lines))
    return charts


def _distribution(result: Replications, response: Response) -> d.Graph:
    """Return how often finite values of a response occur."""
    values: Floats = result[response.name]
    finite = np.sort(values[np.isfinite(values)])
    label, axis = labelled(response.name, response.unit), response.unit or response.name
    if np.isinf(values).any():
        return histogram(finite, label, axis, "replications")
    mean = d.ends_of(result.estimates[response.name])
    return histogram(finite, label, axis, "replications", mean=mean)


def part_charts(result: Replications) -> dict[str, list[d.Chart]]:
    """Return a chart of each measure, by what is divided: bands, hours or weekdays."""
    groups: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for response, mean in zip(result.responses, result.estimates.values(), strict=True):
        if part := response.part:
            key = (part.of, part.measure, response.unit)
            groups.setdefault(key, {})[part.name] = mean
    charts: dict[str, list[d.Chart]] = {}
    for (of, measure, unit), means in groups.items():
        title = f"{labelled(measure, unit)} by {PARTS[of]}"
        if len(means) <= MOST_ROWS:
            rows = [d.interval_of(name, mean) for name, mean in means.items()]
            charts.setdefault(of, []).append(d.Intervals(title, rows))
            continue
        labels = [f"{name}: {d.value_in_words(mean)}" for name, mean in means.items()]
        places = np.arange(float(len(means)))
        line = d.line_of_means("", places, list(means.values()), labels)
        charts.setdefault(of, []).append(d.Graph(title, PARTS[of], "", [line], names=list(means)))
    return charts
