"""Text of others, such as names and paths, made fit for a terminal: harmless and not too long."""

import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any, Self

WIDTH = 80  # columns that running text is wrapped at
LINE = 500  # most characters of a line of a message
VALUE = 60  # most characters of a value, key or name in a message

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that steer a terminal, turn text around or cannot be encoded."""

JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
"""Characters of such a category that names in many languages need."""


def escaped(text: str) -> str:
    """Return a text with control characters escaped, also those that end a line."""
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in HIDDEN and character not in JOINERS
        else character
        for character in text
    )


def shortened(text: str, most: int = VALUE) -> str:
    """Return a text of at most `most` characters: what is too much is left out of its middle."""
    if len(text) <= most:
        return text
    end = (most - 3) // 2
    return f"{text[: most - 3 - end]}...{text[-end:]}"


def shown(value: object) -> str:
    """Return a value as Python writes it, in moderate length."""
    try:
        return shortened(repr(value))
    except ValueError:  # Python does not write integers of thousands of digits
        return "a number of thousands of digits"


def one_line(text: str) -> str:
    """Return a text as a line of a message."""
    return shortened(escaped(text), LINE)


def wrapped(text: str, indent: str = "", further: str | None = None) -> list[str]:
    """Return a sentence in lines of a terminal."""
    how: Any = {"break_long_words": False, "break_on_hyphens": False, "initial_indent": indent}
    further = f"{indent}  " if further is None else further
    return textwrap.wrap(escaped(text), WIDTH, subsequent_indent=further, **how)


def print_wrapped(text: str, indent: str = "") -> None:
    """Print a sentence in lines of a terminal."""
    print("\n".join(wrapped(text, indent)))


def counted(n: int, what: str) -> str:
    """Return a number of things."""
    return f"{n:,} {what}{'s' * (n != 1)}"


def some_of(texts: Sequence[str], most: int, between: str = ", ") -> str:
    """Return the first of some texts, and how many more there are."""
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return between.join(texts[:most]) + more


def labelled(name: str, unit: str) -> str:
    """Return a name with its unit in brackets, if it has one."""
    return f"{name} [{unit}]" if unit else name


# What has to be known of a result, in two weights: warnings and notes.


class Notice(str):
    """A sentence on what was left out, guessed or ignored, or on what is doubtful."""

    kind: str  # a word that all such sentences share, such as ``rows_left_out``
    n: int  # how many rows, players, values it is about

    def __new__(cls, text: str, kind: str = "remark", n: int = 1) -> Self:
        """Return a notice with its kind and its count."""
        self = super().__new__(cls, text)
        self.kind, self.n = kind, n
        return self

    @classmethod
    def of(cls, text: str) -> "Notice":
        """Return a text as a notice, whose kind and count may not be known."""
        return text if isinstance(text, Notice) else cls(text)

    def after(self, name: str) -> "Notice":
        """Return the same notice of something that has a name."""
        return type(self)(f"{name}: {self}", self.kind, self.n)

    def as_dict(self) -> dict[str, Any]:
        """Return the notice as files hold it."""
        return {"kind": self.kind, "count": self.n, "text": str(self)}


class Note(Notice):
    """A notice that asks for nothing: how input was read, what follows from it by itself."""
