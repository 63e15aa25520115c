"""The readings of the cap of ZoneStats, in a module that is light to import."""

from __future__ import annotations

from typing import Literal

Cap = Literal["most_distant", "every_player"]
"""Readings of the cap: by whom is most distant from 0 (equation 5), or within everybody's limit."""

MOST_DISTANT: Cap = "most_distant"
EVERY_PLAYER: Cap = "every_player"
