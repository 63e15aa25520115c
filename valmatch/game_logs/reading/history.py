"""The history of a rating, read for its predictions."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from valmatch.arrays import Bytes, Floats
from valmatch.errors import InputError
from valmatch.game_logs.csv_text import unmark_cells
from valmatch.game_logs.games import reordered
from valmatch.game_logs.names import Names
from valmatch.game_logs.reading.cells import Cells, read_numbers, split
from valmatch.game_logs.reading.moments import are_moments, read_moments
from valmatch.inputs.csv_names import are_marked
from valmatch.inputs.files import regular
from valmatch.ratings.games import Games

_NEEDED = ("game", "player", "side", "expected", "score")
_TIME = "time"


class History(NamedTuple):
    """What was predicted of the games of two sides.

    Attributes
    ----------
    games : Games
        Those games in play order, without rates, minutes and homes.
    expected : numpy.ndarray
        (games,): predicted score of the first side of each.
    crowds : int
        Number of other games, whose predictions of each two sides are not known.
    dated : bool
        Whether times are moments, in seconds since 1970.
    """

    games: Games
    expected: Floats
    crowds: int
    dated: bool


def read_history(path: Path, titles: Names, players: Names) -> History:
    """Read a ``history.csv``, see `valmatch.game_logs.history.HistoryWriter`.

    Parameters
    ----------
    path : Path
        The file.
    titles, players : Names
        Numbers of games and players; added to.

    Raises
    ------
    InputError
        If it cannot be read, or is damaged.
    """
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
    )
    duels = np.flatnonzero(np.diff(games.game_starts) == 2)
    told = expected[game_rows][duels]
    return History(reordered(games, duels), told, len(game_rows) - len(duels), dated)


def _times(buffer: Bytes, cells: Cells, slot: int | None) -> tuple[Floats, bool]:
    """Return the time of each row, and whether times are moments."""
    if slot is None:
        return np.zeros(len(cells.widths)), False
    limits = cells.starts[:, slot], cells.ends[:, slot]
    dated = bool(are_moments(buffer, *limits))
    return (read_moments if dated else read_numbers)(buffer, *limits), dated
