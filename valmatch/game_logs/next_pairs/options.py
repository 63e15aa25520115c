"""Checked options of the choice of pairs to play next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from valmatch.errors import InputError, option
from valmatch.inputs import arguments
from valmatch.policies.joint.belief import GOALS
from valmatch.policies.registry import JOINT
from valmatch.text.terminal import shown

POLICY = "knowledge_gradient"  # the default policy, and the one that has a goal


@dataclass(frozen=True)
class NextOptions:
    """How pairs to play next are chosen; checked."""

    policy: str = POLICY  # what a pair is worth, see `valmatch.policies.registry.JOINT`
    # what for, under the knowledge gradient: best (the default), order or widest
    goal: str | None = None
    batch: int = 10  # how many pairs
    once: bool = False  # whether each player is in one pair at most
    allowed: Path | None = None  # a file of the pairs that may play
    # without, new: players who are not there; players who are not rated yet
    without: Sequence[str] = ()
    new: Sequence[str] = ()
    explore: float = 0.0  # probability that a pair is drawn instead
    seed: int = 1  # of all that is drawn

    def __post_init__(self) -> None:
        arguments.one_of("policy", self.policy, JOINT)
        if self.goal is not None:
            arguments.one_of("goal", self.goal, GOALS)
            if self.policy != POLICY:
                what = f"{self.goal} goes with {option('policy')} {POLICY} (not {self.policy})"
                raise InputError(f"{option('goal')}: {what}")
        arguments.whole("batch", self.batch)
        arguments.share("explore", self.explore)
        arguments.whole("seed", self.seed)
        for argument, names in (("without", self.without), ("new", self.new)):
            if "" in names:
                raise InputError(f"{option(argument)}: a name is empty")
            if halves := [name for name in names if not _is_text(name)]:
                what = "holds half a character (a surrogate)"
                raise InputError(f"{option(argument)}: {shown(halves[0])} {what}")
            if twice := [name for k, name in enumerate(names) if name in names[:k]]:
                raise InputError(f"{option(argument)}: {twice[0]} is there twice")

    @property
    def goal_of_policy(self) -> str:
        """The goal, empty of a policy that has none."""
        return (self.goal or GOALS[0]) if self.policy == POLICY else ""


def _is_text(name: str) -> bool:
    """Return whether a name can be written to a file."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
