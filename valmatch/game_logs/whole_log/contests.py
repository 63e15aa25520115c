"""The games of a log as the science of whole logs takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.options import TIME_UNITS, RankOptions
from valmatch.game_logs.reading.columns import GameFacts
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.whole_log.result import HOME, listed
from valmatch.inputs.arguments import DEVIATION
from valmatch.inputs.csv_reader import Dialect, read_rows, with_columns
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry.contests import Contests, games_of_sides, rows_of_sides
from valmatch.ratings.bradley_terry.rating import Anchors
from valmatch.ratings.games import Games
from valmatch.text.terminal import Note, shown

_DAY = 86_400.0
_FARTHEST = 1e9


class WeightedGames(NamedTuple):
    """The games of a log that weigh anything."""

    contests: Contests  # the games; players are numbered by name
    players: list[str]  # their names, in order
    features: list[str]  # what coefficients are called
    days: Ints | None  # (games,) the day of each, where players have ratings by day
    dated: bool  # whether days are those of the calendar, counted from 1970

    @property
    def most_ratings(self) -> int:
        """How many ratings there may be: of players, or of those of each game by day."""
        return len(self.players) if self.days is None else self.contests.players.size

    def day_cell(self, day: int) -> str | int:
        """Return a day as tables have it."""
        return str(np.datetime64(day, "D")) if self.dated else day


def weighted_games(
    log: GameLog, games: Games, facts: GameFacts, options: RankOptions
) -> WeightedGames:
    """Return the games of a log; those of weight 0 are as if absent."""
    weighty = facts.weights > 0.0
    if not weighty.any():
        raise InputError(f"{log.name}: holds no game that can be rated (all have weight 0)")
    sides = weighty[np.repeat(np.arange(games.n_games), np.diff(games.game_starts))]
    sizes = np.diff(games.side_starts)
    rows = np.repeat(sides, sizes)
    covariates = facts.covariates[rows]
    _check_covariates(log, covariates, options)
    ranks, names = log.players.ranks(), log.players.texts
    present, players = np.unique(ranks[games.players[rows]], return_inverse=True)
    contests = Contests(
        len(present),
        _starts(np.diff(games.game_starts)[weighty]),
        _starts(sizes[sides]),
        games.points[sides],
        players.ravel(),
        np.zeros((int(sides.sum()), 0)),
        facts.weights[weighty],
        _clusters(log, games, facts, options)[weighty],
    )
    features = [_mean_of_sides(contests, column) for column in covariates.T]
    coefficients = list(options.covariate)
    if options.home != "none":
        home = _mean_of_sides(contests, facts.homes[rows])
        if (home != home[contests.game_starts[:-1]][games_of_sides(contests)]).any():
            features, coefficients = [home, *features], [HOME, *coefficients]
        elif options.home == "fit":
            what = "no game has one side at home (allowed: a log with columns home and away)"
            raise InputError(f"{log.name}: {option('home')} fit: {what}")
    if features:
        contests = contests._replace(features=np.column_stack(features))
    days = None
    if options.system_of.paths:
        days = _days(log, games, options)[weighty].astype(np.int64)
    by_name = [names[k] for k in np.argsort(ranks)[present].tolist()]
    return WeightedGames(contests, by_name, coefficients, days, log.dated)


def _starts(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _mean_of_sides(contests: Contests, values: Floats) -> Floats:
    """Return the mean over the players of each side."""
    sums = np.bincount(rows_of_sides(contests), values, len(contests.points))
    means: Floats = sums / np.diff(contests.side_starts)
    return means


def _check_covariates(log: GameLog, covariates: Floats, options: RankOptions) -> None:
    """Refuse covariates that are the same everywhere."""
    columns = log.columns.names if log.columns.format.name != "long" else ()
    for k, name in enumerate(options.covariate):
        values = covariates[:, k]
        known = values[values != 0.0]
        if name in columns and f"{name}_a" not in columns and len(known) == len(values) // 2:
            values = known  # the difference stands at the first side, 0 at the second
        if len(np.unique(values)) < 2:
            what = f"{name} is the same in all games (allowed: what differs)"
            raise InputError(f"{log.name}: {option('covariate')}: {what}")


def _days(log: GameLog, games: Games, options: RankOptions) -> Floats:
    """Return the day of each game."""
    days = day_of(games.times, log.dated, options.time_unit)
    if np.abs(days).max() > _FARTHEST:
        raise InputError(f"{log.name}: time: beyond day {_FARTHEST:.0e} (allowed: {_FARTHEST:.0e})")
    return days


def day_of(times: Floats, dated: bool, unit: str) -> Floats:
    """Return the days of times: moments in seconds since 1970, or numbers in a unit."""
    days: Floats = np.floor(times / (_DAY if dated else TIME_UNITS[unit]))
    return days


def _clusters(log: GameLog, games: Games, facts: GameFacts, options: RankOptions) -> Ints:
    """Return the number of the cluster of each game."""
    if options.cluster_days is not None:
        days = _days(log, games, options)
        blocks = np.floor((days - days[facts.weights > 0.0].min()) / options.cluster_days)
        return np.unique(blocks, return_inverse=True)[1].ravel()
    if options.cluster:
        _, numbers = np.unique(facts.clusters, axis=0, return_inverse=True)
        return numbers.ravel()
    return np.arange(games.n_games)


# Files of anchors: players whose ratings are known, exactly or with a deviation.

FARTHEST = 1e6  # largest size of a rating in points, beyond all use


def read_anchors(path: Path, players: Mapping[str, int], warn: Callable[[str], None]) -> Anchors:
    """Read anchors; those who did not play are named and left out."""
    what = "anchors have the columns player, rating, and optionally deviation"
    choose = with_columns(("player", "rating"), ("deviation",), what=what)
    anchors: dict[str, tuple[float, float]] = {}
    for row in read_rows(path, choose, Dialect(trimmed=True, placed=True)):
        name = row.text("player")
        if name in anchors:
            raise row.wrong("player", f"{shown(name)} is there twice")
        rating, deviation = row.number_within("rating", -FARTHEST, FARTHEST), 0.0
        if cell := row.cells.get("deviation"):
            deviation = row.number_within("deviation", 0.0, DEVIATION[1])
            if 0.0 < deviation < DEVIATION[0]:
                allowed = f"0 for a rating that is known, or points >= {DEVIATION[0]:g}"
                raise row.wrong("deviation", f"{shown(cell)} (allowed: {allowed})")
        anchors[name] = rating, deviation
    absent = [name for name in anchors if name not in players]
    if len(absent) == len(anchors):
        raise InputError(f"{path}: none of its players has played")
    if absent:
        warn(Note(f"{path}: did not play, and left out: {listed(absent)}"))
    known = sorted((players[name], *of) for name, of in anchors.items() if name in players)
    numbers, ratings, deviations = zip(*known, strict=True)
    return Anchors(np.array(numbers), np.array(ratings, float), np.array(deviations, float))
