"""The words of one rule, checked: each by itself, and what they mean together."""

from __future__ import annotations

from pydantic import model_validator

from valmatch.rule_sets.presets.meanings import check
from valmatch.rule_sets.presets.vocabulary import Vocabulary


class RuleWords(Vocabulary):
    """A rule: a preset, and the words that are set over it."""

    @model_validator(mode="after")
    def _has_a_meaning(self) -> RuleWords:
        check(self)
        return self
