"""The `opponent` model: player 0 meets opponents of unknown skill, chosen by policies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import announce_compilation, njit
from valmatch.model import Axes, Model, Outcome, Record, Response, Table, Window
from valmatch.models.opponent.factors import OpponentFactors
from valmatch.models.opponent.prior import Prior, draw_prior, player_of_rank, spread
from valmatch.models.opponent.sample_path import BELIEFS, MEASURES, Policy, play_path
from valmatch.policies.knowledge_gradient import workspace
from valmatch.ratings.trueskill import true_draw_probability
from valmatch.streams import Streams

__all__ = ["OpponentModel", "SamplePath", "window_edges"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

SKILLS, PERFORMANCES, CHOICES = 2, 3, 4
"""Sources of randomness of a sample path, after those of the prior."""

WINDOWS = (100, 200)
"""After these games a window of the paper's discussion ends; the last ends with the last game."""

WIN, QUALITY = MEASURES.index("win_fraction"), MEASURES.index("expected_quality")

MEANINGS = {
    "true_draw_probability": ("1/skill", "draw density of the two true skills (14)"),
    "squared_error": ("skill squared", "squared error of player 0's believed mean after the game"),
    "skill_difference": ("skill", "true skill of player 0 minus the opponent's"),
    "win_fraction": ("", "share of the games won by player 0"),
    "expected_quality": ("1/skill", "believed draw density q (5) before the game"),
}


class SamplePath(NamedTuple):
    """The random inputs of a replication, common to all policies.

    Attributes
    ----------
    prior : what the skills were drawn from
    skills : (M + 1,) float64, true skills in order of index
    performances : (N, 2) float64, standard normals of player 0 and of the opponent in each game
    choices : (N,) float64 in [0, 1), for the random policy
    """

    prior: Prior
    skills: Floats
    performances: Floats
    choices: Floats


class Play(NamedTuple):
    """What happened under each policy.

    Attributes
    ----------
    opponents : (policies, N) int64
    beliefs : (policies, len(BELIEFS), N) float64
    measures : (policies, len(MEASURES), N) float64
    """

    opponents: Whole
    beliefs: Floats
    measures: Floats


def window_edges(n_games: int) -> Whole:
    """Return the games after which windows start and end, from 0 to `n_games`."""
    return np.array([0, *(edge for edge in WINDOWS if edge < n_games), n_games])


def _responses(policies: Sequence[str], n_games: int) -> list[Response]:
    """Return the responses in the order of `_summarize`."""
    edges = window_edges(n_games).tolist()
    games = [f"{low + 1}-{high}" for low, high in pairwise(edges)]
    unit, meaning = MEANINGS["expected_quality"]
    responses = []
    for policy in policies:
        window = Window(policy, "expected_quality", "total")
        text = f"sum of the {meaning} over all games, the objective (7)"
        responses.append(Response(f"expected_quality.{policy}", unit, text, window=window))
        for measure in MEASURES:
            unit, meaning = MEANINGS[measure]
            responses += [
                Response(
                    f"{measure}.{policy}.{span}",
                    unit,
                    f"{meaning}, mean over games {span}",
                    window=Window(policy, measure, span),
                )
                for span in games
            ]
    return responses


def _axes(factors: OpponentFactors) -> Axes:
    """Return the curves with scales that follow the unit of skill, so that any unit will do."""
    skill = spread(factors)
    density = true_draw_probability(0.0, 0.0, factors.noise_variance)
    sizes = {
        "true_draw_probability": density,
        "squared_error": skill * skill,
        "skill_difference": skill,
        "win_fraction": 1.0,
        "expected_quality": density,
    }
    scales = [2.0 ** math.ceil(math.log2(sizes[measure])) for measure in MEASURES]
    return Axes(factors.policies, MEASURES, factors.n_games, scales)


