"""The rating systems that games can be rated by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import inlined, njit
from valmatch.game_logs.games import Games
from valmatch.game_logs.scores import note_game, note_pair
from valmatch.ratings import elo, trueskill_teams, zonestats

__all__ = [
    "Elo",
    "Parameter",
    "Played",
    "Players",
    "System",
    "TrueSkill",
    "ZoneStats",
    "after_burn_in",
    "conservative",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Parameter:
    """A number that a system depends on.

    Attributes
    ----------
    name : what the source calls it
    published : its value there
    low, high : least and greatest value that is allowed and searched
    """

    name: str
    published: float
    low: float
    high: float


class Players(NamedTuple):
    """What is known of the players, by number.

    Attributes
    ----------
    state : (players, columns of the system) float64
    games : (players,) int64, games rated
    """

    state: Floats
    games: Integers


class Played(NamedTuple):
    """What came of some games, filled as they are played.

    Attributes
    ----------
    tally : (2, columns) sums over predictions, see `valmatch.game_logs.scores`
    losses : (games,) log loss of each game
    strengths : (sides,) strength of each side before the game
    spreads : (sides,) uncertainty of that strength, as a variance
    expected : (sides,) sum of the expected scores against the other sides
    scored : (sides,) sum of the scores against the other sides
    before, after : (rows,) rating of each player before and after the game
    """

    tally: Floats
    losses: Floats
    strengths: Floats
    spreads: Floats
    expected: Floats
    scored: Floats
    before: Floats
    after: Floats


class System(Protocol):
    """A rating system.

    Attributes
    ----------
    name : what `--system` calls it
    parameters : numbers that it depends on
    unit : parameters that all carry the unit of the ratings: a common factor on them changes no
        prediction among new players
    columns : what it keeps of a player
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def parameters(self) -> Sequence[Parameter]: ...  # noqa: D102

    @property
    def unit(self) -> Sequence[str]: ...  # noqa: D102

    @property
    def columns(self) -> Sequence[str]: ...  # noqa: D102

    def newcomer(self, values: Mapping[str, float]) -> Sequence[float]:
        """Return the state of a player without a game."""
        ...

    def shown(self, state: Floats) -> Floats:
        """Return the (players,) ratings by which players are ranked."""
        ...

    def play(
        self,
        values: Mapping[str, float],
        games: Games,
        players: Players,
        burn_in: int,
        played: Played,
    ) -> None:
        """Predict each game from what is known before it, then rate it.

        Parameters
        ----------
        values : mapping
            Values of all parameters.
        games : Games
            Games in play order.
        players : Players
            Known players; changed.
        burn_in : int
            Games that every player of a game must have behind him for its prediction to count
            as one after the burn-in.
        played : Played
            Filled; its tally is added to.
        """
        ...


class ZoneStats:
    """The pairwise logistic rule of ZoneStats; a side is predicted by its mean rating."""

    name = "zonestats"
    parameters = (
        Parameter("T", zonestats.T, 1e-3, 1e6),
        Parameter("GAME_MULT", zonestats.GAME_MULT, 1e-6, 1e6),
        Parameter("MAX_GAME_LENGTH", zonestats.MAX_GAME_LENGTH, 1e-3, 1e6),
    )
    unit = ("T", "GAME_MULT")
    columns = ("rating",)

    def newcomer(self, values: Mapping[str, float]) -> Sequence[float]:
        """Return the rating of a player without a game (step 2)."""
        return (zonestats.INITIAL_RATING,)

    def shown(self, state: Floats) -> Floats:
        """Return the ratings."""
        return state[:, 0]

    def play(
        self,
        values: Mapping[str, float],
        games: Games,
        players: Players,
        burn_in: int,
        played: Played,
    ) -> None:
        """Predict and rate games, see `System.play`."""
        numbers = (values["T"], values["GAME_MULT"], values["MAX_GAME_LENGTH"])
        _play_zonestats(games, players, burn_in, *numbers, played)


