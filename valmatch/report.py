"""What the commands print on the terminal."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from valmatch.replication import Replications
from valmatch.simulator import Response

__all__ = ["progress_bar", "show_replications", "show_responses", "warn"]


def warn(text: str) -> None:
    """Print a warning on stderr."""
    print(f"warning: {text}", file=sys.stderr)


class _Rate(ProgressColumn):
    """Replications per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show progress on stderr if it is a terminal; yield a function that takes steps done."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.advance(task, done)


def show_responses(header: str, responses: Sequence[Response], values: Sequence[float]) -> None:
    """Print the responses of one replication."""
    numbers = [
        "undefined" if math.isnan(v) else f"{v:.0f}" if r.whole else f"{v:.4f}"
        for r, v in zip(responses, values, strict=True)
    ]
    table = _table("response", "value", "unit")
    for response, number in zip(responses, _aligned(numbers), strict=True):
        table.add_row(response.name, number, response.unit)
    _print(header, table)


def show_replications(header: str, result: Replications) -> None:
    """Print mean, half-width and count of each response."""
    estimates = list(result.estimates.values())
    means, halves = [], []
    for one in estimates:
        half = one.half_width
        digits = 4 if not half else max(0, min(6, 1 - math.floor(math.log10(half))))
        means.append("undefined" if one.mean is None else f"{one.mean:.{digits}f}")
        halves.append("" if half is None else f"{half:.{digits}f}")
    table = _table("response", "mean", f"± {result.confidence:.0%}", "n", "unit")
    columns = (_aligned(means), _aligned(halves), [f"{one.n}" for one in estimates])
    for response, *cells in zip(result.responses, *columns, strict=True):
        table.add_row(response.name, *cells, response.unit)
    _print(header, table)


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(name, justify="left" if name in ("response", "unit") else "right")
    return table


def _print(header: str, table: Table) -> None:
    console = Console(highlight=False)
    console.print(header, markup=False, soft_wrap=True)
    console.print(table)


def _aligned(numbers: Sequence[str]) -> list[str]:
    """Pad numbers on the right so that their decimal points stand below each other."""
    tails = [len(number) - number.find(".") if "." in number else 0 for number in numbers]
    widest = max(tails, default=0)
    return [number + " " * (widest - tail) for number, tail in zip(numbers, tails, strict=True)]
