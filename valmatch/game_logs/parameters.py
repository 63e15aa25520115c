"""The values of a rating system's parameters: given, of previous ratings, or published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from valmatch.errors import InputError, option
from valmatch.ratings.system import BatchSystem, System
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint


def parse_parameters(texts: Sequence[str]) -> dict[str, float]:
    """Return the values that texts such as ``GAME_MULT=0.5`` give to parameters."""
    values: dict[str, float] = {}
    for text in texts:
        name, _, value = (piece.strip() for piece in text.partition("="))
        if name in values:
            raise InputError(f"{option('parameters')} {name}: is given twice")
        number = real_number(value)
        if number is None:
            raise InputError(f"{option('parameters')} {text}: (allowed: NAME=NUMBER, such as K=24)")
        values[name] = number
    return values


def check_tuned(system: System, names: Sequence[str]) -> None:
    """Check the names of parameters that are to be fitted."""
    known = [parameter.name for parameter in system.parameters]
    for name in names:
        if name not in known:
            what = f"{system.name} has no such parameter ({hint(name, known)})"
            raise InputError(f"{option('tune')} {name}: {what}")
        if names.count(name) > 1:
            raise InputError(f"{option('tune')}: {name} is given twice")


def values_of(
    system: System | BatchSystem, given: Mapping[str, float], before: Mapping[str, float]
) -> dict[str, float]:
    """Return the values of all parameters of a system."""
    limits = {parameter.name: parameter for parameter in system.parameters}
    for name, value in given.items():
        if name not in limits:
            what = f"{system.name} has no such parameter ({hint(name, limits)})"
            raise InputError(f"{option('parameters')} {name}: {what}")
        low, high = limits[name].low, limits[name].high
        if not low <= value <= high:
            raise InputError(
                f"{option('parameters')} {name}={value!r}: out of range (allowed: {low!r} to"
                f" {high!r})"
            )
    return {
        name: given.get(name, before.get(name, parameter.published))
        for name, parameter in limits.items()
    }
