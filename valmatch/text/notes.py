"""Remarks of two weights: warnings, which are plain text, and notes."""

from __future__ import annotations


class Note(str):
    """A remark that asks for nothing: how input was read, what follows from it by itself."""

    __slots__ = ()
