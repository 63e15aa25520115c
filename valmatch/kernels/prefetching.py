"""Asking for memory before it is read."""

from __future__ import annotations

from functools import cache
from typing import Any

from valmatch.kernels.arrays import Floats, Records
from valmatch.kernels.compilation import replaced

LINE = 64  # bytes that a processor takes from memory at a time
WORD = 8  # bytes that lie in one line, wherever they are


def _compiled(records: Any, index: Any) -> Any:  # noqa: ANN401
    """Return what is compiled for asking."""
    instruction = _instruction()

    def compiled(records: Any, index: Any) -> Any:  # noqa: ANN401
        instruction(records, index)

    return compiled


@cache
def _instruction() -> Any:  # noqa: ANN401
    """Return numba's name of the request in LLVM's language."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    def emitted(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        kind, (records, index) = signature.args[0], arguments
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        array = context.make_array(kind)(context, builder, records)
        stride = builder.extract_value(array.strides, 0)
        first = builder.gep(builder.bitcast(array.data, byte), [builder.mul(index, stride)])
        request = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        )
        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        last = [size - 1] if size > WORD else []  # a record may begin anywhere in a line
        for offset in (*range(0, size, LINE), *last):
            place = builder.gep(first, [number(offset)])
            builder.call(request, [place, number(0), number(3), number(1)])
        return context.get_dummy_value()

    def typed(typing: Any, records: Any, index: Any) -> Any:  # noqa: ANN401
        return types.none(records, types.intp), emitted

    return intrinsic(typed)


@replaced(_compiled)
def prefetch(records: Records | Floats, index: int) -> None:
    """Ask for all of a record that is read soon, or for the first number of a row of a matrix.

    No value changes by it, only when memory is read. Where a million records do not fit into a
    cache, whoever knows what the next event is about saves the wait for it.
    """