class OpponentModel(Model):
    """The simulation study of section 4 of the paper, for any factors.

    Parameters
    ----------
    factors : OpponentFactors
        The factors.
    arrivals : None
        This model takes no arrivals.
    """

    drawn_by = frozenset(
        (
            "n_opponents",
            "n_games",
            "prior_mean_variance",
            "prior_variance_range",
            "prior_means",
            "prior_variances",
        )
    )

    def __init__(self, factors: OpponentFactors, arrivals: Path | None = None) -> None:
        assert arrivals is None
        self._factors = factors
        self._policies = [Policy[name.upper()] for name in factors.policies]
        self._edges = window_edges(factors.n_games)
        self.responses: Sequence[Response] = _responses(factors.policies, factors.n_games)
        self.axes: Axes | None = _axes(factors)
        self._scales = np.array(self.axes.scales)[:, np.newaxis]
        n_players = factors.n_opponents + 1
        self._means, self._variances = np.empty(n_players), np.empty(n_players)
        self._workspace = workspace(n_players)

    def draw(self, streams: Streams, replication: int) -> SamplePath:
        """Return prior, skills and performances; rank, beliefs and rules do not enter."""
        prior = draw_prior(self._factors, streams)
        n_games = self._factors.n_games
        normals = streams.stream(replication, SKILLS).standard_normal(prior.means.size)
        return SamplePath(
            prior,
            prior.means + np.sqrt(prior.variances) * normals,
            streams.stream(replication, PERFORMANCES).standard_normal((n_games, 2)),
            streams.stream(replication, CHOICES).random(n_games),
        )

    def run(self, inputs: SamplePath) -> Outcome:
        """Return objective, means over windows and curves of all policies."""
        measures = self._play(inputs).measures
        return Outcome(self._summary(measures), measures / self._scales)

    def record(self, inputs: SamplePath) -> Record:
        """Return the responses with every player and every game."""
        play = self._play(inputs)
        tables = (self._players_table(inputs), self._games_table(play))
        return Record(self._summary(play.measures), tables)

    def _believed_means(self, prior: Prior) -> Floats:
        """Return the means that are believed before the first game."""
        return prior.means if self._factors.prior == "informative" else np.zeros(prior.means.size)

    def _play(self, inputs: SamplePath) -> Play:
        """Play the games of each policy."""
        factors, count = self._factors, len(self._policies)
        play = Play(
            np.empty((count, factors.n_games), np.int64),
            np.empty((count, len(BELIEFS), factors.n_games)),
            np.empty((count, len(MEASURES), factors.n_games)),
        )
        player = player_of_rank(inputs.prior.means, factors.rank)
        believed = self._believed_means(inputs.prior)
        announce_compilation(play_path)
        for k, policy in enumerate(self._policies):
            play_path(
                int(policy),
                player,
                believed,
                inputs.prior.variances,
                inputs.skills,
                factors.noise_variance,
                factors.gamma,
                factors.update == "as_printed",
                inputs.performances,
                inputs.choices,
                self._means,
                self._variances,
                self._workspace,
                play.opponents[k],
                play.beliefs[k],
                play.measures[k],
            )
        return play

    def _summary(self, measures: Floats) -> Floats:
        """Return the responses."""
        out = np.empty(len(self.responses))
        _summarize(measures, self._edges, QUALITY, out)
        return out

    def _players_table(self, inputs: SamplePath) -> Table:
        """Return one row for each player."""
        means, variances = inputs.prior
        ranks = [player_of_rank(means, k) for k in range(1, means.size + 1)]
        return Table(
            "players",
            {
                "player": range(means.size),
                "rank": [ranks.index(player) + 1 for player in range(means.size)],
                "skill_mean": means.tolist(),
                "prior_mean": self._believed_means(inputs.prior).tolist(),
                "prior_variance": variances.tolist(),
                "skill": inputs.skills.tolist(),
            },
        )

    def _games_table(self, play: Play) -> Table:
        """Return one row for each policy and game; beliefs are those after the game."""
        count, n_games = play.opponents.shape
        columns = {
            "policy": [name for name in self._factors.policies for _ in range(n_games)],
            "game": list(range(1, n_games + 1)) * count,
            "opponent": play.opponents.ravel().tolist(),
            "win": play.measures[:, WIN].astype(np.int64).ravel().tolist(),
        }
        for k, name in enumerate(BELIEFS):
            columns[name] = play.beliefs[:, k].ravel().tolist()
        for k, name in enumerate(MEASURES):
            if k != WIN:
                columns[name] = play.measures[:, k].ravel().tolist()
        return Table("games", columns)


@njit
def _summarize(measures: Floats, edges: Whole, quality: int, out: Floats) -> None:
    """Write, policy by policy, the objective (7) and the mean of each measure over each window."""
    row = 0
    for policy in range(measures.shape[0]):
        objective = row
        out[objective] = 0.0
        row += 1
        for measure in range(measures.shape[1]):
            for window in range(edges.size - 1):
                low, high = edges[window], edges[window + 1]
                total = 0.0
                for game in range(low, high):
                    total += measures[policy, measure, game]
                out[row] = total / (high - low)
                row += 1
                if measure == quality:
                    out[objective] += total
