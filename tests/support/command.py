"""Running the command line inside the test process."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterable
from dataclasses import dataclass
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


def refusal(*arguments: object) -> str:
    """Return the one line in which a command says what is wrong with its input."""
    done = valmatch(*arguments)
    assert (done.code, done.out) == (2, ""), done
    (line,) = done.err.splitlines()
    return line


def sets(overrides: Iterable[str]) -> list[str]:
    """Return the options that set factors."""
    return [word for override in overrides for word in ("--set", override)]
