"""The contents of a presentation, whatever shows it: text tables, charts, sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from valmatch.errors import OptionError, option
from valmatch.kernels.arrays import Floats
from valmatch.statistics.estimates import Estimate, mean_and_half
from valmatch.text.suggestions import hint
from valmatch.text.terminal import counted as counted
from valmatch.text.terminal import escaped, labelled, shortened, shown

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.models.model import Axes, Response

# Tables as a terminal, a web page and Markdown show them.

UNIT, COUNT = "unit", "n"  # columns of units, and of how many replications a mean is of
CELL = 100  # most characters of a cell
MOST_ROWS = 120  # rows of a table of a report; a file beside the run has all

TEXT_COLUMNS = frozenset(
    """response,unit,band,hour,weekday,meaning,variable,mean of,bound,solver,certified,player,game,
    predictions,side,newcomers,system,last game,what it does,needs,from,problem,constraints,factor,
    coefficient,status,parameter,rule,player_a,player_b,end,folder,command,shard,state,config,model,
    what it is""".replace("\n    ", "").split(",")
)
"""Columns of text in any table."""

Column = tuple[str, Sequence[str]]  # its head, and its cells


@dataclass
class TextTable:
    """A table of texts that is still to be shown."""

    heads: list[str]  # names of the columns, fit for a terminal
    left: set[str]  # those that are texts and stand on the left; numbers stand on the right
    rows: list[list[str]] = field(default_factory=list)  # a text for each column, never markup
    title: str = ""  # what stands above it
    notes: list[str] = field(default_factory=list)  # what stands below it
    # where a terminal has no room for all columns: how many are repeated, and the one to leave out
    repeated: int = 1
    spare: str = ""

    @classmethod
    def of(cls, *heads: str, left: Collection[str] = TEXT_COLUMNS, **more: Any) -> Self:  # noqa: ANN401
        """Return an empty table with columns of some names, those of texts on the left."""
        return cls(list(map(_cell, heads)), {name for name in heads if name in left}, **more)

    @classmethod
    def of_columns(
        cls,
        columns: Iterable[Column],
        optional: Collection[str] = (),
        **more: Any,  # noqa: ANN401
    ) -> Self:
        """Return a table of columns, those of texts on the left, without empty optional ones."""
        kept = [(head, cells) for head, cells in columns if head not in optional or any(cells)]
        table = cls.of(*(head for head, _ in kept), **more)
        table.rows = [
            list(map(_cell, row)) for row in zip(*(cells for _, cells in kept), strict=True)
        ]
        return table

    def aligned(self, point: str = " ", digit: str = " ") -> Self:
        """Return the table with numbers padded on the right: points are below each other."""
        columns = [
            cells if head in self.left else _padded(cells, point, digit)
            for head, cells in zip(self.heads, zip(*self.rows, strict=True), strict=False)
        ]
        return replace(self, rows=[list(row) for row in zip(*columns, strict=True)])

    def add(self, *cells: str) -> None:
        """Add a row, a text for each column; the last ones may be left out."""
        self.rows.append([*map(_cell, cells), *[""] * (len(self.heads) - len(cells))])

    def for_report(self) -> Self:
        """Return a table of at most `MOST_ROWS` rows, which says so."""
        if len(self.rows) <= MOST_ROWS:
            return self
        note = f"The first {MOST_ROWS} of {len(self.rows):,} rows; the files have all."
        return replace(self, rows=self.rows[:MOST_ROWS], notes=[*self.notes, note])


def _padded(numbers: Sequence[str], point: str, digit: str) -> list[str]:
    decimals = [len(number.rpartition(".")[2]) if "." in number else -1 for number in numbers]
    most = max(decimals, default=-1)
    return [
        number
        if not number or most < 0 or number.startswith("[")  # a unit
        else number + (point if count < 0 else "") + digit * (most - max(count, 0))
        for number, count in zip(numbers, decimals, strict=True)
    ]


def _cell(text: str) -> str:
    return shortened(escaped(text), CELL)


def mean_columns(name: str, half: str, means: Iterable[Estimate | None]) -> list[Column]:
    """Return a column of means, and one of their half-widths; blank where there is none."""
    cells = [mean_and_half(mean) if mean else ("", "") for mean in means]
    return [(head, [pair[k] for pair in cells]) for k, head in enumerate((name, half))]


# Charts: what is to be drawn, whatever draws it.

Ends = tuple[float, float, float]  # a mean with the ends of its interval

COLOURS = 8  # colours that a page knows, by the classes ``c0`` and so on


@dataclass(frozen=True)
class Line:
    """Points, with a line through them and a band or bars around them."""

    name: str  # what it is called in the legend; "" for nothing
    x: Floats  # the points; NaN where there is none
    y: Floats
    low: Floats | None = None  # the ends of intervals; None for none
    high: Floats | None = None
    marks: bool = False  # whether points have marks
    joined: bool = True  # whether a line goes through them
    colour: int = 0  # its colour, by number
    labels: Sequence[str] = ()  # what is said of each point; none: its numbers


@dataclass(frozen=True)
class Graph:
    """Lines or bars over two axes."""

    title: str  # what is shown
    x: str  # the names of the axes
    y: str
    lines: Sequence[Line] = ()  # the lines
    edges: Floats | None = None  # a histogram
    counts: Floats | None = None
    names: Sequence[str] = ()  # what stands at 0, 1 and so on of x, where it has no numbers
    mean: Ends | None = None  # with the ends of its interval, across
    diagonal: bool = False  # whether x = y is drawn


@dataclass(frozen=True)
class Interval:
    """A mean with its interval, NaN where there is none, and what is said of it."""

    name: str
    mean: float
    low: float
    high: float
    label: str


@dataclass(frozen=True)
class Intervals:
    """Means with their intervals, one below the other."""

    title: str  # what they are of
    rows: Sequence[Interval]  # the means
    zero: bool = False  # whether they are differences, and 0 is in the middle

    def is_sure(self, row: Interval) -> bool:
        """Return whether the interval of a row leaves 0 out, where that matters."""
        return not self.zero or row.low > 0.0 or row.high < 0.0


Chart = Graph | Intervals  # what a page can draw


def floats(values: Iterable[Any]) -> Floats:
    """Return numbers as an array, NaN for None."""
    return np.array(values if isinstance(values, np.ndarray) else list(values), np.float64)


def ends_of(mean: Any) -> Ends:  # noqa: ANN401 - an `Estimate`, or what has the same names
    """Return a mean with the ends of its interval as charts take them, NaN where undefined."""
    value, low, high = floats((mean.mean, mean.ci_low, mean.ci_high)).tolist()
    return value, low, high


def line_of_means(
    name: str,
    x: Floats,
    means: Sequence[Estimate],
    labels: Sequence[str],
    **more: Any,  # noqa: ANN401
) -> Line:
    """Return means with their intervals as marks of a line."""
    y, low, high = np.array([ends_of(mean) for mean in means]).reshape(-1, 3).T
    return Line(name, x, y, low, high, marks=True, labels=labels, **more)


MOST_BINS = 40
BINS = 48  # of series over time

TIMES = ((172_800.0, 86_400.0, "days"), (7_200.0, 3_600.0, "hours"), (600.0, 60.0, "minutes"))
"""From so many seconds on, axes of time are in such units."""


def histogram(values: Floats, title: str, axis: str, what: str, mean: Ends | None = None) -> Graph:
    """Return the distribution of sorted values, if there are any."""
    if not values.size:
        return Graph(title, axis, what)
    counts, edges = np.histogram(values, bin_edges(values))
    return Graph(title, axis, what, edges=edges, counts=counts.astype(np.float64), mean=mean)


def bin_edges(values: Floats) -> Floats:
    """Return the edges of bins for sorted values; of whole numbers each bin has equally many."""
    low, high = float(values[0]), float(values[-1])
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        reach = 0.05 * abs(low) or 0.5
        return np.array([low - reach, low + reach])
    bins = min(np.histogram_bin_edges(values, "auto").size - 1, MOST_BINS)
    if (values % 1.0).any():
        return np.linspace(low, high, bins + 1)
    step = max(np.ceil((high - low + 1.0) / MOST_BINS), np.rint((high - low + 1.0) / bins))
    return np.arange(low - 0.5, high + step, step)


def queue_charts(came: Floats, went: Floats, matches: Floats, what: str) -> Iterator[Graph]:
    """Yield how many wait, NaN of who has not gone, and how many matches are made, over seconds."""
    times = np.concatenate([came, went])
    if not np.isfinite(times).any():
        return
    first, end = float(np.nanmin(times)), float(np.nanmax(times))
    scale, unit = next((entry[1:] for entry in TIMES if end >= entry[0]), (1.0, "seconds"))
    first, last = first / scale, end / scale
    edges = np.linspace(first, last if last > first else first + 1.0, BINS + 1)
    # The time that all have waited until each edge: of who came before it, until it or the end.
    begin, stop = np.clip(came / scale, edges[0], edges[-1]), np.fmin(went / scale, edges[-1])
    total = [float(np.clip(np.minimum(stop, edge) - begin, 0.0, None).sum()) for edge in edges]
    means, axis = np.diff(np.array(total)) / np.diff(edges), f"time [{unit}]"
    yield Graph(f"Waiting {what}, mean", axis, what, edges=edges, counts=means)
    if matches.size:
        counts = np.histogram(matches / scale, edges)[0].astype(np.float64)
        yield Graph("Matches made", axis, "matches", edges=edges, counts=counts)


def dots(name: str, x: Floats, y: Floats, colour: int = 0, labels: Sequence[str] = ()) -> Line:
    """Return points without a line through them."""
    return Line(name, x, y, marks=True, joined=False, colour=colour, labels=labels)


def interval_of(name: str, mean: Estimate, label: str = "") -> Interval:
    """Return a row of a chart of intervals."""
    return Interval(name, *ends_of(mean), f"{label or name}: {value_in_words(mean)}")


# Presentations: blocks of tables, charts and paragraphs.


@dataclass
class Block:
    """A table, charts or paragraphs under a heading."""

    title: str = ""  # the heading, "" for none
    paragraphs: Sequence[str] = ()  # texts above all else
    table: TextTable | None = None  # a table
    charts: Sequence[Chart] = ()  # charts beside and below each other
    figure: str = ""  # the name of the figure that they make, as files of `plot` have it
    items: Sequence[str] = ()  # texts in a list, below all else
    code: str = ""  # text to be copied as it is
    folded: bool = False  # whether a reader has to open it


class Explorer(NamedTuple):
    """The sliders of a page: what their script reads, and a table of all points without it."""

    data: Mapping[str, Any]
    table: TextTable


class View(NamedTuple):
    """What of a result is wanted."""

    responses: Sequence[str] = ()  # those to show; none: all
    players: Sequence[str] = ()  # those to draw; none: the best
    top: int | None = None  # how many players to list; None: the best few
    min_games: int = 0  # players with fewer games are not listed
    charts: bool = True  # whether charts are wanted, for which long files may have to be read
    changed: bool = False  # of a comparison, only what changed clearly is listed


@dataclass
class Presentation:
    """What a result shows: on a terminal, on pages, in figures."""

    title: str  # what the result is
    question: str  # what was asked, in one sentence
    incomplete: str = ""  # what is not there of an unfinished run; "" of one that ended well
    finding: str = ""  # what came out, in one sentence
    concluded: bool = True  # whether a terminal ends with it
    glossary: str = ""  # what the names in it mean; "" where they are known
    header: str = ""  # what stands above its first table on a terminal
    warnings: Sequence[str] = ()  # what has to be known of it
    notes: Sequence[str] = ()  # those warnings that stand below its tables on a terminal
    tables: list[Block] = field(default_factory=list)  # shown everywhere
    charts: list[Block] = field(default_factory=list)  # shown by pages and figures
    blocks: list[Block] = field(default_factory=list)  # shown by pages alone
    explorer: Callable[[], Explorer | None] = lambda: None  # makes sliders over a whole grid
    # the files of the run by name, with their addresses; "" where the report is no file
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def page(self) -> list[Block]:
        """The blocks of a page, in order; charts of which there are none are left out."""
        warnings = [Block("Warnings and notes", items=self.warnings)] if self.warnings else []
        charts = [block for block in self.charts if block.charts]
        return [*self.tables, *warnings, *charts, *self.blocks]


def titled(table: TextTable, otherwise: str = "", *, folded: bool = False) -> Block:
    """Return a table under its own title, or under another where it has none."""
    return Block(table.title or otherwise, table=table, folded=folded)


def parameters_block(systems: Mapping[str, Mapping[str, float]]) -> list[Block]:
    """Return a folded table of the parameters of systems, if they have any."""
    table = TextTable.of("system", "parameter", "value")
    for system, parameters in systems.items():
        for name, value in parameters.items():
            table.add(system, name, f"{value:.6g}")
    return [Block("Parameters", table=table, folded=True)] if table.rows else []


def unit_of_factor(model: str, name: str) -> str:
    """Return the unit of a factor, given with or without ``factors.``; "" where it has none."""
    from valmatch.config.factor_paths import unit_at
    from valmatch.models.registry import MODELS

    name = name.removeprefix("factors.")
    return (unit_at(MODELS[model].factors, name) or "") if model in MODELS else ""


# Findings in words: means, changes, and with what confidence they are known.

HEADLINE = 3  # responses that a finding names


def listed(response: Response, chosen: Collection[str]) -> bool:
    """Return whether a response has a row of its own: if it is chosen, else if of no part."""
    return response.name in chosen if chosen else response.part is None


def first_measure(responses: Sequence[Response]) -> list[Response]:
    """Return the responses of the first measure, under every policy; [] if it has no policies."""
    first = responses[0].window if responses else None
    return [r for r in responses if first and r.window and r.window[1:] == first[1:]]


def headline(responses: Sequence[Response], chosen: Sequence[str] = ()) -> list[Response]:
    """Return the responses that a finding names: those that were asked for, or the first."""
    names = [response.name for response in responses]
    for name in chosen:
        if name not in names:
            what = f"{shown(name)} is no response here ({hint(name, names)})"
            raise OptionError(f"{option('responses')}: {what}")
    first = [response for response in responses if listed(response, chosen)] or list(responses)
    return ([] if chosen else first_measure(first))[:HEADLINE] or first[:HEADLINE]


def config_name(config: Config) -> str:
    """Return what a config is called in a sentence: its model, and its file where that differs."""
    return name_of(config.model, config.source)


def name_of(model: str, source: str) -> str:
    """Return a model, and the file of its config where that has another name."""
    stem = _stem(source)
    return model if stem in ("", model) or stem.startswith("<") else f"{model} ({stem})"


def _stem(source: str) -> str:
    return shortened(escaped(Path(source).stem))


def config_title(config: Config) -> str:
    """Return the start of the header of a table."""
    from valmatch.config.identity import config_id

    return f"{config.model} ({_stem(config.source)}), config {config_id(config)}"


def measure_label(axes: Axes | None, responses: Sequence[Response], name: str) -> str:
    """Return the label of what a curve shows, or of a response."""
    units = {response.name.partition(".")[0]: response.unit for response in responses}
    return labelled(name, (units | dict(axes.units if axes else {})).get(name, ""))


def joined(parts: Sequence[str], last: str = "and") -> str:
    """Return parts as a list in a sentence."""
    if len(parts) < 3:
        return f" {last} ".join(parts)
    return f"{', '.join(parts[:-1])}, {last} {parts[-1]}"


def first_of(texts: Sequence[str], most: int, more: str = "{:,} more") -> list[str]:
    """Return the first of some texts, and how many more there are."""
    rest = len(texts) - most
    return [*texts[:most], *([more.format(rest)] if rest > 0 else [])]


def after(unit: str) -> str:
    """Return a unit as it stands behind a number."""
    return f" {unit}" if unit else ""


def meanings_in_words(responses: Sequence[Response]) -> str:
    """Say what responses are."""
    return "; ".join(f"{r.name}: {r.meaning}" for r in responses if r.meaning)


def undefined_in(mean: Estimate) -> str:
    """Say in how many replications a response is undefined; "" where in none."""
    return f", undefined in {mean.undefined:,}" if mean.undefined else ""


def mean_in_words(response: Response, mean: Estimate) -> str:
    """Say what a mean is."""
    if mean.mean is None:
        return f"{response.name} is undefined in all {counted(mean.undefined, 'replication')}"
    return f"{response.name} is {value_in_words(mean)}{after(response.unit)}{undefined_in(mean)}"


def value_in_words(estimate: Estimate) -> str:
    """Return a mean with its interval."""
    mean, half = mean_and_half(estimate)
    if half and estimate.asymmetric:
        digits = len(mean.partition(".")[2])
        return f"{mean} ({estimate.ci_low:.{digits}f} to {estimate.ci_high:.{digits}f})"
    return f"{mean} ± {half}" if half else mean


def is_sure(mean: Estimate) -> bool:
    """Return whether an interval leaves 0 out."""
    return (mean.ci_low or 0.0) > 0.0 or (mean.ci_high or 0.0) < 0.0


def change_in_words(response: Response, change: Estimate, base: float | None = None) -> str:
    """Say how a mean changes, with no more certainty than its interval gives."""
    if change.mean is None:
        return f"the change of {response.name} is undefined"
    unit = after(response.unit)
    if change.ci_low is None:
        return f"{response.name} changes by {change.mean:+.4g}{unit} (no interval)"
    if change.ci_low == 0.0 == change.ci_high:
        return f"{response.name} does not change"
    if not is_sure(change):
        value = f"{value_in_words(change)}{unit}"
        return f"{response.name} does not clearly change ({value}{undefined_in(change)})"
    size = change
    if change.mean < 0.0 and change.ci_high is not None:
        size = replace(change, mean=-change.mean, ci_low=-change.ci_high, ci_high=-change.ci_low)
    value = f"{value_in_words(size)}{unit}"
    if base and math.isfinite(base):
        percent = 100.0 * change.mean / abs(base)
        share = f"{percent:+,.0f}" if abs(percent) >= 10.0 else f"{percent:+.2g}"
        value += f" ({share} %)"
    verb = "rises" if change.mean > 0.0 else "falls"
    return f"{response.name} {verb} by {value}{undefined_in(change)}"


def confidence_in_words(confidence: float) -> str:
    """Return a level as a share of hundred."""
    return f"{100.0 * confidence:.6g}%"


def in_interval_words(means: Sequence[Estimate], replications: str, why: str = "") -> str:
    """Say with what confidence means are known, and from how many replications."""
    of = f"n = {replications}"
    if all(mean.ci_low is None for mean in means):
        return f"no intervals, {of}{f' ({why})' if why else ''}"
    return f"{confidence_in_words(means[0].confidence)} intervals, {of}"
