"""The numba decorators of the kernels: strict arithmetic, cached on disk, without the GIL.

Numba is imported with the first kernel; not where kernels are left in plain Python, for which see
`valmatch.interpretation`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from valmatch.interpretation import interpreted
from valmatch.printable import one_line

__all__ = [
    "announce_compilation",
    "at",
    "expanded",
    "inlined",
    "njit",
    "replaced",
    "shared",
    "unallocating",
]

F = TypeVar("F", bound=Callable[..., object])

at: Any = int if interpreted() else np.uint64
"""An index that is not negative: a kernel then has no code that counts from the end of an array."""

KERNELS = ("draws", "game_logs", "matching", "models", "optimization", "policies", "ratings")
"""The folders of the package that hold kernels."""

UNUSED = 3600.0
"""Seconds without a start after which nobody should be writing the caches of a former state."""

STRICT: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""No fastmath, because results must be reproducible; no GIL, because a thread may wait for it."""

_announced = False
_announcing = threading.Lock()


def njit(function: F) -> F:
    """Compile `function` in nopython mode, cached and without the GIL; `.py_func` is its twin.

    Floating-point arithmetic stays strict (no fastmath), because results must be reproducible.
    """
    return _compiled(function)


def unallocating(function: F) -> F:
    """Compile a kernel that makes no array, without counting the references to those it takes.

    For kernels called so often that the counts would show. They return no array: whoever takes it
    would count down what was never counted up.
    """
    return _compiled(function, _nrt=False)


def inlined(function: F) -> F:
    """Compile a part of a kernel that is always inlined into its callers.

    For small functions called per event with many arrays: each array travels as seven words, so
    that a call costs more than the work. They make and return no array, see `unallocating`.
    """
    return _compiled(function, forceinline=True, _nrt=False)


def expanded(function: F) -> F:
    """Put a function into the kernels that call it, like a macro, and compile it only there.

    For closures, which no cache knows again, as the functions in them are others in every process;
    for what would be compiled anew on every level of calls up to the kernel; and for the busiest
    parts of a kernel that take a tuple of arrays, whose arrays are known there one by one.
    """
    if interpreted():
        return function
    import numba

    return cast(F, numba.njit(inline="always", **STRICT)(function))


def shared(function: F) -> F:
    """Let kernels call a function that is plain Python elsewhere.

    For small functions called from outside of kernels too: a call of compiled code costs more.
    """
    if interpreted():
        return function
    from numba.extending import register_jitable

    return register_jitable(function)


def replaced(by: Callable[..., object]) -> Callable[[F], F]:
    """Let kernels call, in place of a function, what `by` returns for the types of its arguments.

    For what numba has no types for.
    """

    def decorate(function: F) -> F:
        if not interpreted():
            from numba.extending import overload

            overload(function, jit_options={"forceinline": True})(by)
        return function

    return decorate


def _compiled(function: F, **options: bool) -> F:
    """Apply numba's decorator, with a cache wherever there is a place for it."""
    if interpreted():
        return function
    import numba

    from valmatch.kernel_cache import cached

    strict: dict[str, Any] = {**STRICT, **options}
    given = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = _cache_folder(Path(__file__).parent, given)  # type: ignore[attr-defined]
    try:
        return cast(F, cached(numba.njit(cache=True, **strict)(function)))
    except (RuntimeError, OSError):  # nowhere to write
        return cast(F, numba.njit(**strict)(function))
    finally:
        numba.config.CACHE_DIR = given  # type: ignore[attr-defined]


@cache
def _cache_folder(package: Path, given: str) -> str:
    """Return a cache folder that belongs to this very state of all kernels.

    Numba's own cache looks at the file of a kernel alone, and would go on using a kernel when a
    kernel that it calls from another file has changed. The folders of former states are removed
    when a new one is made, but not those of other places where the package is installed.
    """
    kernels = [path for folder in KERNELS for path in package.glob(f"{folder}/**/*.py")]
    facts = [(path, path.stat()) for path in sorted([package / "compilation.py", *kernels])]
    state = _digest("".join(f"{path} {fact.st_mtime_ns} {fact.st_size}\n" for path, fact in facts))
    place = f"valmatch-{_digest(str(package))[:8]}"
    beside = package / "__pycache__"
    if given:
        home = Path(given)
    elif os.access(package, os.W_OK):
        home = beside
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "valmatch"
    folder = home / f"{place}-{state[:12]}"
    with suppress(OSError):  # nowhere to write
        if not folder.exists():
            # Earlier releases named them without a place.
            _remove_unused([*home.glob(f"{place}-*"), *beside.glob("valmatch-" + 12 * "[0-9a-f]")])
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    return str(folder)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _remove_unused(folders: list[Path]) -> None:
    """Remove cache folders, except those of processes that may be writing into them."""
    for folder in folders:
        with suppress(OSError):  # another process may be removing it
            if folder.stat().st_mtime < time.time() - UNUSED:
                shutil.rmtree(folder, ignore_errors=True)


def announce_compilation(kernel: Any) -> None:  # noqa: ANN401
    """Say on stderr that kernels are about to be compiled, if the cache does not have this one.

    Said once a process, whatever the number of kernels, and not by worker processes.
    """
    global _announced
    if _announced or getattr(kernel, "overloads", None):  # looking into the cache takes time
        return
    if parent_process() is not None or not hasattr(kernel, "py_func"):
        return
    function, place = kernel.py_func, kernel.stats.cache_path
    stem = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}-"
    if place and any(Path(place).glob(f"{stem}*.nbi")):
        return
    with _announcing:
        if _announced:
            return
        _announced = True
    if not place:
        text = "compiling kernels (not kept: no folder to write to; NUMBA_CACHE_DIR names one)"
    else:
        what = "further kernels" if any(Path(place).parent.glob("*/*.nbi")) else "the kernels"
        text = f"compiling {what} once (kept in {place})"
    print(one_line(text), file=sys.stderr)
