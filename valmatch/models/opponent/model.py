"""The `opponent` model: player 0 meets opponents of unknown skill, chosen by policies."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import kernel, variant
from valmatch.models import curves
from valmatch.models.curves import Prior
from valmatch.models.model import ANY, NO_FILES, Response, Responses, Table, Window, amount, share
from valmatch.models.opponent.factors import OpponentFactors
from valmatch.policies.knowledge import Knowledge, workspace
from valmatch.policies.registry import OPPONENT, Choose, function_of
from valmatch.ratings.trueskill import (
    draw_quality,
    draw_quality_normalised,
    true_draw_probability,
    update,
    update_drawn,
)

PERFORMANCES, CHOICES, ORDER = curves.VALUES + 1, curves.VALUES + 2, curves.VALUES + 3
"""Sources of randomness after those of the prior and of the skills."""

MEASURES = Responses(
    amount("true_draw_probability", "1/skill", "draw density of the two true skills (14)"),
    amount(
        "squared_error", "skill squared", "squared error of player 0's believed mean after the game"
    ),
    Response("skill_difference", "skill", "true skill of player 0 minus the opponent's", ANY),
    share("win_fraction", "share of the games won by player 0"),
    amount("expected_quality", "1/skill", "believed draw density q (5) before the game"),
    amount("normalised_quality", "", "q over that of known, equal skills, q~ (6)"),
    share("draw_fraction", "share of the games drawn (3)"),
)
"""What is measured of a game: the rows of `Course.measures`, of which responses are means."""

QUALITY = MEASURES.names.index("expected_quality")
BELIEFS: Final = ("mean", "variance", "opponent_mean", "opponent_variance")
"""Rows of `Course.beliefs`, each after the game."""


class SamplePath(NamedTuple):
    """The random inputs of a replication, common to all policies."""

    prior: Prior  # what the skills were drawn from
    skills: Floats  # (M + 1,); True skills in order of index
    performances: Floats  # (N, 2); standard normals of player 0 and of the opponent in each game
    choices: Floats  # (N,); in [0, 1): for the random policy
    order: Ints  # (M + 1,); all players in an order at random, by which ties may be broken


class Course(NamedTuple):
    """What happened under a policy; under several with an axis of policies in front."""

    opponents: Ints  # (N,); index of each game's opponent
    beliefs: Floats  # (len(BELIEFS), N)
    measures: Floats  # (len(MEASURES), N)


choose: Choose = function_of(OPPONENT["random"])
"""What `play_path` chooses opponents by; every compiled copy of it has the policy of its own."""


def play_path(known: Knowledge, start: Prior, noise: Floats, uniforms: Floats, out: Course) -> None:
    """Play N games of player 0, each against the opponent that the policy chooses."""
    means, variances, truths = known.means, known.variances, known.truths
    player, noise_variance, margin = known.player, known.noise_variance, known.draw_margin
    opponents, beliefs, measures = out
    for k in range(means.size):
        means[k], variances[k] = start.means[k], start.variances[k]
    deviation = math.sqrt(noise_variance)
    for game in range(known.n_games):
        j = choose(known, game, uniforms[game])
        mean_0, variance_0 = means[player], variances[player]
        mean_j, variance_j = means[j], variances[j]
        measures[4, game] = draw_quality(mean_0, variance_0, mean_j, variance_j, noise_variance)
        measures[5, game] = draw_quality_normalised(
            mean_0, variance_0, mean_j, variance_j, noise_variance
        )
        performance_0 = truths[player] + deviation * noise[game, 0]
        performance_j = truths[j] + deviation * noise[game, 1]
        won = performance_0 > performance_j
        drawn = abs(performance_0 - performance_j) < margin
        if drawn:
            means[player], variances[player], means[j], variances[j] = update_drawn(
                mean_0, variance_0, mean_j, variance_j, noise_variance, margin
            )
        else:
            winner, loser = (player, j) if won else (j, player)
            means[winner], variances[winner], means[loser], variances[loser] = update(
                means[winner],
                variances[winner],
                means[loser],
                variances[loser],
                noise_variance,
                known.as_printed,
                margin,
            )
        opponents[game] = j
        beliefs[0, game], beliefs[1, game] = means[player], variances[player]
        beliefs[2, game], beliefs[3, game] = means[j], variances[j]
        error = means[player] - truths[player]
        measures[0, game] = true_draw_probability(truths[player], truths[j], noise_variance)
        measures[1, game] = error * error
        measures[2, game] = truths[player] - truths[j]
        measures[3, game] = 1.0 if won and not drawn else 0.0
        measures[6, game] = 1.0 if drawn else 0.0


@cache
def path_by(policy: str) -> Callable[[Knowledge, Prior, Floats, Floats, Course], None]:
    """Return `play_path` compiled for a policy of `OPPONENT`."""
    return kernel(variant(play_path, policy, choose=function_of(OPPONENT[policy])))


WINDOWS = (100, 200)
"""After these games a window of the paper's discussion ends; the last ends with the last game."""


def windows(n_games: int) -> list[tuple[int, int]]:
    """Return the games after which each window starts and ends, from 0 to `n_games`."""
    return [*pairwise([0, *(edge for edge in WINDOWS if edge < n_games), n_games])]


