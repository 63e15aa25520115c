"""The names of players whom a log calls by aliases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from valmatch.errors import InputError
from valmatch.inputs.csv_reader import Dialect, Row, read_rows, unmark, with_columns
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

    def spelled(self, cell: str) -> str:
        """Return the name that a cell stands for."""
        name = unmark(cell)
        return self.names.get(name, name)

    def check(self, log: str, cells: Iterable[str]) -> None:
        """Refuse aliases that the cells of a whole log do not hold."""
        known = set(map(unmark, cells)) if self.names else set()
        for alias in self.names:
            if alias not in known:
                what = f"alias: {shown(alias)} is nobody in {log}"
                raise InputError(f"{self.places[alias]}: {what}")


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
