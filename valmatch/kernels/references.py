"""Groups of arrays that kernels pass to each other by reference.

By value an array travels as seven words, which takes longer to compile than most parts of kernels.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any, TypeAlias, TypeVar

from valmatch.kernels.plain_python import interpreted

T = TypeVar("T", bound=tuple[Any, ...])


@cache
def _reference_type() -> Any:  # noqa: ANN401 - numba has no types
    """Teach numba the type of references, and return it."""
    from numba.core import cgutils, types
    from numba.core.datamodel import PrimitiveModel  # type: ignore[attr-defined]
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import infer_getattr, lower_getattr_generic, register_model

    class Reference(types.Type):
        """A reference to a named tuple."""

        # Parts have the names of their types in theirs, by which machine code finds them: the name
        # is short, and another one for each type. Of two parts with one name a process keeps the
        # first that it loads, also where they come from the caches of different kernels.
        def __init__(self, group: Any) -> None:  # noqa: ANN401
            self.group = group
            digest = sha256(str(group).encode()).hexdigest()[:12]
            super().__init__(f"Reference({group.instance_class.__name__}, {digest})")

        @property
        def key(self) -> Any:  # noqa: ANN401
            return self.group

        def __reduce__(self) -> tuple[Any, ...]:
            return reference_to, (self.group,)  # else a cache would have another class

    @register_model(Reference)
    class ReferenceModel(PrimitiveModel):
        """A pointer to the values of the tuple."""

        def __init__(self, manager: Any, kind: Any) -> None:  # noqa: ANN401
            pointed = manager.lookup(kind.group).get_value_type()
            super().__init__(manager, kind, pointed.as_pointer())  # type: ignore[no-untyped-call]

    @infer_getattr
    class ReferenceFields(AttributeTemplate):
        """The types of fields: of a named tuple a reference."""

        key = Reference

        def generic_resolve(self, reference: Any, name: str) -> Any:  # type: ignore[override]  # noqa: ANN401
            if name not in reference.group.fields:
                return None
            kind = reference.group.types[reference.group.fields.index(name)]
            return Reference(kind) if isinstance(kind, types.BaseNamedTuple) else kind

    @lower_getattr_generic(Reference)  # type: ignore[no-untyped-call, untyped-decorator]
    def read(context: Any, builder: Any, reference: Any, value: Any, name: str) -> Any:  # noqa: ANN401
        """Read a field, which need not be read again where it has been read before."""
        index = reference.group.fields.index(name)
        pointer = cgutils.gep_inbounds(builder, value, 0, index)  # type: ignore[no-untyped-call]
        if isinstance(reference.group.types[index], types.BaseNamedTuple):
            return pointer
        field = builder.load(pointer)
        field.set_metadata("invariant.load", builder.module.add_metadata([]))
        return field

    return Reference


def reference_to(kind: Any) -> Any:  # noqa: ANN401 - numba has no types
    """Return numba's type of references to named tuples of a type."""
    return _reference_type()(kind)


def _by_reference() -> Any:  # noqa: ANN401 - numba has no types
    """Return what makes a reference in a kernel."""
    from llvmlite import ir
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def by_reference(context: Any, group: Any) -> Any:  # noqa: ANN401
        """Keep the values of a named tuple in memory, and return where."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
            pointer = cgutils.alloca_once(builder, arguments[0].type)  # type: ignore[no-untyped-call]
            builder.store(arguments[0], pointer)
            # An empty instruction of unknown effect: nothing is read by what it returns before it.
            kind = ir.FunctionType(pointer.type, [pointer.type])
            opaque = ir.InlineAsm(kind, "", "=r,0,~{memory}", side_effect=True)
            return builder.call(opaque, [pointer])

        return reference_to(group)(group), generate

    return by_reference


by_reference: Callable[[T], T] = (lambda group: group) if interpreted() else _by_reference()
"""In a kernel: let parts take a named tuple of arrays, and the named tuples in it, by reference.

It is good until the kernel ends that has made it. What is referred to never changes; what the
arrays hold may.
"""


# Compiled functions that kernels call by address: what they call by name is compiled into them, and
# of functions that stand for each other, such as the rating systems, that would be all.

Address: TypeAlias = Any  # where machine code is; in plain Python the function itself
NOWHERE: Address = 0  # stands for the address of a function that is never called


def address_of(function: Callable[..., float], *arguments: object) -> Address:
    """Return the address of a function for arguments of such types, till the process ends."""
    if interpreted():
        return function
    from numba import typeof
    from numba.core.types import BaseNamedTuple

    kernel: Any = function
    types = tuple(  # as kernels give them: named tuples by reference
        reference_to(kind) if isinstance(kind, BaseNamedTuple) else kind
        for kind in map(typeof, arguments)
    )
    kernel.compile(types)
    compiled = kernel.overloads[types]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


def _call() -> Any:  # noqa: ANN401 - numba has no types
    """Return what calls an address in a kernel."""
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def call_address(context: Any, address: Any, arguments: Any) -> Any:  # noqa: ANN401
        """Call the function at an address, by numba's convention."""
        kinds = tuple(map(types.unliteral, arguments.types))

        def generate(context: Any, builder: Any, signature: Any, operands: Any) -> Any:  # noqa: ANN401
            convention = context.call_conv
            kind = convention.get_function_type(types.float64, kinds)
            values = cgutils.unpack_tuple(builder, operands[1], len(kinds))  # type: ignore[no-untyped-call]
            values = [
                context.cast(builder, value, old, new)
                for value, old, new in zip(values, arguments.types, kinds, strict=True)
            ]
            function = builder.inttoptr(operands[0], ir.PointerType(kind))
            status, number = convention.call_function(
                builder, function, types.float64, kinds, values
            )
            with cgutils.if_unlikely(builder, status.is_error):  # type: ignore[no-untyped-call]
                convention.return_status_propagate(builder, status)
            return number

        return types.float64(types.intp, arguments), generate

    return call_address


call: Callable[[Address, tuple[Any, ...]], float] = (
    (lambda address, arguments: float(address(*arguments))) if interpreted() else _call()
)
"""In a kernel: call the function at an address; return its number."""
