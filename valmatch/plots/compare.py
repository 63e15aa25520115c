"""Paired differences between a base system and one or several variants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.models.registry import MODELS, unknown_model
from valmatch.plots.parts.pages import by_division, named, numbered, pages_of
from valmatch.plots.parts.source import Mean, RunFiles, Units, damaged
from valmatch.plots.parts.style import GOOD, GREY, head, panels, wrapped
from valmatch.statistics.rounding import plus_minus
from valmatch.text.terminal import shortened

CHANGES = 3  # most differences between two configs that are named

ROWS, PAIRS = 20, 40
"""Responses in a column of differences of a pair, and in a figure."""

LINES = 45  # lines of a column of panels of several variants, a line a variant

ROUNDING = 1e-12
"""Share of the mean of the base that is no difference but one of sums in another order."""

MOST_COLUMNS = 3

LINE = 0.2  # inches that a variant takes


class ShownDifference(NamedTuple):
    """The paired difference of a variant to the base in one response."""

    found: Mean  # the difference, NaN where undefined
    base: float  # the mean of the base, NaN where undefined

    @property
    def sure(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.found.low > 0.0 or self.found.high < 0.0

    @property
    def colour(self) -> str:
        """The colour of its mark."""
        return GOOD if self.sure else GREY

    @property
    def in_words(self) -> str:
        """The difference in its unit and in percent of the mean of the base."""
        mean, half = self.found.mean, self.found.high - self.found.mean
        rounding = ROUNDING * abs(self.base) if math.isfinite(self.base) else 0.0
        if abs(mean) <= rounding and not half > rounding:
            return "no difference"
        text = plus_minus(mean, half)
        if self.base and math.isfinite(self.base) and math.isfinite(mean):
            percent = 100.0 * mean / abs(self.base)
            text += f"  ({percent:+,.0f}%)" if abs(percent) >= 10 else f"  ({percent:+.2g}%)"
        if self.found.undefined:
            text += f"  undefined in {self.found.undefined:,}"
        return text


class Drawn(NamedTuple):
    """The rows of the figure, from a summary."""

    model: str  # the model of all systems
    names: list[str]  # what the variants are called
    # the differences of the variants, in the order of their names, by response
    rows: dict[str, list[ShownDifference]]
    said: list[str]  # the lines above the figure: what was compared, how, and what marks mean
    below: Sequence[str] = ()  # the lines below it: the base and each variant

    def of(self, names: Sequence[str]) -> Drawn:
        """Return the rows of some responses."""
        return self._replace(rows={name: self.rows[name] for name in names})


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw the differences of ``summary.json``, each response on a scale of its own.

    Bands, hours and weekdays have figures of their own, unless responses are chosen.
    """
    summary = run.json("summary.json")
    several = "variants" in summary
    with damaged(run.folder / "summary.json"):
        drawn = _several(run, summary) if several else _pair(run, summary)
        if not drawn.rows:
            raise ValueError("there are no differences")
        if drawn.model not in MODELS:
            raise ValueError(unknown_model(drawn.model))
    units = Units(drawn.model, run.manifest.config and run.manifest.config.factors)
    names = list(drawn.rows)
    divisions = {"": names} if run.chosen else by_division(names, units.responses)
    figures: dict[str, Figure] = {}
    for division, own in divisions.items():
        if division:
            own_figures = _figures_of_parts(drawn, own, units)
        else:
            most = _panels_of(len(drawn.names)) if several else PAIRS
            draw_page = _figure_of_several if several else _figure
            own_figures = [draw_page(drawn.of(page), units) for page in pages_of(own, most)]
        figures |= numbered(named("differences", division), own_figures)
    return figures


