"""Drawn tickets played by the rule of a preset."""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import numpy as np

from valmatch.kernels import halting
from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.matching.presets.queues import (
    bar,
    driving,
    faf_duels,
    faf_teams,
    lichess,
    osu,
    shieldbattery,
)
from valmatch.matching.presets.queues.line import Line, make_line
from valmatch.matching.presets.queues.people import People
from valmatch.matching.queue import kernel_of
from valmatch.matching.tickets.columns import Played
from valmatch.rule_sets.presets.rules import (
    BarRule,
    FafRule,
    OsuRule,
    PresetRule,
    ShieldBatteryRule,
)

ROOM = 64  # tickets for which there is room at first


class Asked(NamedTuple):
    """Tickets of players in order of time."""

    # times, cancels: (tickets,)
    times: Floats
    cancels: Floats
    users: Ints  # (tickets,); numbers of users, from 0. Who waits already does not join again
    people: People
    place: Words  # (3,); where the draws of the rule lie


class Told(NamedTuple):
    """What the rule of a preset says of the matches it has formed."""

    # values, chances: (matches,); values in the unit of the rule; win chances of first teams that
    # it believes in, NaN where it says nothing
    values: Floats
    chances: Floats
    # (matches,); whether an older ticket that still waited after the review would have done in
    # place of a member
    skipped: Ints
    # reviews, relaxed: reviews, and those of them that asked for less than of a large population
    reviews: int
    relaxed: int
    examined: float  # candidates that were valued


def module_of(rule: PresetRule) -> ModuleType:
    """Return the queue of a rule."""
    if isinstance(rule, FafRule):
        return faf_duels if rule.team_size == 1 else faf_teams
    if isinstance(rule, BarRule):
        return bar
    if isinstance(rule, ShieldBatteryRule):
        return shieldbattery
    return osu if isinstance(rule, OsuRule) else lichess


def play_preset(
    rule: PresetRule, asked: Asked, timeout: float, horizon: float
) -> tuple[Played, Told]:
    """Play drawn tickets."""
    module = module_of(rule)
    line = make_line(
        asked.times,
        asked.cancels,
        asked.people.sizes,
        asked.users,
        timeout,
        horizon,
        module.memory_of(rule),
        asked.place,
    )
    play, room = kernel_of(driving.play, module), ROOM
    while not play(line, asked.people, module.own_of(rule, asked.people, room), room):
        room *= 2
    halting.check()
    return _played(line), _told(line)


def _played(line: Line) -> Played:
    """Return what came of tickets."""
    state = line.state[0]
    matches = line.matches[: state["matches"]]
    tickets, teams = line.members[:, : state["members"]]
    of = np.repeat(np.arange(matches.size), matches["tickets"])
    times, none = matches["time"].copy(), np.zeros(0, np.int64)
    filled = np.zeros(of.size, np.bool_)
    return Played(
        line.status, line.ends, times, times, tickets, of, teams, times[of], filled, none, none
    )


def _told(line: Line) -> Told:
    """Return what the rule says of its matches."""
    state = line.state[0]
    matches = line.matches[: state["matches"]]
    return Told(
        matches["value"].copy(),
        matches["chance"].copy(),
        matches["skipped"] != 0,
        int(state["reviews"]),
        int(state["relaxed"]),
        float(state["examined"]),
    )
