"""Writing a config: what `load` reads."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import Any

WIDTH = 80


def document(head: str, model: str, factors: Mapping[str, Any], **others: object) -> str:
    """Return a config in YAML.

    Parameters
    ----------
    head : str
        The comment at its top.
    model : str
        Name of the model.
    factors : mapping
        Plain values by name.
    **others : object
        Further keys of the top level, such as files, with plain values.
    """
    lines = [*textwrap.wrap(head, WIDTH - 2), ""]
    lines = [f"# {line}" if line else "" for line in lines]
    lines += [f"model: {model}", *(f"{key}: {_flow(value)}" for key, value in others.items())]
    lines += ["factors:", *(f"  {name}: {_flow(value)}" for name, value in factors.items())]
    return "\n".join(lines) + "\n"


def _flow(value: object) -> str:
    """Write plain values on one line; JSON is YAML."""
    return json.dumps(value, ensure_ascii=False)
