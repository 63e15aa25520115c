"""The folder of a rating and its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO, TypeVar

import numpy as np
from pydantic_core import to_json

from valmatch.errors import InputError
from valmatch.execution.interruption import held_signals
from valmatch.game_logs.options import RateOptions
from valmatch.game_logs.previous_ratings import PreviousRatings
from valmatch.game_logs.reading.cells import time_text
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.scores import Played
from valmatch.game_logs.warnings import log_warnings
from valmatch.inputs.files import sha256
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.games import Games
from valmatch.storage.contents import MANIFEST
from valmatch.storage.output import csv_line, write_csv, write_json
from valmatch.storage.results import SUMMARY, Result
from valmatch.storage.run_folder import RunFolder

HISTORY = "history.csv"


def claim(
    command: str,
    out: Path,
    log: GameLog,
    previous: PreviousRatings | None,
    identity: Mapping[str, object],
) -> RunFolder:
    """Return the folder of a rating, claimed; it holds the digests of what the rating reads."""
    ratings, games = previous.path if previous else None, log.file.digests([log.size])[0]
    rated = [file.model_dump() for file in previous.made.rated] if previous else []
    facts = {"source": log.name, "rated": [*rated, {"sha256": games, "bytes": log.size}]}
    digests = {"games_sha256": games, "ratings_sha256": sha256(ratings) if ratings else None}
    read = [log.path, ratings, ratings.parent / MANIFEST if ratings else None]
    return RunFolder(
        out,
        command,
        None,
        {**identity, **digests},
        facts=facts,
        read=[path for path in read if path],
    )


def read_games(
    log: GameLog, options: RateOptions, warn: Callable[[str], None], folder: RunFolder | None
) -> Games:
    """Return the games of a log, one at least, and pass on what is to be known of them."""
    games, warnings = log.games(options.progress), log_warnings(log)
    for warning in warnings:
        warn(warning)
    if folder:
        folder.remark_input(warnings)
    if not games.n_games:
        raise InputError(f"{log.name}: holds no game that can be rated")
    return games


R = TypeVar("R", bound=Result)


def write_result(
    folder: RunFolder,
    result: R,
    tables: Mapping[str, Mapping[str, Sequence[Any]]],
    also: Callable[[], object] = lambda: None,
    **facts: object,
) -> R:
    """Write tables, the summary and what else there is of a result; close and name its folder."""
    with held_signals():  # a signal finds all files or none
        also()
        for name, columns in tables.items():
            write_csv(folder.path / name, columns)
        write_json(folder.path / SUMMARY, result.summary())
        folder.close("complete", **facts)
    named: R = replace(result, folder=folder.path)  # type: ignore[type-var]
    return named


# The history of a rating: a row for each player of each game.

_COLUMNS = ("player", "side", "expected", "score", "rating_before", "rating_after")
_OF_ZONESTATS = ("score_per_hour", "rating_offset", "scale", "capped")


class HistoryWriter:
    """Writes ``history.csv``: a row for each player of each game, in play order."""

    def __init__(self, file: TextIO, log: GameLog, of_zonestats: bool) -> None:
        self._file, self._log, self._of_zonestats = file, log, of_zonestats
        self._players = np.array(text_cells(log.players.texts), object)
        first = ("game", "time") if log.timed else ("game",)
        file.write(csv_line([*first, *_COLUMNS, *(_OF_ZONESTATS if of_zonestats else ())]))

    def append(self, games: Games, played: Played) -> None:
        """Write some games, at least one."""
        log, sides = self._log, np.diff(games.game_starts)
        side_of_row = np.repeat(np.arange(len(games.points)), np.diff(games.side_starts))
        game_of_row = np.repeat(np.arange(games.n_games), sides)[side_of_row]
        opponents, assessed = np.repeat(sides - 1, sides), played.assessed
        names = (games.names + 1).tolist()  # without a column for it, rows among the data
        if log.game_names is not None:
            names = text_cells([log.game_names[game - 1] for game in names])
        columns = [_at(list(map(str, names)), game_of_row)]
        if log.timed:
            columns.append(_at(times(games.times, log.dated), game_of_row))
        columns += [
            self._players[games.players].tolist(),
            _at(list(map(str, range(1, int(sides.max()) + 1))), games.sides),
            _at(numerals(assessed.expected / opponents), side_of_row),
            _at(numerals(assessed.scored / opponents), side_of_row),
            numerals(played.before),
            numerals(played.after),
        ]
        if self._of_zonestats:
            columns += [
                numerals(games.rates),
                numerals(assessed.offsets),
                _at(numerals(assessed.scales), game_of_row),
                _at(["1" if scale < 1.0 else "0" for scale in assessed.scales], game_of_row),
            ]
        self._file.write("\n".join([*map(",".join, zip(*columns, strict=True)), ""]))


def _at(cells: list[str], index: Ints) -> list[str]:
    """Return some of the cells, or all where each row has one."""
    if len(cells) == len(index):
        return cells
    some: list[str] = np.array(cells, object)[index].tolist()
    return some


_SPECIAL = re.compile("[\"',=+@\t\r\n-]")


def text_cells(texts: list[str]) -> list[str]:
    """Return texts as cells, quoted or marked where they have to be."""
    if not _SPECIAL.search("".join(texts)):
        return texts
    return [csv_line([text])[:-1] if _SPECIAL.search(text) else text for text in texts]


def numerals(values: Floats) -> list[str]:
    """Return numbers, at least one, as `repr` writes them."""
    # The serializer of pydantic writes a float twelve times as fast as repr: the same digits,
    # but other exponents, which only numbers of unusual size have.
    texts = to_json(values.tolist()).decode()[1:-1].split(",")
    sizes = np.abs(values)
    for k in np.flatnonzero(~((sizes >= 1e-4) & (sizes < 1e16) | (sizes == 0))).tolist():
        texts[k] = repr(values[k].item())
    return texts


def times(values: Floats, dated: bool) -> list[str]:
    """Return the times of games, see `time_text`."""
    if not dated or (values != np.floor(values)).any():
        return [time_text(value, dated) for value in values.tolist()]
    text = "\n".join([*np.datetime_as_string(values.astype("M8[s]")).tolist(), ""])
    return text.replace("T", " ").replace(" 00:00:00\n", "\n").split("\n")[:-1]
