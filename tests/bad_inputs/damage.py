"""Ways to damage texts, cells and JSON documents of any kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any, NamedTuple

HUGE = "9" * 5000
"""More digits than Python reads as an integer."""

LONG = "x" * 10_000

ESCAPES = ("\x1b[31mred", "a\x07b", "\x7f", "\x9b2J", "tab\there", "\r")
"""Text that would do something to a terminal."""

NO_NUMBERS: tuple[str, ...] = (
    "", "abc", "1.2.3", "--1", "0x10", "1_000", "nan", "inf", "1e400", HUGE, LONG, "\x1b[2J",
    "1\x86", "1 2", "\N{ARABIC-INDIC DIGIT ONE}\N{COMBINING ACUTE ACCENT}",
)  # fmt: skip

NOT_UTF_8 = (b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80")

Path = tuple[str | int, ...]


class Damage(NamedTuple):
    """What is left of a file, what was done to it, and whether it certainly is of no use."""

    content: bytes
    what: str
    certain: bool


def broken_file(rng: Random, content: bytes) -> Damage:
    """Return a text file that nobody can read."""
    at = rng.randrange(len(content))
    kind, broken = rng.choice(
        [
            ("not UTF-8", content[:at] + rng.choice(NOT_UTF_8) + content[at:]),
            ("empty", b""),
            ("binary", rng.randbytes(rng.randrange(1, 400))),
            ("UTF-16", content.decode().encode("utf-16")),
            ("zeros", b"\0" * len(content)),
        ]
    )
    return Damage(broken, kind, kind != "UTF-16")  # which tables and logs may be in


class _Raw(NamedTuple):
    """A value as it is written in a document, where the JSON library would not write it."""

    text: str


VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "-1": -1,
    "a list": [],
    "a mapping": {},
    "a word": "word",
    "a nested list": [[["x"]]],
    "1e308": 1e308,
    "2**70": 2**70,
    "NaN": float("nan"),
    "-Infinity": float("-inf"),
    "1e400": _Raw("1e400"),
    "5000 digits": _Raw(HUGE),
    "20,000 levels": _Raw("[" * 20_000 + "]" * 20_000),
    "10,000 characters": LONG,
    "an escape": "\x1b[31mred\x07",
    "a lone surrogate": _Raw('"\\ud800"'),
    "../../escaped": "../../escaped",
    "NUL": "a\0b",
}
"""What a value of a document may be replaced by."""


def broken_json(rng: Random, content: bytes) -> Damage:
    """Return a file that is no JSON object."""
    text = content.decode()
    kind, broken = rng.choice(
        [
            ("truncated", text[: rng.randrange(1, len(text) - 2)]),
            ("a list", f"[{text}]"),
            ("a number", "3"),
            ("null", "null"),
            ("deeply nested", '{"a":' * 50_000),
            ("two documents", text + text),
            ("5000 digits", text.replace("{", f'{{"first": {HUGE},', 1)),
        ]
    )
    return Damage(broken.encode(), kind, True)


def changed_json(
    rng: Random, content: bytes, needed: Callable[[Path], bool] = lambda path: False
) -> Damage:
    """Return a JSON object that is broken, or in which one value is missing or another.

    What is at a path that is needed must be what it is.
    """
    if rng.random() < 0.2:
        return rng.choice((broken_json, broken_file))(rng, content)
    document = json.loads(content)
    depth = rng.choice((1, 1, 2, 3, 9))
    path = rng.choice([path for path in _paths(document) if len(path) <= depth])
    shown = ".".join(map(str, path))
    if rng.random() < 0.25:
        return Damage(_text(_without(document, path)), f"no {shown}", needed(path))
    what, value = rng.choice(list(VALUES.items()))
    changed = _with(document, path, value)
    return Damage(_text(changed), f"{shown}: {what}", needed(path) and changed != document)


def _paths(document: object, path: Path = ()) -> Iterator[Path]:
    """Yield the places of all values in a document."""
    if path:
        yield path
    for key, value in items_of(document):
        yield from _paths(value, (*path, key))


def items_of(document: object) -> Iterable[tuple[str | int, object]]:
    """Return what is in a mapping or list, with its keys or places; nothing of other values."""
    if isinstance(document, dict):
        return document.items()
    return enumerate(document) if isinstance(document, list) else ()


def _with(document: Any, path: Path, value: object) -> Any:  # noqa: ANN401
    """Return a document with another value at a path."""
    if not path:
        return value
    copy = document.copy()
    copy[path[0]] = _with(copy[path[0]], path[1:], value)
    return copy


def _without(document: Any, path: Path) -> Any:  # noqa: ANN401
    """Return a document without the value at a path."""
    copy = document.copy()
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = _without(copy[path[0]], path[1:])
    return copy


def _text(document: object) -> bytes:
    raw: list[str] = []

    def mark(value: object) -> object:
        if isinstance(value, _Raw):
            raw.append(value.text)
            return f"@{len(raw) - 1}@"
        if isinstance(value, dict):
            return {key: mark(item) for key, item in value.items()}
        return [mark(item) for item in value] if isinstance(value, list) else value

    text = json.dumps(mark(document), indent=2)
    for number, written in enumerate(raw):
        text = text.replace(f'"@{number}@"', written)
    return text.encode()
