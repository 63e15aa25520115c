"""What all studies share: tables that grow case by case, intervals, pages made from templates."""

import csv
import json
import math
import operator
import re
import statistics
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr, stdtrit

from valmatch.config.config import Config
from valmatch.config.loading import load_config
from valmatch.execution import chunks
from valmatch.experiments.replicate import Replications
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Model
from valmatch.optimization.problem import problem_of, with_factors
from valmatch.optimization.solver_run import RunSpec, Settings, run_solver
from valmatch.ratings.bradley_terry.contests import duel_chances
from valmatch.ratings.bradley_terry.fit import POINTS
from valmatch.statistics.estimates import clopper_pearson
from valmatch.storage.output import write_atomically, write_csv

Row = dict[str, Any]
RowsOf = Callable[..., Iterable[Row]]
T = TypeVar("T")

CONFIDENCE = 0.95
PAGE, TEMPLATE = "README.md", "README.md.jinja"

SUMMARIES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean,
    "median": statistics.median,
    "sum": sum,
    "min": min,
    "max": max,
    "count": len,
}
SIGNS = {"-": operator.sub, "+": operator.add, "/": operator.truediv}


# ---- rows ----


def read(path: Path) -> list[Row]:
    """Return the rows of a CSV file, none where it has not been made."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def where(rows: Iterable[Row], /, **cells: object) -> list[Row]:
    """Return the rows with these cells; a list allows any of its values."""
    allowed = {
        name: set(map(same, value if isinstance(value, list | tuple) else [value]))
        for name, value in cells.items()
    }
    return [row for row in rows if all(same(row[k]) in values for k, values in allowed.items())]


def same(value: object) -> str:
    """Return a text that is the same for a number and its cell, however that is written."""
    try:
        return f"{float(str(value)):.10g}"
    except ValueError:
        return str(value)


def only(rows: Iterable[Row], /, **cells: object) -> Row:
    """Return the one row with these cells."""
    found = where(rows, **cells)
    if len(found) != 1:
        raise ValueError(f"{len(found)} rows with {cells}")
    return found[0]


def group(rows: Iterable[Row], *columns: str) -> dict[tuple[str, ...], list[Row]]:
    """Return rows by their cells of some columns, in the order of the first of each group."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in columns), []).append(row)
    return groups


def numbers(rows: Iterable[Row], name: str) -> Floats:
    """Return the numbers of a column; `name` may be a number, which then is that of all rows."""
    return np.array([float(row.get(name, name)) for row in rows])


def grid(**values: Iterable[object]) -> list[Row]:
    """Return the cases that have each combination of values."""
    return [dict(zip(values, case, strict=True)) for case in product(*values.values())]


# ---- simulations and intervals ----


def simulate(config: str, settings: Iterable[str], seed: int, n: int) -> dict[str, Floats]:
    """Return the responses of replications of a shipped config, by name."""
    return responses_of(chunks.build(load_config(config, list(settings))), seed, range(n))


def responses_of(model: Model[Any], seed: int, indices: range) -> dict[str, Floats]:
    """Return the responses of replications of a model, by name."""
    values = chunks.run(model, seed, indices).responses.T
    return dict(zip(model.responses.names, values, strict=True))


def outcomes_of(config: Config, point: Mapping[str, float], seed: int, indices: range) -> Floats:
    """Return the objective and the excess over each bound of a point, replication by replication.

    Shape: (replications, 1 + constraints).
    """
    problem = problem_of(config, chunks.build(config))
    model = chunks.build(config, with_factors(config, point))
    return problem.outcomes(responses_of(model, seed, indices))


def solved(
    config: Config, solver: str, settings: Settings, number: int = 0
) -> tuple[bool | None, dict[str, float]]:
    """Return whether the point of a run of a solver was shown to be feasible, and the point."""
    problem = problem_of(config, chunks.build(config))
    found = run_solver(config, problem, RunSpec(solver, number), settings).certificate
    return found.feasible, problem.point(found.unit)


def curve(run: Replications, measure: str, policy: str = "") -> tuple[Floats, Floats]:
    """Return the mean of a measure after each game, and its standard error."""
    assert run.axes is not None
    assert run.curves is not None
    at = run.axes.policies.index(policy) if policy else 0, run.axes.measures.index(measure)
    scale = run.axes.scales[at[1]]
    return scale * run.curves.mean[at], scale * run.curves.std_error[at]


def duel_scores(leads: Floats, draw_weight: float, uniform: Floats) -> Floats:
    """Return how duels end, 1, 1/2 or 0, by leads in points and a uniform number each."""
    log_weight = math.log(draw_weight) if draw_weight else -math.inf
    ends = duel_chances(POINTS * leads, log_weight)
    won, tied = uniform < ends.first, uniform < ends.first + ends.drawn
    return np.where(won, 1.0, np.where(tied, 0.5, 0.0))


