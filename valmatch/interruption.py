"""Stopping between two pieces of work when asked to by a signal."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["SIGNALS", "stop_on_signal"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signal() -> Iterator[Callable[[], bool]]:
    """Note SIGINT (Ctrl-C) and SIGTERM instead of dying; yield a function that says if one came.

    Work asks between two pieces and so never stops inside one. A second signal raises
    KeyboardInterrupt at once. Outside the main thread signals cannot be had, and the function
    always says no.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    came = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if came:
            raise KeyboardInterrupt
        came = True

    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield lambda: came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
