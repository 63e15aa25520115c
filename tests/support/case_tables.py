"""Cases of a test as lines of a text: what is given, a bar, what is said of it."""

from __future__ import annotations


def cases(text: str) -> list[tuple[str, ...]]:
    r"""Return the columns of each line; one that is indented goes on, and ``\n`` ends a line."""
    lines = text.strip("\n").replace("\n  ", " ").split("\n")
    return [tuple(line.replace(r"\n", "\n").split(" | ")) for line in lines]
