"""Random rule sets that a ladder can go by, and ladders of friends."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import yaml

from tests.oracles.ladder import Factors
from tests.support.ladders import random_factors

SKILLS = "teams[*].players.attributes[skill]"
ALL = f"flatten({SKILLS})"

RULES: list[dict[str, Any]] = yaml.safe_load("""
- {type: distance, measurements: ['avg(teams[*].players.attributes[skill])'], referenceValue:
  'avg(flatten(teams[*].players.attributes[skill]))', maxDistance: 100}
- {type: distance, measurements: ['flatten(teams[*].players.attributes[skill])'], referenceValue:
  'avg(flatten(teams[*].players.attributes[skill]))', maxDistance: 250}
- {type: distance, measurements: ['max(flatten(teams[*].players.attributes[skill]))'],
  referenceValue: 'min(flatten(teams[*].players.attributes[skill]))', maxDistance: 400}
- {type: distance, measurements: ['median(teams[*].players.attributes[skill])'], referenceValue:
  'median(flatten(teams[*].players.attributes[skill]))', maxDistance: 150}
- {type: batchDistance, batchAttribute: skill, maxDistance: 300}
- {type: batchDistance, batchAttribute: skill, maxDistance: 300, partyAggregation: max}
- {type: comparison, measurements: ['stddev(flatten(teams[*].players.attributes[skill]))'],
  operation: <, referenceValue: 300}
- {type: comparison, measurements: ['sum(flatten(teams[*].players.attributes[skill]))'],
  operation: '>', referenceValue: 1000}
- {type: comparison, measurements: ['flatten(teams[*].players.attributes[mode])'], operation: '='}
- {type: collection, operation: intersection, measurements:
  ['flatten(teams[*].players.attributes[maps])'], minCount: 1}
- {type: collection, operation: contains, measurements:
  ['flatten(teams[*].players.attributes[maps])'], referenceValue: a, maxCount: 6}
- {type: collection, operation: reference_intersection_count, measurements:
  ['flatten(teams[*].players.attributes[blocked])'], referenceValue:
  'flatten(teams[*].players[playerId])', maxCount: 0}
- {type: distanceSort, sortDirection: ascending, sortAttribute: skill}
- {type: absoluteSort, sortDirection: descending, sortAttribute: skill}
- {type: absoluteSort, sortDirection: ascending, sortAttribute: skill, partyAggregation: min}
""")
"""Rules of all types that a ladder can go by."""


def random_rule_set(rng: np.random.Generator, team_num: int) -> dict[str, Any]:
    """Return a rule set of two teams with some rules, and expansions of their limits."""
    chosen = rng.choice(len(RULES), rng.integers(0, 4), replace=False)
    rules = [{"name": f"rule{k}", **RULES[k]} for k in chosen]
    if rng.integers(4) == 0:
        parts = [{"name": "one", **RULES[0]}, {"name": "other", **RULES[2]}]
        rules += [*parts, {"name": "both", "type": "compound", "statement": "or(one, other)"}]
    expansions = [
        {
            "target": f"rules[{rule['name']}].maxDistance",
            "steps": [
                {"waitTimeSeconds": wait, "value": value}
                for wait, value in ((60, 500), (450, 2000))[: rng.integers(1, 3)]
            ],
        }
        for rule in rules
        if "maxDistance" in rule and rng.integers(2)
    ]
    return {
        "name": "random",
        "ruleLanguageVersion": "1.0",
        "playerAttributes": [
            {"name": "mode", "type": "string", "default": "ranked"},
            {"name": "skill", "type": "number"},
            {"name": "maps", "type": "string_list", "default": ["a", "b"]},
            {"name": "blocked", "type": "string_list", "default": []},
        ],
        "algorithm": {"expansionAgeSelection": str(rng.choice(["newest", "oldest"]))},
        "teams": [
            {"name": name, "minPlayers": team_num, "maxPlayers": team_num}
            for name in ("red", "blue")
        ],
        "rules": rules,
        "expansions": expansions,
    }


def random_ladder(rng: np.random.Generator) -> tuple[Factors, dict[str, Any]]:
    """Return factors of a ladder of a few friends, and its rule set."""
    team_num = int(rng.integers(1, 4))
    factors = random_factors(rng, "fifo")
    weights = rng.integers(0, 3, team_num).astype(float)
    weights[0] += 1.0
    rule = {
        "matching": "flexmatch",
        "team_num": team_num,
        "skill_attribute": "skill",
        "review_seconds": (None, None, 10.0, 450.0)[rng.integers(4)],
    }
    population = {**factors["population"], "players": int(rng.integers(4, 20))}
    parties = {
        "shares": (weights / weights.sum()).tolist(),
        "skill_correlation": float(rng.choice([0.0, 0.5])),
    }
    rule_set = random_rule_set(rng, team_num)
    changes = {**factors, "rule": rule, "population": population, "parties": parties}
    if changes["rating"]["system"] == "known":
        changes["population"]["start"] = "prior"
    return changes, json.loads(json.dumps(rule_set))
