"""Running kernels as plain Python, which is their readable twin."""

from __future__ import annotations

import os

from tests.support.command import python


def interpreted(module: str, function: str, *arguments: object) -> str:
    """Return the repr of a call made in a process where numba compiles nothing."""
    call = f"import {module} as m; print(repr(m.{function}(*{arguments!r})))"
    done = python("-c", call, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
