"""Factors for rules of living matchmakers: their numbers, and what is believed of players."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_type_hints

from pydantic import (
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    create_model,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from valmatch.inputs.fields import (
    Factors,
    NonNegative,
    Positive,
    Real,
    Whole,
    factor,
    refuse,
    without_news,
)
from valmatch.matching.living.registry import NEEDS, PRESETS, Numbers, Share, needs_of, numbers_of
from valmatch.text.suggestions import hint

if TYPE_CHECKING:
    Preset = str
else:
    Preset = Literal[tuple(PRESETS)]


def missing_preset() -> PydanticCustomError:
    """Return the error of numbers without a preset."""
    return refuse(f"preset: missing (allowed: {', '.join(PRESETS)})")


class OfPreset(Factors):
    """The rule of a living matchmaker, whose numbers are factors; null: as the preset has it."""

    model_config = ConfigDict(json_schema_extra={"example": "{preset: bar}"})

    preset: Preset | None = factor(
        None,
        "",
        "Whose rule it is: a living matchmaker's. null: there is a rule set.",
    )

    def given(self) -> dict[str, Any]:
        """Return the numbers that are given, of whatever preset."""
        values = {name: getattr(self, name) for name in NUMBERS}
        return {name: value for name, value in values.items() if value is not None}

    def numbers(self) -> Numbers | None:
        """Return the numbers of the rule; None without a preset."""
        return numbers_of(self.preset).model_validate(self.given()) if self.preset else None

    def spelt_out(self) -> Self:
        """Return the rule with a value for every number, which can then be varied and optimised."""
        numbers = self.numbers()
        return self if numbers is None else self.model_copy(update=dict(numbers))

    def without_effect(self, lacks: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield the numbers that are not as the preset has them and need what there is not."""
        given = self.given()
        for name in given if self.preset else ():
            numbers = numbers_of(self.preset or "")
            need = needs_of(numbers, name)
            usual = numbers.model_validate({k: v for k, v in given.items() if k != name})
            if need in lacks and given[name] != getattr(usual, name):
                yield name, f"has no effect: {NEEDS[need]}"

    @model_validator(mode="after")
    def _of_one_preset(self) -> Self:
        given = self.given()
        if self.preset is None:
            if given:
                raise missing_preset()
            return self
        known = tuple(numbers_of(self.preset).model_fields)
        for name in given:
            if name not in known:
                raise refuse(f"preset {self.preset} has no such number ({hint(name, known)})", name)
        self.numbers()
        return self

    @model_serializer(mode="wrap")
    def _with_own_numbers(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is of other presets, and the preset where there is none."""
        return without_news(self, handler(self), ("preset", *NUMBERS))


def _every_number() -> dict[str, Any]:
    """Return the fields of the numbers of all presets: one of a name, whoever has it."""
    fields: dict[str, Any] = {}
    readers: dict[str, list[str]] = {}
    for preset in PRESETS:
        numbers = numbers_of(preset)
        kinds = get_type_hints(numbers, include_extras=True)
        for name, field in numbers.model_fields.items():
            readers.setdefault(name, []).append(preset)
            extra: Any = field.json_schema_extra
            if name not in fields:
                made = factor(None, extra["unit"], str(field.description))
                fields[name] = (kinds[name] | None, made)
    for name, presets in readers.items():
        fields[name][1].description += f" Of preset {' or '.join(presets)} alone."
    return fields


_NUMBERS = _every_number()
NUMBERS = tuple(_NUMBERS)  # the names of the numbers of all presets

if TYPE_CHECKING:

    class RuleFactors(OfPreset):
        """The rule of a living matchmaker in place of a rule set."""

else:
    RuleFactors = create_model("RuleFactors", __base__=OfPreset, __module__=__name__, **_NUMBERS)
    RuleFactors.__doc__ = "The rule of a living matchmaker in place of a rule set."


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
