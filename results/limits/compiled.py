"""What compiling takes in a call of `valmatch`, a part of the package a line.

    python -m results.limits.compiled replicate valorant -n 1 --workers 1

What numba compiles for itself is under its name. Nothing may be compiled before.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import numba.core.event as event

from results.limits.parting import show

DEPTH = 3
"""So many words of the name of a module name its part of the package."""


class Listener(event.Listener):
    """The functions that were compiled, and the seconds of each without those that it calls."""

    def __init__(self) -> None:
        self.stack: list[tuple[str, float]] = []
        self.inner = [0.0]
        self.found: dict[str, tuple[int, float]] = {}

    def on_start(self, one: Any) -> None:  # noqa: ANN401 - numba has no types
        """Note when a function is begun."""
        self.stack.append((one.data["dispatcher"].py_func.__module__, time.process_time()))
        self.inner.append(0.0)

    def on_end(self, one: Any) -> None:  # noqa: ANN401
        """Count what it took."""
        module, start = self.stack.pop()
        took, inner = time.process_time() - start, self.inner.pop()
        self.inner[-1] += took
        part = ".".join(module.split(".")[:DEPTH]) if module.startswith("valmatch") else "numba"
        functions, own = self.found.get(part, (0, 0.0))
        self.found[part] = (functions + 1, own + took - inner)


def measured() -> dict[str, float]:
    """Return the seconds by part, with its number of functions, of the call that is asked for."""
    listener = Listener()
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
    from valmatch.__main__ import main

    with suppress(SystemExit):
        main()
    found = {f"{part} ({count})": own for part, (count, own) in listener.found.items()}
    return {**found, "the rest": time.process_time() - sum(found.values())}


if __name__ == "__main__":
    show(measured())
