"""Averages and groups of tickets, verdicts on rules, and why tickets are never matchable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.models.tickets.test_tickets_model import arena
from valmatch import load_config, simulate
from valmatch.experiments.simulate import Simulation
from valmatch.kernels.arrays import Bools
from valmatch.models.tickets.measures import worst_percentile


def test_the_worst_group_is_that_of_enough_values() -> None:
    slow, quick = np.full(30, 40.0), np.full(300, 10.0)
    values, of = np.concatenate((slow, quick)), np.repeat([0, 1], [30, 300])
    every = np.percentile(values, 90)
    assert worst_percentile(values, [np.zeros_like(of), of], 90, 20) == 40.0 / every
    assert worst_percentile(values, [of], 90, 31) == 10.0 / every
    assert np.isnan(worst_percentile(values, [of], 90, 301))


BUSY: dict[str, Any] = {
    "arrivals.per_hour": 600,
    "patience.median_seconds": 80,
    "attributes": {
        "mode": {"ranked": 0.7, "casual": 0.3},
        "roles": {"lists": {"tank": 0.3, "medic": 0.6}},
        "level": {"mean": 10, "std": 3},
    },
}


def same(one: float, other: float) -> bool:
    """Return whether two numbers are equal but for rounding, or both undefined."""
    return bool(np.isclose(one, other, rtol=1e-12, equal_nan=True))


@pytest.fixture(scope="module")
def found() -> Simulation:
    return simulate(load_config(arena(), {**BUSY, "measure": ["sizes", "attributes", "regions"]}))


def test_groups_are_what_the_tables_say(found: Simulation) -> None:
    tickets, matches, groups = found["tickets"], found["matches"], found["groups"]
    rows = list(zip(groups["by"], groups["group"], strict=True))
    came = tickets["time"] >= 300.0
    members: dict[tuple[str, str], Bools] = {("all", ""): came}
    members |= {("size", f"size_{size}"): came & (tickets["players"] == size) for size in range(6)}
    members |= {("region", home): came & (tickets["home"] == home) for home in ("eu", "us", "ap")}
    for by, name in rows:
        own = members.get((by, name))
        if own is None:
            continue
        row = {key: column[rows.index((by, name))] for key, column in groups.items()}
        status, wait = tickets["status"][own], tickets["wait"][own]
        matched = status == "COMPLETED"
        assert row["n_tickets"] == own.sum() > 0
        assert row["tickets_cancelled"] == (status == "CANCELLED").sum()
        assert same(row["timed_out_fraction"], (status == "TIMED_OUT").mean())
        assert same(row["time_to_match_p50"], np.median(wait[matched]) if matched.any() else np.nan)
        of = tickets["match"][own][matched].astype(int)
        for column in ("true_team_diff", "seen_team_diff", "win_gap"):
            assert same(row[column], matches[column][of].mean() if of.size else np.nan)
        assert same(row["step_used"], matches["step"][of].mean() if of.size else np.nan)
        assert same(row["latency"], tickets["latency"][own][matched].mean() if of.size else np.nan)
        begin = np.clip(tickets["time"][tickets["players"] > 0], 300.0, 1800.0)
        if (by, name) == ("all", ""):
            seconds = (np.clip(tickets["ended"], 300.0, 1800.0) - begin).sum()
            assert same(row["current_tickets"], seconds / 1500.0)
    assert len(rows) == 1 + 5 + 3 + 1 + 10 + (2 + 2 + 4)


def test_verdicts_on_rules_are_counted_after_the_warmup() -> None:
    def counts(**factors: float) -> tuple[dict[str, float], dict[str, float]]:
        config = load_config(arena(), {"arrivals.per_hour": 600, "measure": ["rules"], **factors})
        values = simulate(config).summary()["responses"]
        return {k: v for k, v in values.items() if k.startswith("rule_")}, values

    # No review is at 700.5 s; 1,800 s less those until then are those after it.
    late, values = counts(warmup_minutes=700.5 / 60)
    every, _ = counts(warmup_minutes=0)
    early, _ = counts(warmup_minutes=0, hours=700.5 / 3600)
    assert {name: every[name] - early[name] for name in every} == late
    assert early["rule_failed.SameMode"] > 0
    assert late["rule_passed.FastConnection"] > 0
    # A candidate that a rule refuses is not judged by the next one.
    assert late["rule_passed.SameMode"] >= late["rule_passed.CloseSkill"]
    # Counting changes nothing.
    plain = load_config(arena(), {"arrivals.per_hour": 600, "warmup_minutes": 700.5 / 60})
    others = simulate(plain).summary()["responses"]
    assert {name: values[name] for name in others} == others


def test_why_tickets_are_never_matchable() -> None:
    given = {"parties.shares": [0.5, 0, 0, 0, 0, 0.5], "measure": ["reasons"], "regions.spread": 1}
    found = simulate(load_config(arena(), {**given, "regions.shares": {"ap": 1}}))
    values, tickets = found.summary()["responses"], found["tickets"]
    came = tickets["time"] >= 300.0
    assert (tickets["players"][tickets["unmatchable"] == "party"] == 6).all()
    for reason in ("party", "value", "latency"):
        count = (tickets["unmatchable"][came] == reason).sum()
        assert values[f"never_matchable.{reason}"] == count
        assert (count > 0) == (reason != "value")
    assert values["never_matchable"] == (tickets["unmatchable"][came] != "").sum()
    assert set(tickets["status"][tickets["unmatchable"] != ""]) <= {"TIMED_OUT", "SEARCHING"}


def test_the_latency_that_a_rule_set_begins_with() -> None:
    found = simulate(load_config(arena(), {"arrivals.per_hour": 600, "parties.shares": [1]}))
    values, tickets = found.summary()["responses"], found["tickets"]
    made = (tickets["status"] == "COMPLETED") & (tickets["ended"] >= 300.0)
    share = (tickets["latency"][made] > 80).mean()
    assert 0 < share < 1
    assert values["latency_over_limit"] == pytest.approx(share)


def test_matchmaking_takes_the_hours_in_which_somebody_waits() -> None:
    found = simulate(load_config(arena(), {"arrivals.per_hour": 20, "patience.median_seconds": 30}))
    tickets = found["tickets"]
    moments = np.arange(300.0, 1800.0, 0.05)
    here = np.searchsorted(tickets["time"], moments, side="right")
    gone = np.searchsorted(np.sort(tickets["ended"]), moments, side="right")
    hours = found.summary()["responses"]["matchmaking_hours"]
    assert 0.02 < hours < 0.4
    assert hours == pytest.approx((here > gone).mean() * 1500.0 / 3600.0, rel=2e-3)