class Elo:
    """Elo; a side plays by its mean rating, and its players all gain the same."""

    name = "elo"
    parameters = (Parameter("scale", elo.SCALE, 1e-3, 1e6), Parameter("K", elo.K, 1e-6, 1e6))
    unit = ("scale", "K")
    columns = ("rating",)

    def newcomer(self, values: Mapping[str, float]) -> Sequence[float]:
        """Return the rating of a player without a game."""
        return (elo.INITIAL_RATING,)

    def shown(self, state: Floats) -> Floats:
        """Return the ratings."""
        return state[:, 0]

    def play(
        self,
        values: Mapping[str, float],
        games: Games,
        players: Players,
        burn_in: int,
        played: Played,
    ) -> None:
        """Predict and rate games, see `System.play`."""
        _play_elo(games, players, burn_in, values["scale"], values["K"], played)


class TrueSkill:
    """TrueSkill with draws; games of more than two sides need the `openskill` package.

    Those are rated by its Thurstone-Mosteller model, of the same skills and performances.
    """

    name = "trueskill"
    parameters = (
        Parameter("mu", 25.0, 1e-6, 1e6),
        Parameter("sigma", 25.0 / 3.0, 1e-6, 1e6),
        Parameter("beta", 25.0 / 6.0, 1e-6, 1e6),
        Parameter("tau", 25.0 / 300.0, 0.0, 1e6),
        Parameter("draw_probability", 0.1, 0.0, 0.99),
    )
    unit = ("mu", "sigma", "beta", "tau")
    columns = ("mu", "sigma")

    def newcomer(self, values: Mapping[str, float]) -> Sequence[float]:
        """Return mean and standard deviation of the belief about a player without a game."""
        return (values["mu"], values["sigma"])

    def shown(self, state: Floats) -> Floats:
        """Return mu - 3 sigma."""
        return conservative(state)

    def play(
        self,
        values: Mapping[str, float],
        games: Games,
        players: Players,
        burn_in: int,
        played: Played,
    ) -> None:
        """Predict and rate games, see `System.play`."""
        quantile = trueskill_teams.margin_quantile(values["draw_probability"])
        beta, tau = values["beta"], values["tau"]
        done = 0
        for crowd in [*np.flatnonzero(np.diff(games.game_starts) > 2), games.n_games]:
            _play_trueskill(games, players, burn_in, beta, tau, quantile, done, crowd, played)
            if crowd < games.n_games:
                from valmatch.game_logs.openskill import rate_crowd

                rate_crowd(values, games, players, burn_in, int(crowd), played)
            done = crowd + 1


def conservative(state: Floats) -> Floats:
    """Return mu - 3 sigma of each player."""
    shown: Floats = state[:, 0] - 3.0 * state[:, 1]
    return shown


@inlined
def after_burn_in(games: Games, players: Players, burn_in: int, lo: int, hi: int) -> int:
    """Return how many rows of the tally the rows lo..hi-1 count in: 2 after the burn-in, else 1."""
    for row in range(lo, hi):
        if players.games[games.players[row]] < burn_in:
            return 1
    return 2


@inlined
def _score(games: Games, a: int, b: int) -> float:
    """Return the score of side `a` against side `b`."""
    if games.points[a] == games.points[b]:
        return 0.5
    return 1.0 if games.points[a] > games.points[b] else 0.0


@inlined
def _predict_by_means(
    games: Games, players: Players, burn_in: int, game: int, spread: float, played: Played
) -> None:
    """Predict a game by the logistic rule between the mean ratings of its sides."""
    first, last = games.game_starts[game], games.game_starts[game + 1]
    for side in range(first, last):
        lo, hi = games.side_starts[side], games.side_starts[side + 1]
        total = 0.0
        for row in range(lo, hi):
            rating = players.state[games.players[row], 0]
            played.before[row] = rating
            total += rating
        played.strengths[side] = total / (hi - lo)
        played.expected[side] = played.scored[side] = 0.0
    rows = after_burn_in(games, players, burn_in, games.side_starts[first], games.side_starts[last])
    weight = 2.0 / ((last - first) * (last - first - 1))
    loss = 0.0
    for a in range(first, last):
        for b in range(a + 1, last):
            expected = zonestats.predicted_outcome(played.strengths[a], played.strengths[b], spread)
            score = _score(games, a, b)
            played.expected[a] += expected
            played.expected[b] += 1.0 - expected
            played.scored[a] += score
            played.scored[b] += 1.0 - score
            loss += weight * note_pair(played.tally, rows, expected, score, weight)
    played.losses[game] = loss
    note_game(played.tally, rows, loss)


