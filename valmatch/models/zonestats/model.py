"""The `zonestats` model: whether the ratings of a population approach its latent skills."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import announce_compilation
from valmatch.models.model import (
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
)
from valmatch.models.zonestats.factors import ZoneStatsFactors
from valmatch.models.zonestats.population import (
    LOG,
    ROUND,
    GameRules,
    RandomNumbers,
    new_seats,
    play,
)
from valmatch.ratings.zonestats_cap import EVERY_PLAYER

SKILLS, PICKS, NOISE, JOINS, LEAVES, TIES = range(6)
"""Sources of randomness."""

MEASURES = ("rating_error", "log_loss")

RESPONSES = Responses(
    Response(
        "rating_error",
        "points",
        "root mean square of rating minus latent skill at the end",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "mean_rating_error",
        "points",
        "rating error, mean over the game numbers",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "games_to_converge",
        "games",
        "games per player until the rating error is within error_bound and stays; undefined if it"
        " is outside at the end",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "rank_correlation",
        "",
        "Spearman's correlation of ratings and skills at the end",
        limits=(-1.0, 1.0),
    ),
    Response(
        "rating_slope", "", "points of rating per point of skill, by least squares at the end"
    ),
    Response(
        "log_loss",
        "",
        "logarithmic loss of the predictions before each game, per contest",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "log_loss.late",
        "",
        "the same over the second half of the game numbers",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "skill_log_loss.late",
        "",
        "the same if skills and true_spread were known, as good as it gets without ties",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "accuracy",
        "",
        "share of the contests won by the favourite; even ones count half",
        limits=SHARE,
    ),
    Response(
        "accuracy.late", "", "the same over the second half of the game numbers", limits=SHARE
    ),
    Response(
        "rating_spread",
        "points",
        "standard deviation of the ratings at the end",
        limits=NOT_NEGATIVE,
    ),
)


def rank_correlation(a: Floats, b: Floats) -> float:
    """Return Spearman's rank correlation, equal values sharing their mean rank.

    NaN if all values of `a` or of `b` are equal.
    """
    ranks = [_ranks(a), _ranks(b)]
    x, y = (rank - rank.mean() for rank in ranks)
    scale = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / scale if scale > 0 else math.nan


def _ranks(values: Floats) -> Floats:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse])


def _share(total: float, contests: float) -> float:
    """Return a total per contest, NaN without a contest."""
    return total / contests if contests else math.nan


def _per_contest(loss: Floats, contests: Floats) -> Floats:
    """Return the loss per contest of each round.

    A round in which no rated players met has that of the last one before, at first that of a coin.
    """
    held = np.full(contests.size + 1, math.log(2.0))
    np.divide(loss, contests, out=held[:-1], where=contests > 0)
    last = np.maximum.accumulate(np.where(contests > 0, np.arange(contests.size), -1))
    return np.asarray(held[last])


def _axes(factors: ZoneStatsFactors) -> Axes:
    """Return the curves with scales that follow the factors, so that any unit will do."""
    points = max(factors.skill_std, factors.GAME_MULT * factors.game_minutes)
    sizes = (points, max(1.0, points / factors.T))
    scales = [2.0 ** math.ceil(math.log2(size)) for size in sizes]
    return Axes(("zonestats",), MEASURES, factors.games_per_player, scales)


class ZoneStatsModel(Model[RandomNumbers]):
    """A population with latent skills that plays games between teams drawn at random."""

    drawn_by = frozenset(("n_players", "games_per_player", "n_teams", "team_size"))
    responses = RESPONSES

    def __init__(self, factors: ZoneStatsFactors, files: Mapping[str, Path] = NO_FILES) -> None:
        assert not files
        self._factors = factors
        self._rules = GameRules(
            factors.T,
            factors.GAME_MULT,
            factors.MAX_GAME_LENGTH,
            factors.initial_rating,
            factors.cap == EVERY_PLAYER,
            factors.compare == "score_per_hour",
            factors.contest_time == "joint",
            factors.true_spread,
            factors.tie_chance,
            factors.game_minutes,
            factors.late_chance,
            factors.latest_join,
            factors.early_chance,
            factors.earliest_leave,
            factors.error_bound,
        )
        self._n_seats = factors.n_teams * factors.team_size
        self._n_games = -(-factors.n_players * factors.games_per_player // self._n_seats)
        self.axes: Axes | None = _axes(factors)
        self._scales = np.array(self.axes.scales)[:, np.newaxis]
        self._seats, self._room = new_seats(factors.n_players, factors.n_teams, factors.team_size)
        self._errors, self._ratings = np.empty(factors.n_enabled), np.empty(factors.n_enabled)
        self._rounds = np.empty((factors.games_per_player, len(ROUND)))

    def draw(self, streams: Streams, replication: int) -> RandomNumbers:
        """Return the random numbers; neither ratings nor outcomes enter."""
        shape = self._n_games, self._n_seats
        return RandomNumbers(
            streams.stream(replication, SKILLS).standard_normal(self._factors.n_players),
            streams.stream(replication, PICKS).random(shape),
            streams.stream(replication, NOISE).standard_exponential(shape),
            streams.stream(replication, JOINS).random(shape),
            streams.stream(replication, LEAVES).random(shape),
            streams.stream(replication, TIES).random(self._n_games),
        )

    def run(self, inputs: RandomNumbers) -> Outcome:
        """Return the responses with the curves over the games of a player."""
        responses = self._play(inputs, self._log(0))
        contests, loss, _, _, error = self._rounds.T
        curves = np.array([[error, _per_contest(loss, contests)]]) / self._scales
        return Outcome(responses, curves)

    def record(self, inputs: RandomNumbers) -> Record:
        """Return the responses with every player and every game."""
        log = self._log(self._n_games)
        responses = self._play(inputs, log)
        return Record(responses, (self._players_table(inputs, log), self._games_table(log)))

    def _log(self, n_games: int) -> Floats:
        return np.empty((n_games, self._n_seats, len(LOG)))

    def _skills(self, draws: RandomNumbers) -> Floats:
        """Return the latent skills in points."""
        return self._factors.initial_rating + self._factors.skill_std * draws.skills

    def _play(self, draws: RandomNumbers, log: Floats) -> dict[str, float]:
        """Play all games; return the responses."""
        announce_compilation(play)
        skills = self._skills(draws)
        settled = play(
            self._rules,
            draws,
            skills,
            self._seats,
            self._room,
            self._errors,
            self._ratings,
            self._rounds,
            log,
        )
        skills = skills[: self._factors.n_enabled]
        skill, rating = skills - skills.mean(), self._ratings - self._ratings.mean()
        sums, late = (
            self._rounds.sum(axis=0),
            self._rounds[self._rounds.shape[0] // 2 :].sum(axis=0),
        )
        contests, loss, _, hits, _ = sums.tolist()
        late_contests, late_loss, late_skill_loss, late_hits, _ = late.tolist()
        converged = settled * self._n_seats / self._factors.n_players
        return {
            "rating_error": math.sqrt(float(np.mean((rating - skill) ** 2))),
            "mean_rating_error": float(self._rounds[:, -1].mean()),
            "games_to_converge": converged if settled <= self._n_games else math.nan,
            "rank_correlation": rank_correlation(self._ratings, skills),
            "rating_slope": float(rating @ skill) / float(skill @ skill),
            "log_loss": _share(loss, contests),
            "log_loss.late": _share(late_loss, late_contests),
            "skill_log_loss.late": _share(late_skill_loss, late_contests),
            "accuracy": _share(hits, contests),
            "accuracy.late": _share(late_hits, late_contests),
            "rating_spread": float(self._ratings.std()),
        }

    def _players_table(self, draws: RandomNumbers, log: Floats) -> Table:
        """Return one row for each player; who is not rated has no rating."""
        players = log[:, :, LOG.index("player")].astype(np.int64).ravel()
        ratings = np.full(self._factors.n_players, math.nan)
        ratings[: self._ratings.size] = self._ratings
        return Table(
            "players",
            {
                "player": np.arange(self._factors.n_players),
                "skill": self._skills(draws),
                "rating": ratings,
                "games": np.bincount(players, minlength=self._factors.n_players),
            },
        )

    def _games_table(self, log: Floats) -> Table:
        """Return one row for each player in each game, in the long format of game logs."""
        columns = dict(zip(LOG, log.reshape(-1, len(LOG)).T, strict=True))
        columns |= {n: columns[n].astype(np.int64) for n in ("player", "team", "enabled")}
        games = np.repeat(np.arange(self._n_games), self._n_seats)
        return Table("games", {"game": games, **columns}, whole=("capped", "rank_after"))
