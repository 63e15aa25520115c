"""Running a case in a process of its own, and judging what came of it."""

from __future__ import annotations

import gc
import json
import os
import re
import resource
import signal
import stat
import sys
import tempfile
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.bad_inputs.case import Case, lay_out
from tests.support.command import valmatch

SECONDS = 60
"""Time of a processor that a command with bad input may take; it may compile kernels first."""

WAITING = 180
"""Time after which it is taken to wait for ever; machines that are busy need some."""

BYTES = 1 << 30
"""Memory that it may take beyond that of the process it is started from."""

LONGEST = 500
"""Characters of a line."""

NO_TEXT = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
"""Control characters, but for the end of a line."""


class Ended(NamedTuple):
    """How a command ended: its exit code, or the signal that killed it."""

    code: int | None
    signal: int
    out: str
    err: str


def broken_promises(case: Case) -> list[str]:
    """Run a case; return what is wrong with how it ended, nothing if all is well."""
    with tempfile.TemporaryDirectory(prefix="bad-input-") as name:
        root, work = Path(name), Path(name, "a", "b")
        work.mkdir(parents=True)
        lay_out(case, work)
        before = _contents(root)
        ended = _run(case, work)
        return [*_judge(case, ended), *_written(case, ended, before, _contents(root))]


def _judge(case: Case, ended: Ended) -> list[str]:
    """Return what is wrong with exit code, output and time."""
    if ended.code is None:
        return [f"did not end by itself ({signal.Signals(ended.signal).name})"]
    allowed: tuple[int, ...] = (2,) if case.certain else (0, 2, 3, 75)
    if case.argv[0] == "check" and not case.certain:
        allowed += (1,)  # dirt that changes answers
    shown = " / ".join(ended.err.splitlines()[:2])[:300]
    problems = []
    if ended.code not in allowed:
        problems.append(f"exit code {ended.code}: {shown}")
    problems += [
        f"{word}: {shown}" for word in ("internal error", "Traceback") if word in ended.err
    ]
    if found := NO_TEXT.search(ended.out + ended.err):
        problems.append(f"control character {found[0]!r}: {shown!r}")
    problems += [f"warning: {shown}" for _ in range("Warning: " in ended.err)]
    with suppress(UnicodeEncodeError):
        ended.out.encode()
        said = ended.err or (ended.out if case.listed else "")
        return problems + (_message(case, said) if ended.code == 2 else [])
    return [*problems, "standard output is no UTF-8"]


def _message(case: Case, err: str) -> list[str]:
    """Return what is wrong with the message about bad input."""
    lines = [line for line in err.splitlines() if not line.startswith(("warning: ", "note: "))]
    problems = []
    if not lines:
        problems.append("no message")
    if len(lines) > case.lines and not case.listed:
        problems.append(f"{len(lines)} lines: {lines[0][:200]}")
    if longest := max((len(line) for line in lines if len(line) > LONGEST), default=0):
        problems.append(f"a line of {longest} characters: {max(lines, key=len)[:200]}")
    if not any(name in line for name in case.names for line in lines):
        problems.append(f"does not name {' or '.join(case.names)}: {' / '.join(lines)[:300]}")
    return problems


def _written(
    case: Case, ended: Ended, before: Mapping[str, object], after: Mapping[str, object]
) -> list[str]:
    """Return what was written that should not have been; a run that failed is reported as such."""
    if ended.code == 1:
        return []
    names = sorted(before.keys() | after.keys())
    changed = [name for name in names if before.get(name) != after.get(name)]
    if ended.code in (0, 3, 75):
        own = f"a/b/{case.out}"
        changed = [name for name in changed if name != own and not name.startswith(f"{own}/")]
    return [f"wrote {', '.join(changed)[:200]}"] if changed else []


def _contents(root: Path) -> dict[str, object]:
    """Return what is in a folder, by relative path."""
    found: dict[str, object] = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            content = path.read_bytes() if stat.S_ISREG(mode) else stat.S_IFMT(mode)
            found[str(path.relative_to(root))] = content
    return found


def _run(case: Case, work: Path) -> Ended:
    """Run the command of a case in a copy of this process, which has everything compiled."""
    with tempfile.TemporaryDirectory(prefix="bad-input-result-") as name:
        result, native = Path(name, "result"), Path(name, "native")
        pid = os.fork()
        if pid == 0:
            try:
                _child(case, work, result, native)
            finally:
                os._exit(0)
        _, status = os.waitpid(pid, 0)
        with suppress(ProcessLookupError):  # what it may have left behind
            os.killpg(pid, signal.SIGKILL)
        if not result.exists():
            return Ended(None, os.WTERMSIG(status), "", "")
        code, out, err = json.loads(result.read_text())
        err += native.read_text(errors="replace")
        return Ended(code, 0, out, err)


def _child(case: Case, work: Path, result: Path, native: Path) -> None:
    """Run a command within limits of time and memory and write down how it ended."""
    gc.freeze()  # looking through what is shared with the parent would copy it
    os.setsid()
    os.chdir(work)
    stdin = tempfile.TemporaryFile()  # noqa: SIM115 - ends with the process
    stdin.write(case.stdin)
    stdin.seek(0)
    os.dup2(stdin.fileno(), 0)
    sys.stdin = os.fdopen(0)
    output = os.open(native, os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    _show_warnings()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(WAITING)
    try:
        ended = valmatch(*case.argv)
        content = json.dumps([ended.code, ended.out, ended.err])
    except BaseException as error:
        content = json.dumps([1, "", f"Traceback: {type(error).__name__}: {error}"])
    signal.alarm(0)
    result.write_text(content)


def _show_warnings() -> None:
    """Let warnings of libraries be shown as users see them, whatever the tests do with them."""
    warnings.resetwarnings()
    for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", category)
    warnings.showwarning = _show_warning


def _show_warning(
    message: Warning | str, category: type[Warning], *where: object, **more: object
) -> None:
    print(f"{category.__name__}: {message}", file=sys.stderr)
