"""Stopping between two pieces of work: when a signal asks for it, or when time is up."""

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType

PATIENT = tuple(getattr(signal, name) for name in ("SIGUSR1", "SIGXCPU") if hasattr(signal, name))
"""Signals by which a scheduler, or a limit on CPU time, says that the time is nearly up."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, *PATIENT)
"""What ends a run in order; `valmatch.__main__` has the same."""

FRAGILE = frozenset(("llvmlite", "pydantic"))  # an exception from a signal in them would do harm

PATIENCE = 0.5  # seconds that an interruption waits for what is at work
POLL = 0.02  # seconds between two looks at whether signals are still held
GRACE = 2.0  # seconds after a signal in which a command may end in order; then it just leaves

INTERRUPTED = 130  # exit code

ENDINGS: list[Callable[[], None]] = []
"""What is still to be done where the process just leaves: folders are closed, files taken away."""

_holders = 0  # blocks that hold signals
_begun = False


class Stopped(Exception):  # noqa: N818 - no error
    """Ends a piece of work that was asked to stop, from inside."""


def begin() -> None:
    """Note that from now on there is something that must be ended in order: files, workers."""
    global _begun
    _begun = True


def begun() -> bool:
    """Return whether there is; a process in which nothing has begun may just be left."""
    return _begun


class Stop:
    """Whether and why to stop; work asks between two pieces and so never stops inside one."""

    def __init__(self, max_seconds: float = math.inf, outer: "Stop | None" = None) -> None:
        self.reason = ""  # "" while there is none, "interrupted", or "out of time"
        self._deadline = time.monotonic() + max_seconds
        self._interrupted = math.inf
        self._outer = outer

    def __call__(self) -> bool:
        """Return whether to stop."""
        if not self.reason and self._outer and self._outer():
            self.reason = self._outer.reason
        if not self.reason and time.monotonic() >= self._deadline:
            self.reason = "out of time"
        return bool(self.reason)

    def interrupt(self) -> None:
        """Let the reason be a signal."""
        self.reason = "interrupted"
        self._interrupted = min(self._interrupted, time.monotonic())

    def urgent(self) -> bool:
        """Return whether to stop inside a piece of work: it takes longer than a signal waits."""
        if self._outer and self._outer.urgent():
            return True
        return time.monotonic() >= self._interrupted + PATIENCE

    def check(self) -> None:
        """Raise `Stopped` if it is time to stop."""
        if self():
            raise Stopped


@contextmanager
def stop_on_signal(max_seconds: float = math.inf) -> Iterator[Stop]:
    """Note `SIGNALS`, such as Ctrl-C, instead of dying; yield what says whether to stop."""
    begin()
    stop = Stop(max_seconds)
    with _handled(lambda _: stop.interrupt()):
        yield stop


@contextmanager
def _handled(take: Callable[[int], None]) -> Iterator[None]:
    """Have the main thread call a function with each signal; outside it that cannot be had."""
    is_main = threading.current_thread() is threading.main_thread()
    with ExitStack() as stack:
        for number in SIGNALS if is_main else ():
            if signal.getsignal(number) is not None:  # not of Python's making
                before = signal.signal(number, lambda came, _: take(came))
                stack.callback(signal.signal, number, before)
        yield


def watch_signals() -> None:
    """Leave this process `GRACE` after a signal, should it still be there."""
    # The main thread may be inside a kernel, where no handler of Python's runs; but Python writes
    # the number of every signal that comes, and a thread reads them.
    if os.name != "posix":
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def watch() -> None:
        leave_signals()
        while os.read(reader, 1)[0] not in SIGNALS:
            pass
        time.sleep(GRACE)
        # This process ends, whatever its other threads are at, once no signals are held.
        while _holders:
            time.sleep(POLL)
        for ending in reversed(ENDINGS):
            with suppress(Exception):
                ending()
        with suppress(OSError):
            os.write(2, b"interrupted\n")
        os._exit(INTERRUPTED)

    threading.Thread(target=watch, daemon=True).start()


def is_fragile(frame: FrameType | None) -> bool:
    """Return whether an exception from a signal would do harm where it came."""
    # An import may turn it into another error, as pydantic does. llvmlite, between handing an
    # object over and noting that, would free the object twice.
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
    """Let signals wait until the block is done, also in processes that it starts."""
    # They may come to another thread all the same, of whatever library; Python then runs their
    # handlers in the main thread, which therefore notes them.
    begin()
    global _holders
    held: list[int] = []
    _holders += 1
    try:
        with blocked(SIGNALS), _handled(lambda came: held.append(came)):
            yield
    finally:
        _holders -= 1
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
