"""Functions that a run calls with what is to be known of it while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from valmatch.errors import InputError, option
from valmatch.text.terminal import shown

if TYPE_CHECKING:
    from valmatch.statistics.precision import Precision


def _ignore(said: object) -> None:
    """Do nothing with what is said."""


@dataclass(frozen=True)
class Listeners:
    """Functions that a run calls with what is to be known of it while it goes on."""

    # called with the number of further replications done, or of further bytes of a log read
    progress: Callable[[int], None] = _ignore
    # called with what is known of the targets whenever it is looked at
    looked: Callable[[Sequence[Precision]], None] = _ignore
    warn: Callable[[str], None] = _ignore  # called with each remark on the input
    # called with the number of workers, and again when that changes
    detail: Callable[[str], None] = _ignore
    # called with the number of replications that an earlier run left, before `progress` is
    found: Callable[[int], None] = _ignore

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not callable(value):
                raise InputError(f"{option(field.name)}: {shown(value)} (allowed: a function)")


NO_LISTENERS = Listeners()


def listeners_among(keywords: Mapping[str, Any], kind: type) -> Listeners:
    """Return the listeners among the keyword arguments of a public function."""
    for name in keywords:
        if name not in kind.__annotations__:
            raise TypeError(f"got an unexpected keyword argument {name!r}")
    telling = {field.name for field in fields(Listeners)}
    return Listeners(**{name: value for name, value in keywords.items() if name in telling})
