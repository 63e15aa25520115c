"""Running kernels as plain Python, which is their readable twin."""

from __future__ import annotations

import os
import subprocess
import sys


def interpreted(module: str, function: str, *arguments: object) -> str:
    """Return the repr of a call made in a process where numba compiles nothing."""
    call = f"import {module} as m; print(repr(m.{function}(*{arguments!r})))"
    done = subprocess.run(
        [sys.executable, "-c", call],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()
