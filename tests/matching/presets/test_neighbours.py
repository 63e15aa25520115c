"""Matches around tickets, as FAForever makes them: compiled as in plain Python, byte for byte."""

from __future__ import annotations

import random

import pytest

from valmatch.matching.plain_presets.faf_teams import search_teams
from valmatch.matching.presets.neighbours import search_neighbours
from valmatch.rule_sets.presets.building import faf_rule
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.tickets import Party, Rated

RULE = faf_rule(RuleWords.model_validate({"preset": "faf"}))


def same(worlds: int, seed: int) -> int:
    """Compare both searches in random worlds; return how many matches there were."""
    rng = random.Random(seed)
    games = 0
    for _ in range(worlds):
        size, spread = rng.choice([2, 3, 4, 6]), rng.choice([0.0, 40.0, 300.0])
        parties = [
            Party(
                0.0,
                1e9,
                tuple(
                    Rated(
                        float(round(rng.gauss(1300, spread))),
                        float(rng.choice([60, 90])),
                        rng.choice([3, 10, 80]),
                    )
                    for _ in range(rng.choice([1, 1, rng.randint(1, size)]))
                ),
                rng.randint(0, 25),
            )
            for _ in range(rng.randint(0, 24))
        ]
        rule = RULE._replace(team_size=size, spread_of=rng.choice(["tickets", "players"]))
        expected = search_teams(parties, rule)
        assert search_neighbours(parties, rule) == expected
        games += len(expected)
    return games


def test_the_compiled_search_is_the_plain_one() -> None:
    assert same(100, 1) > 50


@pytest.mark.slow
def test_the_compiled_search_is_the_plain_one_in_1000_worlds() -> None:
    assert same(1000, 2) > 500
