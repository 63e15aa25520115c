"""Random small ladders, of all rules and rating systems, files and rule sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from tests.oracles.ladder import Factors, factors_with

POLICIES = (
    "nearest",
    "draw_chance",
    "knowledge_gradient",
    "knowledge_gradient_variance",
    "ucb",
    "random",
    "oracle",
)

STEPS = 8.0
"""Of the lattice of times, an hour."""


def random_factors(rng: np.random.Generator, matching: str) -> Factors:
    """Return factors of a ladder of a few players and up to two days."""

    def one_of(*values: Any) -> Any:  # noqa: ANN401
        return values[rng.integers(len(values))]

    days = one_of(0.5, 1, 2)
    population = {
        "players": int(rng.integers(0, 13)),
        "start": one_of("prior", "skill"),
        "newcomers_per_day": one_of(0.0, 2.0, 6.0),
        "newcomer_skill_mean": one_of(1500.0, 1200.0),
        "smurf_share": one_of(0.0, 0.5, 1.0),
    }
    sessions = {
        "per_day": one_of(0.0, 2.0, 4.0, 8.0),
        "activity_cv": one_of(0.0, 0.5, 1.0, 3.0),
        "hourly_profile": one_of([1.0] * 24, [0.0] * 12 + [2.0, 1.0] * 6),
        "continue_prob": one_of(0.0, 0.7, 1.0),
        "win_effect": one_of(0.03, -0.5, 0.5),
        "break_minutes": one_of(0.0, 2.0, 30.0),
        "patience_minutes": one_of(None, 2.0, 10.0, 60.0),
        "churn": one_of(0.0, 0.1, 0.5),
    }
    match = {
        "minutes": one_of(7.5, 20.0, 60.0),
        "outcome": one_of("logistic", "normal"),
        "beta": one_of(150.0, 50.0),
    }
    rating = {
        "system": one_of("trueskill", "elo", "zonestats", "known"),
        "match_by": one_of("mean", "conservative"),
        "tau": one_of(0.0, 3.0, 100.0),
        "beta": one_of(None, 100.0),
        "K": one_of(32.0, 400.0),
    }
    changes = {
        "days": days,
        "warmup_days": one_of(0, 0.25, days / 2),
        "population": population,
        "sessions": sessions,
        "match": match,
        "rule": random_pairs(rng) if matching == "pairs" else _random_rule(rng, matching),
        "rating": rating,
    }
    return factors_with(changes)


def _random_rule(rng: np.random.Generator, matching: str) -> dict[str, Any]:
    within, within_slack, between, between_slack = rng.choice([0.0, 50.0, 200.0, 600.0, 1e9], 4)
    return {
        "matching": matching,
        "team_num": int(rng.integers(1, 4 if matching == "team_first" else 3)),
        "player_diff": float(within),
        "player_slack": float(within_slack),
        "team_diff": float(between),
        "team_slack": float(between_slack),
        "wait_thresh": float(rng.choice([0.0, 0.125, 0.5, 4.0])),
        "review": str(rng.choice(["arrivals", "continuous"])),
        "slack_scope": str(rng.choice(["team", "pool"])),
        "tie_break": str(rng.choice(["balanced", "enumeration"])),
    }


def random_pairs(rng: np.random.Generator) -> dict[str, Any]:
    """Return factors of the rule `pairs`."""
    return {
        "matching": "pairs",
        "tick_seconds": float(rng.choice([60.0, 450.0, 3600.0])),
        "tolerance": float(rng.choice([0.0, 100.0, 400.0, 1e6])),
        "widening": float(rng.choice([0.0, 600.0, 6000.0])),
        "widening_age": str(rng.choice(["newest", "oldest"])),
        "band": int(rng.choice([1, 2, 3, 8])),
        "policy": str(rng.choice(POLICIES)),
        "urgency": float(rng.choice([0.0, 6.0])),
        "reserve": float(rng.choice([0.0, 0.7, 2.0])),
    }


class RandomFiles(NamedTuple):
    """Files of a ladder, and what they say of the players by number; None of what they do not."""

    paths: dict[str, Path]
    names: list[str]
    skills: list[float] | None
    starts: list[list[float]] | None


NO_FILES = RandomFiles({}, [], None, None)


def with_files(factors: Factors, files: RandomFiles) -> Factors:
    """Return factors that say the same as files."""
    population = dict(factors["population"])
    if files.names:
        population["players"] = len(files.names)
    if files.skills is not None:
        population["skill_mean"] = sum(files.skills) / len(files.skills)
    if files.starts is not None:
        population["newcomers_per_day"] = 0.0
    return {**factors, "population": population}


def random_files(rng: np.random.Generator, days: float, folder: Path) -> RandomFiles:
    """Write skills, arrivals or both; times are on a lattice, or shortly after it."""
    kinds = (("skills",), ("arrivals",), ("skills", "arrivals"))[rng.integers(3)]
    paths = {kind: folder / f"{kind}.csv" for kind in kinds}
    names = [f"{'abc'[k % 3]}, {k}" for k in rng.permutation(int(rng.integers(1, 13))).tolist()]
    skills = rng.normal(1500.0, 300.0, len(names)).tolist() if "skills" in kinds else None
    if skills is not None:
        rows = (f'"{name}",{skill!r}\n' for name, skill in zip(names, skills, strict=True))
        paths["skills"].write_text(f"player,{rng.choice(['skill', 'rating'])}\n{''.join(rows)}")
    if "arrivals" not in kinds:
        return RandomFiles(paths, names, skills, None)
    moments, late = int(STEPS * 27 * days), 1e-3 * float(rng.integers(2))
    sessions = [
        (name, moment / STEPS + late * float(rng.uniform()))
        for name in names
        for moment in rng.choice(moments, rng.integers(skills is None, 12), replace=False).tolist()
    ]
    rng.shuffle(sessions)
    text = "".join(f'{time!r},"{name}"\n' for name, time in sessions)
    paths["arrivals"].write_text(f"{rng.choice(['arrival_hours', 'time'])},player\n{text}")
    if skills is None:
        names = list(dict.fromkeys(name for name, _ in sessions))
    starts = [sorted(time for one, time in sessions if one == name) for name in names]
    return RandomFiles(paths, names, skills, starts)


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
