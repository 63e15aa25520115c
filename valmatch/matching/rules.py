"""The rules of a matchmaking model as the kernels read them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from valmatch.kernels.compilation import part


class Rules(NamedTuple):
    """One set of matchmaking rules.

    Attributes
    ----------
    team_num : int
        Players on a team.
    player_diff, player_slack : float
        Largest rating range in a team, and its increase (Elo points).
    team_diff, team_slack : float
        Largest difference of mean ratings, and its increase (Elo points).
    wait_thresh : float
        Hours after which a player is prioritized.
    horizon : float
        End of the day in hours; no review by `continuous` happens at or after it.
    continuous : bool
        Also review when a waiting player becomes prioritized.
    pool_scope : bool
        One prioritized player anywhere relaxes every candidate.
    balanced : bool
        Among splits that tie, prefer the smallest difference of means (`joint` alone).
    around : bool
        Teams are formed around the player whose review it is (`team_first` alone).
    ticks_per_hour : float
        Resolution at which total waits are compared, see `ticks_per_hour`.
    known_team : tuple of int
        See `known_team`.
    """

    team_num: int
    player_diff: float
    player_slack: float
    team_diff: float
    team_slack: float
    wait_thresh: float
    horizon: float
    continuous: bool
    pool_scope: bool
    balanced: bool
    around: bool
    ticks_per_hour: float
    known_team: tuple[int, ...] = ()


KNOWN_SIZE = 5  # the players of a team that compiled code has as a constant, as in the source


def known_team(team_num: int) -> tuple[int, ...]:
    """Return a tuple as long as a team of `KNOWN_SIZE`, of no use but for its length."""
    # That is a constant of compiled code, whose loops over a team are then unrolled.
    return (0,) * KNOWN_SIZE if team_num == KNOWN_SIZE else ()


@part(inline=True)
def team_size(rules: Rules) -> int:
    """Return `team_num`, as a constant of compiled code where there is a `known_team`."""
    return len(rules.known_team) if len(rules.known_team) > 0 else rules.team_num


def ticks_per_hour(horizon: float, team_num: int) -> float:
    """Return the resolution of total waits: 2**40 ticks an hour, less for very long horizons."""
    # Total waits are compared as whole ticks so that sums are exact: equal waits tie on every
    # platform. (2 team_num)**2 horizons have to fit 60 bits, which `joint` needs.
    bits = 60 - math.ceil(math.log2(max(1.0, horizon) * (2 * team_num) ** 2))
    return 2.0 ** min(40, bits)


@part(inline=True)
def tick_of(time: float, rules: Rules) -> int:
    """Return an arrival time in ticks; a greater total wait is a smaller sum of ticks."""
    return int(time * rules.ticks_per_hour + 0.5)


def prioritized(arrival: Any, now: Any, rules: Rules) -> Any:  # noqa: ANN401
    """Return whether players who arrived at `arrival` count as prioritized at `now` (hours)."""
    # Strictly longer than the threshold; with continuous reviews from the very moment arrival +
    # wait_thresh on, of that player's own review. Takes arrays as well as numbers.
    if rules.continuous:
        return arrival + rules.wait_thresh <= now
    return now - arrival > rules.wait_thresh


is_prioritized = part(prioritized, inline=True)  # `prioritized` for the kernels
