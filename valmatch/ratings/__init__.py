"""Rating systems as pure functions over numbers and arrays, without any config.

Any system, one match at a time, by its name:

>>> from valmatch import ratings
>>> ratings.NAMES
('zonestats', 'elo', 'glicko2', 'openskill', 'trueskill')
>>> state = ratings.newcomers("elo", 4)
>>> state = ratings.update_ratings("elo", state, sides=[[0, 1], [2, 3]], scores=[13, 7])
>>> state.ravel()
array([1516., 1516., 1484., 1484.])
>>> float(ratings.expected_scores("elo", state, [[0], [2]])[0, 1].round(3))
0.546

The formulas of each, with their sources, are modules of this folder: `elo`, `davidson` (draws),
`glicko2`, `trueskill` (two players), `trueskill_draws`, `trueskill_teams`, `openskill`
(Plackett-Luce) and `zonestats`. A system of one's own is a file here and a line in `registry`, see
`system`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from valmatch.ratings.matches import (
        Circumstances,
        expected_scores,
        newcomers,
        update_ratings,
    )
    from valmatch.ratings.registry import NAMES, system_named

_HOMES = {
    "registry": ("NAMES", "system_named"),
    "matches": ("Circumstances", "expected_scores", "newcomers", "update_ratings"),
}

__all__ = [
    "NAMES",
    "Circumstances",
    "expected_scores",
    "newcomers",
    "system_named",
    "update_ratings",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Import what is asked for: kernels take long to import."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
