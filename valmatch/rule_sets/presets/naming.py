"""Presets by the names that people give."""

from __future__ import annotations

from pydantic import ValidationError

from valmatch.errors import InputError
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.words import PRESETS
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown


def preset_of(name: str, teams: str | None = None) -> RuleWords:
    """Return the rule of a preset."""
    if name not in PRESETS:
        raise InputError(f"preset: {shown(name)} is none ({hint(name, PRESETS)})")
    try:
        return RuleWords.model_validate({"preset": name, "teams": teams})
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        text = wrong["msg"] if wrong["type"] == "refused" else "teams such as 2x4 are needed"
        raise InputError(f"teams: {shown(teams)}: {text}") from None
