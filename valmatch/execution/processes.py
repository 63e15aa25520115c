"""Worker processes of this machine: their start, their end, the messages of a loss."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import (
    current_process,
    forkserver,
    get_context,
    parent_process,
    resource_tracker,
)
from multiprocessing.context import BaseContext
from types import TracebackType
from typing import Any, NamedTuple

from valmatch.errors import InputError, RunError, WorkersLostError, option
from valmatch.execution.interruption import PATIENT, SIGNALS, blocked, held_signals
from valmatch.inputs import arguments
from valmatch.kernels.address_space import check_address_space
from valmatch.models.registry import OWN

UNGUARDED = 86  # exit code of a worker process whose script asks for workers while it is imported


def check_workers(workers: int) -> None:
    """Refuse a number of workers that cannot be; end a worker that asks for workers itself."""
    # A worker process first imports the script that it works for. Where the script asks for workers
    # as soon as it is imported, each of them would do the same.
    arguments.whole("workers", workers)
    if workers > 1 and getattr(current_process(), "_inheriting", False):
        os._exit(UNGUARDED)


ENDING = 5.0
"""Seconds within which the thread that looks after killed workers has ended, on any machine."""


class _Processes(ProcessPoolExecutor):
    """Worker processes that are not waited for: what is still at work in the end is not wanted."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        workers = list((self._processes or {}).values()) if isinstance(error, RunError) else []
        for worker in workers:
            worker.join(1.0)  # one has ended, and its code may be on its way
        self.shutdown()
        if any(worker.exitcode == UNGUARDED for worker in workers):
            raise _unguarded() from None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        # The first piece starts the workers: one that a signal kept from being noted would not be
        # ended with the others, and would miss what this process has taken away.
        with held_signals():
            try:
                return super().submit(fn, *args, **kwargs)
            except BrokenExecutor:
                raise died() from None
            except (OSError, EOFError) as error:
                raise _not_started(getattr(error, "strerror", "")) from None

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        children = list((self._processes or {}).values())
        manager: Any = self._executor_manager_thread
        super().shutdown(wait=False, cancel_futures=True)
        for process in children:
            process.kill()
        if manager is not None:
            # It ends with them. What it has to take away would stay if this process ended before.
            manager.join(ENDING)


STARTING = 45.0  # seconds within which a worker has started, all imports included, anywhere

SILENT = "valmatch.execution.silence"
"""Imported first by the server that workers come from: what it fails of is said by us."""


def process_pool(workers: int) -> ProcessPoolExecutor:
    """Start worker processes, which leave signals to this one and end with it."""
    check_address_space()
    context = _context()
    # A process that does nothing shows first whether they can be started.
    process: Any = context.Process(target=int)  # type: ignore[attr-defined]
    watch = threading.Timer(STARTING, _kill_server)  # it may import, or try to, for ever
    watch.start()
    try:
        process.start()
        process.join()
    except (OSError, EOFError) as error:
        raise _not_started(getattr(error, "strerror", "")) from None
    finally:
        watch.cancel()
    if process.exitcode == UNGUARDED:
        raise _unguarded()
    if process.exitcode != 0:
        raise _not_started()
    return _Processes(workers, context, _stand_by)


def _kill_server() -> None:
    """End the server that workers come from, whatever it does; those who wait for it hear of it."""
    server = getattr(getattr(forkserver, "_forkserver", None), "_forkserver_pid", None)
    if server is not None:
        with suppress(OSError):
            os.kill(server, signal.SIGKILL)


def _unguarded() -> InputError:
    return InputError(
        f"{option('workers')}: worker processes import the script that starts them: put"
        ' what it does below `if __name__ == "__main__":`, so that only the script itself'
        " does it"
    )


def died() -> WorkersLostError:
    """Return what is said where a worker process has ended by itself."""
    return WorkersLostError(
        f"a worker process died (out of memory, of which fewer {option('workers')} take less, or"
        " killed from outside)"
    )


def _not_started(why: str | None = "") -> RunError:
    return RunError(
        f"worker processes cannot be started{f' ({why})' if why else ''}: the limits on memory,"
        f" open files or processes are too low (ulimit -a); {option('executor=local')} needs less"
    )


def _context() -> BaseContext:
    """Return how processes start: from a server that has imported everything, if there is one."""
    # Forking this process instead would copy its threads' locks.
    if sys.platform == "win32":
        return get_context("spawn")
    context = get_context("forkserver")
    models = [model.path.partition(":")[0] for model in OWN.values()]
    context.set_forkserver_preload([SILENT, *models])
    try:
        # It would unblock the signals if it were started on the way. Those that it does not know
        # would end it where they are sent to all processes.
        with blocked(PATIENT):
            resource_tracker.ensure_running()
        # The server and its children keep the signals blocked, which are this process's business.
        with held_signals():
            forkserver.ensure_running()
    except OSError as error:
        raise _not_started(error.strerror) from None
    return context


def _stand_by() -> None:
    """Prepare a worker process: signals to stop are its parent's business; it ends with it."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    try:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    except RuntimeError:  # no room for a thread
        os._exit(1)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    # Killed, it could not tell the pool to end, and this process would wait for work forever.
    os._exit(1)


# A pool of workers, wherever they are: its executor and its size.


class WorkerPool(NamedTuple):
    """An executor with what is known of its workers."""

    executor: Executor  # takes work
    slots: Callable[[], int]  # returns the number of pieces that it can work on at once, now
    # pieces to hand out for each of them: one at work, and one waiting where handing out takes time
    ahead: int
    # into how many pieces one may be cut where the work ends; few where handing out is slow
    finest: int
    here: bool  # whether it works in this process, whose objects the work can then share
