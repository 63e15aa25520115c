"""Responses by name, and what the models of curves have in common."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch.models.model
from tests.support.sectioned_model import ShotFactors, Shots
from valmatch.config.loading import load_config
from valmatch.config.writing import template
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build
from valmatch.models.model import Model, Response, Responses, Table, row_of
from valmatch.models.registry import MODELS

PAIR = Responses(Response("wait", "minutes", "mean wait"), Response("n", "", "players", whole=True))


def test_the_examples_of_the_module_hold() -> None:
    assert doctest.testmod(valmatch.models.model).failed == 0


def test_a_record_is_filled_by_name_in_any_order() -> None:
    record = PAIR.record()
    record["n"], record["wait"] = 7, 2.5
    assert PAIR.row(record).tolist() == [2.5, 7.0]
    record["wait"] = np.nan  # undefined, which is not missing
    np.testing.assert_array_equal(PAIR.row(record), [np.nan, 7.0])


def test_what_nobody_has_set_is_missing() -> None:
    record = PAIR.record()
    record["wait"] = 2.5
    with pytest.raises(ValueError, match="response 'n' is missing"):
        PAIR.row(record)
    with pytest.raises(ValueError, match="response 'wait' is missing"):
        PAIR.row(PAIR.record())
    with pytest.raises(ValueError, match="response 'm' is none of wait, n"):
        PAIR.row({"wait": 1.0, "n": 2.0, "m": 3.0})
    with pytest.raises(ValueError, match="response 'n' is an array of shape"):
        PAIR.row({"wait": 1.0, "n": np.zeros(3)})  # type: ignore[dict-item]


def test_tables_are_arrays_of_one_length() -> None:
    table = Table("t", {"a": [1, None, 3], "b": ["x", "y", "z"]}, whole=["a"])
    np.testing.assert_array_equal(table.columns["a"], [1.0, np.nan, 3.0])
    assert (len(table), table.whole) == (3, frozenset({"a"}))
    with pytest.raises(ValueError, match="differ in length"):
        Table("t", {"a": [1], "b": [1, 2]})


def test_draws_depend_on_factors_and_on_whole_sections() -> None:
    model = Shots(ShotFactors(), {})
    model.drawn_by = frozenset({"noise", "rule.shots"})
    drawn = ("noise.std", "noise.bias", "noise.bias.1", "rule.shots")
    assert all(map(model.draws_by, drawn))
    assert not any(map(model.draws_by, ("rule.aim", "rule", "noises.std", "rule.shots_too")))


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
    inputs = study.draw(Streams(1), 0)
    copies = [array.copy() for array in arrays(inputs)]
    first, again = study.run(inputs), study.run(inputs)
    np.testing.assert_array_equal(row_of(study, first.responses), row_of(study, again.responses))
    np.testing.assert_array_equal(first.curves, again.curves)
    for before, after in zip(copies, arrays(inputs), strict=True):
        assert np.array_equal(before, after)
