"""Elo ratings of games between two or more sides of any size, also by the margin of victory.

Sources: Elo, "The Rating of Chessplayers, Past and Present" (1978). By the margin: Silver,
"Introducing NFL Elo Ratings" (FiveThirtyEight, 2014); Paine, "NFL Elo Ratings Are Back!" (2015);
for draws, the program `forecast.py` of FiveThirtyEight's "nfl-elo-game". By goals: Runyan, "World
Football Elo Ratings", eloratings.net/about (since 1997).
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import macro
from valmatch.ratings.games import Assessment, Games, Players, score_of
from valmatch.ratings.parameters import Parameter
from valmatch.ratings.system import (
    Chances,
    Column,
    Ranges,
    System,
    Values,
    Verbs,
    davidson_chances,
    decided_chances,
    logistic_chances,
    mean_strengths,
    weight_of_draws,
)

SCALE = 400.0
INITIAL_RATING = 1500.0

_DRAWN = 2.2  # what a draw counts besides its margin, in FiveThirtyEight's program
_MOST = 10.0  # as many times as usual a win counts at most for its surprise


@macro
def _strengths(
    game: int, games: Games, players: Players, numbers: Floats, sums: Assessment
) -> None:
    """Take the mean ratings, and add the advantage of being at home."""
    mean_strengths(game, games, players, numbers, sums)
    if games.homes[game] >= 0:
        sums.strengths[games.game_starts[game] + games.homes[game]] += numbers[2]


@macro
def _chances(
    a: int, b: int, games: Games, numbers: Floats, sums: Assessment
) -> tuple[float, float]:
    """Predict by the logistic rule, or by Davidson's model."""
    return logistic_chances(a, b, numbers[0], numbers[3], sums)


@macro
def _update(game: int, games: Games, players: Players, numbers: Floats, sums: Assessment) -> bool:
    """Let all players of a side gain K (score - expected score), the mean over the other sides."""
    first, last = games.game_starts[game], games.game_starts[game + 1]
    for side in range(first, last):
        gain = numbers[1] * (sums.scored[side] - sums.expected[side]) / (last - first - 1)
        for row in range(games.side_starts[side], games.side_starts[side + 1]):
            players.state[games.players[row], 0] += gain
    return True


@macro
def margin_multiplier(margin: float, lead: float, autocorrelation: float) -> float:
    """Return as how many games of Elo a game counts by FiveThirtyEight, at a lead of the winner."""
    # That is ln(margin + 1) 2.2 / (2.2 + 0.001 lead), where 2.2 / 0.001 is `autocorrelation`; at
    # most ten times ln(margin + 1). A draw has a margin of 1 and 2.2 in place of the fraction.
    size = math.log(max(margin, 1.0) + 1.0)
    if margin == 0.0:
        return _DRAWN * size
    return size * min(_MOST, 1.0 / max(1.0 + lead / autocorrelation, 1.0 / _MOST))


@macro
def goals_multiplier(margin: float) -> float:
    """Return as how many games of Elo a game counts: 1, 3/2 by two goals, (11 + N) / 8 by more."""
    if margin < 2.0:
        return 1.0
    return 1.5 if margin < 3.0 else (11.0 + margin) / 8.0


@macro
def _update_by_margin(
    game: int, games: Games, players: Players, numbers: Floats, sums: Assessment
) -> bool:
    """Let all players of a side gain the same, by the margin over each other side."""
    first, last = games.game_starts[game], games.game_starts[game + 1]
    for side in range(first, last):
        gain = 0.0
        for other in range(first, last):
            if other == side:
                continue
            score = score_of(games, side, other)
            margin = (2.0 * score - 1.0) * (games.scores[side] - games.scores[other])
            if score == 0.5:
                margin = 0.0
            elif not margin > 0.0:  # a win that is none by the scores
                margin = 1.0
            lead = sums.strengths[side] - sums.strengths[other]
            expected, _ = logistic_chances(side, other, numbers[0], numbers[3], sums)
            if numbers[4] > 0.0:
                winners_lead = -lead if score == 0.0 else lead
                times = margin_multiplier(margin, winners_lead, numbers[4])
            else:
                times = goals_multiplier(margin)
            gain += times * (score - expected)
        gain *= numbers[1] / (last - first - 1)
        for row in range(games.side_starts[side], games.side_starts[side + 1]):
            players.state[games.players[row], 0] += gain
    return True


