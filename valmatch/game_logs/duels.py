"""A sequential test of who is the stronger of two players, by the games of a log."""

from dataclasses import replace
from typing import Any

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.options import Further, SprtOptions
from valmatch.game_logs.reading.log import GameLog
from valmatch.inputs import arguments
from valmatch.inputs.options import refuse, takes
from valmatch.kernels.arrays import Ints
from valmatch.ratings.games import Games
from valmatch.statistics.sequential_tests import SequentialTest, sequential_test
from valmatch.text.suggestions import HINTED, correction
from valmatch.text.terminal import shown


@takes(SprtOptions)
def sprt_games(
    games: arguments.PathLike,
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
    settings = SprtOptions(**options)
    sequential_test([1, 1, 1], **settings.hypotheses)  # refuses before anything is read
    what = f"{shown(player)} is {option('player')}, too (allowed: somebody else)"
    refuse("against", player == against, what)
    pairs_by = settings.pairs_by
    further = Further(
        clusters=[pairs_by] if pairs_by else (), named_by={pairs_by or "": "pairs_by"}
    )
    log = GameLog(arguments.path("games", games), settings, further=further)
    read, facts = log.games_with_facts()
    names, numbers = log.players.texts, []
    for argument, name in (("player", player), ("against", against)):
        if name not in names:
            near = correction(name, names) if len(names) <= HINTED else ""
            raise InputError(f"{option(argument)}: {shown(name)} is no player of {log.name}{near}")
        numbers.append(names.index(name))
    between, points = _between(read, *numbers)
    for warning in log.warnings():
        settings.warn(warning)
    if not len(between):
        both = f"{shown(player)} and {shown(against)}"
        raise InputError(f"{log.name}: holds no game between {both}, each alone on one side")
    if pairs_by is None:
        return sequential_test(np.bincount(points, minlength=3).tolist(), **settings.hypotheses)
    _, pair, sizes = np.unique(facts.clusters[between, 0], return_inverse=True, return_counts=True)
    sums = np.bincount(pair.ravel(), points)[sizes == 2].astype(np.int64)
    if not len(sums):
        what = f"no two of the {len(between):,} games share a cell, or more than two do"
        raise InputError(f"{log.name}: {option('pairs_by')} {shown(pairs_by)}: {what}")
    test = sequential_test(np.bincount(sums, minlength=5).tolist(), **settings.hypotheses)
    return replace(test, left_out=len(between) - 2 * len(sums))


def _between(games: Games, player: int, against: int) -> tuple[Ints, Ints]:
    """Return the games in which two are alone on either side, and twice the points of the first."""
    first = games.game_starts[:-1]
    size = games.side_starts[games.game_starts[1:]] - games.side_starts[first]
    of_two = np.flatnonzero((np.diff(games.game_starts) == 2) & (size == 2))
    a = first[of_two]
    players = games.players[games.side_starts[a][:, None] + [0, 1]]
    ahead, behind = (
        (players == pair).all(axis=1) for pair in ((player, against), (against, player))
    )
    lead = np.sign(games.points[a] - games.points[a + 1]).astype(np.int64)
    points = 1 + np.where(ahead, lead, -lead)
    return of_two[ahead | behind], points[ahead | behind]
