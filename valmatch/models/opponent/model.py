"""The `opponent` model: player 0 meets opponents of unknown skill, chosen by policies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import announce_compilation, njit, unallocating, variant
from valmatch.models.curves import Prior, believed_means, draw_prior, spread
from valmatch.models.model import (
    ANY,
    NO_FILES,
    NOT_NEGATIVE,
    SHARE,
    Axes,
    Model,
    Outcome,
    Record,
    Response,
    Responses,
    Table,
    Window,
)
from valmatch.models.opponent.factors import OpponentFactors
from valmatch.policies.knowledge import Knowledge, workspace
from valmatch.policies.registry import OPPONENT, Choose, function_of
from valmatch.ratings.trueskill import (
    draw_quality,
    draw_quality_normalised,
    true_draw_probability,
    update,
)
from valmatch.ratings.trueskill_draws import update_drawn

# The choice of player 0 by rank.


def player_of_rank(values: Floats, rank: int | str) -> int:
    """Return the index of the player of this rank; equal values rank by index.

    Shapes: `values` (M + 1,).
    """
    place = {"top": 1, "bottom": values.size}.get(rank, rank) if isinstance(rank, str) else rank
    return int(np.argsort(-values, kind="stable")[int(place) - 1])


# Kernels that play one sample path of games, one for each policy.

MEASURES: Final = (
    "true_draw_probability",  # (14) of the game
    "squared_error",  # (mu_0 - s_0)^2 of the belief after the game
    "skill_difference",  # s_0 - s_opponent
    "win_fraction",  # 1 if player 0 won, else 0
    "expected_quality",  # q (5) of the beliefs before the game, the term of the objective (7)
    "normalised_quality",  # q~ (6) of the beliefs before the game
    "draw_fraction",  # 1 if the game was drawn (3), else 0
)
"""Rows of the kernel's `measures`."""

BELIEFS: Final = ("mean", "variance", "opponent_mean", "opponent_variance")
"""Rows of the kernel's `beliefs`, each after the game."""


class Start(NamedTuple):
    """The beliefs about all players before the first game."""

    # means, variances: (M + 1,) float64
    means: Floats
    variances: Floats


class Draws(NamedTuple):
    """The random numbers of a path, the same for every policy."""

    noise: Floats  # (N, 2) standard normals: per game, player 0's and the chosen opponent's
    uniforms: Floats  # (N,) draws in [0, 1), for the random policy


class Trajectory(NamedTuple):
    """What happened along a path."""

    opponents: NDArray[np.int64]  # (N,) int64, index of each game's opponent
    beliefs: Floats  # (4, N) float64, rows as in `BELIEFS`
    measures: Floats  # (7, N) float64, rows as in `MEASURES`


PathKernel: TypeAlias = Callable[[Knowledge, Start, Draws, Trajectory], None]

choose: Choose = function_of(OPPONENT["random"])
"""What `play_path` chooses opponents by; every compiled copy of it has the policy of its own."""


def play_path(known: Knowledge, start: Start, draws: Draws, out: Trajectory) -> None:
    """Play N games of player 0, each against the opponent that the policy chooses."""
    means, variances, truths = known.means, known.variances, known.truths
    player, noise_variance, margin = known.player, known.noise_variance, known.draw_margin
    noise, uniforms = draws
    opponents, beliefs, measures = out
    for k in range(means.size):
        means[k] = start.means[k]
        variances[k] = start.variances[k]
    deviation = math.sqrt(noise_variance)
    for game in range(known.n_games):
        j = choose(known, game, uniforms[game])
        mean_0, variance_0, mean_j, variance_j = (
            means[player],
            variances[player],
            means[j],
            variances[j],
        )
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
        beliefs[0, game] = means[player]
        beliefs[1, game] = variances[player]
        beliefs[2, game] = means[j]
        beliefs[3, game] = variances[j]
        error = means[player] - truths[player]
        measures[0, game] = true_draw_probability(truths[player], truths[j], noise_variance)
        measures[1, game] = error * error
        measures[2, game] = truths[player] - truths[j]
        measures[3, game] = 1.0 if won and not drawn else 0.0
        measures[6, game] = 1.0 if drawn else 0.0


@cache
def path_by(policy: str) -> PathKernel:
    """Return `play_path` compiled for a policy of `OPPONENT`."""
    decision = OPPONENT[policy]
    return unallocating(variant(play_path, policy, choose=function_of(decision)))


