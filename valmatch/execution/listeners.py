"""Functions that a run calls with what is to be known of it while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from valmatch.errors import InputError, option
from valmatch.text.terminal import shown

if TYPE_CHECKING:
    from valmatch.statistics.precision import Precision


def _ignore(said: object) -> None:
    """Do nothing with what is said."""


@dataclass(frozen=True)
class Listeners:
    """Functions that a run calls with what is to be known of it while it goes on.

    Attributes
    ----------
    progress : callable
        Called with the number of further replications done, or of further bytes of a log read.
    looked : callable
        Called with what is known of the targets whenever it is looked at.
    warn : callable
        Called with each remark on the input.
    detail : callable
        Called with the number of workers, and again when that changes.

    Raises
    ------
    InputError
        If one of them is no function.
    """

    progress: Callable[[int], None] = _ignore
    looked: Callable[[Sequence[Precision]], None] = _ignore
    warn: Callable[[str], None] = _ignore
    detail: Callable[[str], None] = _ignore

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not callable(value):
                raise InputError(f"{option(field.name)}: {shown(value)} (allowed: a function)")


NO_LISTENERS = Listeners()
