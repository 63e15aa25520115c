"""Leavers and backfill of the model `tickets`: tables, draws, and what theory says."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.models.tickets.test_tickets_model import arena
from valmatch import load_config, simulate
from valmatch.draws.streams import Streams
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.models.tickets.model import TicketsModel

SMALL = {
    "match.minutes": 5,
    "match.leave_prob": 0.3,
    "rules.teams.red.minPlayers": 3,
    "rules.teams.blue.minPlayers": 3,
    "measure": ["backfill"],
}


@pytest.mark.parametrize("backfill", ["automatic", "manual"])
def test_tables_of_matches_that_run(backfill: str) -> None:
    found = simulate(load_config(arena(), {**SMALL, "match.backfill": backfill}), seed=3)
    values = found.summary()["responses"]
    tickets, matches, asked = found["tickets"], found["matches"], found["backfills"]
    ends = ("matched", "timed_out", "cancelled", "searching")
    assert sum(values[f"tickets_{end}"] for end in ends) == values["n_tickets"]
    filled = asked["status"] == "COMPLETED"
    joined = [int(one) for text in asked["joined"][filled] for one in str(text).split(";")]
    begun = [int(one) for text in matches["tickets"] for one in str(text).split(";")]
    matched = tickets["ticket"][tickets["status"] == "COMPLETED"]
    assert sorted(joined + begun) == matched.tolist()
    assert len(joined) > 5
    assert tickets["players"][begun].sum() == matches["players"].sum()
    for ticket in joined:  # as its match runs
        start = matches["time"][int(tickets["match"][ticket])]
        assert start < tickets["ended"][ticket] <= start + 300.0
    # One at a time for a match, and none of one that is full.
    assert (asked["players"] < 10).all()
    for match in np.unique(asked["match"]):
        own = asked["match"] == match
        spans = zip(asked["time"][own], asked["ended"][own], strict=True)
        assert all(first[1] <= second[0] for first, second in pairwise(spans))
    late = tickets["ended"][joined] >= 300.0
    assert values["players_backfilled"] == tickets["players"][joined][late].sum()
    assert 0.5 < values["places_taken"] <= 1.0
    assert values["players_left"] > 0


def test_nobody_is_asked_for_where_matches_are_full() -> None:
    none = simulate(load_config(arena(), {"measure": ["backfill"]}), seed=2)
    full = simulate(
        load_config(arena(), {"measure": ["backfill"], "match.backfill": "automatic"}), seed=2
    )
    assert full["backfills"]["time"].size == 0
    for name in ("tickets", "matches"):
        for column, values in none[name].items():
            assert values.tolist() == pytest.approx(full[name][column].tolist(), nan_ok=True) or (
                values.dtype.kind in "US" and (values == full[name][column]).all()
            )


def test_leavers_are_a_share_and_leave_at_any_moment_alike() -> None:
    given: dict[str, Any] = {
        "hours": 12.0,
        "warmup_minutes": 0,
        "arrivals": {"per_hour": 600},
        "match": {"leave_prob": 0.25},
    }
    model = TicketsModel(TicketsFactors.model_validate(given), {})
    found = model.play(model.draw(Streams(4), 0))
    leavers = found.stays[found.stays < 1.0]
    n = found.stays.size
    assert abs(leavers.size / n - 0.25) <= 4.0 * (0.25 * 0.75 / n) ** 0.5
    assert abs(leavers.mean() - 0.5) <= 4.0 * (1.0 / 12.0 / leavers.size) ** 0.5
    # No rule shifts them.
    other = TicketsModel(TicketsFactors.model_validate(given), {"rules": ARENA})
    assert (other.play(other.draw(Streams(4), 0)).stays == found.stays).all()


ARENA = Path(str(arena()["rules"]))


@pytest.mark.parametrize("per_hour", [60.0, 240.0, 900.0])
def test_free_places_wait_for_the_next_player(tmp_path: Path, per_hour: float) -> None:
    # One player begins a match of two, whose other place the next one takes, at a review T s apart:
    # that is T exp(-lambda T) / (1 - exp(-lambda T)) after it is asked for, on average.
    rules = {
        "ruleLanguageVersion": "1.0",
        "algorithm": {"backfillPriority": "high"},
        "teams": [{"name": "all", "minPlayers": 1, "maxPlayers": 2}],
    }
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(rules))
    given: dict[str, Any] = {
        "hours": 2400.0 / per_hour,
        "warmup_minutes": 0,
        "arrivals": {"per_hour": per_hour},
        "parties": {"shares": [1.0]},
        "service": {"review_seconds": 2.0, "request_timeout_seconds": 43200},
        "match": {"minutes": 1e4, "backfill": "automatic"},
    }
    model = TicketsModel(TicketsFactors.model_validate(given), {"rules": path})
    found = model.play(model.draw(Streams(1), 0)).backfills
    waits = (found.ends - found.times)[:-1]  # the last one may wait still
    odds = np.exp(-per_hour / 3600.0 * 2.0)
    expected = 2.0 * odds / (1.0 - odds)
    assert waits.size > 500
    assert abs(waits.mean() - expected) <= 4.0 * waits.std() / waits.size**0.5
