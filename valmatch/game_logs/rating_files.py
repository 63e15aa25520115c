"""The folder of a rating and its files."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.csv_rows import lines, numerals, small_numerals, times
from valmatch.game_logs.names import Texts
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.scores import Played
from valmatch.inputs.files import sha256
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.games import Games
from valmatch.storage.contents import MANIFEST
from valmatch.storage.output import write_atomically
from valmatch.storage.run_folder import RunFolder

if TYPE_CHECKING:
    from valmatch.game_logs.previous_ratings import MadeManifest, PreviousRatings
    from valmatch.game_logs.reading.log import GameLog
    from valmatch.game_logs.roster import Ranking


HISTORY, SUMMARY = "history.csv", "summary.json"

CORRECTED = ("games_sha256", "ratings_sha256", "given")
"""Entries of its identity that differ once its log, or that of an earlier one, was corrected."""


def claim(
    command: str,
    out: Path,
    log: GameLog,
    previous: PreviousRatings | None,
    identity: Mapping[str, object],
) -> RunFolder:
    """Return the folder of a rating, claimed."""
    digest = log.sha256()
    ratings = previous.path if previous else None
    files = {"games_sha256": digest, "ratings_sha256": sha256(ratings) if ratings else None}
    rated = [file.model_dump() for file in previous.rated] if previous else []
    rated.append({"sha256": digest, "bytes": log.size})
    whole = {**identity, **files}
    made = _made_in(out, command)
    if made and all(made.get(key) == whole[key] for key in whole if key not in CORRECTED):
        _refuse_changes(out, log, ratings, made, files)
    facts = {"source": log.name, "rated": rated}
    read = [log.path, ratings, ratings.parent / MANIFEST if ratings else None]
    return RunFolder(out, command, None, whole, facts=facts, read=[path for path in read if path])


def _refuse_changes(
    out: Path,
    log: GameLog,
    previous: Path | None,
    made: MadeManifest,
    files: Mapping[str, str | None],
) -> None:
    """Refuse another log than that of a folder, or a file that has changed since it was made."""
    changed = [key for key, digest in files.items() if made.get(key) != digest]
    if "games_sha256" in changed and Path(made.source).name != Path(log.name).name:
        raise InputError(
            f"{option('out')} {out}: holds the results of another run, the rating of"
            f" {made.source} (this run rates {log.name}); choose another folder"
        )
    if not changed or (made.ratings_sha256 is None) != (previous is None):
        return
    what = log.name if "games_sha256" in changed else previous
    raise InputError(
        f"{what}: has changed since {out} was made: delete the folder {out} and rate again"
    )


def _made_in(folder: Path, command: str) -> MadeManifest | None:
    """Return the manifest of the rating that a folder holds; None where there is none."""
    with suppress(OSError, InputError):
        (folder / MANIFEST).stat()  # what checks one takes long to import
        from valmatch.game_logs.previous_ratings import MadeManifest
        from valmatch.storage.manifest import read_manifest

        found = read_manifest(folder, MadeManifest)
        return found if found.command == command else None
    return None


def write_ratings(path: Path, ranking: Ranking) -> None:
    """Write ``ratings.csv``, atomically."""
    from valmatch.game_logs.csv_rows import lines

    columns = ranking.columns()
    with write_atomically(path) as file:
        file.write(",".join(columns) + "\n")
        file.write(lines(tuple(columns.values())))


# The history of a rating: a row for each player of each game.

TIME = "time"
COLUMNS = ("game", "player", "side", "expected", "score", "rating_before", "rating_after")
OF_ZONESTATS = ("score_per_hour", "rating_offset", "scale", "capped")


class HistoryWriter:
    """Writes ``history.csv``: a row for each player of each game, in play order.

    Columns: game, time (where the log has it), player, side (from 1), expected and score (the mean
    over the opposing sides of the predicted and of the actual score: 1, 0.5, 0), rating_before,
    rating_after. By zonestats also: score_per_hour, rating_offset (equation 4), scale (equation 5),
    capped (1 where it is less than 1).
    """

    def __init__(self, file: TextIO, log: GameLog, of_zonestats: bool) -> None:
        self._file, self._log, self._of_zonestats = file, log, of_zonestats
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
        columns: tuple[Texts, ...] = (titles(self._log, games).at(game_of_row),)
        if self._log.timed:
            columns += (times(games.times, self._log.dated).at(game_of_row),)
        columns += (
            self._log.players.cells(games.players),
            small_numerals(games.sides[games.side_starts[:-1]] + 1).at(side_of_row),
            numerals(played.found.expected / opponents).at(side_of_row),
            _scores(played.found.scored, opponents).at(side_of_row),
            numerals(played.before),
            numerals(played.after),
        )
        if self._of_zonestats:
            columns += (
                numerals(games.rates),
                numerals(played.found.offsets),
                numerals(played.found.scales).at(game_of_row),
                small_numerals((played.found.scales < 1.0).astype(np.int64)).at(game_of_row),
            )
        self._file.write(lines(columns))


def titles(log: GameLog, games: Games) -> Texts:
    """Return the names of some games; without a column for it, their rows among the data."""
    names = log.game_names
    return names.cells(games.names) if names else numerals(games.names + 1)


def _scores(scored: Floats, opponents: Ints) -> Texts:
    """Return the mean scores of sides; of games of two sides there are three."""
    if (opponents == 1).all():
        return numerals(np.array([0.0, 0.5, 1.0])).at((2.0 * scored).astype(np.int64))
    return numerals(scored / opponents)
