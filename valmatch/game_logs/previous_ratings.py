"""Previous ratings to go on from: their players, and how they came to be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from valmatch.errors import InputError, option
from valmatch.game_logs.roster import COUNTS, LAST_GAME, RATINGS, RatedPlayer
from valmatch.inputs.csv_reader import Dialect, Row, read_rows
from valmatch.ratings.system import BatchSystem, System
from valmatch.storage.contents import MANIFEST
from valmatch.storage.manifest import Count, Manifest, ManifestPart, read_manifest
from valmatch.text.terminal import Note, shown

if TYPE_CHECKING:
    from valmatch.game_logs.reading.log import GameLog

_COUNTS = ("games", *COUNTS)

KINDS = {True: "dates", False: "numbers"}  # what times are called by whether they are moments


class RatedFile(ManifestPart):
    """A log that was rated, as a manifest holds it: its digest and its size."""

    sha256: str
    bytes: Count


class RatingManifest(Manifest):
    """The manifest of a rating, as far as later ones, or making it again, depend on it."""

    parameters: dict[str, float] = Field(default_factory=dict)
    cap: str | None = None
    rated: list[RatedFile] = Field(default_factory=list)
    games_sha256: str | None = None
    ratings_sha256: str | None = None


class PreviousRatings:
    """A ``ratings.csv``; its ranks do not count, nor do ratings that follow from the state."""

    def __init__(self, path: Path) -> None:
        self.path = path / RATINGS if path.is_dir() else path  # the file
        made = self._made()
        # the manifest beside it, which all below is from; None without one
        self.manifest = self.path.parent / MANIFEST if made else None
        made = made or RatingManifest()
        # system, cap: by what the ratings were made
        self.system, self.cap = made.system, made.cap
        # the values of the parameters that they were made with
        self.parameters: Mapping[str, float] = made.parameters
        self.rated = made.rated  # the logs that they were made from

    def _made(self) -> RatingManifest | None:
        """Return the manifest of the rating, if it is there."""
        if self.path.name != RATINGS:
            return None
        folder = self.path.parent
        try:
            found = read_manifest(folder, Manifest)
            rated = found.command in ("rate", "rank")
            return read_manifest(folder, RatingManifest) if rated else None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{folder / MANIFEST}: cannot be read: {error.strerror}") from None

    def made_by(self) -> str:
        """Return the system that made the ratings."""
        if self.system is None:
            raise InputError(
                f"{self.path}: no {MANIFEST} of a rating beside it: {option('system')} says by"
                " which system it is"
            )
        return self.system

    def check(self, system: System | BatchSystem) -> None:
        """Check that a system can go on from these ratings."""
        if self.system not in (None, system.name):
            what = f"holds ratings by {self.system} (allowed: by {system.name})"
            raise InputError(f"{self.path}: {what}")
        limits = {parameter.name: parameter for parameter in system.parameters}
        for name, value in self.parameters.items():
            parameter = limits.get(name)
            if parameter is None or not parameter.low <= value <= parameter.high:
                what = (
                    f"(allowed: {parameter.low!r} to {parameter.high!r})"
                    if parameter
                    else "is none of the system"
                )
                raise InputError(f"{self.manifest}: damaged: parameters.{name}: {value!r} {what}")

    def remark(self, system: System, given: Mapping[str, float]) -> str:
        """Say which values of parameters that are not given count now; "" if it goes unsaid."""
        if self.manifest is None:
            return f"{self.path}: no {MANIFEST} of a rating beside it: parameters are as published"
        taken = [
            f"{parameter.name} = {self.parameters[parameter.name]!r}"
            for parameter in system.parameters
            if parameter.name not in given
            and self.parameters.get(parameter.name, parameter.published) != parameter.published
        ]
        return Note(f"{', '.join(taken)}: as in {self.manifest}") if taken else ""

    def players(self, system: System) -> list[RatedPlayer]:
        """Read the players."""
        players: dict[str, RatedPlayer] = {}
        choose = partial(_columns, system)
        for row in read_rows(self.path, choose, Dialect(padded=True)):
            player = _player(row, system)
            if player.player in players:
                raise row.wrong("player", f"{shown(player.player)} is here twice")
            players[player.player] = player
        return list(players.values())

    def refuse_rated(self, log: GameLog) -> None:
        """Refuse a log that is one of those rated here, or one of them with more games."""
        rated = sorted(
            (file for file in self.rated if file.bytes <= log.size), key=lambda file: file.bytes
        )
        digests = log.digests([file.bytes for file in rated])
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
        last = max(timed, key=lambda player: player.last)
        time = log.columns.names[log.columns.places["time"]]
        if any(player.dated != log.dated for player in timed):
            raise InputError(
                f"{log.name}: {time}: holds {KINDS[log.dated]}, {LAST_GAME} of {self.path}"
                f" {KINDS[not log.dated]} (allowed: the same in both)"
            )
        if first <= last.last and not again:
            from valmatch.game_logs.reading.cells import time_text

            here, there = (time_text(value, log.dated) for value in (first, last.last))
            raise InputError(
                f"{log.name}: {time}: its first game was at {here}, but {self.path} has rated games"
                f" up to {there} ({option('again=True')} rates it all the same)"
            )


def _columns(system: System, header: Sequence[str], place: str) -> list[str]:
    """Return the columns to read of a ``ratings.csv``."""
    names = [column.name for column in system.columns]
    if missing := {"player", *names} - set(header):
        raise InputError(
            f"{place}: no column {min(missing)!r} (ratings by {system.name} have player,"
            f" {', '.join(names)} and may have games)"
        )
    optional = [name for name in (*_COUNTS, LAST_GAME) if name in header]
    return ["player", *names, *optional]


def _player(row: Row, system: System) -> RatedPlayer:
    """Return what one row of a ``ratings.csv`` says of a player."""
    player = row.text("player")
    state = [row.number_within(column.name, column.low, column.high) for column in system.columns]
    games, *counts = (row.whole(name, 0.0, 1e15) if name in row.cells else 0 for name in _COUNTS)
    return RatedPlayer(player, state, games, counts, *row.time(LAST_GAME))