SKILLS, PERFORMANCES, CHOICES, ORDER = 2, 3, 4, 5
"""Sources of randomness after those of the prior."""

WINDOWS = (100, 200)
"""After these games a window of the paper's discussion ends; the last ends with the last game."""

WIN, DRAW = MEASURES.index("win_fraction"), MEASURES.index("draw_fraction")
QUALITY = MEASURES.index("expected_quality")

TOTAL = "total"  # the window of all games, whose values are summed up

LIMITS = {
    "skill_difference": ANY,
    "win_fraction": SHARE,
    "draw_fraction": SHARE,
}
"""Limits of measures; those of all others are `NOT_NEGATIVE`."""

MEANINGS = {
    "true_draw_probability": ("1/skill", "draw density of the two true skills (14)"),
    "squared_error": ("skill squared", "squared error of player 0's believed mean after the game"),
    "skill_difference": ("skill", "true skill of player 0 minus the opponent's"),
    "win_fraction": ("", "share of the games won by player 0"),
    "expected_quality": ("1/skill", "believed draw density q (5) before the game"),
    "normalised_quality": ("", "q over that of known, equal skills, q~ (6)"),
    "draw_fraction": ("", "share of the games drawn (3)"),
}


class SamplePath(NamedTuple):
    """The random inputs of a replication, common to all policies."""

    prior: Prior  # what the skills were drawn from
    skills: Floats  # (M + 1,); True skills in order of index
    # (N, 2) float64, standard normals of player 0 and of the opponent in each game
    performances: Floats
    choices: Floats  # (N,); in [0, 1): for the random policy
    order: Ints  # (M + 1,); all players in an order at random, by which ties may be broken


class Play(NamedTuple):
    """What happened under each policy."""

    opponents: Ints  # (policies, N)
    beliefs: Floats  # (policies, len(BELIEFS), N) float64
    measures: Floats  # (policies, len(MEASURES), N) float64


def window_edges(n_games: int) -> Ints:
    """Return the games after which windows start and end, from 0 to `n_games`."""
    return np.array([0, *(edge for edge in WINDOWS if edge < n_games), n_games])


def _spans(n_games: int) -> list[str]:
    """Return the windows in words, such as "1-100"."""
    return [f"{low + 1}-{high}" for low, high in pairwise(window_edges(n_games).tolist())]


def _responses(policies: Sequence[str], n_games: int) -> Responses:
    """Return the responses: of each policy the objective, then each measure in each window."""
    responses = []
    for policy in policies:
        unit, meaning = MEANINGS["expected_quality"]
        window = Window(policy, "expected_quality", TOTAL)
        text = f"sum of the {meaning} over all games, the objective (7)"
        responses.append(
            Response(f"expected_quality.{policy}", unit, text, window=window, limits=NOT_NEGATIVE),
        )
        for measure in MEASURES:
            unit, meaning = MEANINGS[measure]
            responses += [
                Response(
                    f"{measure}.{policy}.{span}",
                    unit,
                    f"{meaning}, mean over games {span}",
                    window=Window(policy, measure, span),
                    limits=LIMITS.get(measure, NOT_NEGATIVE),
                )
                for span in _spans(n_games)
            ]
    return Responses(*responses)


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
        "normalised_quality": 1.0,
        "draw_fraction": 1.0,
    }
    scales = [2.0 ** math.ceil(math.log2(sizes[measure])) for measure in MEASURES]
    return Axes(factors.policies, MEASURES, factors.n_games, scales)


