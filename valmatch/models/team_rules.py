"""Checks of the settings of team matching, for any model that has them."""

from __future__ import annotations

from collections.abc import Iterator

from valmatch.inputs.fields import plain_number, refuse
from valmatch.matching.registry import QUEUES, readers

LONG_WAIT = 2.0  # hours of waiting above which a threshold was probably meant in minutes
LEAST_TEAM_DIFF = 0.01  # Elo points below which an exponential search is warned to be slow


def check_teams(matching: str, team_num: int, team_rule: str) -> None:
    """Raise unless teams of this size and rule can be matched so."""
    largest, at = QUEUES[matching].largest_team, ("team_num", "matching")
    if largest == 1 and team_num > 1:
        *more, last = (name for name, entry in QUEUES.items() if entry.largest_team != 1)
        text = f"{team_num} players on a team, but {matching} matches one against one (allowed with"
        raise refuse(f"{text} {matching}: 1; {', '.join(more)} and {last} match teams)", *at)
    if largest is not None and team_num > largest:
        others = " or ".join(name for name, entry in QUEUES.items() if entry.largest_team is None)
        text = f"{team_num} players on a team are too many for {matching} matching (at most"
        raise refuse(f"{text} {largest}; {others} takes any number)", *at)
    if team_rule == "newcomer" and matching not in readers("team_rule"):
        text = f"newcomer is for {' or '.join(readers('team_rule'))} matching: {matching} matching"
        text += f" forms no team around a newcomer (allowed with {matching}: range)"
        raise refuse(text, "team_rule", "matching")


def long_wait(wait_thresh: float, hours: float, run: str) -> Iterator[str]:
    """Yield a remark on a threshold that is never reached in a run, or was meant in minutes."""
    number = plain_number(wait_thresh)
    if wait_thresh >= hours:
        yield (
            f"{number} hours are not below the {run}, so nobody is ever prioritized (wait_thresh"
            " is in hours; is this in minutes?)"
        )
    elif wait_thresh > LONG_WAIT:
        yield (
            f"{number} hours; {number} minutes is {wait_thresh / 60.0:.4g} (a bare number is hours;"
            f" {number} min says minutes)"
        )


def slow_search(matching: str, team_diff: float, team_slack: float) -> Iterator[str]:
    """Yield a remark if an exponential search will hardly find two teams that are close enough."""
    if QUEUES[matching].exponential and team_diff + team_slack < LEAST_TEAM_DIFF:
        yield (
            f"{matching} matching with a team_diff of {plain_number(team_diff)} has to prove"
            " that hardly any two teams are equal, which can take very long unless ratings"
            " are on a lattice"
        )
