"""Entry point of ``valmatch`` and ``python -m valmatch``."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from types import FrameType

from valmatch.execution.interruption import SIGNALS, is_fragile

__all__ = ["main"]

INTERRUPTED = 130

AGAIN = getattr(signal, "SIGALRM", None)
"""The signal of a timer that tries an interrupt again, where the platform has one."""

LATER = 0.02
"""Seconds after which it does."""


def main() -> None:
    """Run the command line; a signal ends it without a traceback, whenever it comes."""
    numbers = (*SIGNALS, AGAIN) if AGAIN else SIGNALS
    code: object = INTERRUPTED
    try:
        sys.unraisablehook = _swallowed
        for number in numbers:
            signal.signal(number, _interrupt)
        from valmatch.cli import main as run

        run()
    except SystemExit as exit_:
        code = exit_.code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        # There is nothing left to interrupt but Python's own end.
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
    if code == INTERRUPTED:
        # Where an interrupt fell into text that Python compiles, it would end itself by SIGINT.
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(INTERRUPTED)
    raise SystemExit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; a little later where it would do harm."""
    if AGAIN and is_fragile(frame):
        signal.setitimer(signal.ITIMER_REAL, LATER)
    else:
        raise KeyboardInterrupt


def _swallowed(error: sys.UnraisableHookArgs) -> None:
    """Try an interrupt again that fell where Python can only print it and go on."""
    if not issubclass(error.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(error)
    elif AGAIN:
        signal.setitimer(signal.ITIMER_REAL, LATER)


if __name__ == "__main__":
    main()
