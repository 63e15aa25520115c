"""The files of a rating: earlier ratings in, results out."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from valmatch.config.input_files import regular
from valmatch.errors import InputError, option
from valmatch.game_logs.csv_text import lines
from valmatch.game_logs.roster import Known, Ranking
from valmatch.game_logs.system import Column, System
from valmatch.storage.output import environment, to_json, write_atomically

__all__ = ["manifest", "output_folder", "read_ratings", "write_json", "write_ratings"]

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
    earlier = _manifest_beside(path).get("system", system.name)
    if earlier != system.name:
        raise InputError(f"{path}: holds ratings by {earlier} (allowed: by {system.name})")
    known: dict[str, Known] = {}
    try:
        with regular(path).open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, restkey="")
            names = [column.name for column in system.columns]
            missing = {"player", *names} - set(rows.fieldnames or ())
            if missing:
                raise InputError(
                    f"{path}:1: no column {min(missing)!r} (ratings by {system.name} have player,"
                    f" {', '.join(names)} and may have games)"
                )
            for row in rows:
                one = _known(f"{path}:{rows.line_num}", row, system)
                if one.player in known:
                    raise InputError(
                        f"{path}:{rows.line_num}: player: {one.player!r} is here twice"
                    )
                known[one.player] = one
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: is no CSV file in UTF-8: {error}") from None
    return list(known.values())


def _known(where: str, row: Mapping[str, str | None], system: System) -> Known:
    """Read one row of a ``ratings.csv``."""
    player = row["player"] or ""
    if not player:
        raise InputError(f"{where}: player: the cell is empty")
    state = [_number(where, row, column) for column in system.columns]
    games = _number(where, row, _GAMES) if "games" in row else 0.0
    if games != int(games):
        raise InputError(f"{where}: games: {row['games']!r} (allowed: a whole number)")
    return Known(player, state, int(games))


def _number(where: str, row: Mapping[str, str | None], column: Column) -> float:
    cell = row[column.name] or ""
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not column.low <= value <= column.high:
        allowed = f"a number from {column.low:g} to {column.high:g}"
        raise InputError(f"{where}: {column.name}: {cell!r} (allowed: {allowed})")
    return value


def _manifest_beside(path: Path) -> dict[str, Any]:
    try:
        content = json.loads((path.parent / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    ours = isinstance(content, dict) and content.get("command") == "rate"
    return content if ours and path.name == "ratings.csv" else {}


@contextmanager
def output_folder(path: Path) -> Iterator[None]:
    """Make a folder for results; if the block fails, take it away unless it was there before.

    Raises
    ------
    InputError
        If the folder cannot be used, or holds the results of another command.
    """
    if path.exists() and not path.is_dir():
        raise InputError(f"{option('out')} {path}: is a file (allowed: a folder)")
    with suppress(OSError, ValueError):
        command = json.loads((path / "manifest.json").read_text(encoding="utf-8"))["command"]
        if command != "rate":
            raise InputError(
                f"{option('out')} {path}: holds the results of another command ({command});"
                " choose another"
                " folder"
            )
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{option('out')} {path}: cannot be used: {error.strerror}") from None
    try:
        yield
    except BaseException:
        for folder in new:
            with suppress(OSError):
                folder.rmdir()
        raise


def write_ratings(path: Path, ranking: Ranking) -> None:
    """Write ``ratings.csv``, atomically."""
    columns = ranking.columns()
    with write_atomically(path) as file:
        file.write(",".join(columns) + "\n")
        file.write(lines(tuple(columns.values())))


def manifest(
    source: str, system: System, values: Mapping[str, float], columns: Mapping[str, str]
) -> dict[str, Any]:
    """Return what ``manifest.json`` holds."""
    return {
        "command": "rate",
        "status": "complete",
        "system": system.name,
        "parameters": dict(values),
        "source": source,
        "columns": dict(columns),
        **environment(),
    }


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON, atomically."""
    with write_atomically(path) as file:
        file.write(to_json(content))
