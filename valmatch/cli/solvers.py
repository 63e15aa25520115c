"""``valmatch solvers``."""

from __future__ import annotations

from valmatch.cli.console import show
from valmatch.cli.parameters import Json


def solvers(json: Json = False) -> None:
    """List the solvers of `optimize`, those of installed packages too, with what they need."""
    from valmatch.cli.tables.listings import show_solver_list
    from valmatch.optimization.solvers.registry import listed

    found = listed()
    show(json, {"solvers": found}, lambda: show_solver_list(found))
