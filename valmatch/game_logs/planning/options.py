"""Options of a plan, as a record with checked values."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

from valmatch.errors import InputError, option
from valmatch.game_logs.planning.leagues import HALF_WIDTH, NAMED, SHOWN, UNIFORM
from valmatch.inputs import arguments
from valmatch.policies.joint.belief import GOALS
from valmatch.policies.registry import JOINT
from valmatch.text.terminal import shown

AIMS = {"half_width": HALF_WIDTH, "best": NAMED, "shown": SHOWN}
"""What can be planned for, by argument, with the measure that has to reach it."""

PRIOR = 350.0
GRADIENT = "knowledge_gradient"
FARTHEST = 1e6


@dataclass(frozen=True)
class PlanOptions:
    """What is planned for, for whom, and how it is simulated; checked."""

    # half_width, best, shown: one of them: mean half-width of the differences in points; share of
    # leagues in which the leader is the true best; share in which exactly one is tied for first
    half_width: float | None = None
    best: float | None = None
    shown: float | None = None
    players: int | None = None  # how many, of whom nothing is known yet
    spread: float | None = None  # standard deviation of their strengths in points
    draws: float = 0.0  # share of drawn games between equals
    home: float = 0.0  # advantage of who is at home in points
    # deviation of the prior that they are rated by; None: maximum likelihood
    prior: float | None = PRIOR
    policy: str = UNIFORM  # who plays
    goal: str | None = None  # what for, under the knowledge gradient
    batch: int = 10  # games that are chosen by one estimate
    replications: int = 200  # leagues
    seed: int = 1  # of all random numbers
    level: float = 0.95  # of all intervals
    max_games: int = 1_000_000  # where to give up

    def __post_init__(self) -> None:
        given = [name for name in AIMS if getattr(self, name) is not None]
        if len(given) != 1:
            names = ", ".join(option(name) for name in AIMS)
            what = f"{' and '.join(option(name) for name in given) or 'none of them'} given"
            raise InputError(f"{names}: {what} (allowed: one)")
        if self.half_width is not None:
            _points("half_width", self.half_width, above=True)
        for name in ("best", "shown"):
            if getattr(self, name) is not None:
                arguments.level(name, getattr(self, name))
        if self.players is not None:
            arguments.whole("players", self.players)
        if self.spread is not None:
            _points("spread", self.spread)
        if self.prior is not None:
            arguments.deviation("prior", self.prior)
        _points("home", self.home, below=True)
        if arguments.share("draws", self.draws) == 1.0:
            raise InputError(f"{option('draws')}: {self.draws!r} (allowed: a share below 1)")
        arguments.one_of("policy", self.policy, JOINT)
        if self.goal is not None:
            arguments.one_of("goal", self.goal, GOALS)
            if self.policy != GRADIENT:
                what = f"{self.goal} goes with {option('policy')} {GRADIENT} (not {self.policy})"
                raise InputError(f"{option('goal')}: {what}")
        for name in ("batch", "replications", "seed", "max_games"):
            arguments.whole(name, getattr(self, name))
        arguments.level("level", self.level)

    @property
    def aim(self) -> tuple[str, float]:
        """The measure that has to reach a value, and the value."""
        name = next(name for name in AIMS if getattr(self, name) is not None)
        return AIMS[name], float(getattr(self, name))

    @property
    def rises(self) -> bool:
        """Whether the measure rises to its value."""
        return self.aim[0] != HALF_WIDTH

    @property
    def goal_of_policy(self) -> str:
        """The goal, empty of a policy that has none."""
        return (self.goal or GOALS[0]) if self.policy == GRADIENT else ""

    def check_afresh(self) -> None:
        """Refuse a plan that says nothing of the players."""
        for name in ("players", "spread"):
            if getattr(self, name) is None:
                needed = f"{option('players')} and {option('spread')}, or a folder of ratings"
                raise InputError(f"{option(name)}: is missing (allowed: {needed})")

    def check_rated(self) -> None:
        """Refuse what the ratings of a folder say themselves."""
        plain = PlanOptions(half_width=1.0)
        for name in ("players", "spread", "draws", "home", "prior"):
            if getattr(self, name) != getattr(plain, name):
                what = "goes without a folder of ratings, which says it"
                raise InputError(f"{option(name)}: {what}")

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes this plan from others."""
        measure, value = self.aim
        afresh = ("players", "spread", "draws", "home", "prior") if self.players else ()
        return {
            "aim": measure,
            "value": value,
            **{name: getattr(self, name) for name in afresh},
            "policy": self.policy,
            "batch": self.batch,
            "replications": self.replications,
            "goal": self.goal_of_policy,
            "seed": self.seed,
            "level": self.level,
            "max_games": self.max_games,
        }


def _points(argument: str, value: object, above: bool = False, below: bool = False) -> None:
    """Refuse what is no number of points: any from 0, or above it, or also below."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    good = number and abs(float(value)) <= FARTHEST  # type: ignore[arg-type]
    if not good or (float(value) <= 0.0 if above else float(value) < 0.0 and not below):  # type: ignore[arg-type]
        least = "> 0" if above else f"from {-FARTHEST:g}" if below else ">= 0"
        raise InputError(f"{option(argument)}: {shown(value)} (allowed: points {least}, up to 1e6)")
