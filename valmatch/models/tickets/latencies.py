"""Tables of round-trip times between home regions and data centres."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from valmatch.errors import InputError
from valmatch.inputs.files import read_document
from valmatch.kernels.arrays import Floats
from valmatch.models.tickets.sources import MOST_REGIONS
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

BUILTIN = Path(__file__).with_name("round_trips.csv")
"""Published measurements; the file says whose and what is assumed."""

LONGEST = 100_000.0  # most milliseconds of a table


class RoundTrips(NamedTuple):
    """Milliseconds between homes and data centres."""

    homes: tuple[str, ...]
    centres: tuple[str, ...]
    milliseconds: Floats  # (homes, centres)


def read_round_trips(path: Path) -> RoundTrips:
    """Return the table of a file.

    It is CSV: a header ``home`` and the data centres; in each row a home region and milliseconds.
    Lines that begin with ``#`` are comments.
    """
    try:
        lines = read_document(path).decode("utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read: {what}") from None
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    rows = [(number, _cells(line)) for number, line in numbered if not line.startswith("#")]
    if not rows:
        raise InputError(f"{path}: is empty (a header home,REGION,... and rows are needed)")
    first, header = rows[0]
    centres = tuple(header[1:])
    if header[0] != "home" or not centres or len(set(centres)) < len(centres):
        raise InputError(f"{path}:{first}: a header home,REGION,... is needed, each region once")
    if len(centres) > MOST_REGIONS:
        raise InputError(f"{path}:{first}: {len(centres)} data centres (allowed: {MOST_REGIONS})")
    found: dict[str, list[float]] = {}
    for number, cells in rows[1:]:
        place = f"{path}:{number}"
        if len(cells) != len(header):
            raise InputError(f"{place}: {len(cells)} cells, and the header has {len(header)}")
        if cells[0] in found:
            raise InputError(f"{place}: home {shown(cells[0])} twice")
        found[cells[0]] = [_milliseconds(cell, place) for cell in cells[1:]]
    return RoundTrips(tuple(found), centres, np.array(list(found.values())).reshape(len(found), -1))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line]), [])]


def _milliseconds(cell: str, place: str) -> float:
    value = real_number(cell)
    if value is None or not 1.0 <= value <= LONGEST:
        raise InputError(
            f"{place}: {shown(cell)} is no latency (allowed: milliseconds from 1 to {LONGEST:.0f})"
        )
    return value


def lacking_home(homes: Sequence[str], table: RoundTrips) -> str:
    """Return what is wrong with the first home that a table lacks; "" where it has all."""
    for home in homes:
        if home not in table.homes:
            return f"no latencies of home region {shown(home)} ({hint(home, table.homes)})"
    return ""


def round_trips(homes: Sequence[str], path: Path | None) -> RoundTrips:
    """Return the round trips from some homes."""
    table = read_round_trips(path or BUILTIN)
    if wrong := lacking_home(homes, table):
        raise InputError(f"{path}: {wrong}" if path else f"factors.regions.shares: {wrong}")
    rows = [table.homes.index(home) for home in homes]
    columns = [k for k, name in enumerate(table.centres) if path or name in homes]
    centres = tuple(table.centres[k] for k in columns)
    return RoundTrips(tuple(homes), centres, table.milliseconds[np.ix_(rows, columns)])
