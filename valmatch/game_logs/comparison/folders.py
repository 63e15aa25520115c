"""Comparison of two ratings of one log by the files in their folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from valmatch.errors import InputError
from valmatch.game_logs.blocks import blocks_of
from valmatch.game_logs.comparison.baselines import COIN, RECORD, FormerPredictions
from valmatch.game_logs.comparison.result import RatingComparison, compared, tallies
from valmatch.game_logs.games import reordered
from valmatch.game_logs.names import Names
from valmatch.game_logs.previous_ratings import RatingManifest
from valmatch.game_logs.reading.cells import Cells, read_numbers, split
from valmatch.game_logs.reading.datetimes import DATES, kind_of_times, read_moments
from valmatch.game_logs.roster import Roster
from valmatch.game_logs.writing.csv_text import unmark_cells
from valmatch.game_logs.writing.folder import HISTORY
from valmatch.inputs.csv_names import are_marked
from valmatch.inputs.files import regular
from valmatch.kernels.arrays import Bytes, Floats, Ints
from valmatch.ratings.games import Games
from valmatch.ratings.registry import BATCH_NAMES
from valmatch.storage.manifest import Manifest, read_manifest
from valmatch.text.notes import Note

MOST_OF = 0.8  # share of the games without a name of their own that make two logs the same one


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
    """Return whether a folder is one of `rate`."""
    try:
        return read_manifest(folder, Manifest).command == "rate"
    except OSError:
        return False


_NEEDED = ("game", "player", "side", "expected", "score")
_TIME = "time"


class History(NamedTuple):
    """What was predicted of the games of two sides."""

    games: Games  # those games in play order, without rates, minutes and homes
    expected: Floats  # (games,): predicted score of the first side of each
    # number of games of more than two sides, whose predictions of each two are not known
    many_sided: int
    dated: bool  # whether times are moments, in seconds since 1970


def read_history(path: Path, titles: Names, players: Names) -> History:
    """Read a ``history.csv``, see `valmatch.game_logs.writing.history.HistoryWriter`."""
    try:
        text = regular(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    line, _, body = text.partition(b"\n")
    header = line.decode(errors="replace").split(",")
    slots = {name: slot for slot, name in enumerate((*_NEEDED, _TIME)) if name in header}
    if missing := [name for name in _NEEDED if name not in slots]:
        raise InputError(f"{path}:1: damaged: no column {missing[0]!r}")
    buffer = np.frombuffer(body, np.uint8).copy()
    places = np.array([slots.get(name, -1) for name in header])
    cells = split(buffer, places, final=True)
    side, expected, score = (
        read_numbers(buffer, cells.starts[:, slots[name]], cells.ends[:, slots[name]])
        for name in ("side", "expected", "score")
    )
    wrong = (cells.widths != len(header)) | ~((expected >= 0.0) & (expected <= 1.0))
    wrong |= np.isnan(side) | np.isnan(score)
    if cells.open_quote or wrong.any():
        raise InputError(f"{path}: damaged: row {int(wrong.argmax()) + 1} is none of a history")
    times, dated = _times(buffer, cells, slots.get(_TIME))
    if are_marked(path):
        for name in ("game", "player"):
            unmark_cells(buffer, cells.starts[:, slots[name]], cells.ends[:, slots[name]])
    game, player = (
        names.numbers(buffer, cells.starts[:, slots[name]], cells.ends[:, slots[name]])[0]
        for name, names in (("game", titles), ("player", players))
    )
    new_game = np.diff(game, prepend=-1) != 0
    side_rows = np.flatnonzero(new_game | (np.diff(side, prepend=0.0) != 0.0))
    game_rows = np.flatnonzero(new_game)
    games = Games(
        names=game[game_rows],
        times=times[game_rows],
        homes=np.full(len(game_rows), -1),
        game_starts=np.searchsorted(side_rows, np.append(game_rows, len(game))),
        side_starts=np.append(side_rows, len(game)),
        points=score[side_rows],
        players=player,
        sides=side.astype(np.int64) - 1,
        rates=np.zeros(len(game)),
        minutes=np.ones(len(game)),
        scores=np.full(len(side_rows), np.nan),
    )
    duels = np.flatnonzero(np.diff(games.game_starts) == 2)
    first_sides = expected[game_rows][duels]
    return History(reordered(games, duels), first_sides, len(game_rows) - len(duels), dated)


def _times(buffer: Bytes, cells: Cells, slot: int | None) -> tuple[Floats, bool]:
    """Return the time of each row, and whether times are moments."""
    if slot is None:
        return np.zeros(len(cells.widths)), False
    limits = cells.starts[:, slot], cells.ends[:, slot]
    dated = kind_of_times(buffer, *limits) == DATES
    return (read_moments if dated else read_numbers)(buffer, *limits), dated


def compare_folders(a: Path, b: Path, warn: Callable[[str], None]) -> RatingComparison:
    """Compare how well two ratings of one log predicted the games that both have.

    See `valmatch.game_logs.comparison.ratings.compare_ratings`.
    """
    titles, players = Names(), Names()
    first, second = (_rating(folder, titles, players) for folder in (a, b))
    games, in_first, in_second = _in_common(first, second)
    if first.manifest.games_sha256 != second.manifest.games_sha256:
        warn(
            f"{first.manifest.source} has changed between the two ratings: compared by the"
            f" {games.n_games} games that are the same in both"
        )
    elif games.n_games < max(len(first.history.games.names), len(second.history.games.names)):
        warn(Note(f"compared by the {games.n_games} games that both predicted"))
    if n := first.history.many_sided:
        warn(
            f"{n} game{'s' * (n > 1)} of more than two sides left out: no {HISTORY} has"
            " the predictions of each two of them (rate --system compares those too)"
        )
    former = [
        FormerPredictions(label, expected)
        for label, expected in zip(_labels(first, second), (in_first, in_second), strict=True)
    ]
    blocks, burn_in = blocks_of(games, first.history.dated), first.manifest.burn_in
    sums = {
        system.name: tallies(Roster(system, {}, players, ()), games, blocks, burn_in)
        for system in (*former, COIN, RECORD)
    }
    parameters = (first.manifest.parameters, second.manifest.parameters)
    names = [system.name for system in former]
    return compared(sums, dict(zip(names, parameters, strict=True)), games, burn_in)


def _in_common(first: _Rating, second: _Rating) -> tuple[Games, Floats, Floats]:
    """Return the games that both predicted, by their number, and both predictions."""
    where = f"compare {first.folder} {second.folder}"
    in_first, in_second = _common(first.history.games.names, second.history.games.names)
    if first.manifest.games_sha256 != second.manifest.games_sha256:
        in_first, in_second = _unchanged(where, first, second, in_first, in_second)
    elif not len(in_first):
        raise InputError(f"{where}: predicted no game of two sides in common")
    elif not _same(first.history.games, in_first, second.history.games, in_second):
        raise InputError(f"{where}: read players or results of the log from different columns")
    order = np.argsort(in_first)
    in_first, in_second = in_first[order], in_second[order]
    games = reordered(first.history.games, in_first)
    numbered = games._replace(names=np.arange(games.n_games))
    return numbered, first.history.expected[in_first], second.history.expected[in_second]


def _common(first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """Return the places of the numbers that two arrays have in common."""
    _, in_first, in_second = np.intersect1d(first, second, return_indices=True)
    return in_first, in_second


def _same(first: Games, in_first: Ints, second: Games, in_second: Ints) -> bool:
    """Return whether some games of the first are the same as some of the second."""
    games, others = reordered(first, in_first), reordered(second, in_second)
    return all(
        np.array_equal(getattr(games, what), getattr(others, what))
        for what in ("players", "side_starts", "points")
    )


def _unchanged(
    where: str, first: _Rating, second: _Rating, in_first: Ints, in_second: Ints
) -> tuple[Ints, Ints]:
    """Return the places of the games that are the same in a log before and after a correction.

    They have the same players and results, and either the same name (of which the places are
    given) or, where a row more or less has shifted the numbers of nameless games, the same time.
    """
    games, others = (_contents(rating.history) for rating in (first, second))
    pairs = zip(in_first, in_second, strict=True)
    same = np.array([games[a][1:] == others[b][1:] for a, b in pairs], np.bool_)
    found = in_first[same], in_second[same]
    shifted = _common(*_numbered(games, others))
    fewer = max(1, min(len(games), len(others)))
    if len(shifted[0]) > max(len(found[0]), MOST_OF * fewer):
        found = shifted
    if 2 * len(found[0]) < fewer:
        raise InputError(
            f"{where}: ratings of different logs, {first.manifest.source} and"
            f" {second.manifest.source} (allowed: of the same, also corrected in between)"
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
    games: Sequence[tuple[object, ...]], others: Sequence[tuple[object, ...]]
) -> tuple[Ints, Ints]:
    """Return a number for each content, the same for the same, the k-th time that it is there."""
    numbers: dict[tuple[object, int], int] = {}
    found = []
    for contents in (games, others):
        times = Counter[object]()
        own = []
        for content in contents:
            times[content] += 1
            own.append(numbers.setdefault((content, times[content]), len(numbers)))
        found.append(np.array(own, np.int64))
    return found[0], found[1]


def _labels(first: _Rating, second: _Rating) -> tuple[str, str]:
    """Return what tables call two ratings: their systems, if that is the same with the folders."""
    systems = first.manifest.system or "", second.manifest.system or ""
    if systems[0] != systems[1]:
        return systems
    folders = first.folder, second.folder
    same = folders[0].name == folders[1].name
    names = [str(folder) if same else folder.name for folder in folders]
    return f"{systems[0]} ({names[0]})", f"{systems[1]} ({names[1]})"


def _rating(folder: Path, titles: Names, players: Names) -> _Rating:
    """Read the rating in a folder."""
    if not is_rating(folder):
        raise InputError(f"{folder}: holds no rating, the other folder does (allowed: two ratings)")
    manifest = read_manifest(folder, _Manifest)
    if manifest.system in BATCH_NAMES:
        raise InputError(
            f"{folder}: {manifest.system} rates a whole log at once, and predicts no game of it"
            " (allowed: ratings by systems that go from game to game)"
        )
    return _Rating(folder, manifest, read_history(folder / HISTORY, titles, players))
