"""Silence of the process that imports it, where an exception ends it.

For the server that worker processes come from: the process that has started it says, in one line,
that workers cannot be started.
"""

from __future__ import annotations

import sys

__all__: list[str] = []

sys.excepthook = lambda *_: None
