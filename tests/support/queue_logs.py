"""A queue log as a game has it: 3v3, two days, date-times with zone, ids, some dirty rows."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np

COLUMNS = "arrival_hours=joined_at,rating=mmr,player=account"

DIRTY = {
    "joined_at": {400: "n/a", 2500: "2026-03-08 25:61"},
    "mmr": {17: "unranked", 1200: "", 2890: "1,450"},
}
"""Cells that cannot be read, by row."""


def write_log(path: Path, rows: int = 3000) -> None:
    """Write a log whose players queue more often in the evening; the same in each run."""
    rng = np.random.default_rng(18)
    weights = 1.0 + 0.8 * np.cos(2.0 * np.pi * (np.arange(48) % 24 - 20) / 24)
    hours = rng.choice(48, rows, p=weights / weights.sum()) + rng.random(rows)
    skill = 1500.0 + 250.0 * rng.standard_t(6, 900)
    accounts = rng.integers(900, size=rows)
    midnight = datetime(2026, 3, 7, tzinfo=timezone(timedelta(hours=1)))
    lines = ["joined_at,account,mmr,region,party"]
    for row, hour in enumerate(np.sort(hours).tolist()):
        account = int(accounts[row])
        joined = (midnight + timedelta(hours=hour)).isoformat(timespec="seconds")
        cells = {"joined_at": joined, "mmr": f"{skill[account]:.0f}"}
        cells |= {name: bad[row] for name, bad in DIRTY.items() if row in bad}
        mmr = f'"{cells["mmr"]}"' if "," in cells["mmr"] else cells["mmr"]
        region, party = ("eu", "na")[account % 2], row % 3
        lines.append(f"{cells['joined_at']},acc{account:04d},{mmr},{region},{party}")
    path.write_text("\n".join(lines) + "\n")
