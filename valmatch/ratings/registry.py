"""The rating systems by name; their code is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

from valmatch.errors import InputError, option
from valmatch.kernels.plugins import Extended, an
from valmatch.ratings.parameters import BATCH_SYSTEMS
from valmatch.text.suggestions import hint

if TYPE_CHECKING:
    from valmatch.ratings.system import System

GROUP = "valmatch.rating_systems"
"""Entry points by which other packages bring systems: ``name = "module:SYSTEM"``."""

OWN = {
    "zonestats": "zonestats:SYSTEM",
    "elo": "elo:ELO",
    "glicko2": "glicko2:GLICKO2",
    "openskill": "openskill:SYSTEM",
    "trueskill": "trueskill_teams:SYSTEM",
    "glicko": "glicko2:GLICKO",
    "elo_margin": "elo:ELO_MARGIN",
    "elo_goals": "elo:ELO_GOALS",
}
"""The module of this folder that defines each `System`, and what it calls the system."""


def _system(loaded: Any) -> System:  # noqa: ANN401
    """Return the system that another package brings."""
    from valmatch.ratings.system import System

    return an(System)(loaded)  # type: ignore[type-abstract]


SYSTEMS: Extended[Any] = Extended(dict(OWN), GROUP, "rating system", _system)
"""The systems of this package, and those that installed packages bring under `GROUP`."""

NAMES, BATCH_NAMES = tuple(SYSTEMS), tuple(BATCH_SYSTEMS)
"""The names of all, the default first."""

DEFAULT = NAMES[0]  # the system that is meant where none is named
DEFAULT_OF_RESULTS = "elo"  # and the one for logs without scores or minutes


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
    if name not in SYSTEMS:
        called = {known: f"{known} (of valmatch rank)" for known in BATCH_NAMES}
        near = hint(name, (*NAMES, *BATCH_NAMES), called)
        raise InputError(f"{option('system')} {name}: no such system ({near})")
    if name not in OWN:
        return cast("System", SYSTEMS[name])
    module, _, constant = OWN[name].partition(":")
    system: System = getattr(import_module(f"{__package__}.{module}"), constant)
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


def all_systems() -> list[System]:
    """Return all systems, in the order of their names here."""
    return list(map(system_named, NAMES))


def systems_of_results() -> list[System]:
    """Return those that need no scores, in this order; kernels know them by their places in it."""
    return [system for system in all_systems() if not system.needs_scores]


Cap = Literal["most_distant", "every_player"]
"""Readings of the cap of zonestats: by whom is most distant from 0, or within everybody's limit."""

MOST_DISTANT: Cap = "most_distant"
EVERY_PLAYER: Cap = "every_player"
