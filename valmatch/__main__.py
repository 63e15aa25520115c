"""Entry point of ``valmatch`` and ``python -m valmatch``."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

from valmatch.execution.interruption import SIGNALS

__all__ = ["main"]

INTERRUPTED = 130


def main() -> None:
    """Run the command line; a signal ends it without a traceback, whenever it comes."""
    code: object = INTERRUPTED
    try:
        for number in SIGNALS:
            signal.signal(number, _interrupt)
        from valmatch.cli import main as run

        run()
    except SystemExit as exit_:
        code = exit_.code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        # There is nothing left to interrupt but Python's own end.
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
    if code == INTERRUPTED:
        # Where an interrupt fell into text that Python compiles, it would end itself by SIGINT.
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(INTERRUPTED)
    raise SystemExit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; inside an import, which may make another error of it, just leave."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os.write(2, b"interrupted\n")
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
