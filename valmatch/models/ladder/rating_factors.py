"""The ladder's factors on rating, which follow from the declarations of the rating systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, create_model

from valmatch.inputs.fields import Factors, Real, factor
from valmatch.models.ladder.factor_types import Level, Points
from valmatch.ratings.registry import systems_of_results
from valmatch.ratings.system import Factor, Parameter, System

DEFAULT, KNOWN = "trueskill", "known"
"""The default system, and that which knows the skills and is none."""

SYSTEMS: Mapping[str, System] = {
    system.name: system
    for system in sorted(systems_of_results(), key=lambda system: system.name != DEFAULT)
}
"""The rating systems, the default first."""

WITH_DEVIATION = tuple(name for name, system in SYSTEMS.items() if system.deviation >= 0)
"""Those that know how sure a rating is."""


class RatingOfAll(Factors):
    """The factors that mean the same with every rating system."""

    model_config = ConfigDict(json_schema_extra={"example": f"{{system: {DEFAULT}}}"})

    system: Literal[(*SYSTEMS, KNOWN)] = factor(  # type: ignore[valid-type]
        DEFAULT,
        "",
        f"How players are rated. {KNOWN}: everybody's rating is the true skill. A factor of another"
        " system than this one has no effect.",
    )
    mu: Level = factor(1500.0, "points", "Rating of a newcomer, whatever the system.")
    beta: Points | None = factor(
        None,
        "points",
        "Standard deviation of one player's performance, as trueskill, openskill and the policies"
        " of pairs take it. null: what fits the outcome, match.beta for normal, 1.7 match.spread"
        " sqrt(rule.team_num / 2) for logistic.",
    )
    match_by: Literal["mean", "conservative"] = factor(
        "mean",
        "",
        "What the rule sees. mean: the rating. conservative: the rating less 3 of its standard"
        " deviations.",
        {"system": WITH_DEVIATION},
    )


def _declared() -> dict[str, tuple[Parameter, Factor, tuple[str, ...]]]:
    """Return parameter, factor and systems by the names of the factors."""
    found: dict[str, tuple[Parameter, Factor, tuple[str, ...]]] = {}
    for system in SYSTEMS.values():
        for parameter in system.parameters:
            if own := parameter.factor:
                name = own.name or parameter.name
                first, meant, users = found.get(name, (parameter, own, ()))
                if meant != own:
                    raise ValueError(f"{system.name}: the factor {name} is another system's too")
                found[name] = first, own, (*users, system.name)
    return found


def _field(parameter: Parameter, own: Factor, systems: tuple[str, ...]) -> tuple[Any, Any]:
    """Return type and field of a factor; points may be as few as for all factors in points."""
    low = min(parameter.low, 1e-6) if own.unit == "points" else parameter.low
    kind = Annotated[float, Field(ge=low, le=parameter.high, allow_inf_nan=False), *Real]
    return kind, factor(own.default, own.unit, own.meaning, {"system": systems})


if TYPE_CHECKING:

    class Rating(RatingOfAll):
        """What is believed of the players' skills, and learned from games."""

else:
    Rating = create_model(
        "Rating",
        __base__=RatingOfAll,
        __module__=__name__,
        __doc__="What is believed of the players' skills, and learned from games.",
        **{name: _field(*declared) for name, declared in _declared().items()},
    )


def values_of(rating: Rating, beta: float) -> dict[str, float]:
    """Return the values of all parameters of the chosen system.

    Nobody is at home and none is drawn: a parameter without a factor is 0.
    """
    common = {"mu": rating.mu, "beta": beta}
    return {
        parameter.name: getattr(rating, parameter.factor.name or parameter.name)
        if parameter.factor
        else common.get(parameter.name, 0.0)
        for parameter in SYSTEMS[rating.system].parameters
    }
