"""Write queue.csv: three weeks of a game of three against three, as its server might log them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

HOME = ZoneInfo("Europe/Berlin")
MIDNIGHT = datetime(2026, 3, 16, tzinfo=HOME)  # a Monday; summer time begins on 29 March
DAYS = 21


def stamp(hours: float) -> str:
    """Return the local time so many hours after the start, as the server writes it."""
    moment = datetime.fromtimestamp(MIDNIGHT.timestamp() + 3600.0 * hours, HOME)
    return moment.isoformat(timespec="seconds")


def rate(hours: float) -> float:
    """Return how many players join an hour: most in the evening, more at weekends."""
    local = datetime.fromisoformat(stamp(hours))
    evening = 1.0 + 0.9 * np.cos(2.0 * np.pi * (local.hour - 20) / 24.0)
    return float((12.0 if local.weekday() >= 5 else 9.0) * evening)


def main() -> None:
    """Draw who joins when, with what rating, and who gives up; spoil some rows."""
    rng = np.random.default_rng(7)
    ratings = rng.normal(1500.0, 250.0, 1200)  # of the accounts
    rows = ["joined_at,account,mmr,quit_at,region"]
    for hours in np.cumsum(rng.exponential(1.0 / 24.0, 24 * 24 * DAYS)).tolist():
        if hours >= 24 * DAYS or rng.random() >= rate(hours) / 24.0:
            continue
        account = int(rng.integers(ratings.size))
        mmr = f"{ratings[account]:.0f}"
        if len(rows) % 150 == 0:
            mmr = "unranked"
        quit_at = stamp(hours + rng.exponential(0.4)) if rng.random() < 0.15 else ""
        joined = "n/a" if len(rows) % 1000 == 0 else stamp(hours)
        rows.append(f"{joined},acc{account:04d},{mmr},{quit_at},eu")
    Path("queue.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
