"""``valmatch problems``."""

from __future__ import annotations

from valmatch.cli.console import show
from valmatch.cli.parameters import Json


def problems(json: Json = False) -> None:
    """List the shipped problems of `optimize`, a test bed, with the best known of each.

    Noise is the standard deviation of the objective over replications at the best known point;
    effort is the number of replications that all searches for it took.
    """
    from valmatch.cli.tables.listings import show_problem_list
    from valmatch.optimization.best_known import listed

    found = listed()
    show(json, {"problems": found}, lambda: show_problem_list(found))
