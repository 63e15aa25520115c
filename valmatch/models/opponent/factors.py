"""Factors of the opponent-selection model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, PlainValidator, ValidationInfo, WithJsonSchema, field_validator

from valmatch.inputs.fields import Factors, Level, Real, factor, plain_number, real, refuse, whole
from valmatch.policies.registry import OPPONENT, meanings
from valmatch.text.suggestions import correction

# The bounds lie far outside any use; within them no kernel overflows.
Variance = Annotated[float, *real(1e-9, 1e9)]
Kappa = Annotated[float, *real(0, 1e3)]
Discount = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False), *Real]
VarianceRange = Annotated[tuple[Variance, ...], Field(min_length=2, max_length=2)]

ENDS = ("top", "bottom")


def _rank(value: object) -> int | str:
    """Accept an end of the ranking or a whole number from 1 on."""
    if isinstance(value, str) and value in ENDS:
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    meant = correction(value, ENDS) if isinstance(value, str) else ""
    raise refuse(f"{value!r} is not a rank (allowed: top, bottom or an integer >= 1{meant})")


Rank = Annotated[
    int | str,
    PlainValidator(_rank),
    WithJsonSchema({"anyOf": [{"enum": list(ENDS)}, {"type": "integer", "minimum": 1}]}),
]


class PriorFactors(Factors):
    """Factors of models that draw values from a prior and compare policies on them."""

    if TYPE_CHECKING:
        prior: str
        prior_mean_variance: float
        prior_variance_range: tuple[float, ...]
        prior_means: tuple[float, ...] | None
        prior_variances: tuple[float, ...] | None
        prior_draw: str

    @classmethod
    def _values(cls, factors: Mapping[str, Any]) -> tuple[int, str] | None:
        """Return how many values there are, in words too; None where that is wrong itself."""
        raise NotImplementedError

    @field_validator("prior_variance_range", check_fields=False)
    @classmethod
    def _ordered(cls, limits: tuple[float, ...]) -> tuple[float, ...]:
        if limits[0] > limits[1]:
            low, high = map(plain_number, limits)
            raise refuse(f"the least variance {low} is above the largest, {high}")
        return limits

    @field_validator("prior_means", "prior_variances", check_fields=False)
    @classmethod
    def _one_per_value(
        cls, values: tuple[float, ...] | None, info: ValidationInfo
    ) -> tuple[float, ...] | None:
        count, words = cls._values(info.data) or (None, "")
        if None not in (values, count) and len(values or ()) != count:
            raise refuse(f"{len(values or ())} values for {words}")
        return values

    @field_validator("policies", check_fields=False)
    @classmethod
    def _distinct(cls, policies: tuple[str, ...]) -> tuple[str, ...]:
        for k, policy in enumerate(policies):
            if policy in policies[:k]:
                raise refuse(f"{policy} is named twice (each policy once)")
        return policies


class OpponentFactors(PriorFactors):
    """One simulation study of opponent selection for player 0.

    Meanings and defaults are those of section 4 of "May the best man win: simulation optimization
    for match-making in e-sports" (Ryzhov, Tariq, Powell), whose equation numbers are quoted.
    """

    n_opponents: Annotated[int, *whole(1, 10_000)] = factor(49, "players")
    """Number of opponents that player 0 can meet."""
    n_games: Annotated[int, *whole(1, 1_000_000)] = factor(500, "games")
    """Number of games that player 0 plays."""
    noise_variance: Variance = factor(2.5, "skill squared")
    """Variance of one performance around the skill of the player."""
    prior: Literal["informative", "equal"] = factor("informative")
    """What is believed of the players' means before the first game. informative: what their skills
    are drawn from. equal: 0 for everyone."""
    prior_mean_variance: Variance = factor(4.0, "skill squared")
    """Variance of the normal distribution around 0 that the prior means are drawn from."""
    prior_variance_range: VarianceRange = factor((2.0, 3.0), "skill squared")
    """Least and largest prior variance, which is drawn uniformly in between."""
    prior_means: tuple[Level, ...] | None = factor(None, "skill")
    """Prior means of all n_opponents + 1 players; null: drawn once per seed."""
    prior_variances: tuple[Variance, ...] | None = factor(None, "skill squared")
    """Prior variances of all n_opponents + 1 players; null: drawn once per seed."""
    prior_draw: Literal["seed", "path"] = factor("seed")
    """How often prior means and variances are drawn. seed: once, for all sample paths of the seed,
    as in the paper. path: anew for each, so that results average over priors."""
    rank: Rank = factor("top")
    """Who is player 0: its rank by rank_by, 1 or top being the highest, n_opponents + 1 or bottom
    the lowest."""
    rank_by: Literal["mean", "skill"] = factor("mean")
    """What ranks go by. mean: the mean that the skill is drawn from, whatever is believed. skill:
    the true skill, sample path by sample path."""
    policies: Annotated[tuple[Literal[tuple(OPPONENT)], ...], Field(min_length=1)] = factor(  # type: ignore[valid-type]
        ("point_estimate", "draw_chance", "knowledge_gradient"),
        "",
        "How opponents are chosen, each policy for itself on the same skills and performances. "
        + meanings(OPPONENT),
    )
    ties: Literal["index", "random"] = factor("index")
    """Whom a policy chooses of opponents worth the same, as all are at first to point_estimate with
    prior equal. index: who comes first, the same on every sample path. random: who comes first in
    an order drawn for each sample path."""
    gamma: Discount = factor(0.99)
    """Discount factor of knowledge_gradient (13); larger values explore more, 0 gives
    draw_chance."""
    kappa: Kappa = factor(0.75)
    """Weight of the standard deviation in the bounds of ucb_opponent and ucb_both; larger values
    explore more, 0 gives draw_chance."""
    update: Literal["corrected", "as_printed"] = factor("corrected")
    """Beliefs after a game. corrected: (1), (2) and (10) with the standard deviation c that the
    theory needs. as_printed: with c squared, as the paper prints them."""
    draw_margin: Annotated[float, *real(0, 1e6)] = factor(0.0, "skill")
    """A game is drawn (3) if the performances differ by less. 0: no game is drawn, as in the
    paper."""

    @classmethod
    def _values(cls, factors: Mapping[str, Any]) -> tuple[int, str] | None:
        opponents = factors.get("n_opponents")
        if opponents is None:
            return None
        return opponents + 1, f"{opponents + 1} players (n_opponents {opponents} and player 0)"

    @field_validator("rank")
    @classmethod
    def _within_pool(cls, rank: int | str, info: ValidationInfo) -> int | str:
        opponents = info.data.get("n_opponents")
        if isinstance(rank, int) and opponents is not None and rank > opponents + 1:
            allowed = f"allowed: top, bottom or an integer from 1 to {opponents + 1}"
            raise refuse(f"{rank} is outside the pool of {opponents + 1} players ({allowed})")
        return rank

    @field_validator("draw_margin")
    @classmethod
    def _no_draws_as_printed(cls, margin: float, info: ValidationInfo) -> float:
        if margin > 0 and info.data.get("update") == "as_printed":
            text = f"{plain_number(margin)} with update as_printed: the paper prints no beliefs"
            raise refuse(f"{text} after a draw (allowed: 0, or update corrected)")
        return margin
