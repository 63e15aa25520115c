"""Games in flat arrays, as the science of whole logs takes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.oracles.bradley_terry import Game, Side, World
from tests.oracles.whole_history import PathWorld
from valmatch.kernels.arrays import Floats
from valmatch.ratings.bradley_terry.contests import Contests


def random_games(
    rng: np.random.Generator,
    *,
    kinds: tuple[int, ...] = (2,),
    team: int = 1,
    draws: float = 0.3,
    features: int = 0,
    games: int = 40,
) -> list[Game]:
    """Return games of six players; of numbers of sides, and teams of so many at most."""
    made = []
    for _ in range(games):
        k = int(rng.choice(kinds))
        players = rng.permutation(6)[: k * min(team, 6 // k)]
        scores = rng.permutation(k) * 1.0
        if rng.random() < draws:
            scores = rng.integers(0, 2, k) * 1.0
        sides = [
            Side(members.tolist(), float(score), rng.normal(size=features).round(1).tolist())
            for members, score in zip(np.array_split(players, k), scores, strict=True)
        ]
        made.append(Game(sides, float(rng.integers(1, 3)), int(rng.integers(8))))
    return made


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
