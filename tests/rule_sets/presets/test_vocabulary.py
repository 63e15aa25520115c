"""The vocabulary of rules: every word with its meaning, and what has none together."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from valmatch.rule_sets.presets.long_form import all_constants, in_lines, long_form
from valmatch.rule_sets.presets.meanings import WORDS, constants, filled, form_of
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.words import FORMS, PRESETS, SEARCH, Form

WHOLE: dict[Form, dict[str, Any]] = {
    "faf": {"preset": "faf"},
    "faf_duels": {"preset": "faf", "teams": "2x1"},
    "bar": {"preset": "bar"},
    "shieldbattery": {"preset": "shieldbattery"},
    "osu": {"preset": "osu"},
    "lichess": {"preset": "lichess"},
}


def refusal(rule: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as error:
        RuleWords.model_validate(rule)
    return str(error.value.errors()[0]["msg"])


def nested(path: str, value: object) -> dict[str, Any]:
    *sections, name = path.split(".")
    found: dict[str, Any] = {name: value}
    for section in reversed(sections):
        found = {section: found}
    return found


@pytest.mark.parametrize("form", FORMS)
def test_the_long_form_is_read_back_as_the_same_rule(form: Form) -> None:
    rule = RuleWords.model_validate(WHOLE[form])
    assert form_of(rule) == form
    text = "\n".join(in_lines(long_form(rule)))
    again = RuleWords.model_validate(yaml.safe_load(text))
    assert filled(again) == filled(rule)
    assert long_form(again) == long_form(rule)


def test_every_word_has_a_meaning_and_a_form() -> None:
    for path, one in WORDS.items():
        assert one.meaning.endswith("."), path
        assert one.by_form, path
        assert set(one.by_form) <= set(FORMS), path


@pytest.mark.parametrize("form", FORMS)
def test_constants_have_one_name_each(form: Form) -> None:
    names = [one.name for one in all_constants(RuleWords.model_validate(WHOLE[form]))]
    assert len(names) == len(set(names))
    assert set(constants(form)) <= set(names)


@pytest.mark.parametrize("form", FORMS)
def test_a_word_goes_where_it_has_a_meaning_and_nowhere_else(form: Form) -> None:
    for path, one in WORDS.items():
        if path == "teams":
            continue
        default = next(iter(one.by_form.values()))
        rule = {**nested(path, one.by_form.get(form, default)), **WHOLE[form]}
        if form in one.by_form:
            RuleWords.model_validate(rule)
        else:
            text = refusal(rule)
            assert text.startswith(f"{path} does not go with search: {SEARCH[form]}")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"preset": "bar", "search": "pairs"}, "search: pairs does not go with value.unit"),
        ({"preset": "osu", "window": {"grow": "linear"}}, "window.grow: linear does not go with"),
        ({"preset": "bar", "accept": {"band": [0.7, 0.3]}}, "0.7 is above 0.3"),
        ({"preset": "lichess", "teams": "2x2"}, "preset lichess knows no teams of 2 (allowed: 1)"),
        ({"preset": "faf", "teams": "3x4"}, "preset faf knows no 3 teams (allowed: 2)"),
        ({"preset": "osu", "teams": "2x1"}, "preset osu has a lobby"),
        ({"preset": "bar", "teams": {"lobby": 4}}, "preset bar has teams"),
        ({"preset": "shieldbattery", "teams": "2x4"}, "knows no teams of 4 (allowed: 1 to 3)"),
        ({"preset": "lichess", "accept": {"at_most": [[9, 1], [9, 2]]}}, "have to increase"),
        (
            {"preset": "faf", "teams": "2x1", "accept": {"expand": [{"step": 1, "cap": 1}] * 3}},
            "in this order",
        ),
    ],
)
def test_what_has_no_meaning_is_refused_by_name(rule: dict[str, Any], text: str) -> None:
    assert text in refusal(rule)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_tick_of_0_is_out_of_range(preset: str) -> None:
    clock: dict[str, Any] = {"tick": 0}
    clock = {"faf": {"pops": {"max": 0}}, "lichess": {"wave": {"every": 0}}}.get(preset, clock)
    least = "than 0" if preset == "faf" else "than or equal to 0.01"
    assert f"greater {least}" in refusal({"preset": preset, "clock": clock})


def test_quick_play_remembers_and_bans_nobody_unless_it_is_said() -> None:
    lobby = {"preset": "osu", "teams": {"lobby": 8}}
    for rule, expected in (
        ({"preset": "osu"}, (600.0, 60.0)),
        (lobby, (0.0, 0.0)),
        ({**lobby, "never": {"recent": 30}, "acceptance": {"ban": 5}}, (30.0, 5.0)),
    ):
        own = filled(RuleWords.model_validate(rule))
        assert (own["never.recent"], own["acceptance.ban"]) == expected


def test_lists_and_names_stand_for_sections() -> None:
    rule = RuleWords.model_validate(
        {"preset": "lichess", "never": ["ranges", "blocks", "just_paired"]}
    )
    assert filled(rule)["never.blocks"] is True
    duels = {"all": True, "near_from": 20}
    rule = RuleWords.model_validate({"preset": "faf", "teams": "2x1", "candidates": duels})
    assert filled(rule)["candidates.near_from"] == 20
    rule = RuleWords.model_validate({"preset": "faf", "candidates": "neighbours"})
    assert filled(rule)["candidates.which"] == "neighbours"
