"""Games in flat arrays, as the science of whole logs takes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.oracles.bradley_terry import World
from tests.oracles.whole_history import PathWorld
from valmatch.kernels.arrays import Floats
from valmatch.ratings.bradley_terry.contests import Contests


def contests_of(world: World | PathWorld) -> Contests:
    """Return the games of a world."""
    sides = [side for game in world.games for side in game.sides]
    return Contests(
        world.n_players,
        np.cumsum([0, *(len(game.sides) for game in world.games)]),
        np.cumsum([0, *(len(side.players) for side in sides)]),
        np.array([side.score for side in sides], float),
        np.array([player for side in sides for player in side.players]),
        np.array([side.features for side in sides], float).reshape(len(sides), world.n_features),
        np.array([game.weight for game in world.games], float),
        np.array([game.cluster for game in world.games]),
    )


def duels_of(
    n_players: int,
    players: Sequence[int] | np.ndarray,
    points: Sequence[float] | np.ndarray,
    weights: Floats | None = None,
    home: bool = False,
) -> Contests:
    """Return games of two players, of whom the first may be at home; all is by sides, in turn."""
    sides = np.arange(len(players) + 1)
    n = len(players) // 2
    features = np.zeros((2 * n, int(home)))
    features[::2] = 1.0
    return Contests(
        n_players,
        sides[::2],
        sides,
        np.array(points, float),
        np.array(players),
        features,
        np.ones(n) if weights is None else weights,
        np.arange(n),
    )
