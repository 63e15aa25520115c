"""Pools that are looked at again: worked out by hand, and as plain Python searches them."""

from __future__ import annotations

import json

import numpy as np
import pytest
import yaml

from tests.models.tickets.test_tickets_model import arena
from valmatch import load_config
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.matching.plain_tickets.pool import Pool
from valmatch.matching.plain_tickets.searching import Search
from valmatch.matching.tickets.columns import SEARCHES, Service, Tickets
from valmatch.matching.tickets.playing import play_columns
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


def test_without_matches_there_is_no_gap() -> None:
    table, service = sums_to(600), Service(120.0, 40.0, 1.0)
    columns = single_tickets([0.5, 10.5], np.array([5.0, 2.0]))
    assert np.isnan(search_gap(table, columns, service, 0.0))


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
            expected += [ticket for one in made for ticket in one.match.tickets]
            left = [ticket for ticket in left if ticket not in expected]
        assert sorted(expected) == found.tolist(), now
        total += len(expected)
    assert total > 0
