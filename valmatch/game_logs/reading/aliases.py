"""The names of players whom a log calls by aliases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from valmatch.errors import InputError
from valmatch.game_logs.names import Names, Texts
from valmatch.game_logs.reading.cells import Cells
from valmatch.inputs.csv_reader import Dialect, Row, read_rows, with_columns
from valmatch.text.terminal import shown

_NAME, _ALIAS = ALIASES = ("name", "alias")


@dataclass(frozen=True)
class Aliases:
    """The name of whoever a log calls by an alias; checked."""

    names: Mapping[str, str] = field(default_factory=dict)  # by alias
    places: Mapping[str, str] = field(default_factory=dict)  # where each alias is given

    @property
    def identity(self) -> dict[str, str] | None:
        """What distinguishes a rating by them from others of the same log; None without any."""
        return dict(sorted(self.names.items())) or None


NO_ALIASES = Aliases()


def read_aliases(path: Path) -> Aliases:
    """Read a file with the columns name, alias."""
    found: dict[str, str] = {}
    rows: dict[str, Row] = {}
    choose = with_columns(ALIASES, what="aliases have the columns name, alias")
    for row in read_rows(path, choose, Dialect(trimmed=True, placed=True)):
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
    return Aliases(found, {alias: row.place_of(_ALIAS) for alias, row in rows.items()})


class Renamer:
    """Puts names in the place of aliases while a log is read."""

    def __init__(self, aliases: Aliases) -> None:
        self._aliases = aliases
        self._spellings, self._names = Names(), Texts.of(list(aliases.names.values()))
        self._spellings.numbers(Texts.of(list(aliases.names)))
        self._met = np.zeros(len(aliases.names), np.bool_)

    def renamed(self, cells: Cells, slots: Sequence[int]) -> Cells:
        """Return cells of which those with aliases hold the names, which the buffer ends with."""
        n, behind = len(self._met), len(cells.buffer)
        if not n:
            return cells
        for slot in slots:
            numbers, _ = self._spellings.numbers(cells.column(slot))
            rows = np.flatnonzero(numbers < n)
            self._met[numbers[rows]] = True
            cells.starts[slot, rows] = behind + self._names.starts[numbers[rows]]
            cells.ends[slot, rows] = behind + self._names.ends[numbers[rows]]
        return cells._replace(buffer=np.concatenate([cells.buffer, self._names.buffer]))

    def check(self, log: str) -> None:
        """Refuse aliases that the whole log does not have."""
        for alias, met in zip(self._aliases.names, self._met.tolist(), strict=True):
            if not met:
                what = f"alias: {shown(alias)} is nobody in {log}"
                raise InputError(f"{self._aliases.places[alias]}: {what}")
