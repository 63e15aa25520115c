"""Ratings of one log in two folders: which of them predicted its games better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from valmatch.arrays import Floats, Ints
from valmatch.errors import InputError
from valmatch.game_logs.blocks import blocks_of
from valmatch.game_logs.comparison.baselines import COIN, RECORD, FormerPredictions
from valmatch.game_logs.comparison.result import RatingComparison, compared, tallies
from valmatch.game_logs.files import HISTORY
from valmatch.game_logs.games import reordered
from valmatch.game_logs.names import Names
from valmatch.game_logs.previous_ratings import RatingManifest
from valmatch.game_logs.reading.history import History, read_history
from valmatch.game_logs.roster import Roster
from valmatch.ratings.games import Games
from valmatch.storage.manifest import Manifest, read_manifest

MOST_OF = 0.8
"""Share of the games without a name of their own that make two logs the same one."""


class _Manifest(RatingManifest):
    """The manifest of a rating, as far as a comparison depends on it."""

    games_sha256: str
    burn_in: int = 0


class _Rating(NamedTuple):
    """A rating in a folder."""

    folder: Path
    manifest: _Manifest
    history: History


def is_rating(folder: Path) -> bool:
    """Return whether a folder is one of `rate`.

    Raises
    ------
    InputError
        If its manifest is damaged.
    """
    try:
        return read_manifest(folder, Manifest).command == "rate"
    except OSError:
        return False


def compare_folders(a: Path, b: Path, warn: Callable[[str], None]) -> RatingComparison:
    """Compare how well two ratings of one log predicted the games that both have.

    See `valmatch.game_logs.comparison.ratings.compare_ratings`.

    Parameters
    ----------
    a, b : Path
        Folders of `rate`.
    warn : callable
        Called with each remark.

    Raises
    ------
    InputError
        If a folder holds no rating, or they are not of one log, or have no game in common.
    """
    titles, players = Names(), Names()
    one, other = (_rating(folder, titles, players) for folder in (a, b))
    games, mine, its = _in_common(one, other)
    if one.manifest.games_sha256 != other.manifest.games_sha256:
        warn(
            f"{one.manifest.source} has changed between the two ratings: compared by the"
            f" {games.n_games} games that are the same in both"
        )
    elif games.n_games < max(len(one.history.games.names), len(other.history.games.names)):
        warn(f"compared by the {games.n_games} games that both predicted")
    if crowds := one.history.crowds:
        warn(
            f"{crowds} game{'s' * (crowds > 1)} of more than two sides left out: no {HISTORY} has"
            " the predictions of each two of them (rate --system compares those too)"
        )
    former = [
        FormerPredictions(label, expected)
        for label, expected in zip(_labels(one, other), (mine, its), strict=True)
    ]
    blocks, burn_in = blocks_of(games, one.history.dated), one.manifest.burn_in
    sums = {
        system.name: tallies(Roster(system, {}, players, ()), games, blocks, burn_in)
        for system in (*former, COIN, RECORD)
    }
    parameters = (one.manifest.parameters, other.manifest.parameters)
    names = [system.name for system in former]
    return compared(sums, dict(zip(names, parameters, strict=True)), games, burn_in)


def _in_common(one: _Rating, other: _Rating) -> tuple[Games, Floats, Floats]:
    """Return the games that both predicted, by their number, and both predictions."""
    where = f"compare {one.folder} {other.folder}"
    mine, its = _common(one.history.games.names, other.history.games.names)
    if one.manifest.games_sha256 != other.manifest.games_sha256:
        mine, its = _unchanged(where, one, other, mine, its)
    elif not len(mine):
        raise InputError(f"{where}: predicted no game of two sides in common")
    elif not _same(one.history.games, mine, other.history.games, its):
        raise InputError(f"{where}: read players or results of the log from different columns")
    order = np.argsort(mine)
    mine, its = mine[order], its[order]
    games = reordered(one.history.games, mine)
    numbered = games._replace(names=np.arange(games.n_games))
    return numbered, one.history.expected[mine], other.history.expected[its]


def _common(mine: Ints, its: Ints) -> tuple[Ints, Ints]:
    """Return the places of the numbers that two arrays have in common."""
    _, here, there = np.intersect1d(mine, its, return_indices=True)
    return here, there


def _same(games: Games, mine: Ints, others: Games, its: Ints) -> bool:
    """Return whether some games are the same as some others."""
    here, there = reordered(games, mine), reordered(others, its)
    return all(
        np.array_equal(getattr(here, what), getattr(there, what))
        for what in ("players", "side_starts", "points")
    )


def _unchanged(
    where: str, one: _Rating, other: _Rating, mine: Ints, its: Ints
) -> tuple[Ints, Ints]:
    """Return the places of the games that are the same in a log before and after a correction.

    They have the same players and results, and either the same name (of which the places are
    given) or, where a row more or less has shifted the numbers of nameless games, the same time.

    Raises
    ------
    InputError
        If less than half of the games are, or `MOST_OF` them without names: the logs are others.
    """
    here, there = (_contents(rating.history) for rating in (one, other))
    same = np.array([here[a][1:] == there[b][1:] for a, b in zip(mine, its, strict=True)], np.bool_)
    found = mine[same], its[same]
    shifted = _common(*_numbered(here, there))
    fewer = max(1, min(len(here), len(there)))
    if len(shifted[0]) > max(len(found[0]), MOST_OF * fewer):
        found = shifted
    if 2 * len(found[0]) < fewer:
        raise InputError(
            f"{where}: ratings of different logs, {one.manifest.source} and"
            f" {other.manifest.source} (allowed: of the same, also corrected in between)"
        )
    return found


def _contents(history: History) -> list[tuple[object, ...]]:
    """Return the time, the players by side and the points of each game of two sides."""
    games = history.games
    starts, players, points = (
        values.tolist() for values in (games.side_starts, games.players, games.points)
    )
    return [
        (
            time,
            *(tuple(players[starts[k] : starts[k + 1]]) for k in (side, side + 1)),
            *points[side : side + 2],
        )
        for time, side in zip(games.times.tolist(), games.game_starts.tolist(), strict=False)
    ]


def _numbered(
    here: Sequence[tuple[object, ...]], there: Sequence[tuple[object, ...]]
) -> tuple[Ints, Ints]:
    """Return a number for each content, the same for the same, the k-th time that it is there."""
    numbers: dict[tuple[object, int], int] = {}
    found = []
    for contents in (here, there):
        times = Counter[object]()
        own = []
        for content in contents:
            times[content] += 1
            own.append(numbers.setdefault((content, times[content]), len(numbers)))
        found.append(np.array(own, np.int64))
    return found[0], found[1]


def _labels(one: _Rating, other: _Rating) -> tuple[str, str]:
    """Return what tables call two ratings: their systems, if that is the same with the folders."""
    system, its = one.manifest.system or "", other.manifest.system or ""
    if system != its:
        return system, its
    folders = one.folder, other.folder
    same = folders[0].name == folders[1].name
    first, second = (str(folder) if same else folder.name for folder in folders)
    return f"{system} ({first})", f"{system} ({second})"


def _rating(folder: Path, titles: Names, players: Names) -> _Rating:
    """Read the rating in a folder.

    Raises
    ------
    InputError
        If there is none.
    """
    if not is_rating(folder):
        raise InputError(f"{folder}: holds no rating, the other folder does (allowed: two ratings)")
    manifest = read_manifest(folder, _Manifest)
    return _Rating(folder, manifest, read_history(folder / HISTORY, titles, players))
