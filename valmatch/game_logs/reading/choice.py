"""Whose games of a log are rated, and by which names players go."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.games import reordered
from valmatch.game_logs.names import Names
from valmatch.game_logs.reading.arrange import Arranged
from valmatch.inputs.csv_columns import cells_of
from valmatch.inputs.csv_reader import Dialect, Row, read_rows
from valmatch.kernels.arrays import Bools, Bytes, Ints
from valmatch.text.suggestions import correction
from valmatch.text.terminal import shown

_NAME, _ALIAS = ALIASES = ("name", "alias")
_PLAYER = "player"


@dataclass(frozen=True)
class Choice:
    """By which names players go, and whose games are rated; checked."""

    # the name of whoever the log calls by an alias
    aliases: Mapping[str, str] = field(default_factory=dict)
    # the players among whom games are rated, and where each is named; None: all
    include: Mapping[str, str] | None = None
    # those without whom games are rated, and where each is named
    exclude: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)  # where each alias is given

    def __post_init__(self) -> None:
        for name, place in (*(self.include or {}).items(), *self.exclude.items()):
            if name in self.aliases:
                what = f"{shown(name)} is an alias (allowed: {shown(self.aliases[name])})"
                raise InputError(f"{place}: {what}")
        for name in self.include or {}:
            if name in self.exclude:
                what = f"{shown(name)} is among those of {option('include')}, too"
                raise InputError(f"{self.exclude[name]}: {what}")

    @property
    def narrows(self) -> bool:
        """Whether some games are not rated."""
        return bool(self.given)

    @property
    def given(self) -> list[str]:
        """The options by which games are left out."""
        return [
            *(["include"] if self.include is not None else []),
            *(["exclude"] if self.exclude else []),
        ]

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes a rating by it from others of the same log; None of what is unused."""
        return {
            "aliases": dict(sorted(self.aliases.items())) or None,
            "include": None if self.include is None else sorted(self.include),
            "exclude": sorted(self.exclude) or None,
        }


EVERYBODY = Choice()  # all games, by the names in the log


def read_choice(alias: Path | None, include: str | None, exclude: str | None) -> Choice:
    """Return what options say of players."""
    aliases, places = _read_aliases(alias) if alias is not None else ({}, {})
    kept = None if include is None else _named("include", include)
    return Choice(aliases, kept, _named("exclude", exclude) if exclude is not None else {}, places)


