"""Drawn tickets for the rules of living matchmakers, and what comes of them."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.matching.living.queue import ANY, Parties, PresetInput, PresetReport, play_preset
from valmatch.matching.living.registry import numbers_of
from valmatch.matching.tickets.columns import Played

TIMEOUT, HOUR = 600.0, 3600.0
USERS = 60  # of osu! and lichess, who come again
BETWEEN = np.array([[0.0, 80.5, np.nan], [80.5, 0.0, 120.25], [np.nan, 120.25, 0.0]])

MOMENTS = (0.0, 6.0, 12.0, 45.0, 90.0, 600.0, 1200.0)
"""Reviews and time-outs are at some of these seconds, too."""


class Day(NamedTuple):
    """A rule, and who comes."""

    preset: str
    numbers: dict[str, Any]
    per_hour: float
    largest: int = 1  # most players of a ticket


DAYS = {
    "faf": Day("faf", {}, 150.0, 4),
    "faf_duos": Day("faf", {"team_size": 2, "spread_of_players": True}, 150.0, 2),
    "faf_duels": Day("faf_duels", {}, 400.0),
    "bar": Day("bar", {}, 200.0),
    "bar_twos": Day("bar", {"team_size": 2, "newest_first": False}, 120.0, 2),
    "bar_trios": Day("bar", {"team_size": 3, "each_player": True}, 60.0, 3),
    "bar_alike": Day("bar", {"team_size": 3, "alike_ticks": 12}, 60.0, 3),
    "bar_three_teams": Day("bar", {"team_count": 3}, 60.0),
    "bar_grows": Day("bar", {"chance_low": 0.45, "chance_high": 0.55, "band_grows": 0.002}, 90.0),
    "shieldbattery": Day("shieldbattery", {"sample": 6}, 600.0),
    "shieldbattery_twos": Day("shieldbattery", {"team_size": 2, "others_weight": 0.25}, 200.0),
    "osu": Day("osu", {"radius": 100}, 3000.0),
    "osu_lobby": Day(
        "osu", {"lobby_size": 4, "skip": False, "search_timeout": 300, "recent": 1800}, 600.0
    ),
    "lichess": Day("lichess", {"wave_players": 6}, 700.0),
    "evoladder": Day("evoladder", {"wait_bonus": 200.0}, 400.0),
    "evoladder_lead": Day(
        "evoladder", {"either_reach": False, "first_only": 0.6, "wait_power": 3.0}, 400.0
    ),
}


def drawn(day: Day, hours: float, seed: int, crowded: bool = False) -> PresetInput:
    """Return tickets that come at any time, or, `crowded`, at few `MOMENTS`."""
    rng, preset = np.random.default_rng(seed), day.preset
    n = rng.poisson(day.per_hour * hours)
    times = np.sort(rng.integers(0, int(hours * HOUR * 8), n)) / 8.0
    if crowded:
        times = np.sort(rng.choice(MOMENTS, n))
    sizes = rng.integers(1, day.largest + 1, n)
    players = int(sizes.sum())
    again = preset in ("osu", "lichess")
    users = rng.integers(0, USERS, n) if again else np.arange(n)
    mean, spread, deviation = (25.0, 8.0, 4.0) if preset == "bar" else (1500.0, 300.0, 80.0)
    new = rng.random(players) < 0.1
    ratings = rng.normal(mean, spread, USERS)[users] if again else rng.normal(mean, spread, players)
    middle = np.rint(ratings[np.cumsum(sizes) - sizes]).astype(np.int64)
    ranged = rng.random(USERS)[users] < 0.3 if again else np.zeros(n, np.bool_)
    parties = Parties(
        sizes,
        np.cumsum(sizes) - sizes,
        ratings,
        np.where(new, 2.0, 1.0) * deviation * rng.uniform(0.5, 1.5, players),
        np.where(new, rng.integers(0, 12, players), 1000),
        new,
        rng.integers(-1, 3, n),
        np.rint(rng.uniform(10.0, 120.0, n)),
        BETWEEN,
        np.where(rng.random(n) < 0.5, -1, rng.integers(1, 16, n)),
        np.where(ranged, middle - 200, -ANY),
        np.where(ranged, middle + 200, ANY),
        ranged,
        np.zeros(n, np.int64),
    )
    patience = rng.integers(8, 8 * 900, n) / 8.0
    cancels = np.where(rng.random(n) < 0.3, times + patience, np.inf)
    return PresetInput(times, cancels, users, parties, Streams(7).place(0))


def played(day: Day, tickets: PresetInput, hours: float) -> tuple[Played, PresetReport]:
    """Return what comes of the tickets of a day."""
    numbers = numbers_of(day.preset).model_validate(day.numbers)
    return play_preset(day.preset, numbers, tickets, TIMEOUT, hours * HOUR)


def matches_of(found: Played) -> list[tuple[float, list[list[int]]]]:
    """Return the moment of each match, and the tickets of its teams in their order."""
    ends = np.searchsorted(found.matches, np.arange(found.times.size + 1))
    matches = []
    for number, time in enumerate(found.times.tolist()):
        own = slice(ends[number], ends[number + 1])
        teams: dict[int, list[int]] = {}
        for ticket, team in zip(found.tickets[own], found.teams[own], strict=True):
            teams.setdefault(int(team), []).append(int(ticket))
        matches.append((time, [teams[team] for team in sorted(teams)]))
    return matches


def digest(name: str, tickets: int) -> str:
    """Return a digest of all that comes of some tickets, at any time and at few moments."""
    total, day = hashlib.sha256(), DAYS[name]
    for crowded in (False, True):
        hours = tickets / day.per_hour
        found = played(day, drawn(day, hours, 5, crowded), hours)
        for part in (part for one in found for part in one):
            total.update(np.asarray(part).tobytes())
    return total.hexdigest()


def digests(tickets: int) -> list[str]:
    """Return the digests of all days."""
    return [digest(name, tickets) for name in DAYS]
