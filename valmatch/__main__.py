"""Entry point of ``valmatch`` and ``python -m valmatch``."""

from __future__ import annotations

import atexit
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

AGAIN = getattr(signal, "SIGALRM", None)
"""The signal of a timer that tries an interrupt again, where the platform has one."""

LATER = 0.02  # seconds after which it does


def main() -> None:
    """Run the command line; a signal ends it without a traceback, whenever it comes."""
    for number in SIGNALS:
        signal.signal(number, _leave)
    numbers = (*SIGNALS, AGAIN) if AGAIN else SIGNALS
    code: object = INTERRUPTED
    try:
        sys.unraisablehook = _swallowed
        import valmatch.execution.interruption  # noqa: F401 - what `_interrupt` asks is there

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
    """Leave while nothing has begun; else raise KeyboardInterrupt, later where it would do harm."""
    from valmatch.execution.interruption import begun, is_fragile

    if not begun():
        _leave(number, frame)
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
