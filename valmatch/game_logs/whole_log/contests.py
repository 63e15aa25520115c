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
from valmatch.game_logs.whole_log.result import HOME
from valmatch.inputs.arguments import DEVIATION
from valmatch.inputs.csv_reader import Dialect, read_rows, with_columns
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry.contests import Contests, games_of_sides, rows_of_sides
from valmatch.ratings.bradley_terry.estimating import Anchors
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
    _check_covariates(log, facts.covariates[rows], options)
    numbers, players = _by_name(log, games.players[rows])
    bare = Contests(
        len(players),
        _starts(np.diff(games.game_starts)[weighty]),
        _starts(sizes[sides]),
        games.points[sides],
        numbers,
        np.zeros((int(sides.sum()), 0)),
        facts.weights[weighty],
        _clusters(log, games, facts, options)[weighty],
    )
    features, names = [], []
    home = _mean_of_sides(bare, facts.homes[rows])
    if options.home != "none":
        if _differs(bare, home):
            features.append(home)
            names.append(HOME)
        elif options.home == "fit":
            what = "no game has one side at home (allowed: a log with columns home and away)"
            raise InputError(f"{log.name}: {option('home')} fit: {what}")
    for k, name in enumerate(options.covariate):
        features.append(_mean_of_sides(bare, facts.covariates[rows, k]))
        names.append(name)
    if features:
        bare = bare._replace(features=np.column_stack(features))
    days = None
    if options.system_of.paths:
        days = _days(log, games, options)[weighty].astype(np.int64)
    return WeightedGames(bare, players, names, days, log.dated)


def _starts(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _by_name(log: GameLog, numbers: Ints) -> tuple[Ints, list[str]]:
    """Return players numbered by name, and their names."""
    ranks, players = log.players.ranks(), log.players.texts
    present, by_name = np.unique(ranks[numbers], return_inverse=True)
    return by_name.ravel(), [players[k] for k in np.argsort(ranks)[present].tolist()]


def _mean_of_sides(contests: Contests, values: Floats) -> Floats:
    """Return the mean over the players of each side."""
    sums = np.bincount(rows_of_sides(contests), values, len(contests.points))
    found: Floats = sums / np.diff(contests.side_starts)
    return found


def _differs(contests: Contests, values: Floats) -> bool:
    """Return whether something differs between the sides of a game."""
    first = values[contests.game_starts[:-1]]
    return bool((values != first[games_of_sides(contests)]).any())


def _check_covariates(log: GameLog, covariates: Floats, options: RankOptions) -> None:
    """Refuse covariates that are the same everywhere."""
    one_row = log.columns.format.name != "long"
    for k, name in enumerate(options.covariate):
        values = covariates[:, k]
        alone = one_row and name in log.columns.names and f"{name}_a" not in log.columns.names
        if alone:  # the difference stands at the first side, 0 at the second
            values = values[values != 0.0] if (values != 0.0).sum() == len(values) // 2 else values
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

_PLAYER, _RATING, _DEVIATION = ("player", "rating", "deviation")

FARTHEST = 1e6  # largest size of a rating in points, beyond all use

_NAMED = 10


def read_anchors(path: Path, players: Mapping[str, int], warn: Callable[[str], None]) -> Anchors:
    """Read anchors; those who did not play are named and left out."""
    what = "anchors have the columns player, rating, and optionally deviation"
    choose = with_columns((_PLAYER, _RATING), (_DEVIATION,), what=what)
    found: dict[str, tuple[float, float]] = {}
    for row in read_rows(path, choose, Dialect(trimmed=True, placed=True)):
        name = row.text(_PLAYER)
        if name in found:
            raise row.wrong(_PLAYER, f"{shown(name)} is there twice")
        rating = row.number_within(_RATING, -FARTHEST, FARTHEST)
        deviation = 0.0
        if row.cells.get(_DEVIATION):
            deviation = row.number_within(_DEVIATION, 0.0, DEVIATION[1])
            if 0.0 < deviation < DEVIATION[0]:
                cell, least = shown(row.cells[_DEVIATION]), f"{DEVIATION[0]:g}"
                what = f"{cell} (allowed: 0 for a rating that is known, or points >= {least})"
                raise row.wrong(_DEVIATION, what)
        found[name] = rating, deviation
    absent = [name for name in found if name not in players]
    if len(absent) == len(found):
        raise InputError(f"{path}: none of its players has played")
    if absent:
        more = f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else ""
        names = ", ".join(map(shown, absent[:_NAMED]))
        warn(Note(f"{path}: did not play, and left out: {names}{more}"))
    known = sorted((players[name], *found[name]) for name in found if name in players)
    numbers, ratings, deviations = zip(*known, strict=True)
    return Anchors(np.array(numbers), np.array(ratings, float), np.array(deviations, float))
