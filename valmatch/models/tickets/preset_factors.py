"""Factors for rules of living matchmakers: their words, and what is believed of players."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from valmatch.inputs.fields import Factors, NonNegative, Positive, Real, Whole, factor, refuse
from valmatch.rule_sets.presets.long_form import long_form
from valmatch.rule_sets.presets.meanings import WORDS, check, form_of, given
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.vocabulary import Vocabulary
from valmatch.rule_sets.presets.words import PRESETS, Form, Preset

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), *Real]


PARTIES: tuple[Form, ...] = ("faf", "bar")  # forms of presets in which parties wait together


def missing_preset() -> PydanticCustomError:
    """Return the error of words without a preset."""
    return refuse(f"preset: missing (allowed: {', '.join(PRESETS)})")


class RuleFactors(Vocabulary):
    """The rule of a living matchmaker in place of a rule set; every word is a factor."""

    model_config = ConfigDict(json_schema_extra={"example": "{preset: bar}"})

    preset: Preset | None = factor(  # type: ignore[assignment]
        None,
        "",
        "Whose rule it is: a living matchmaker's. null: there is a rule set.",
    )

    @model_validator(mode="before")
    @classmethod
    def _named_alone(cls, data: object) -> object:
        """Take the name of a preset alone, and parts of its lists."""
        if isinstance(data, str):
            return {"preset": data}
        return _with_whole_lists(data) if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _means_something(self) -> RuleFactors:
        if self.preset is not None:
            check(self)
        elif any(given(self, path) is not None for path in WORDS):
            raise missing_preset()
        return self

    def words(self) -> RuleWords | None:
        """Return the rule; None without a preset."""
        if self.preset is None:
            return None
        return RuleWords.model_validate(self.model_dump(include=set(Vocabulary.model_fields)))

    def takes_parties(self) -> bool:
        """Return whether parties wait together, by the preset."""
        return self.preset is not None and form_of(self) in PARTIES

    def spelt_out(self) -> Self:
        """Return the rule with a value for every word, which can then be varied and optimised."""
        words = self.words()
        if words is None:
            return self
        others = self.model_dump(exclude=set(Vocabulary.model_fields))
        return type(self).model_validate({**others, **long_form(words)})


def _with_whole_lists(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return words in which lists are whole of which an override gives parts by their numbers."""
    found = dict(given)
    teams, preset = found.get("teams"), found.get("preset")
    duels = preset == "faf" and isinstance(teams, str) and teams.endswith("x1")
    for path, word in WORDS.items():
        default = word.by_form.get("faf_duels" if duels else preset)  # type: ignore[arg-type]
        *sections, name = path.split(".")
        inner = found
        for section in sections:
            if not isinstance(inner.get(section), Mapping):
                break
            inner[section] = dict(inner[section])
            inner = inner[section]
        else:
            own = inner.get(name)
            if isinstance(default, tuple) and isinstance(own, Mapping):
                inner[name] = _merged(default, own)
    return found


def _merged(default: Any, given: Any) -> Any:  # noqa: ANN401 - lists, mappings, numbers
    """Return a value with parts that are given."""
    if not isinstance(given, Mapping):
        return given
    parts = {str(key): value for key, value in given.items()}
    if isinstance(default, Mapping):
        return {
            **default,
            **{key: _merged(default.get(key), value) for key, value in parts.items()},
        }
    if not isinstance(default, list | tuple):
        return given
    if not set(parts) <= set(map(str, range(len(default)))):
        return given
    return [
        _merged(one, parts[str(place)]) if str(place) in parts else one
        for place, one in enumerate(default)
    ]


class RatingsFactors(Factors):
    """What a matchmaker that rates its players believes of them; read by rules with a preset."""

    model_config = ConfigDict(json_schema_extra={"example": "{deviation: 75, newcomers: 0.1}"})

    deviation: NonNegative = factor(
        0.0,
        "points",
        "Median standard deviation of the believed skill. What is seen of a player is off the true"
        " skill by as much, and by skill.error.",
    )
    spread: Annotated[float, Field(ge=0, le=5, allow_inf_nan=False), *Real] = factor(
        0.0, "", "Standard deviation of the logarithm of these deviations; 0: all are alike."
    )
    newcomers: Share = factor(
        0.0,
        "",
        "Share of players who are new: unrated for bar, provisional for lichess, with few games for"
        " faf.",
    )
    newcomer_deviation: NonNegative | None = factor(
        None, "points", "Deviation of newcomers. null: as of all others."
    )
    newcomer_games: Annotated[int, Field(ge=0, le=10**6), *Whole] = factor(
        9, "games", "Games of newcomers: any number up to it, equally likely."
    )
    games: Annotated[int, Field(ge=0, le=10**6), *Whole] = factor(
        1000, "games", "Games of all others."
    )
    users: Annotated[int, Field(ge=2, le=10**8), *Whole] | None = factor(
        None,
        "users",
        "Number of different users, each as likely to ask next; with single players alone. null:"
        " nobody comes twice.",
    )
    ranges: Share = factor(
        0.0, "", "Share of players who want opponents within a range of ratings, for lichess."
    )
    range_width: Positive = factor(
        200.0, "points", "How far that goes below and above the own rating."
    )

    def any_given(self) -> bool:
        """Return whether something differs from the defaults."""
        return self != RatingsFactors()
