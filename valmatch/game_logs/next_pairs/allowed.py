"""The pairs that may play: those of a file, without players who are not there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from valmatch.errors import InputError, option
from valmatch.inputs.csv_reader import Dialect, read_rows
from valmatch.kernels.arrays import Bools
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

_COLUMNS = ("player_a", "player_b")

_SHOWN = 10  # names that a message lists; of more it says what is near alone


def allowed_pairs(names: Sequence[str], path: Path | None, without: Sequence[str]) -> Bools:
    """Return which pairs may play, (n, n) and symmetric."""
    places = {name: k for k, name in enumerate(names)}
    allowed = ~np.eye(len(names), dtype=np.bool_)
    if path is not None:
        allowed = _read(path, places)
    for name in without:
        if name not in places:
            raise InputError(f"{option('without')}: {shown(name)} is not rated{_near(name, names)}")
        allowed[places[name], :] = allowed[:, places[name]] = False
    if not allowed.any():
        what = "without those players" if path is None else f"{path} and who is there"
        raise InputError(f"{option('allowed')}: no pair is left to play ({what})")
    return allowed


def _near(name: str, names: Sequence[str]) -> str:
    """Return what may be meant by a name that is not known."""
    found = hint(name, names)
    return "" if found.startswith("allowed") and len(names) > _SHOWN else f" ({found})"


def _read(path: Path, places: dict[str, int]) -> Bools:
    """Read pairs."""

    def choose(header: Sequence[str], place: str) -> Sequence[str]:
        if missing := [name for name in _COLUMNS if name not in header]:
            found = ", ".join(header)
            raise InputError(
                f"{place}: no column {missing[0]} (pairs that may play have the columns player_a"
                f" and player_b; found: {found})"
            )
        return _COLUMNS

    allowed = np.zeros((len(places), len(places)), np.bool_)
    for row in read_rows(path, choose, Dialect(trimmed=True, placed=True)):
        pair = [row.text(column) for column in _COLUMNS]
        for column, name in zip(_COLUMNS, pair, strict=True):
            if name not in places:
                raise row.wrong(column, f"{shown(name)} is not rated{_near(name, list(places))}")
        if pair[0] == pair[1]:
            raise row.wrong("player_b", f"{shown(pair[1])} cannot play himself")
        first, second = places[pair[0]], places[pair[1]]
        allowed[first, second] = allowed[second, first] = True
    return allowed