def _pair(run: RunFiles, summary: dict[str, Any]) -> Drawn:
    """Read a comparison of one system with another."""
    model, n = str(summary["model"]), int(summary["replications"])
    heading = (
        f"{model}, b - a in {n:,} paired replications, seed {summary['seed']}, with"
        f" {float(summary['confidence']):.0%} intervals"
    )
    systems = [f"{name}: {_source(summary[name])}" for name in ("a", "b")]
    changed = _changed("b", dict(summary.get("changed", {})))
    rows = _rows(run, [dict(summary["differences"])], "mean_a")
    legend = "filled: the interval leaves zero out; right of zero: b is larger"
    return Drawn(model, ["b"], rows, [heading + _remark(run), *systems, changed, legend])


def _several(run: RunFiles, summary: dict[str, Any]) -> Drawn:
    """Read a comparison of several variants with a base."""
    model, n = str(summary["model"]), int(summary["replications"])
    joint = dict(summary["simultaneous"])
    variants = {name: dict(variant) for name, variant in summary["variants"].items()}
    found = [dict(variant["differences"]) for variant in variants.values()]
    rows = _rows(run, found, "mean_base")
    heading = f"{model}, differences from A in {n:,} paired replications, seed {summary['seed']}"
    intervals = (
        f"filled: the interval leaves zero out; the {int(joint['intervals'])} intervals of a"
        f" response hold together at {float(summary['confidence']):.4g} (Bonferroni, each at"
        f" {float(joint['confidence_each']):.4g})"
    )
    known = any(math.isfinite(value.found.low) for row in rows.values() for value in row)
    systems = [f"A: {_source(summary['a'])}"]
    systems += [
        f"{name.upper()}: {_source(variant)}; {_changed(name, dict(variant['changed']))}"
        for name, variant in variants.items()
    ]
    said = [heading + _remark(run), *([intervals] if known else [])]
    return Drawn(model, list(variants), rows, said, systems)


def _rows(
    run: RunFiles, found: Sequence[dict[str, Any]], base: str
) -> dict[str, list[ShownDifference]]:
    """Return the differences of variants by response, of the responses that are chosen."""
    return {
        response: [_difference(variant[response], base) for variant in found]
        for response in run.choice(found[0])
    }


def _difference(found: dict[str, Any], base: str) -> ShownDifference:
    mean = found[base]
    return ShownDifference(Mean.of(found), math.nan if mean is None else float(mean))


def _remark(run: RunFiles) -> str:
    return f"; {run.remark}" if run.remark else ""


def _source(found: dict[str, Any]) -> str:
    """Say which config a system has."""
    return f"{shortened(Path(str(found['source'])).stem)}, config {found['config_id']}"


def _changed(name: str, found: dict[str, Any]) -> str:
    """Say in what a variant differs from the base, the first of much."""
    said = [shortened(f"{key}: {values['a']} -> {values[name]}") for key, values in found.items()]
    more = f" and {len(said) - CHANGES} more" if len(said) > CHANGES else ""
    return ", ".join(said[:CHANGES]) + more


def _figure(drawn: Drawn, units: Units) -> Figure:
    """Draw the differences of a pair, one below the other with a common zero line."""
    columns = math.ceil(len(drawn.rows) / ROWS)
    figure, grid = panels(len(drawn.rows), columns, width=5.6, height=0.62)
    for axes, (response, (difference,)) in zip(grid, drawn.rows.items(), strict=True):
        _scale(axes, units.response(response), [difference], bins=7)
        axes.set_title(
            difference.in_words, loc="right", fontsize=8.5, pad=3, color=difference.colour
        )
        axes.set(ylim=(-1.0, 1.0), yticks=[])
        _mark(axes, difference, 0, linewidth=1.8)
    figure.set_figheight(figure.get_figheight() + 0.45)
    head(figure, *filter(None, drawn.said), lines=8)
    return figure


class Panel(NamedTuple):
    """A panel of several differences on one scale, one below the other."""

    title: str  # what they are of
    names: Sequence[str]  # what each is called
    differences: Sequence[ShownDifference]  # the differences


def _panels_of(lines: int) -> int:
    """Return how many panels of so many lines have room in a figure."""
    return max(1, int(MOST_COLUMNS * LINES / (lines + 1.5)))


