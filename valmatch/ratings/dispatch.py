"""Kernels that work with any rating system: one for each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from valmatch.kernels.compilation import address_taken, unallocating, variant
from valmatch.ratings.system import Verbs

Verb = Callable[..., Any]


@cache
def kernel_of(function: Verb, verbs: Verbs, deviation: int = -1) -> Verb:
    """Return the compiled function of a system, made of one that is the same for all."""
    return unallocating(_variant(function, verbs, deviation))


@cache
def taken_by_address(function: Verb, verbs: Verbs) -> Verb:
    """Return `kernel_of` a system as kernels call it by address, see `kernels.addresses`."""
    return address_taken(_variant(function, verbs, -1))


def _variant(function: Verb, verbs: Verbs, deviation: int) -> Verb:
    places = (f"{verb.__module__.split('.')[-1]}{verb.__name__}" for verb in verbs)
    parts: dict[str, Any] = {**verbs._asdict(), "deviation": deviation}
    name = "_".join((*places, str(deviation + 1)))
    return variant(function, name, **parts)
