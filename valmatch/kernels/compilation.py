"""The numba decorators of the kernels: strict arithmetic, cached on disk, without the GIL.

Numba is imported with the first kernel; not where kernels are left in plain Python, for which see
`valmatch.kernels.plain_python`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from multiprocessing import parent_process
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numpy as np

from valmatch.kernels.address_space import check_address_space
from valmatch.kernels.plain_python import interpreted
from valmatch.text.terminal import one_line

F = TypeVar("F", bound=Callable[..., object])

at: Any = int if interpreted() else np.uint64
"""An index that is not negative: a kernel then has no code that counts from the end of an array."""

STRICT: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""No fastmath, because results must be reproducible; no GIL, because a thread may wait for it."""

WITHOUT_WRAPPERS: dict[str, bool] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

VARIANT = "variant"  # where a copy made by `variant` has its name, and the files of its parts
COMPILING = "which takes 10 to 60 seconds"  # how long compiling takes, of the kernels of one model

_announced = False
_announcing = threading.Lock()


def njit(function: F) -> F:
    """Compile `function` in nopython mode, cached and without the GIL; `.py_func` is its twin.

    Floating-point arithmetic stays strict (no fastmath), because results must be reproducible. It
    may make arrays, also where a kernel calls it that makes none.
    """
    return _compiled(function, _nrt=True)


def unallocating(function: F) -> F:
    """Compile a kernel that makes no array, without counting the references to those it takes.

    For kernels called so often that the counts would show. They return no array: whoever takes it
    would count down what was never counted up.
    """
    return _compiled(function, _nrt=False)


def address_taken(function: F) -> F:
    """Compile a function that kernels call by address alone, see `kernels.addresses`.

    As `unallocating`, without what calls from Python need.
    """
    return _compiled(function, _nrt=False, **WITHOUT_WRAPPERS)


def inlined(function: F) -> F:
    """Compile a part of a kernel as `internal` does, and always inline it into its callers.

    For small functions called per event with many arrays: each array travels as seven words, so
    that a call costs more than the work.
    """
    return _internal(function, forceinline=True)


def internal(function: F) -> F:
    """Compile a part of a kernel that kernels alone call, without what calls from Python need.

    For kernels that take many arrays: to take them from Python costs more code than most parts
    have, which would be compiled again with each kernel that calls them. They are compiled and kept
    with these, and make and return no array, see `unallocating`. Where Python calls one, as tests
    do, it is compiled by itself.
    """
    return _internal(function)


def apart(function: F) -> F:
    """Compile a part of a kernel as `internal` does, and never inline it.

    For what takes a reference from the kernel that has made it, see `kernels.references`.
    """
    return _internal(function, apart=True)


def _internal(function: F, apart: bool = False, forceinline: bool = False) -> F:
    if interpreted():
        return function

    numba = _numba()
    given: dict[str, Any] = {**STRICT, **WITHOUT_WRAPPERS, "_nrt": False}
    given["forceinline"] = forceinline  # else a part is inlined wherever the one that calls it is
    part = numba.njit(pipeline_class=part_compiler(apart), **given)(function)

    @cache
    def whole() -> F:
        return _compiled(function, _nrt=False)

    # No machine code of a part is there for Python to call; who calls it nevertheless has it
    # compiled by itself.
    part._insert = lambda *given, **named: None
    part._compile_for_args = lambda *given, **named: whole()
    return cast(F, _without_literals(part))


def expanded(function: F) -> F:
    """Put a function into the kernels that call it, like a macro, and compile it only there.

    For closures, which no cache knows again, as the functions in them are others in every process;
    for what would be compiled anew on every level of calls up to the kernel; and for the busiest
    parts of a kernel that take a tuple of arrays, whose arrays are known there one by one.
    """
    if interpreted():
        return function
    return cast(F, _numba().njit(inline="always", **STRICT)(function))


def variant(function: F, name: str, **parts: object) -> F:
    """Return a copy of a function in which names of its module stand for other things.

    For a kernel that is the same for many but for the functions that it calls. The copy is yet to
    be compiled.
    """
    plain = cast(FunctionType, function)
    copy = FunctionType(plain.__code__, {**plain.__globals__, **parts}, plain.__name__)
    copy.__qualname__ = f"{plain.__qualname__}_{name}"
    files = {path for part in parts.values() if (path := _file_of(part))}
    copy.__dict__[VARIANT] = name, tuple(sorted(files))
    return cast(F, copy)


def _file_of(part: object) -> Path | None:
    """Return the file of a module or of a function, compiled or not; None for anything else."""
    if isinstance(part, ModuleType):
        return Path(str(part.__file__))
    code = getattr(getattr(part, "py_func", part), "__code__", None)
    return Path(code.co_filename) if code else None


def shared(function: F) -> F:
    """Let kernels call a function that is plain Python elsewhere.

    For small functions called from outside of kernels too: a call of compiled code costs more.
    """
    if interpreted():
        return function
    _numba()
    from numba.extending import register_jitable

    return register_jitable(function)


def replaced(by: Callable[..., object]) -> Callable[[F], F]:
    """Let kernels call, in place of a function, what `by` returns for the types of its arguments.

    For what numba has no types for.
    """

    def decorate(function: F) -> F:
        if not interpreted():
            _numba()
            from numba.extending import overload

            overload(function, jit_options={"forceinline": True})(by)
        return function

    return decorate


