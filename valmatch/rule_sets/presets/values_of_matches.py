"""Words of rules for what a match is worth, what waiting earns, and what is good enough."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from valmatch.inputs.fields import Factors, Flag, NonNegative, Number, Positive, Real, Whole
from valmatch.rule_sets.presets.words import UNIT, of, word

Counted = Annotated[int, Field(ge=0, le=10**6), *Whole]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), *Real]
Band = Annotated[tuple[Share, Share], Field(min_length=2, max_length=2)]
Step = tuple[NonNegative, NonNegative | Annotated[str, Field(pattern=r"^/[1-9][0-9]*$")]]


class Cone(Factors):
    """1 less the length of two differences, each by its scale."""

    gap: Positive | None = word(
        "points", "Difference of teams that costs 1.", {"faf": 250.0}, "max_imbalance"
    )
    spread: Positive | None = word(
        "points", "Standard deviation that costs 1.", {"faf": 250.0}, "max_deviation"
    )


class Minority(Factors):
    """What is earned far from where most players are."""

    peak: Number | None = word("points", "Where most players are.", {"faf": 1000.0}, "rating_peak")
    range: Positive | None = word(
        "points", "How far from there 1 is earned.", {"faf": 1250.0}, "minority_range"
    )
    cap: NonNegative | None = word("", "Most that is earned.", {"faf": 1.0}, "minority_cap")


class Draw(Factors):
    """Chance of a draw, as a share of that of two known equals."""

    beta: Positive | None = word(
        "points", "Spread of the play of one game.", of("faf", "faf_duels", default=240.0), "beta"
    )


class Win(Factors):
    """Believed win chance."""

    probit: Positive | None = word(
        "points", "Spread of the play of one game.", {"bar": 25.0 / 6.0}, "beta"
    )
    logistic: Positive | None = word(
        "points", "Difference at which ten to one is bet.", {"shieldbattery": 400.0}, "logistic"
    )
    weight: NonNegative | None = word(
        "seconds",
        "What a win chance costs for each 1 that it is off 1/2.",
        {"shieldbattery": 50.0},
        "weight_win",
    )


class LatencySteps(Factors):
    """What players far from each other cost."""

    weight: NonNegative | None = word(
        "seconds", "What a step costs.", {"shieldbattery": 30.0}, "weight_latency"
    )
    scale: NonNegative | None = word(
        "", "Share of a latency that counts.", {"shieldbattery": 0.9}, "latency_scale"
    )
    step_ms: Positive | None = word(
        "ms", "Length of a step.", {"shieldbattery": 30.0}, "latency_step"
    )
    free: Counted | None = word(
        "steps", "How many cost nothing.", {"shieldbattery": 3}, "latency_free"
    )
    unknown: NonNegative | None = word(
        "ms", "Between regions of which nothing is known.", {"shieldbattery": 150.0}, "unknown_pair"
    )


class Value(Factors):
    """What a candidate match is worth."""

    unit: Literal["seconds", "quality", "points", "probability"] | None = word(
        "", "In what it is said.", dict(UNIT), choices={form: (UNIT[form],) for form in UNIT}
    )
    cone: Cone = Cone()
    spread_of: Literal["tickets", "players"] | None = word(
        "", "Of whose ratings the spread is.", {"faf": "tickets"}, "spread_of"
    )
    minority: Minority = Minority()
    draw: Draw = Draw()
    variance: NonNegative | None = word(
        "seconds / point^2",
        "What the sample variance of the players costs.",
        {"shieldbattery": 0.005},
        "weight_variance",
    )
    win: Win = Win()
    latency_steps: LatencySteps = LatencySteps()
    gap: NonNegative | None = word("", "What a point between two costs.", {"lichess": 1.0}, "gap")
    shared_range: Number | None = word(
        "points", "What two cost who both gave ranges.", {"lichess": -200.0}, "shared_range"
    )
    manners: Flag | None = word(
        "", "Whether it counts how they leave games.", {"lichess": True}, "manners"
    )
    provisional: Number | None = word(
        "points", "What two provisional ratings cost.", {"lichess": -30.0}, "provisional"
    )


class NewcomerCredit(Factors):
    """What newcomers earn by waiting."""

    rate: NonNegative | None = word(
        "", "For a search without a match.", {"faf": 0.25}, "newbie_bonus"
    )
    cap: NonNegative | None = word("", "Most of it.", {"faf": 3.0}, "newbie_bonus_cap")
    unless_over: Number | None = word(
        "points", "Nothing where somebody shows so much.", {"faf": 1400.0}, "newbie_unless_over"
    )


class Credit(Factors):
    """What is earned by waiting."""

    of: Literal["longest", "least", "share"] | None = word(
        "",
        "Whose credit counts: of the longest, the least of two, or all by their share of a team.",
        {"faf": "share", "shieldbattery": "longest", "lichess": "least"},
        choices={"faf": ("share",), "shieldbattery": ("longest",), "lichess": ("least",)},
    )
    per: Literal["second", "miss"] | None = word(
        "",
        "For a second, or for a search without a match.",
        {"faf": "miss", "shieldbattery": "second", "lichess": "miss"},
        choices={"faf": ("miss",), "shieldbattery": ("second",), "lichess": ("miss",)},
    )
    rate: NonNegative | None = word(
        "by value.unit",
        "How much for each.",
        {"faf": 0.01, "shieldbattery": 1.0, "lichess": 12.0},
        "credit_rate",
    )
    cap: NonNegative | None = word(
        "by value.unit", "Most of it.", {"faf": 0.2, "lichess": 400.0}, "credit_cap"
    )
    per_sit: NonNegative | None = word(
        "points", "By how much each game left below -3 lowers the most.", {"lichess": 20.0}
    )
    newcomer: NewcomerCredit = NewcomerCredit()
    others: NonNegative | None = word(
        "", "Share of the waits of others that orders matches.", {"shieldbattery": 0.0}
    )


class Relax(Factors):
    """How the least value falls where few play."""

    multiple: NonNegative | None = word(
        "", "Players of a match so many times are enough.", {"shieldbattery": 2.0}, "comfortable"
    )
    rate: NonNegative | None = word(
        "seconds", "For each player missing.", {"shieldbattery": 15.0}, "relax_rate"
    )


class Expand(Factors):
    """How a ticket's threshold falls with failed searches."""

    top: Number | None = None
    newcomers: Flag | None = None
    step: NonNegative
    cap: NonNegative