def _read_aliases(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return names by alias, and where each alias is given."""
    found: dict[str, str] = {}
    rows: dict[str, Row] = {}
    for row in _rows(path, ALIASES, "aliases have the columns name, alias"):
        name, alias = row.text(_NAME), row.text(_ALIAS)
        if alias in found:
            raise row.wrong(_ALIAS, f"{shown(alias)} is there twice")
        if alias == name:
            raise row.wrong(_ALIAS, f"{shown(alias)} is the name itself")
        found[alias], rows[alias] = name, row
    for alias, name in found.items():
        if name in found:
            last, met = name, {alias}
            while last in found and last not in met:
                met.add(last)
                last = found[last]
            what = "and so on in a circle" if last in met else f"which goes by {shown(last)}"
            raise rows[alias].wrong(
                _NAME,
                f"{shown(name)} is itself an alias of {shown(found[name])}, {what} (allowed: a name"
                " that is no alias)",
            )
    if not found:
        raise InputError(f"{path}: holds no alias")
    return found, {alias: row.place_of(_ALIAS) for alias, row in rows.items()}


def _named(argument: str, text: str) -> dict[str, str]:
    """Return the players that an option names, and where."""
    path = Path(text)
    if _is_file(path):
        rows = _rows(path, (_PLAYER,), "players have the column player")
        found = {row.text(_PLAYER): row.place_of(_PLAYER) for row in rows}
        if not found:
            raise InputError(f"{path}: names nobody")
        return found
    try:
        text.encode()
        names = cells_of(text)
    except (UnicodeEncodeError, csv.Error):
        names = []
    if not names or not all(names):
        allowed = "names between commas, or a CSV file with a column player"
        raise InputError(f"{option(argument)} {shown(text)}: (allowed: {allowed})")
    return dict.fromkeys(names, option(argument))


def _is_file(path: Path) -> bool:
    """Return whether there is such a file; many names of players cannot be those of files."""
    try:
        return path.is_file()
    except OSError:
        return False


def _rows(path: Path, wanted: Sequence[str], columns: str) -> Iterator[Row]:
    def choose(header: Sequence[str], place: str) -> Sequence[str]:
        if missing := [name for name in wanted if name not in header]:
            found = ", ".join(header)
            raise InputError(f"{place}: no column {missing[0]} ({columns}; found: {found})")
        return wanted

    return read_rows(path, choose, Dialect(trimmed=True, placed=True))


class Chooser:
    """Puts names in the place of aliases while a log is read, and leaves games out."""

    def __init__(self, choice: Choice, players: Names) -> None:
        self._choice, self._players = choice, players
        self._spellings = Names()
        names = [name.encode() for name in choice.aliases.values()]
        for alias in choice.aliases:
            self._spellings.number(alias)
        self._met = np.zeros(len(names), np.bool_)
        self._text = np.frombuffer(b"".join(names), np.uint8)
        self._ends = np.cumsum([0, *map(len, names)]).astype(np.int64)
        self._unwanted: Bools = np.zeros(0, np.bool_)
        self.left_out = 0  # number of games that were not wanted

    def renamed(self, buffer: Bytes, starts: Ints, ends: Ints) -> Bytes:
        """Return a buffer with the names at its end, to which cells with aliases are turned.

        Shapes: `buffer` (bytes,); `starts`, `ends` (rows, columns).
        """
        if not len(self._met):
            return buffer
        numbers, _ = self._spellings.numbers(buffer, starts.ravel(), ends.ravel())
        numbers = numbers.reshape(starts.shape)
        rows = np.nonzero(numbers < len(self._met))
        own = numbers[rows]
        self._met[own] = True
        starts[rows], ends[rows] = len(buffer) + self._ends[own], len(buffer) + self._ends[own + 1]
        return np.concatenate([buffer, self._text])

    def wanted(self, arranged: Arranged) -> Arranged:
        """Return games without those that are not wanted, which are counted."""
        if not self._choice.narrows:
            return arranged
        games = arranged.games
        rows = self._unwanted_players()[games.players]
        sides = np.repeat(np.arange(len(games.points)), np.diff(games.side_starts))
        of_sides = np.repeat(np.arange(games.n_games), np.diff(games.game_starts))
        out = np.bincount(of_sides[sides], rows, games.n_games) > 0.0
        if not out.any():
            return arranged
        self.left_out += int(out.sum())
        kept = np.flatnonzero(~out)
        entries = arranged.entries[~out[of_sides[sides]]]
        return arranged._replace(
            games=reordered(games, kept), kept=arranged.kept[kept], entries=entries
        )

    def _unwanted_players(self) -> Bools:
        """Return whether games with a player are left out, for all players so far."""
        known, count = len(self._unwanted), self._players.count
        include, exclude = self._choice.include, self._choice.exclude
        if known < count:
            names = self._players.texts(range(known, count))
            more = [
                name in exclude or (include is not None and name not in include) for name in names
            ]
            self._unwanted = np.append(self._unwanted, np.array(more, np.bool_))
        return self._unwanted

    def check(self, log: str) -> None:
        """Refuse aliases and players that the whole log does not have."""
        for alias, met in zip(self._choice.aliases, self._met.tolist(), strict=True):
            if not met:
                place = self._choice.places.get(alias, option("alias"))
                raise InputError(f"{place}: alias: {shown(alias)} is nobody in {log}")
        if not self._choice.narrows:
            return
        players = self._players.texts(range(self._players.count))
        known = set(players)
        for named in (self._choice.include or {}, self._choice.exclude):
            for name, place in named.items():
                if name not in known:
                    near = correction(name, players) if len(players) <= HINTED else ""
                    raise InputError(f"{place}: {shown(name)} is nobody in {log}{near}")


HINTED = 1_000  # players among whom a name like a misspelt one is looked for
