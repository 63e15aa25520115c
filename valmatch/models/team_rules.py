"""What the rules by which teams are matched need of each other, in whatever model."""

from __future__ import annotations

from collections.abc import Iterator

from valmatch.fields import plain_number, refuse

__all__ = ["LONG_WAIT", "check_teams", "long_wait", "slow_joint_search"]

LONG_WAIT = 2.0
"""Hours of waiting above which a threshold was probably meant in minutes."""

MIN_JOINT_TEAM_DIFF = 0.01
"""Elo points below which joint matching is warned to be slow."""

MAX_JOINT_TEAM = 16
"""Largest team_num with joint matching: the search is exponential in it."""


def check_teams(matching: str, team_num: int, team_rule: str) -> None:
    """Raise unless teams of this size and rule can be matched so."""
    if matching == "joint" and team_num > MAX_JOINT_TEAM:
        raise refuse(
            f"{team_num} players on a team are too many for joint matching (at most"
            f" {MAX_JOINT_TEAM}; team_first takes any number)",
            "team_num",
            "matching",
        )
    if matching == "joint" and team_rule == "newcomer":
        raise refuse(
            "newcomer is for team_first matching: joint matching chooses two teams at once, and"
            " the newcomer is in one of them at most (allowed with joint: range)",
            "team_rule",
            "matching",
        )


def long_wait(wait_thresh: float) -> str:
    """Say what a threshold in minutes would be in hours, as it is wanted."""
    number = plain_number(wait_thresh)
    return (
        f"{number} hours; {number} minutes is {wait_thresh / 60.0:.4g} (a bare number is hours;"
        f" {number} min says minutes)"
    )


def slow_joint_search(matching: str, team_diff: float, team_slack: float) -> Iterator[str]:
    """Yield a remark if joint matching will hardly find two teams that are close enough."""
    if matching == "joint" and team_diff + team_slack < MIN_JOINT_TEAM_DIFF:
        yield (
            f"joint matching with a team_diff of {plain_number(team_diff)} has to prove"
            " that hardly any two teams are equal, which can take very long unless ratings"
            " are on a lattice"
        )
