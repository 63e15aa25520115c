"""Entry point of ``valmatch`` and ``python -m valmatch``."""

from __future__ import annotations

import signal
import sys
from types import FrameType

from valmatch.execution.interruption import SIGNALS

__all__ = ["main"]

INTERRUPTED = 130


def main() -> None:
    """Run the command line; a signal ends it in one line, from the first import to the exit."""
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
    raise SystemExit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
