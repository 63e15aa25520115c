"""Responses of a day of the model `valorant`, in plain Python, from its tables alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from valmatch.experiments.simulate import Simulation
from valmatch.models.valorant.factors import ValorantFactors

WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
Row = dict[str, Any]


def mean(values: Iterable[float]) -> float:
    known = list(values)
    return math.fsum(known) / len(known) if known else math.nan


def quantile(values: Sequence[float], share: float) -> float:
    return float(np.quantile(values, share)) if values else math.nan


def rows(day: Simulation, table: str) -> list[Row]:
    columns = {name: column.tolist() for name, column in day[table].items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def responses_of(
    day: Simulation, factors: ValorantFactors, horizon: float, weekday: int = 0
) -> dict[str, float]:
    """Return all responses that factors ask for; hour 0 is the midnight before a weekday."""
    start = factors.warm_up
    players, matches = rows(day, "players"), rows(day, "matches")
    for one in players:
        left = one.get("left_hours", math.nan)
        one["plays"], one["leaves"] = not math.isnan(one["match"]), not math.isnan(left)
        one["end"] = one["match_hours"] if one["plays"] else left if one["leaves"] else horizon
        one["wait"] = 60.0 * (one["end"] - one["arrival_hours"])
        if factors.review == "arrivals":
            assert one["prioritized"] == (one["wait"] > 60.0 * factors.wait_thresh)
    sides = {one["match"]: [[players[int(k)] for k in one[f"team_{s}"].split(";")] for s in "ab"]
             for one in matches}  # fmt: skip
    late = [one for one in matches if one["time_hours"] >= start]
    teams = [[p["rating"] for p in side] for one in late for side in sides[one["match"]]]
    gaps, ranges = [one["team_diff"] for one in late], [max(team) - min(team) for team in teams]
    counted = [one for one in players if one["arrival_hours"] >= start]
    served = [one for one in counted if one["plays"]]
    waits, gone = [one["wait"] for one in served], [one for one in counted if one["leaves"]]
    found = {
        "avg_team_diff": mean(gaps),
        "avg_player_diff": mean(ranges),
        "avg_wait_time": mean(waits),
        "avg_wait_time_all": mean(one["wait"] for one in counted),
        **{f"wait_p{p}": quantile(waits, p / 100) for p in (50, 90, 95, 99)},
        "max_wait_time": max(waits, default=math.nan),
        "avg_queue_length": queue(players, horizon, start, lambda hour: 0)[0],
        "matched_fraction": mean(one["plays"] for one in counted),
        "prioritized_fraction": mean(one["prioritized"] for one in counted),
        "n_players": len(counted),
        "n_matches": len(late),
        "unmatched": sum(not one["plays"] and not one["leaves"] for one in counted),
    }
    if factors.gives_up:
        found["abandoned"] = len(gone)
        found["abandoned_fraction"] = mean(one["leaves"] for one in counted)
        found["avg_wait_abandoned"] = mean(one["wait"] for one in gone)
    if "differences" in factors.measure:
        for name, values in (("team_diff", gaps), ("player_diff", ranges)):
            found |= {f"{name}_p{p}": quantile(values, p / 100) for p in (50, 90, 95)}
    if "pairs" in factors.measure:
        pairs = (mean(abs(a - b) for a, b in itertools.combinations(team, 2)) for team in teams)
        found["avg_pair_diff"] = mean(one for one in pairs if not math.isnan(one))
    if "elo" in factors.measure:
        elo = ([mean(p["elo"] for p in side) for side in sides[one["match"]]] for one in late)
        found["avg_elo_diff"] = mean(abs(a - b) for a, b in elo)
    if "fairness" in factors.measure:
        chances = [1 / (1 + 10 ** (-gap / factors.spread)) for gap in gaps]
        found["win_gap"] = mean(abs(p - 0.5) for p in chances)
        found["even_fraction"] = mean(0.45 <= p <= 0.55 for p in chances)
    if "bands" in factors.measure:
        team_diff = {one["match"]: one["team_diff"] for one in matches}
        ratings = [one["rating"] for one in counted]
        for (low, high), band in zip(itertools.pairwise(factors.bands), BANDS, strict=True):
            least = quantile(ratings, low) if low else -math.inf
            most = quantile(ratings, high) if high < 1 else math.inf
            own = [one for one in counted if least <= one["rating"] < most]
            matched = [one for one in own if one["plays"]]
            waits = [one["wait"] for one in matched]
            found[f"matched_fraction.{band}"] = mean(one["plays"] for one in own)
            found[f"avg_wait_time.{band}"] = mean(waits)
            found[f"wait_p50.{band}"], found[f"wait_p95.{band}"] = (
                quantile(waits, share) for share in (0.5, 0.95)
            )
            found[f"avg_team_diff.{band}"] = mean(team_diff[one["match"]] for one in matched)
    parts: list[tuple[str, Callable[[int], int], Sequence[str]]] = [
        ("hours", lambda hour: hour % 24, [f"{k}-{k + 1}h" for k in range(24)]),
        ("weekdays", lambda hour: (hour // 24 + weekday) % 7, WEEK),
    ]
    for kind, part, names in parts:
        if kind in factors.measure:
            lengths = queue(players, horizon, start, part)
            if kind == "hours" and factors.horizon is not None:
                names = names[: math.ceil(factors.horizon)]
            for k, name in enumerate(names):
                own = [one for one in counted if part(int(one["arrival_hours"])) == k]
                found[f"avg_queue_length.{name}"] = lengths.get(k, math.nan)
                found[f"avg_wait_time.{name}"] = mean(one["wait"] for one in own if one["plays"])
                found[f"prioritized_fraction.{name}"] = mean(one["prioritized"] for one in own)
    return found


BANDS = ("bottom_10%", "10-50%", "50-90%", "90-99%", "top_1%")


def queue(
    players: Sequence[Row], horizon: float, start: float, part: Callable[[int], int]
) -> dict[int, float]:
    """Return the time average of the queue in each part of the time, hour by hour."""
    waited, time = dict[int, float](), dict[int, float]()
    for hour in range(int(start), math.ceil(horizon)):
        end = min(hour + 1.0, horizon)
        time[part(hour)] = time.get(part(hour), 0.0) + end - hour
        overlaps = (min(one["end"], end) - max(one["arrival_hours"], hour) for one in players)
        inside = math.fsum(max(0.0, overlap) for overlap in overlaps)
        waited[part(hour)] = waited.get(part(hour), 0.0) + inside
    return {k: waited[k] / time[k] for k in time}
