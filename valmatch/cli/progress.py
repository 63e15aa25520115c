"""The progress bar of the commands."""

from __future__ import annotations

from collections.abc import Iterator
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


class _Rate(ProgressColumn):
    """Replications per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")


class _Count(MofNCompleteColumn):
    """How many are done, and of how many where that is known."""

    def render(self, task: Task) -> Text:
        if task.total is None:
            return Text(f"{int(task.completed):,}", style="progress.download")
        return super().render(task)


class Bar:
    """A progress bar: called with steps done.

    Parameters
    ----------
    progress : Progress
        What draws it.
    what : str
        What steps are.
    total : int or None
        How many there will be, if that is known.

    Attributes
    ----------
    done : int
        Steps so far.
    """

    def __init__(self, progress: Progress, what: str, total: int | None) -> None:
        self._progress = progress
        self._task = progress.add_task(what, total=total, note="")
        self.done = 0

    def __call__(self, done: int) -> None:
        """Move on."""
        self.done += done
        self._progress.advance(self._task, done)

    def note(self, text: str) -> None:
        """Show what has been reached so far beside the bar."""
        self._progress.update(self._task, note=text)


COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(20),
    _Count(),
    _Rate(),
    TimeRemainingColumn(),
    TextColumn("{task.fields[note]}", markup=False),
)


@contextmanager
def progress_bar(what: str, total: int | None, show: bool = True) -> Iterator[Bar]:
    """Show progress on stderr if it is a terminal; yield what takes steps done."""
    console = Console(stderr=True)
    shown = show and console.is_terminal
    with Progress(*COLUMNS, console=console, transient=True, disable=not shown) as progress:
        yield Bar(progress, what, total)
