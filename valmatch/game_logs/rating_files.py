"""The folder of a rating and its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import numpy as np

from valmatch.errors import InputError, option
from valmatch.execution.interruption import held_signals
from valmatch.game_logs.documents import SUMMARY
from valmatch.game_logs.options import RateOptions
from valmatch.game_logs.reading.cells import time_text
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.scores import Played
from valmatch.game_logs.warnings import log_warnings
from valmatch.inputs.files import sha256
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.games import Games
from valmatch.storage.contents import MANIFEST
from valmatch.storage.output import csv_line, write_csv, write_json
from valmatch.storage.results import Result
from valmatch.storage.run_folder import RunFolder

if TYPE_CHECKING:
    from valmatch.game_logs.previous_ratings import PreviousRatings, RatingManifest


HISTORY = "history.csv"

CORRECTED = ("games_sha256", "ratings_sha256", "given")
"""Entries of its identity that differ once its log, or that of an earlier one, was corrected."""


def claim(
    command: str,
    out: Path,
    log: GameLog,
    previous: PreviousRatings | None,
    identity: Mapping[str, object],
) -> RunFolder:
    """Return the folder of a rating, claimed; name the file that has changed since it was made."""
    ratings = previous.path if previous else None
    digests = {
        "games_sha256": log.file.digests([log.size])[0],
        "ratings_sha256": sha256(ratings) if ratings else None,
    }
    identity, made = {**identity, **digests}, _made_in(out, command)
    if made and all(made.get(k) == v for k, v in identity.items() if k not in CORRECTED):
        changed = [key for key, digest in digests.items() if made.get(key) != digest]
        if "games_sha256" in changed and Path(made.source).name != Path(log.name).name:
            raise InputError(
                f"{option('out')} {out}: holds the results of another run, the rating of"
                f" {made.source} (this run rates {log.name}); choose another folder"
            )
        if changed and (made.ratings_sha256 is None) == (ratings is None):
            what = log.name if "games_sha256" in changed else ratings
            raise InputError(
                f"{what}: has changed since {out} was made: delete the folder {out} and rate again"
            )
    rated = [file.model_dump() for file in previous.made.rated] if previous else []
    rated.append({"sha256": digests["games_sha256"], "bytes": log.size})
    facts = {"source": log.name, "rated": rated}
    read = [log.path, ratings, ratings.parent / MANIFEST if ratings else None]
    return RunFolder(
        out, command, None, identity, facts=facts, read=[path for path in read if path]
    )


def _made_in(folder: Path, command: str) -> RatingManifest | None:
    """Return the manifest of the rating that a folder holds; None where there is none."""
    with suppress(OSError, InputError):
        (folder / MANIFEST).stat()  # what checks one takes long to import
        from valmatch.game_logs.previous_ratings import RatingManifest
        from valmatch.storage.manifest import read_manifest

        made = read_manifest(folder, RatingManifest)
        return made if made.command == command else None
    return None


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

TIME = "time"
COLUMNS = ("game", "player", "side", "expected", "score", "rating_before", "rating_after")
OF_ZONESTATS = ("score_per_hour", "rating_offset", "scale", "capped")


class HistoryWriter:
    """Writes ``history.csv``: a row for each player of each game, in play order."""

    def __init__(self, file: TextIO, log: GameLog, of_zonestats: bool) -> None:
        self._file, self._log, self._of_zonestats = file, log, of_zonestats
        self._players = np.zeros(0, object)  # the cells of all players
        game, *others = COLUMNS
        time = (TIME,) if log.timed else ()
        file.write(",".join((game, *time, *others, *(OF_ZONESTATS if of_zonestats else ()))) + "\n")

    def append(self, games: Games, played: Played) -> None:
        """Write some games."""
        if not games.n_games:
            return
        sides = np.diff(games.game_starts)
        rows = np.diff(games.side_starts)
        opponents = np.repeat(sides - 1, sides)
        game_of_row = np.repeat(np.repeat(np.arange(games.n_games), sides), rows)
        side_of_row = np.repeat(np.arange(len(rows)), rows)
        log = self._log
        columns = [_at(text_cells(titles(log, games)), game_of_row)]
        if log.timed:
            columns.append(_at(times(games.times, log.dated), game_of_row))
        if len(self._players) < len(log.players.texts):
            self._players = np.array(text_cells(log.players.texts), object)
        columns += [
            self._players[games.players].tolist(),
            _at(list(map(str, range(1, int(sides.max()) + 1))), games.sides),
            _at(numerals(played.assessed.expected / opponents), side_of_row),
            _at(numerals(played.assessed.scored / opponents), side_of_row),
            numerals(played.before),
            numerals(played.after),
        ]
        if self._of_zonestats:
            scales = played.assessed.scales
            columns += [
                numerals(games.rates),
                numerals(played.assessed.offsets),
                _at(numerals(scales), game_of_row),
                _at(["1" if scale < 1.0 else "0" for scale in scales.tolist()], game_of_row),
            ]
        self._file.write("\n".join([*map(",".join, zip(*columns, strict=True)), ""]))


def _at(cells: Sequence[str], index: Ints) -> list[str]:
    """Return some of the cells."""
    if len(cells) == len(index):  # of players who all play alone
        return list(cells)
    some: list[str] = np.array(cells, object)[index].tolist()
    return some


def titles(log: GameLog, games: Games) -> list[str]:
    """Return the names of some games; without a column for it, their rows among the data."""
    if log.game_names is None:
        return list(map(str, (games.names + 1).tolist()))
    return log.game_names.texts(games.names)


_SPECIAL = re.compile("[\"',=+@\t\r\n-]")


def text_cells(texts: list[str]) -> list[str]:
    """Return texts as cells, quoted or marked where they have to be."""
    if not _SPECIAL.search("".join(texts)):
        return texts
    return [csv_line([text])[:-1] if _SPECIAL.search(text) else text for text in texts]


def numerals(values: Floats) -> list[str]:
    """Return numbers, at least one, as `repr` writes them."""
    from pydantic_core import to_json  # takes long to import, and who reads a log needs none of it

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
