"""Games of a log played through by a rating system: predicted, then rated, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from valmatch.errors import InputError
from valmatch.game_logs.scores import Played, new_tally, note_game, note_pair, unplayed
from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import inlined
from valmatch.ratings.games import Games, Players, add_scores, open_game
from valmatch.ratings.matches import kernel_of
from valmatch.ratings.system import NO_VERBS, Chances, System


def play(
    system: System,
    values: Mapping[str, float],
    games: Games,
    players: Players,
    burn_in: int,
    played: Played,
) -> None:
    """Predict each game from what is known before it, then rate it."""
    kernel = kernel_of(_play_games, system.verbs, system.deviation if system.conservative else -1)
    numbers = np.asarray(system.numbers(values), np.float64)
    end = kernel(0, games.n_games, games, players, burn_in, numbers, played)
    if end < games.n_games:
        raise InputError(_out_of_range(system, games, players, end))


def predict(system: System, values: Mapping[str, float], games: Games, players: Players) -> Chances:
    """Predict games of two sides, of which no two have a player in common."""
    state, played = players.state.copy(), unplayed(games, new_tally())
    play(system, values, games, players, 0, played)
    return system.outcomes(values, games, state, played.found)


def _out_of_range(system: System, games: Games, players: Players, game: int) -> str:
    """Say that a game cannot be rated with finite numbers."""
    starts = games.side_starts[games.game_starts[game] : games.game_starts[game + 1] + 1]
    sides = [games.players[lo:hi] for lo, hi in pairwise(starts.tolist())]
    return (
        f"{system.name}: math range error in a game of players with {system.columns[0].name}"
        f" {[players.state[side, 0].tolist() for side in sides]}: too far apart for this system"
    )


@inlined
def after_burn_in(games: Games, players: Players, burn_in: int, lo: int, hi: int) -> int:
    """Return how many rows of the tally the rows lo..hi-1 count in: 2 after the burn-in, else 1."""
    for row in range(lo, hi):
        if players.games[games.players[row]] < burn_in:
            return 1
    return 2


strengths, chances, update = NO_VERBS
deviation = -1
"""What stands for the functions of a system, and for the column of the deviation by which it ranks
players (-1 for none), in `_play_games`."""


def _play_games(
    begin: int,
    end: int,
    games: Games,
    players: Players,
    burn_in: int,
    numbers: Floats,
    played: Played,
) -> int:
    """Play the games begin..end-1; return the first that cannot be rated, `end` if all can."""
    found = played.found
    for game in range(begin, end):
        first, last = games.game_starts[game], games.game_starts[game + 1]
        lo, hi = games.side_starts[first], games.side_starts[last]
        for row in range(lo, hi):
            played.before[row] = _shown(games.players[row], players, deviation)
        rows = after_burn_in(games, players, burn_in, lo, hi)
        strengths(game, games, players, numbers, found)
        open_game(game, games, found)
        weight, loss = 2.0 / ((last - first) * (last - first - 1)), 0.0
        for a in range(first, last):
            for b in range(a + 1, last):
                expected, draw = chances(a, b, games, numbers, found)
                score = add_scores(a, b, expected, games, found)
                loss += weight * note_pair(played.tally, rows, expected, draw, score, weight)
        played.losses[game] = loss
        note_game(played.tally, rows, loss)
        if not update(game, games, players, numbers, found):
            return game
        for row in range(lo, hi):
            played.after[row] = _shown(games.players[row], players, deviation)
            players.games[games.players[row]] += 1
    return end


@inlined
def _shown(player: int, players: Players, deviation: int) -> float:
    """Return the rating by which a player is ranked."""
    mean: float = players.state[player, 0]
    return mean - 3.0 * players.state[player, deviation] if deviation >= 0 else mean
