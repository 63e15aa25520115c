"""Printing of results and messages of commands, as much as is asked for."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from valmatch.execution.interruption import ENDINGS
from valmatch.text.durations import in_words
from valmatch.text.terminal import Note, one_line

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, Task

    from valmatch.config.config import Config
    from valmatch.inputs.fields import Section
    from valmatch.storage.results import Result


# How far a run is: a bar on a terminal, else a line now and then.

EVERY = 30.0  # least seconds between two lines


def rate_in_words(rate: float) -> str:
    """Return a number a second, a slow one with a decimal."""
    return f"{rate:,.0f}/s" if rate >= 10.0 else f"{rate:,.2g}/s"


class Bar:
    """How far a run is, called with steps done: a bar, or lines for who wants them."""

    def __init__(
        self,
        what: str,
        total: int | None,
        say: Callable[[str], None] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._what, self._total, self._say, self._progress = what, total, say, progress
        self._found = self.done = 0  # steps that an earlier run left, and all so far
        self._begun = self._last = -1.0
        if progress:
            self._task = progress.add_task(what, total=total, note="")

    def found(self, count: int) -> None:
        """Note what an earlier run left, which says nothing of the pace of this one."""
        self._found += count

    def __call__(self, steps: int) -> None:
        """Move on."""
        self.done += steps
        now = time.monotonic()
        if self._progress:
            self._progress.advance(self._task, steps)
        elif self._begun < 0.0:
            self._begun = self._last = now
        elif self._say and now - self._last >= EVERY:
            self._last = now
            self._say(self._line(now - self._begun))

    def _line(self, seconds: float) -> str:
        so_far = f"{self._what}: {self.done:,}"
        so_far += "" if self._total is None else f" of {self._total:,}"
        made = self.done - self._found
        if made <= 0 or seconds <= 0.0:
            return so_far
        rate = made / seconds
        if self._total is None:
            return f"{so_far}, {rate_in_words(rate)}"
        left = in_words(max(0, self._total - self.done) / rate)
        return f"{so_far}, {rate_in_words(rate)}, {left} left"

    def note(self, text: str) -> None:
        """Show what has been reached so far beside the bar."""
        if self._progress:
            self._progress.update(self._task, note=text)


def columns() -> tuple[ProgressColumn, ...]:
    """Return what a bar shows."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")

    class Count(MofNCompleteColumn):
        def render(self, task: Task) -> Text:
            if task.total is None:
                return Text(f"{int(task.completed):,}", style="progress.download")
            return super().render(task)

    note = TextColumn("{task.fields[note]}", markup=False)
    what = TextColumn("{task.description}")
    return (what, BarColumn(20), Count(), Rate(), TimeRemainingColumn(), note)


QUIET, NORMAL, VERBOSE = -1, 0, 1

_level = NORMAL

_warned: set[str] = set()  # warnings that were given; the points of a design would repeat them


def reset() -> None:
    """Speak as a command does that is told nothing."""
    global _level
    _level = NORMAL
    _warned.clear()


def set_quiet(wanted: bool) -> None:
    """Print nothing but errors, and JSON where it is asked for."""
    global _level
    _level = QUIET if wanted else _level


def set_verbose(wanted: bool) -> None:
    """Also say how a run is made."""
    global _level
    _level = VERBOSE if wanted else _level


def is_quiet() -> bool:
    """Return whether nothing but errors is printed."""
    return _level == QUIET


def say(text: str) -> None:
    """Print a line on stderr, whatever the names in it hold."""
    print(one_line(text), file=sys.stderr)


def info(text: str) -> None:
    """Print a line on stderr, after what is on stdout where both go to one file."""
    if _level > QUIET:
        sys.stdout.flush()
        say(text)


def detail(text: str) -> None:
    """Print a line on stderr for those who want to know."""
    if _level == VERBOSE:
        say(text)


