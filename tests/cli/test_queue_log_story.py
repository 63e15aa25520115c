"""From a queue log of one's own to a decision: the commands of its how-to page, figures checked."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import sets, success
from tests.support.folders import rows
from valmatch import plot as valmatch_plot
from valmatch.config.loading import load_config

CONFIG = """\
model: valorant
arrivals: queue.csv
factors:
  team_num: 3
  player_diff: 150
  team_diff: 100
  wait_thresh: 3 min
  measure: [bands, fairness]
  log:
    columns: {arrival_hours: joined_at, rating: mmr, player: account}
    skip_bad_rows: true
optimize:
  variables:
    player_diff: {low: 20, high: 1000, start: 150, scale: 20}
    team_diff: {low: 5, high: 1000, start: 100, scale: 20}
  objective: {gap: {response: win_gap}}
  constraints: {top: {response: wait_p95.top_1%, at_most: 30}}
"""

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


BANDS = ("bottom_10%", "10-50%", "50-90%", "90-99%", "top_1%")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_log(Path("queue.csv"))
    Path("mine.yaml").write_text(CONFIG)
    return tmp_path


def simulated(*options: str) -> dict[str, float]:
    """Return the responses of a day; `test_valorant_measures` holds them against its tables."""
    found: dict[str, float] = json.loads(success("simulate", *options, "--json").out)["responses"]
    return found


def test_the_log_of_two_days_is_simulated_whole(folder: Path) -> None:
    made = success(
        "simulate", "valorant", "--set", "arrivals=queue.csv", "--columns", COLUMNS,
        "--skip-bad-rows", "--set", "team_num=3", "--responses",
        "wait_p50,wait_p95,wait_p95.top_1%,win_gap", "--out", "day",
    )  # fmt: skip
    dirty = sum(map(len, DIRTY.values()))
    assert f"queue.csv: {dirty} bad rows left out (2 joined_at, 3 mmr), the first:" in made.err
    assert "columns region, party not used" in made.err
    people = rows(Path("day/players.csv"))
    assert len(people) == 3000 - dirty
    assert max(float(one["arrival_hours"]) for one in people) > 47.0
    responses = json.loads(Path("day/responses.json").read_text())["responses"]
    assert {"wait_p50", "wait_p95", "wait_p95.top_1%", "win_gap"} <= responses.keys()
    players = [name for one in rows(Path("day/matches.csv")) for name in one["team_a"].split(";")]
    assert set(players) <= {one["player"] for one in people}


def test_the_table_of_waits_by_band(folder: Path) -> None:
    made, expected = success("simulate", "mine.yaml"), simulated("mine.yaml")
    measures, units, *bands = (
        line.split() for line in made.out.partition("\nband ")[2].splitlines()
    )
    assert units == [*["[minutes]"] * 3, "[Elo", "points]"]
    assert measures[:2] == ["matched_fraction", "avg_wait_time"]
    assert [name for name, *_ in bands] == list(BANDS)
    for name, *cells in bands:
        assert cells == [f"{expected[f'{measure}.{name}']:.4f}" for measure in measures]
    assert max(map(len, made.out.splitlines())) <= 80


@pytest.mark.slow
def test_from_the_log_to_a_recommended_config(folder: Path) -> None:
    made = success("optimize", "mine.yaml", "--budget", "100", "--out", "best", "--json")
    found = json.loads(made.out)
    assert "on this log" in found["why"]
    point = found["recommended"]["point"]
    factors = load_config("best/recommended.yaml").factors.model_dump()
    assert {name: factors[name] for name in point} == point
    again = json.loads(success("replicate", "best/recommended.yaml", "--json").out)["responses"]
    day, bound = simulated("best/recommended.yaml"), found["recommended"]["constraints"]["top"]
    for name, mean in (
        ("win_gap", found["recommended"]["objective"]["mean"]),
        ("wait_p95.top_1%", bound["mean"]),
    ):
        assert mean == again[name]["mean"] == pytest.approx(day[name])
    assert bound["mean"] <= 30.0


@pytest.mark.slow
def test_from_the_log_to_a_frontier(folder: Path) -> None:
    sweep = ("--sweep", "top=20:60:20", "--budget", "100")
    made = success("optimize", "mine.yaml", *sweep, "--out", "frontier", "--json")
    points = json.loads(made.out)["frontier"]
    assert [one["top"] for one in points] == [20.0, 40.0, 60.0]
    for one in points:
        best = one["recommended"] or one["least_violation"]
        day = simulated("mine.yaml", *sets(f"{name}={x!r}" for name, x in best["point"].items()))
        assert best["objective"]["mean"] == pytest.approx(day["win_gap"])
        assert best["constraints"]["top"]["mean"] == pytest.approx(day["wait_p95.top_1%"])
        assert one["feasible"] is (day["wait_p95.top_1%"] <= one["top"])
    assert points[-1]["feasible"]
    drawn = success("plot", "frontier", "--title", "What a bound on the waits of the top costs")
    assert [Path(line).name for line in drawn.out.splitlines()] == ["frontier.png", "frontier.svg"]
    (axes,) = valmatch_plot("frontier").axes
    # Certified by one replication: none.
    assert axes.get_legend_handles_labels()[1][0] == "feasible"


@pytest.mark.slow
def test_intervals_of_resamples_and_a_fitted_config(folder: Path) -> None:
    how = ("--set", "log.resample=block", "--set", "log.block_hours=6", "-n", "5", "--json")
    Path("tight.yaml").write_text(CONFIG.replace("team_diff: 100", "team_diff: 50"))
    resampled = json.loads(success("compare", "mine.yaml", "tight.yaml", *how).out)
    difference = resampled["differences"]["win_gap"]
    assert difference["ci_low"] < difference["mean"] < difference["ci_high"]
    # Names of bands and large intervals take more than a table has room for.
    loose = ("--set", "team_diff=1000", "--set", "player_diff=20", *how[:-1])
    assert max(map(len, success("compare", "mine.yaml", *loose).out.splitlines())) <= 80
    fitted = success("fit", "queue.csv", "--columns", COLUMNS, "--skip-bad-rows")
    Path("fitted.yaml").write_text(fitted.out)
    players = json.loads(success("replicate", "fitted.yaml", "-n", "20", "--json").out)["responses"]
    one = players["n_players"]
    assert abs(one["mean"] - 2995 / 2) <= 4 * one["std_error"]
