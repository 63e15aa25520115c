"""The dates of a queue log, as the players of a replication have them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from valmatch.inputs.csv_reader import Row
from valmatch.models.valorant.log_clock import EPOCH, LogClock
from valmatch.models.valorant.wall_clock import DAY
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.text.durations import datetime_of

TIME = "arrival_time"  # the column of the times that the log has; not there where it has hours


def first_midnight(run: RunFiles) -> datetime | None:
    """Return what the hours of a replication are counted from, None where it has no date.

    A resample has the days of its log in another order.
    """
    resampled = run.manifest.get("replication") and run.factor("log", {}).get("resample")
    if resampled or TIME not in run.header("players.csv"):
        return None
    path = run.folder / "players.csv"
    rows = run.rows("players.csv", (TIME, "arrival_hours"))
    with damaged(path):
        text, hours = next(rows, ["", ""])
        zone = run.factor("log", {}).get("zone")
        clock = LogClock(zone)
        moment = clock.read(Row(path, 2, {TIME: text}), TIME)
        if not isinstance(moment, datetime):
            raise ValueError(f"{TIME} of the first player is no date-time")
        local = moment.astimezone(ZoneInfo(zone)) if zone else datetime_of(text) or moment
        begin = moment + (local.utcoffset() or timedelta()) - timedelta(hours=float(hours))
    # The nearest midnight, because the offset may have changed since the first row of the log.
    day = EPOCH + timedelta(days=round((begin - EPOCH) / timedelta(hours=DAY)))
    return day.replace(tzinfo=ZoneInfo(zone) if zone else UTC)
