"""The file of exact sums of responses, where no rows are kept: resumed from, and combined."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from valmatch.errors import InputError
from valmatch.statistics.exact_sums import UNIT, ColumnSums, ExactSums
from valmatch.storage.json_file import read_json
from valmatch.storage.line_file import FAR
from valmatch.storage.manifest import Count, Facts, Seed
from valmatch.storage.output import to_json, write_bytes

SUMS_OF_ROWS = "sums.json"

EXACT = re.compile("(-?0x[0-9a-f]{1,1200})p(-?[0-9]{1,4})")
"""A whole number times a power of two, as `float.hex` has it."""

LARGEST = 1 << 14  # bits of a number that is read; those of sums have fewer


@dataclass(frozen=True)
class SumFormat:
    """What the sums of a run are of."""

    config_id: str  # of what was simulated
    seed: int  # of all random numbers
    names: Sequence[str]  # the columns: responses, then differences between two of them


class _ColumnFacts(Facts):
    """The sums of a column."""

    n: Count
    undefined: Count
    sum: str
    squares: str
    min: Annotated[float, Field(ge=-FAR, le=FAR)] | None
    max: Annotated[float, Field(ge=-FAR, le=FAR)] | None


class _FileFacts(Facts):
    """What the file holds."""

    config_id: str
    seed: Seed
    replications: list[Annotated[list[Count], Field(min_length=3, max_length=3)]]
    sums: dict[str, _ColumnFacts]


def write_sum_file(folder: Path, form: SumFormat, sums: ColumnSums, over: Sequence[range]) -> None:
    """Write sums over replications; they are on disk when this returns, whole or not at all."""
    content = {
        "config_id": form.config_id,
        "seed": form.seed,
        "replications": [[part[0], part[-1] + 1, part.step] for part in over if part],
        "sums": {
            name: {
                "n": column.n,
                "undefined": column.undefined,
                "sum": _text(column.total, UNIT),
                "squares": _text(column.squares, 2 * UNIT),
                "min": column.low if column.n else None,
                "max": column.high if column.n else None,
            }
            for name, column in zip(form.names, sums.columns, strict=True)
        },
    }
    write_bytes(folder / SUMS_OF_ROWS, to_json(content).encode())


def read_sum_file(folder: Path, form: SumFormat) -> tuple[ColumnSums, list[range]]:
    """Return the sums that a folder holds, and the replications that they are over."""
    path = folder / SUMS_OF_ROWS
    try:
        found = _FileFacts.model_validate(read_json(path))
    except FileNotFoundError:
        return ColumnSums.zeros(len(form.names)), []
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        key = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
        raise InputError(f"{path}: damaged: {key}: not what a run writes; remove it") from None
    if (found.config_id, found.seed) != (form.config_id, form.seed):
        raise InputError(f"{path}: holds the sums of another run")
    if list(found.sums) != list(form.names):
        raise InputError(f"{path}: damaged: holds other responses than this run; remove it")
    over = [_range(path, ends) for ends in found.replications]
    rows = sum(map(len, over))
    columns = [_sums(path, name, rows, column) for name, column in found.sums.items()]
    return ColumnSums(columns, rows), over


def replications_in(folder: Path) -> int:
    """Return over how many replications the sums of a folder are; 0 where none can be read."""
    try:
        ends = read_json(folder / SUMS_OF_ROWS)["replications"]
        return sum(len(range(*map(int, part))) for part in ends)
    except (OSError, InputError, LookupError, TypeError, ValueError):
        return 0


def _range(path: Path, ends: Sequence[int]) -> range:
    start, stop, step = ends
    if step < 1 or stop < start:
        raise InputError(f"{path}: damaged: replications: {list(ends)}; remove it")
    return range(start, stop, step)


def _text(value: int, unit: int) -> str:
    """Return a number of units of 2**-unit exactly, as an odd one times a power of two."""
    zeros = (value & -value).bit_length() - 1 if value else unit
    return f"{value >> zeros:#x}p{zeros - unit}"


def _number(text: str, unit: int) -> int | None:
    """Return what `_text` has written; None if it has not."""
    parts = EXACT.fullmatch(text)
    shift = int(parts[2]) + unit if parts else -1
    return int(parts[1], 16) << shift if parts and 0 <= shift < LARGEST else None


def _units(value: float) -> int:
    """Return a float in units of 2**-UNIT."""
    above, below = value.as_integer_ratio()
    return above * (1 << UNIT) // below


def _sums(path: Path, name: str, rows: int, facts: _ColumnFacts) -> ExactSums:
    """Return the sums of a column, checked: no numbers have others."""
    total, squares = _number(facts.sum, UNIT), _number(facts.squares, 2 * UNIT)
    n, low, high = facts.n, facts.min, facts.max
    if total is not None and squares is not None and n + facts.undefined == rows:
        if n == 0 and low is high is None and total == squares == 0:
            return ExactSums(0, facts.undefined)
        if n > 0 and low is not None and high is not None:
            least, most = _units(low), _units(high)
            possible = n * least <= total <= n * most and total * total <= n * squares
            # (x - least) (most - x) >= 0 of each.
            if possible and squares <= (least + most) * total - n * least * most:
                return ExactSums(n, facts.undefined, total, squares, low, high)
    raise InputError(f"{path}: damaged: sums.{name}: not what a run writes; remove it")
