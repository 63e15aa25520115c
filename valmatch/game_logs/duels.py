"""Games between two players of a log, counted, and the sequential test of these."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.options import SprtOptions
from valmatch.game_logs.reading.columns import Further
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.warnings import log_warnings
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Ints
from valmatch.ratings.games import Games
from valmatch.statistics.sequential_tests import SequentialTest, sequential_test
from valmatch.text.suggestions import correction
from valmatch.text.terminal import shown


@takes(SprtOptions)
def sprt_games(
    games: PathLike,
    player: str,
    against: str,
    **options: Any,  # noqa: ANN401
) -> SequentialTest:
    """Test by the games of a log between two players whether one of them is the stronger.

    Parameters
    ----------
    games : str or Path
        The log, as `rate_games` takes it; `-` is standard input. Of all its games those count in
        which the two are alone on either side.
    player, against : str
        The two; losses, draws and wins are those of the first.
    **options

    Raises
    ------
    InputError
        If the log or an option cannot be used, somebody is nobody there, or no game counts.
    """
    return sprt_of(arguments.path("games", games), player, against, SprtOptions(**options))


def sprt_of(path: Path, player: str, against: str, options: SprtOptions) -> SequentialTest:
    """Test by the games of a log; see `sprt_games`."""
    hypotheses = options.hypotheses
    sequential_test([1, 1, 1], **hypotheses)  # refuses before anything is read
    if player == against:
        what = f"{shown(player)} is {option('player')}, too (allowed: somebody else)"
        raise InputError(f"{option('against')}: {what}")
    found = duels_of(path, options, (player, against))
    return replace(sequential_test(found.counts, **hypotheses), left_out=found.left_out)


class Duels(NamedTuple):
    """How the games of two players ended."""

    # losses, draws and wins of the first; or pairs of games that made 0, 1/2, 1, 3/2, 2 points
    counts: list[int]
    left_out: int  # games that belong to no pair of two


def duels_of(path: Path, options: SprtOptions, players: tuple[str, str]) -> Duels:
    """Return how the games of a log between two players ended."""
    pairs_by = options.pairs_by
    clusters = () if pairs_by is None else (pairs_by,)
    further = Further(clusters=clusters, clustered_by="pairs_by")
    log = GameLog(path, options, further=further)
    games, facts = log.games_with_facts(options.progress)
    numbers = [_number(log, *named) for named in zip(players, _NAMED, strict=True)]
    between, points = _between(games, *numbers)
    for warning in log_warnings(log):
        options.warn(warning)
    if not len(between):
        both = " and ".join(map(shown, players))
        raise InputError(f"{log.name}: holds no game between {both}, each alone on one side")
    if pairs_by is None:
        return Duels(np.bincount(points, minlength=3).tolist(), 0)
    _, pair, sizes = np.unique(facts.clusters[between, 0], return_inverse=True, return_counts=True)
    sums = np.bincount(pair.ravel(), points)[sizes == 2].astype(np.int64)
    if not len(sums):
        what = f"no two of the {len(between):,} games share a cell, or more than two do"
        raise InputError(f"{log.name}: {option('pairs_by')} {shown(pairs_by)}: {what}")
    return Duels(np.bincount(sums, minlength=5).tolist(), len(between) - 2 * len(sums))


_NAMED = ("player", "against")

HINTED = 1_000  # players among whom a name like a misspelt one is looked for


def _number(log: GameLog, name: str, argument: str) -> int:
    """Return the number of a player."""
    names = log.players.texts
    if name not in names:
        near = correction(name, names) if len(names) <= HINTED else ""
        raise InputError(f"{option(argument)}: {shown(name)} is nobody in {log.name}{near}")
    return names.index(name)


def _between(games: Games, player: int, against: int) -> tuple[Ints, Ints]:
    """Return the games in which two are alone on either side, and twice the points of the first."""
    sizes = np.diff(games.side_starts)
    first = games.game_starts[:-1]
    two = np.diff(games.game_starts) == 2
    two[two] = (sizes[first[two]] == 1) & (sizes[first[two] + 1] == 1)
    places = np.flatnonzero(two)
    a = first[places]
    here = games.players[games.side_starts[a]]
    there = games.players[games.side_starts[a + 1]]
    ahead = (here == player) & (there == against)
    either = ahead | ((here == against) & (there == player))
    lead = np.sign(games.points[a] - games.points[a + 1]).astype(np.int64)
    points = 1 + np.where(ahead, lead, -lead)
    return places[either], points[either]
