"""Laws of attributes: texts with shares, lists with probabilities, normal numbers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Literal

from valmatch.inputs.fields import refuse
from valmatch.models.tickets.sources import MOST_ITEMS
from valmatch.text.terminal import shown

Kind = Literal["texts", "lists", "numbers"]

EXACT = 1e-9  # how far the sum of shares may be from 1

FORMS = "{TEXT: SHARE, ...}, {lists: {TEXT: PROBABILITY, ...}} or {mean: ..., std: ...}"


def check_sum(shares: Collection[float]) -> None:
    """Refuse shares that do not sum to 1."""
    total = math.fsum(shares)
    if abs(total - 1.0) > EXACT:
        raise refuse(f"shares sum to {total:.10g} (allowed: 1)")


def check_some(weights: Collection[float]) -> None:
    """Refuse weights that are all 0."""
    if not any(weights):
        raise refuse("every weight is 0 (at least one must be > 0)")


def kind_of(law: Mapping[str, object]) -> Kind:
    """Return what a law gives."""
    if set(law) == {"mean", "std"}:
        return "numbers"
    return "lists" if set(law) == {"lists"} and isinstance(law["lists"], dict) else "texts"


def check_law(name: str, law: Mapping[str, object]) -> None:
    """Refuse what is no law of an attribute."""
    if wrong := _wrong(law):
        # Names with dots are no paths, and are said.
        said = f"{shown(name)}: {wrong}" if "." in name else wrong
        raise refuse(said, f"attributes.{name}")


def _wrong(law: Mapping[str, object]) -> str:
    """Return why something is no law; "" where it is one."""
    kind = kind_of(law)
    inner = law["lists"] if kind == "lists" else law
    assert isinstance(inner, Mapping)
    if not inner or len(inner) > MOST_ITEMS:
        return f"{len(inner)} entries (allowed: {FORMS}, up to {MOST_ITEMS})"
    for key, value in inner.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(float(value)):
            return f"{shown(key)} is no number (allowed: {FORMS})"
    values = [float(value) for value in inner.values()]
    if kind == "numbers":
        if values[list(inner).index("std")] < 0.0:
            return "std is below 0 (allowed: 0 or more)"
    elif not all(0.0 <= value <= 1.0 for value in values):
        return f"a share outside of 0 to 1 (allowed: {FORMS})"
    elif kind == "texts" and abs(math.fsum(values) - 1.0) > EXACT:
        return f"shares sum to {math.fsum(values):.10g} (allowed: 1)"
    return ""
