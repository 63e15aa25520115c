"""The `zonestats` model: whether the ratings of a population approach its latent skills."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import kernel, macro
from valmatch.models.curves import CurveModel, axes_of, rank_correlation
from valmatch.models.model import NO_FILES, Response, Responses, Table, amount, share
from valmatch.models.zonestats.factors import ZoneStatsFactors
from valmatch.ratings.registry import EVERY_PLAYER
from valmatch.ratings.zonestats import RatedGame, Rules, adjust, score_per_hour

ROUND = CONTESTS, LOG_LOSS, SKILL_LOG_LOSS, HITS, RATING_ERROR = range(5)
"""Columns of a round: sums over its contests, then the rating error at its end."""

LOG = np.dtype(
    [(name, "i8") for name in ("player", "team", "enabled")]
    + [(name, "f8") for name in ("score", "minutes", "rating", "adjustment", "score_per_hour")]
    + [(name, "f8") for name in ("rating_offset", "scale", "capped", "rank_after")]
)
"""Columns of the log: one row a player in a game, with the rating before it."""


class GameRules(NamedTuple):
    """The factors that the kernel needs, by their names."""

    rating: Rules  # of the rating system
    per_hour: bool  # whether scores per hour are compared
    joint: bool  # whether contests count by the time that both players were in the game at once
    initial_rating: float
    true_spread: float
    tie_chance: float
    game_minutes: float
    late_chance: float
    latest_join: float
    early_chance: float
    earliest_leave: float
    error_bound: float


class RandomNumbers(NamedTuple):
    """The random numbers of a replication with G games of m players."""

    skills: Floats  # (n_players,); standard normals
    picks: Floats  # (G, m); in [0, 1): who plays
    noise: Floats  # (G, m); standard exponentials by which score rates are divided
    joins: Floats  # (G, m); in [0, 1): when a player joins
    leaves: Floats  # (G, m); in [0, 1): when a player leaves
    ties: Floats  # (G,); in [0, 1): which games are ties


class Seats(NamedTuple):
    """Room for the m players of a game."""

    order: Ints  # (n_players,); all players; the first m of them play
    teams: Ints  # (m,), as all others
    scores: Floats
    rates: Floats
    minutes: Floats
    joins: Floats
    seats: Ints  # of those who are rated, of whom `game` has the rest
    players: Ints
    game: RatedGame


@macro
def _log_loss(lead: float, outcome: float) -> float:
    """Return the loss of the logistic prediction of a lead in units of the spread."""
    # It is -outcome ln p - (1 - outcome) ln(1 - p) with p = 1 / (1 + exp(-lead)), finite however
    # wrong the prediction.
    return max(lead, 0.0) + math.log1p(math.exp(-abs(lead))) - outcome * lead


@macro
def _score(rules: GameRules, draws: RandomNumbers, game: int, skills: Floats, seats: Seats) -> None:
    # The score per hour is exp(skill / true_spread) over a standard exponential, so that its
    # logarithm has Gumbel noise: of any two players, each is ahead with the logistic probability.
    tie = draws.ties[game] < rules.tie_chance
    for k in range(seats.teams.size):
        # A uniform number below a probability is, divided by it, uniform again.
        rest, join, leave = 1.0, draws.joins[game, k], draws.leaves[game, k]
        if join < rules.late_chance:
            rest = 1.0 - rules.latest_join * (join / rules.late_chance)
        seats.joins[k] = rules.game_minutes * (1.0 - rest)
        if leave < rules.early_chance:
            rest *= 1.0 - (1.0 - rules.earliest_leave) * (leave / rules.early_chance)
        # Rounding can make a share of the largest number below 1 a whole.
        minutes = rules.game_minutes * max(rest, 1e-12)
        lead = (skills[seats.order[k]] - rules.initial_rating) / rules.true_spread
        score = 0.0 if tie else math.exp(lead) / draws.noise[game, k] * minutes
        seats.minutes[k], seats.scores[k] = minutes, score
        seats.rates[k] = score_per_hour(score, minutes) if rules.per_hour else score


@macro
def _rated(seats: Seats, ratings: Floats, joint: bool) -> RatedGame:
    """Return the rated players of a game; when they joined only if that counts."""
    n, room = 0, seats.game
    for k in range(seats.teams.size):
        player = seats.order[k]
        if player < ratings.size:
            seats.seats[n], seats.players[n], room.sides[n] = k, player, seats.teams[k]
            room.ratings[n], room.rates[n] = ratings[player], seats.rates[k]
            room.minutes[n], room.joins[n] = seats.minutes[k], seats.joins[k]
            n += 1
    return RatedGame(
        room.ratings[:n],
        room.rates[:n],
        room.minutes[:n],
        room.joins[: n if joint else 0],
        room.sides[:n],
        room.offsets[:n],
        room.adjustments[:n],
    )


@macro
def _judge(rules: GameRules, skills: Floats, players: Ints, rated: RatedGame, sums: Floats) -> None:
    """Add the predictions of a game from the ratings before it, contest by contest, to `sums`."""
    for i in range(rated.sides.size):
        skill = skills[players[i]]
        for j in range(i + 1, rated.sides.size):
            if rated.sides[i] == rated.sides[j]:
                continue
            ahead = rated.rates[i] - rated.rates[j]
            outcome = 1.0 if ahead > 0.0 else 0.0 if ahead < 0.0 else 0.5
            lead = (rated.ratings[i] - rated.ratings[j]) / rules.rating.t
            true_lead = (skill - skills[players[j]]) / rules.true_spread
            sums[CONTESTS] += 1.0
            sums[LOG_LOSS] += _log_loss(lead, outcome)
            sums[SKILL_LOG_LOSS] += _log_loss(true_lead, outcome)
            if lead == 0.0:
                sums[HITS] += 0.5
            else:
                sums[HITS] += outcome if lead > 0.0 else 1.0 - outcome


@kernel
def play(
    rules: GameRules,
    draws: RandomNumbers,
    skills: Floats,
    ratings: Floats,
    errors: Floats,
    seats: Seats,
    rounds: Floats,
    log: Records,
) -> int:
    """Play and rate all games of a replication; return the game after which errors are settled."""
    # The first of the players are rated; an error is rating less skill, both less their means.
    n_games, n_seats, n_players = draws.ties.size, seats.teams.size, skills.size
    n, total, squares = ratings.size, 0.0, 0.0
    for player in range(n):
        ratings[player] = rules.initial_rating
        errors[player] = rules.initial_rating - skills[player]
        total += errors[player]
    for player in range(n):
        errors[player] -= total / n  # the games sum to zero, so that the means stay aligned
        squares += errors[player] * errors[player]
    limit = n * rules.error_bound**2
    settled = 0 if squares <= limit else 1
    for game in range(n_games):
        # Every set and order of players is equally likely (Fisher and Yates).
        order = seats.order
        for k in range(n_seats):
            other = k + int(draws.picks[game, k] * (n_players - k))
            player = order[other]
            order[other] = order[k]
            order[k] = player
        _score(rules, draws, game, skills, seats)
        rated = _rated(seats, ratings, rules.joint)
        current = rounds[game * n_seats // n_players]
        _judge(rules, skills, seats.players, rated, current)
        scale, gain = adjust(rules.rating, rated), 0.0
        for k in range(rated.sides.size):
            player, change = seats.players[k], rated.adjustments[k]
            gain += change * (2.0 * errors[player] + change)
            errors[player] += change
            ratings[player] += change
        squares += gain
        if log.shape[0] > 0:
            _note(seats, rated, scale, ratings, log[game])
        current[RATING_ERROR] = math.sqrt(max(squares, 0.0) / n)
        if squares > limit:
            settled = game + 2
    return settled


@macro
def _note(seats: Seats, rated: RatedGame, scale: float, ratings: Floats, rows: Records) -> None:
    """Write the players of a game to the log; of those who are not rated there is less to say."""
    for k in range(seats.teams.size):
        row = rows[k]
        row["player"], row["team"], row["enabled"] = seats.order[k], seats.teams[k], 0
        row["score"], row["minutes"] = seats.scores[k], seats.minutes[k]
        row["score_per_hour"] = score_per_hour(seats.scores[k], seats.minutes[k])
        row["rating"] = row["adjustment"] = row["rating_offset"] = np.nan
        row["scale"] = row["capped"] = row["rank_after"] = np.nan
    for k in range(rated.sides.size):
        row, rating = rows[seats.seats[k]], ratings[seats.players[k]]
        rank = 1
        for player in range(ratings.size):
            rank += ratings[player] > rating
        row["enabled"], row["rating"], row["rank_after"] = 1, rated.ratings[k], rank
        row["adjustment"], row["rating_offset"] = rated.adjustments[k], rated.offsets[k]
        row["scale"], row["capped"] = scale, scale < 1.0


SKILLS, PICKS, NOISE, JOINS, LEAVES, TIES = range(6)  # sources of randomness

RESPONSES = Responses(
    amount("rating_error", "points", "root mean square of rating minus latent skill at the end"),
    amount("mean_rating_error", "points", "rating error, mean over the game numbers"),
    amount(
        "games_to_converge",
        "games",
        "games per player until the rating error is within error_bound and stays; undefined if it"
        " is outside at the end",
    ),
    Response(
        "rank_correlation",
        "",
        "Spearman's correlation of ratings and skills at the end",
        (-1.0, 1.0),
    ),
    Response(
        "rating_slope", "", "points of rating per point of skill, by least squares at the end"
    ),
    amount("log_loss", "", "logarithmic loss of the predictions before each game, per contest"),
    amount("log_loss.late", "", "the same over the second half of the game numbers"),
    amount(
        "skill_log_loss.late",
        "",
        "the same if skills and true_spread were known, as good as it gets without ties",
    ),
    share("accuracy", "share of the contests won by the favourite; even ones count half"),
    share("accuracy.late", "the same over the second half of the game numbers"),
    amount("rating_spread", "points", "standard deviation of the ratings at the end"),
)

MEASURES = Responses(*(r for r in RESPONSES if r.name in ("rating_error", "log_loss")))
"""Of these there are curves: at the end of each round, and over it."""


class Course(NamedTuple):
    """What happened in a replication."""

    skills: Floats  # (n_players,); in points
    ratings: Floats  # (n_enabled,); at the end
    rounds: Floats  # (games_per_player, len(ROUND))
    settled: int  # the game after which the rating error stays within its bound; beyond the last
    measures: Floats  # (1, len(MEASURES), games_per_player)
    log: Records  # (games, seats) of `LOG`; no games where none was wanted


class ZoneStatsModel(CurveModel[RandomNumbers]):
    """A population with latent skills that plays games between teams drawn at random."""

    drawn_by = frozenset(("n_players", "games_per_player", "n_teams", "team_size"))
    responses = RESPONSES

    def __init__(self, factors: ZoneStatsFactors, files: Mapping[str, Path] = NO_FILES) -> None:
        self._factors = factors
        every_player = factors.cap == EVERY_PLAYER
        self._rules = GameRules(
            Rules(factors.T, factors.GAME_MULT, factors.MAX_GAME_LENGTH, every_player),
            factors.compare == "score_per_hour",
            factors.contest_time == "joint",
            *(getattr(factors, name) for name in GameRules._fields[3:]),
        )
        self._n_seats = factors.n_teams * factors.team_size
        self._n_games = -(-factors.n_players * factors.games_per_player // self._n_seats)
        points = max(factors.skill_std, factors.GAME_MULT * factors.game_minutes)
        sizes = {"points": points, "": max(1.0, points / factors.T)}
        self.axes = axes_of(("zonestats",), MEASURES, factors.games_per_player, sizes)

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

    def play(self, inputs: RandomNumbers, logged: bool = False) -> Course:
        """Play and rate all games."""
        factors, m = self._factors, self._n_seats
        skills = factors.initial_rating + factors.skill_std * inputs.skills
        teams, numbers = np.arange(m) // factors.team_size, np.empty((10, m))
        places, players, sides = np.empty((3, m), np.int64)
        room = RatedGame(*[*numbers[4:8], sides, *numbers[8:]])
        order = np.arange(factors.n_players)
        seats = Seats(*[order, teams, *numbers[:4], places, players, room])
        ratings, errors = np.empty((2, factors.n_enabled))
        rounds = np.zeros((factors.games_per_player, len(ROUND)))
        log = np.empty((self._n_games if logged else 0, m), LOG)
        settled = play(self._rules, inputs, skills, ratings, errors, seats, rounds, log)
        contests, loss, _, _, error = rounds.T
        # A round in which no rated players met has the loss of the last one before, at first that
        # of a coin.
        held = np.full(contests.size + 1, math.log(2.0))
        np.divide(loss, contests, out=held[:-1], where=contests > 0)
        last = np.maximum.accumulate(np.where(contests > 0, np.arange(contests.size), -1))
        return Course(skills, ratings, rounds, settled, np.array([[error, held[last]]]), log)

    def summary(self, course: Course) -> dict[str, float]:
        """Return the responses by name."""
        skills, rounds = course.skills[: self._factors.n_enabled], course.rounds
        skill, rating = skills - skills.mean(), course.ratings - course.ratings.mean()
        converged = course.settled * self._n_seats / self._factors.n_players
        every, late = rounds.sum(axis=0), rounds[rounds.shape[0] // 2 :].sum(axis=0)
        losses, late_losses = (
            (sums / sums[CONTESTS] if sums[CONTESTS] else np.full(len(ROUND), np.nan)).tolist()
            for sums in (every, late)
        )
        return {
            "rating_error": math.sqrt(float(np.mean((rating - skill) ** 2))),
            "mean_rating_error": float(rounds[:, RATING_ERROR].mean()),
            "games_to_converge": converged if course.settled <= self._n_games else math.nan,
            "rank_correlation": rank_correlation(course.ratings, skills),
            "rating_slope": float(rating @ skill) / float(skill @ skill),
            "log_loss": losses[LOG_LOSS],
            "log_loss.late": late_losses[LOG_LOSS],
            "skill_log_loss.late": late_losses[SKILL_LOG_LOSS],
            "accuracy": losses[HITS],
            "accuracy.late": late_losses[HITS],
            "rating_spread": float(course.ratings.std()),
        }

    def tables(self, inputs: RandomNumbers, course: Course) -> tuple[Table, Table]:
        """Return a row for each player, and one for each player in each game, as in game logs."""
        count = self._factors.n_players
        columns = {name: course.log[name].ravel() for name in LOG.names or ()}
        ratings = np.full(count, math.nan)  # who is not rated has none
        ratings[: course.ratings.size] = course.ratings
        players = {
            "player": np.arange(count),
            "skill": course.skills,
            "rating": ratings,
            "games": np.bincount(columns["player"], minlength=count),
        }
        games = {"game": np.repeat(np.arange(self._n_games), self._n_seats), **columns}
        return Table("players", players), Table("games", games, ("capped", "rank_after"))