def _figure_of_several(drawn: Drawn, units: Units) -> Figure:
    """Draw a panel for each response, in it the variants one below the other."""
    names = [name.upper() for name in drawn.names]
    found = [Panel(units.response(response), names, own) for response, own in drawn.rows.items()]
    return _figure_of_panels(drawn, found)


def _figures_of_parts(drawn: Drawn, names: Sequence[str], units: Units) -> list[Figure]:
    """Draw a panel for each measure and variant, in it the parts one below the other."""
    groups: dict[str, dict[str, list[ShownDifference]]] = {}
    for name in names:
        part = units.responses[name].part
        assert part
        groups.setdefault(part.measure, {})[part.name] = drawn.rows[name]
    found = []
    for measure, rows in groups.items():
        for place, variant in enumerate(drawn.names):
            title = units.response(measure)
            title += f", {variant.upper()} - A" if len(drawn.names) > 1 else ""
            found.append(Panel(title, list(rows), [own[place] for own in rows.values()]))
    most = _panels_of(max(len(panel.names) for panel in found))
    return [_figure_of_panels(drawn, page) for page in pages_of(found, most)]


def _figure_of_panels(drawn: Drawn, found: Sequence[Panel]) -> Figure:
    """Draw panels beside and below each other."""
    lines = max(len(panel.names) for panel in found)
    columns = min(MOST_COLUMNS, math.ceil(len(found) * (lines + 1.5) / LINES))
    width = 5.2 if columns > 1 else 6.4
    figure, grid = panels(len(found), columns, width=width, height=0.45 + LINE * lines)
    for axes, panel in zip(grid, found, strict=True):
        _scale(axes, panel.title, panel.differences, bins=5)
        axes.set(ylim=(len(panel.names) - 0.4, -0.6), yticks=range(len(panel.names)))
        axes.set_yticklabels(panel.names)
        axes.tick_params(axis="y", length=0)
        for place, difference in enumerate(panel.differences):
            axes.text(
                1.01,
                place,
                difference.in_words,
                transform=axes.get_yaxis_transform(),
                color=difference.colour,
                fontsize=8,
                va="center",
            )
            _mark(axes, difference, place, linewidth=1.6, markersize=4.5)
    legend = [wrapped(line, figure.get_figwidth()) for line in drawn.below]
    if legend:
        height = 0.5 + 0.16 * len("\n".join(legend).split("\n"))
        figure.set_figheight(figure.get_figheight() + height)
        figure.supxlabel("\n".join(legend), x=0.01, ha="left", fontsize=8.5)
        head(figure, *drawn.said)
    else:
        figure.set_figheight(figure.get_figheight() + 0.45)
        head(figure, *filter(None, drawn.said), lines=8)
    return figure


def _scale(axes: Axes, title: str, differences: Sequence[ShownDifference], bins: int) -> None:
    """Give a panel its title and a scale with zero in the middle."""
    axes.set_title(title, loc="left", fontsize=8.5, pad=3)
    axes.axvline(0.0, color="black", linewidth=0.9)
    ends = [abs(x) for found, _ in differences for x in (found.mean, found.low, found.high)]
    reach = 1.15 * max(filter(math.isfinite, ends), default=0.0) or 1.0
    axes.set(xlim=(-reach, reach))
    axes.spines["left"].set_visible(False)
    axes.tick_params(labelsize=8, length=2, pad=1.5)
    axes.locator_params(axis="x", nbins=bins)


def _mark(
    axes: Axes,
    difference: ShownDifference,
    place: float,
    linewidth: float,
    markersize: float | None = None,
) -> None:
    """Draw a difference with its interval; nothing of one that is undefined."""
    found = difference.found
    if math.isnan(found.mean):
        return
    half = found.high - found.mean
    axes.errorbar(
        [found.mean],
        [place],
        xerr=None if math.isnan(half) else [half],
        fmt="o",
        color=difference.colour,
        markerfacecolor=difference.colour if difference.sure else "white",
        linewidth=linewidth,
        markersize=markersize,
    )
