"""The numba decorators of the kernels: strict arithmetic, cached on disk, without the GIL."""

import os
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Protocol, TypeVar, cast, overload

import numpy as np

from valmatch.errors import RunError
from valmatch.kernels import first_run
from valmatch.kernels.plain_python import interpreted

F = TypeVar("F", bound=Callable[..., object])

# An index that is not negative: a kernel then has no code that counts from the end of an array.
at: Any = int if interpreted() else np.uint64
# No fastmath, because results must be reproducible; no GIL, because a thread may wait for it.
STRICT: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
BASE, THREAD = 620e6, 40e6  # bytes that compiling takes; that each thread of OpenBLAS takes
VARIANT = "variant"  # where a copy made by `variant` has its name, and the files of its parts


class _Decorator(Protocol):
    """Compiles a function; without one it returns a decorator with an option."""

    @overload
    def __call__(self, function: F, /, **option: bool) -> F: ...

    @overload
    def __call__(self, **option: bool) -> Callable[[F], F]: ...


def _decorator(compiled: Callable[..., Any]) -> _Decorator:
    """Return a decorator by what compiles a function; in plain Python it changes none."""

    def decorate(function: Any = None, **option: bool) -> Any:  # noqa: ANN401
        if function is None:
            return partial(decorate, **option)
        return function if interpreted() else _without_literals(compiled(function, **option))

    return cast(_Decorator, decorate)


@_decorator
def kernel(function: Callable[..., object], allocates: bool = False) -> Any:  # noqa: ANN401
    """Compile a function, cached and without the GIL; `.py_func` is its twin."""
    # One that makes or returns arrays `allocates`: it counts the references to all that it takes,
    # which takes longer, and may take no group by reference.
    from valmatch.kernels.cache import keep

    numba = import_numba()
    compiled = numba.njit(_nrt=allocates, **STRICT)(function)
    keep(compiled, numba.config.CACHE_DIR, *function.__dict__.get(VARIANT, ()))
    return compiled


def part(function: F) -> F:
    """Compile a part of kernels, kept with those that call it: it makes and returns no array."""
    return _part(function, inline=False)


def macro(function: F) -> F:
    """Put a part of kernels in place of each call of it."""
    # For small ones that are called for each event with many arrays, each of which travels as seven
    # words; and for closures, which no cache knows again: their text is put there.
    if function.__closure__ is None:
        return _part(function, inline=True)
    if not interpreted():
        text: Any = function
        text.py_func, text.targetoptions = function, {"inline": "always"}  # as numba's own have
        text._numba_type_ = import_numba().types.none
    return function


@_decorator
def _part(function: Callable[..., object], inline: bool) -> Any:  # noqa: ANN401
    # Without what calls from Python need, which for many arrays is more code than most parts
    # have. Where Python calls one, as tests do, it is compiled by itself.
    compiled = import_numba().njit(
        **STRICT,
        _nrt=False,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        forceinline=inline,  # else a part is inlined wherever the one that calls it is
        pipeline_class=part_compiler(),
    )(function)

    # No machine code of a part is there for Python to call; who calls it nevertheless has it
    # compiled by itself.
    alone = cache(lambda: kernel(function))
    compiled._insert = lambda *arguments, **named: None
    compiled._compile_for_args = lambda *arguments, **named: alone()
    return compiled


def variant(function: F, name: str, **parts: object) -> F:
    """Return a copy of a function, not compiled, in which names of its module are other things."""
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


def check_address_space() -> None:
    """Refuse to go on where the system's limit leaves no room for what is loaded next."""
    # OpenBLAS asks for a buffer for each of its threads, and where it is refused one asks again
    # without end, deaf to signals.
    try:
        import resource
    except ImportError:  # a system without such limits
        return
    limit, threads = resource.getrlimit(resource.RLIMIT_AS)[0], os.cpu_count() or 1
    wanted = os.environ.get("OPENBLAS_NUM_THREADS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        threads = min(threads, int(wanted))
    needed = BASE + THREAD * threads
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise RunError(
            f"the limit on memory is too low: {limit / 1e6:,.0f} MB of address space (ulimit -v),"
            f" where {needed / 1e6:,.0f} MB are needed"
        )


def import_numba() -> Any:  # noqa: ANN401 - numba has no types
    """Import numba, where there is room for it."""
    if "numba" not in sys.modules:
        check_address_space()
    import numba

    first_run.watch()
    return numba


def _without_literals(kernel: Any) -> Any:  # noqa: ANN401 - numba has no types
    """Return a kernel that is compiled once for all numbers that others write as they call it."""
    # Numba would compile it for each of them, as if each were a type.
    from numba.core.types import unliteral

    template = kernel.get_call_template

    def plain_template(arguments: Any, named: Any) -> Any:  # noqa: ANN401
        plain = dict(zip(named, map(unliteral, named.values()), strict=True))
        return template(tuple(map(unliteral, arguments)), plain)

    kernel.get_call_template = plain_template
    return kernel


# Parts of kernels that are optimised only in the kernels that call them: numba would optimise each
# by itself, make machine code of it, and do both again in each function that calls it, which takes
# three times as long.


@cache
def part_compiler() -> Any:  # noqa: ANN401 - numba has no types
    """Return the numba compiler of parts, numba's own where that works in another way."""
    from numba.core.compiler import Compiler

    try:
        library_of = _library_class()
    except (ImportError, AttributeError):
        return Compiler

    class PartCompiler(Compiler):
        """Numba's compiler, with libraries that keep code as it is."""

        def define_pipelines(self) -> list[Any]:
            codegen = self.state.targetctx.codegen()
            self.state.library = library_of(codegen, self.state.func_id.func_qualname)
            return super().define_pipelines()  # type: ignore[no-any-return, no-untyped-call]

    return PartCompiler


def _library_class() -> Callable[[Any, str], Any]:
    """Return the class of libraries of code that is neither optimised nor made machine code of."""
    from numba.core.codegen import JITCodeLibrary

    needed = "finalize _finalize_final_module get_pointer_to_function _get_module_for_linking"
    for name in f"{needed} _finalize_dynamic_globals".split():
        getattr(JITCodeLibrary, name)

    class NoCodegen:
        """What the library has in place of machine code: no place for objects of Python."""

        def set_env(self, name: str, env: object) -> None:
            """Keep nothing, as nothing is there that could use it."""

    class PartLibrary(JITCodeLibrary):
        """A library that is only linked into others, and with it what it calls."""

        codegen = NoCodegen()

        def finalize(self) -> None:
            self._raise_if_finalized()  # type: ignore[no-untyped-call]
            for library in self._linking_libraries:
                self._reload_init.update(library._reload_init)
            self._finalize_final_module()

        def _get_module_for_linking(self) -> Any:  # noqa: ANN401
            if self._shared_module is None:
                module_of_part, linked = self._final_module, self._final_module.clone()
                for library in _called_by(self):
                    if isinstance(library, PartLibrary):
                        module = library._final_module
                    else:
                        module = library._get_module_for_linking()
                    linked.link_in(module, preserve=True)
                self._final_module = linked
                super()._get_module_for_linking()  # type: ignore[no-untyped-call]
                self._final_module = module_of_part
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
    libraries, waiting = {library: None}, [library]  # in order
    while waiting:
        for other in waiting.pop()._linking_libraries:
            if other not in libraries:
                libraries[other] = None
                if isinstance(other, type(library)):
                    waiting.append(other)
    return list(libraries)[1:]
