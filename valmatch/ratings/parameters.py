"""Parameters of rating systems, and the systems that rate all games of a log at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Factor:
    """The factor of the model `ladder` for a parameter."""

    default: float  # its default, on a scale where newcomers have 1500 points
    unit: str  # its unit; ``points`` of ratings, ``minutes`` or ``hours`` of time
    meaning: str  # what it is, in a sentence
    # what it is called where another system has taken the parameter's name, or where that says too
    # little; "" for that name
    name: str = ""


@dataclass(frozen=True)
class Parameter:
    """A number that a system depends on."""

    name: str  # what the source calls it
    published: float  # its value there
    # low, high: least and greatest value that is allowed and searched
    low: float
    high: float
    # the factor of the model `ladder`; None of what its section `rating` has for all systems (mu
    # and beta), or what is 0 in its matches: nobody is at home, and none is drawn
    factor: Factor | None = None


@dataclass(frozen=True)
class BatchSystem:
    """The declaration of a system that rates all games of a log at once.

    It has no state that goes from game to game, so that nothing can go on from its ratings and it
    is not in the ladder.
    """

    name: str  # what ``--system`` calls it
    parameters: Sequence[Parameter]  # numbers that it depends on
    paths: bool = False  # whether players have a rating for each day on which they played


_MEAN = Parameter("mean", 1500.0, -1e6, 1e6)  # of all rated players where there are no anchors

BRADLEY_TERRY = BatchSystem("bradley_terry", (_MEAN,))
WHOLE_HISTORY = BatchSystem(
    "whole_history",
    (
        Parameter("drift", 3.7, 0.0, 1e4),  # points a square-root day
        Parameter("deviation", 350.0, 1.0, 1e5),  # of the first day of a player
        _MEAN,  # of the first days of all players
    ),
    paths=True,
)
