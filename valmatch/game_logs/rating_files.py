"""The folder of a rating: its files, and what the next rating takes from them."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO, TypeVar

import numpy as np
from pydantic import Field
from pydantic_core import to_json

from valmatch.errors import InputError, option
from valmatch.execution.interruption import held_signals
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.reading.tables import time_text
from valmatch.game_logs.roster import COUNTS, LAST_GAME, RATINGS, Played, RatedPlayer
from valmatch.game_logs.whole_log.result import BatchRating
from valmatch.inputs.csv_reader import read_rows
from valmatch.inputs.files import readable, sha256
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.games import Games
from valmatch.ratings.parameters import BatchSystem, Parametric
from valmatch.ratings.system import System
from valmatch.storage.manifest import Count, Manifest, ManifestPart, read_manifest
from valmatch.storage.output import MANIFEST, csv_line, write_csv, write_json
from valmatch.storage.results import SUMMARY, Result, ResultFiles, Warnings
from valmatch.storage.run_folder import RunFolder
from valmatch.text.terminal import Note, shown

HISTORY = "history.csv"
KINDS = {True: "dates", False: "numbers"}  # what times are called by whether they are moments


class RatedFile(ManifestPart):
    """A log that was rated, as a manifest holds it: its digest and its size."""

    sha256: str
    bytes: Count


class Reading(ManifestPart):
    """How a log was understood, as far as the next one is read so, too."""

    columns: dict[str, str]
    guessed: list[str]
    results: dict[str, str]
    date_format: str | None


class RatingManifest(Manifest):
    """The manifest of a rating, as far as later ones, or making it again, depend on it."""

    parameters: dict[str, float] = Field(default_factory=dict)
    cap: str | None = None
    rated: list[RatedFile] = Field(default_factory=list)
    reading: Reading | None = None


class PreviousRatings:
    """A ``ratings.csv``; its ranks do not count, nor do ratings that follow from the state."""

    def __init__(self, path: Path) -> None:
        self.path = path / RATINGS if path.is_dir() else path  # the file
        # how the ratings were made, and the manifest that says so; None without one
        self.made, self.manifest = RatingManifest(), None
        manifest = self.path.parent / MANIFEST
        if self.path.name == RATINGS and manifest.exists():
            with readable(manifest):
                if read_manifest(self.path.parent, Manifest).command in ("rate", "rank"):
                    self.made = read_manifest(self.path.parent, RatingManifest)
                    self.manifest = manifest

    def made_by(self) -> str:
        """Return the system that made the ratings."""
        if self.made.system is None:
            if not self.path.exists():
                raise InputError(f"{self.path}: no such file")
            says = f"{option('system')} says by which system it is"
            raise InputError(f"{self.path}: no {MANIFEST} of a rating beside it: {says}")
        return self.made.system

    def check(self, system: Parametric) -> None:
        """Check that a system can go on from these ratings."""
        if self.made.system not in (None, system.name):
            what = f"holds ratings by {self.made.system} (allowed: by {system.name})"
            raise InputError(f"{self.path}: {what}")
        limits = {parameter.name: parameter for parameter in system.parameters}
        for name, value in self.made.parameters.items():
            what = "is none of the system"
            if of := limits.get(name):
                what = f"(allowed: {of.low!r} to {of.high!r})"
            if not of or not of.low <= value <= of.high:
                at = f"{self.manifest}: damaged: parameters.{name}"
                raise InputError(f"{at}: {value!r} {what}")

    def remark(self, system: System, parameters: Mapping[str, float]) -> str:
        """Say which values of parameters that are not given count now; "" if it goes unsaid."""
        if self.manifest is None:
            return f"{self.path}: no {MANIFEST} of a rating beside it: parameters are as published"
        published = {of.name: of.published for of in system.parameters if of.name not in parameters}
        made = {name: self.made.parameters.get(name, value) for name, value in published.items()}
        taken = [f"{name} = {x!r}" for name, x in made.items() if x != published[name]]
        return Note(f"{', '.join(taken)}: as in {self.manifest}") if taken else ""

    def players(self, system: System) -> list[RatedPlayer]:
        """Read the players."""
        kept = [column.name for column in system.columns]
        counts = ("games", *COUNTS)

        def choose(header: Sequence[str], where: str) -> list[str]:
            if missing := {"player", *kept} - set(header):
                has = f"ratings by {system.name} have player, {', '.join(kept)} and may have games"
                raise InputError(f"{where}: no column {min(missing)!r} ({has})")
            optional = [name for name in (*counts, LAST_GAME) if name in header]
            return ["player", *kept, *optional]

        players: dict[str, RatedPlayer] = {}
        for row in read_rows(self.path, choose, padded=True):
            name = row.text("player")
            state = [row.number_within(of.name, of.low, of.high) for of in system.columns]
            games, *ends = (row.whole(n, 0.0, 1e15) if n in row.cells else 0 for n in counts)
            if name in players:
                raise row.wrong("player", f"{shown(name)} is here twice")
            players[name] = RatedPlayer(name, state, games, ends, *row.time(LAST_GAME))
        return list(players.values())

    def of_whole_log(self, system: BatchSystem) -> BatchRating:
        """Read the ratings of a whole log, from the folder that `rank` wrote."""
        if self.manifest is None:
            what = "no manifest of a rating beside it" if self.path.exists() else "no such file"
            raise InputError(f"{self.path}: {what} (allowed: a folder of `rank`)")
        self.check(system)
        return BatchRating.read(ResultFiles(self.path.parent, self.made))

    def refuse_rated(self, log: GameLog) -> None:
        """Refuse a log that is one of those rated here, or one of them with more games."""
        rated = [file for file in self.made.rated if file.bytes <= log.size]
        rated.sort(key=lambda file: file.bytes)
        digests = log.file.digests([file.bytes for file in rated])
        for file, digest in zip(rated, digests, strict=True):
            if file.sha256 == digest:
                what = "was" if file.bytes == log.size else "begins with what was"
                again = f"{option('again=True')} rates it once more"
                raise InputError(f"{log.name}: {what} rated already, for {self.path} ({again})")

    def refuse_times(
        self, log: GameLog, known: Sequence[RatedPlayer], first: float, again: bool
    ) -> None:
        """Refuse a log that begins before the last game rated here."""
        timed = [player for player in known if not math.isnan(player.last)]
        if not (timed and log.timed):
            return
        last = max(player.last for player in timed)
        time = log.columns.names[log.columns.places["time"]]
        if any(player.dated != log.dated for player in timed):
            raise InputError(
                f"{log.name}: {time}: holds {KINDS[log.dated]}, {LAST_GAME} of {self.path}"
                f" {KINDS[not log.dated]} (allowed: the same in both)"
            )
        if first <= last and not again:
            here, there = (time_text(value, log.dated) for value in (first, last))
            raise InputError(
                f"{log.name}: {time}: its first game was at {here}, but {self.path} has rated games"
                f" up to {there} ({option('again=True')} rates it all the same)"
            )


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
    files = (log.path, ratings, ratings.parent / MANIFEST if ratings else None)
    read = [path for path in files if path]
    return RunFolder(out, command, None, {**identity, **digests}, facts=facts, read=read)


def read_games(log: GameLog, warn: Warnings, folder: RunFolder | None) -> Games:
    """Return the games of a log, one at least, and pass on what is to be known of them."""
    games, warnings = log.games(), log.warnings()
    warn(*warnings)
    if folder:
        folder.remark(warnings)
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


class HistoryWriter:
    """Writes ``history.csv``: a row for each player of each game, in play order."""

    def __init__(self, file: TextIO, log: GameLog, of_zonestats: bool) -> None:
        self._file, self._log, self._of_zonestats = file, log, of_zonestats
        self._players, self._begun = np.array(text_cells(log.players.texts), object), False

    def append(self, games: Games, played: Played) -> None:
        """Write some games, at least one."""
        log, sides = self._log, np.diff(games.game_starts)
        side_of_row = np.repeat(np.arange(len(games.points)), np.diff(games.side_starts))
        game_of_row = np.repeat(np.arange(games.n_games), sides)[side_of_row]
        opponents, assessed = np.repeat(sides - 1, sides), played.assessed
        names = (games.names + 1).tolist()  # without a column for it, rows among the data
        if log.game_names is not None:
            names = text_cells([log.game_names[game - 1] for game in names])
        columns = {"game": _at(list(map(str, names)), game_of_row)}
        if log.timed:
            columns["time"] = _at(times(games.times, log.dated), game_of_row)
        columns |= {
            "player": self._players[games.players].tolist(),
            "side": _at(list(map(str, range(1, int(sides.max()) + 1))), games.sides),
            "expected": _at(numerals(assessed.expected / opponents), side_of_row),
            "score": _at(numerals(assessed.scored / opponents), side_of_row),
            "rating_before": numerals(played.before),
            "rating_after": numerals(played.after),
        }
        if self._of_zonestats:
            capped = ["1" if scale < 1.0 else "0" for scale in assessed.scales]
            columns |= {
                "score_per_hour": numerals(games.rates),
                "rating_offset": numerals(assessed.offsets),
                "scale": _at(numerals(assessed.scales), game_of_row),
                "capped": _at(capped, game_of_row),
            }
        if not self._begun:
            self._file.write(csv_line(columns))
            self._begun = True
        self._file.write("\n".join([*map(",".join, zip(*columns.values(), strict=True)), ""]))


def _at(cells: list[str], index: Ints) -> list[str]:
    """Return some of the cells, or all where each row has one."""
    if len(cells) == len(index):
        return cells
    some: list[str] = np.array(cells, object)[index].tolist()
    return some


_SPECIAL = re.compile("[\"',=+@\t\r\n-]")


def text_cells(texts: list[str]) -> list[str]:
    """Return texts as cells, quoted or marked where they have to be."""
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
