"""How each response is distributed over the replications, with its mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from valmatch.errors import InputError
from valmatch.model import Response
from valmatch.plots.opponent import STYLES
from valmatch.plots.source import Mean, RunFiles, damaged
from valmatch.plots.style import (
    BAD,
    FAINT,
    GOOD,
    counted,
    head,
    note,
    panels,
    plus_minus,
    thinned,
    wrapped,
)
from valmatch.plots.units import labelled
from valmatch.statistics.estimates import Estimate, estimate

__all__ = ["draw"]

Floats = NDArray[np.float64]

SUMMARY = "summary.json"

MOST_BINS = 40
MOST_STEPS = 250


class Sample(NamedTuple):
    """A response over the replications.

    Attributes
    ----------
    response : Response
        The response.
    values : numpy.ndarray
        Its defined values, sorted.
    estimate : Estimate
        What they say of the mean.
    """

    response: Response
    values: Floats
    estimate: Estimate


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``replications.csv``.

    A response of its own is a histogram. Those that are taken over windows of games under several
    policies are distribution functions, in one panel for each measure and window.

    Raises
    ------
    InputError
        If the file is missing or damaged, or holds no replication.
    """
    known = run.units.responses
    responses = {name: known[name] for name in run.choice(known)}
    table = run.table("replications.csv", responses)
    if not len(table):
        why = f" ({run.remark})" if run.remark else ""
        raise InputError(f"{table.path}: holds no replications{why}")
    confidence = run.manifest.confidence or 0.95
    given = _summarised(run, len(table))
    samples = [
        _sample(one, table.numbers[name], confidence, given.get(name))
        for name, one in responses.items()
    ]
    windowed = [sample for sample in samples if sample.response.window]
    fact = f"{len(table):,} replications, means with {confidence:.0%} intervals"
    figure = _by_policy(windowed) if windowed else _histograms(samples)
    head(figure, run.heading(fact))
    return {"responses": figure}


def _summarised(run: RunFiles, replications: int) -> dict[str, Mean]:
    """Return the means of the summary by response, if it is of so many replications.

    Only whoever made a run knows what its replications are samples of. A killed run has no summary,
    or that of a shorter one.
    """
    if not (run.folder / SUMMARY).exists():
        return {}
    with damaged(run.folder / SUMMARY):
        found = {name: Mean.of(one) for name, one in run.json(SUMMARY)["responses"].items()}
    return {name: one for name, one in found.items() if one.n + one.undefined == replications}


def _sample(response: Response, values: Floats, confidence: float, given: Mean | None) -> Sample:
    """Return a response with its estimate: that of the summary where there is one."""
    found = estimate(values, confidence)
    if given is not None:
        none = math.isnan(given.low)
        low, high = (None, None) if none else (given.low, given.high)
        found = replace(found, ci_low=low, ci_high=high)
    return Sample(response, np.sort(values[~np.isnan(values)]), found)


def _half(one: Estimate) -> float:
    """Return the half-width of an interval; NaN where there is none."""
    return math.nan if one.half_width is None else one.half_width


# ---- responses of their own ----


def _histograms(samples: Sequence[Sample]) -> Figure:
    """Draw a histogram for each response."""
    columns = 4 if len(samples) > 6 else 3
    figure, grid = panels(len(samples), columns)
    for k, (axes, sample) in enumerate(zip(grid, samples, strict=True)):
        _histogram(axes, sample, "replications" if k % columns == 0 else "")
    return figure


def _histogram(axes: Axes, sample: Sample, what: str) -> None:
    """Draw the values of a response, their mean with its interval."""
    one = sample.estimate
    label = labelled(sample.response.name, sample.response.unit)
    axes.set_xlabel(wrapped(label, 2.6))
    if one.mean is None:
        note(axes, f"undefined in all {one.undefined:,} replications")
        return
    counts, edges = np.histogram(sample.values, _edges(sample))
    axes.stairs(counts, edges, fill=True, color=FAINT, alpha=0.7)
    if one.ci_low is not None and one.ci_high is not None:
        axes.axvspan(one.ci_low, one.ci_high, color=BAD, alpha=0.35, linewidth=0)
    axes.axvline(one.mean, color=BAD, linewidth=1.3)
    undefined = f"\nundefined in {one.undefined:,}" if one.undefined else ""
    counted(axes, what)
    axes.locator_params(axis="x", nbins=5)
    axes.set_title(plus_minus(one.mean, _half(one)) + undefined, color=BAD)


def _edges(sample: Sample) -> Floats:
    """Return the edges of the bins; whole numbers lie in the middle of theirs."""
    values = sample.values
    low, high = values[0], values[-1]
    if sample.response.whole:
        step = max(1.0, math.ceil((high - low + 1) / MOST_BINS))
        return np.arange(low - 0.5, high + step, step)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        reach = 0.05 * abs(low) or 0.5
        return np.array([low - reach, low + reach])
    edges = np.histogram_bin_edges(values, "auto")
    return edges if edges.size <= MOST_BINS + 1 else np.linspace(low, high, MOST_BINS + 1)


# ---- responses under several policies ----


def _by_policy(samples: Sequence[Sample]) -> Figure:
    """Draw a panel for each measure and window, the sums over all games last."""
    groups: dict[tuple[str, str], dict[str, Sample]] = {}
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
        text = labelled(
            f"{key[0]}, {'all games' if key[1] == 'total' else f'games {key[1]}'}", unit
        )
        axes.set_xlabel(wrapped(text, 2.9))
        if k % columns == 0:
            axes.set_ylabel("share of replications")
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _distributions(axes: Axes, samples: Mapping[str, Sample]) -> None:
    """Draw distribution functions, on each its mean as a dot with the interval."""
    for policy, sample in samples.items():
        name, colour, style = STYLES.get(policy, (policy, GOOD, "-"))
        one = sample.estimate
        if one.mean is None:
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
        below = np.searchsorted(sample.values, one.mean, side="right") / sample.values.size
        reach = None if one.half_width is None else [one.half_width]
        axes.errorbar([one.mean], [below], xerr=reach, color=colour, fmt="o", markersize=3.5)
    axes.set_ylim(-0.03, 1.03)
    axes.locator_params(axis="x", nbins=5)
