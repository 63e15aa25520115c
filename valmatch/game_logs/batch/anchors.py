"""Files of anchors: players whose ratings are known, exactly or with a deviation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from valmatch.errors import InputError
from valmatch.inputs.csv_reader import Dialect, read_rows
from valmatch.inputs.limits import DEVIATION
from valmatch.ratings.bradley_terry.estimating import Anchors
from valmatch.text.notes import Note
from valmatch.text.terminal import shown

_PLAYER, _RATING, _DEVIATION = COLUMNS = ("player", "rating", "deviation")

FARTHEST = 1e6  # largest size of a rating in points, beyond all use

_NAMED = 10


def read_anchors(path: Path, players: Mapping[str, int], warn: Callable[[str], None]) -> Anchors:
    """Read anchors; those who did not play are named and left out."""

    def choose(header: Sequence[str], place: str) -> list[str]:
        missing = [name for name in COLUMNS[:2] if name not in header]
        if missing:
            found = ", ".join(header)
            raise InputError(
                f"{place}: no column {missing[0]} (anchors have the columns player, rating, and"
                f" optionally deviation; found: {found})"
            )
        return [name for name in COLUMNS if name in header]

    found: dict[str, tuple[float, float]] = {}
    for row in read_rows(path, choose, Dialect(trimmed=True, placed=True)):
        name = row.text(_PLAYER)
        if name in found:
            raise row.wrong(_PLAYER, f"{shown(name)} is there twice")
        rating = row.number_within(_RATING, -FARTHEST, FARTHEST)
        deviation = 0.0
        if row.cells.get(_DEVIATION):
            deviation = row.number_within(_DEVIATION, 0.0, DEVIATION[1])
            if 0.0 < deviation < DEVIATION[0]:
                cell, least = shown(row.cells[_DEVIATION]), f"{DEVIATION[0]:g}"
                what = f"{cell} (allowed: 0 for a rating that is known, or points >= {least})"
                raise row.wrong(_DEVIATION, what)
        found[name] = rating, deviation
    absent = [name for name in found if name not in players]
    if len(absent) == len(found):
        raise InputError(f"{path}: none of its players has played")
    if absent:
        more = f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else ""
        names = ", ".join(map(shown, absent[:_NAMED]))
        warn(Note(f"{path}: did not play, and left out: {names}{more}"))
    known = sorted((players[name], *found[name]) for name in found if name in players)
    numbers, ratings, deviations = zip(*known, strict=True)
    return Anchors(np.array(numbers), np.array(ratings, float), np.array(deviations, float))
