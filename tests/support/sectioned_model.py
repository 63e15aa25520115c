"""A model whose factors have sections: how far shots fall from a target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from valmatch import (
    Factors,
    Model,
    ModelEntry,
    Number,
    Outcome,
    Positive,
    Record,
    Response,
    Responses,
    Streams,
    Table,
    Whole,
    refuse,
)
from valmatch.kernels.arrays import Floats

METRES: Any = {"unit": "m"}


class Noise(Factors):
    """How shots are spread."""

    std: Positive = Field(default=1.0, description="Spread of shots.", json_schema_extra=METRES)
    bias: Annotated[tuple[Number, ...], Field(min_length=2)] = Field(
        default=(0.0, 0.0), description="Mean of shots on either side.", json_schema_extra=METRES
    )


class Rule(Factors):
    """How it is aimed."""

    aim: Number = Field(default=5.0, description="Where it is aimed.", json_schema_extra=METRES)
    shots: Annotated[int, Field(ge=1, le=20), *Whole] = Field(
        default=10, description="Number of shots."
    )
    limit: Positive | None = Field(default=None, description="Largest miss that counts.")
    side: Literal["left", "right"] = Field(default="left", description="Side that is shot from.")


class Score(Factors):
    """How misses count."""

    std: Positive = Field(
        default=2.0, description="Misses are divided by this.", json_schema_extra=METRES
    )


class ShotFactors(Factors):
    """Shots at a target."""

    target: Number = Field(
        default=3.0, description="Where the target is.", json_schema_extra=METRES
    )
    noise: Noise = Field(default_factory=Noise, description="How shots are spread.")
    rule: Rule = Field(default_factory=Rule, description="How it is aimed.")
    score: Score = Field(default_factory=Score, description="How misses count.")

    @model_validator(mode="after")
    def _hopeful(self) -> Self:
        if abs(self.rule.aim - self.target) > 1000.0:
            raise refuse("too far from the target", "rule.aim", "target")
        return self

    def remarks(self) -> Iterator[tuple[str, str]]:
        """Yield (factor, warning) for settings that are valid but probably not meant."""
        if self.rule.aim < 0:
            yield "rule.aim", "is behind the shooter"


class Shots(Model[Floats]):
    """The model."""

    responses = Responses(
        Response("miss", "", "mean square of the distance to the target, scored"),
        Response("far", "m", "farthest shot"),
    )
    drawn_by = frozenset({"noise"})

    def __init__(self, factors: ShotFactors, files: Mapping[str, Path]) -> None:
        self.factors = factors

    def draw(self, streams: Streams, replication: int) -> Floats:
        """Return the errors of twenty shots."""
        noise = self.factors.noise
        bias = noise.bias[self.factors.rule.side == "right"]
        return bias + noise.std * streams.stream(replication, 0).standard_normal(20)

    def run(self, inputs: Floats) -> Outcome:
        """Score the shots."""
        rule = self.factors.rule
        shots = rule.aim + inputs[: rule.shots]
        misses = np.minimum(np.abs(shots - self.factors.target), rule.limit or np.inf)
        return Outcome(
            {"miss": float(np.mean(misses**2)) / self.factors.score.std, "far": shots.max()}
        )

    def record(self, inputs: Floats) -> Record:
        """Show the errors."""
        return Record(self.run(inputs).responses, [Table("shots", {"error": inputs})])


ENTRY = ModelEntry(ShotFactors, "shots at a target", "tests.support.sectioned_model:Shots")

SHOTS: dict[str, Any] = {
    "model": "sectioned",
    "optimize": {
        "variables": {"rule.aim": {"low": -5, "high": 10}, "rule.shots": {"low": 2, "high": 10}},
        "objective": {"miss": {"response": "miss"}},
        "constraints": {"far": {"response": "far", "at_most": 8.0}},
    },
}
"""A problem of it that is solved in no time."""
