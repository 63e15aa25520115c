"""Groups of arrays that kernels pass to each other by reference.

An array travels as seven words, a named tuple of forty arrays as 280: every call has code to take
them apart, to hand them on and to put them together, which takes longer to compile than most parts
of kernels. By reference a group is one word. Its arrays are read where they are used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any, TypeVar

from valmatch.kernels.plain_python import interpreted

T = TypeVar("T", bound=tuple[Any, ...])


def _itself(group: T) -> T:
    """Return a group itself, in plain Python."""
    return group


@cache
def _teach() -> tuple[Any, Any]:
    """Teach numba the type of references; return it, and what makes one in a kernel."""
    from numba.core import cgutils, types
    from numba.core.datamodel import PrimitiveModel  # type: ignore[attr-defined]
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, register_model

    class Reference(types.Type):
        """A reference to a named tuple.

        Parts have the names of their types in theirs, by which machine code finds them: the name
        is short, and another one for each type. Of two parts with one name a process keeps the
        first that it loads, also where they come from the caches of different kernels.
        """

        def __init__(self, whole: Any) -> None:  # noqa: ANN401
            self.whole = whole
            digest = sha256(str(whole).encode()).hexdigest()[:12]
            super().__init__(f"Reference({whole.instance_class.__name__}, {digest})")

        @property
        def key(self) -> Any:  # noqa: ANN401
            return self.whole

    @register_model(Reference)
    class ReferenceModel(PrimitiveModel):
        """A pointer to the values of the tuple."""

        def __init__(self, manager: Any, kind: Any) -> None:  # noqa: ANN401
            pointed = manager.lookup(kind.whole).get_value_type()
            super().__init__(manager, kind, pointed.as_pointer())  # type: ignore[no-untyped-call]

    @infer_getattr
    class ReferenceFields(AttributeTemplate):
        """The types of fields: of a named tuple a reference."""

        key = Reference

        def generic_resolve(  # type: ignore[override]
            self,
            reference: Any,  # noqa: ANN401
            name: str,
        ) -> Any:  # noqa: ANN401
            if name not in reference.whole.fields:
                return None
            kind = reference.whole.types[reference.whole.fields.index(name)]
            return Reference(kind) if isinstance(kind, types.BaseNamedTuple) else kind

    @lower_getattr_generic(Reference)  # type: ignore[no-untyped-call, untyped-decorator]
    def read(context: Any, builder: Any, reference: Any, value: Any, name: str) -> Any:  # noqa: ANN401
        """Read a field, which need not be read again where it has been read before."""
        index = reference.whole.fields.index(name)
        place = cgutils.gep_inbounds(builder, value, 0, index)  # type: ignore[no-untyped-call]
        if isinstance(reference.whole.types[index], types.BaseNamedTuple):
            return place
        field = builder.load(place)
        field.set_metadata("invariant.load", builder.module.add_metadata([]))
        return field

    @intrinsic
    def by_reference(context: Any, group: Any) -> Any:  # noqa: ANN401
        """Keep the values of a named tuple in memory, and return where."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
            place = cgutils.alloca_once(builder, arguments[0].type)  # type: ignore[no-untyped-call]
            builder.store(arguments[0], place)
            return place

        return Reference(group)(group), generate

    return Reference, by_reference


def reference_to(kind: Any) -> Any:  # noqa: ANN401 - numba has no types
    """Return numba's type of references to named tuples of a type."""
    return _teach()[0](kind)


by_reference: Callable[[T], T] = _itself if interpreted() else _teach()[1]
"""In a kernel: let parts take a named tuple of arrays, and the named tuples in it, by reference.

It is good until the kernel ends that has made it. The first part that takes it stands `apart`, see
`valmatch.kernels.compilation`: what is referred to is written where the reference is made, and
parts may take it that it never changes. What the arrays hold may.
"""
