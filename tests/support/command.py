"""Running the command line, inside the test process or in one of its own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from unittest import mock

from valmatch.cli import main


@dataclass(frozen=True)
class Outcome:
    """Exit code, standard output and standard error of a command."""

    code: int
    out: str
    err: str


def valmatch(*arguments: object) -> Outcome:
    """Run ``valmatch ARGUMENTS...``."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["valmatch", *map(str, arguments)]
    with (
        mock.patch.object(sys, "argv", argv),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as exit_:
            code = int(exit_.code or 0)
    return Outcome(code, out.getvalue(), err.getvalue())


def success(*arguments: object) -> Outcome:
    """Run a command that ends with 0."""
    done = valmatch(*arguments)
    assert done.code == 0, done.err
    return done


def refusal(*arguments: object) -> str:
    """Return the one line in which a command says what is wrong with its input."""
    done = valmatch(*arguments)
    assert (done.code, done.out) == (2, ""), done
    (line,) = done.err.splitlines()
    return line


def python(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
    """Run Python with words of a command line in a process of its own."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def interpreted(module: str, function: str, *arguments: object) -> str:
    """Return the repr of a call in a process where kernels are plain Python, their twin."""
    call = f"import {module} as m; print(repr(m.{function}(*{arguments!r})))"
    done = python("-c", call, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def started(*arguments: object, **options: Any) -> subprocess.Popen[str]:  # noqa: ANN401
    """Start ``valmatch ARGUMENTS...`` in a process of its own; what it says can be read."""
    command = [sys.executable, "-m", "valmatch", *map(str, arguments)]
    pipes: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, **(pipes | options))


def sets(overrides: Iterable[str]) -> list[str]:
    """Return the options that set factors."""
    return [word for override in overrides for word in ("--set", override)]
