"""Turning a minimiser that calls a function into the steps of a search."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeAlias

from valmatch.kernels.arrays import Floats
from valmatch.optimization.solvers.search import Request, Steps

EvaluateRequest: TypeAlias = Callable[[Request], Floats]


class _Stopped(BaseException):
    """Unwinds the minimiser; not an Exception, so that the minimiser does not catch it."""


def inverted(minimise: Callable[[EvaluateRequest], None]) -> Steps:
    """Run `minimise(evaluate)` in a thread and yield what it evaluates.

    The thread and the caller take strict turns, so that the result is deterministic. Closing or
    dropping the generator stops the thread: it always waits for a reply or runs to its next
    evaluation, where it finds the stop.
    """
    requests: SimpleQueue[Request | BaseException | None] = SimpleQueue()
    replies: SimpleQueue[Floats | None] = SimpleQueue()

    def evaluate(request: Request) -> Floats:
        requests.put(request)
        reply = replies.get()
        if reply is None:
            raise _Stopped
        return reply

    def run() -> None:
        try:
            minimise(evaluate)
        except _Stopped:
            pass
        except BaseException as error:
            requests.put(error)
        else:
            requests.put(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while (request := requests.get()) is not None:
            if isinstance(request, BaseException):
                raise request
            replies.put((yield request))
    finally:
        replies.put(None)
        thread.join()
