"""Games that are still to be played, read from CSV files or from options."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from valmatch.config.numerals import real_number
from valmatch.errors import InputError, option
from valmatch.game_logs.options import LogFormat
from valmatch.game_logs.reading.cells import read_flags
from valmatch.game_logs.reading.columns import LONG, Columns, Format, find_columns
from valmatch.game_logs.reading.moments import moment
from valmatch.printable import shown
from valmatch.text_files import open_text

_LONG = Format(LONG.name, ("game", "player"), ("team", "time"))
_SIDES = (("home", "away"), ("player_a", "player_b"), ("winner", "loser"), ("side_1", "side_2"))

_BETWEEN = ";"
"""What stands between the players of a side."""


class Fixture(NamedTuple):
    """A game that is still to be played.

    Attributes
    ----------
    where : str
        What messages call the place that it is from.
    game : str
        Its name.
    sides : sequence of sequence of str
        The players of each side, without one twice.
    time : float
        When it will be played; NaN if that is not known.
    dated : bool
        Whether that is a moment, in seconds since 1970.
    at_home : bool
        Whether the first side plays at home; else nobody does.
    neutral : bool
        Whether that is so because the game is on neutral ground.
    """

    where: str
    game: str
    sides: Sequence[Sequence[str]]
    time: float
    dated: bool
    at_home: bool = False
    neutral: bool = False


class _Row(NamedTuple):
    """The cells of a row by their meaning, and where they stand."""

    where: str
    cells: Mapping[str, str]


def parse_pairs(texts: Sequence[str], known: Iterable[str]) -> list[Fixture]:
    """Return the fixtures that texts such as ``ann,bob`` or ``ann;bob,cy;dan`` stand for.

    Nobody plays at home in them.

    Raises
    ------
    InputError
        If a text names fewer than two sides, a side without a player, or a player twice.
    """
    names, found = set(known), []
    for number, text in enumerate(texts, 1):
        where = f"{option('pair')} {shown(text)}"
        cells = [cell.strip() for cell in next(csv.reader([text], skipinitialspace=True), [])]
        if len(cells) < 2:
            raise InputError(f"{where}: has one side (allowed: two or more, such as ann,bob)")
        found.append(_fixture(where, f"{number}", [_players(cell, names) for cell in cells]))
    return found


def read_fixtures(path: Path, written: LogFormat, known: Iterable[str]) -> list[Fixture]:
    """Read fixtures from a CSV file.

    Long format: `game`, `player`, optional `team` (empty, or without the column: the player plays
    alone), `time`; the rows of a game stand together. Or a row for each game, with the columns
    `home` and `away`, `player_a` and `player_b`, `winner` and `loser` (whoever wins), or
    `side_1`, `side_2` and as many more as there are (empty: no further side), optional `game` and
    `time`; the players of a side are divided by semicolons, unless the whole cell is a player's
    name. The side `home` plays at home, unless the column `neutral` says yes;
    nobody does in files without it. Other columns do not count, so
    that a log can be predicted as if it were to come.

    Parameters
    ----------
    path : Path
        The file; `-` is standard input.
    written : LogFormat
        How the file is written; where semicolons stand between cells, a side of several needs
        quotes.
    known : iterable of str
        Names of players.

    Raises
    ------
    InputError
        If the file cannot be used.
    """
    name, names = ("standard input" if str(path) == "-" else str(path)), set(known)
    rows = _rows(path, name, written.delimiter)
    line, header = next(rows, (0, []))
    if not header:
        raise InputError(f"{name}: is empty (allowed: a CSV file with a header)")
    header = [cell.strip() for cell in header]
    where, formats = f"{name}:{line}", _formats(header)
    found = find_columns(where, header, written, formats, "fixtures have")
    cells = _cells(rows, name, found)
    games = list(_long(cells) if found.format is _LONG else _wide(cells, found, names))
    if not games:
        raise InputError(f"{name}: holds no game to predict")
    return games


def _rows(path: Path, name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file that are not empty, each with the number of its last line."""
    try:
        with ExitStack() as stack:
            file: TextIO = sys.stdin
            if str(path) != "-":
                packed = stack.enter_context(open_text(path))
                file = io.TextIOWrapper(packed, encoding="utf-8-sig", newline="")
            rows = csv.reader(file, delimiter=separator, strict=True, skipinitialspace=True)
            for row in filter(None, rows):
                yield rows.line_num, row
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{name}: is no CSV file in UTF-8: {error}") from None


