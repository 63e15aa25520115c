"""Elo by the difference of goals, as the World Football Elo Ratings count it.

Source: Runyan, "World Football Elo Ratings", eloratings.net/about (since 1997): "K is then adjusted
for the goal difference in the game".
"""

from __future__ import annotations

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import part
from valmatch.ratings.elo import Elo
from valmatch.ratings.elo_margin import margin_of, parameters_with, verbs_with
from valmatch.ratings.games import Assessment, Games, Players, score_of
from valmatch.ratings.system import logistic_chances

K = 30.0


@part(inline=True)
def multiplier(margin: float) -> float:
    """Return as how many games of Elo a game counts: 1, 3/2 by two goals, (11 + N) / 8 by more.

    Examples
    --------
    >>> [multiplier(float(goals)) for goals in (0, 1, 2, 3, 4, 7)]
    [1.0, 1.0, 1.5, 1.75, 1.875, 2.25]
    """
    if margin < 2.0:
        return 1.0
    return 1.5 if margin < 3.0 else (11.0 + margin) / 8.0


@part(inline=True)
def _update(game: int, games: Games, players: Players, numbers: Floats, found: Assessment) -> bool:
    """Let all players of a side gain the same, by the margin over each other side."""
    first, last = games.game_starts[game], games.game_starts[game + 1]
    for side in range(first, last):
        gain = 0.0
        for other in range(first, last):
            if other != side:
                expected, _ = logistic_chances(side, other, numbers[0], numbers[3], found)
                times = multiplier(margin_of(games, side, other))
                gain += times * (score_of(games, side, other) - expected)
        gain *= numbers[1] / (last - first - 1)
        for row in range(games.side_starts[side], games.side_starts[side + 1]):
            players.state[games.players[row], 0] += gain
    return True


class EloGoals(Elo):
    """Elo whose changes grow with the difference of goals, see `multiplier`.

    The published K is that of most tournaments; there it is 60 in World Cup finals and 20 in
    friendly matches, and 100 points are the advantage of the side at home.
    """

    name = "elo_goals"
    parameters = parameters_with(K)
    verbs = verbs_with(_update)
    needs_scores = True


SYSTEM = EloGoals()
