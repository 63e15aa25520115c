"""The living matchmakers by name, and what the numbers of their rules are."""

from collections import namedtuple
from importlib import import_module
from types import ModuleType
from typing import Annotated, Any, ClassVar, Self, cast

from pydantic import Field, model_validator

from valmatch.inputs.fields import Factors, real, refuse, whole

PRESETS = {
    "faf": "faf",
    "faf_duels": "faf",
    "bar": "bar",
    "shieldbattery": "shieldbattery",
    "osu": "osu",
    "lichess": "lichess",
    "evoladder": "evoladder",
}
"""All living matchmakers, and the modules of this folder that have their rules by these names."""

Count = Annotated[int, *whole(1, 10**6)]
TeamSize = Annotated[int, *whole(1, 100)]
Tick = Annotated[float, *real(0.01, 3600)]

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

NOT_IN_LADDERS = ("latencies", "maps", "ranges", "requeuing", "timeouts")  # of what it may need


def number(default: object, unit: str, meaning: str, needs: str = "") -> Any:  # noqa: ANN401
    """Return the field of a number of a rule; where there is not what it needs it has no effect."""
    extra: Any = {"unit": unit, "needs": needs}
    return Field(default, description=meaning, json_schema_extra=extra)


class Numbers(Factors):
    """The numbers of a rule, and what models have to know of it besides."""

    title: ClassVar[str]  # whose rule it is
    source: ClassVar[str]  # whose code says so, and as of when
    value: ClassVar[tuple[str, str]]  # unit and meaning of the value of a match
    team_sizes: ClassVar = (1, 100)  # fewest and most players of a team
    clock: ClassVar[str] = ""  # the number that is the seconds between reviews at most, if one is
    takes_parties: ClassVar[bool] = False
    believes: ClassVar[bool] = False  # whether it says how likely the first team wins
    relaxes: ClassVar[bool] = False  # whether it asks for less of a small population
    later: ClassVar[tuple[str, ...]] = ()  # what ids of configs do not have at its default
    in_kernels: ClassVar[Any]  # the named tuple that kernels take the numbers as

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        """Make the type of the numbers in kernels, which those of former processes know again."""
        cls.in_kernels = namedtuple("in_kernels", tuple(cls.model_fields), module=cls.__module__)  # type: ignore[misc]
        cls.in_kernels.__qualname__ = f"{cls.__qualname__}.in_kernels"

    @model_validator(mode="after")
    def _team_is_known(self) -> Self:
        low, high = self.team_sizes
        if not low <= self.teams[1] <= high:
            text = f"no teams of {self.teams[1]} (allowed: {low} to {high})"
            raise refuse(text, "team_size")
        return self

    @property
    def teams(self) -> tuple[int, int]:
        """How many teams a match has, and of how many players: one where no number says so."""
        return 2, getattr(self, "team_size", 1)

    @property
    def newcomers(self) -> tuple[float, float] | None:
        """Rating and deviation that newcomers are taken to have, None where that is theirs."""
        return None

    @property
    def remembers(self) -> float:
        """For how many seconds matches are looked back at."""
        return 0.0


def kernel_numbers(numbers: Numbers) -> Any:  # noqa: ANN401
    """Return the numbers of a rule as kernels take them."""
    return numbers.in_kernels(**dict(numbers))


def rule_of(preset: str) -> ModuleType:
    """Return the rule of a preset, see `valmatch.matching.living.queue.rule`."""
    module = import_module(f"{__package__}.{PRESETS[preset]}")
    return cast(ModuleType, getattr(module, preset))


def numbers_of(preset: str) -> type[Numbers]:
    """Return the class of the numbers of a preset."""
    return cast(type[Numbers], rule_of(preset).Numbers)


def needs_of(numbers: type[Factors], name: str) -> str:
    """Return what a number needs to have an effect, "" for nothing."""
    return str(cast("dict[str, Any]", numbers.model_fields[name].json_schema_extra)["needs"])
