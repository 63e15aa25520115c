"""The rating system glicko2."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence

import numpy as np

from valmatch.compilation import inlined, njit
from valmatch.game_logs.games import Games
from valmatch.game_logs.predictions import (
    after_burn_in,
    close_game,
    note_sides,
    open_game,
    score_of,
)
from valmatch.game_logs.system import Chances, Column, Parameter, Played, Players, System, Z
from valmatch.ratings import glicko2

__all__ = ["SYSTEM", "Glicko2"]

_MOST_DEVIATION = 1e12
_LATEST = sys.float_info.max

# Columns of the state.
_RATING, _DEVIATION, _VOLATILITY = 0, 1, 2
_BASE_RATING, _BASE_DEVIATION, _BASE_VOLATILITY, _INFORMATION, _SURPRISE, _TIME = range(3, 9)


class Glicko2(System):
    """Glicko-2; a side is predicted by the means of its players' ratings and squared deviations.

    Each player meets each opposing side as one opponent of that rating and deviation.

    `period` is the length of a rating period in the unit of the log's times (seconds, if they are
    dates): all games of equal floor(time / period) count as played at once. They are predicted
    from the ratings before the period, which a player's columns ``base_...`` hold, and the
    deviation of who plays again has grown for each whole period without a game. `rating`,
    `deviation` and `volatility` are what the games so far make of these at the end of the period.
    A period of 0, the common form online, makes every game a period of its own, and nobody is ever
    idle; Glickman recommends periods of 10 to 15 games a player. A log without times is one
    period, if `period` is not 0.
    """

    name = "glicko2"
    parameters = (
        Parameter("deviation", glicko2.DEVIATION, 1e-6, 1e6),
        Parameter("volatility", glicko2.VOLATILITY, 1e-9, 10.0),
        Parameter("tau", glicko2.TAU, 0.01, 10.0),
        Parameter("period", 0.0, 0.0, 1e12),
    )
    unit = ()
    columns = (
        Column("rating"),
        Column("deviation", 1e-12, _MOST_DEVIATION),
        Column("volatility", glicko2.LEAST_VOLATILITY, glicko2.MOST_VOLATILITY),
        Column("base_rating", printed=False),
        Column("base_deviation", 1e-12, _MOST_DEVIATION, printed=False),
        Column("base_volatility", glicko2.LEAST_VOLATILITY, glicko2.MOST_VOLATILITY, printed=False),
        Column("information", 0.0, 1e15, printed=False),
        Column("surprise", -1e15, 1e15, printed=False),
        Column("time", -_LATEST, _LATEST, printed=False),
    )
    tuned_first = ("deviation", "volatility")

    def sane(
        self, name: str, values: Mapping[str, float], minutes: float
    ) -> tuple[float, float] | None:
        """Return the limits of a fit, see `System.sane`: far around what Glickman recommends."""
        ranges = {"deviation": (10.0, 1000.0), "volatility": (1e-3, 0.5), "tau": (0.1, 2.0)}
        return ranges.get(name)

    def newcomer(self, values: Mapping[str, float]) -> Sequence[float]:
        """Return what is known of a player without a game (step 1)."""
        known = (glicko2.INITIAL_RATING, values["deviation"], values["volatility"])
        return (*known, *known, 0.0, 0.0, 0.0)

    def play(
        self,
        values: Mapping[str, float],
        games: Games,
        players: Players,
        burn_in: int,
        played: Played,
    ) -> None:
        """Predict and rate games, see `System.play`."""
        _play_glicko2(games, players, burn_in, values["tau"], values["period"], played)

    def predict(self, values: Mapping[str, float], games: Games, players: Players) -> Chances:
        """Predict games of two sides, see `System.predict`."""
        played = self.foresee(values, games, players)
        lead = (played.strengths[::2] - played.strengths[1::2]) / glicko2.SCALE
        phi = np.sqrt(played.spreads[::2] + played.spreads[1::2]) / glicko2.SCALE
        low, high = (
            np.array([glicko2.expected_score(one, 0.0) for one in (lead + side * phi).tolist()])
            for side in (-Z, Z)
        )
        expected = played.expected[::2]
        return Chances(expected, expected, np.full(games.n_games, np.nan), low, high)


@njit
def _play_glicko2(
    games: Games, players: Players, burn_in: int, tau: float, period: float, played: Played
) -> None:
    """Predict and rate games by Glicko-2."""
    for game in range(len(games.names)):
        first, last = games.game_starts[game], games.game_starts[game + 1]
        for row in range(games.side_starts[first], games.side_starts[last]):
            player = games.players[row]
            played.before[row] = players.state[player, _RATING]
            _enter_period(players, player, games.times[game], period)
        for side in range(first, last):
            _sum_beliefs(games, players, side, played)
        _predict(games, players, burn_in, game, played)
        for side in range(first, last):
            for row in range(games.side_starts[side], games.side_starts[side + 1]):
                player = games.players[row]
                _learn(games, players, player, side, first, last, tau, played)
                played.after[row] = players.state[player, _RATING]
                players.games[player] += 1


@inlined
def _enter_period(players: Players, player: int, time: float, period: float) -> None:
    """Begin a rating period for a player, unless his last game was in the same one.

    What his last period has made of him is what this one starts from.
    """
    state = players.state[player]
    same = False
    if period > 0.0 and players.games[player] > 0:
        now, then = np.floor(time / period), np.floor(state[_TIME] / period)
        same = now == then
        if now > then + 1.0:
            phi = glicko2.idle_deviation(
                state[_DEVIATION] / glicko2.SCALE, state[_VOLATILITY], now - then - 1.0
            )
            state[_DEVIATION] = min(phi * glicko2.SCALE, _MOST_DEVIATION)
    state[_TIME] = time
    if not same:
        state[_BASE_RATING] = state[_RATING]
        state[_BASE_DEVIATION] = state[_DEVIATION]
        state[_BASE_VOLATILITY] = state[_VOLATILITY]
        state[_INFORMATION] = state[_SURPRISE] = 0.0


@inlined
def _sum_beliefs(games: Games, players: Players, side: int, played: Played) -> None:
    """Work out the mean rating and the mean squared deviation of a side's players."""
    lo, hi = games.side_starts[side], games.side_starts[side + 1]
    rating = variance = 0.0
    for row in range(lo, hi):
        state = players.state[games.players[row]]
        rating += state[_BASE_RATING]
        variance += state[_BASE_DEVIATION] * state[_BASE_DEVIATION]
    played.strengths[side], played.spreads[side] = rating / (hi - lo), variance / (hi - lo)


