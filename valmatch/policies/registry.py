"""The policies by name: what they choose by, and where their code is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from valmatch.kernels.plugins import COMPILED_IN, Extended, an, code_of

Choose: TypeAlias = Callable[[Any, int, float], int]
"""(a `Knowledge`, games played, a uniform draw in [0, 1)) -> the index of the opponent."""

Weigh: TypeAlias = Callable[[Any, Any, float, Any], float]
"""(two who wait, the largest difference that is allowed, a `Waiting`) -> worth."""

Measure: TypeAlias = Callable[[Any], int]
"""(an `Aim`: what is known of alternatives, and the target) -> the index to measure."""

GOALS = ("best", "order", "widest")  # name the best, order neighbours, narrow the widest


@dataclass(frozen=True)
class Decision:
    """How a policy decides, without importing its code."""

    meaning: str  # what it chooses by, with its equation in the paper where it has one
    # ``module:function`` in this folder; or a compiled function of another package
    path: str | Callable[..., Any]
    reads: Sequence[str] = ()  # the factors that it alone, or with few others, depends on
    learns: bool = False  # whether the variances of what is known of the players count


@dataclass(frozen=True)
class Policy:
    """A policy, for one of four decisions or for several."""

    opponent: Decision | None = None  # who of many meets one player; its function is a `Choose`
    # how much a match of two who wait is worth; its function is a `Weigh`
    pair: Decision | None = None
    # how much a game of two is worth to play next, of all who were rated together; its function
    # takes a `Pairs` and fills in the values
    joint: Decision | None = None
    # which of many alternatives to measure, to find one near a target; its function is a `Measure`
    target: Decision | None = None


GROUP = "valmatch.policies"
"""Entry points by which other packages bring policies: ``name = "module:POLICY"``."""

_OPPONENT = {
    "point_estimate": Decision("the nearest believed mean (8)", "myopic:choose_nearest"),
    "draw_chance": Decision("the largest believed draw quality (9)", "myopic:choose_draw_chance"),
    "knowledge_gradient": Decision(
        "draw quality now and, discounted, after the game (13)", "lookahead_search:choose"
    ),
    "knowledge_gradient_finite": Decision(
        "draw quality now and in the games left (12)", "lookahead_search:choose_finite"
    ),
    "ucb_opponent": Decision(
        "draw quality plus kappa standard deviations over the opponent's skill",
        "upper_confidence:choose_opponent",
    ),
    "ucb_both": Decision(
        "draw quality plus kappa standard deviations over both skills",
        "upper_confidence:choose_both",
    ),
    "random": Decision("any opponent, all equally likely", "myopic:choose_random"),
    "oracle": Decision(
        "the nearest true skill, which no other policy knows", "myopic:choose_oracle"
    ),
}
_PAIR = {
    "nearest": Decision(
        "1 less its difference over the largest allowed one", "myopic:weigh_nearest"
    ),
    "draw_chance": Decision(
        "how likely the players are equal, as the belief has it", "myopic:weigh_draw_chance"
    ),
    "knowledge_gradient": Decision(
        "that, and what the game teaches about whom both can play later",
        "pair_lookahead:weigh",
        ("gamma",),
        learns=True,
    ),
    "knowledge_gradient_variance": Decision(
        "the knowledge gradient, by the variances alone",
        "pair_lookahead:weigh_by_variance",
        ("gamma",),
        learns=True,
    ),
    "ucb": Decision(
        "an upper bound of the chance to be equal",
        "upper_confidence:weigh",
        ("kappa",),
        learns=True,
    ),
    "random": Decision("a random number", "myopic:weigh_random"),
    "oracle": Decision("how equal the players truly are", "myopic:weigh_oracle"),
}
_JOINT = {
    "knowledge_gradient": Decision(
        "how much better the goal is known after a game, or after several, per game",
        "joint.lookahead:knowledge_gradient",
        learns=True,
    ),
    "uniform": Decision("the pair with the fewest games first", "joint.lookahead:uniform"),
    "closeness": Decision(
        "exp(-|difference| / 200) times both standard errors, a heuristic in use",
        "joint.lookahead:closeness",
    ),
    "contenders": Decision(
        "only the leader and the nearest rival, in standard errors, count",
        "joint.lookahead:contenders",
    ),
    "information": Decision(
        "what its outcome tells of the difference, in nats", "joint.lookahead:information"
    ),
}
_TARGET = {
    "point_estimate": Decision("the believed mean nearest to the target", "target:choose_nearest"),
    "draw_chance": Decision("the largest expected quality", "target:choose_quality"),
    "knowledge_gradient": Decision(
        "how much the largest expected quality is expected to grow by the measurement",
        "target:choose_lookahead",
    ),
    "ucb": Decision(
        "expected quality plus kappa standard deviations of the quality", "target:choose_bound"
    ),
    "bold": Decision(
        "the nearest believed mean, or the likeliest to be mistaken for it, in balance (BOLD)",
        "target:choose_balanced",
    ),
    "uniform": Decision("the fewest measurements so far", "target:choose_fewest"),
}
OWN = {
    name: Policy(_OPPONENT.get(name), _PAIR.get(name), _JOINT.get(name), _TARGET.get(name))
    for name in {**_OPPONENT, **_PAIR, **_JOINT, **_TARGET}
}
POLICIES = Extended(OWN, GROUP, "policy", an(Policy))
"""The policies of this package, and those that installed packages bring under `GROUP`."""

# Kernels of pairs are compiled with all policies.
if brought := {file for point in POLICIES.others.values() for file in code_of(point.module)}:
    COMPILED_IN[Path(__file__)] = brought


OPPONENT: Mapping[str, Decision]  # the policies that choose an opponent
PAIR: Mapping[str, Decision]  # those that weigh pairs; kernels know them by their place here
JOINT: Mapping[str, Decision]  # those that value pairs by a belief about all players together
TARGET: Mapping[str, Decision]  # those that choose what to measure for a target


@cache
def __getattr__(name: str) -> Mapping[str, Decision]:
    """Return the policies for a decision when they are first read: others' import this module."""
    if name not in ("OPPONENT", "PAIR", "JOINT", "TARGET"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    decisions = {key: getattr(policy, name.lower()) for key, policy in POLICIES.items()}
    return {key: decision for key, decision in decisions.items() if decision is not None}


def place_of(name: str, decisions: Mapping[str, Decision]) -> int:
    """Return the number by which kernels know a policy."""
    return [*decisions].index(name)


def meanings(decisions: Mapping[str, Decision]) -> str:
    """Return a sentence for each policy, as help texts have them."""
    return " ".join(f"{name}: {decision.meaning}." for name, decision in decisions.items())


def readers(factor: str, decisions: Mapping[str, Decision]) -> tuple[str, ...]:
    """Return the names of the policies that read a factor."""
    return tuple(name for name, decision in decisions.items() if factor in decision.reads)


def functions(decisions: Mapping[str, Decision]) -> list[Any]:
    """Import and return the compiled functions of policies, in their order."""
    return [function_of(decision) for decision in decisions.values()]


def function_of(decision: Decision) -> Any:  # noqa: ANN401
    """Import and return the compiled function of a policy."""
    if not isinstance(decision.path, str):
        return decision.path
    module, _, name = decision.path.partition(":")
    return getattr(import_module(f"{__package__}.{module}"), name)
