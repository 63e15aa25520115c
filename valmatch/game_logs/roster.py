"""Players who play through a log under a rating system, and scores of its predictions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from valmatch.errors import InputError
from valmatch.game_logs.reading.tables import Names, time_text
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import macro
from valmatch.ratings.games import Assessment, Games, Players, add_scores, open_game, unassessed
from valmatch.ratings.matches import kernel_of
from valmatch.ratings.system import NO_VERBS, System
from valmatch.statistics.estimates import limits_of_difference, t_quantile
from valmatch.storage.results import ResultFiles

# Columns of a tally, one row of which adds up all games, the other those after the burn-in.
GAMES, DECIDED, CORRECT, LOSS, LOSS_SQUARED, BRIER, THREE_WAY, THREE_WAY_LOSS, FIRST_BIN = range(9)
TALLIES = ("all", "after_burn_in")

# The columns of a tally of which each score is the ratio.
MEASURES = {
    "log_loss": (LOSS, GAMES),
    "accuracy": (CORRECT, DECIDED),
    "brier_score": (BRIER, GAMES),
}

# The same of scores that a system has that knows draws.
OF_DRAWS = {"three_way_log_loss": (THREE_WAY_LOSS, THREE_WAY)}
_BINS = 10  # of the favourite's expected score, from 0.5 to 1
Z = 1.96  # standard errors to either end of an interval of 95 %
_LEAST = 1e-15  # a certain prediction that fails costs -ln of this, not infinity


def new_tally() -> Floats:
    """Return an empty tally."""
    return np.zeros((len(TALLIES), FIRST_BIN + 3 * _BINS))


@macro
def note_pair(
    tally: Floats, rows: int, expected: float, draw: float, score: float, weight: float
) -> float:
    """Note the prediction of one pair of sides; return its log loss."""
    # Shapes: `tally` (2, columns).
    if expected < 0.5:
        expected, score = 1.0 - expected, 1.0 - score
    # Of a system that knows draws: how likely the result was, with draws as results of their own.
    likely = draw
    if score == 1.0:
        likely = expected - 0.5 * draw
    elif score == 0.0:
        likely = 1.0 - expected - 0.5 * draw
    # Without a favourite a prediction is half right, whichever side is named first.
    observed = 0.5 if expected == 0.5 else score
    column = FIRST_BIN + 3 * min(int((expected - 0.5) * 2 * _BINS), _BINS - 1)
    risk = expected - score
    for row in range(rows):
        if draw == draw:
            tally[row, THREE_WAY] += weight
            tally[row, THREE_WAY_LOSS] += weight * -math.log(max(likely, _LEAST))
        if score != 0.5:
            tally[row, DECIDED] += weight
            tally[row, CORRECT] += weight * observed
        tally[row, BRIER] += weight * risk * risk
        tally[row, column] += weight
        tally[row, column + 1] += weight * expected
        tally[row, column + 2] += weight * observed
    upper = math.log(max(expected, _LEAST))
    lower = math.log(max(1.0 - expected, _LEAST))
    return -(score * upper + (1.0 - score) * lower)


@macro
def note_game(tally: Floats, rows: int, loss: float) -> None:
    """Note a game by the mean log loss of its pairs."""
    for row in range(rows):
        tally[row, GAMES] += 1.0
        tally[row, LOSS] += loss
        tally[row, LOSS_SQUARED] += loss * loss


@dataclass(frozen=True)
class CalibrationBin:
    """Predictions of about the same expected score, each from the favourite's side."""

    # low, high: limits of the expected score
    low: float
    high: float
    games: float  # weight of the predictions; a game of many sides spreads a weight of 1
    predicted: float  # mean expected score
    observed: float  # mean score

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the mean score."""
        n, share = self.games, self.observed
        centre = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
        half = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
        return centre - half, centre + half


@dataclass(frozen=True)
class Scores:
    """How well games were predicted; one of many sides counts as the mean over pairs of sides."""

    games: int  # number of games
    decided: float  # games that were not drawn
    accuracy: float | None  # share of these that the favourite won (no favourite: half)
    # mean of -(s ln p + (1 - s) ln(1 - p)), s the score (a draw is 0.5) and p the expected one
    log_loss: float | None
    log_loss_std_error: float | None  # by the spread over games; None below two games
    brier_score: float | None  # mean of (p - s)^2; None without a game
    calibration: tuple[CalibrationBin, ...]  # bins that hold a prediction
    # mean of -ln of the probability of the result (win, draw, loss); None without known draws
    three_way_log_loss: float | None = None


def scores(row: Floats) -> Scores:
    """Return what one row of a tally says."""
    sums, bins = row[:FIRST_BIN].tolist(), []

    for k, (weight, predicted, observed) in enumerate(row[FIRST_BIN:].reshape(-1, 3).tolist()):
        if weight:
            low, high = (round(0.5 + side / (2 * _BINS), 10) for side in (k, k + 1))
            bins.append(CalibrationBin(low, high, weight, predicted / weight, observed / weight))
    ratios = {
        name: sums[column] / sums[weight] if sums[weight] else None
        for name, (column, weight) in (MEASURES | OF_DRAWS).items()
    }
    std_error, n = None, sums[GAMES]
    if n > 1:
        variance = max(0.0, sums[LOSS_SQUARED] - sums[LOSS] ** 2 / n) / (n - 1)
        std_error = math.sqrt(variance / n)
    return Scores(
        games=int(n),
        decided=sums[DECIDED],
        log_loss_std_error=std_error,
        calibration=tuple(bins),
        **ratios,
    )


def scores_of(tally: Floats) -> dict[str, Scores]:
    """Return what the rows of a tally say."""
    return dict(zip(TALLIES, map(scores, tally), strict=True))


class Played(NamedTuple):
    """What came of some games, filled as they are played."""

    tally: Floats  # (2, columns) sums over predictions, see `new_tally`
    # before, after: (rows,) rating of each player before and after the game
    before: Floats
    after: Floats
    assessed: Assessment  # what the system worked out


# The least and the largest value of scores that have both; losses have no largest.
LIMITS = {"accuracy": (0.0, 1.0), "brier_score": (0.0, 1.0)}
_MOST = 50  # blocks: enough for an interval, and as long as they can be then
_FEWEST = 20  # of the same weight: with fewer whole days, an interval says too little
_DAY = 86400.0


@dataclass(frozen=True)
class Difference:
    """A mean score, or by how much it exceeds another; None where that is not known."""

    mean: float | None
    # ends of its 95% interval by blocks, cut by limits of the score; half of its width before
    ci_low: float | None
    ci_high: float | None
    half_width: float | None

    @property
    def arms(self) -> tuple[float, float] | None:
        """How far the interval reaches below and above the mean, where limits have cut it."""
        if self.mean is None or self.ci_low is None or self.ci_high is None:
            return None
        arms = self.mean - self.ci_low, self.ci_high - self.mean
        return arms if min(arms) < (self.half_width or 0.0) * (1.0 - 1e-6) - 1e-9 else None

    @property
    def above_zero(self) -> bool:
        """Whether all of the interval lies above 0."""
        return self.ci_low is not None and self.ci_low > 0.0


def blocks_of(games: Games, dated: bool) -> list[tuple[int, int]]:
    """Return the first and last game, exclusive, of equal blocks, of whole days if possible."""
    n = games.n_games
    ends = _about_equal(np.arange(1, n + 1), n)
    if dated and n:
        days = np.floor(games.times / _DAY)
        of_days = _about_equal(np.append(np.flatnonzero(np.diff(days)) + 1, n), n)
        sizes = np.diff(of_days, prepend=0)
        # Blocks of unequal size say as much of the spread as so many of the same size.
        if n * n >= _FEWEST * float((sizes.astype(np.float64) ** 2).sum()):
            ends = of_days
    return list(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True))


def _about_equal(ends: Ints, n: int) -> Ints:
    """Return which of the ends that blocks of n games may have leave them about equally large."""
    return np.unique(ends[np.searchsorted(ends, n * np.arange(1, _MOST + 1) / _MOST)])


def difference(measure: str, sums: Floats, others: Floats | None = None) -> Difference:
    """Estimate a mean score of blocks, or by how much it exceeds that of other predictions."""
    # Shapes: `sums`, `others` (blocks, columns). The interval is by differences between successive
    # blocks: what changes while ratings are learnt is no uncertainty of the mean (von Neumann,
    # "Distribution of the ratio of the mean square successive difference to the variance", 1941; of
    # n blocks such a variance has some 2 (n - 1) / 3 degrees of freedom).
    column, weight = (MEASURES | OF_DRAWS)[measure]
    weights = sums[:, weight]
    total, n = float(weights.sum()), len(sums)
    if not total or (others is not None and (others[:, weight] != weights).any()):
        return Difference(None, None, None, None)
    limits = LIMITS.get(measure, (0.0, math.inf))
    if others is not None:
        limits = limits_of_difference(limits)
    values = sums[:, column] - (0.0 if others is None else others[:, column])
    mean = math.fsum(values.tolist()) / total
    if n < 2:
        return Difference(mean, None, None, None)
    excess = values - mean * weights
    spread = math.sqrt(float((np.diff(excess) ** 2).sum()) / 2.0 * n / (n - 1))
    half = t_quantile(0.975, max(1.0, 2.0 * (n - 1) / 3.0)) * spread / total
    return Difference(mean, max(limits[0], mean - half), min(limits[1], mean + half), half)


def play(
    system: System,
    values: Mapping[str, float],
    games: Games,
    players: Players,
    burn_in: int,
    tally: Floats,
) -> Played:
    """Predict each game from what is known before it, then rate it."""
    kernel = kernel_of(_play_games, system.verbs, system.deviation if system.conservative else -1)
    before, after = np.empty((2, len(games.players)))
    played = Played(tally, before, after, unassessed(games))
    numbers = np.asarray(system.numbers(values), np.float64)
    end = kernel(0, games.n_games, games, players, burn_in, numbers, played)
    if end < games.n_games:
        starts = games.side_starts[games.game_starts[end] : games.game_starts[end + 1] + 1]
        sides = [games.players[lo:hi] for lo, hi in pairwise(starts.tolist())]
        raise InputError(
            f"{system.name}: math range error in a game of players with {system.columns[0].name}"
            f" {[players.state[side, 0].tolist() for side in sides]}: too far apart for this system"
        )
    return played


# In `_play_games`: the functions of a system, and the column by which it ranks (-1 for none).
strengths, chances, update = NO_VERBS
deviation = -1


def _play_games(
    begin: int,
    end: int,
    games: Games,
    players: Players,
    burn_in: int,
    numbers: Floats,
    played: Played,
) -> int:
    """Play the games begin..end-1; return the first that cannot be rated, `end` if all can."""
    assessed = played.assessed
    for game in range(begin, end):
        first, last = games.game_starts[game], games.game_starts[game + 1]
        lo, hi = games.side_starts[first], games.side_starts[last]
        rows = 2  # of the tally: after the burn-in of all players, else the first alone
        for row in range(lo, hi):
            played.before[row] = _shown(games.players[row], players, deviation)
            if players.games[games.players[row]] < burn_in:
                rows = 1
        strengths(game, games, players, numbers, assessed)
        open_game(game, games, assessed)
        weight, loss = 2.0 / ((last - first) * (last - first - 1)), 0.0
        for a in range(first, last):
            for b in range(a + 1, last):
                expected, draw = chances(a, b, games, numbers, assessed)
                score = add_scores(a, b, expected, games, assessed)
                loss += weight * note_pair(played.tally, rows, expected, draw, score, weight)
        note_game(played.tally, rows, loss)
        if not update(game, games, players, numbers, assessed):
            return game
        for row in range(lo, hi):
            played.after[row] = _shown(games.players[row], players, deviation)
            players.games[games.players[row]] += 1
    return end


@macro
def _shown(player: int, players: Players, deviation: int) -> float:
    """Return the rating by which a player is ranked."""
    mean: float = players.state[player, 0]
    return mean - 3.0 * players.state[player, deviation] if deviation >= 0 else mean


RATINGS = "ratings.csv"
# Columns of games that a side won, was not among the best of, or shared the first place of.
COUNTS = ("wins", "losses", "draws")
_WON, _LOST, _DRAWN = range(3)
LAST_GAME = "last_game"
CHANGES = "changes.csv"  # by how much ratings are higher than the earlier ones, in their order


def nobody_at_home(values: Mapping[str, float], at_home: bool, neutral: bool = False) -> str:
    """Say that an advantage of playing at home counts in no game; or nothing."""
    advantage = values.get("home_advantage", 0.0)
    if at_home or not advantage:
        return ""
    why = "all are on neutral ground" if neutral else "there are no columns home and away"
    return f"home_advantage = {advantage!r} counts in no game: {why}"


class RatedPlayer(NamedTuple):
    """A player of previous ratings, as a ``ratings.csv`` has them."""

    player: str  # the name
    state: Sequence[float]  # what the system keeps of a player
    games: int  # games rated before
    counts: Sequence[int]  # those of them by `COUNTS`, as far as that is known
    last: float  # time of the last; NaN if it is not known
    dated: bool  # whether that is a moment, in seconds since 1970


@dataclass(frozen=True)
class Ranking:
    """All rated players, the best first."""

    ranks: list[int]  # 1 for the best; equal ratings share a rank
    players: list[str]  # names; equal ratings stand by name
    ratings: list[float]  # ratings
    # games, wins, losses, draws: games rated, earlier ones included, and how they ended
    games: list[int]
    wins: list[int]
    losses: list[int]
    draws: list[int]
    last_game: list[str]  # time of the last game; all are empty where the log has no times
    # by how much the rating is higher than the earlier one; None for new players
    change: list[float | None]
    state: dict[str, list[float]]  # further columns of the system

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each player, the best first."""
        others = ("games", *COUNTS, LAST_GAME, "change")
        return {
            **{"rank": self.ranks, "player": self.players, "rating": self.ratings},
            **{name: getattr(self, name) for name in others},
            **self.state,
        }


