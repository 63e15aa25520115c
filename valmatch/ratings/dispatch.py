"""Kernels that work with any rating system: one for each, or one for all of a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from valmatch.kernels.compilation import expanded, unallocating, variant
from valmatch.ratings.system import System, Verbs

Verb = Callable[..., Any]


@cache
def kernel_of(function: Verb, verbs: Verbs, deviation: int = -1) -> Verb:
    """Return the compiled function of a system, made of one that is the same for all.

    Parameters
    ----------
    function : callable
        A plain function that calls ``strengths``, ``chances`` and ``update`` of its module, and may
        look at its ``deviation``.
    verbs : Verbs
        What these names stand for.
    deviation : int
        What that name stands for.
    """
    places = (f"{verb.__module__.split('.')[-1]}{verb.__name__}" for verb in verbs)
    parts: dict[str, Any] = {**verbs._asdict(), "deviation": deviation}
    name = "_".join((*places, str(deviation + 1)))
    return unallocating(variant(function, name, **parts))


def verbs_by_number(systems: Sequence[System]) -> Verbs:
    """Return functions that take the place of a system before the arguments of its own.

    They are put into the kernels that call them, with all of the systems: what one place stands
    for must not change while the program runs.
    """
    of_all = zip(*(system.verbs for system in systems), strict=True)
    return Verbs(*map(_by_number, of_all))


def _by_number(verbs: Sequence[Verb]) -> Verb:
    chosen = _last(verbs[-1])
    for number, verb in reversed(list(enumerate(verbs[:-1]))):
        chosen = _or(number, verb, chosen)
    return chosen


def _last(verb: Verb) -> Verb:
    """Return a function that needs no number: it is the only one left."""

    @expanded
    def call(system: int, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:  # noqa: ANN401
        return verb(a, b, c, d, e)

    return call


def _or(number: int, verb: Verb, others: Verb) -> Verb:
    """Return a function that calls `verb` for one number, and for all others what is left."""

    @expanded
    def call(system: int, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:  # noqa: ANN401
        if system == number:
            return verb(a, b, c, d, e)
        return others(system, a, b, c, d, e)

    return call
