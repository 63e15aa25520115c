"""What the models of curves have in common: templates, refusals, draws that no rule moves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.case_tables import cases
from tests.support.command import refusal
from valmatch.config.loading import load_config
from valmatch.config.writing import template
from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.execution.chunks import build
from valmatch.models.model import Model, row_of
from valmatch.models.registry import MODELS

SMALL: dict[str, dict[str, Any]] = {
    "opponent": {"n_opponents": 6, "n_games": 12},
    "targeting": {"n_alternatives": 6, "n_measurements": 12},
    "zonestats": {"n_players": 12, "games_per_player": 6},
}
RULES: dict[str, dict[str, Any]] = {
    "opponent": {
        "rank": "bottom",
        "prior": "equal",
        "policies": ["random"],
        "gamma": 0.5,
        "update": "as_printed",
        "noise_variance": 7.0,
        "rank_by": "skill",
        "kappa": 2.0,
        "draw_margin": 1.0,
        "ties": "random",
    },
    "targeting": {
        "target": 4.0,
        "tolerance": 0.2,
        "noise_variance": 1.0,
        "policies": ["bold"],
        "kappa": 0.0,
        "prior": "equal",
    },
    "zonestats": {
        "T": 33.0,
        "GAME_MULT": 0.4,
        "MAX_GAME_LENGTH": 9.0,
        "initial_rating": 1500.0,
        "cap": "every_player",
        "compare": "score",
        "contest_time": "joint",
        "enabled_share": 0.5,
        "skill_std": 20.0,
        "true_spread": 90.0,
        "tie_chance": 0.5,
        "game_minutes": 33.0,
        "late_chance": 0.9,
        "latest_join": 0.5,
        "early_chance": 0.7,
        "earliest_leave": 0.5,
        "error_bound": 10.0,
    },
}
"""The factors that no random number depends on."""


def small(name: str, **changes: object) -> Model[Any]:
    return build(load_config({"model": name, "factors": {**SMALL[name], **changes}}))


def arrays(inputs: Any) -> list[Any]:  # noqa: ANN401 - tuples of arrays, and of tuples of them
    return [a for part in inputs for a in (part if isinstance(part, tuple) else [part])]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SMALL, "ladder"])
def test_a_template_is_a_config_of_the_defaults(name: str, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(template(name))
    config = load_config(path)
    assert (config.factors, config.warnings) == (MODELS[name].factors(), ())
    assert config.factors.model_fields_set == set(type(config.factors).model_fields)


BAD = """
opponent | prior_variance_range=[3, 2] | the least variance 3 is above the largest, 2
opponent | prior_variances=[1, 2] | 2 values for 7 players (n_opponents 6 and player 0)
opponent | rank=8 | factors.rank: 8 is outside the pool of 7 players (allowed: top, bottom or an
opponent | rank=true | factors.rank: True is not a rank
opponent | policies=[random, random] | factors.policies: random is named twice
targeting | prior_means=[1, 2] | factors.prior_means: 2 values for 6 alternatives
targeting | policies=[random] | (got 'random')
zonestats | team_size=51 | 2 teams of 51 need 102 players, more than n_players 12
zonestats | skill_std=6001 | skill_std 6001 is more than 50 times true_spread 120
zonestats | enabled_share=0.1 | enabled_share 0.1 of 12 players leaves 1 to rate (allowed: 2
"""
"""What each model refuses, and what is said of it."""


@pytest.mark.parametrize(("name", "override", "message"), cases(BAD))
def test_bad_factors_are_refused(name: str, override: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(json.dumps({"model": name, "factors": SMALL[name]}))
    line = refusal("simulate", path, "--set", override)
    assert line.startswith(f"--set {override}: ")
    assert message in line


def test_factors_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(InputError, match="the paper prints no beliefs after a draw"):
        small("opponent", update="as_printed", draw_margin=0.5)
    with pytest.raises(InputError, match="100 players with 1000000 games each are too many"):
        small("zonestats", n_players=100, games_per_player=1_000_000)


@pytest.mark.parametrize("name", SMALL)
def test_drawn_by_names_all_but_the_rules(name: str) -> None:
    assert set(MODELS[name].factors.model_fields) == small(name).drawn_by | set(RULES[name])


@pytest.mark.parametrize(("name", "rule"), [(name, rule) for name in RULES for rule in RULES[name]])
def test_no_rule_moves_a_draw(name: str, rule: str) -> None:
    plain = small(name).draw(Streams(1), 3)
    changed = small(name, **{rule: RULES[name][rule]}).draw(Streams(1), 3)
    for before, after in zip(arrays(plain), arrays(changed), strict=True):
        assert np.array_equal(before, after)


@pytest.mark.parametrize("name", SMALL)
def test_a_run_leaves_its_inputs_as_they_are(name: str) -> None:
    study = small(name)
    inputs = study.keep(study.draw(Streams(1), 0))
    copies = [array.copy() for array in arrays(inputs)]
    first, again = study.run(inputs), study.run(inputs)
    np.testing.assert_array_equal(row_of(study, first.responses), row_of(study, again.responses))
    np.testing.assert_array_equal(first.curves, again.curves)
    for before, after in zip(copies, arrays(inputs), strict=True):
        assert np.array_equal(before, after)
