"""Stopping between two pieces of work: when a signal asks for it, or when time is up."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TypeVar

from valmatch.kernels import halting
from valmatch.kernels.halting import Stopped

T = TypeVar("T")

PATIENT = tuple(getattr(signal, name) for name in ("SIGUSR1", "SIGXCPU") if hasattr(signal, name))
"""Signals by which a scheduler, or a limit on CPU time, says that the time is nearly up.

They end a run as SIGTERM does, but may come again and again, which means no hurry."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, *PATIENT)
"""What ends a run in order; `valmatch.__main__` has the same."""

HELD = (*SIGNALS, *([signal.SIGALRM] if hasattr(signal, "SIGALRM") else []))
"""What `held_signals` holds: a timer may try again what came at a fragile moment."""

FRAGILE = frozenset(("llvmlite", "pydantic"))
"""Libraries in which an exception from a signal would do harm."""

PATIENCE = 0.5  # seconds that an interruption waits for what is at work


_begun = False


def begin() -> None:
    """Note that from now on there is something that must be ended in order: files, workers."""
    global _begun
    _begun = True


def begun() -> bool:
    """Return whether there is; a process in which nothing has begun may just be left."""
    return _begun


class Stop:
    """Whether and why to stop; work asks between two pieces and so never stops inside one."""

    def __init__(self, max_seconds: float = math.inf, whole: Stop | None = None) -> None:
        self.reason = ""  # "" while there is none, "interrupted", or "out of time"
        self._deadline = time.monotonic() + max_seconds
        self._interrupted = math.inf
        self._whole = whole

    def __call__(self) -> bool:
        """Return whether to stop."""
        if not self.reason and self._whole and self._whole():
            self.reason = self._whole.reason
        if not self.reason and time.monotonic() >= self._deadline:
            self.reason = "out of time"
        return bool(self.reason)

    def interrupt(self) -> None:
        """Let the reason be a signal."""
        self.reason = "interrupted"
        self._interrupted = time.monotonic()

    def urgent(self) -> bool:
        """Return whether to stop even inside a piece of work: it takes longer than a signal waits.

        The end of the time is never urgent.
        """
        if self._whole and self._whole.urgent():
            return True
        return time.monotonic() >= self._interrupted + PATIENCE

    def check(self) -> None:
        """Raise `Stopped` if it is time to stop."""
        if self():
            raise Stopped


@contextmanager
def stop_on_signal(max_seconds: float = math.inf) -> Iterator[Stop]:
    """Note `SIGNALS`, such as Ctrl-C, instead of dying; yield what says whether to stop.

    A second signal that is none of `PATIENT` raises KeyboardInterrupt at once, and compiled
    searches end when work is no longer waited for, with `Stopped`. Outside the main thread signals
    cannot be had, and only time ends the work.
    """
    begin()
    stop = Stop(max_seconds)
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def note(number: int, frame: FrameType | None) -> None:
        if stop.reason == "interrupted":
            if number not in PATIENT and not is_fragile(frame):
                raise KeyboardInterrupt
            return
        stop.interrupt()

    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        with _halting_searches():
            yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_watched = False


@contextmanager
def _halting_searches() -> Iterator[None]:
    """End compiled searches some time after a signal.

    This thread may be inside one, where no handler of Python's runs; but Python writes the number
    of every signal that comes, and a thread reads them.
    """
    global _watched
    if _watched:  # by a block around this one
        yield
        return
    halting.resume()  # what an earlier block has left is over
    import socket

    reader, writer = socket.socketpair()
    over = threading.Event()

    def watch() -> None:
        leave_signals()
        while came := reader.recv(1):
            if came[0] in SIGNALS and not over.wait(PATIENCE):
                halting.halt()

    with reader, writer:
        writer.setblocking(False)
        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        _watched = True
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            _watched = False
            over.set()
            writer.shutdown(socket.SHUT_RDWR)
            thread.join()


def is_fragile(frame: FrameType | None) -> bool:
    """Return whether an exception from a signal would do harm where it came.

    An import may turn it into another error, as pydantic does. llvmlite, between handing an object
    over and noting that, would free the object twice.
    """
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.name.startswith("<frozen importlib") or FRAGILE.intersection(path.parts):
            return True
        frame = frame.f_back
    return False


def leave_signals() -> None:
    """Let signals come to other threads than this one, where the platform can."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


@contextmanager
def held_signals() -> Iterator[None]:
    """Let signals wait until the block is done.

    This thread blocks them, as do processes that it starts, where the platform can. They may come
    to another thread all the same, of whatever library; Python then runs their handlers in the main
    thread, which therefore notes them.
    """
    begin()
    held: list[int] = []
    handlers = {}
    if threading.current_thread() is threading.main_thread():
        for number in HELD:
            if signal.getsignal(number) is not None:  # not of Python's making
                handlers[number] = signal.signal(number, lambda came, _: held.append(came))
    try:
        with blocked(SIGNALS):
            try:
                yield
            finally:
                for number, handler in handlers.items():
                    signal.signal(number, handler)
    finally:
        for came in held:
            signal.raise_signal(came)


@contextmanager
def blocked(numbers: Sequence[int]) -> Iterator[None]:
    """Keep signals from this thread, and for good from processes that it starts, where possible."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ended_by_signals(work: Callable[[], T]) -> T:
    """Return what work gives; a signal ends it as Ctrl-C does, also inside a kernel."""
    with stop_on_signal() as stop, suppress(Stopped):
        result = work()
    if stop.reason:
        raise KeyboardInterrupt
    return result