def _formats(header: Sequence[str]) -> list[Format]:
    """Return the shapes that fixtures with these columns may have."""
    further = [name for name in header if re.fullmatch(r"side_([3-9]|[1-9]\d+)", name)]
    optional = {
        ("side_1", "side_2"): ("game", "time", *further),
        ("home", "away"): ("game", "time", "neutral"),
    }
    return [_LONG, *(Format("sides", two, optional.get(two, ("game", "time"))) for two in _SIDES)]


def _cells(rows: Iterable[tuple[int, list[str]]], name: str, columns: Columns) -> Iterator[_Row]:
    """Yield the wanted cells of each row."""
    width = len(columns.names)
    for line, cells in rows:
        where = f"{name}:{line}"
        if len(cells) != width:
            raise InputError(f"{where}: the row has {len(cells)} cells (allowed: {width})")
        found = {meaning: cells[place].strip() for meaning, place in columns.places.items()}
        for meaning in columns.format.required:
            if not found[meaning]:
                raise InputError(f"{where}: {_called(columns, meaning)}: the cell is empty")
        yield _Row(where, found)


def _called(columns: Columns, meaning: str) -> str:
    """Return the name that the file has for a column."""
    return columns.names[columns.places[meaning]]


def _long(rows: Iterable[_Row]) -> Iterator[Fixture]:
    """Yield the fixtures of rows for each player."""
    seen: set[str] = set()
    for game, group in groupby(rows, key=lambda row: row.cells["game"]):
        first, *others = group
        if game in seen:
            allowed = "one run of rows a game"
            raise InputError(f"{first.where}: game {game!r} was there before (allowed: {allowed})")
        seen.add(game)
        sides: dict[object, list[str]] = {}
        for number, row in enumerate([first, *others]):
            sides.setdefault(row.cells.get("team") or number, []).append(row.cells["player"])
        if len(sides) < 2:
            raise InputError(f"{first.where}: game {game!r} has one side (allowed: two or more)")
        yield _fixture(first.where, game, list(sides.values()), first.cells.get("time", ""))


def _wide(rows: Iterable[_Row], columns: Columns, known: set[str]) -> Iterator[Fixture]:
    """Yield the fixtures of rows for each game."""
    about = ("game", "time", "neutral")
    meanings = [meaning for meaning in columns.places if meaning not in about]
    for number, (where, cells) in enumerate(rows, 1):
        sides = [_players(cells[meaning], known) for meaning in meanings if cells[meaning]]
        game, time = cells.get("game") or f"{number}", cells.get("time", "")
        neutral = "neutral" in cells and _flag(where, _called(columns, "neutral"), cells["neutral"])
        one = _fixture(where, game, sides, time)
        yield one._replace(at_home="home" in cells and not neutral, neutral=neutral)


def _flag(where: str, column: str, cell: str) -> bool:
    """Return what a cell says: yes or no."""
    text = np.frombuffer(cell.encode(), np.uint8)
    flag = int(read_flags(text, np.array([0]), np.array([len(text)]))[0])
    if flag < 0:
        raise InputError(f"{where}: {column}: {cell!r} (allowed: yes, no, true, false, 1, 0)")
    return flag == 1


def _players(cell: str, known: set[str]) -> list[str]:
    """Return the players of a side."""
    if cell in known:
        return [cell]
    return [name.strip() for name in cell.split(_BETWEEN)]


def _fixture(where: str, game: str, sides: Sequence[Sequence[str]], time: str = "") -> Fixture:
    """Return a fixture, checked."""
    seen: set[str] = set()
    for player in (player for side in sides for player in side):
        if not player:
            raise InputError(f"{where}: a side has a player without a name")
        if player in seen:
            raise InputError(f"{where}: {player!r} is in this game twice")
        seen.add(player)
    number = real_number(time)
    found = moment(time) if number is None else number
    if time and math.isnan(found):
        allowed = "a number or an ISO 8601 moment"
        raise InputError(f"{where}: time: {time!r} (allowed: {allowed})")
    return Fixture(where, game, sides, found, number is None)
