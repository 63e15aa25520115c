"""Days of drawn tickets: compiled queues of presets form the matches that the plain ones form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from valmatch.draws.addressed import uniform_at
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints
from valmatch.matching.plain_presets import bar, faf, lichess, osu, shieldbattery
from valmatch.matching.plain_presets.playing import CANDIDATES, PAIRS, SAMPLES
from valmatch.matching.presets.line_ups import search_line_ups
from valmatch.matching.presets.queues.lichess import jitter
from valmatch.matching.presets.queues.people import People
from valmatch.matching.presets.queues.playing import Asked, play_preset
from valmatch.matching.presets.queues.pops import LEAST_SPAN
from valmatch.matching.presets.rosters import search_rosters
from valmatch.matching.presets.scores import ANY, choose_pairs
from valmatch.matching.tickets.layout import CANCELLED, COMPLETED, TIMED_OUT
from valmatch.rule_sets.presets import building
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.rules import (
    BarRule,
    FafRule,
    OsuRule,
    PresetRule,
    ShieldBatteryRule,
)
from valmatch.rule_sets.presets.tickets import (
    Event,
    Formed,
    Member,
    Party,
    Played,
    Rated,
    Soldier,
    User,
)

PLACE = Streams(7).place(0)
TIMEOUT, HOUR = 600.0, 3600.0
REGIONS = ("eu", "us", "ap")
BETWEEN = np.array([[0.0, 80.5, np.nan], [80.5, 0.0, 120.25], [np.nan, 120.25, 0.0]])

DAYS: dict[str, tuple[dict[str, Any], float, int]] = {
    "faf": ({"preset": "faf"}, 150.0, 4),
    "faf_duos": ({"preset": "faf", "teams": "2x2", "value": {"spread_of": "players"}}, 150.0, 2),
    "faf_duels": ({"preset": "faf", "teams": "2x1"}, 400.0, 1),
    "bar": ({"preset": "bar"}, 200.0, 1),
    "bar_twos": ({"preset": "bar", "teams": "2x2", "order": "join"}, 120.0, 2),
    "bar_trios": ({"preset": "bar", "teams": "2x3", "strength": {"party": "each"}}, 60.0, 3),
    "bar_three_teams": ({"preset": "bar", "teams": "3x1"}, 60.0, 1),
    "bar_grows": (
        {"preset": "bar", "accept": {"band": [0.45, 0.55], "band_grows": 0.002}},
        90.0,
        1,
    ),
    "shieldbattery": ({"preset": "shieldbattery", "candidates": {"sample": 6}}, 600.0, 1),
    "shieldbattery_twos": (
        {"preset": "shieldbattery", "teams": "2x2", "credit": {"others": 0.25}},
        200.0,
        1,
    ),
    "osu": ({"preset": "osu"}, 500.0, 1),
    "osu_lobby": (
        {
            "preset": "osu",
            "teams": {"lobby": 4},
            "window": {"skip": False, "timeout": 300},
            "never": {"recent": 1800},
        },
        600.0,
        1,
    ),
    "lichess": ({"preset": "lichess", "clock": {"wave": {"players": 6}}}, 700.0, 1),
}
"""By name a rule, tickets an hour, and the most players of a ticket."""


def rule_of(document: dict[str, Any]) -> PresetRule:
    """Return the rule of a document."""
    made: Callable[[RuleWords], PresetRule] = getattr(building, f"{document['preset']}_rule")
    return made(RuleWords.model_validate(document))


MOMENTS = (0.0, 6.0, 12.0, 45.0, 90.0, 600.0, 1200.0)
"""Reviews and time-outs are at some of these seconds, too."""


def asked(
    preset: str, per_hour: float, largest: int, hours: float, seed: int, crowded: bool = False
) -> Asked:
    """Return tickets; those of osu! and lichess are of few users, who come again.

    They come at any time, or, `crowded`, at few `MOMENTS`.
    """
    rng = np.random.default_rng(seed)
    n = rng.poisson(per_hour * hours)
    times = np.sort(rng.integers(0, int(hours * HOUR * 8), n)) / 8.0
    if crowded:
        times = np.sort(rng.choice(MOMENTS, n))
    sizes = rng.integers(1, largest + 1, n)
    players = int(sizes.sum())
    users = rng.integers(0, 60, n) if preset in ("osu", "lichess") else np.arange(n)
    scale = (25.0, 8.0, 4.0) if preset == "bar" else (1500.0, 300.0, 80.0)
    new = rng.random(players) < 0.1
    ratings = rng.normal(*scale[:2], players)
    if preset in ("osu", "lichess"):  # of the user
        ratings = rng.normal(*scale[:2], 60)[users]
    middle = np.rint(ratings[np.cumsum(sizes) - sizes]).astype(np.int64)
    ranged = rng.random(n) < 0.3
    if preset == "lichess":
        ranged = rng.random(60)[users] < 0.3
    people = People(
        sizes,
        np.cumsum(sizes) - sizes,
        ratings,
        np.where(new, 2.0, 1.0) * scale[2] * rng.uniform(0.5, 1.5, players),
        np.where(new, rng.integers(0, 12, players), 1000),
        new,
        rng.integers(-1, 3, n),
        np.rint(rng.uniform(10.0, 120.0, n)),
        BETWEEN,
        np.where(rng.random(n) < 0.5, -1, rng.integers(1, 16, n)),
        np.where(ranged, middle - 200, -ANY),
        np.where(ranged, middle + 200, ANY),
        ranged,
    )
    patience = rng.integers(8, 8 * 900, n) / 8.0
    cancels = np.where(rng.random(n) < 0.3, times + patience, np.inf)
    return Asked(times, cancels, users, people, PLACE)


def plain(rule: PresetRule, preset: str, given: Asked, horizon: float) -> Played:
    """Let the plain queue of a preset play the same tickets."""
    if isinstance(rule, FafRule):
        return faf.play(parties_of(given, preset), rule, horizon, LEAST_SPAN)
    if isinstance(rule, BarRule):
        ticks = [rule.tick * k for k in range(1, int(horizon / rule.tick) + 1)]
        return bar.play(parties_of(given, preset), rule, ticks, horizon, search_line_ups)
    if isinstance(rule, ShieldBatteryRule):
        return _shieldbattery(rule, given, horizon)
    if isinstance(rule, OsuRule):
        return _osu(rule, given, horizon)
    return lichess.play(
        members_of(given),
        rule,
        horizon,
        choose_pairs,
        lambda wave: jitter(given.place, wave, rule.jitter),
    )


def spans_of(given: Asked) -> list[tuple[float, float]]:
    """Return when tickets join, and until when they wait at most."""
    until = np.minimum(given.cancels, given.times + TIMEOUT)
    return list(zip(given.times.tolist(), until.tolist(), strict=True))


def parties_of(given: Asked, preset: str) -> list[Party]:
    """Return the tickets of FAForever and of Beyond All Reason, which alone has the unrated."""
    people = given.people

    def rated(k: int) -> Rated:
        if preset == "bar" and people.unrated[k]:
            return Rated(None, None)
        return Rated(float(people.ratings[k]), float(people.deviations[k]), int(people.games[k]))

    return [
        Party(time, end, tuple(rated(k) for k in range(start, start + size)))
        for (time, end), start, size in zip(
            spans_of(given), people.firsts, people.sizes, strict=True
        )
    ]


def members_of(given: Asked) -> list[Member]:
    """Return the tickets of lichess."""
    people = given.people
    return [
        Member(
            time,
            end,
            str(given.users[k]),
            round(people.ratings[k]),
            (int(people.low[k]), int(people.high[k])) if people.ranged[k] else None,
            provisional=bool(people.unrated[k]),
        )
        for k, (time, end) in enumerate(spans_of(given))
    ]


def soldiers_of(given: Asked) -> list[Soldier]:
    """Return the tickets of ShieldBattery."""
    people = given.people

    def picks(k: int) -> frozenset[str] | None:
        bits = int(people.maps[k])
        return None if bits < 0 else frozenset(str(m) for m in range(4) if bits >> m & 1)

    return [
        Soldier(
            time,
            end,
            float(people.ratings[k]),
            float(people.deviations[k]),
            REGIONS[people.regions[k]] if people.regions[k] >= 0 else None,
            float(people.round_trips[k]),
            picks(k),
        )
        for k, (time, end) in enumerate(spans_of(given))
    ]


def backbone_of(given: Asked) -> dict[tuple[str, str], float]:
    """Return milliseconds between regions, as the plain queue reads them."""
    far = given.people.between
    return {
        (one, other): float(far[i, j])
        for i, one in enumerate(REGIONS)
        for j, other in enumerate(REGIONS)
        if i != j and not np.isnan(far[i, j])
    }


def _shieldbattery(rule: ShieldBatteryRule, given: Asked, horizon: float) -> Played:
    ticks = [rule.tick * k for k in range(1, int(horizon / rule.tick) + 1)]

    def draw(review: int, ticket: int) -> float:
        return float(uniform_at(given.place, SAMPLES, ticket, review))

    return shieldbattery.play(
        soldiers_of(given), rule, backbone_of(given), ticks, horizon, draw, search_rosters
    )


def _osu(rule: OsuRule, given: Asked, horizon: float) -> Played:
    """Let users join and leave; of a user who waits the ticket does not count."""
    people, tickets = given.people, spans_of(given)
    users = [User(0.0)] * 60
    for k, user in enumerate(given.users.tolist()):
        users[user] = User(float(people.ratings[k]))
    queue = osu.Queue(users, rule, True, _osu_draw(given))
    events: list[tuple[float, int, int]] = [(time, 0, k) for k, (time, _) in enumerate(tickets)]
    events += [(end, 1, k) for k, (_, end) in enumerate(tickets) if end <= horizon]
    events += [(rule.tick * k, 2, 0) for k in range(1, int(horizon / rule.tick) + 1)]
    owner: dict[int, int] = {}
    found: list[Formed] = []
    for time, kind, k in sorted(events):
        user = int(given.users[k])
        if kind == 0 and user not in queue.present:
            owner[user] = k
            queue.take(Event("join", time, user))
        elif kind == 1 and owner.get(user) == k:
            queue.take(Event("leave", time, user))
        elif kind == 2:
            _OWNER.clear()
            _OWNER.update(owner)
            before = len(queue.matches)
            queue.take(Event("tick", time))
            for match in queue.matches[before:]:
                teams = tuple((owner[one],) for team in match.teams for one in team)
                found.append(Formed(time, teams, {}))
    return Played(found, [owner[one.number] for one in queue.free()], {})


_OWNER: dict[int, int] = {}
"""The tickets of users, while a review looks."""


def _osu_draw(given: Asked) -> osu.Draw:
    """Return draws addressed by tickets, where the plain queue knows users."""

    def draw(update: int, pivot: int, candidate: int) -> float:
        address = _OWNER[pivot] * PAIRS + _OWNER[candidate]
        return float(uniform_at(given.place, CANDIDATES, address, update))

    return draw


def same(name: str, hours: float, seed: int, crowded: bool = False) -> int:
    """Compare both queues; return how many matches there are."""
    document, per_hour, largest = DAYS[name]
    rule, preset = rule_of(document), document["preset"]
    given = asked(preset, per_hour, largest, hours, seed, crowded)
    played, told = play_preset(rule, given, TIMEOUT, hours * HOUR)
    expected = plain(rule, preset, given, hours * HOUR)
    ends = np.searchsorted(played.matches, np.arange(played.times.size + 1))
    found = []
    for number, time in enumerate(played.times.tolist()):
        own = slice(ends[number], ends[number + 1])
        teams: dict[int, list[int]] = {}
        for ticket, team in zip(played.tickets[own], played.teams[own], strict=True):
            teams.setdefault(int(team), []).append(int(ticket))
        found.append((time, [sorted(teams[team]) for team in sorted(teams)]))
    assert sorted(found) == sorted(
        (match.time, [sorted(team) for team in match.teams]) for match in expected.matches
    )
    _check_ends(rule, played.statuses, played.ends, given, hours)
    assert told.values.size == played.times.size
    if isinstance(rule, ShieldBatteryRule):
        fallen = [one["threshold"] < rule.at_least for one in expected.trace["states"]]
        assert (told.relaxed, told.reviews) == (sum(fallen), len(fallen))
        assert crowded or sum(fallen) > 0
    return len(found)


def _check_ends(rule: PresetRule, statuses: Ints, ends: Floats, given: Asked, hours: float) -> None:
    """Check how tickets end that have no match."""
    gone = (statuses == CANCELLED) & (ends > given.times)
    assert np.array_equal(ends[gone], given.cancels[gone])
    late = statuses == TIMED_OUT
    until = given.times[late] + TIMEOUT
    if isinstance(rule, OsuRule) and rule.timeout:  # at the first review after it
        until = (np.floor((given.times[late] + rule.timeout) / rule.tick) + 1) * rule.tick
    assert np.array_equal(ends[late], until)
    assert (ends[statuses == COMPLETED] <= hours * HOUR).all()
    assert (statuses > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", DAYS)
def test_the_compiled_queue_forms_what_the_plain_one_forms(name: str) -> None:
    assert same(name, 3.0, 1) > 20


@pytest.mark.long
@pytest.mark.parametrize("name", DAYS)
@pytest.mark.parametrize("seed", range(2, 5))
def test_a_day_of_the_compiled_queue_is_that_of_the_plain_one(name: str, seed: int) -> None:
    assert same(name, 24.0, seed) > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", DAYS)
def test_queues_are_the_same_where_much_happens_at_one_moment(name: str) -> None:
    assert sum(same(name, 0.5, seed, crowded=True) for seed in range(3)) > 0
