"""The files of a run: which ones each command writes, and how: never half-written."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, TextIO, TypeAlias

from valmatch.errors import InputError, RunError
from valmatch.execution.interruption import ENDINGS, held_signals
from valmatch.inputs.csv_reader import mark
from valmatch.inputs.files import readable, regular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column: TypeAlias = Sequence[Any] | NDArray[Any]

MANIFEST = "manifest.json"  # says whose a folder is, and of which run

_CONTENTS = {
    # The tables of its model are known when they are made: `RunFolder.add`.
    "simulate": "responses.json",
    "replicate": "replications.csv controls.csv curves.npz curves.csv summary.json summary.csv"
    " paired.csv",
    "design": "design.csv summary.json",
    "compare": "differences.csv summary.json",
    "optimize": "evaluations.csv judged.csv trajectory.csv candidates.csv progress.csv"
    " frontier.csv front.csv recommended.yaml tuned_rules.json start_and_recommended.csv"
    " start_and_least_violation.csv today_and_recommended.csv today_and_least_violation.csv"
    " summary.json",
    "rate": "ratings.csv changes.csv history.csv comparison.csv summary.json",
    "rank": "ratings.csv differences.csv superiority.csv coefficients.csv bootstrap.csv days.csv"
    " firmness.csv posterior.npz summary.json",
    "predict": "predictions.csv summary.json",
    "next": "batch.csv summary.json",
    "plan": "plan.csv summary.json",
    "rules replay": "tickets.csv matches.csv players.csv rules.csv steps.csv log.csv summary.json"
    " result.json comparison.json world.json proposals.jsonl explain.jsonl",
}

CONTENTS = {command: tuple(names.split()) for command, names in _CONTENTS.items()}
"""Every file that a run of a command may write, replace or remove, by command."""

PROGRESS = {
    "replicate": "replications.csv",
    "design": "points",
    "compare": "a",
    "optimize": "evaluations.csv",
}
"""The file or folder from which a run can be resumed, by command."""

PART = ".part"  # ending of the name of a file that is being written


def cell(value: object) -> str:
    """Return a CSV cell: the shortest text that `unmark` reads back exactly, empty if undefined."""
    if value is None or value != value:
        return ""
    return mark(value) if isinstance(value, str) else str(value)


def csv_line(values: Iterable[object]) -> str:
    """Return one line of CSV."""
    return csv_text([map(cell, values)])


class _Lines(list[str]):
    """Takes rows from a CSV writer, which quotes the characters that it ends rows with."""

    def write(self, row: str) -> None:
        """Take in a row."""
        self.append(f"{row[:-2]}\n")


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV; cells that hold a line feed or a carriage return are quoted."""
    lines = _Lines()
    csv.writer(lines, lineterminator="\r\n").writerows(rows)
    return "".join(lines)


def to_json(value: object) -> str:
    """Return indented JSON; NaN becomes null at any depth."""
    return json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def write_json(path: Path, value: object) -> None:
    """Write a JSON file, atomically."""
    write_bytes(path, to_json(value).encode())


@contextmanager
def write_atomically(path: Path) -> Iterator[TextIO]:
    """Open a file that replaces `path` when the block ends well, and leaves no trace otherwise."""
    with write_binary(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file atomically by `content`; raise RunError as `write_atomically` does."""
    with write_binary(path) as file:
        file.write(content)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say which file cannot be written."""
    try:
        yield
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror}") from None


@contextmanager
def write_binary(path: Path) -> Iterator[BinaryIO]:
    """Open a binary file that replaces `path` when the block ends well."""
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}{PART}")
    remove = partial(temporary.unlink, missing_ok=True)
    ENDINGS.append(remove)
    try:
        with writing(path):
            with temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
    finally:
        with held_signals():
            remove()
            ENDINGS.remove(remove)


def write_csv(path: Path, columns: Mapping[str, Column]) -> None:
    """Write equally long columns as CSV, atomically."""
    size = max(map(len, columns.values()), default=0)
    slices = (slice(first, first + ROWS_AT_ONCE) for first in range(0, size, ROWS_AT_ONCE))
    parts = ({name: values[rows] for name, values in columns.items()} for rows in slices)
    write_csv_parts(path, list(columns), parts)


def write_csv_parts(
    path: Path,
    names: Sequence[str],
    parts: Iterable[Mapping[str, Column]],
    whole: Collection[str] = (),
) -> None:
    """Write a CSV file, atomically, whose rows come some at a time."""
    with write_atomically(path) as file:
        file.write(csv_line(names))
        for part in parts:
            columns = [cells(part[name], name in whole) for name in names]
            file.write(csv_text(zip(*columns, strict=True)))


ROWS_AT_ONCE = 2**14  # rows that are objects at a time, which take several times their text


def cells(values: Column, whole: bool = False) -> Sequence[Any]:
    """Return what the CSV writer is given of a column, whose text is that of `cell`."""
    kind = values.dtype.kind if hasattr(values, "dtype") else "O"
    plain: Sequence[Any] = values.tolist() if hasattr(values, "tolist") else values
    if whole:
        return ["" if value != value else int(value) for value in plain]
    if kind in "OU":
        return list(map(cell, plain))
    # The writer itself writes numbers as `cell` does, in less time.
    return ["" if value != value else value for value in plain] if kind == "f" else plain


MAX_JSON = 1 << 26  # bytes of a file


def read_json(path: Path, otherwise: str = "damaged: not an object") -> dict[str, Any]:
    """Return the object that a JSON file holds."""
    try:
        text = regular(path, MAX_JSON).read_text(encoding="utf-8")
        content = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise InputError(f"{path}: damaged: nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{path}: damaged: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: {otherwise}")
    return content


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


FAR = 1e100  # beyond what any response, variable or control variate can be
TORN = 1 << 20  # bytes that a crash may leave of a file that has no header


def read_lines(path: Path, header: str) -> tuple[list[str], str]:
    """Return the lines after the header of a file to which runs append, and a torn last one."""
    with readable(path), regular(path).open("rb") as file:
        start = file.read(len(header.encode()))
        if start == header.encode():
            *lines, tail = file.read().decode(errors="replace").split("\n")
            return lines, tail
        start += file.read(TORN)
    # Where a machine crashes, zeros may stand for what was not written yet.
    if len(start) < TORN and header.encode().startswith(start.rstrip(b"\0")):
        return [], start.decode()
    raise InputError(f"{path}:1: not the header of this run ({header[:60].strip()}...)")


def numbers(cells: Sequence[str]) -> list[float] | None:
    """Return the numbers of cells, NaN where one is empty; None if they are not all numbers."""
    if not re.fullmatch("[-+.,0-9e]*", ",".join(cells)):
        return None
    try:
        values = [float(cell) if cell else math.nan for cell in cells]
    except ValueError:
        return None
    return None if any(abs(value) > FAR for value in values) else values
