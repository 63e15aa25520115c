"""Elo by the margin of victory, as FiveThirtyEight rates teams of American football.

A win counts as many times as ln(margin + 1) says, and less where the winner was expected to win:
favourites win by more, which would otherwise raise their ratings again and again.

Source: Silver, "Introducing NFL Elo Ratings" (FiveThirtyEight, 2014); Paine, "NFL Elo Ratings Are
Back!" (2015); for draws, the program `forecast.py` of FiveThirtyEight's "nfl-elo-game".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import part
from valmatch.ratings.elo import SCALE, Elo
from valmatch.ratings.elo import SYSTEM as ELO
from valmatch.ratings.games import Assessment, Games, Players, score_of
from valmatch.ratings.system import Parameter, Range, Values, Verbs, logistic_chances

K = 20.0
AUTOCORRELATION = 2200.0

_DRAWN = 2.2  # what a draw counts besides, in that program
_MOST = 10.0  # as many times as usual a win counts at most for its surprise


@part(inline=True)
def multiplier(margin: float, lead: float, autocorrelation: float) -> float:
    """Return as how many games of Elo a game counts.

    That is ln(margin + 1) 2.2 / (2.2 + 0.001 lead), where 2.2 / 0.001 is `autocorrelation`; at most
    ten times ln(margin + 1). A draw has a margin of 1 and 2.2 in place of the fraction.

    Examples
    --------
    A favourite by 100 points wins by 21, and then loses by 3:

    >>> round(multiplier(21.0, 100.0, 2200.0), 4), round(multiplier(3.0, -100.0, 2200.0), 4)
    (2.9566, 1.4523)
    """
    size = math.log(max(margin, 1.0) + 1.0)
    if margin == 0.0:
        return _DRAWN * size
    return size * min(_MOST, 1.0 / max(1.0 + lead / autocorrelation, 1.0 / _MOST))


@part(inline=True)
def margin_of(games: Games, a: int, b: int) -> float:
    """Return by how much one of two sides beat the other; 1 where that is no number above 0."""
    if games.points[a] == games.points[b]:
        return 0.0
    margin: float = games.scores[a] - games.scores[b]
    if games.points[a] < games.points[b]:
        margin = -margin
    return margin if margin > 0.0 else 1.0


@part(inline=True)
def _update(game: int, games: Games, players: Players, numbers: Floats, found: Assessment) -> bool:
    """Let all players of a side gain the same, by the margin over each other side."""
    first, last = games.game_starts[game], games.game_starts[game + 1]
    for side in range(first, last):
        gain = 0.0
        for other in range(first, last):
            if other != side:
                score = score_of(games, side, other)
                lead = found.strengths[side] - found.strengths[other]
                if score == 0.0:
                    lead = -lead
                expected, _ = logistic_chances(side, other, numbers[0], numbers[3], found)
                times = multiplier(margin_of(games, side, other), lead, numbers[4])
                gain += times * (score - expected)
        gain *= numbers[1] / (last - first - 1)
        for row in range(games.side_starts[side], games.side_starts[side + 1]):
            players.state[games.players[row], 0] += gain
    return True


def parameters_with(k: float, *more: Parameter) -> Sequence[Parameter]:
    """Return the parameters of Elo with another published K, none of them one of the ladder."""
    published = {"K": k}
    own = [
        Parameter(one.name, published.get(one.name, one.published), one.low, one.high)
        for one in ELO.parameters
    ]
    return (*own, *more)


def verbs_with(update: Callable[..., Any]) -> Verbs:
    """Return the functions of Elo with another update."""
    return ELO.verbs._replace(update=update)


class EloMargin(Elo):
    """Elo whose changes grow with the margin of victory, see `multiplier`.

    Sides of a team have the sum of its players' scores. A win by no margin at all, as of whoever
    needed less time, counts as one by 1.
    """

    name = "elo_margin"
    parameters = parameters_with(K, Parameter("autocorrelation", AUTOCORRELATION, 1.0, 1e9))
    unit = (*Elo.unit, "autocorrelation")
    verbs = verbs_with(_update)
    needs_scores = True

    def numbers(self, values: Values) -> Sequence[float]:
        """Return those of Elo, and the lead at which a win would count without end."""
        return [*super().numbers(values), values["autocorrelation"]]

    def sane(self, name: str, values: Values, minutes: float) -> Range | None:
        """Return the limits of a fit, see `System.sane`."""
        if name == "autocorrelation":
            return (values["scale"], values["scale"] / SCALE * 1e5)
        return super().sane(name, values, minutes)


SYSTEM = EloMargin()
