"""Who can be rated from some games, by the closure of all wins; in loops."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from tests.oracles.bradley_terry import Game, World
from valmatch.kernels.arrays import Bools


def who_is_rated(world: World) -> tuple[list[str], list[bool]]:
    """Return the status of each player, "" of who did not play, and which games are used."""
    games = [game for game in world.games if game.weight > 0.0]
    members = {player for game in games for side in game.sides for player in side.players}
    reached = _closure(world, games)
    rated, used = _part(world, reached, members), games
    while True:
        used = [game for game in used if _players(game) <= rated]
        within = _part(world, _closure(world, used), rated)
        if within == rated:
            break
        rated = within
    start = min(rated)
    statuses = []
    for k in range(world.n_players):
        status = "above" if reached[start, k] else "below" if reached[k, start] else "unlinked"
        statuses.append("rated" if k in rated else status if k in members else "")
    return statuses, [any(game is one for one in used) for game in world.games]


def _players(game: Game) -> set[int]:
    return {player for side in game.sides for player in side.players}


def _closure(world: World, games: Sequence[Game]) -> Bools:
    """Return who is reached from whom, from each loser to each winner, by any number of games."""
    found = np.eye(world.n_players, dtype=np.bool_)
    found[np.ix_(list(world.anchors), list(world.anchors))] = True
    for game in games:
        for worse in game.sides:
            for better in game.sides:
                if worse is not better and worse.score <= better.score:
                    found[np.ix_(list(worse.players), list(better.players))] = True
    for k in range(world.n_players):
        found |= np.outer(found[:, k], found[k])
    return found


def _part(world: World, reached: Bools, among: Collection[int]) -> set[int]:
    """Return the part that is rated: the anchors', or the largest, heaviest, first by name."""
    parts = [{b for b in among if reached[a, b] and reached[b, a]} for a in sorted(among)]
    if world.anchors:
        return next(part for part in parts if part & set(world.anchors))

    def rank(part: set[int]) -> tuple[int, float, int]:
        weight = sum(game.weight for game in world.games if _players(game) & part)
        return len(part), weight, -min(part)

    return max(parts, key=rank)