EXPAND = (
    {"top": 2000.0, "step": 0.15, "cap": 0.3},
    {"newcomers": True, "step": 0.1, "cap": 0.6},
    {"step": 0.05, "cap": 0.25},
)


class Accept(Factors):
    """Which values are good enough."""

    at_least: Number | None = word(
        "by value.unit", "Least value.", {"faf": 0.4, "shieldbattery": -30.0}, "min_quality"
    )
    at_most: Annotated[tuple[Step, ...], Field(min_length=1)] | None = word(
        "points",
        "Greatest value, by the rating from which it holds; /15: a fifteenth of the rating.",
        {"lichess": ((0, 130), (1000, 100), (1500, "/15"))},
        "at_most",
    )
    band: Band | None = word(
        "", "Between which every team's win chance has to be.", {"bar": (0.3, 0.7)}, "band"
    )
    band_grows: Share | None = word(
        "per review",
        "By how much its limits move outwards while the longest of a match waits.",
        {"bar": 0.0},
        "band_grows",
    )
    of_own: Share | None = word(
        "",
        "Share of the quality against one's own like that a ticket asks for.",
        {"faf_duels": 0.8},
        "of_own",
    )
    relax: Relax = Relax()
    expand: Annotated[tuple[Expand, ...], Field(min_length=3, max_length=3)] | None = word(
        "",
        "How thresholds fall: of the best, of newcomers, of all others.",
        {"faf_duels": EXPAND},
        "expand",
    )
