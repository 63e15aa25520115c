"""Players of the ladder: skills, activities, and the newcomers of a replication."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv

from valmatch.draws.streams import exponential_at
from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.kernels.compilation import kernel, macro
from valmatch.models.ladder.factors import LadderFactors
from valmatch.models.tickets.population import People, chosen

# Sources of addressed randomness, see `valmatch.draws.streams`: U a uniform, E an exponential
# number. Players are numbered from 0: those at the start first, then newcomers in the order in
# which they join. Counters begin at 0.
# ========  ==========  =====================  ===================================================
# source    player      counter                number
# ========  ==========  =====================  ===================================================
# SKILL     player      0                      skill: mean + skill_std ndtri(U)
# ACTIVITY  player      0                      activity: cv^2 gammaincinv(1 / cv^2, U); 1 if cv is 0
# JOINING   0           newcomer               gap before they join: E 24 / newcomers_per_day hours
# SMURF     player      0                      a newcomer has smurf_skill if U < smurf_share
# SESSIONS  player      session start          gap before it: E / (per_day activity) profile days
# OUTCOME   the lowest  their matches before   the older team wins if U < p
# CONTINUE  player      their matches before   they queue again if U < the probability
# BREAK     player      their matches before   break: break_minutes / 60 E hours
# PATIENCE  player      their tickets before   patience: patience_minutes / 60 E hours
# CHURN     player      sessions ended before  they are gone if U < churn
# PAIR      the lower   the higher ticket      weight U of two tickets by the policy `random`
# FRIENDS   player      0                      size of a group that they come first in: the first
#                                              whose shares sum to over U
# BOND      the first   0                      what friends have in common: skill_std ndtri(U)
# ========  ==========  =====================  ===================================================

(
    SKILL,
    ACTIVITY,
    JOINING,
    SMURF,
    SESSIONS,
    OUTCOME,
    CONTINUE,
    BREAK,
    PATIENCE,
    CHURN,
    PAIR,
    FRIENDS,
    BOND,
) = range(13)


SAME = 1e-150
"""A coefficient of variation whose square may be no number: all activities are the same."""


class DrawnPlayers(NamedTuple):
    """The random inputs of a replication: its players, in order of their numbers."""

    skills: Floats  # (n,); points
    activities: Floats  # (n,); session starts relative to those of the average player
    joining: Floats  # (m,); hours at which the newcomers join, who are the last m
    # (n,); the first player of the group of friends that each is in; empty where all play alone
    groups: Ints
    rng_key: Words  # (3,); where the addressed numbers of the replication lie


def draw_population(factors: LadderFactors, players: int, rng_key: Words) -> DrawnPlayers:
    """Draw the players of a replication, so many of whom are there at the start."""
    people, parties, cv = factors.population, factors.parties, factors.sessions.activity_cv
    joining = _joining(24.0 * factors.days, people.newcomers_per_day, rng_key)
    n = players + joining.size
    drawn, newcomers = People(np.arange(n), np.zeros(n, np.int64), rng_key), np.arange(n) >= players
    groups, normals = np.empty(0, np.int64), drawn.normals(SKILL)
    if len(parties.shares) > 1:
        groups = np.arange(n)
        _gather(1 + chosen(parties.shares, drawn.uniforms(FRIENDS)), players, groups)
        correlation = parties.skill_correlation
        if correlation > 0.0:
            common = drawn.normals(BOND)[groups]
            bonded = correlation**0.5 * common + (1.0 - correlation) ** 0.5 * normals
            normals = np.where(np.bincount(groups, minlength=n)[groups] > 1, bonded, normals)
    means = np.where(newcomers, people.newcomer_skill_mean, people.skill_mean)
    skills = means + people.skill_std * normals
    smurfs = newcomers & (drawn.uniforms(SMURF) < people.smurf_share)
    skills[smurfs] = people.smurf_skill
    if cv < SAME:
        return DrawnPlayers(skills, np.ones(n), joining, groups, rng_key)
    activities = cv * cv * gammaincinv(1.0 / (cv * cv), drawn.uniforms(ACTIVITY))
    return DrawnPlayers(skills, activities, joining, groups, rng_key)


@kernel
def _gather(sizes: Ints, players: int, groups: Ints) -> None:
    """Put players of the next numbers into groups, whose first one's size is that of the group."""
    # A group that would end among the newcomers ends with the last player of the start.
    first = 0
    while first < sizes.size:
        end = first + sizes[first]
        end = min(end, players if first < players else sizes.size)
        for player in range(first, end):
            groups[player] = first
        first = end


def _joining(hours: float, per_day: float, rng_key: Words) -> Floats:
    if per_day == 0.0:
        return np.empty(0)
    expected = per_day * hours / 24.0
    out = np.empty(int(expected + 6.0 * expected**0.5) + 16)
    while True:
        n = _join_all(hours, per_day, rng_key, out)
        if n < out.size:
            return out[:n]
        out = np.empty(2 * out.size)


@kernel
def _join_all(hours: float, per_day: float, rng_key: Words, out: Floats) -> int:
    """Write down when newcomers join; return how many do, as far as there is room."""
    time = 0.0
    for newcomer in range(out.size):
        time += exponential_at(rng_key, JOINING, 0, newcomer) * 24.0 / per_day
        if time >= hours:
            return newcomer
        out[newcomer] = time
    return int(out.size)


# Profile time, in which sessions start at the same rate all day.
#
# With the weights w of the hours, c[h] is the share of the day's session starts before hour h; the
# profile time of the moment 24 day + hour is day + c[h] + (hour - h) (c[h + 1] - c[h]), h the whole
# hours.

HOURS = 24


@macro
def profile_time(moment: float, shares: Floats) -> float:
    """Return the profile time of a moment (hours)."""
    day = math.floor(moment / 24.0)
    hour = moment - 24.0 * day
    h = int(hour)
    return day + shares[h] + (hour - h) * (shares[h + 1] - shares[h])


@macro
def moment_of(time: float, shares: Floats) -> float:
    """Return the moment (hours) of a profile time: in the last hour that begins before it."""
    day = math.floor(time)
    share = time - day
    h = 0
    for k in range(1, HOURS):
        h += int(shares[k] <= share)
    low, high = shares[h], shares[h + 1]
    return 24.0 * day + (h + (share - low) / (high - low))
