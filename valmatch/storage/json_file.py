"""JSON files that another program may have written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from valmatch.errors import InputError
from valmatch.inputs.files import regular

MAX_JSON = 1 << 26  # bytes of a file
MAX_DEPTH = 32  # levels of lists and objects


def read_json(path: Path, otherwise: str = "damaged: not an object") -> dict[str, Any]:
    """Return the object that a JSON file holds."""
    try:
        text = regular(path, MAX_JSON).read_text(encoding="utf-8")
        content = json.loads(text, parse_constant=_refuse)
        _check_depth(content, MAX_DEPTH)
    except RecursionError:
        raise InputError(f"{path}: damaged: {_TOO_DEEP}") from None
    except ValueError as error:
        raise InputError(f"{path}: damaged: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: {otherwise}")
    return content


_TOO_DEEP = f"nested too deeply (allowed: {MAX_DEPTH} levels)"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _check_depth(value: object, levels: int) -> None:
    """Refuse what is nested deeper than so many levels, which are looked at one after the other."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    if level:
        raise ValueError(_TOO_DEEP)
