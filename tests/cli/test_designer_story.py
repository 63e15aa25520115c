"""A designer with a dirty log of weeks that cross summer time: from the log to a picture."""

from __future__ import annotations

import json
import statistics
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
import yaml

from tests.support.command import success
from tests.support.folders import rows

ZONE = ZoneInfo("Europe/Berlin")

CONFIG = """\
model: valorant
arrivals: queue.csv
factors:
  team_num: 2
  player_diff: 150
  team_diff: 100
  wait_thresh: 5 min
  patience_minutes: null
  measure: [bands, hours, weekdays]
  log:
    columns: {arrival_hours: joined_at, rating: mmr, left_hours: quit_at}
    skip_bad_rows: true
    zone: Europe/Berlin
optimize:
  variables:
    player_diff: {low: 50, high: 600, start: 150}
  objective: {fairness: {response: avg_team_diff}}
  constraints: {wait: {response: avg_wait_time_all, at_most: 70 min}}
"""


def write_log(path: Path) -> int:
    """Write three weeks around the last Sunday of March; return the number of good rows.

    Offsets change with summer time; some ratings are missing; some players quit.
    """
    rng = np.random.default_rng(9)
    start = datetime(2026, 3, 16, tzinfo=ZONE).astimezone(UTC)
    hours = np.sort(rng.uniform(0.0, 21 * 24.0, 1500))
    busy = hours[rng.random(hours.size) < 0.4 + 0.6 * ((hours % 24) > 14)]
    lines, good = ["joined_at,mmr,quit_at,party_id"], 0
    for number, hour in enumerate(busy.tolist()):
        joined = (start + timedelta(hours=hour)).astimezone(ZONE)
        quits = rng.random() < 0.2
        left = joined.astimezone(UTC) + timedelta(minutes=float(rng.exponential(15.0)))
        quit_at = left.astimezone(ZONE).isoformat(timespec="seconds") if quits else ""
        mmr = "" if number % 100 == 7 else f"{rng.normal(1500, 200):.0f}"
        good += bool(mmr)
        lines.append(f"{joined.isoformat(timespec='seconds')},{mmr},{quit_at},{number % 5}")
    path.write_text("\n".join(lines) + "\n")
    return good


@pytest.mark.slow
def test_from_weeks_of_a_queue_to_what_is_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    good = write_log(Path("queue.csv"))
    Path("mine.yaml").write_text(CONFIG)
    # What is: who waits how long, when.
    day = success("simulate", "mine.yaml", "--out", "today", "--json")
    found = json.loads(day.out)["responses"]
    assert found["n_players"] == good
    assert "bad rows left out" in day.err
    assert "note: queue.csv: column party_id not used" in day.err
    players = rows(Path("today/players.csv"))
    # By the clock on the wall, in winter as in summer.
    waits: dict[str, list[float]] = {"hour": [], "weekday": []}
    for player in players:
        moment = datetime.fromisoformat(player["arrival_time"]).astimezone(ZONE)
        if player["wait_minutes"] and moment.hour == 20:
            waits["hour"].append(float(player["wait_minutes"]))
        if player["wait_minutes"] and moment.weekday() == 5:
            waits["weekday"].append(float(player["wait_minutes"]))
    assert found["avg_wait_time.20-21h"] == pytest.approx(statistics.fmean(waits["hour"]))
    assert found["avg_wait_time.saturday"] == pytest.approx(statistics.fmean(waits["weekday"]))
    assert found["abandoned"] == sum(bool(player["left_hours"]) for player in players) > 0
    # What a looser rule changes, in months like these.
    resampled = ("--set", "log.resample=block", "-n", 40)
    change = success("compare", "mine.yaml", "--set", "player_diff=400", *resampled, "--json")
    differences = json.loads(change.out)["differences"]
    assert differences["avg_player_diff"]["ci_low"] > 0.0
    assert differences["n_players"]["mean"] == 0.0  # the same months
    # What to ship.
    success("optimize", "mine.yaml", "--budget", 200, "--solver", "random", "--out", "best")
    summary = json.loads(Path("best/summary.json").read_text())
    assert summary["feasible"] is True
    shipped = yaml.safe_load(Path("best/recommended.yaml").read_text())
    wait = json.loads(success("simulate", "best/recommended.yaml", "--json").out)["responses"]
    assert shipped["factors"]["player_diff"] == summary["recommended"]["point"]["player_diff"]
    assert wait["avg_wait_time_all"] <= 70.0
    # A day like those of the log, and pictures for the boss.
    fitted = success("fit", "mine.yaml", "--days", "weekends").out
    assert yaml.safe_load(fitted)["factors"]["player_diff"] == 150
    pictures = success("plot", "today", "--title", "Who waits, and when").out.splitlines()
    assert {Path(line).name for line in pictures} >= {"replication.png"}
