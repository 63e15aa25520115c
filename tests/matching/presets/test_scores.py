"""Points of lichess: the compiled ones are the plain ones."""

from __future__ import annotations

import random

import pytest

from valmatch.matching.plain_presets import lichess
from valmatch.matching.presets.pairing import choose
from valmatch.matching.presets.scores import choose_pairs, scores_of
from valmatch.rule_sets.presets.building import lichess_rule
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.tickets import Member

RULE = lichess_rule(RuleWords.model_validate({"preset": "lichess"}))


def members(rng: random.Random, count: int) -> list[Member]:
    """Return a pool."""
    found = []
    for k in range(count):
        rating = int(rng.gauss(1500, 250))
        span = rng.choice([None, (rating - rng.randint(50, 500), rating + rng.randint(50, 500))])
        blocks = frozenset(str(rng.randint(0, count)) for _ in range(rng.choice([0, 0, 0, 2])))
        found.append(
            Member(
                0.0,
                1e9,
                str(k if rng.random() < 0.95 else k // 2),
                rating,
                span,
                -rng.choice([0, 0, 1, 3, 6, 13]),
                rng.random() < 0.1,
                False,
                blocks,
                rng.randint(0, 40),
            )
        )
    return found


def same(worlds: int, seed: int) -> int:
    """Compare both in random worlds; return how many pairs there were."""
    rng = random.Random(seed)
    pairs = 0
    for _ in range(worlds):
        pool = members(rng, rng.randint(0, 14))
        rule = RULE._replace(
            ranges=rng.random() < 0.8, blocks=rng.random() < 0.8, manners=rng.random() < 0.8
        )
        plain = [[lichess.score(one, other, rule) for other in pool] for one in pool]
        assert scores_of(pool, rule) == plain
        partners = choose_pairs(pool, rule)
        assert partners == choose(plain)
        pairs += sum(one >= 0 for one in partners) // 2
    return pairs


def test_the_compiled_scores_are_the_plain_ones() -> None:
    assert same(50, 1) > 50


@pytest.mark.slow
def test_the_compiled_scores_are_the_plain_ones_in_1000_worlds() -> None:
    assert same(1000, 2) > 1000
