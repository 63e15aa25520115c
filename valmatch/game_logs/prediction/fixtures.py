"""Games that are still to be played, read from CSV files or from options."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, groupby
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from valmatch.errors import InputError, option
from valmatch.game_logs.options import LogFormat
from valmatch.game_logs.reading.columns import LONG, Format, find_columns
from valmatch.game_logs.reading.datetimes import SINCE
from valmatch.inputs.csv_columns import cells_of
from valmatch.inputs.csv_reader import Dialect, Row, read_rows
from valmatch.text.terminal import shown

_LONG = Format(LONG.name, ("game", "player"), ("team", "time"))
_SIDES = (("home", "away"), ("player_a", "player_b"), ("winner", "loser"), ("side_1", "side_2"))

_ABOUT = ("game", "time", "neutral")
"""Meanings of columns that hold no side, in a row for each game."""

_COVARIATE = "covariate "  # how the meanings of columns of covariates begin
_BETWEEN = ";"  # what stands between the players of a side


class Fixture(NamedTuple):
    """A game that is still to be played."""

    where: str  # what messages call the place that it is from
    game: str  # its name
    sides: Sequence[Sequence[str]]  # the players of each side, without one twice
    time: float = math.nan  # when it will be played; NaN if that is not known
    dated: bool = True  # whether that is a moment, in seconds since 1970
    at_home: bool = False  # whether the first side plays at home; else nobody does
    neutral: bool = False  # whether that is so because the game is on neutral ground
    # by name, of each side the mean over its players; of those that the file has
    covariates: Mapping[str, Sequence[float]] = MappingProxyType({})


def parse_pairs(
    texts: Sequence[str], known: Iterable[str], others: Sequence[Fixture] = ()
) -> list[Fixture]:
    """Return the fixtures that texts such as ``ann,bob`` or ``ann;bob,cy;dan`` stand for.

    Nobody plays at home in them. They are numbered on from the other games to predict.
    """
    names, found, taken = set(known), [], {game.game for game in others}
    free = (name for name in map(str, count(len(others) + 1)) if name not in taken)
    for text in texts:
        where = f"{option('pair')} {shown(text)}"
        cells = cells_of(text)
        if len(cells) < 2:
            raise InputError(f"{where}: has one side (allowed: two or more, such as ann,bob)")
        found.append(_fixture(where, next(free), [_players(cell, names) for cell in cells]))
    return found


def read_fixtures(
    path: Path, written: LogFormat, known: Iterable[str], covariates: Sequence[str] = ()
) -> list[Fixture]:
    """Read fixtures from a CSV file.

    Long format: `game`, `player`, optional `team` (empty, or without the column: the player plays
    alone), `time`; the rows of a game stand together. Or a row for each game, with the columns
    `home` and `away`, `player_a` and `player_b`, `winner` and `loser` (whoever wins), or
    `side_1`, `side_2` and as many more as there are (empty: no further side), optional `game` and
    `time`; the players of a side are divided by semicolons, unless the whole cell is a player's
    name. The side `home` plays at home, unless the column `neutral` says yes;
    nobody does in files without it. Other columns do not count, so
    that a log can be predicted as if it were to come.
    """
    file = None if str(path) == "-" else path
    name = str(file or "standard input")

    def choose(header: Sequence[str], place: str) -> dict[str, str]:
        if not header:
            raise InputError(f"{name}: is empty (allowed: a CSV file with a header)")
        found = find_columns(place, header, written, _formats(header), "fixtures have")
        meanings = {meaning: header[column] for meaning, column in found.places.items()}
        return {**meanings, **_of_covariates(header, covariates, found.format.name == LONG.name)}

    rows = read_rows(file, choose, Dialect(written.delimiter, trimmed=True))
    first = next(rows, None)
    if first is None:
        raise InputError(f"{name}: holds no game to predict")
    rows = chain([first], rows)
    return list(_long(rows) if "player" in first.cells else _wide(rows, set(known)))


def _formats(header: Sequence[str]) -> list[Format]:
    """Return the shapes that fixtures with these columns may have."""
    further = [name for name in header if re.fullmatch(r"side_([3-9]|[1-9]\d+)", name)]
    optional = {
        ("side_1", "side_2"): ("game", "time", *further),
        ("home", "away"): ("game", "time", "neutral"),
    }
    return [_LONG, *(Format("sides", two, optional.get(two, ("game", "time"))) for two in _SIDES)]


def _of_covariates(header: Sequence[str], covariates: Sequence[str], long: bool) -> dict[str, str]:
    """Return the columns of covariates by their meanings."""
    found = {}
    for name in covariates:
        pair = (f"{name}_a", f"{name}_b")
        columns = pair if not long and all(one in header for one in pair) else (name,)
        found.update({f"{_COVARIATE}{one}": one for one in columns if one in header})
    return found


def _values_of(row: Row) -> dict[str, float]:
    """Return the covariates of a row, by their columns."""
    keys = (key for key in row.cells if key.startswith(_COVARIATE))
    return {key.removeprefix(_COVARIATE): row.number(key) for key in keys}


def _of_two(row: Row, sides: int) -> dict[str, tuple[float, float]]:
    """Return the covariates of the two sides of a row."""
    values = _values_of(row)
    if values and sides > 2:
        what = f"{next(iter(values))}: of {sides} sides (allowed: of two, or rows for each player)"
        raise InputError(f"{row.place}: {what}")
    found = {}
    for name, value in values.items():
        base = name[:-2]
        if name.endswith("_a") and f"{base}_b" in values:
            found[base] = value, values[f"{base}_b"]
        elif not (name.endswith("_b") and f"{base}_a" in values):
            found[name] = value, 0.0
    return found


def _long(rows: Iterable[Row]) -> Iterator[Fixture]:
    """Yield the fixtures of rows for each player."""
    seen: set[str] = set()
    for game, group in groupby(rows, key=lambda row: row.text("game")):
        first, *others = group
        if game in seen:
            allowed = "one run of rows a game"
            raise InputError(f"{first.place}: game {game!r} was there before (allowed: {allowed})")
        seen.add(game)
        sides: dict[object, list[str]] = {}
        values: dict[object, list[dict[str, float]]] = {}
        for number, row in enumerate([first, *others]):
            side = row.cells.get("team") or number
            sides.setdefault(side, []).append(row.text("player"))
            values.setdefault(side, []).append(_values_of(row))
        if len(sides) < 2:
            raise InputError(f"{first.place}: game {game!r} has one side (allowed: two or more)")
        means = {
            name: [math.fsum(one[name] for one in own) / len(own) for own in values.values()]
            for name in _values_of(first)
        }
        found = _fixture(first.place, game, list(sides.values()))
        yield _timed(found._replace(covariates=means), first)


def _wide(rows: Iterable[Row], known: set[str]) -> Iterator[Fixture]:
    """Yield the fixtures of rows for each game."""
    for number, row in enumerate(rows, 1):
        cells = row.cells
        first, second, *further = (
            name for name in cells if name not in _ABOUT and not name.startswith(_COVARIATE)
        )
        sides = [row.text(first), row.text(second), *(cells[name] for name in further)]
        players = [_players(side, known) for side in sides if side]
        neutral = "neutral" in cells and row.flag("neutral")
        game = _fixture(row.place, cells.get("game") or f"{number}", players)
        at_home = "home" in cells and not neutral
        values = _of_two(row, len(players))
        yield _timed(game._replace(at_home=at_home, neutral=neutral, covariates=values), row)


def _timed(game: Fixture, row: Row) -> Fixture:
    """Return a fixture at the time of its row."""
    time, dated = row.time("time", SINCE)
    return game._replace(time=time, dated=dated)


def _players(cell: str, known: set[str]) -> list[str]:
    """Return the players of a side."""
    if cell in known:
        return [cell]
    return [name.strip() for name in cell.split(_BETWEEN)]


def _fixture(where: str, game: str, sides: Sequence[Sequence[str]]) -> Fixture:
    """Return a fixture, its players checked, at no time."""
    seen: set[str] = set()
    for player in (player for side in sides for player in side):
        if not player:
            raise InputError(f"{where}: a side has a player without a name")
        if player in seen:
            raise InputError(f"{where}: {player!r} is in this game twice")
        seen.add(player)
    return Fixture(where, game, sides)
