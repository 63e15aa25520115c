"""Parts of kernels that are optimised only in the kernels that call them.

Numba optimises a function by itself, makes machine code of it, and does both again in each function
that calls it, at any remove. Of a part that nobody else calls only the last time is of use. Left
out are the wrappers by which Python would call it, too, which for many arrays are longer than most
parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


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
            state = self.state
            state.library = library_of(state.targetctx.codegen(), state.func_id.func_qualname)
            return super().define_pipelines()  # type: ignore[no-any-return, no-untyped-call]

    return PartCompiler


def _library_class() -> Callable[[Any, str], Any]:
    """Return the class of libraries of code that is neither optimised nor made machine code of."""
    from numba.core.codegen import JITCodeLibrary

    needed = ("_optimize_final_module", "_finalize_final_module", "get_pointer_to_function")
    for name in (*needed, "_finalize_dynamic_globals", "_verify_declare_only_symbols"):
        getattr(JITCodeLibrary, name)

    class NoCodegen:
        """What the library has in place of machine code: no place for objects of Python."""

        def set_env(self, name: str, env: object) -> None:
            """Keep nothing, as nothing is there that could use it."""

    class PartLibrary(JITCodeLibrary):
        """A library that is only linked into others."""

        codegen = NoCodegen()

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
            self._verify_declare_only_symbols()  # type: ignore[no-untyped-call]
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()  # type: ignore[no-untyped-call]
            return 0

    return PartLibrary
