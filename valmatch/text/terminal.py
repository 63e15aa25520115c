"""Text of others, such as names and paths, made fit for a terminal: harmless and not too long."""

from __future__ import annotations

import unicodedata

LINE = 500  # most characters of a line of a message
VALUE = 60  # most characters of a value, key or name in a message

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that steer a terminal, turn text around or cannot be encoded."""

JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
"""Characters of such a category that names in many languages need."""


def escaped(text: str) -> str:
    """Return a text with control characters escaped, also those that end a line."""
    return text if text.isprintable() else "".join(map(_escaped_character, text))


def _escaped_character(character: str) -> str:
    if unicodedata.category(character) in HIDDEN and character not in JOINERS:
        return character.encode("unicode_escape").decode("ascii")
    return character


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
