"""Parts of kernels that are optimised only in the kernels that call them.

Numba optimises a function by itself, makes machine code of it, and does both again in each function
that calls it, at any remove. Of a part that nobody else calls only the last time is of use. What a
part calls is linked with it into kernels, and not before into each part in between. Left out are
the wrappers by which Python would call it, too, which for many arrays are longer than most parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


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
