"""Factors of the model of targeting and selection."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from valmatch.inputs.fields import Level, factor, real, whole
from valmatch.models.opponent.factors import Kappa, PriorFactors, Variance, VarianceRange
from valmatch.policies.registry import TARGET, meanings

Tolerance = Annotated[float, *real(1e-4, 1e6)]


class TargetingFactors(PriorFactors):
    """One study of targeting and selection.

    The problem is that of section 5 of "May the best man win: simulation optimization for
    match-making in e-sports" (Ryzhov, Tariq, Powell): "to find an alternative whose value matches
    a target". Defaults are those of the paper's section 4, whose players are the alternatives.
    """

    n_alternatives: Annotated[int, *whole(1, 10_000)] = factor(50, "alternatives")
    """Number of alternatives that can be measured."""
    n_measurements: Annotated[int, *whole(1, 1_000_000)] = factor(500, "measurements")
    """Number of measurements, each of one alternative."""
    target: Level = factor(0.0, "value")
    """The value that the chosen alternative is to have."""
    tolerance: Tolerance = factor(1.0, "value")
    """How far from the target is near: the quality exp(-distance^2 / (2 tolerance^2)) of an
    alternative is 1 at the target and 0.61 so far away. Expected quality decides which alternative
    is selected."""
    noise_variance: Variance = factor(2.5, "value squared")
    """Variance of one measurement around the value of the alternative."""
    prior: Literal["informative", "equal"] = factor("informative")
    """What is believed of the means before the first measurement. informative: what the values are
    drawn from. equal: 0 for all."""
    prior_mean_variance: Variance = factor(4.0, "value squared")
    """Variance of the normal distribution around 0 that the prior means are drawn from."""
    prior_variance_range: VarianceRange = factor((2.0, 3.0), "value squared")
    """Least and largest prior variance, which is drawn uniformly in between."""
    prior_means: tuple[Level, ...] | None = factor(None, "value")
    """Prior means of all n_alternatives; null: drawn."""
    prior_variances: tuple[Variance, ...] | None = factor(None, "value squared")
    """Prior variances of all n_alternatives; null: drawn."""
    prior_draw: Literal["seed", "path"] = factor("path")
    """How often prior means and variances are drawn. seed: once, for all sample paths of the seed.
    path: anew for each, so that results average over priors."""
    policies: Annotated[tuple[Literal[tuple(TARGET)], ...], Field(min_length=1)] = factor(  # type: ignore[valid-type]
        ("point_estimate", "draw_chance", "knowledge_gradient", "ucb", "bold", "uniform"),
        "",
        "How measurements are chosen, each policy for itself on the same values and noise. "
        + meanings(TARGET),
    )
    kappa: Kappa = factor(1.0)
    """Weight of the standard deviation in the bounds of ucb; larger values explore more, 0 gives
    draw_chance."""

    @classmethod
    def _values(cls, factors: Mapping[str, Any]) -> tuple[int, str] | None:
        count = factors.get("n_alternatives")
        return None if count is None else (count, f"{count} alternatives")
