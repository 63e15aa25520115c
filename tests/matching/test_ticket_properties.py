"""What holds of any order of search, what theory says, and how often each rule is judged."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.plain_matchmaker import Matchmaker
from tests.support.ticket_properties import Checker
from tests.support.ticket_theory import agrees, cancelled, replayed
from tests.support.ticket_worlds import answers_of, plain_world, random_world, reading_of
from valmatch.matching import plain_tickets
from valmatch.matching.plain_tickets import Judge
from valmatch.matching.tickets.columns import SEARCHES
from valmatch.matching.tickets.playing import play


@pytest.mark.parametrize("seed", range(40))
def test_properties_hold_of_random_worlds(seed: int) -> None:
    world = random_world(seed, 5)
    for search in SEARCHES:
        Checker(world, search, answers_of(world, search)).check()


def test_the_checker_sees_what_is_wrong() -> None:
    found = 0
    for seed in range(100):
        world = random_world(seed, 5)
        answers = answers_of(world, "exhaustive")
        checker = Checker(world, "exhaustive", answers)
        if not (answers["matches"] and checker.is_plain()):
            continue
        found += 1
        less = copy.deepcopy(answers)
        match = less["matches"].pop()
        for name in match["tickets"]:
            end = world["tickets"][int(name[1:])]["time"]
            less["tickets"][name] = {
                "status": "TIMED_OUT",
                "time": end + world["config"]["requestTimeoutSeconds"],
            }
        with pytest.raises(AssertionError):
            Checker(world, "exhaustive", less).check()
    assert found > 3


@pytest.mark.parametrize("seed", range(20))
def test_without_rules_all_waits_follow_from_the_times(seed: int) -> None:
    """Tickets are matched as they come, at the first review at which there are enough of them."""
    times = np.cumsum(np.random.default_rng(seed).exponential(2.0, 100))
    groups = times.reshape(-1, 4)
    outcome = replayed(4, times, 1.0)
    waits = np.array(outcome.times) - times
    assert waits == pytest.approx((np.ceil(groups[:, -1:]) - groups).ravel(), abs=1e-9)


@pytest.mark.parametrize(("players", "rate", "theta"), [(2, 0.5, 0.25), (10, 1 / 60, 1 / 1800)])
def test_tickets_that_are_cancelled(players: int, rate: float, theta: float) -> None:
    figures = cancelled(players, rate, theta, 20, 100)
    agrees("queue, share", figures)
    assert all(figure.error < 0.1 * figure.wanted for figure in figures)


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

    monkeypatch.setattr(plain_tickets, "Judge", Counting)
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
        pytest.param(world_of_modes, range(400, 412), 40, marks=pytest.mark.slow),
        pytest.param(mixed(3), range(200, 212), 40, marks=pytest.mark.slow),
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