@njit
def _play_zonestats(
    games: Games,
    players: Players,
    burn_in: int,
    t: float,
    game_mult: float,
    max_game_length: float,
    played: Played,
) -> None:
    """Predict and rate games by ZoneStats."""
    adjustments = np.empty(len(games.players))
    for game in range(len(games.names)):
        _predict_by_means(games, players, burn_in, game, t, played)
        lo = games.side_starts[games.game_starts[game]]
        hi = games.side_starts[games.game_starts[game + 1]]
        zonestats.adjust(
            played.before[lo:hi],
            games.rates[lo:hi],
            games.minutes[lo:hi],
            games.sides[lo:hi],
            t,
            game_mult,
            max_game_length,
            adjustments[lo:hi],
        )
        for row in range(lo, hi):
            played.after[row] = played.before[row] + adjustments[row]
            players.state[games.players[row], 0] = played.after[row]
            players.games[games.players[row]] += 1


@njit
def _play_elo(
    games: Games, players: Players, burn_in: int, scale: float, k: float, played: Played
) -> None:
    """Predict and rate games by Elo."""
    for game in range(len(games.names)):
        _predict_by_means(games, players, burn_in, game, elo.spread(scale), played)
        first, last = games.game_starts[game], games.game_starts[game + 1]
        for side in range(first, last):
            gain = elo.change(played.scored[side], played.expected[side], last - first - 1, k)
            for row in range(games.side_starts[side], games.side_starts[side + 1]):
                played.after[row] = played.before[row] + gain
                players.state[games.players[row], 0] = played.after[row]
                players.games[games.players[row]] += 1


@njit
def _play_trueskill(
    games: Games,
    players: Players,
    burn_in: int,
    beta: float,
    tau: float,
    quantile: float,
    begin: int,
    end: int,
    played: Played,
) -> None:
    """Predict and rate the games begin..end-1, all of two sides, by TrueSkill.

    Every variance grows by tau^2 before a game, which the prediction takes into account.
    """
    for game in range(begin, end):
        a = games.game_starts[game]
        lo, middle, hi = (
            games.side_starts[a],
            games.side_starts[a + 1],
            games.side_starts[a + 2],
        )
        _sum_beliefs(games, players, tau, a, played)
        _sum_beliefs(games, players, tau, a + 1, played)
        lead = played.strengths[a] - played.strengths[a + 1]
        variance = played.spreads[a] + played.spreads[a + 1]
        expected = trueskill_teams.expected_score(lead, variance, hi - lo, beta, quantile)
        score = _score(games, a, a + 1)
        rows = after_burn_in(games, players, burn_in, lo, hi)
        loss = note_pair(played.tally, rows, expected, score, 1.0)
        note_game(played.tally, rows, loss)
        played.losses[game] = loss
        played.expected[a], played.expected[a + 1] = expected, 1.0 - expected
        played.scored[a], played.scored[a + 1] = score, 1.0 - score
        sign = -1.0 if score == 0.0 else 1.0
        step, shrink = trueskill_teams.pulls(
            sign * lead, variance, hi - lo, beta, quantile, score == 0.5
        )
        for row in range(lo, hi):
            player = games.players[row]
            belief = players.state[player]
            pull = sign * step if row < middle else -sign * step
            skill = belief[1] * belief[1] + tau * tau
            belief[0] += skill * pull
            belief[1] = math.sqrt(skill * (1.0 - skill * shrink))
            played.after[row] = belief[0] - 3.0 * belief[1]
            players.games[player] += 1


@inlined
def _sum_beliefs(games: Games, players: Players, tau: float, side: int, played: Played) -> None:
    """Sum up the means and the variances of a side's players."""
    mean = variance = 0.0
    for row in range(games.side_starts[side], games.side_starts[side + 1]):
        belief = players.state[games.players[row]]
        mean += belief[0]
        variance += belief[1] * belief[1] + tau * tau
        played.before[row] = belief[0] - 3.0 * belief[1]
    played.strengths[side], played.spreads[side] = mean, variance
