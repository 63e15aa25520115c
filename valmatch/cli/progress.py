"""The progress bar of the commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from rich.text import Text

__all__ = ["progress_bar"]


class _Rate(ProgressColumn):
    """Replications per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")


@contextmanager
def progress_bar(
    what: str, total: int | None, show: bool = True
) -> Iterator[Callable[[int], None]]:
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
        *columns, console=console, transient=True, disable=not (show and console.is_terminal)
    ) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.advance(task, done)
