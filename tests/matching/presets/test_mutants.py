"""Every constant of every preset counts: changed, it changes what comes of some tickets."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.matching.presets.test_queues import HOUR, TIMEOUT, asked, rule_of
from tests.support.matchmaker_cases import document
from tests.support.mutants import IN_A_DAY, MUTANTS, WORLDS
from valmatch.experiments.replay_case import replay_case
from valmatch.matching.presets.queues.playing import play_preset
from valmatch.rule_sets.presets.long_form import all_constants
from valmatch.rule_sets.presets.meanings import constants, form_of
from valmatch.rule_sets.presets.naming import preset_of
from valmatch.rule_sets.presets.words import FORMS, PRESETS, Form

WITHOUT_TICKS = " without ticks"

DUELS = ("faf_duels", "team_size")
"""What the form itself is."""


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
    rules = [preset_of(preset, None) for preset in PRESETS] + [preset_of("faf", "2x1")]
    every = {(form_of(rule), one.name) for rule in rules for one in all_constants(rule)}
    assert {form for form, _ in every} == set(FORMS)
    listed = {(form, constant) for form, constant, _, _ in MUTANTS}
    drawn = {(form, constant) for form, constant, _ in IN_A_DAY}
    assert every - drawn == listed | {DUELS}
    assert drawn <= every - listed


@pytest.mark.parametrize(
    ("form", "constant", "value", "name"), MUTANTS, ids=lambda one: str(one).replace(" ", "_")[:24]
)
def test_a_changed_constant_shows(
    form: str, constant: str, value: object, name: str, tmp_path: Path
) -> None:
    case = world(name)
    changed = {**case, "constants": {**case.get("constants", {}), constant: value}}
    assert answers(changed, tmp_path) != answers(case, tmp_path)


@pytest.mark.parametrize(("form", "constant", "value"), IN_A_DAY)
def test_a_changed_constant_shows_in_drawn_tickets(form: Form, constant: str, value: float) -> None:
    def matched(words: dict[str, Any]) -> bytes:
        played, _ = play_preset(rule_of(words), tickets, TIMEOUT, HOUR)
        assert played.times.size > 50
        return played.times.tobytes()

    tickets = asked(form, 500.0, 1, 1.0, 4)
    section, *inner = constants(form)[constant].split(".")
    changed: Any = value
    for word in reversed(inner):
        changed = {word: changed}
    assert matched({"preset": form, section: changed}) != matched({"preset": form})
