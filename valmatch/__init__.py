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
    from valmatch.config.loading import load
    from valmatch.errors import InputError, RunError
    from valmatch.experiments.compare import compare
    from valmatch.experiments.replicate import replicate
    from valmatch.experiments.simulate import simulate
    from valmatch.game_logs.rating import rate as rate_games
    from valmatch.optimization.optimize import optimize

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
    "compare": "valmatch.experiments.compare:compare",
    "load": "valmatch.config.loading:load",
    "optimize": "valmatch.optimization.optimize:optimize",
    "rate_games": "valmatch.game_logs.rating:rate",
    "replicate": "valmatch.experiments.replicate:replicate",
    "simulate": "valmatch.experiments.simulate:simulate",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'valmatch' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    value = globals()[name] = getattr(import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
