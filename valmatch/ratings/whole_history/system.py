"""The declaration of the system that rates paths of players in time."""

from __future__ import annotations

from valmatch.ratings.system import BatchSystem, Parameter

DRIFT = "drift"

SYSTEM = BatchSystem(
    "whole_history",
    (
        Parameter(DRIFT, 3.7, 0.0, 1e4),
        Parameter("deviation", 350.0, 1.0, 1e5),
        Parameter("mean", 1500.0, -1e6, 1e6),
    ),
    paths=True,
)
"""`drift` is in points a square-root day, `deviation` that of the first day of a player, and `mean`
that of the first days of all players."""
