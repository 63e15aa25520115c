"""Rules judged and pools explained by plain Python."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.ticket_worlds import party, reading_of, solo, team, world
from valmatch.matching.explaining import Blocked, blocked, blockers
from valmatch.matching.plain_tickets import Judge, PartialMatch, Pool, holds_from
from valmatch.matching.tickets.columns import Search
from valmatch.matching.tickets.playing import play
from valmatch.rule_sets.table import Lack

ATTRIBUTES = [
    {"name": "skill", "type": "number", "default": 0},
    {"name": "mode", "type": "string", "default": "x"},
    {"name": "roles", "type": "string_list", "default": []},
]
SKILLS = "flatten(teams[*].players.attributes[skill])"
ROLES = "flatten(teams[*].players.attributes[roles])"


def match_of(rule: dict[str, Any], tickets: list[dict[str, Any]], *steps: Any) -> PartialMatch:  # noqa: ANN401
    """Return a match of all tickets on one team, by one rule and the steps of one property."""
    expansions = [
        {"target": f"rules[R].{key}", "steps": [{"waitTimeSeconds": wait, "value": value}]}
        for key, wait, value in steps
    ]
    rules = [{"name": "R", **rule}]
    given = world(
        [team("a", 1, 9)], tickets, rules=rules, expansions=expansions, playerAttributes=ATTRIBUTES
    )
    match = Pool(*reading_of(given)[:3], "pass").nobody()
    for number in range(len(tickets)):
        match = match.with_ticket(number, 0)
    return match


def pinged(number: int, **latency: int) -> dict[str, Any]:
    ticket = solo(number)
    ticket["players"][0]["latency"] = latency
    return ticket


NEAR = {"type": "distance", "measurements": [SKILLS], "referenceValue": 5, "maxDistance": 3}
SPREAD = {"type": "batchDistance", "batchAttribute": "skill", "maxDistance": 3}
COMPARED = {"type": "comparison", "measurements": [SKILLS], "referenceValue": 4, "operation": ">="}
HELD = {"type": "collection", "operation": "contains", "measurements": [ROLES]}
LATENCY = {"type": "latency", "maxLatency": 50}
TWO = [solo(1, skill=4), solo(2, skill=10)]

LACKING = [
    (NEAR, TWO, [Lack("most", 5, 3)]),
    (SPREAD, TWO, [Lack("most", 6, 3)]),
    ({**SPREAD, "batchAttribute": "mode"}, [solo(1), solo(2, mode="y")], []),
    ({**COMPARED, "referenceValue": 7}, TWO, [Lack("reference", 4, 7)]),
    (
        {**HELD, "referenceValue": "m", "maxCount": 1},
        [solo(1, roles=["m"]), solo(2, roles=["m", "n"])],
        [Lack("most", 2, 1)],
    ),
    (LATENCY, [pinged(1, eu=40, us=90), pinged(2, eu=70, us=20)], [Lack("most", 70, 50)]),
]


@pytest.mark.parametrize(("rule", "tickets", "lacks"), LACKING)
def test_what_a_rule_needs(
    rule: dict[str, Any], tickets: list[dict[str, Any]], lacks: list[Lack]
) -> None:
    match = match_of(rule, tickets)
    finding = Judge(match, 0.0, partial=False).finding(0)
    assert finding.verdict is False
    assert list(finding.lacks) == lacks
    assert holds_from(match, 0.0, False, 0) is None


@pytest.mark.parametrize(
    ("rule", "step", "tickets"),
    [
        (NEAR, ("maxDistance", 20, 5), TWO),
        ({**COMPARED, "referenceValue": 7}, ("referenceValue", 20, 4), TWO),
        ({**HELD, "referenceValue": "m", "minCount": 1}, ("minCount", 20, 0), TWO),
        (LATENCY, ("maxLatency", 20, 70), [pinged(1, eu=40), pinged(2, eu=70)]),
    ],
)
def test_the_age_at_which_a_rule_would_hold(
    rule: dict[str, Any], step: tuple[str, float, float], tickets: list[dict[str, Any]]
) -> None:
    key, wait, value = step
    assert holds_from(match_of(rule, tickets, step), 0.0, False, 0) == 20
    worse = value + 1 if rule["type"] in ("comparison", "collection") else value - 1
    stricter = (key, wait, worse)
    assert holds_from(match_of(rule, tickets, stricter), 0.0, False, 0) is None


def test_of_an_unfinished_match_some_is_unknown() -> None:
    counts = {**COMPARED, "measurements": ["count(teams[a].players)"], "referenceValue": 9}
    match = match_of(counts, TWO)
    assert Judge(match, 0.0, partial=True).finding(0).verdict is None
    assert Judge(match, 0.0, partial=False).finding(0).verdict is False
    holders = {**HELD, "referenceValue": "m", "minCount": 1, "maxCount": 1}
    assert Judge(match_of(holders, TWO), 0.0, partial=True).finding(0).verdict is None


THREES = [team("red", 3, 3), team("blue", 3, 3)]


def starving(solos: int, parties: int) -> dict[str, Any]:
    """Return a world whose parties of three could play each other, but for those who come first."""
    first = [solo(k, 0.0) for k in range(1, solos + 1)]
    return world(THREES, [*first, *(party(10 + k, [{}] * 3, 1.0 + k) for k in range(parties))])


def pool_of(given: dict[str, Any], search: Search = "pass") -> Pool:
    return Pool(*reading_of(given)[:3], search)


def test_one_old_ticket_starves_a_pool() -> None:
    pool = pool_of(starving(1, 4))
    assert blocked(pool, [0, 1, 2, 3, 4], 9.0, 0) == Blocked((0,), (1, 2, 3, 4))
    # With a fifth party one is left over.
    assert blocked(pool_of(starving(1, 5)), range(6), 9.0, 0) == Blocked((0,), (1, 2, 3, 4))


def test_nobody_blocks_where_a_match_comes_or_nothing_would() -> None:
    assert blocked(pool_of(starving(0, 4)), range(4), 9.0, 0) is None
    assert blocked(pool_of(starving(1, 1)), range(2), 9.0, 0) is None
    # Where all that may block are away, one party is left.
    assert blocked(pool_of(starving(3, 1)), range(4), 9.0, 0) is None


def test_a_world_is_looked_at_as_its_reviews_end() -> None:
    given = starving(1, 4)
    pool = pool_of(given)
    outcome = play(*reading_of(given)[:3], "pass")
    assert outcome.matches == []
    found = blockers(pool, outcome)
    # At the first party nobody waits behind anybody; at the others there is a pair more.
    assert (found.reviews, found.looked) == (4, 4)
    assert [one.tickets for one in found.blocked] == [(1, 2), (1, 2), (1, 2, 3, 4)]
    assert {one.by for one in found.blocked} == {(0,)}