def read_ranking(files: ResultFiles, system: System) -> Ranking:
    """Return the ranking that a folder holds."""
    more = [column.name for column in system.columns if column.name != "rating"]
    last = [LAST_GAME] if LAST_GAME in files.header(RATINGS) else []
    counts = ("games", *COUNTS)
    table = files.table(RATINGS, ("rank", "rating", *counts, *more), ("player", *last))
    players = table["player"]
    changes = [math.nan] * len(players)
    if files.has(CHANGES):
        changes = files.table(CHANGES, ("change",))["change"]
    return Ranking(
        ranks=list(map(int, table["rank"])),
        players=players,
        ratings=table["rating"],
        **{name: list(map(int, table[name])) for name in counts},
        last_game=table.get(LAST_GAME, [""] * len(players)),
        change=[None if math.isnan(x) else x for x in changes],
        state={name: table[name] for name in more},
    )


class Roster:
    """Players who play through a log under one system."""

    def __init__(
        self,
        system: System,
        values: Mapping[str, float],
        names: Names,
        known: Sequence[RatedPlayer],
        timed: bool = False,
    ) -> None:
        # system, values, names, known: as given
        self.system, self.values = system, values
        self.names, self.known = names, known
        self._timed = timed
        self._numbers = np.array([names.number(player.player) for player in known], np.int64)
        n = len(names.texts)
        state = np.tile(np.array(system.newcomer(values), np.float64), (n, 1))
        self._players = Players(state, np.zeros(n, np.int64))
        self._counts = np.zeros((n, len(COUNTS)), np.int64)
        self._last = np.full(n, np.nan)
        for number, player in zip(self._numbers.tolist(), known, strict=True):
            self._players.state[number] = player.state
            self._players.games[number] = player.games
            self._counts[number] = player.counts
            self._last[number] = player.last
        self._before = self.ratings()
        self.tally = new_tally()  # sums over predictions

    def restarted(self, values: Mapping[str, float]) -> "Roster":
        """Return the players as they were at the start, under other values of the parameters."""
        return Roster(self.system, values, self.names, self.known, self._timed)

    def play(self, games: Games, burn_in: int) -> Played:
        """Predict and rate the next games, at least one."""
        played = play(self.system, self.values, games, self._players, burn_in, self.tally)
        n_sides, sizes = np.diff(games.game_starts), np.diff(games.side_starts)
        best = np.maximum.reduceat(games.points, games.game_starts[:-1])
        is_best = games.points == np.repeat(best, n_sides)
        shared = np.repeat(np.add.reduceat(is_best, games.game_starts[:-1], dtype=int) > 1, n_sides)
        results = np.where(is_best, np.where(shared, _DRAWN, _WON), _LOST)
        cells = len(COUNTS) * games.players + np.repeat(results, sizes)
        np.add.at(self._counts.ravel(), cells, 1)
        times = np.repeat(np.repeat(games.times, n_sides), sizes)
        self._last[games.players] = times if self._timed else np.nan  # of the last of their games
        return played

    def ratings(self) -> Floats:
        """Return the (players,) ratings; NaN of who has not played nor was known before."""
        present = self._players.games > 0
        present[self._numbers] = True
        return np.where(present, self.system.shown(self._players.state), np.nan)

    def ranking(self, dated: bool = False) -> Ranking:
        """Rank the players who have played or were known before."""
        ratings = self.ratings()
        numbers = np.flatnonzero(~np.isnan(ratings))
        numbers = numbers[np.lexsort((self.names.ranks()[numbers], -ratings[numbers]))]
        shown: Floats = ratings[numbers]
        # The rank of a rating is one more than the number of higher ones.
        ranks = 1 + np.searchsorted(-shown, -shown, side="left")
        changes = (shown - self._before[numbers]).tolist()
        state = self._players.state[numbers]
        columns = enumerate(column.name for column in self.system.columns)
        return Ranking(
            ranks=ranks.tolist(),
            players=[self.names.texts[number] for number in numbers.tolist()],
            ratings=shown.tolist(),
            games=self._players.games[numbers].tolist(),
            **dict(zip(COUNTS, self._counts[numbers].T.tolist(), strict=True)),
            last_game=[time_text(value, dated) for value in self._last[numbers].tolist()],
            change=[None if math.isnan(x) else x for x in changes],
            state={name: state[:, k].tolist() for k, name in columns if name != "rating"},
        )
