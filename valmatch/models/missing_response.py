"""The error message of a response that a run does not have."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from valmatch.models.registry import load_model
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown


def no_response(model: str, factors: Any, name: str, names: Collection[str]) -> str:  # noqa: ANN401
    """Return what to say of a response that is not there: which group asks for it, if one does."""
    measuring: Any = load_model(model)
    for group in getattr(measuring, "measures", ()):
        asked = factors.model_copy(update={"measure": (*factors.measure, group)})
        if any(response.name == name for response in measuring.further(asked)):
            return f"{shown(name)} is measured only on request (add measure: [{group}] to factors)"
    return f"{model} has no response {shown(name)} ({hint(name, names)})"
