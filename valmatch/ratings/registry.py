"""The rating systems by name; their code is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from valmatch.errors import InputError, option
from valmatch.text.suggestions import hint

if TYPE_CHECKING:
    from valmatch.ratings.system import BatchSystem, System

MODULES = {
    "zonestats": "zonestats",
    "elo": "elo",
    "glicko2": "glicko2",
    "openskill": "openskill",
    "trueskill": "trueskill_teams",
    "glicko": "glicko",
    "elo_margin": "elo_margin",
    "elo_goals": "elo_goals",
}
"""The modules of this folder that define a `SYSTEM`, by its name."""

NAMES = tuple(MODULES)
"""The names of all systems, the default first."""

BATCH_MODULES = {
    "bradley_terry": "bradley_terry.system",
    "whole_history": "whole_history.system",
}
"""Those of systems that rate a whole log at once, a `BatchSystem` each."""

BATCH_NAMES = tuple(BATCH_MODULES)
"""Their names; they go from no game to the next, and kernels do not know them."""

DEFAULT = NAMES[0]  # the system that is meant where none is named


@cache
def system_named(name: str) -> System:
    """Return the rating system of a name.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Raises
    ------
    InputError
        If there is none.
    """
    refuse_system_of_other_command(name, NAMES)
    if name not in NAMES:
        called = {known: f"{known} (of valmatch rank)" for known in BATCH_NAMES}
        near = hint(name, (*NAMES, *BATCH_NAMES), called)
        raise InputError(f"{option('system')} {name}: no such system ({near})")
    system: System = import_module(f"{__package__}.{MODULES[name]}").SYSTEM
    return system


def refuse_system_of_other_command(name: object, taken: Sequence[str]) -> None:
    """Say which command takes a system that another one does not take."""
    for names, command in (
        (NAMES, "rate follows a log game by game"),
        (BATCH_NAMES, "rank rates whole logs"),
    ):
        if name in names and names is not taken:
            what = f"valmatch {command} (allowed here: {', '.join(taken)})"
            raise InputError(f"{option('system')} {name}: {what}")


def batch_named(name: str) -> BatchSystem:
    """Return the system of a name that rates a whole log at once."""
    system: BatchSystem = import_module(f"{__package__}.{BATCH_MODULES[name]}").SYSTEM
    return system


def all_systems() -> list[System]:
    """Return all systems, in the order of their names here."""
    return [system_named(name) for name in NAMES]


def systems_of_results() -> list[System]:
    """Return those that need no scores, in this order; kernels know them by their places in it."""
    return [system for system in all_systems() if not system.needs_scores]
