"""Cases of a test as lines of a text: what is given, a bar, what is said of it."""

from __future__ import annotations


def cases(text: str) -> list[tuple[str, str]]:
    """Return both sides of each line; a line that is indented goes on with the one above."""
    lines = text.strip("\n").replace("\n  ", " ").split("\n")
    return [(given, said) for given, _, said in (line.partition(" | ") for line in lines)]
