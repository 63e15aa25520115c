"""The files of a rating: earlier ratings in, results out."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path

from valmatch.config.input_files import regular, sha256
from valmatch.config.numerals import real_number
from valmatch.errors import InputError, option
from valmatch.game_logs.csv_text import lines
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.roster import Known, Ranking
from valmatch.game_logs.system import Column, System
from valmatch.storage.manifest import MANIFEST, Manifest, read_manifest
from valmatch.storage.output import write_atomically
from valmatch.storage.run_folder import RunFolder

__all__ = ["HISTORY", "PAIRS", "RATINGS", "SUMMARY", "claim", "read_ratings", "write_ratings"]

RATINGS, HISTORY, PAIRS, SUMMARY = "ratings.csv", "history.csv", "pairs.csv", "summary.json"

WRITTEN = (RATINGS, HISTORY, PAIRS, SUMMARY, MANIFEST)

_GAMES = Column("games", 0.0, 1e15)


def read_ratings(path: Path, system: System) -> list[Known]:
    """Read a ``ratings.csv``; its ranks do not count, nor do ratings that follow from the state.

    Parameters
    ----------
    path : Path
        The file. A manifest beside it says by which system it was made, if it is there.
    system : System
        The system that goes on from it.

    Raises
    ------
    InputError
        If the file cannot be used, or comes from another system.
    """
    earlier = _system_beside(path)
    if earlier not in (None, system.name):
        raise InputError(f"{path}: holds ratings by {earlier} (allowed: by {system.name})")
    known: dict[str, Known] = {}
    try:
        with regular(path).open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            header = _header(path, next(rows, []), system)
            for cells in filter(None, rows):
                where = f"{path}:{rows.line_num}"
                if len(cells) > len(header):
                    what = f"the row has {len(cells)} cells (allowed: {len(header)})"
                    raise InputError(f"{where}: {what}")
                one = _known(where, dict(zip_longest(header, cells, fillvalue="")), system)
                if one.player in known:
                    raise InputError(f"{where}: player: {one.player!r} is here twice")
                known[one.player] = one
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: is no CSV file in UTF-8: {error}") from None
    return list(known.values())


def _header(path: Path, header: list[str], system: System) -> list[str]:
    """Return the names of the columns, checked."""
    names = [column.name for column in system.columns]
    if missing := {"player", *names} - set(header):
        raise InputError(
            f"{path}:1: no column {min(missing)!r} (ratings by {system.name} have player,"
            f" {', '.join(names)} and may have games)"
        )
    if len(set(header)) < len(header):
        raise InputError(f"{path}:1: a column is here twice")
    return header


def _known(where: str, row: Mapping[str, str], system: System) -> Known:
    """Read one row of a ``ratings.csv``."""
    player = row["player"]
    if not player:
        raise InputError(f"{where}: player: the cell is empty")
    state = [_number(where, row, column) for column in system.columns]
    games = _number(where, row, _GAMES) if "games" in row else 0.0
    if games != int(games):
        raise InputError(f"{where}: games: {row['games']!r} (allowed: a whole number)")
    return Known(player, state, int(games))


def _number(where: str, row: Mapping[str, str], column: Column) -> float:
    cell = row[column.name]
    value = real_number(cell)
    if value is None or not column.low <= value <= column.high:
        allowed = f"a number from {column.low:g} to {column.high:g}"
        raise InputError(f"{where}: {column.name}: {cell!r} (allowed: {allowed})")
    return value


def _system_beside(path: Path) -> str | None:
    """Return the system by which a ``ratings.csv`` was made, if a manifest beside it says so."""
    if path.name != RATINGS:
        return None
    try:
        beside = read_manifest(path.parent, Manifest)
    except (OSError, InputError):
        return None
    return beside.system if beside.command == "rate" else None


def claim(
    out: Path, log: GameLog, ratings: Path | None, identity: Mapping[str, object]
) -> RunFolder:
    """Return the folder of a rating, claimed.

    Parameters
    ----------
    out : Path
        The folder.
    log : GameLog
        The games.
    ratings : Path or None
        The earlier ratings.
    identity : mapping
        What else distinguishes this rating from others.

    Raises
    ------
    InputError
        If the folder cannot be used, or holds another rating, or would lose what is read.
    """
    for path in (log.path, ratings):
        if path and path.resolve() in [(out / name).resolve() for name in WRITTEN]:
            raise InputError(
                f"{option('out')} {out}: would replace what is read, {path}; choose another folder"
            )
    files = {
        "games_sha256": log.sha256(),
        "ratings_sha256": sha256(ratings) if ratings else None,
    }
    return RunFolder(out, "rate", None, {**identity, **files}, facts={"source": log.name})


def write_ratings(path: Path, ranking: Ranking) -> None:
    """Write ``ratings.csv``, atomically."""
    columns = ranking.columns()
    with write_atomically(path) as file:
        file.write(",".join(columns) + "\n")
        file.write(lines(tuple(columns.values())))
