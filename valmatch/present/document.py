"""The contents of a presentation, whatever shows it: text tables, charts, sentences."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from valmatch.errors import InputError, option
from valmatch.kernels.arrays import Floats
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.rounding import mean_and_half
from valmatch.text.suggestions import hint
from valmatch.text.terminal import escaped, labelled, shortened, shown

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.models.model import Axes, Response

# Tables as a terminal, a web page and Markdown show them.

UNIT, COUNT = "unit", "n"
"""The columns of units, and of how many replications a mean is of."""

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
    # a text for each column; names are no markup, whatever they hold
    rows: list[list[str]] = field(default_factory=list)
    title: str = ""  # what stands above it
    notes: list[str] = field(default_factory=list)  # what stands below it
    # where a terminal has no room for all columns: how many are repeated, and the one to leave out
    repeated: int = 1
    spare: str = ""

    @classmethod
    def of(cls, *heads: str, left: Collection[str] = TEXT_COLUMNS, title: str = "") -> Self:
        """Return an empty table with columns of some names, those of texts on the left."""
        return cls(list(map(_cell, heads)), {name for name in heads if name in left}, title=title)

    @classmethod
    def of_columns(
        cls, columns: Iterable[Column], left: Collection[str] = TEXT_COLUMNS, title: str = ""
    ) -> Self:
        """Return a table of columns, those of texts on the left."""
        heads, cells = zip(*columns, strict=True)
        table = cls.of(*heads, left=left, title=title)
        for row in zip(*cells, strict=True):
            table.add(*row)
        return table

    def aligned(self, point: str = " ", digit: str = " ") -> Self:
        """Return the table with numbers padded on the right, so that points are below each other.

        Parts of numbers are as wide as the blanks that stand for a point and a digit.
        """
        columns = zip(self.heads, zip(*self.rows, strict=True), strict=False)
        padded = (
            cells if head in self.left else _padded(cells, point, digit) for head, cells in columns
        )
        return replace(self, rows=[list(row) for row in zip(*padded, strict=True)])

    def first(self, most: int) -> Self:
        """Return the table with its first rows alone."""
        return replace(self, rows=self.rows[:most])

    def add(self, *cells: str) -> None:
        """Add a row, a text for each column; the last ones may be left out."""
        blank = [""] * (len(self.heads) - len(cells))
        self.rows.append([*map(_cell, cells), *blank])

    def for_report(self) -> Self:
        """Return a table of at most `MOST_ROWS` rows, which says so."""
        if len(self.rows) <= MOST_ROWS:
            return self
        said = f"The first {MOST_ROWS} of {len(self.rows):,} rows; the files have all."
        return replace(self.first(MOST_ROWS), notes=[*self.notes, said])


def _padded(numbers: Sequence[str], point: str, digit: str) -> list[str]:
    digits = [len(number.rpartition(".")[2]) if "." in number else None for number in numbers]
    most = max((count for count in digits if count is not None), default=None)
    if most is None:
        return list(numbers)
    return [
        number
        if not number or number.startswith("[")  # a unit
        else number + (point if count is None else "") + digit * (most - (count or 0))
        for number, count in zip(numbers, digits, strict=True)
    ]


def _cell(text: str) -> str:
    return shortened(escaped(text), CELL)


def mean_columns(name: str, half: str, means: Iterable[Estimate | None]) -> list[Column]:
    """Return a column of means, and one of their half-widths; blank where there is none."""
    cells = [mean_and_half(mean) if mean else ("", "") for mean in means]
    return [(name, [mean for mean, _ in cells]), (half, [width for _, width in cells])]


# Charts of reports: what is to be drawn, whatever draws it.

COLOURS = 8  # colours that a page knows, by the classes ``c0`` and so on


@dataclass(frozen=True)
class Line:
    """Points, with a line through them and a band or bars around them."""

    name: str  # what it is called in the legend; "" for nothing
    # x, y: the points; NaN where there is none
    x: Floats
    y: Floats
    # low, high: the ends of intervals; None for none
    low: Floats | None = None
    high: Floats | None = None
    # marks, joined: whether points have marks, and whether a line goes through them
    marks: bool = False
    joined: bool = True
    colour: int = 0  # its colour, by number
    said: Sequence[str] = ()  # what is said of each point; none: its numbers


@dataclass(frozen=True)
class Graph:
    """Lines or bars over two axes."""

    # title, x, y: what is shown, and the names of the axes
    title: str
    x: str
    y: str
    lines: Sequence[Line] = ()  # the lines
    # edges, counts: a histogram
    edges: Floats | None = None
    counts: Floats | None = None
    # what stands at 0, 1 and so on of the horizontal axis, where it has no numbers
    names: Sequence[str] = ()
    # a mean with the ends of its interval, across the chart
    mean: tuple[float, float, float] | None = None
    diagonal: bool = False  # whether x = y is drawn


@dataclass(frozen=True)
class Interval:
    """A mean with its interval, NaN where there is none, and what is said of it."""

    name: str
    mean: float
    low: float
    high: float
    said: str


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


@dataclass
class FileLink:
    """A file of the run."""

    name: str  # its name
    target: str = ""  # its path as seen from the report; "" where the report is no file


class View(NamedTuple):
    """What of a result is wanted."""

    responses: Sequence[str] = ()  # those to show; none: all
    players: Sequence[str] = ()  # those to draw; none: the best
    top: int | None = None  # how many players to list; None: the best few
    min_games: int = 0  # players with fewer games are not listed
    charts: bool = True  # whether charts are wanted, for which long files may have to be read


@dataclass
class Presentation:
    """What a result shows: on a terminal, on pages, in figures."""

    title: str  # what the result is
    question: str  # what was asked, in one sentence
    incomplete: str = ""  # what is not there of an unfinished run; "" of one that ended well
    finding: str = ""  # what came out, in one sentence
    glossary: str = ""  # what the names in it mean; "" where they are known
    header: str = ""  # what stands above its first table on a terminal
    warnings: Sequence[str] = ()  # what has to be known of it
    tables: list[Block] = field(default_factory=list)  # shown everywhere
    charts: list[Block] = field(default_factory=list)  # shown by pages and figures
    blocks: list[Block] = field(default_factory=list)  # shown by pages alone
    files: Sequence[FileLink] = ()  # the files of the run


def blocks_of(found: Presentation) -> list[Block]:
    """Return the blocks of a page, in order."""
    warnings = [Block("Warnings", items=found.warnings)] if found.warnings else []
    return [*found.tables, *warnings, *found.charts, *found.blocks]


def titled(table: TextTable, otherwise: str = "", *, folded: bool = False) -> Block:
    """Return a table under its own title, or under another where it has none."""
    return Block(table.title or otherwise, table=table, folded=folded)


def listed(response: Response, chosen: Collection[str]) -> bool:
    """Return whether a response has a row of its own: if it is chosen, else if of no part."""
    return response.name in chosen if chosen else response.part is None


def parameters_table(systems: Mapping[str, Mapping[str, float]]) -> TextTable:
    """Return a table of the parameters of systems."""
    table = TextTable.of("system", "parameter", "value")
    for system, parameters in systems.items():
        for name, value in parameters.items():
            table.add(system, name, f"{value:.6g}")
    return table


# Findings in words: means, changes, and with what confidence they are known.

HEADLINE = 3  # responses that a finding names


def estimate_of(found: Mapping[str, Any]) -> Estimate:
    """Return an estimate that a summary holds."""
    keys = ("mean", "std", "std_error", "ci_low", "ci_high", "min", "max")
    values = (found.get(key) for key in keys)
    numbers = [None if x is None or math.isnan(float(x)) else float(x) for x in values]
    mean, std, error, low, high, least, most = numbers
    n, undefined = int(found["n"]), int(found.get("undefined", 0))
    level, remarks = float(found["confidence"]), tuple(found.get("remarks", ()))
    return Estimate(n, undefined, mean, std, error, low, high, level, least, most, remarks)


def floats(values: Iterable[Any]) -> Floats:
    """Return numbers as an array, NaN for None."""
    if isinstance(values, np.ndarray):
        return values.astype(np.float64)
    return np.array([math.nan if value is None else value for value in values], np.float64)


def line_of_means(
    name: str,
    x: Floats,
    means: Sequence[Estimate],
    said: Sequence[str],
    **more: Any,  # noqa: ANN401
) -> Line:
    """Return means with their intervals as marks of a line."""
    y, low, high = np.array([ends_of(mean) for mean in means]).reshape(-1, 3).T
    return Line(name, x, y, low, high, marks=True, said=said, **more)


def interval_of(name: str, mean: Estimate, said: str = "") -> Interval:
    """Return a row of a chart of intervals."""
    return Interval(name, *ends_of(mean), f"{said or name}: {value_in_words(mean)}")


def notes_of(reasons: Mapping[str, str]) -> list[str]:
    """Return notes on a table: what is not there, and why, where there is a reason."""
    return [f"{what}: {why}" for what, why in reasons.items() if why]


def headline(responses: Sequence[Response], chosen: Sequence[str] = ()) -> list[Response]:
    """Return the responses that a finding names: those that were asked for, or the first.

    Of several policies it is the first measure under each of them.
    """
    names = [response.name for response in responses]
    for name in chosen:
        if name not in names:
            what = f"{shown(name)} is no response here ({hint(name, names)})"
            raise InputError(f"{option('responses')}: {what}")
    wanted = [response for response in responses if response.name in chosen]
    others = [response for response in responses if listed(response, ())]
    found = wanted or others or list(responses)
    window = found[0].window if found and not wanted else None
    if window:
        same = (window.measure, window.games)
        found = [one for one in found if one.window and (one.window[1:]) == same]
    return found[:HEADLINE]


def config_name(config: Config) -> str:
    """Return what a config is called in a sentence: its model, and its file where that differs."""
    stem = shortened(escaped(Path(config.source).stem))
    model = config.model
    return model if stem in ("", model) or stem.startswith("<") else f"{model} ({stem})"


def config_title(config: Config) -> str:
    """Return the start of the header of a table."""
    from valmatch.config.identity import config_id

    stem = shortened(escaped(Path(config.source).stem))
    return f"{config.model} ({stem}), config {config_id(config)}"


def measure_label(axes: Axes | None, responses: Sequence[Response], name: str) -> str:
    """Return the label of what a curve shows, or of a response."""
    units = {response.name.partition(".")[0]: response.unit for response in responses}
    return labelled(name, {**units, **(axes.units if axes else {})}.get(name, ""))


def joined(parts: Sequence[str], last: str = "and") -> str:
    """Return parts as a list in a sentence."""
    if len(parts) < 3:
        return f" {last} ".join(parts)
    return f"{', '.join(parts[:-1])}, {last} {parts[-1]}"


def counted(n: int, what: str) -> str:
    """Return a number of things."""
    return f"{n:,} {what}{'s' * (n != 1)}"


def after(unit: str) -> str:
    """Return a unit as it stands behind a number."""
    return f" {unit}" if unit else ""


def meanings_in_words(responses: Sequence[Response]) -> str:
    """Say what responses are."""
    said = (f"{response.name}: {response.meaning}" for response in responses if response.meaning)
    return "; ".join(said)


def undefined_in(found: Estimate) -> str:
    """Say in how many replications a response is undefined; "" where in none."""
    return f", undefined in {found.undefined:,}" if found.undefined else ""


def mean_in_words(response: Response, found: Estimate) -> str:
    """Say what a mean is."""
    if found.mean is None:
        return f"{response.name} is undefined in all {counted(found.undefined, 'replication')}"
    return f"{response.name} is {value_in_words(found)}{after(response.unit)}{undefined_in(found)}"


def value_in_words(found: Estimate) -> str:
    """Return a mean with its interval."""
    mean, half = mean_and_half(found)
    if not half:
        return mean
    if found.asymmetric:
        digits = len(mean.partition(".")[2])
        return f"{mean} ({found.ci_low:.{digits}f} to {found.ci_high:.{digits}f})"
    return f"{mean} ± {half}"


def ends_of(found: Estimate) -> tuple[float, float, float]:
    """Return a mean with the ends of its interval as charts take them, NaN where undefined."""
    mean, low, high = (
        math.nan if x is None else x for x in (found.mean, found.ci_low, found.ci_high)
    )
    return mean, low, high


def is_sure(found: Estimate) -> bool:
    """Return whether an interval leaves 0 out."""
    return (found.ci_low or 0.0) > 0.0 or (found.ci_high or 0.0) < 0.0


def change_in_words(response: Response, found: Estimate, base: float | None = None) -> str:
    """Say how a mean changes, with no more certainty than its interval gives."""
    if found.mean is None:
        return f"the change of {response.name} is undefined"
    unit = after(response.unit)
    if found.ci_low is None:
        return f"{response.name} changes by {found.mean:+.4g}{unit} (no interval)"
    if found.ci_low == 0.0 == found.ci_high:
        return f"{response.name} does not change"
    value = f"{value_in_words(found)}{unit}"
    if not is_sure(found):
        return f"{response.name} does not clearly change ({value}{undefined_in(found)})"
    value += _share(found.mean, base)
    rises = found.mean > 0.0
    value = value if found.asymmetric else value.removeprefix("-")
    return f"{response.name} {'rises' if rises else 'falls'} by {value}{undefined_in(found)}"


def _share(change: float, base: float | None) -> str:
    """Return a change in percent of what it changes from."""
    if not base or not math.isfinite(base):
        return ""
    percent = 100.0 * change / abs(base)
    text = f"{percent:+,.0f}" if abs(percent) >= 10.0 else f"{percent:+.2g}"
    return f" ({text} %)"


def confidence_in_words(confidence: float) -> str:
    """Return a level as a share of hundred."""
    return f"{100.0 * confidence:.6g}%"


def in_interval_words(founds: Sequence[Estimate], n: int, what: str, why: str = "") -> str:
    """Say with what confidence means are known, and from how many replications."""
    of = f"n = {counted(n, what)}"
    if all(found.ci_low is None for found in founds):
        return f"no intervals, {of}{f' ({why})' if why else ''}"
    return f"{confidence_in_words(founds[0].confidence)} intervals, {of}"
