"""Who can be rated, against the closure of all wins on small random logs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.bradley_terry import Game, Side, World
from tests.oracles.connections import who_is_rated
from tests.support.contests import contests_of
from valmatch.ratings.bradley_terry.connections import levels_of, link


def world(seed: int) -> World:
    """Return a few games of one or two a side, some of several sides, some of weight 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    games = []
    for _ in range(int(rng.integers(1, 14))):
        size = int(rng.integers(1, 3)) if n >= 4 else 1
        n_sides = int(rng.integers(2, min(4, n // size) + 1))
        players = rng.permutation(n)[: n_sides * size].reshape(n_sides, size).tolist()
        sides = [Side(members, float(rng.integers(3))) for members in players]
        games.append(Game(sides, float(rng.choice([0.0, 1.0, 1.0, 2.5]))))
    games.append(Game([Side([0], 1.0), Side([1], 0.0)]))
    played = sorted({p for g in games if g.weight for side in g.sides for p in side.players})
    known = rng.choice(played, int(rng.integers(0, 3)) * int(rng.integers(2)), replace=False)
    return World(games, n, anchors={int(player): (1500.0, 0.0) for player in known})


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_links_are_those_of_the_closure(start: int) -> None:
    seen = set()
    for seed in range(start, start + 100):
        drawn = world(seed)
        contests = contests_of(drawn)
        anchors = np.array(sorted(drawn.anchors), np.int64)
        linked = link(contests, levels_of(contests), contests.weights, anchors, all_rated=False)
        statuses, used = who_is_rated(drawn)
        assert linked.statuses == statuses, seed
        assert linked.games.tolist() == used, seed
        seen |= {*statuses}
    assert seen == {"", "rated", "above", "below", "unlinked"}
