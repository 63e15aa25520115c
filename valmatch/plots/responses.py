"""Figure of the distribution of each response over the replications, with its mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.plots.opponent.replications import STYLES
from valmatch.plots.parts.bins import bin_edges
from valmatch.plots.parts.labels import few_ticks, in_first_column, label, legend_below
from valmatch.plots.parts.pages import MOST_ROWS, numbered, pages_of
from valmatch.plots.parts.source import ResponseSample, RunFiles, fact_of, in_words, read_samples
from valmatch.plots.parts.style import (
    BAD,
    FAINT,
    GOOD,
    GREY,
    counted,
    head,
    new_figure,
    note,
    panels,
    thinned,
)
from valmatch.text.terminal import labelled, shortened

MOST_STEPS = 250

MOST_COLUMNS = 4  # histograms beside each other

MOST_LINES, LINE = 48, 0.21
"""Values in a list, and inches that each takes."""


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``replications.csv``.

    A response of its own is a histogram. Those that are taken over windows of games under several
    policies are distribution functions, in one panel for each measure and window. Responses of
    parts of the players or of the day have figures of their own, unless they are chosen. Of a
    single replication, which has no distribution, the values are listed.
    """
    known = run.units.responses
    wanted = [known[name] for name in run.choice(known)]
    samples = read_samples(
        run, [response for response in wanted if run.chosen or response.part is None]
    )
    windowed = [sample for sample in samples if sample.response.window]
    if all(sample.estimate.n + sample.estimate.undefined == 1 for sample in samples):
        figures = [_list(page) for page in pages_of(samples, MOST_LINES)]
    elif windowed:
        figures = [_by_policy(windowed)]
    else:
        figures = [_histograms(page) for page in pages_of(samples, MOST_COLUMNS * MOST_ROWS)]
    for figure in figures:
        head(figure, run.heading(fact_of(run, samples)))
    return numbered("responses", figures)


# ---- a single replication ----


def _list(samples: Sequence[ResponseSample]) -> Figure:
    """List the values of responses."""
    height = 0.6 + LINE * (len(samples) + 1)
    figure = new_figure(6.5, height)
    axes = figure.subplots()
    axes.axis("off")
    axes.set(xlim=(0.0, 1.0), ylim=(len(samples), -1.0), xticks=[], yticks=[])
    rows = [("response", "value", "unit"), *map(_cells_of, samples)]
    for place, cells in enumerate(rows, -1):
        colour = GREY if place < 0 else "black"
        for x, text, side in zip((0.0, 0.72, 0.75), cells, ("left", "right", "left"), strict=True):
            axes.text(x, place + 0.5, text, ha=side, va="center", color=colour)
    return figure


def _cells_of(sample: ResponseSample) -> tuple[str, str, str]:
    """Return name, value and unit of a response of one replication."""
    mean, response = sample.estimate.mean, sample.response
    if mean is None:
        value = "undefined"
    else:
        value = f"{mean:,.0f}" if response.whole or abs(mean) >= 1e4 else f"{mean:.5g}"
    return shortened(response.name, 48), value, response.unit


# ---- responses of their own ----


def _histograms(samples: Sequence[ResponseSample]) -> Figure:
    """Draw a histogram for each response."""
    columns = MOST_COLUMNS if len(samples) > 6 else 3
    figure, grid = panels(len(samples), columns, free=True)
    for axes, sample in zip(grid, samples, strict=True):
        _histogram(axes, sample, "replications" if in_first_column(axes) else "")
    return figure


def _histogram(axes: Axes, sample: ResponseSample, what: str) -> None:
    """Draw the values of a response, their mean with its interval."""
    estimate = sample.estimate
    label(axes, labelled(sample.response.name, sample.response.unit))
    if estimate.mean is None:
        note(axes, f"undefined in all {estimate.undefined:,} replications")
        return
    counts, edges = np.histogram(sample.values, bin_edges(sample.values, sample.lattice))
    axes.stairs(counts, edges, fill=True, color=FAINT, alpha=0.7)
    if estimate.ci_low is not None and estimate.ci_high is not None:
        axes.axvspan(estimate.ci_low, estimate.ci_high, color=BAD, alpha=0.35, linewidth=0)
    axes.axvline(estimate.mean, color=BAD, linewidth=1.3)
    undefined = f"\nundefined in {estimate.undefined:,}" if estimate.undefined else ""
    counted(axes, what)
    few_ticks(axes)
    if sample.response.whole:
        axes.locator_params(axis="x", integer=True)
    axes.ticklabel_format(axis="x", useOffset=False)
    axes.set_title(in_words(estimate) + undefined, color=BAD)


# ---- responses under several policies ----


def _by_policy(samples: Sequence[ResponseSample]) -> Figure:
    """Draw a panel for each measure and window, the sums over all games last."""
    groups: dict[tuple[str, str], dict[str, ResponseSample]] = {}
    for sample in samples:
        assert sample.response.window
        policy, measure, games = sample.response.window
        groups.setdefault((measure, games), {})[policy] = sample
    order = sorted(groups, key=lambda key: key[1] == "total")
    columns = max(1, len({games for _, games in order} - {"total"}))
    figure, grid = panels(len(order), columns, width=3.0)
    for k, (axes, key) in enumerate(zip(grid, order, strict=True)):
        _distributions(axes, groups[key])
        unit = next(iter(groups[key].values())).response.unit
        text = labelled(f"{key[0]}, {_stretch(key[1])}", unit)
        label(axes, text, "share of replications" if k % columns == 0 else "")
    legend_below(figure, *grid[0].get_legend_handles_labels())
    return figure


def _stretch(games: str) -> str:
    """Say over which games a response is taken; a single number is that of all games so far."""
    if games == "total":
        return "all games"
    return f"games {games}" if "-" in games else f"after {games}"


def _distributions(axes: Axes, samples: Mapping[str, ResponseSample]) -> None:
    """Draw distribution functions, on each its mean as a dot with the interval."""
    for policy, sample in samples.items():
        name, colour, style = STYLES.get(policy, (policy, GOOD, "-"))
        estimate = sample.estimate
        if estimate.mean is None:
            axes.plot([], [], color=colour, linestyle=style, label=f"{name} (undefined)")
            continue
        share = np.arange(1, sample.values.size + 1) / sample.values.size
        shown = thinned(sample.values.size, MOST_STEPS)
        axes.step(
            np.append(sample.values[shown], sample.values[-1]),
            np.append(share[shown], 1.0),
            where="post",
            color=colour,
            linestyle=style,
            label=name,
        )
        below = np.searchsorted(sample.values, estimate.mean, side="right") / sample.values.size
        reach = None if estimate.arms is None else [[arm] for arm in estimate.arms]
        axes.errorbar([estimate.mean], [below], xerr=reach, color=colour, fmt="o", markersize=3.5)
    axes.set_ylim(-0.03, 1.03)
    few_ticks(axes)
