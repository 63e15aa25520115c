"""Silence of the server of workers that imports it, where an exception ends it."""

import sys

__all__: list[str] = []

sys.excepthook = lambda *_: None
