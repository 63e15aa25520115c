"""Tickets as they are drawn: equal to the plain twin, and of the laws that the factors say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import yaml

from tests.oracles.ticket_draws import tickets
from valmatch.draws.streams import Streams
from valmatch.matching.tickets.columns import Lists, Texts, Tickets
from valmatch.models.tickets.factors import TicketsFactors, round_trips
from valmatch.models.tickets.population import draw_answers, draw_tickets

GIVEN: dict[str, Any] = yaml.safe_load("""
hours: 2.5
arrivals: {per_hour: 30, hourly_profile: [1, 0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  1, 1, 1, 1, 1]}
skill: {error: 40}
parties: {shares: [0.5, 0.2, 0, 0.3]}
regions: {shares: {eu: 0.5, us: 0.25, ap: 0.25}}
attributes: {mode: {ranked: 0.75, casual: 0.25}, roles: {lists: {tank: 0.2, medic: 0.5}}, level:
  {mean: 10, std: 3}}
patience: {median_seconds: 60}
service: {acceptance_seconds: 20}
""")


def drawn_by(given: dict[str, Any], seed: int = 3, replication: int = 2) -> Tickets:
    """Return the tickets of some factors."""
    factors = TicketsFactors.model_validate(given)
    trips = round_trips(tuple(factors.regions.shares), None)
    return draw_tickets(factors, trips, Streams(seed).place(replication))


def test_tickets_are_those_of_the_plain_twin() -> None:
    factors = TicketsFactors.model_validate(GIVEN)
    trips = round_trips(("eu", "us", "ap"), None)
    rows = dict(zip(trips.homes, trips.milliseconds.tolist(), strict=True))
    twin = list(tickets(factors.model_dump(), rows, 3, 2))
    drawn = drawn_by(GIVEN)
    answers = draw_answers(factors, drawn)
    assert len(twin) == drawn.times.size > 40
    assert drawn.times == pytest.approx([one.time for one in twin], rel=1e-12)
    assert drawn.cancels == pytest.approx([one.cancel for one in twin], rel=1e-9)
    assert [trips.homes[home] for home in drawn.homes] == [one.home for one in twin]
    assert drawn.sizes.tolist() == [len(one.skills) for one in twin]
    assert drawn.skills == pytest.approx(np.concatenate([one.skills for one in twin]), rel=1e-12)
    assert drawn.seen == pytest.approx(np.concatenate([one.seen for one in twin]), rel=1e-12)
    assert (drawn.latencies == np.concatenate([one.latencies for one in twin])).all()
    expected = [[math.nan if a is None else a for a in one.answers] for one in twin]
    np.testing.assert_allclose(answers, expected, rtol=1e-12)
    mode, roles = drawn.values["mode"], drawn.values["roles"]
    assert isinstance(mode, Texts)
    assert isinstance(roles, Lists)
    modes = [one for ticket in twin for one in ticket.attributes["mode"]]
    assert [mode.texts[code] for code in mode.codes] == modes
    assert [list(one or ()) for one in roles.tolist()] == [
        one for ticket in twin for one in ticket.attributes["roles"]
    ]
    levels = np.concatenate([one.attributes["level"] for one in twin])
    assert drawn.values["level"] == pytest.approx(levels, rel=1e-12)


def test_tickets_come_by_the_profile() -> None:
    drawn = drawn_by({"hours": 30, "arrivals": {"per_hour": 400, "hourly_profile": [0, *[2] * 23]}})
    hours = np.bincount((drawn.times / 3600).astype(int), minlength=30)
    assert hours[[0, 24]].tolist() == [0, 0]
    expected = 400 * 24 / 23
    busy = np.delete(hours, [0, 24])
    assert abs(busy.mean() - expected) < 4 * math.sqrt(expected / busy.size)


def test_skills_of_a_party_are_alike() -> None:
    given = {"skill": {"mean": 100, "std": 30, "party_std": 10}, "parties": {"shares": [0.5, 0.5]}}
    drawn = drawn_by(given)
    firsts = np.cumsum(drawn.sizes) - drawn.sizes
    solos = drawn.skills[firsts[drawn.sizes == 1]]
    pairs = drawn.skills[np.add.outer(firsts[drawn.sizes == 2], [0, 1])]
    n = solos.size
    assert abs(solos.mean() - 100) < 4 * 30 / math.sqrt(n)
    assert abs(solos.std() - 30) < 4 * 30 / math.sqrt(2 * n)
    within = (pairs[:, 0] - pairs[:, 1]) / math.sqrt(2)
    assert abs(within.std() - 10) < 4 * 10 / math.sqrt(2 * n)
    between = math.sqrt(30**2 + 10**2 / 2)
    assert abs(pairs.mean(axis=1).std() - between) < 4 * between / math.sqrt(2 * n)


def test_latencies_lie_about_the_table() -> None:
    drawn = drawn_by({"regions": {"shares": {"us": 0.5, "eu": 0.5}, "spread": 0.2}})
    trips = round_trips(("us", "eu"), None).milliseconds
    for home in (0, 1):
        for centre in (0, 1):
            logs = np.log(drawn.latencies[drawn.homes[drawn.of] == home, centre])
            error = 4 * 0.2 / math.sqrt(logs.size) + 0.5 / trips[home, centre] / 10
            assert abs(logs.mean() - math.log(trips[home, centre])) < error


@pytest.mark.parametrize(
    ("further", "same"),
    [
        ({"skill": {"std": 5}}, ("times", "sizes", "homes", "latencies")),
        ({"parties": {"shares": [1]}}, ("times", "homes", "cancels")),
        ({"arrivals": {"per_hour": 60, "hourly_profile": [1] * 24}}, ("sizes", "homes", "skills")),
        ({"attributes": {}}, ("times", "skills", "latencies", "cancels")),
    ],
)
def test_one_law_shifts_no_draw_of_another(further: dict[str, Any], same: tuple[str, ...]) -> None:
    first, second = drawn_by(GIVEN), drawn_by({**GIVEN, **further})
    for name in same:
        mine, other = getattr(first, name), getattr(second, name)
        common = min(len(mine), len(other))
        assert (mine[:common] == other[:common]).all(), name
