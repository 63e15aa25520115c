"""Entry point of ``valmatch`` and ``python -m valmatch``."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys

TYPE_CHECKING = False  # importing typing takes longer than what a signal should find unprepared
if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130

SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    *(getattr(signal, name) for name in ("SIGUSR1", "SIGXCPU") if hasattr(signal, name)),
)
"""Those of `valmatch.execution.interruption`, which is not there yet when they are needed."""


def main() -> None:
    """Run the command line; a signal ends it without a traceback, whenever it comes."""
    for number in SIGNALS:
        signal.signal(number, _leave)
    gc.set_threshold(100_000)  # imports and rows make many objects, and hardly any cycles
    code: object = INTERRUPTED
    try:
        sys.unraisablehook = _swallowed
        from valmatch.execution.interruption import watch_signals

        watch_signals()
        for number in SIGNALS:
            signal.signal(number, _interrupt)
        from valmatch.cli import main as run

        run()
    except SystemExit as exit_:
        code = exit_.code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        # There is nothing left to interrupt but Python's own end, which need not look for cycles.
        gc.freeze()
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
    if code == INTERRUPTED:
        # Where an interrupt fell into text that Python compiles, it would end itself by SIGINT.
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                continue
        os._exit(INTERRUPTED)
    raise SystemExit(code)


def _leave(number: int, frame: FrameType | None) -> None:
    """End the process: an exception may become another one in whatever library it falls."""
    os._exit(INTERRUPTED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Leave while nothing has begun; else raise KeyboardInterrupt, but where it would do harm."""
    from valmatch.execution.interruption import begun, is_fragile

    if not begun():
        _leave(number, frame)
    if not is_fragile(frame):
        raise KeyboardInterrupt


def _swallowed(error: sys.UnraisableHookArgs) -> None:
    """Do not print an interrupt that fell where Python goes on: `watch_signals` ends it."""
    if not issubclass(error.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(error)


if __name__ == "__main__":
    main()
