"""Compiled functions that kernels call by address.

What a kernel calls by name is compiled into it. Of functions that stand for each other, such as the
rating systems, that would be all of them. By address it calls the one that is asked for, which is
compiled by itself, once for all kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from valmatch.kernels.plain_python import interpreted
from valmatch.kernels.references import reference_to

Address: TypeAlias = Any  # where machine code is; in plain Python the function itself
NOWHERE: Address = 0  # stands for the address of a function that is never called


def address_of(function: Callable[..., float], *arguments: object) -> Address:
    """Return the address of a function for arguments of such types, compiled if need be.

    It is good until the process ends. Kernels give it the same types: named tuples by reference.
    """
    if interpreted():
        return function
    from numba import typeof
    from numba.core.types import BaseNamedTuple

    kernel: Any = function
    kinds = map(typeof, arguments)
    types = tuple(
        reference_to(kind) if isinstance(kind, BaseNamedTuple) else kind for kind in kinds
    )
    kernel.compile(types)
    compiled = kernel.overloads[types]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


def _call(address: Address, arguments: tuple[Any, ...]) -> float:
    """Call a function, in plain Python."""
    return float(address(*arguments))


@cache
def _intrinsic() -> Any:  # noqa: ANN401 - numba has no types
    """Return what calls an address in a kernel."""
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def call_address(context: Any, address: Any, arguments: Any) -> Any:  # noqa: ANN401
        """Call the function at an address, by numba's convention."""
        kinds = tuple(map(types.unliteral, arguments.types))

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ANN401
            convention = context.call_conv
            kind = convention.get_function_type(types.float64, kinds)
            values = cgutils.unpack_tuple(builder, given[1], len(kinds))  # type: ignore[no-untyped-call]
            values = [
                context.cast(builder, value, old, new)
                for value, old, new in zip(values, arguments.types, kinds, strict=True)
            ]
            function = builder.inttoptr(given[0], ir.PointerType(kind))
            status, found = convention.call_function(
                builder, function, types.float64, kinds, values
            )
            with cgutils.if_unlikely(builder, status.is_error):  # type: ignore[no-untyped-call]
                convention.return_status_propagate(builder, status)
            return found

        return types.float64(types.intp, arguments), generate

    return call_address


call: Callable[[Address, tuple[Any, ...]], float] = _call if interpreted() else _intrinsic()
"""In a kernel: call the function at an address; return its number."""