def _responses(factors: OpponentFactors) -> Iterator[Response]:
    quality = MEASURES[QUALITY]
    for policy in factors.policies:
        yield replace(
            quality,
            name=f"{quality.name}.{policy}",
            meaning=f"sum of the {quality.meaning} over all games, the objective (7)",
            window=Window(policy, quality.name, "total"),
        )
        for measure in MEASURES:
            for low, high in windows(factors.n_games):
                games = f"{low + 1}-{high}"
                yield curves.windowed(measure, policy, games, f"mean over games {games}")


class OpponentModel(curves.CurveModel[SamplePath]):
    """The simulation study of section 4 of the paper, for any factors."""

    drawn_by = frozenset(("n_opponents", "n_games", *curves.PRIOR))

    def __init__(self, factors: OpponentFactors, files: Mapping[str, Path] = NO_FILES) -> None:
        self._factors = factors
        self.responses = Responses(*_responses(factors))
        skill = curves.spread(factors)
        density = true_draw_probability(0.0, 0.0, factors.noise_variance)
        sizes = {"": 1.0, "skill": skill, "skill squared": skill * skill, "1/skill": density}
        self.axes = curves.axes_of(factors.policies, MEASURES, factors.n_games, sizes)
        n_players = factors.n_opponents + 1
        self._beliefs, self._workspace = np.empty((2, n_players)), workspace(n_players)

    def draw(self, streams: Streams, replication: int) -> SamplePath:
        """Return prior, skills and performances; rank, beliefs and rules do not enter."""
        n_players, n_games = self._factors.n_opponents + 1, self._factors.n_games
        prior = curves.draw_prior(self._factors, n_players, streams, replication)
        return SamplePath(
            prior,
            curves.draw_values(prior, streams, replication),
            streams.stream(replication, PERFORMANCES).standard_normal((n_games, 2)),
            streams.stream(replication, CHOICES).random(n_games),
            np.argsort(streams.stream(replication, ORDER).random(n_players), kind="stable"),
        )

    def play(self, inputs: SamplePath, logged: bool = False) -> Course:
        """Play the games of each policy."""
        factors, count = self._factors, len(self._factors.policies)
        course = Course(
            np.empty((count, factors.n_games), np.int64),
            np.empty((count, len(BELIEFS), factors.n_games)),
            np.empty((count, len(MEASURES), factors.n_games)),
        )
        order = inputs.order if factors.ties == "random" else np.arange(inputs.skills.size)
        start = Prior(*(numbers[order] for numbers in curves.believed(factors, inputs.prior)))
        known = Knowledge(
            int(np.flatnonzero(order == self._ranked(inputs)[1])[0]),
            factors.n_games,
            self._beliefs[0],
            self._beliefs[1],
            inputs.skills[order],
            factors.noise_variance,
            factors.gamma,
            factors.update == "as_printed",
            self._workspace,
            factors.draw_margin,
            factors.kappa,
        )
        draws = inputs.performances, inputs.choices
        for k, policy in enumerate(factors.policies):
            path_by(policy)(known, start, *draws, Course(*(rows[k] for rows in course)))
        course.opponents[:] = order[course.opponents]
        return course

    def summary(self, course: Course) -> dict[str, float]:
        """Return the objective (7) and the mean of each measure over each window, by name."""
        edges = windows(self._factors.n_games)
        # Added up game by game.
        totals = [np.cumsum(course.measures[:, :, a:b], axis=2)[:, :, -1] for a, b in edges]
        objective = sum(total[:, QUALITY] for total in totals)
        means = np.stack([t / (b - a) for t, (a, b) in zip(totals, edges, strict=True)], axis=2)
        values = np.column_stack([objective, means.reshape(len(means), -1)])
        return dict(zip(self.responses.names, values.ravel().tolist(), strict=True))

    def _ranked(self, inputs: SamplePath) -> tuple[Ints, int]:
        """Return the players by rank, of equal values by index, and who is player 0."""
        by_skill, rank = self._factors.rank_by == "skill", self._factors.rank
        ranking = np.argsort(-(inputs.skills if by_skill else inputs.prior.means), kind="stable")
        index = int({"top": 1, "bottom": ranking.size}.get(str(rank), rank))
        return ranking, int(ranking[index - 1])

    def tables(self, inputs: SamplePath, course: Course) -> tuple[Table, Table]:
        """Return one row for each player, and one for each policy and game."""
        means, variances = inputs.prior
        number, (ranking, player) = np.arange(means.size), self._ranked(inputs)
        players = {
            "player": number,
            "rank": np.argsort(ranking) + 1,
            "skill_mean": means,
            "prior_mean": curves.believed(self._factors, inputs.prior).means,
            "prior_variance": variances,
            "skill": inputs.skills,
            "player_0": (number == player).astype(np.int64),
        }
        count, n_games = course.opponents.shape
        measures = {n: course.measures[:, k].ravel() for k, n in enumerate(MEASURES.names)}
        games: dict[str, NDArray[Any]] = {
            "policy": np.repeat(self._factors.policies, n_games),
            "game": np.tile(np.arange(1, n_games + 1), count),
            "opponent": course.opponents.ravel(),
            "win": measures.pop("win_fraction").astype(np.int64),
            "draw": measures.pop("draw_fraction").astype(np.int64),
            **{name: course.beliefs[:, k].ravel() for k, name in enumerate(BELIEFS)},
            **measures,
        }
        return Table("players", players), Table("games", games)
