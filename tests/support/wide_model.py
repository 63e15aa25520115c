"""A model of six factors in wide ranges whose best values are known: low, in the middle or high."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

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
)
from valmatch.kernels.arrays import Floats

COUPLED = 0.5
"""How much of the loss is due to two neighbours that are off together."""

NEEDED = 0.6
"""What the six together must be above their best, so that the constraint binds."""

BASE = 2.0
"""Loss where nothing is off."""

Six = Annotated[tuple[Number, ...], Field(min_length=6, max_length=6)]


class WideFactors(Factors):
    """Six numbers, each with a best value of its own."""

    x: Six = Field(default=(1.0,) * 6, description="The six numbers.")
    best: Six = Field(default=(20.0,) * 6, description="Their best values.")
    end: Six = Field(default=(0.0,) * 6, description="The ends that distances are measured from.")
    unit: Six = Field(default=(20.0,) * 6, description="Distances from the ends that matter.")
    ratios: Annotated[tuple[bool, ...], Field(min_length=6, max_length=6)] = Field(
        default=(True,) * 6, description="Whether ratios of such distances matter, or differences."
    )
    noise: Positive = Field(default=0.3, description="How far the best values move in a day.")


class Wide(Model[Floats]):
    """The model."""

    responses = Responses(
        Response("loss", "", "what being off costs"),
        Response("strain", "", "what is missing of what is needed"),
    )
    drawn_by = frozenset({"noise"})

    def __init__(self, factors: WideFactors, files: Mapping[str, Path]) -> None:
        self.factors = factors

    def draw(self, streams: Streams, replication: int) -> Floats:
        """Return what moves the best values, and the strain."""
        return self.factors.noise * streams.stream(replication, 0).standard_normal(7)

    def run(self, inputs: Floats) -> Outcome:
        """Return loss and strain of a day."""
        loss, strain = self.day(np.array(self.factors.x), inputs)
        return Outcome({"loss": loss, "strain": strain})

    def day(self, x: Floats, moved: Floats) -> tuple[float, float]:
        """Return loss and strain at some numbers."""
        off = self._place(x) - self._place(np.array(self.factors.best))
        noisy = off - moved[:6]
        squares = noisy @ (noisy + COUPLED * np.roll(noisy, 1))
        return BASE + float(squares), NEEDED - float(off.sum() + moved[6])

    def _place(self, x: Floats) -> Floats:
        """Return where numbers are, on the scale on which they matter."""
        far = np.abs(x - np.array(self.factors.end)) / np.array(self.factors.unit)
        place: Floats = np.where(self.factors.ratios, np.log1p(far), far)
        return place

    def least(self) -> float:
        """Return the least mean loss of which the mean strain is at most that allowed."""
        return BASE + 6.0 * self.factors.noise**2 + (1.0 + COUPLED) * NEEDED**2 / 6.0

    def mean(self, x: Floats) -> tuple[float, float]:
        """Return the mean loss and strain, by the formulas."""
        loss, strain = self.day(x, np.zeros(7))
        return loss + 6.0 * self.factors.noise**2, strain

    def record(self, inputs: Floats) -> Record:
        """Show what moved."""
        return Record(self.run(inputs).responses, [Table("days", {"moved": inputs})])


ENTRY = ModelEntry(WideFactors, "six numbers", "tests.support.wide_model:Wide")


def _alike(low: float, high: float, start: float, scale: float, **one: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a problem whose six variables are alike."""
    factors = {name: [value] * 6 for name, value in one.items()}
    return {"factors": factors, "ranges": [(low, high, start, scale)] * 6}


LOW = {"best": 20.0, "end": 0.0, "unit": 10.0, "ratios": True}
MIDDLE = {"best": 1100.0, "end": 0.0, "unit": 600.0, "ratios": False}
TOP = {"best": 2380.0, "end": 2400.0, "unit": 10.0, "ratios": True}

PROBLEMS: dict[str, dict[str, Any]] = {
    "low": _alike(0.0, 2400.0, 600.0, 20.0, **LOW),
    "low-log": _alike(1.0, 10000.0, 2000.0, 5.0, best=20.0, end=0.0, unit=5.0, ratios=True),
    "low-apart": {
        "factors": {
            "best": [5.0, 50.0, 12.0, 30.0, 8.0, 20.0],
            "end": [0.0] * 6,
            "unit": [5.0, 50.0, 12.0, 30.0, 8.0, 20.0],
            "ratios": [True] * 6,
        },
        "ranges": [(0.0, 2400.0, 500.0, 20.0)] * 3 + [(1.0, 10000.0, 500.0, 20.0)] * 3,
    },
    "middle": _alike(0.0, 2400.0, 300.0, 600.0, **MIDDLE),
    "top": _alike(0.0, 2400.0, 600.0, 600.0, **TOP),
    "mixed": {
        "factors": {key: [LOW[key]] * 2 + [MIDDLE[key]] * 2 + [TOP[key]] * 2 for key in LOW},
        "ranges": [(0.0, 2400.0, 600.0, 20.0)] * 2 + [(0.0, 2400.0, 600.0, 600.0)] * 4,
    },
}
"""Factors of the model, and of each variable low, high, start and a scale that suits it."""


def posed(name: str, scaled: bool = False, **factors: object) -> dict[str, Any]:
    """Return the config of a problem; with the scales that suit it, or without any."""
    problem = PROBLEMS[name]
    variables = {}
    for place, (low, high, start, scale) in enumerate(problem["ranges"]):
        variables[f"x.{place}"] = {"low": low, "high": high, "start": start}
        if scaled:
            variables[f"x.{place}"]["scale"] = scale
    given = {"x": [start for _, _, start, _ in problem["ranges"]], **problem["factors"], **factors}
    return {
        "model": "wide",
        "factors": given,
        "optimize": {
            "variables": variables,
            "objective": {"loss": {"response": "loss"}},
            "constraints": {"enough": {"response": "strain", "at_most": 0.0}},
        },
    }


def gap(config: Mapping[str, Any], x: Sequence[float]) -> float:
    """Return by how much the loss is above the least, as a share of it; inf where not feasible."""
    model = Wide(WideFactors.model_validate(config["factors"]), {})
    loss, strain = model.mean(np.array(x))
    if strain > config["optimize"]["constraints"]["enough"]["at_most"] + 1e-9:
        return float("inf")
    return (loss - model.least()) / model.least()
