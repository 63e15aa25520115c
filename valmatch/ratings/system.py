"""Protocol of the rating systems: a declaration and three compiled functions for one game."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import macro
from valmatch.ratings.games import Assessment, Games, Players
from valmatch.ratings.parameters import Parameter, Parametric

Values = Mapping[str, float]
Ranges = Mapping[str, tuple[float, float]]  # least and greatest values of parameters by name

MOST_PLAYERS = 5_000  # players of a game, all pairs of whom are compared within a second
Z = 1.959963984540054  # standard deviations of half a 95% interval
FAR = 1e100  # far beyond any use; within it no rating overflows


class Verbs(NamedTuple):
    """The compiled functions of a system, each for one of some games in flat arrays."""

    # (game, games, players, numbers, sums): work out ``sums.strengths`` and ``sums.spreads``, the
    # strength of each side and its variance, from the state of the players
    strengths: Callable[..., Any]
    # (a, b, games, numbers, sums) -> the expected score of side `a` against side `b`, a draw being
    # half a win, and the probability of a draw, NaN of a system that knows none
    chances: Callable[..., Any]
    # (game, games, players, numbers, sums) -> whether the game can be rated with finite numbers:
    # change the state of its players by ``sums.expected`` and ``sums.scored``, the sums of the
    # side's expected and true scores against each other side, or else nothing
    update: Callable[..., Any]


NO_VERBS = Verbs(*3 * [lambda *_: None])
"""What stands for them in a kernel that is made for each system."""


@dataclass(frozen=True)
class Column:
    """A number that a system keeps of every player, a column of ``ratings.csv``."""

    name: str  # what the file calls it
    # low, high: least and greatest value that may be read from a file
    low: float = -FAR
    high: float = FAR
    printed: bool = True  # whether people want to see it; else it is in the file alone


class Chances(NamedTuple):
    """How some games of two sides will end, seen from the first side."""

    expected: Floats  # (games,) expected score, a draw is half a win
    # (games,) probability of a win; the expected score where the system knows no draws
    wins: Floats
    draws: Floats  # (games,) probability of a draw; NaN where the system knows none
    # low, high: (games,) what the probability of a win would be if the difference of the sides were
    # known, at the ends of its 95% interval; NaN where the system knows no uncertainty
    low: Floats
    high: Floats


def decided_chances(
    sums: Assessment, low: Floats | None = None, high: Floats | None = None
) -> Chances:
    """Return the chances of games of two sides by a system that knows no draws."""
    expected = sums.expected[::2]
    unknown = np.full(len(expected), np.nan)
    bounds = (unknown if bound is None else bound for bound in (low, high))
    return Chances(expected, expected, unknown, *bounds)


class System(Parametric, ABC):
    """The declaration of a rating system."""

    # parameters that all carry the unit of the ratings: a common factor on them changes no
    # prediction among new players; () where there is no such factor
    unit: Sequence[str] = ()
    # what it keeps of a player; the first is the rating, or the mean of the belief about it
    columns: Sequence[Column]
    verbs: Verbs  # its compiled functions for one game
    # the column that is the standard deviation of the belief; -1 where there is none
    deviation = -1
    # whether players are ranked by the mean less three deviations, instead of the mean
    conservative = False
    # parameters by which the deviations grow just before a game. The model `ladder` predicts by the
    # deviations as they are stored
    drift: Sequence[str] = ()
    adds_up = False  # whether a side is as strong as the sum of its players, not as their mean
    tuned_first: Sequence[str] = ()  # parameters whose fit does most for a log of another scale
    most_players = MOST_PLAYERS  # of a game
    # pairs of players that are rated within a second, between two looks at whether to stop
    pairs_at_once = 20_000_000
    # whether it rates by the scores of the sides, so that it is not in the ladder, whose matches
    # are won or lost
    needs_scores = False

    @abstractmethod
    def newcomer(self, values: Values) -> Sequence[float]:
        """Return the state of a player without a game."""

    def numbers(self, values: Values) -> Sequence[float] | Floats:
        """Return what the compiled functions take: the values of the parameters, in their order."""
        return [values[parameter.name] for parameter in self.parameters]

    def shown(self, state: Floats) -> Floats:
        """Return the (players,) ratings by which players are ranked."""
        mean: Floats = state[:, 0]
        return mean - 3.0 * state[:, self.deviation] if self.conservative else mean

    def outcomes(self, values: Values, games: Games, state: Floats, sums: Assessment) -> Chances:
        """Return how games of two sides will end."""
        return decided_chances(sums)

    def searched(self, values: Values) -> Ranges:
        """Return where a fit looks evenly for what may be 0; else over factors of its value."""
        return {}

    def sane(self, values: Values, minutes: float) -> Ranges:
        """Return the limits beyond which a fit takes lucky games for skill."""
        return {}

    def remark(self, values: Values) -> str:
        """Return what to know about ratings with some values of the parameters, if anything."""
        return ""


@macro
def mean_strengths(
    game: int, games: Games, players: Players, numbers: Floats, sums: Assessment
) -> None:
    """Take the mean rating of its players for the strength of each side."""
    for side in range(games.game_starts[game], games.game_starts[game + 1]):
        lo, hi = games.side_starts[side], games.side_starts[side + 1]
        total = 0.0
        for row in range(lo, hi):
            total += players.state[games.players[row], 0]
        sums.strengths[side] = total / (hi - lo)


# Games that may be drawn, by the strengths of two sides (Davidson, "On extending the Bradley-Terry
# model to accommodate ties in paired comparison experiments", 1970; Szczecinski, Djebbi,
# "Understanding draws in Elo rating algorithm", 2020).


def weight_of_draws(draw_probability: float) -> float:
    """Return the nu by which so many games between equals are drawn."""
    return 2.0 * draw_probability / (1.0 - draw_probability)


@macro
def davidson_chances(lead: float, nu: float) -> tuple[float, float]:
    """Return the expected score of a side, P(win) + P(draw) / 2, and the probability of a draw."""
    odds = math.exp(-abs(lead))  # of the weaker side; never overflows
    drawn = nu * math.sqrt(odds)
    total = 1.0 + odds + drawn
    expected = ((1.0 if lead >= 0.0 else odds) + 0.5 * drawn) / total
    return expected, (drawn / total if nu > 0.0 else math.nan)


@macro
def logistic_chances(
    a: int, b: int, spread: float, draw_weight: float, sums: Assessment
) -> tuple[float, float]:
    """Predict side `a` against side `b` by the logistic rule in the lead of its strength."""
    lead = (sums.strengths[a] - sums.strengths[b]) / spread
    return davidson_chances(lead, draw_weight)


SKILL = (
    Parameter("mu", 25.0, 1e-6, 1e6),
    Parameter("sigma", 25.0 / 3.0, 1e-6, 1e6).as_factor(
        "Standard deviation of the belief about a newcomer.", "points", default=300.0
    ),
    Parameter("beta", 25.0 / 6.0, 1e-6, 1e6),
    Parameter("tau", 25.0 / 300.0, 0.0, 1e6).as_factor(
        "Standard deviation of the drift of a skill from game to game.", "points", default=3.0
    ),
)
"""The parameters of normal beliefs about skills."""


class SkillSystem(System):
    """A system that keeps a normal belief about each skill; the skills of a side add up."""

    parameters: Sequence[Parameter] = SKILL
    unit = ("mu", "sigma", "beta", "tau")
    columns = (Column("mu"), Column("sigma", 1e-12, 1e12))
    deviation = 1
    conservative = True
    adds_up = True
    tuned_first = ("mu", "sigma", "beta")
    most_players = 500

    def newcomer(self, values: Values) -> Sequence[float]:
        """Return mean and standard deviation of the belief about a player without a game."""
        return (values["mu"], values["sigma"])

    def sane(self, values: Values, minutes: float) -> Ranges:
        """Return the limits of a fit: within far, but not any, ratios, see `System.sane`."""
        # With a sigma of 20 beta one game decides all further ones; with a twentieth, none says
        # anything.
        sigma, beta = values["sigma"], values["beta"]
        return {
            "sigma": (beta / 20.0, 20.0 * beta),
            "beta": (sigma / 20.0, 20.0 * sigma),
            "tau": (sigma / 1e4, sigma / 2.0),
        }
