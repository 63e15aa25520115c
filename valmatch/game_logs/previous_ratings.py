"""Previous ratings to go on from: their players, and how they came to be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from valmatch.errors import InputError, option
from valmatch.game_logs.reading.cells import time_text
from valmatch.game_logs.roster import COUNTS, LAST_GAME, RATINGS, RatedPlayer
from valmatch.game_logs.whole_log.result import BatchRating
from valmatch.inputs.csv_reader import Dialect, read_rows
from valmatch.ratings.parameters import BatchSystem
from valmatch.ratings.system import System
from valmatch.storage.contents import MANIFEST
from valmatch.storage.manifest import Count, Manifest, ManifestPart, read_manifest
from valmatch.storage.result_files import ResultFiles
from valmatch.text.terminal import Note, shown

if TYPE_CHECKING:
    from valmatch.game_logs.reading.log import GameLog

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
            try:
                if read_manifest(self.path.parent, Manifest).command in ("rate", "rank"):
                    self.made = read_manifest(self.path.parent, RatingManifest)
                    self.manifest = manifest
            except OSError as error:
                raise InputError(f"{manifest}: cannot be read: {error.strerror}") from None

    @property
    def reading(self) -> dict[str, Any] | None:
        """How the last log was understood that they were made from."""
        return self.made.reading.model_dump() if self.made.reading else None

    def made_by(self) -> str:
        """Return the system that made the ratings."""
        if self.made.system is None:
            if not self.path.exists():
                raise InputError(f"{self.path}: no such file")
            raise InputError(
                f"{self.path}: no {MANIFEST} of a rating beside it: {option('system')} says by"
                " which system it is"
            )
        return self.made.system

    def check(self, system: System | BatchSystem) -> None:
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
                raise InputError(
                    f"{where}: no column {min(missing)!r} (ratings by {system.name} have player,"
                    f" {', '.join(kept)} and may have games)"
                )
            optional = [name for name in (*counts, LAST_GAME) if name in header]
            return ["player", *kept, *optional]

        players: dict[str, RatedPlayer] = {}
        for row in read_rows(self.path, choose, Dialect(padded=True)):
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
            there = self.path.exists()
            what = "no manifest of a rating beside it" if there else "no such file"
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
                raise InputError(
                    f"{log.name}: {what} rated already, for {self.path}"
                    f" ({option('again=True')} rates it once more)"
                )

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
