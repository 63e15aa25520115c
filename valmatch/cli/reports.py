"""Reports of how far a run is: lines on stderr off a terminal, JSON lines in a file."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from valmatch.errors import InputError
from valmatch.text.durations import in_words

EVERY = 30.0  # least seconds between two reports
START = 4096  # bytes of a file in which its first report stands


class Report(NamedTuple):
    """How far a run is."""

    what: str  # what is counted, such as replications
    done: int  # how many are there
    total: int | None  # how many there will be, if that is known
    rate: float | None  # how many this run has made a second; None as long as it has made none
    ended: bool  # whether the run has ended

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all are there, None if that cannot be told."""
        if self.total is None or self.rate is None:
            return None
        return max(0, self.total - self.done) / self.rate

    def line(self) -> str:
        """Return it as a line."""
        of = "" if self.total is None else f" of {self.total:,}"
        rate = "" if self.rate is None else f", {rate_in_words(self.rate)}"
        left = "" if self.seconds_left is None else f", {in_words(self.seconds_left)} left"
        return f"{self.what}: {self.done:,}{of}{rate}{left}"

    def document(self) -> dict[str, Any]:
        """Return it as a JSON line holds it."""
        return {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "host": platform.node(),
            "pid": os.getpid(),
            "what": self.what,
            "done": self.done,
            "total": self.total,
            "rate": self.rate,
            "seconds_left": self.seconds_left,
            "ended": self.ended,
        }


def rate_in_words(rate: float) -> str:
    """Return a number a second, a slow one with a decimal."""
    return f"{rate:,.0f}/s" if rate >= 10.0 else f"{rate:,.2g}/s"


class Reports:
    """Reports at most every `EVERY` seconds to whoever wants them."""

    def __init__(
        self,
        what: str,
        total: int | None,
        say: Callable[[str], None] | None,
        file: ProgressFile | None,
    ) -> None:
        self._what, self._total, self._say, self._file = what, total, say, file
        self._found = self._done = 0
        self._begun = self._last = -1.0

    def found(self, count: int) -> None:
        """Note what an earlier run left, which says nothing of the pace of this one."""
        self._found += count

    def __call__(self, done: int) -> None:
        """Take in how many are there by now."""
        self._done, now = done, time.monotonic()
        if self._begun < 0.0:
            self._begun = self._last = now
            if self._file:
                self._file.append(self._report(now))
        elif now - self._last >= EVERY:
            self._last = now
            report = self._report(now)
            if self._say:
                self._say(report.line())
            if self._file:
                self._file.append(report)

    def end(self) -> None:
        """Let the file say that the run has ended, if it has begun."""
        if self._file and self._begun >= 0.0:
            self._file.append(self._report(time.monotonic(), ended=True))

    def _report(self, now: float, ended: bool = False) -> Report:
        made, seconds = self._done - self._found, now - self._begun
        rate = made / seconds if made > 0 and seconds > 0.0 else None
        return Report(self._what, self._done, self._total, rate, ended)


class ProgressFile:
    """A file of reports, to which runs append."""

    def __init__(self, path: Path, out: Path | None, warn: Callable[[str], None]) -> None:
        self._path, self._warn = path, warn
        inside = out is not None and path.parent.resolve() == out.resolve()
        if inside and path.name in _names_of_runs():
            raise _unusable(path, "a name that runs themselves use")
        if path.exists():
            _refuse_other_files(path)
        elif not inside and not path.parent.is_dir():
            raise _unusable(path, f"there is no folder {path.parent}")
        place = path if path.exists() else path.parent
        if place.exists() and not os.access(place, os.W_OK):
            raise _unusable(path, "cannot be written")

    def append(self, report: Report) -> None:
        """Write a report as a line."""
        if self._warn is _silent:
            return
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(report.document()) + "\n")
        except OSError as error:
            self._warn(f"--progress {self._path}: cannot be written: {error.strerror}")
            self._warn = _silent


def _silent(text: str) -> None:
    """Say nothing more of a file that cannot be written."""


def _names_of_runs() -> Sequence[str]:
    from valmatch.storage.contents import CONTENTS, MANIFEST
    from valmatch.storage.run_folder import LOCK

    files = (
        name for contents in CONTENTS.values() for name in (*contents.files, *contents.progress)
    )
    return [MANIFEST, LOCK, *files]


def _refuse_other_files(path: Path) -> None:
    """Refuse to append to a file that holds something else than reports."""
    if not path.is_file():
        raise _unusable(path, "not a regular file")
    try:
        with path.open("rb") as file:
            line = file.read(START).partition(b"\n")[0]
        first = json.loads(line) if line else {"what": "", "done": 0}
    except OSError as error:
        raise _unusable(path, f"cannot be read: {error.strerror}") from None
    except ValueError:
        first = None
    if not (isinstance(first, dict) and {"what", "done"} <= first.keys()):
        raise _unusable(path, "holds something else than reports of progress")


def _unusable(path: Path, why: str) -> InputError:
    return InputError(f"--progress {path}: {why}; choose another file")
