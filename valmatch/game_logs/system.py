"""What a rating system is, and what it is given: parameters, players, games."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.game_logs.games import Games
from valmatch.game_logs.scores import new_tally

__all__ = [
    "MOST_PLAYERS",
    "Chances",
    "Column",
    "Parameter",
    "Played",
    "Players",
    "System",
    "Z",
    "unplayed",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_PLAYERS = 5_000
"""Players of a game, all pairs of whom are compared within a second."""

Z = 1.959963984540054
"""Standard deviations of half a 95% interval."""

FAR = 1e100
"""Far beyond any use; within it no rating overflows."""


@dataclass(frozen=True)
class Parameter:
    """A number that a system depends on.

    Attributes
    ----------
    name : str
        What the source calls it.
    published : float
        Its value there.
    low, high : float
        Least and greatest value that is allowed and searched.
    """

    name: str
    published: float
    low: float
    high: float


@dataclass(frozen=True)
class Column:
    """A number that a system keeps of every player, a column of ``ratings.csv``.

    Attributes
    ----------
    name : str
        What the file calls it.
    low, high : float
        Least and greatest value that may be read from a file.
    printed : bool
        Whether people want to see it; else it is in the file alone.
    """

    name: str
    low: float = -FAR
    high: float = FAR
    printed: bool = True


class Players(NamedTuple):
    """What is known of the players, by number.

    Attributes
    ----------
    state : numpy.ndarray
        (players, columns of the system) float64.
    games : numpy.ndarray
        (players,) int64, games rated.
    """

    state: Floats
    games: Integers


class Played(NamedTuple):
    """What came of some games, filled as they are played.

    Attributes
    ----------
    tally : numpy.ndarray
        (2, columns) sums over predictions, see `valmatch.game_logs.scores`.
    losses : numpy.ndarray
        (games,) log loss of each game.
    strengths : numpy.ndarray
        (sides,) strength of each side before the game.
    spreads : numpy.ndarray
        (sides,) uncertainty of that strength, as a variance.
    expected : numpy.ndarray
        (sides,) sum of the expected scores against the other sides.
    scored : numpy.ndarray
        (sides,) sum of the scores against the other sides.
    before, after : numpy.ndarray
        (rows,) rating of each player before and after the game.
    offsets : numpy.ndarray
        (rows,) zonestats alone: sum of each player's points before the cap.
    scales : numpy.ndarray
        (games,) zonestats alone: factor of the cap.
    """

    tally: Floats
    losses: Floats
    strengths: Floats
    spreads: Floats
    expected: Floats
    scored: Floats
    before: Floats
    after: Floats
    offsets: Floats
    scales: Floats


def unplayed(games: Games, tally: Floats) -> Played:
    """Return the arrays for what will come of some games."""
    sides, rows = (len(games.points),) * 4, (len(games.players),) * 3
    return Played(tally, *map(np.empty, (games.n_games, *sides, *rows, games.n_games)))


class Chances(NamedTuple):
    """How some games of two sides will end, seen from the first side.

    Attributes
    ----------
    expected : numpy.ndarray
        (games,) expected score, a draw is half a win.
    wins : numpy.ndarray
        (games,) probability of a win; the expected score where the system knows no draws.
    draws : numpy.ndarray
        (games,) probability of a draw; NaN where the system knows none.
    low, high : numpy.ndarray
        (games,) what the probability of a win would be if the difference of the sides were known,
        at the ends of its 95% interval; NaN where the system knows no uncertainty.
    """

    expected: Floats
    wins: Floats
    draws: Floats
    low: Floats
    high: Floats


class System(ABC):
    """A rating system.

    Attributes
    ----------
    name : str
        What ``--system`` calls it; the name of its file.
    parameters : sequence of Parameter
        Numbers that it depends on.
    unit : sequence of str
        Parameters that all carry the unit of the ratings: a common factor on them changes no
        prediction among new players; () where there is no such factor.
    columns : sequence of Column
        What it keeps of a player.
    adds_up : bool
        Whether a side is as strong as the sum of its players, not as their mean.
    tuned_first : sequence of str
        Parameters whose fit does most for a log of another scale.
    most_players : int
        Players that a game may have.
    pairs_at_once : int
        Pairs of players that are rated within a second, between two looks at whether to stop.
    """

    name: str
    parameters: Sequence[Parameter]
    unit: Sequence[str]
    columns: Sequence[Column]
    adds_up = False
    tuned_first: Sequence[str] = ()
    most_players = MOST_PLAYERS
    pairs_at_once = 20_000_000

    def searched(self, name: str, values: Mapping[str, float]) -> tuple[float, float] | None:
        """Return the least and the greatest value where a fit looks for a parameter.

        None: over factors of its value; what may well be 0 has a range, which is searched evenly.
        """
        return None

    def sane(
        self, name: str, values: Mapping[str, float], minutes: float
    ) -> tuple[float, float] | None:
        """Return the least and the greatest value of a parameter that a fit may find.

        Beyond them a few lucky games are taken for skill. None: all that is allowed.

        Parameters
        ----------
        name : str
            The parameter.
        values : mapping
            Values of all parameters.
        minutes : float
            What a player usually is in a game.
        """
        return None

    def remark(self, values: Mapping[str, float]) -> str:
        """Return what to know about ratings with some values of the parameters, if anything."""
        return ""

    @abstractmethod
    def newcomer(self, values: Mapping[str, float]) -> Sequence[float]:
        """Return the state of a player without a game."""

    def shown(self, state: Floats) -> Floats:
        """Return the (players,) ratings by which players are ranked: the first column."""
        return state[:, 0]

    @abstractmethod
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

    def predict(self, values: Mapping[str, float], games: Games, players: Players) -> Chances:
        """Predict games of two sides, of which no two have a player in common.

        Parameters
        ----------
        values : mapping
            Values of all parameters.
        games : Games
            The games; whoever wins in them does not count.
        players : Players
            Their players; changed.
        """
        expected = self.foresee(values, games, players).expected[::2]
        unknown = np.full(games.n_games, np.nan)
        return Chances(expected, expected, unknown, unknown, unknown)

    def foresee(self, values: Mapping[str, float], games: Games, players: Players) -> Played:
        """Play games for the sake of their predictions; parameters as in `predict`."""
        played = unplayed(games, new_tally())
        self.play(values, games, players, 0, played)
        return played
