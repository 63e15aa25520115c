"""Pools that are looked at again, and games that run: by hand, as plain Python, as theory says."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.models.tickets.test_tickets_model import arena
from valmatch import load_config, simulate
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.matching.plain_tickets import Pool, Search
from valmatch.matching.tickets.columns import SEARCHES, Service, Tickets
from valmatch.matching.tickets.playing import play_columns
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.models.tickets.model import TicketsModel
from valmatch.models.tickets.pools import blocking, matched_at, search_gap
from valmatch.rule_sets.flexmatch import read_rule_set
from valmatch.rule_sets.table import Table

SUMS = """
ruleLanguageVersion: '1.0'
playerAttributes: [{name: n, type: number}]
teams: [{name: all, minPlayers: 3, maxPlayers: 3}]
rules:
- {name: Sum, type: comparison, operation: "=",
  measurements: ["sum(teams[all].players.attributes[n])"]}
"""


def sums_to(total: float) -> Table:
    """Return a rule set of three whose values sum to something, which says nothing before."""
    document = yaml.safe_load(SUMS)
    document["rules"][0]["referenceValue"] = total
    table = read_rule_set(json.dumps(document)).table
    assert table is not None
    return table


def single_tickets(times: list[float], values: Floats) -> Tickets:
    """Return single players with a number each."""
    return Tickets(
        np.array(times),
        np.full(len(times), np.inf),
        np.ones(len(times), np.int64),
        {"n": values},
        ("eu",),
        np.ones((len(times), 1)),
        np.empty((len(times), 0)),
        Streams(1).place(0),
    )


def test_an_old_ticket_that_all_take_first_blocks_a_pool() -> None:
    table, service = sums_to(6), Service(120.0, 40.0, 1.0)
    columns = single_tickets([0.5, 10.5, 20.5, 30.5], np.array([5.0, 2.0, 2.0, 2.0]))
    played = play_columns(table, columns, service, "pass")
    assert not played.matches.size
    found = blocking(table, columns, service, played, 0.0)
    # Several wait at 11 to 40 s, and are blocked from 31 s on; at 40 s all wait no more.
    assert found.blockers == [(0, 1), (0, 2), (0, 3)]
    assert found.share == pytest.approx(9 / 29)
    assert search_gap(table, columns, service, 0.0) == 1.0
    alone = single_tickets([10.5, 20.5, 30.5], np.array([2.0, 2.0, 2.0]))
    played = play_columns(table, alone, service, "pass")
    assert played.times.tolist() == [31.0]
    assert blocking(table, alone, service, played, 0.0) == (0.0, [])
    assert search_gap(table, alone, service, 0.0) == 0.0


@pytest.mark.parametrize("search", SEARCHES)
def test_pools_have_the_matches_that_plain_python_finds(search: str) -> None:
    loose = {"rules.CloseSkill.maxDistance": 300, "rules.FairTeamSkill.maxDistance": 90}
    many = {"hours": 0.4, "arrivals.per_hour": 900, "parties.shares": [0.2, 0.4, 0.4]}
    modes = {"mode": {"ranked": 0.9, "casual": 0.1}}
    config = load_config(arena(), {**many, **loose, "attributes": modes})
    model = TicketsModel(config.factors, {"rules": config.files["rules"].path})  # type: ignore[arg-type]
    drawn = model.draw(Streams(4), 0)
    table, service = model._table, model._service
    chosen = next(one for one in SEARCHES if one == search)
    size, count = (8, 24) if search == "exhaustive" else (25, 12)
    moments = [300.0 + 40.0 * k for k in range(count)]
    recent = [(drawn.times <= now) & (drawn.times > now - service.timeout) for now in moments]
    pools = [np.flatnonzero(own)[-size:] for own in recent]
    found_by_pool = matched_at((table, drawn, service), pools, moments, chosen)
    pool = Pool(table, drawn, service, chosen)
    total = 0
    for own, now, found in zip(pools, moments, found_by_pool, strict=True):
        left, expected = own.tolist(), []
        while True:
            made = list(Search(pool).one_pass(left, now, 0))
            if not made:
                break
            expected += [ticket for one in made for ticket in one.tickets]
            left = [ticket for ticket in left if ticket not in expected]
        assert sorted(expected) == found.tolist(), now
        total += len(expected)
    assert total > 0


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
