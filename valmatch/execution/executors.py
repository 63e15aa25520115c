"""Executors of chunks of work: here, in threads, in worker processes, on a Dask cluster."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import AbstractContextManager, contextmanager, suppress
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import BaseContext
from types import TracebackType
from typing import Any, NamedTuple

from valmatch.config.config import Config
from valmatch.errors import InputError, RunError, WorkersLostError, option
from valmatch.execution.interruption import (
    PATIENT,
    SIGNALS,
    begin,
    blocked,
    held_signals,
    leave_signals,
)
from valmatch.execution.run_options import DASK, LOCAL, PROCESSES, RunOptions
from valmatch.kernels.compilation import check_address_space
from valmatch.models.registry import OWN, load_model

UNGUARDED = 86  # exit code of a worker process whose script asks for workers while it is imported
STARTING = 45.0  # seconds within which a worker has started, all imports included, anywhere
ENDING = 5.0  # seconds within which the thread that looks after killed workers has ended, anywhere

# Imported first by the server that workers come from: what it fails of is said by us.
SILENT = "valmatch.execution.silence"


class WorkerPool(NamedTuple):
    """An executor with what is known of its workers."""

    executor: Executor  # takes work
    slots: Callable[[], int]  # returns the number of pieces that it can work on at once, now
    # pieces to hand out for each of them: one at work, and one waiting where handing out takes time
    ahead: int
    # into how many pieces one may be cut where the work ends; few where handing out is slow
    finest: int
    here: bool  # whether it works in this process, whose objects the work can then share


@contextmanager
def open_pool(
    executor: str | None,
    workers: int,
    scheduler: str | None = None,
    warn: Callable[[str], None] = lambda text: None,
    detail: Callable[[str], None] = lambda text: None,
    *,
    threads: bool = False,
) -> Iterator[WorkerPool]:
    """Start workers, and dismiss them in the end; what they have not begun is dropped."""
    if workers > 1 and getattr(multiprocessing.current_process(), "_inheriting", False):
        # A worker process first imports the script that it works for. Where the script asks for
        # workers as soon as it is imported, each of them would do the same.
        os._exit(UNGUARDED)
    begin()
    if scheduler is not None:
        if executor not in (None, DASK):
            raise InputError(
                f"{option('scheduler')}: of no use with {option(f'executor={executor}')} (allowed:"
                f" {option('executor=dask')})"
            )
        try:
            from valmatch.execution.dask import dask_pool  # takes long to import
        except ImportError:
            raise InputError(
                f"{option('executor=dask')} needs Dask, which the extra `dask` brings: pip install"
                " 'valmatch[dask]'"
            ) from None
        with dask_pool(scheduler, warn, detail) as (client, slots):
            yield WorkerPool(client, slots, ahead=2, finest=3, here=False)
        return
    executor = PROCESSES if executor == DASK else executor or LOCAL
    detail(f"executor: {executor}, {workers} workers")
    if executor == LOCAL and workers == 1:
        yield WorkerPool(_Serial(), lambda: 1, 1, 1, here=True)
    elif executor == LOCAL and threads:
        with ThreadPoolExecutor(workers, initializer=leave_signals) as pool_of_threads:
            yield WorkerPool(pool_of_threads, lambda: workers, 2, 16, here=True)
    else:
        with process_pool(workers) as processes:
            yield WorkerPool(processes, lambda: workers, 2, 16, here=False)


def pool_for(options: RunOptions, *configs: Config) -> AbstractContextManager[WorkerPool]:
    """Start the workers that options of a run ask for; see `open_pool`."""
    how = options.executor, options.workers or 1, options.scheduler
    models = (load_model(config.model) for config in configs)
    threads = all(getattr(model, "releases_gil", False) for model in models)
    return open_pool(*how, options.warn, options.detail, threads=threads)


class _Serial(Executor):
    """Does a piece of work when it is handed in."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


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
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
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
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    # Killed, it could not tell the pool to end, and this process would wait for work forever.
    os._exit(1)
