"""Simulate matchmaking systems, replicate them with honest statistics, optimise their rules.

From Python::

    import valmatch

    result = valmatch.replicate("valorant", 2000, workers=2)
    result                                 # a table of the estimated means
    result.estimates["avg_wait_time"].mean
    result["avg_wait_time"]                # one number a replication, a numpy array
    valmatch.plot(result).savefig("responses.png")

A config is given as the name of a shipped one, a path, what such a file would hold as a mapping, or
as `load` returns it. What is not exported here is private. Everything is imported when it is first
used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.config.loading import load
    from valmatch.errors import InputError, RunError
    from valmatch.experiments.compare import Comparison, compare
    from valmatch.experiments.replicate import replicate
    from valmatch.experiments.replications import Replications
    from valmatch.experiments.simulate import Simulation, simulate
    from valmatch.fields import (
        Factors,
        Fraction,
        NonNegative,
        Number,
        Positive,
        Section,
        Whole,
        refuse,
    )
    from valmatch.game_logs.compared import ComparedSystems
    from valmatch.game_logs.comparison import compare_systems
    from valmatch.game_logs.predicting import PredictedGames, predict_games
    from valmatch.game_logs.rated_folders import compare_ratings
    from valmatch.game_logs.rating import RatedLog, rate_games
    from valmatch.model import Axes, Model, Outcome, Record, Response, Responses, Table, Window
    from valmatch.models.registry import ModelEntry
    from valmatch.optimization.optimize import Study, optimize
    from valmatch.optimization.pareto import Front, pareto_front
    from valmatch.optimization.problem import Problem
    from valmatch.plots.drawing import plot
    from valmatch.statistics.control_variates import Adjusted
    from valmatch.statistics.estimates import Estimate
    from valmatch.statistics.pairs import PairedDifference
    from valmatch.statistics.precision import Precision
    from valmatch.streams import Streams

    __version__: str

_HOMES = {
    "config.config": ("Config",),
    "config.loading": ("load",),
    "errors": ("InputError", "RunError"),
    "experiments.compare": ("Comparison", "compare"),
    "experiments.replicate": ("replicate",),
    "experiments.replications": ("Replications",),
    "experiments.simulate": ("Simulation", "simulate"),
    "fields": (
        "Factors",
        "Fraction",
        "NonNegative",
        "Number",
        "Positive",
        "Section",
        "Whole",
        "refuse",
    ),
    "game_logs.compared": ("ComparedSystems",),
    "game_logs.comparison": ("compare_systems",),
    "game_logs.rated_folders": ("compare_ratings",),
    "game_logs.predicting": ("PredictedGames", "predict_games"),
    "game_logs.rating": ("RatedLog", "rate_games"),
    "model": ("Axes", "Model", "Outcome", "Record", "Response", "Responses", "Table", "Window"),
    "models.registry": ("ModelEntry",),
    "optimization.optimize": ("Study", "optimize"),
    "optimization.pareto": ("Front", "pareto_front"),
    "optimization.problem": ("Problem",),
    "plots.drawing": ("plot",),
    "statistics.control_variates": ("Adjusted",),
    "statistics.estimates": ("Estimate",),
    "statistics.pairs": ("PairedDifference",),
    "statistics.precision": ("Precision",),
    "streams": ("Streams",),
}
"""The modules that what is exported comes from."""

__all__ = [
    "Adjusted",
    "Axes",
    "ComparedSystems",
    "Comparison",
    "Config",
    "Estimate",
    "Factors",
    "Fraction",
    "Front",
    "InputError",
    "Model",
    "ModelEntry",
    "NonNegative",
    "Number",
    "Outcome",
    "PairedDifference",
    "Positive",
    "Precision",
    "PredictedGames",
    "Problem",
    "RatedLog",
    "Record",
    "Replications",
    "Response",
    "Responses",
    "RunError",
    "Section",
    "Simulation",
    "Streams",
    "Study",
    "Table",
    "Whole",
    "Window",
    "__version__",
    "compare",
    "compare_ratings",
    "compare_systems",
    "load",
    "optimize",
    "pareto_front",
    "plot",
    "predict_games",
    "rate_games",
    "refuse",
    "replicate",
    "simulate",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("valmatch")
    for module, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"valmatch.{module}"), name)
            return value
    raise AttributeError(f"module 'valmatch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
