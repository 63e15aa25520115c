"""Simulate matchmaking systems, replicate them with honest statistics, optimise their rules.

From Python::

    import valmatch

    result = valmatch.replicate("valorant", 2000, workers=2)
    result.estimates["avg_wait_time"].mean
    result["avg_wait_time"]  # one number a replication, a numpy array

A config is given as the name of a shipped one, a path, what such a file would hold as a mapping, or
as `load` returns it. Functions are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from valmatch.comparison import compare
    from valmatch.config import load
    from valmatch.errors import InputError, RunError
    from valmatch.optimization.study import optimize
    from valmatch.rate.rating import rate as rate_games
    from valmatch.recording import simulate
    from valmatch.replication import replicate

__all__ = [
    "InputError",
    "RunError",
    "compare",
    "load",
    "optimize",
    "rate_games",
    "replicate",
    "simulate",
]

_HOMES = {
    "InputError": "valmatch.errors:InputError",
    "RunError": "valmatch.errors:RunError",
    "compare": "valmatch.comparison:compare",
    "load": "valmatch.config:load",
    "optimize": "valmatch.optimization.study:optimize",
    "rate_games": "valmatch.rate.rating:rate",
    "replicate": "valmatch.replication:replicate",
    "simulate": "valmatch.recording:simulate",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'valmatch' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    value = globals()[name] = getattr(import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
