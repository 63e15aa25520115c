"""What is drawn for the model `ladder`: players, their sessions, and the numbers of the loop.

Each is an addressed number (U uniform, E exponential) of a source, a player and a counter from 0.
Players at the start come first, then newcomers as they join; a match counts from its start.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from scipy.special import gammaincinv, ndtri

from tests.oracles.addressed import Addressed

SKILL = 0  # skill_mean + skill_std ndtri(U)
ACTIVITY = 1  # cv^2 gammaincinv(1 / cv^2, U); 1 if cv is 0
JOINING = 2  # of player 0 by newcomer: the gap before, E 24 / newcomers_per_day hours
SMURF = 3  # a newcomer has smurf_skill if U < smurf_share
SESSIONS = 4  # by session start: the gap before, E / (per_day activity) profile days
OUTCOME = 5  # of the lowest, by matches before: the older team wins if U < p
CONTINUE = 6  # by matches before: queues again if U < the probability
BREAK = 7  # by matches before: break_minutes / 60 E hours
PATIENCE = 8  # by tickets before: patience_minutes / 60 E hours
CHURN = 9  # by sessions ended before: is gone if U < churn
PAIR = 10  # of the lower ticket by the higher: the weight U of the policy `random`


@dataclass
class World:
    """What does not depend on the loop."""

    numbers: Addressed
    skills: list[float]  # by player
    # Hours of the newcomers, the last of the players.
    joining: list[float] = field(default_factory=list)
    # Of sessions by player, in hours, joining included; may never end.
    starts: Sequence[Iterable[float]] = ()


class Profile:
    """Hours of the day by share of session starts."""

    def __init__(self, weights: Iterable[float]) -> None:
        sums = [0.0]
        for weight in weights:
            sums.append(sums[-1] + weight)
        self.shares = [part / sums[-1] for part in sums]

    def at(self, time: float) -> float:
        """Return the profile time of a moment (hours)."""
        day = math.floor(time / 24.0)
        hour = time - 24.0 * day
        h = math.floor(hour)
        return day + self.shares[h] + (hour - h) * (self.shares[h + 1] - self.shares[h])

    def moment(self, x: float) -> float:
        """Return the moment in hours of a profile time."""
        day = math.floor(x)
        h = bisect_right(self.shares, x - day) - 1
        low, high = self.shares[h], self.shares[h + 1]
        return 24.0 * day + (h + (x - day - low) / (high - low))


def draw_world(
    factors: Mapping[str, Any],
    seed: int,
    replication: int,
    given_skills: Sequence[float] | None = None,
    given_starts: Sequence[Sequence[float]] | None = None,
) -> World:
    """Draw players and sessions of a replication, but those of the first players that are given."""
    population, sessions = factors["population"], factors["sessions"]
    numbers = Addressed(seed, replication)
    joining = list(_joining(population["newcomers_per_day"], factors["days"], numbers))
    profile = Profile(sessions["hourly_profile"])
    old = population["players"]
    skills: list[float] = []
    starts: list[Iterator[float]] = []
    for player in range(old + len(joining)):
        newcomer = player - old
        if given_skills is not None and newcomer < 0:
            skills.append(given_skills[player])
        else:
            skills.append(_skill(player, newcomer >= 0, population, numbers))
        if given_starts is not None:
            starts.append(iter(given_starts[player]))
            continue
        rate = sessions["per_day"] * _activity(player, sessions["activity_cv"], numbers)
        first = joining[newcomer] if newcomer >= 0 else None
        starts.append(_starts(player, first, rate, profile, numbers))
    return World(numbers, skills, joining, starts)


def _joining(per_day: float, days: float, numbers: Addressed) -> Iterator[float]:
    time = 0.0
    for newcomer in count():
        if per_day == 0.0:
            return
        time += numbers.exponential(JOINING, 0, newcomer) * 24.0 / per_day
        if time >= 24.0 * days:
            return
        yield time


def _skill(player: int, newcomer: bool, population: Mapping[str, Any], numbers: Addressed) -> float:
    if newcomer and numbers.uniform(SMURF, player, 0) < population["smurf_share"]:
        return float(population["smurf_skill"])
    mean = population["newcomer_skill_mean" if newcomer else "skill_mean"]
    return float(mean + population["skill_std"] * ndtri(numbers.uniform(SKILL, player, 0)))


def _activity(player: int, cv: float, numbers: Addressed) -> float:
    if cv == 0.0:
        return 1.0
    square = cv * cv
    return float(square * gammaincinv(1.0 / square, numbers.uniform(ACTIVITY, player, 0)))


def _starts(
    player: int, joining: float | None, rate: float, profile: Profile, numbers: Addressed
) -> Iterator[float]:
    clock = 0.0
    if joining is not None:
        yield joining
        clock = profile.at(joining)
    for start in count():
        if rate == 0.0:
            return
        clock += numbers.exponential(SESSIONS, player, start) / rate
        if not math.isfinite(clock):
            return
        yield profile.moment(clock)
