"""The living matchmakers by name, and what the numbers of their rules are."""

from __future__ import annotations

from collections import namedtuple
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, cast

from pydantic import Field, model_validator

from valmatch.inputs.fields import Factors, Real, Whole, refuse

PRESETS = {
    "faf": "FAForever, teams",
    "faf_duels": "FAForever, one against one",
    "bar": "Beyond All Reason",
    "shieldbattery": "ShieldBattery",
    "osu": "osu!, matchmaking of lobbies",
    "lichess": "lichess, pools",
}
"""Whose rule each module of this folder is."""

Count = Annotated[int, Field(ge=1, le=10**6), *Whole]
TeamSize = Annotated[int, Field(ge=1, le=100), *Whole]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), *Real]
Tick = Annotated[float, Field(ge=0.01, le=3600, allow_inf_nan=False), *Real]

NEEDS = {
    "users": "nobody comes twice",
    "requeuing": "who was just paired does not ask again",
    "ranges": "nobody asks for a range of ratings",
    "latencies": "no latencies are known",
    "maps": "nobody picks maps",
    "parties": "all are single players",
    "deviations": "no rating has a deviation",
    "timeouts": "players leave by their patience alone",
}
"""What a number may need that there may not be, and what there is instead."""


def number(default: object, unit: str, meaning: str, needs: str = "") -> Any:  # noqa: ANN401
    """Return the field of a number of a rule; where there is not what it needs it has no effect."""
    extra: Any = {"unit": unit, "needs": needs}
    return Field(default, description=meaning, json_schema_extra=extra)


class Numbers(Factors):
    """The numbers of a rule, and what models have to know of it besides."""

    source: ClassVar[str]  # whose code says so, and as of when
    value: ClassVar[tuple[str, str]]  # unit and meaning of the value of a match
    team_sizes: ClassVar = (1, 100)  # fewest and most players of a team
    clock: ClassVar[str] = ""  # the number that is the seconds between reviews at most, if one is
    takes_parties: ClassVar[bool] = False
    believes: ClassVar[bool] = False  # whether it says how likely the first team wins
    relaxes: ClassVar[bool] = False  # whether it asks for less of a small population

    if TYPE_CHECKING:
        team_size: int = 1

    @model_validator(mode="after")
    def _team_is_known(self) -> Self:
        low, high = self.team_sizes
        if not low <= self.teams[1] <= high:
            text = f"no teams of {self.teams[1]} (allowed: {low} to {high})"
            raise refuse(text, "team_size")
        return self

    @property
    def teams(self) -> tuple[int, int]:
        """How many teams a match has, and of how many players."""
        return 2, self.team_size

    @property
    def newcomers(self) -> tuple[float, float] | None:
        """Rating and deviation that newcomers are taken to have, None where that is theirs."""
        return None

    @property
    def remembers(self) -> float:
        """For how many seconds matches are looked back at."""
        return 0.0


def kernel_type(numbers: type[Numbers], module: str) -> Any:  # noqa: ANN401
    """Return the type of the numbers of a rule in kernels, `KernelNumbers` of its module."""
    return namedtuple("KernelNumbers", tuple(numbers.model_fields), module=module)


def kernel_numbers(preset: str, numbers: Numbers) -> Any:  # noqa: ANN401
    """Return the numbers of a rule as kernels take them."""
    return module_of(preset).KernelNumbers(**dict(numbers))


def module_of(preset: str) -> ModuleType:
    """Return the code of a preset: a `valmatch.matching.living.queue.Rule`."""
    return import_module(f"{__package__}.{preset}")


def numbers_of(preset: str) -> type[Numbers]:
    """Return the class of the numbers of a preset."""
    return cast(type[Numbers], module_of(preset).Numbers)


def needs_of(numbers: type[Factors], name: str) -> str:
    """Return what a number needs to have an effect, "" for nothing."""
    return str(cast("dict[str, Any]", numbers.model_fields[name].json_schema_extra)["needs"])