class OpponentModel(Model[SamplePath]):
    """The simulation study of section 4 of the paper, for any factors."""

    drawn_by = frozenset(
        (
            "n_opponents",
            "n_games",
            "prior_mean_variance",
            "prior_variance_range",
            "prior_means",
            "prior_variances",
            "prior_draw",
        )
    )

    def __init__(self, factors: OpponentFactors, files: Mapping[str, Path] = NO_FILES) -> None:
        assert not files
        self._factors = factors
        self._edges = window_edges(factors.n_games)
        self.responses = _responses(factors.policies, factors.n_games)
        self._places = {r.name: self._place(r.window) for r in self.responses if r.window}
        self.axes: Axes | None = _axes(factors)
        self._scales = np.array(self.axes.scales)[:, np.newaxis]
        n_players = factors.n_opponents + 1
        self._means, self._variances = np.empty(n_players), np.empty(n_players)
        self._workspace = workspace(n_players)

    def draw(self, streams: Streams, replication: int) -> SamplePath:
        """Return prior, skills and performances; rank, beliefs and rules do not enter."""
        n_players, n_games = self._factors.n_opponents + 1, self._factors.n_games
        prior = draw_prior(self._factors, n_players, streams, replication)
        normals = streams.stream(replication, SKILLS).standard_normal(prior.means.size)
        return SamplePath(
            prior,
            prior.means + np.sqrt(prior.variances) * normals,
            streams.stream(replication, PERFORMANCES).standard_normal((n_games, 2)),
            streams.stream(replication, CHOICES).random(n_games),
            np.argsort(streams.stream(replication, ORDER).random(prior.means.size), kind="stable"),
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

    def _ranked(self, inputs: SamplePath) -> Floats:
        """Return what ranks go by."""
        return inputs.skills if self._factors.rank_by == "skill" else inputs.prior.means

    def _play(self, inputs: SamplePath) -> Play:
        """Play the games of each policy."""
        factors, count = self._factors, len(self._factors.policies)
        play = Play(
            np.empty((count, factors.n_games), np.int64),
            np.empty((count, len(BELIEFS), factors.n_games)),
            np.empty((count, len(MEASURES), factors.n_games)),
        )
        player = player_of_rank(self._ranked(inputs), factors.rank)
        order = inputs.order if factors.ties == "random" else np.arange(inputs.skills.size)
        start = Start(
            believed_means(self._factors, inputs.prior)[order], inputs.prior.variances[order]
        )
        draws = Draws(inputs.performances, inputs.choices)
        known = Knowledge(
            int(np.flatnonzero(order == player)[0]),
            factors.n_games,
            self._means,
            self._variances,
            inputs.skills[order],
            factors.noise_variance,
            factors.gamma,
            factors.update == "as_printed",
            self._workspace,
            factors.draw_margin,
            factors.kappa,
        )
        for k, policy in enumerate(factors.policies):
            trajectory = Trajectory(play.opponents[k], play.beliefs[k], play.measures[k])
            play_path = path_by(policy)
            announce_compilation(play_path)
            play_path(known, start, draws, trajectory)
        play.opponents[:] = order[play.opponents]
        return play

    def _summary(self, measures: Floats) -> dict[str, float]:
        """Return the responses by name."""
        out = np.empty(len(self._places))
        _summarize(measures, self._edges, QUALITY, out)
        return {name: out[place] for name, place in self._places.items()}

    def _place(self, window: Window) -> int:
        """Return where `_summarize` writes a sum or mean."""
        spans = _spans(self._factors.n_games)
        first = self._factors.policies.index(window.policy) * (1 + len(MEASURES) * len(spans))
        if window.games == TOTAL:
            return first
        return first + 1 + MEASURES.index(window.measure) * len(spans) + spans.index(window.games)

    def _players_table(self, inputs: SamplePath) -> Table:
        """Return one row for each player."""
        means, variances = inputs.prior
        ranked = self._ranked(inputs)
        ranks = [player_of_rank(ranked, k) for k in range(1, means.size + 1)]
        zero = player_of_rank(ranked, self._factors.rank)
        return Table(
            "players",
            {
                "player": np.arange(means.size),
                "rank": [ranks.index(player) + 1 for player in range(means.size)],
                "skill_mean": means,
                "prior_mean": believed_means(self._factors, inputs.prior),
                "prior_variance": variances,
                "skill": inputs.skills,
                "player_0": [int(player == zero) for player in range(means.size)],
            },
        )

    def _games_table(self, play: Play) -> Table:
        """Return one row for each policy and game; beliefs are those after the game."""
        count, n_games = play.opponents.shape
        columns: dict[str, NDArray[Any]] = {
            "policy": np.repeat(self._factors.policies, n_games),
            "game": np.tile(np.arange(1, n_games + 1), count),
            "opponent": play.opponents.ravel(),
            "win": play.measures[:, WIN].astype(np.int64).ravel(),
            "draw": play.measures[:, DRAW].astype(np.int64).ravel(),
        }
        for k, name in enumerate(BELIEFS):
            columns[name] = play.beliefs[:, k].ravel()
        for k, name in enumerate(MEASURES):
            if k not in (WIN, DRAW):
                columns[name] = play.measures[:, k].ravel()
        return Table("games", columns)


@njit
def _summarize(measures: Floats, edges: Ints, quality: int, out: Floats) -> None:
    """Write, policy by policy, the objective (7) and the mean of each measure over each window.

    Where each of them stands, `OpponentModel._place` knows.
    """
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
