"""Every constant of every preset counts: changed, it changes what comes of some tickets."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.matchmaker_cases import document
from tests.support.mutants import MUTANTS, UNREAD, WORLDS
from valmatch.experiments.replay_case import replay_case
from valmatch.rule_sets.presets.meanings import constants
from valmatch.rule_sets.presets.words import FORMS

WITHOUT_TICKS = " without ticks"


@lru_cache
def world(name: str) -> dict[str, Any]:
    """Return a case or a world by its name."""
    if name in WORLDS:
        return WORLDS[name]
    if name.endswith(WITHOUT_TICKS):
        case = document(f"{name.removesuffix(WITHOUT_TICKS)}-00")
        return {key: value for key, value in case.items() if key != "ticks"}
    return document(name)


def answers(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    file = folder / "case.json"
    file.write_text(json.dumps(case), encoding="utf-8")
    return replay_case(file).answers()


def test_the_list_has_every_constant_of_every_preset() -> None:
    listed = {(form, constant) for form, constant, _, _ in MUTANTS}
    every = {(form, constant) for form in FORMS for constant in constants(form)}
    assert every - listed == UNREAD
    assert listed <= every


@pytest.mark.parametrize(
    ("form", "constant", "value", "name"), MUTANTS, ids=lambda one: str(one).replace(" ", "_")[:24]
)
def test_a_changed_constant_shows(
    form: str, constant: str, value: object, name: str, tmp_path: Path
) -> None:
    case = world(name)
    changed = {**case, "constants": {**case.get("constants", {}), constant: value}}
    assert answers(changed, tmp_path) != answers(case, tmp_path)
