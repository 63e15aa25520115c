"""Printing of results, messages and progress of commands, as much as is wanted; exit codes."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from valmatch.execution.interruption import ENDINGS
from valmatch.kernels.first_run import compiling
from valmatch.text.numerals import in_words
from valmatch.text.terminal import Note, one_line

if TYPE_CHECKING:
    from rich.progress import Progress

    from valmatch.config.config import Config
    from valmatch.storage.results import Result

# Exit codes, besides 0, 1 (the run failed) and 2 (bad input or usage).

MISSED = 3  # what was asked for cannot be had: a target was missed, no point is feasible
AGAIN = 75  # something is not there yet, and running again brings it; EX_TEMPFAIL of sysexits.h
INTERRUPTED = 130  # a signal has ended the run; what is finished is kept


QUIET, NORMAL, VERBOSE = -1, 0, 1

_level = NORMAL

_warned: set[str] = set()  # warnings that were given; the points of a design would repeat them


def start_speaking(quiet: bool = False, verbose: bool = False) -> None:
    """Print nothing but errors and JSON, or also how a run is made; warn anew of everything."""
    global _level
    _level = VERBOSE if verbose else QUIET if quiet else NORMAL
    _warned.clear()


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
        if _level > QUIET:
            sys.stdout.flush()
            note = isinstance(text, Note)
            kind = typer.style("note:", dim=True) if note else typer.style("warning:", fg="yellow")
            typer.echo(f"{kind} {one_line(text)}", err=True)


def show(
    as_json: bool, document: object, table: Callable[[], object], out: Path | None = None
) -> None:
    """Print results on stdout: as one JSON document if wanted, else as a table; say where."""
    if as_json:
        from valmatch.storage.output import to_json

        text = to_json(document)
        try:
            text.encode(sys.stdout.encoding or "utf-8")
        except UnicodeEncodeError:  # the terminal does not have all characters
            text = re.sub("[^\0-\x7f]", lambda match: json.dumps(match[0])[1:-1], text)
        sys.stdout.write(text)
    elif _level > QUIET:
        table()
        if out:
            info(f"results in {out}")


def show_result(
    as_json: bool,
    result: Result,
    out: Path | None = None,
    document: object = None,
    **view: Any,  # noqa: ANN401
) -> None:
    """Print a result, as its document or another where JSON is wanted; then what it warns of."""

    def table() -> None:
        from valmatch.present.document import View
        from valmatch.present.presenting import present
        from valmatch.present.terminal import text_of

        sys.stdout.write(text_of(present(result, View(charts=False, **view))))

    show(as_json, document or result.as_json(), table, out)
    for warning in result.warned:
        warn(warning)


def print_columns(columns: Mapping[str, Sequence[str]]) -> None:
    """Print a table of columns."""
    from valmatch.present.document import TextTable
    from valmatch.present.terminal import print_table

    print_table("", TextTable.of_columns(columns.items()))


EVERY = 30.0  # least seconds between two lines


class Bar:
    """The progress of a run, called with steps done: a bar, or lines off a terminal."""

    def __init__(
        self,
        what: str,
        total: int | None,
        say: Callable[[str], None] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._what, self._total, self._say, self._progress = what, total, say, progress
        self._earlier = self.done = 0  # steps that an earlier run left, and all so far
        self._begun = self._last = compiling.clock()
        self._note = ""
        if progress:
            self._task = progress.add_task(what, total=total)

    def found(self, count: int) -> None:
        """Count what an earlier run left, which says nothing of the pace of this one."""
        self._earlier += count

    def note(self, text: str) -> None:
        """Show what has been reached so far beside the bar."""
        self._note = f", {text}"
        self(0)

    def __call__(self, steps: int) -> None:
        """Move on."""
        self.done += steps
        now = compiling.clock()
        if self._progress:
            line = self._line(now - self._begun) + self._note
            self._progress.update(self._task, advance=steps, description=line)
        elif self._say and now - self._last >= EVERY:
            self._last = now
            self._say(self._line(now - self._begun))

    def _line(self, seconds: float) -> str:
        so_far = f"{self._what}: {self.done:,}"
        so_far += "" if self._total is None else f" of {self._total:,}"
        made = self.done - self._earlier
        if made <= 0 or seconds <= 0.0:
            return so_far
        rate = made / seconds
        so_far += f", {rate:,.0f}/s" if rate >= 10.0 else f", {rate:,.2g}/s"
        if self._total is None:
            return so_far
        return f"{so_far}, {in_words(max(0, self._total - self.done) / rate)} left"


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Bar]:
    """Show progress on stderr: a bar if that is a terminal, else a line now and then."""
    from rich.console import Console  # typer has imported it

    started, console = time.perf_counter(), Console(stderr=True)
    if is_quiet() or not console.is_terminal:
        bar = Bar(what, total, None if is_quiet() else info)
        yield bar
    else:
        from rich.progress import BarColumn, Progress, TextColumn

        columns = BarColumn(20), TextColumn("{task.description}", markup=False)
        with Progress(*columns, console=console, transient=True) as shown:
            ENDINGS.append(shown.stop)
            try:
                bar = Bar(what, total, progress=shown)
                yield bar
            finally:
                ENDINGS.remove(shown.stop)
    detail(f"{what}: {bar.done:,} done after {time.perf_counter() - started:.2f} s")


def load_config(
    source: str, overrides: list[str], levels: Sequence[tuple[str, str]] = ()
) -> Config:
    """Read a config and pass its warnings on."""
    from valmatch.config import loading
    from valmatch.config.factor_paths import flat
    from valmatch.config.identity import set_factors

    config = loading.load_config(source, overrides, levels)
    changed = flat(set_factors(config.factors)).items()
    shown = ", ".join(f"{name}={value}" for name, value in changed) or "none"
    detail(f"config: {config.source}; changed factors: {shown}")
    for warning in config.warnings:
        warn(warning)
    return config