@inlined
def _predict(games: Games, players: Players, burn_in: int, game: int, played: Played) -> None:
    """Predict a game from the ratings before the period, by the deviations of both sides."""
    first, last = games.game_starts[game], games.game_starts[game + 1]
    rows = after_burn_in(games, players, burn_in, games.side_starts[first], games.side_starts[last])
    weight = 2.0 / ((last - first) * (last - first - 1))
    open_game(games, game, played)
    loss = 0.0
    for a in range(first, last):
        for b in range(a + 1, last):
            lead = (played.strengths[a] - played.strengths[b]) / glicko2.SCALE
            phi = math.sqrt(played.spreads[a] + played.spreads[b]) / glicko2.SCALE
            expected = glicko2.expected_score(lead, phi)
            loss += note_sides(games, a, b, expected, math.nan, rows, weight, played)
    close_game(game, loss, rows, played)


@inlined
def _learn(
    games: Games,
    players: Players,
    player: int,
    side: int,
    first: int,
    last: int,
    tau: float,
    played: Played,
) -> None:
    """Add a player's results of a game to those of the period, and rate him by all of them."""
    state = players.state[player]
    for other in range(first, last):
        if other != side:
            lead = (state[_BASE_RATING] - played.strengths[other]) / glicko2.SCALE
            phi = math.sqrt(played.spreads[other]) / glicko2.SCALE
            information, surprise = glicko2.result(lead, phi, score_of(games, side, other))
            state[_INFORMATION] += information
            state[_SURPRISE] += surprise
    gain, phi, volatility = glicko2.updated(
        state[_BASE_DEVIATION] / glicko2.SCALE,
        state[_BASE_VOLATILITY],
        state[_INFORMATION],
        state[_SURPRISE],
        tau,
    )
    state[_RATING] = state[_BASE_RATING] + gain * glicko2.SCALE
    state[_DEVIATION] = min(phi * glicko2.SCALE, _MOST_DEVIATION)
    state[_VOLATILITY] = volatility


SYSTEM = Glicko2()
