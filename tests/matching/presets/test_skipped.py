"""Which matches skip an older ticket, by the plain rules: as the compiled queues say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from tests.matching.presets.test_queues import (
    DAYS,
    HOUR,
    TIMEOUT,
    asked,
    backbone_of,
    members_of,
    parties_of,
    plain,
    rule_of,
    soldiers_of,
)
from valmatch.matching.plain_presets import (
    bar,
    faf_duels,
    faf_teams,
    lichess,
    osu,
    shieldbattery,
)
from valmatch.matching.presets.queues.playing import Asked, Told, play_preset
from valmatch.matching.tickets.columns import Played
from valmatch.matching.tickets.layout import CANCELLED, COMPLETED
from valmatch.rule_sets.presets.rules import (
    BarRule,
    FafRule,
    LichessRule,
    OsuRule,
    PresetRule,
    ShieldBatteryRule,
)

Teams = list[list[int]]


class World(NamedTuple):
    """A day that has been played, and when the rule looked."""

    rule: PresetRule
    given: Asked
    played: Played
    looked: dict[float, dict[str, Any]]

    def missed(self, ticket: int, now: float) -> int:
        """Return the reviews that a ticket went through before."""
        return sum(self.given.times[ticket] <= moment < now for moment in self.looked)

    def teams(self, match: int) -> Teams:
        """Return the tickets of the teams of a match, in their order."""
        own = self.played.matches == match
        found: dict[int, list[int]] = {}
        for ticket, team in zip(self.played.tickets[own], self.played.teams[own], strict=True):
            found.setdefault(int(team), []).append(int(ticket))
        return [found[team] for team in sorted(found)]

    def left_over(self, now: float) -> Iterator[int]:
        """Yield the tickets that joined and wait on after a review."""
        status, ends = self.played.statuses, self.played.ends
        for ticket, joined in enumerate(self.given.times.tolist()):
            turned_away = status[ticket] == CANCELLED and ends[ticket] == joined
            if joined <= now < ends[ticket] and not turned_away:
                yield ticket


def would_do(world: World) -> Callable[[Teams, float], bool]:
    """Return what says whether a rule takes a match at a moment."""
    rule, given = world.rule, world.given
    if isinstance(rule, BarRule):
        return _by_chances(world, rule)
    if isinstance(rule, FafRule):
        return _by_quality(world, rule)
    if isinstance(rule, ShieldBatteryRule):
        soldiers, backbone = soldiers_of(given), backbone_of(given)

        def takes(teams: Teams, now: float) -> bool:
            roster = tuple(sorted(k for team in teams for k in team))
            found = shieldbattery.candidate(soldiers, roster, now, rule, backbone)
            return found is not None and found.quality >= world.looked[now]["threshold"]

        return takes
    assert isinstance(rule, LichessRule)
    members = members_of(given)

    def pairs(teams: Teams, now: float) -> bool:
        first, second = (
            members[k]._replace(misses=world.missed(k, now)) for team in teams for k in team
        )
        return lichess.score(first, second, rule) is not None

    return pairs


def _by_chances(world: World, rule: BarRule) -> Callable[[Teams, float], bool]:
    parties = parties_of(world.given, "bar")

    def takes(teams: Teams, now: float) -> bool:
        entries = [[bar.entered(k, parties[k], rule) for k in team] for team in teams]
        grown = rule.band_grows * max(world.missed(k, now) for team in teams for k in team)
        chances = bar.win_chances(entries, rule)
        return all(rule.low - grown <= one <= rule.high + grown for one in chances)

    return takes


def _by_quality(world: World, rule: FafRule) -> Callable[[Teams, float], bool]:
    parties = parties_of(world.given, "faf")

    def takes(teams: Teams, now: float) -> bool:
        own = [[parties[k]._replace(attempts=world.missed(k, now)) for k in t] for t in teams]
        if rule.team_size == 1:
            duel = [[faf_duels.matched(one.players[0], rule) for one in team] for team in own]
            least = max(faf_duels.threshold(one, rule) for team in own for one in team)
            return faf_duels.draw_quality(duel, rule.beta) >= least
        first, second = (
            tuple(faf_teams.looked_at(k, one, rule) for k, one in enumerate(team)) for team in own
        )
        return faf_teams.value((first, second), rule) >= rule.at_least

    return takes


def skipped(world: World, match: int) -> bool:
    """Return whether an older ticket of the size of a member would have done in its place."""
    now, teams = float(world.played.times[match]), world.teams(match)
    sizes = world.given.people.sizes
    rest = list(world.left_over(now))
    if isinstance(world.rule, OsuRule):
        return _in_lobby(world, world.rule, match, rest)
    takes = would_do(world)
    for member in (k for team in teams for k in team):
        for other in rest:
            if other < member and sizes[other] == sizes[member]:
                changed = [[other if k == member else k for k in team] for team in teams]
                if takes(changed, now):
                    return True
    return False


def _in_lobby(world: World, rule: OsuRule, match: int, rest: list[int]) -> bool:
    """Return the same of a lobby, whose first member is its pivot."""
    given, now = world.given, float(world.played.times[match])
    ratings, users = given.people.ratings, given.users
    (pivot,), *members = world.teams(match)
    reach = osu.radius(float(ratings[pivot]), now - float(given.times[pivot]), rule)
    met: set[int] = set()
    if rule.recent:
        for number, time in enumerate(world.played.times.tolist()):
            pair = {int(users[k]) for team in world.teams(number) for k in team}
            if 0.0 <= now - time <= rule.recent and users[pivot] in pair:
                met |= pair
    return any(
        other < member and abs(ratings[other] - ratings[pivot]) <= reach and users[other] not in met
        for (member,) in members
        for other in rest
    )


CROWDS: dict[str, tuple[dict[str, Any], float, int]] = {
    **DAYS,
    "osu": ({"preset": "osu", "window": {"start": 100}}, 9000.0, 1),
    "osu_lobby": ({"preset": "osu", "teams": {"lobby": 4}, "window": {"start": 300}}, 9000.0, 1),
}
"""Days, with lobbies in which there is somebody to be skipped."""


def day(name: str, seed: int) -> tuple[World, Told]:
    """Return a day that has been played."""
    document, per_hour, largest = CROWDS[name]
    hours = min(3.0, 1200.0 / per_hour)
    rule, preset = rule_of(document), document["preset"]
    given = asked(preset, per_hour, largest, hours, seed)
    played, told = play_preset(rule, given, TIMEOUT, hours * HOUR)
    said = plain(rule, preset, given, hours * HOUR)
    key = {"faf": "pops", "lichess": "waves", "shieldbattery": "states"}.get(preset)
    looked = {float(one["time"]): one for one in said.trace[key]} if key else {}
    if isinstance(rule, BarRule):
        looked = {rule.tick * k: {} for k in range(1, int(hours * HOUR / rule.tick) + 1)}
    assert (played.statuses[played.tickets] == COMPLETED).all()
    return World(rule, given, played, looked), told


NOBODY_IS_SKIPPED = ("bar_twos",)
"""Days of rules that look in order of joining."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CROWDS)
def test_matches_that_skip_an_older_ticket_are_those_of_the_plain_rule(name: str) -> None:
    world, told = day(name, 1)
    expected = [skipped(world, match) for match in range(world.played.times.size)]
    assert told.skipped.astype(bool).tolist() == expected
    assert not all(expected)
    assert any(expected) != (name in NOBODY_IS_SKIPPED)
