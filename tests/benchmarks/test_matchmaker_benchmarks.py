"""Speed of living matchmakers; run with ``pytest tests/benchmarks --benchmark-only -n 0``."""

from __future__ import annotations

import random

from pytest_benchmark.fixture import BenchmarkFixture

from tests.matching.presets.test_scores import members
from valmatch.matching.plain_presets.bar import Entry
from valmatch.matching.presets.line_ups import first_line_up, limits_of, make_search
from valmatch.matching.presets.scores import choose_pairs
from valmatch.rule_sets.presets.building import bar_rule, lichess_rule
from valmatch.rule_sets.presets.rule_words import RuleWords


def test_a_wave_of_300_of_lichess(benchmark: BenchmarkFixture) -> None:
    pool, rule = members(random.Random(3), 300), lichess_rule(RuleWords(preset="lichess"))
    choose_pairs(pool, rule)
    partners = benchmark(choose_pairs, pool, rule)
    assert sum(one >= 0 for one in partners) > 280


def test_a_tick_of_bar_with_20_waiting_where_nothing_fits(benchmark: BenchmarkFixture) -> None:
    rule = bar_rule(RuleWords(preset="bar"))._replace(team_size=5)
    entries = [Entry(k, 1, 40.0 * 2.0 ** (k % 20), 9.0) for k in range(20)]
    random.Random(3).shuffle(entries)
    state, limits = make_search(entries, rule), limits_of(entries, rule)
    assert not first_line_up(state, limits)
    assert not benchmark(first_line_up, state, limits)
