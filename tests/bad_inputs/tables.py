"""Damaged CSV files: what is read from tables that people or programs wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from tests.bad_inputs.damage import HUGE, LONG, NO_NUMBERS, Damage, broken_file

NUMBER = (*NO_NUMBERS, "word", '"1', "1\n2")
"""What is no finite number."""

Table = list[list[str]]


def damaged_table(
    rng: Random, content: bytes, bad: Mapping[str, Sequence[str]], needed: Sequence[str]
) -> Damage:
    """Return a table that is bad, or may be, by what cannot stand in columns and columns needed."""
    table = [line.split(",") for line in content.decode().splitlines()]
    header, row = table[0], rng.choice(table[1:])
    kind = rng.choice(("cell", "cell", "cell", "file", "column", "rows", "maybe"))
    if kind == "file":
        return broken_file(rng, content)
    if kind == "cell":
        column = rng.choice(list(bad))
        cell = rng.choice(bad[column])
        row[header.index(column)] = cell
        return Damage(_text(table), f"{column}: {cell[:30]!r}", True)
    if kind == "column":
        return _damaged_header(rng, table, rng.choice(needed))
    if kind == "rows":
        return _damaged_row(rng, table, row)
    return _perhaps_damaged(rng, table, row)


def _damaged_header(rng: Random, table: Table, name: str) -> Damage:
    """Return a table in which a column is missing, misspelt or there twice."""
    at = table[0].index(name)
    how = rng.choice(("missing", "misspelt", "long", "an escape", "twice"))
    if how == "missing":
        table = [[cell for k, cell in enumerate(row) if k != at] for row in table]
    elif how == "twice":
        table = [[*row, row[at]] for row in table]
    else:
        names = {"misspelt": name[:-1] + "#", "long": name + LONG, "an escape": f"{name}\x1b[2J"}
        table[0][at] = names[how]
    return Damage(_text(table), f"column {name}: {how}", True)


def _damaged_row(rng: Random, table: Table, row: list[str]) -> Damage:
    """Return a table in which a row has too many or too few cells, or never ends."""
    how = rng.choice(("more cells", "fewer cells", "open quote", "many cells"))
    if how == "more cells":
        row.append("1")
    elif how == "fewer cells":
        del row[-1]
    elif how == "many cells":
        row += ["1"] * 100_000
    else:
        row[-1] = f'"{row[-1]}'
    return Damage(_text(table), how, True)


def _perhaps_damaged(rng: Random, table: Table, row: list[str]) -> Damage:
    """Return a table that some readers take."""
    text = _text(table)
    row[rng.randrange(len(row))] = cell = rng.choice(("", "0", "-0", "1e308", " 1 ", '"1"', HUGE))
    kind, content = rng.choice(
        [
            ("NUL in a cell", text.replace(b",", b",\0", 1)),
            ("only a header", text[: text.index(b"\n") + 1]),
            ("no last end of line", text[:-1]),
            ("torn", text[: rng.randrange(len(text) // 2, len(text))]),
            ("the first row twice", text + text.splitlines(keepends=True)[1]),
            ("carriage returns", text.replace(b"\n", b"\r")),
            ("a byte order mark", b"\xef\xbb\xbf" + text),
            ("a huge cell", text.replace(b"\n", b"," + b"y" * 200_000 + b"\n", 1)),
            (f"a cell {cell[:20]!r}", _text(table)),
        ]
    )
    return Damage(content, kind, False)


def _text(table: Table) -> bytes:
    return ("\n".join(map(",".join, table)) + "\n").encode()
