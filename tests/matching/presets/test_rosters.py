"""Rosters of ShieldBattery: the compiled search is the plain one, byte for byte."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from valmatch.matching.plain_presets.shieldbattery import search
from valmatch.matching.presets.rosters import search_rosters
from valmatch.rule_sets.presets.building import shieldbattery_rule
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.rules import ShieldBatteryRule
from valmatch.rule_sets.presets.tickets import Soldier

RULE = shieldbattery_rule(RuleWords.model_validate({"preset": "shieldbattery"}))

REGIONS = ("east", "west", "south")

MAPS = ("valley", "river", "desert", "moon")

NOW = 600.0


def world(rng: random.Random) -> tuple[list[Soldier], float, ShieldBatteryRule]:
    """Return a queue, the least quality, and a rule."""
    size = rng.choice([1, 2, 3])
    near = rng.random() < 0.5
    tickets = [
        Soldier(
            rng.randint(0, 4700) / 8,
            1e9,
            float(rng.randint(1000, 2200)),
            rng.choice([0.0, rng.randint(100, 700) / 2]),
            None if near else rng.choice(REGIONS),
            None if near else rng.randint(40, 1200) / 8,
            None if rng.random() < 0.6 else frozenset(rng.sample(MAPS, rng.randint(1, 3))),
        )
        for _ in range(rng.randint(0, {1: 16, 2: 10, 3: 8}[size]))
    ]
    tickets.sort(key=lambda one: one.time)
    rule = RULE._replace(
        team_size=size, others=rng.choice([0.0, 0.25]), variance=rng.choice([0.005, 0.02])
    )
    return tickets, float(rng.choice([-30, -300, 100])), rule


def same(worlds: int, seed: int) -> int:
    """Compare both searches in random worlds; return how many matches there were."""
    rng = random.Random(seed)
    between = {pair: float(rng.randint(20, 160)) for pair in combinations(REGIONS[:2], 2)}
    matches = 0
    for _ in range(worlds):
        tickets, least, rule = world(rng)
        expected = search(tickets, NOW, least, rule, between)
        found = search_rosters(tickets, NOW, least, rule, between)
        assert [one.teams for one in found] == [one.teams for one in expected]
        numbers = [np.array(one[1:], np.float32).tobytes() for one in found]
        assert numbers == [np.array(one[1:], np.float32).tobytes() for one in expected]
        matches += len(expected)
    return matches


def test_the_compiled_search_is_the_plain_one() -> None:
    assert same(60, 1) > 50


@pytest.mark.slow
def test_the_compiled_search_is_the_plain_one_in_1000_worlds() -> None:
    assert same(1000, 2) > 800