def _numba() -> Any:  # noqa: ANN401 - numba has no types
    """Import numba, where there is room for it."""
    if "numba" not in sys.modules:
        check_address_space()
    import numba

    return numba


def _compiled(function: F, **options: bool) -> F:
    """Apply numba's decorator, with a cache wherever there is a place for it."""
    if interpreted():
        return function
    from valmatch.kernels.cache import cache_folder, keep

    numba = _numba()
    kernel = numba.njit(**{**STRICT, **options})(function)
    package, source = Path(__file__).parents[1], Path(function.__code__.co_filename)
    variant = function.__dict__.get(VARIANT, ())
    with suppress(RuntimeError, OSError):  # nowhere to write
        if folder := cache_folder(package, source, numba.config.CACHE_DIR, *variant):
            keep(kernel, folder)
    return cast(F, _without_literals(kernel))


def _without_literals(kernel: Any) -> Any:  # noqa: ANN401 - numba has no types
    """Return a kernel that is compiled once for all numbers that others write as they call it.

    Numba would compile it for each of them, as if each were a type.
    """
    from numba.core.types import unliteral

    template = kernel.get_call_template

    def plain_template(arguments: Any, named: Any) -> Any:  # noqa: ANN401
        plain = dict(zip(named, map(unliteral, named.values()), strict=True))
        return template(tuple(map(unliteral, arguments)), plain)

    kernel.get_call_template = plain_template
    return kernel


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
        text = (
            f"compiling kernels, {COMPILING}"
            " (not kept: no folder of your own to write to; NUMBA_CACHE_DIR names one)"
        )
    else:
        whole = Path(place).parent
        what = "further kernels" if any(whole.glob("*/*.nbi")) else "the kernels"
        text = f"compiling {what} once, {COMPILING} (kept in {whole})"
    print(one_line(text), file=sys.stderr)


# Parts of kernels that are optimised only in the kernels that call them.
#
# Numba optimises a function by itself, makes machine code of it, and does both again in each
# function that calls it, at any remove. Of a part that nobody else calls only the last time is of
# use. What a part calls is linked with it into kernels, and not before into each part in between.
# Left out are the wrappers by which Python would call it, too, which for many arrays are longer
# than most parts.


@cache
def part_compiler(apart: bool) -> Any:  # noqa: ANN401 - numba has no types
    """Return the numba compiler of parts, numba's own where that works in another way.

    Parts that stand `apart` are never inlined.
    """
    from numba.core.compiler import Compiler

    try:
        library_of = _library_class()
    except (ImportError, AttributeError):
        return Compiler

    class PartCompiler(Compiler):
        """Numba's compiler, with libraries that keep code as it is."""

        def define_pipelines(self) -> list[Any]:
            state = self.state
            codegen, name = state.targetctx.codegen(), state.func_id.func_qualname
            state.library = library_of(codegen, name, apart)
            return super().define_pipelines()  # type: ignore[no-any-return, no-untyped-call]

    return PartCompiler


def _library_class() -> Callable[[Any, str, bool], Any]:
    """Return the class of libraries of code that is neither optimised nor made machine code of."""
    from numba.core.codegen import JITCodeLibrary

    needed = ("finalize", "_finalize_final_module", "get_pointer_to_function")
    for name in (*needed, "_finalize_dynamic_globals", "_get_module_for_linking"):
        getattr(JITCodeLibrary, name)

    class NoCodegen:
        """What the library has in place of machine code: no place for objects of Python."""

        def set_env(self, name: str, env: object) -> None:
            """Keep nothing, as nothing is there that could use it."""

    class PartLibrary(JITCodeLibrary):
        """A library that is only linked into others, and with it what it calls."""

        codegen = NoCodegen()

        def __init__(self, codegen: Any, name: str, apart: bool) -> None:  # noqa: ANN401
            super().__init__(codegen, name)  # type: ignore[no-untyped-call]
            self._apart = apart

        def add_ir_module(self, module: Any) -> None:  # noqa: ANN401
            if self._apart:
                for one in module.functions:
                    if not one.is_declaration and "alwaysinline" not in one.attributes:
                        one.attributes.add("noinline")
            super().add_ir_module(module)  # type: ignore[no-untyped-call]

        def finalize(self) -> None:
            self._raise_if_finalized()  # type: ignore[no-untyped-call]
            for library in self._linking_libraries:
                self._reload_init.update(library._reload_init)
            self._finalize_final_module()

        def _get_module_for_linking(self) -> Any:  # noqa: ANN401
            if self._shared_module is None:
                own, whole = self._final_module, self._final_module.clone()
                for library in _called_by(self):
                    if isinstance(library, PartLibrary):
                        module = library._final_module
                    else:
                        module = library._get_module_for_linking()
                    whole.link_in(module, preserve=True)
                self._final_module = whole
                super()._get_module_for_linking()  # type: ignore[no-untyped-call]
                self._final_module = own
            return self._shared_module

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()  # type: ignore[no-untyped-call]
            return 0

    return PartLibrary


def _called_by(library: Any) -> list[Any]:  # noqa: ANN401
    """Return the libraries that a part needs, itself excluded, each once."""
    found = {library: None}  # in order
    waiting = [library]
    while waiting:
        for other in waiting.pop()._linking_libraries:
            if other not in found:
                found[other] = None
                if isinstance(other, type(library)):
                    waiting.append(other)
    del found[library]
    return list(found)
