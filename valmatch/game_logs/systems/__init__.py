"""The rating systems, one file each: whatever file stands here is a system, by its name.

A file defines `SYSTEM`, a `valmatch.game_logs.system.System`.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from valmatch.errors import InputError, option
from valmatch.nearest import hint

if TYPE_CHECKING:
    from valmatch.game_logs.system import System

__all__ = ["DEFAULT", "NAMES", "system_named"]

DEFAULT = "zonestats"
"""The system that is meant where none is named."""

NAMES = (DEFAULT, *sorted({found.name for found in pkgutil.iter_modules(__path__)} - {DEFAULT}))
"""The names of all systems, the default first."""


@cache
def system_named(name: str) -> System:
    """Return the rating system of a name.

    Raises
    ------
    InputError
        If there is none.
    """
    if name not in NAMES:
        raise InputError(f"{option('system')} {name}: no such system ({hint(name, NAMES)})")
    system: System = import_module(f"{__name__}.{name}").SYSTEM
    return system