def warn(text: str) -> None:
    """Print a warning or a note on stderr, once; on a terminal in colour."""
    if str(text) not in _warned:
        _warned.add(str(text))
        note = isinstance(text, Note)
        if _level > QUIET:
            sys.stdout.flush()
            kind = typer.style("note:", dim=True) if note else typer.style("warning:", fg="yellow")
            typer.echo(f"{kind} {one_line(text)}", err=True)


def show(
    as_json: bool, document: object, table: Callable[[], None], out: Path | None = None
) -> None:
    """Print results on stdout: as one JSON document if wanted, else as a table; say where."""
    if as_json:
        from valmatch.storage.output import to_json

        sys.stdout.write(_for_terminal(to_json(document)))
    elif _level > QUIET:
        table()
        if out:
            info(f"results in {out}")


def show_result(
    as_json: bool,
    document: object,
    result: Result,
    out: Path | None = None,
    **view: Any,  # noqa: ANN401
) -> None:
    """Print a result, as a document where JSON is wanted; then what it warns of."""

    def tables() -> None:
        from valmatch.present.document import View
        from valmatch.present.presenting import present
        from valmatch.present.terminal import text_of

        sys.stdout.write(text_of(present(result, View(charts=False, **view))))

    show(as_json, document, tables, out)
    for warning in result.warned:
        warn(warning)


def _for_terminal(document: str) -> str:
    """Return JSON that the terminal can take: characters that it does not have are escaped."""
    try:
        document.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return re.sub("[^\0-\x7f]", lambda match: json.dumps(match[0])[1:-1], document)
    return document


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Bar]:
    """Show progress on stderr: a bar if that is a terminal, else a line now and then."""
    started = time.perf_counter()
    with _bar(what, total) as bar:
        yield bar
    detail(f"{what}: {bar.done:,} done after {time.perf_counter() - started:.2f} s")


@contextmanager
def _bar(what: str, total: int | None) -> Iterator[Bar]:
    from rich.console import Console  # typer has imported it

    console = Console(stderr=True)
    if is_quiet() or not console.is_terminal:
        yield Bar(what, total, None if is_quiet() else info)
        return
    from rich.progress import Progress

    with Progress(*columns(), console=console, transient=True) as shown:
        ENDINGS.append(shown.stop)
        try:
            yield Bar(what, total, progress=shown)
        finally:
            ENDINGS.remove(shown.stop)


@contextmanager
def log_progress(games: Path) -> Iterator[Bar]:
    """Show how far the reading of a log is."""
    with progress("bytes", games.stat().st_size if games.is_file() else None) as bar:
        yield bar


def load_config(
    source: str, overrides: list[str], levels: Sequence[tuple[str, str]] = ()
) -> Config:
    """Read a config and pass its warnings on."""
    from valmatch.config import loading

    config = loading.load_config(source, overrides, levels)
    detail(f"config: {config.source}; changed factors: {_changes(config)}")
    for warning in config.warnings:
        warn(warning)
    return config


def _changes(config: Config) -> str:
    """Return the factors that a config changes, with their values."""
    return ", ".join(f"{name}={value}" for name, value in _changed(config.factors)) or "none"


def _changed(section: Section, outer: str = "") -> Iterator[tuple[str, object]]:
    """Yield the factors of a section that are not at their defaults."""
    from valmatch.config.factor_paths import section_of

    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if section_of(field):
            yield from _changed(value, f"{outer}{name}.")
        elif value != field.get_default(call_default_factory=True):
            yield f"{outer}{name}", value


# Exit codes of commands, besides 0, 1 (the run failed) and 2 (bad input or usage).

MISSED = 3  # what was asked for cannot be had: a target was missed, no point is feasible
AGAIN = 75  # something is not there yet, and running again brings it; EX_TEMPFAIL of sysexits.h
INTERRUPTED = 130  # a signal has ended the run; what is finished is kept


def of_status(status: str) -> int:
    """Return the exit code of a run that is not complete."""
    return {"interrupted": INTERRUPTED, "target missed": MISSED}.get(status, AGAIN)
