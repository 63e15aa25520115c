"""The policies by name: what they are, where their code is, how they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from valmatch.policies.knowledge import Knowledge

__all__ = ["POLICIES", "Choose", "Policy", "functions"]

Choose: TypeAlias = "Callable[[Knowledge, int, float], int]"
"""(what is known, games played, a uniform draw in [0, 1)) -> the index of the opponent."""

# Styles of lines for print in black: dashes in points.
DOTTED, DASHED, LONG = (0, (1, 1)), (0, (5, 1.5)), (0, (8, 2))
DASH_DOT_DOT = (0, (3, 1, 1, 1, 1, 1))
SHORT_LONG, DOUBLE = (0, (2, 1, 6, 1)), (0, (4, 1, 4, 3))


@dataclass(frozen=True)
class Policy:
    """What is known of a policy without importing its code.

    Attributes
    ----------
    meaning : str
        What it chooses by, with its equation in the paper.
    path : str
        ``module:function`` in this folder; a compiled function as `Choose` says.
    label : str
        What figures call it.
    colour : str
        Of its line; those of Okabe and Ito, which all kinds of colour vision tell apart.
    line : str or tuple
        Style of its line, as matplotlib takes it.
    """

    meaning: str
    path: str
    label: str
    colour: str
    line: Any


POLICIES = {
    "point_estimate": Policy(
        "the nearest believed mean (8)",
        "point_estimate:choose",
        "point estimate",
        "#E69F00",
        DOTTED,
    ),
    "draw_chance": Policy(
        "the largest believed draw quality (9)",
        "draw_chance:choose",
        "DrawChance",
        "#0072B2",
        DASHED,
    ),
    "knowledge_gradient": Policy(
        "draw quality now and, discounted, after the game (13)",
        "knowledge_gradient:choose",
        "knowledge gradient",
        "#D55E00",
        "-",
    ),
    "knowledge_gradient_finite": Policy(
        "draw quality now and in the games left (12)",
        "knowledge_gradient:choose_finite",
        "knowledge gradient, finite horizon",
        "#CC79A7",
        "-.",
    ),
    "ucb_opponent": Policy(
        "draw quality plus kappa standard deviations of it over the opponent's skill",
        "upper_confidence:choose_opponent",
        "upper confidence bound, opponent",
        "#000000",
        SHORT_LONG,
    ),
    "ucb_both": Policy(
        "draw quality plus kappa standard deviations of it over both skills",
        "upper_confidence:choose_both",
        "upper confidence bound, both",
        "#999999",
        DOUBLE,
    ),
    "random": Policy(
        "any opponent, all equally likely",
        "random_opponent:choose",
        "random",
        "#56B4E9",
        DASH_DOT_DOT,
    ),
    "oracle": Policy(
        "the nearest true skill, which no other policy knows",
        "oracle:choose",
        "oracle",
        "#009E73",
        LONG,
    ),
}
"""All policies; kernels know them by their place here."""


def functions() -> list[Choose]:
    """Import and return the functions of all policies, in their order."""
    found = []
    for policy in POLICIES.values():
        module, _, name = policy.path.partition(":")
        found.append(getattr(import_module(f"{__package__}.{module}"), name))
    return found
