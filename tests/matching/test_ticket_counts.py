"""How often each rule held and refused: as a plain twin counts that judges every rule on all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.plain_matchmaker import Matchmaker
from tests.support.ticket_worlds import plain_world, random_world, reading_of
from valmatch.matching.plain_tickets import searching
from valmatch.matching.plain_tickets.judging import Judge
from valmatch.matching.tickets.playing import play

Counts = dict[str, list[int]]


def counts_of(world: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Counts:
    """Return how often each rule held and refused in the twin, one rule after the other."""
    counts: Counts = {rule["name"]: [0, 0] for rule in world["ruleSet"]["rules"]}

    class Counting(Judge):
        """Judges the rules and counts; those that others take up do not refuse by themselves."""

        def refuses(self) -> bool:
            for number, rule in enumerate(self.rules):
                refused = self.finding(number).verdict is False
                counts[rule.name][refused] += 1
                if refused and rule.alone:
                    return True
            return False

    monkeypatch.setattr(searching, "Judge", Counting)
    Matchmaker(world, "pass").played()
    return counts


def world_of_modes(seed: int, tickets: int) -> dict[str, Any]:
    """Return a world in which the first rule wants one mode, or level; in some no team grows."""
    world = plain_world(seed, tickets)
    rule_set = world["ruleSet"]
    name = "level" if seed % 5 == 0 else "mode"
    every = f"flatten(teams[*].players.attributes[{name}])"
    kinds: list[dict[str, Any]] = [
        {"type": "comparison", "operation": "=", "measurements": [every]},
        {"type": "batchDistance", "batchAttribute": "mode"},
    ]
    rule_set["rules"].insert(0, {"name": "Same", **kinds[seed % 2]})
    if seed % 7:
        rule_set["expansions"] = [
            one for one in rule_set["expansions"] if not one["target"].endswith(".maxPlayers")
        ]
    if seed % 11:
        for ticket in world["tickets"]:
            ticket.pop("backfill", None)
            for player in ticket["players"]:
                player.pop("team", None)
    return world


def world_of_references(seed: int, tickets: int) -> dict[str, Any]:
    """Return a world in which players are held against a number that changes with age."""
    world = plain_world(seed, tickets)
    rule_set = world["ruleSet"]
    values = "flatten(teams[*].players.attributes[skill])"
    rule = {"name": "Least", "type": "comparison", "operation": ">=", "measurements": [values]}
    rule_set["rules"].insert(0, {**rule, "referenceValue": 12})
    later: list[Any] = [f"avg({values})", 8, 2]
    steps = [
        {"waitTimeSeconds": wait, "value": later[(seed + wait) % 3]}
        for wait in (1 + seed % 3, 4 + seed % 5)
    ]
    rule_set["expansions"] = [{"target": "rules[Least].referenceValue", "steps": steps}]
    return world


def mixed(every: int) -> Callable[[int, int], dict[str, Any]]:
    """Return what makes plain worlds, and of each second or third seed any world."""
    return lambda seed, tickets: (plain_world if seed % every else random_world)(seed, tickets)


@pytest.mark.parametrize(
    ("make", "seeds", "tickets"),
    [
        (mixed(2), range(30), 12),
        (world_of_references, range(500, 515), 15),
        (world_of_modes, range(300, 325), 15),
        pytest.param(world_of_modes, range(400, 460), 40, marks=pytest.mark.slow),
        pytest.param(mixed(3), range(200, 260), 40, marks=pytest.mark.slow),
    ],
)
def test_verdicts_are_counted_as_the_twin_counts_them(
    make: Callable[[int, int], dict[str, Any]],
    seeds: range,
    tickets: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seed in seeds:
        check(make(seed, tickets), monkeypatch)


def check(world: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the counts are those of the twin."""
    read = reading_of(world)
    outcome = play(*read[:3], "pass")
    names = [rule.name for rule in read.table.rules]
    counted = dict(zip(names, map(list, outcome.judged.tolist()), strict=True))
    assert counted == counts_of(world, monkeypatch)


def test_nothing_is_counted_where_it_is_not_wanted() -> None:
    outcome = play(*reading_of(random_world(3, 12))[:3], "pass", counted=False)
    assert outcome.judged["held"].sum() + outcome.judged["refused"].sum() == 0
