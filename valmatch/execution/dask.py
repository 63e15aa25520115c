"""The executor `dask`: the workers of a scheduler that is named."""

import asyncio
import logging
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from typing import Any

from valmatch.errors import InputError, WorkersLostError, option
from valmatch.execution.interruption import stop_on_signal

distributed: Any = import_module("distributed")

Tell = Callable[[str], None]  # takes a sentence

ADDRESS = re.compile(r"(?:(?:tcp|tls)://)?(?:[\w.-]{1,253}|\[[\w:.%]{1,60}\]):(\d{1,5})")

CONNECT_SECONDS = 20  # seconds to wait for a scheduler's first answer
ASK_SECONDS = 1  # seconds between two questions to a scheduler for its workers
ANSWER_SECONDS = 1  # seconds to wait for the answer, fewer than a signal waits for the command
LOST_SECONDS = 20  # seconds without an answer after which a scheduler is lost
IDLE_ANSWERS = 10  # answers that there is no worker after which that is said
CLOSE_SECONDS = 2  # seconds to take leave of a scheduler


def _connect(address: str) -> Any:  # noqa: ANN401
    """Return a client of a scheduler; a signal ends the wait for it."""
    match = ADDRESS.fullmatch(address)
    if not match or not 0 < int(match[1]) < 2**16:
        allowed = "tcp://HOST:PORT or tls://HOST:PORT"
        raise InputError(f"{option('scheduler')}: {address[:80]!r} (allowed: {allowed})")
    connected: Future[Any] = Future()

    def connect() -> None:
        try:
            # A client that cannot connect would wait and complain when this process ends.
            asyncio.run(asyncio.wait_for(_greet(address), CONNECT_SECONDS))
            client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
            connected.set_result(client)
        except Exception as error:
            connected.set_exception(error)

    # A thread, for where something accepts a connection and says nothing Dask has no end.
    threading.Thread(target=connect, daemon=True).start()
    with stop_on_signal(CONNECT_SECONDS + CLOSE_SECONDS) as stop:
        while not wait([connected], 0.1).done and not stop():
            pass
    if stop.reason == "interrupted":
        raise KeyboardInterrupt
    try:
        return connected.result(timeout=0)
    except InputError:
        raise
    except Exception as error:
        while error.__cause__:
            error = error.__cause__  # type: ignore[assignment]
        why = f": {error}" if str(error) else ""
        raise InputError(
            f"{option('scheduler')} {address}: no Dask scheduler answers within"
            f" {CONNECT_SECONDS} s{why}"
        ) from None


async def _greet(address: str) -> None:
    """Ask what answers at an address."""
    arguments = distributed.Security().get_connection_args("client")
    if address.startswith("tls:") and not arguments["ssl_context"]:
        raise InputError(
            f"{option('scheduler')} {address}: TLS needs certificates, which Dask's configuration"
            " names: distributed.comm.tls.ca-file, distributed.comm.tls.client.cert and .key"
        )
    async with distributed.rpc(
        address, connection_args=arguments, timeout=CONNECT_SECONDS - ANSWER_SECONDS
    ) as server:
        kind = (await server.identity())["type"]
    if kind != "Scheduler":
        raise OSError(f"this is a Dask {kind.lower()}")


class SchedulerWorkers:
    """The workers of a scheduler, as far as is known."""

    def __init__(self, client: Any, address: str, warn: Tell, detail: Tell) -> None:  # noqa: ANN401
        self._client, self._question = client, client.scheduler.ncores
        self._link = client.scheduler_comm
        self._address, self._warn, self._detail = address, warn, detail
        self._last_question, self._silent = -math.inf, math.inf
        self._threads: Mapping[str, int] = {}
        self._patience = IDLE_ANSWERS

    def slots(self) -> int:
        """Return the number of their threads; none while the scheduler does not answer."""
        # The client would connect anew, but what was handed out by then may never come back.
        if self._link is not self._client.scheduler_comm or self._link.closed():
            raise self._lost("has closed the connection")
        now = time.monotonic()
        if now > self._last_question + ASK_SECONDS:
            try:
                self._note(self._client.sync(self._question, callback_timeout=ANSWER_SECONDS))
                self._silent = math.inf
            except Exception:  # of many kinds, by where a question was lost
                self._silent = min(self._silent, now)
            self._last_question = time.monotonic()
        if self._last_question > self._silent + LOST_SECONDS:
            raise self._lost(f"has not answered for {LOST_SECONDS} s")
        return sum(self._threads.values()) if self._silent == math.inf else 0

    def _lost(self, how: str) -> WorkersLostError:
        return WorkersLostError(f"the Dask scheduler {self._address} {how}")

    def _note(self, threads: Mapping[str, int]) -> None:
        """Note the threads of each worker, and say what a run should know of them."""
        if threads.keys() != self._threads.keys():
            lost = len(self._threads.keys() - threads.keys())
            further = f" ({lost} lost)" if lost else ""
            self._detail(f"executor: dask, {len(threads)} workers{further}")
        self._threads = threads
        self._patience = IDLE_ANSWERS if threads else self._patience - 1
        if self._patience == 0:
            self._warn("no Dask worker is there; waiting for one")


LOGGERS = ("distributed", "distributed.client", "tornado.application", "asyncio")


@contextmanager
def dask_pool(
    scheduler: str, warn: Tell, detail: Tell
) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """Work with Dask, which logs nothing; see `valmatch.execution.executors.open_pool`."""
    with ExitStack() as stack:
        for logger in map(logging.getLogger, LOGGERS):
            stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL + 1)
        client = _connect(scheduler)
        try:
            slots = SchedulerWorkers(client, scheduler, warn, detail).slots
            yield client.get_executor(pure=False), slots
        finally:
            with suppress(Exception):  # lost or not, it is left
                client.close(timeout=CLOSE_SECONDS)