def run_command(*words: str, folder: Path | None = None) -> dict[str, Any]:
    """Run a command of valmatch in a folder, and return the document that it prints."""
    command = [sys.executable, "-m", "valmatch", *words, "--json"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"valmatch {' '.join(words)}: exit code {done.returncode}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def std_error(values: Floats) -> float:
    """Return the standard error of the mean of independent values."""
    return float(values.std(ddof=1)) / math.sqrt(values.size)


def interval(values: Floats, family: int = 1) -> tuple[float, float]:
    """Return a mean, and half its 95 % interval, where a family of them holds together."""
    quantile = float(stdtrit(values.size - 1, 1.0 - (1.0 - CONFIDENCE) / (2 * family)))
    return float(values.mean()), quantile * std_error(values)


def estimates(values: Mapping[str, Floats], names: Iterable[str] = ()) -> Row:
    """Return the mean of each and, as NAME_ci, the half-width of its interval."""
    row: Row = {}
    for name in names or values:
        row[name], row[f"{name}_ci"] = interval(values[name])
    return row


def errors(values: Mapping[str, Floats]) -> Row:
    """Return the mean of each and, as NAME_std_error, its standard error, to six decimals.

    Both are NaN where a value is undefined.
    """
    row: Row = {}
    for name, own in values.items():
        row |= {name: round(float(own.mean()), 6), f"{name}_std_error": round(std_error(own), 6)}
    return row


def two_sided(values: Floats) -> float:
    """Return the probability of a mean as far from 0 by chance alone, by the t test."""
    error = std_error(values)
    return float(2.0 * stdtr(values.size - 1, -abs(values.mean()) / error)) if error else 1.0


def half_widths(family: int) -> float:
    """Return half an interval in standard errors, where a family of them holds together."""
    return float(ndtri(1.0 - (1.0 - CONFIDENCE) / (2 * family)))


def share(holds: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Return the share of cases in which something holds, with its exact 95 % interval."""
    count = int(holds.sum())
    low, high = clopper_pearson(count, holds.size, 0.5 * (1.0 - CONFIDENCE))
    return count / holds.size, low, high


def holm(chances: Sequence[float]) -> list[bool]:
    """Return which hypotheses Holm's step-down procedure rejects, all together at 5 %."""
    rejected = [False] * len(chances)
    for step, k in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        if chances[k] > (1.0 - CONFIDENCE) / (len(chances) - step):
            break
        rejected[k] = True
    return rejected


def ends(values: Floats, name: str, width: float) -> Row:
    """Return a mean and the ends of its interval, half of which is so many standard errors."""
    mean, half = float(values.mean()), width * std_error(values)
    return {name: mean, "low": mean - half, "high": mean + half}


def difference(values: Floats, width: float) -> Row:
    """Return a difference of which less is better: mean, ends of its interval, and verdict."""
    row = ends(values, "less", width)
    seen = "better" if row["high"] < 0.0 else "worse" if row["low"] > 0.0 else "open"
    return row | {"verdict": seen}


def dominated_volume(values: Floats, reference: Floats) -> float:
    """Return the volume of what points dominate up to a reference, all objectives minimised.

    By slices along the last objective ("hypervolume by slicing objectives", While et al. 2006).

    Shapes: `values` (points, objectives); `reference` (objectives,).
    """
    inside = values[(values < reference).all(axis=1)]
    if len(inside) == 0:
        return 0.0
    if inside.shape[1] == 1:
        return float(reference[0] - inside.min())
    ordered = inside[np.argsort(inside[:, -1], kind="stable")]
    ends = np.append(ordered[1:, -1], reference[-1])
    depths = ends - ordered[:, -1]
    return sum(
        float(depth) * dominated_volume(ordered[: k + 1, :-1], reference[:-1])
        for k, depth in enumerate(depths.tolist())
        if depth > 0.0
    )


# ---- cells of pages ----


def formatted(value: float | str, spec: str) -> str:
    """Return a number as text; nothing where there is none."""
    if value in ("", None):
        return ""
    number = float(value)
    return f"{int(number) if spec.endswith('d') else number:{spec}}"


def plus_minus(mean: float | str, half: float | str, spec: str) -> str:
    """Return a mean with half its interval."""
    return f"{formatted(mean, spec)} ± {formatted(half, spec.lstrip('+'))}"


def two_digits(mean: float, half: float, sign: str = "") -> str:
    """Return a mean with half its interval, to the two leading digits of the latter."""
    digits = max(0, 1 - math.floor(math.log10(half))) if half else 4
    return f"{mean:{sign}.{digits}f} ± {half:.{digits}f}"


def bold(difference: float | str, half: float | str, spec: str) -> str:
    """Return a difference with half its interval, in bold where the interval leaves 0 out."""
    text = plus_minus(difference, half, f"+{spec}")
    return f"**{text}**" if abs(float(difference)) > float(half) else text


def judged(row: Row, spec: str = "+.4f") -> str:
    """Return a difference with the ends of its interval, and its verdict unless that is open."""
    less, low, high = (formatted(row[name], spec) for name in ("less", "low", "high"))
    text = f"{less} [{low}, {high}]"
    return text if row["verdict"] == "open" else f"**{text}** {row['verdict']}"


def words(name: str) -> str:
    """Return a name with spaces."""
    return name.replace("_", " ")


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    texts = [" | ".join(cells) for cells in (head, *lines)]
    texts[1:1] = ["---|" * len(head)]
    return "\n".join(f"|{text}" if text.startswith("---") else f"| {text} |" for text in texts)


def pivot(
    rows: Iterable[Row],
    lines: Sequence[str],
    columns: Sequence[str],
    text: Callable[[Row], str],
    head: Sequence[str] = (),
    title: str = "{}",
    name: Callable[[str], str] = str,
) -> str:
    """Return a table of rows: a line for each of their cells of some columns, across for others.

    `text` gives the cell of a row, `title` the head of a column, as by `str.format`, and `name`
    what a line is called by its cells.
    """
    rows = list(rows)
    across = [*group(rows, *columns)]
    titles = [title.format(", ".join(names)) for names in across]
    body = []
    for names, of_line in group(rows, *lines).items():
        by_column = {key: str(text(one)) for key, (one,) in group(of_line, *columns).items()}
        body.append([*map(name, names), *(by_column.get(key, "") for key in across)])
    return table([*(head or map(words, lines)), *titles], body)


# ---- charts ----


def marks(axis: Any, x: ArrayLike, y: ArrayLike, **style: Any) -> None:  # noqa: ANN401
    """Draw marks; x and y are numbers each, or means with both ends of their intervals in a row."""
    means = []
    for name, values in (("xerr", np.asarray(x)), ("yerr", np.asarray(y))):
        if values.ndim == 2:
            mean, low, high = values.T
            style[name] = np.maximum([mean - low, high - mean], 0.0)
        means.append(values if values.ndim == 1 else mean)
    axis.errorbar(*means, **{"marker": "o", "markersize": 3, "capsize": 2} | style)


# ---- a study ----


class Study:
    """A folder of tables, the parts that make them, and the page that a template makes of them.

    `names` are those of its script, ``globals()``; the template may use them and those of this
    module, which come first.
    """

    def __init__(self, names: dict[str, Any], digits: int = 5) -> None:
        self.folder = Path(names["__file__"]).parent
        self.names = names
        self.parts: dict[str, Callable[[], object]] = {}
        self.at_most = sys.maxsize  # cases of a part, or replications of one that has no cases
        self._digits = digits

    def part(self, make: Callable[[], T]) -> Callable[[], T]:
        """Let the command line name a part."""
        self.parts[make.__name__] = make
        return make

    def rows(self, name: str, /, **cells: object) -> list[Row]:
        """Return the rows of a table with these cells."""
        return where(read(self.folder / f"{name}.csv"), **cells)

    def row(self, name: str, /, **cells: object) -> Row:
        """Return the one row of a table with these cells."""
        return only(self.rows(name), **cells)

    def number(self, name: str, column: str, spec: str, /, of: str = "", **cells: object) -> str:
        """Return a number of a table as text, or a summary (`SUMMARIES`) of those of several rows.

        The column may be two of them with a sign between, as in ``a - b``; either may be a number.
        """
        rows = self.rows(name, **cells)
        left, *rest = re.split(" ([-+/]) ", column, maxsplit=1)
        if not rows or (not of and len(rows) > 1):
            raise ValueError(f"{name}: {len(rows)} rows with {cells}")
        values = numbers(rows, left)
        if rest:
            values = SIGNS[rest[0]](values, numbers(rows, rest[1]))
        first, *_ = every = values.tolist()
        return formatted(SUMMARIES[of](every) if of else first, spec)

    def write(self, name: str, made: Iterable[Mapping[str, object]]) -> None:
        """Write a table, numbers rounded."""
        rows = [*made]
        columns = dict.fromkeys(key for row in rows for key in row)
        values = {key: [self._rounded(row.get(key)) for row in rows] for key in columns}
        write_csv(self.folder / f"{name}.csv", values)

    def _rounded(self, value: object) -> object:
        return float(f"{value:.{self._digits}g}") if isinstance(value, float) else value

    def whole_table(self, rows_of: RowsOf) -> RowsOf:
        """Let a function make all rows of a table, a part that has its name."""
        name = rows_of.__name__
        self.parts[name] = lambda: self.write(name.replace("_", "-"), rows_of())
        return rows_of

    def table(self, cases: Sequence[Row], workers: int = 2) -> Callable[[RowsOf], RowsOf]:
        """Let a function make the rows of each case of a table, a part that has its name."""

        def register(rows_of: RowsOf) -> RowsOf:
            name = rows_of.__name__
            self.parts[name] = partial(self.complete, name, cases, rows_of, workers)
            return rows_of

        return register

    def complete(self, name: str, cases: Sequence[Row], rows_of: RowsOf, workers: int = 1) -> None:
        """Make the rows of those cases of a table that it does not hold.

        The cells of a case are the arguments of the function and the first columns of its rows.
        The table is written whenever a case is done.
        """
        before = group(self.rows(name), *cases[0])
        made = {tuple(map(same, key)): rows for key, rows in before.items()}
        keys = [tuple(map(same, case.values())) for case in cases]
        missing = [k for k, key in enumerate(keys) if key not in made][: self.at_most]
        with ProcessPoolExecutor(workers) as pool:
            jobs = {pool.submit(listed, rows_of, cases[k]): k for k in missing}
            for job in counted(name, as_completed(jobs), len(missing)):
                k = jobs[job]
                made[keys[k]] = [cases[k] | row for row in job.result()]
                self.write(name, [row for key in keys for row in made.get(key, [])])

    @contextmanager
    def chart(
        self,
        name: str,
        panels: int = 1,
        width: float = 5.0,
        height: float = 3.2,
        colours: int = 128,
    ) -> Iterator[list[Any]]:
        """Give the axes of a chart, and save it in few colours, which keep its file small."""
        # Imported here, as most parts draw nothing.
        from PIL import Image

        from valmatch.present import figures

        with figures.style_context():
            figure, axes = figures.panels(panels, panels, width, height)
            yield axes
            (path,) = figures.save({name: figure}, self.folder, ["png"])
        with Image.open(path) as drawn:
            reduced = drawn.convert("RGB").quantize(colours, dither=Image.Dither.NONE)
        reduced.save(path, optimize=True)

    def page(self) -> str:
        """Return the page that the template makes of the tables."""
        template = (self.folder / TEMPLATE).read_text(encoding="utf-8")
        made = Environment(
            loader=FileSystemLoader(self.folder),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        made.filters |= {"f": formatted, "words": words, "pm": plus_minus, "bold": bold}
        own = {"rows": self.rows, "row": self.row, "number": self.number}
        return made.from_string(template).render({**self.names, **globals(), **own})

    def main(self) -> None:
        """Make the parts of the command line and the page, or make or check the page alone."""
        parser = ArgumentParser(
            description=self.names["__doc__"],
            epilog="Rows that a table holds are not made again: delete them, or the table.",
            formatter_class=RawDescriptionHelpFormatter,
        )
        parts = ", ".join(self.parts)
        parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {parts}; all by default")
        only = "make this part, as if named alone; may be repeated"
        parser.add_argument("--only", metavar="PART", action="append", default=[], help=only)
        cases = "make at most N of each part"
        parser.add_argument("--cases", type=int, metavar="N", default=sys.maxsize, help=cases)
        parser.add_argument("--page", action="store_true", help="make the page and nothing else")
        check = "fail if the page is not what the tables say"
        parser.add_argument("--check", action="store_true", help=check)
        options = parser.parse_args()
        chosen = options.parts + options.only
        for name in chosen:
            if name not in self.parts:
                parser.error(f"no part {name!r} (allowed: {parts})")
        page = self.folder / PAGE
        self.at_most = options.cases
        for name in () if options.page or options.check else chosen or self.parts:
            self.parts[name]()
        try:
            text = self.page()
        except ValueError as error:
            sys.exit(f"{page}: not made, as a table is not complete: {error}")
        if not options.check:
            with write_atomically(page) as file:
                file.write(text)
        elif page.read_text(encoding="utf-8") != text:
            sys.exit(f"{page}: not what {TEMPLATE} makes of the tables: run --page")


def listed(rows_of: RowsOf, case: Row) -> list[Row]:
    """Return the rows of a case, as another process can send them."""
    return [*rows_of(**case)]


def counted(what: str, results: Iterable[T], total: int) -> Iterator[T]:
    """Yield results as they are made, and say at most a hundred times how many there are."""
    started = time.monotonic()
    for number, result in enumerate(results, 1):
        if number * 100 // total > (number - 1) * 100 // total:
            minutes = (time.monotonic() - started) / 60
            print(f"{what}: {number:,} of {total:,} after {minutes:.1f} min", file=sys.stderr)
        yield result
