"""Proposals of FAForever: the compiled search is the plain one, byte for byte."""

from __future__ import annotations

import random

import pytest

from valmatch.matching.plain_presets.faf_duels import search_duels
from valmatch.matching.presets.proposals import search_proposals
from valmatch.rule_sets.presets.building import faf_rule
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.tickets import Party, Rated

RULE = faf_rule(RuleWords.model_validate({"preset": "faf", "teams": "2x1"}))


def world(rng: random.Random) -> list[Party]:
    """Return tickets, many of them alike, so that qualities are equal."""
    spread = rng.choice([1, 20, 400])
    return [
        Party(
            0.0,
            1e9,
            (
                Rated(
                    1200.0 + spread * rng.randint(-3, 3),
                    float(rng.choice([60, 80, 120, 260])),
                    rng.choice([0, 5, 10, 11, 200]),
                ),
            ),
            rng.randint(0, 12),
        )
        for _ in range(rng.randint(0, rng.choice([8, 29, 70])))
    ]


def same(worlds: int, seed: int) -> int:
    """Compare both searches in random worlds; return how many pairs there were."""
    rng = random.Random(seed)
    pairs = 0
    for _ in range(worlds):
        parties = world(rng)
        expected = search_duels(parties, RULE)
        assert search_proposals(parties, RULE) == expected
        pairs += len(expected)
    return pairs


def test_the_compiled_search_is_the_plain_one() -> None:
    assert same(100, 1) > 100


@pytest.mark.slow
def test_the_compiled_search_is_the_plain_one_in_1000_worlds() -> None:
    assert same(1000, 2) > 1000
