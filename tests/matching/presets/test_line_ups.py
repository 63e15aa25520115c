"""Line-ups of bar: the compiled search is the plain one."""

from __future__ import annotations

import random

import pytest

from valmatch.matching.plain_presets.bar import Entry, search
from valmatch.matching.presets.line_ups import search_line_ups
from valmatch.rule_sets.presets.building import bar_rule
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.rules import BarRule

RULE = bar_rule(RuleWords.model_validate({"preset": "bar"}))


def world(rng: random.Random) -> tuple[list[Entry], BarRule]:
    """Return tickets and a rule, small enough for a look at all line-ups."""
    size, count = rng.choice([(1, 2), (1, 3), (2, 2), (2, 3), (3, 2), (4, 2)])
    spread = rng.choice([1, 8, 40])
    entries = [
        Entry(
            number,
            rng.randint(1, size),
            25 + rng.randint(-8 * spread, 8 * spread) / 8,
            (rng.randint(8, 64) / 8) ** 2,
            rng.randint(0, 5),
        )
        for number in range(rng.randint(0, 9 if size < 4 else 10))
    ]
    band = rng.choice([(0.3, 0.7), (0.45, 0.55), (0.0, 1.0)])
    grows = rng.choice([0.0, 0.02])
    return entries, RULE._replace(
        team_size=size, team_count=count, low=band[0], high=band[1], band_grows=grows
    )


def same(worlds: int, seed: int) -> int:
    """Compare both searches in random worlds; return how many line-ups started."""
    rng = random.Random(seed)
    started = 0
    for _ in range(worlds):
        entries, rule = world(rng)
        expected = search(entries, rule)
        assert search_line_ups(entries, rule) == expected
        started += len(expected)
    return started


def test_the_compiled_search_is_the_plain_one() -> None:
    assert same(100, 1) > 50


@pytest.mark.slow
def test_the_compiled_search_is_the_plain_one_in_1000_worlds() -> None:
    assert same(1000, 2) > 500