class Elo(System):
    """Elo; a side plays by its mean rating, and its players all gain the same."""

    # With a `draw_probability`, that of a draw between equals, draws are predicted by Davidson's
    # model: the expected score then grows more slowly with the lead, so that ratings and advantages
    # come out larger, see `Elo.remark`.

    name = "elo"
    parameters: Sequence[Parameter] = (
        Parameter("scale", SCALE, 1e-3, 1e6).as_factor(
            "Difference of ratings that predicts ten wins to one loss.", "points"
        ),
        Parameter("K", 32.0, 1e-6, 1e6).as_factor("Most that a game can move a rating.", "points"),
        Parameter("home_advantage", 0.0, -1e6, 1e6),
        Parameter("draw_probability", 0.0, 0.0, 0.99),
    )
    unit: Sequence[str] = ("scale", "K", "home_advantage")
    columns = (Column("rating"),)
    verbs = Verbs(_strengths, _chances, _update)
    tuned_first = ("K",)

    def newcomer(self, values: Values) -> Sequence[float]:
        """Return the rating of a player without a game."""
        return (INITIAL_RATING,)

    def numbers(self, values: Values) -> Sequence[float]:
        """Return spread, K, advantage at home, weight of draws, and autocorrelation or 0."""
        nu = weight_of_draws(values["draw_probability"])
        lead = values.get("autocorrelation", 0.0)
        spread = values["scale"] / math.log(10.0)
        return [spread, values["K"], values["home_advantage"], nu, lead]

    def outcomes(self, values: Values, games: Games, state: Floats, sums: Assessment) -> Chances:
        """Return how games of two sides will end, see `System.outcomes`."""
        chances, nu = decided_chances(sums), weight_of_draws(values["draw_probability"])
        if not nu:
            return chances
        lead = (sums.strengths[::2] - sums.strengths[1::2]) / (values["scale"] / math.log(10.0))
        draws = np.array([davidson_chances(x, nu)[1] for x in lead.tolist()])
        return chances._replace(wins=chances.expected - 0.5 * draws, draws=draws)

    def searched(self, values: Values) -> Ranges:
        """Return where a fit looks for a parameter, see `System.searched`."""
        scale = values["scale"]
        return {"home_advantage": (-scale, scale), "draw_probability": (1e-3, 0.99)}

    def sane(self, values: Values, minutes: float) -> Ranges:
        """Return the limits of a fit, see `System.sane`."""
        # With a K of half the scale, one win between new players makes the next one a matter of
        # three in four; with a thousandth, a hundred wins leave it open.
        return {
            "scale": (2.0 * values["K"], 1000.0 * values["K"]),
            "K": (values["scale"] / 1000.0, values["scale"] / 2.0),
            "autocorrelation": (values["scale"], values["scale"] / SCALE * 1e5),
        }

    def remark(self, values: Values) -> str:
        """Say that draws stretch the scale, see `System.remark`."""
        draws = values["draw_probability"]
        if not draws:
            return ""
        # The expected score (e^(x/2) + nu/2) / (e^(x/2) + e^(-x/2) + nu) of a lead x has the slope
        # 1 / (2 (2 + nu)) between equals, which is so large a share of 1/4, that without draws.
        share = 1.0 - draws
        return (
            f"draw_probability = {draws:.4g} stretches the scale of {self.name}: between equals 100"
            f" points are worth what {100.0 * share:.3g} are without draws, home_advantage included"
            f" (with scale = {values['scale'] * share:.4g} in place of {values['scale']:.4g} points"
            " keep their meaning)"
        )


def _without_factors(k: float) -> Sequence[Parameter]:
    """Return the parameters of Elo with another published K, none of them one of the ladder."""
    scale, _, *others = (replace(parameter, meaning="") for parameter in Elo.parameters)
    return (scale, Parameter("K", k, 1e-6, 1e6), *others)


class EloMargin(Elo):
    """Elo whose changes grow with the margin of victory, as FiveThirtyEight rates teams."""

    # Favourites win by more, which would otherwise raise their ratings again and again. A win by no
    # margin at all, as of whoever needed less time, counts as one by 1.

    name = "elo_margin"
    parameters = (*_without_factors(20.0), Parameter("autocorrelation", 2200.0, 1.0, 1e9))
    unit = (*Elo.unit, "autocorrelation")
    verbs = Elo.verbs._replace(update=_update_by_margin)
    needs_scores = True


class EloGoals(Elo):
    """Elo whose changes grow with the difference of goals, with the K of most tournaments."""

    name = "elo_goals"
    parameters = _without_factors(30.0)
    verbs = EloMargin.verbs
    needs_scores = True


ELO, ELO_MARGIN, ELO_GOALS = Elo(), EloMargin(), EloGoals()
