"""Announces and times compilation: said once, counted, and left out of rates and times left."""

import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from valmatch.text.terminal import one_line

COMPILING = "compiling kernels once, which takes 10 to 60 seconds ({})"
NOT_KEPT = "not kept: no folder of your own to write to; NUMBA_CACHE_DIR names one"


class Compiling:
    """What this process has compiled."""

    announced = False  # whether that was said
    kernels = 0  # how many; their parts are none
    seconds = 0.0
    _depth = 0  # kernels that are being compiled, one for the other
    _since = 0.0

    def begin(self, folder: str | None) -> None:
        """Note that a kernel is compiled, to be kept in a folder; say so, but not in a worker."""
        if self._depth == 0:
            self._since = time.monotonic()
        self._depth += 1
        self.kernels += folder is not None
        from multiprocessing import parent_process  # of use to few commands

        if not self.announced and parent_process() is None:
            self.announced = True
            kept = f"kept in {Path(folder).parent}" if folder else NOT_KEPT
            print(one_line(COMPILING.format(kept)), file=sys.stderr)

    def end(self) -> None:
        """Note that one is done."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.monotonic() - self._since

    def clock(self) -> float:
        """Return the time in seconds; it stands still while this process compiles."""
        return (self._since if self._depth else time.monotonic()) - self.seconds


compiling = Compiling()


@cache
def watch() -> None:
    """Have numba tell what it compiles."""
    from numba.core.event import Listener, register

    class Watch(Listener):
        def on_start(self, event: Any) -> None:  # noqa: ANN401 - numba has no types
            compiling.begin(event.data["dispatcher"].stats.cache_path)

        def on_end(self, event: Any) -> None:  # noqa: ANN401
            compiling.end()

    register("numba:compile", Watch())  # type: ignore[no-untyped-call]
