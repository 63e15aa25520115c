"""Speed of checks of rule sets; run with ``pytest tests/benchmarks --benchmark-only -n 0``."""

from __future__ import annotations

import json

from pytest_benchmark.fixture import BenchmarkFixture

from valmatch.rule_sets.flexmatch import read_rule_set

SKILL = "teams[*].players.attributes[skill]"

RULES = 150
"""As many as make 60 kB, which is nearly all that the service takes."""


def document() -> str:
    """Return a rule set with many rules, each with an expansion."""
    rules = [
        {
            "name": f"Near{number}",
            "type": "distance",
            "measurements": [f"avg({SKILL})"],
            "referenceValue": f"avg(flatten({SKILL}))",
            "maxDistance": number,
        }
        for number in range(RULES)
    ]
    steps = [{"waitTimeSeconds": 5, "value": 500}, {"waitTimeSeconds": 15, "value": 900}]
    teams = [{"name": name, "minPlayers": 2, "maxPlayers": 4} for name in ("red", "blue")]
    found = {
        "ruleLanguageVersion": "1.0",
        "playerAttributes": [{"name": "skill", "type": "number", "default": 10}],
        "teams": teams,
        "rules": rules,
        "expansions": [
            {"target": f"rules[Near{number}].maxDistance", "steps": steps}
            for number in range(RULES)
        ],
    }
    return json.dumps(found, indent=1)


def test_a_check_of_60_kilobytes(benchmark: BenchmarkFixture) -> None:
    """Time how long a rule set takes to be read and checked."""
    text = document()
    assert 60_000 < len(text) < 65_535
    assert benchmark(read_rule_set, text).problems == []
    assert benchmark.stats is not None
    benchmark.extra_info["milliseconds"] = 1000 * float(benchmark.stats["min"])
