"""What theory says of the rules: how many wait, who is excluded, who is in one match alone."""

from __future__ import annotations

import random
from typing import Any

import pytest

from valmatch.matching.plain_presets import bar, lichess, osu
from valmatch.matching.plain_presets.playing import Searches, addressed, play
from valmatch.matching.presets.line_ups import search_line_ups
from valmatch.matching.presets.rosters import search_rosters
from valmatch.matching.presets.scores import choose_pairs
from valmatch.rule_sets.presets.building import bar_rule, lichess_rule, osu_rule
from valmatch.rule_sets.presets.cases import Case
from valmatch.rule_sets.presets.meanings import team_sizes
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.tickets import (
    Event,
    Member,
    Party,
    Played,
    Rated,
    Soldier,
    User,
)

SEARCHES = Searches(search_line_ups, search_rosters, choose_pairs)

NEVER = 1e9


def words(preset: str, **more: Any) -> RuleWords:  # noqa: ANN401
    return RuleWords.model_validate({"preset": preset, **more})


def parties(rng: random.Random, count: int, size: int) -> tuple[Party, ...]:
    return tuple(
        Party(
            float(rng.randint(1, 300)),
            rng.choice([NEVER, float(rng.randint(200, 400))]),
            tuple(
                Rated(rng.gauss(1200, 400), rng.uniform(60, 300), rng.randint(0, 60))
                for _ in range(rng.randint(1, size))
            ),
        )
        for _ in range(count)
    )


def test_after_a_tick_at_most_one_waits_where_bar_takes_everything() -> None:
    rule = bar_rule(words("bar", accept={"band": [0, 1]}))
    rng = random.Random(1)
    for _ in range(50):
        people = parties(rng, rng.randint(0, 20), 1)
        entries = [bar.entered(k, one, rule) for k, one in enumerate(people)]
        started = bar.search(entries, rule)
        assert len(entries) - 2 * len(started) == len(entries) % 2


def test_at_most_one_is_left_of_pairs_without_limits() -> None:
    free = words(
        "lichess", accept={"at_most": [[0, 1e8]]}, never={"blocks": False, "ranges": False}
    )
    rule = lichess_rule(free)
    rng = random.Random(2)
    for _ in range(50):
        members = [
            Member(0, NEVER, str(k), rng.randint(600, 2800)) for k in range(rng.randint(0, 15))
        ]
        assert len(lichess.search(members, rule, choose_pairs)) == len(members) // 2


@pytest.mark.parametrize("lobby", [2, 3, 8])
def test_fewer_than_a_lobby_wait_where_the_radius_is_unlimited(lobby: int) -> None:
    window = {"start": 1e8, "max": 1e8, "skip": False}
    rule = osu_rule(words("osu", teams={"lobby": lobby}, window=window, never={"recent": 0}))
    rng = random.Random(3)
    for count in range(40):
        users = [User(rng.gauss(1500, 300)) for _ in range(count)]
        events = [*(Event("join", 0.0, k) for k in range(count)), Event("tick", 1.0)]
        played = osu.play(users, rule, events, True, addressed(4))
        assert len(played.waiting) == count % lobby


def test_the_next_user_is_passed_over_as_pivot() -> None:
    users = [User(r + off) for r in (1000, 1200, 1400, 1600) for off in (0, 10)]
    joins = [Event("join", 0.0, k) for k in range(8)]
    events = [*joins, Event("tick", 1.0), Event("tick", 2.0)]
    times = {}
    for skip in (True, False):
        rule = osu_rule(words("osu", window={"skip": skip}))
        played = osu.play(users, rule, events, True, addressed(5))
        times[skip] = [one.time for one in played.matches]
    assert times == {True: [1, 1, 1, 2], False: [1, 1, 1, 1]}


def test_bar_counts_a_party_as_one_player() -> None:
    strong, solo = Rated(40, 4), Rated(20, 4)
    people = (Party(1, NEVER, (strong, strong)), *(Party(1, NEVER, (solo,)) for _ in range(2)))
    for party, matches in (("once", 1), ("each", 0)):
        rule = words("bar", teams="2x2", strength={"party": party})
        case = Case(rule, ("a", "b", "c"), parties=people, ticks=(5.0,), horizon=5.0)
        assert len(play(case, SEARCHES).matches) == matches


def test_bar_looks_at_the_newest_first() -> None:
    people = tuple(Party(float(k), NEVER, (Rated(25, 4),)) for k in range(1, 4))
    for order, teams in (("newest", ((2,), (1,))), ("join", ((0,), (1,)))):
        case = Case(words("bar", order=order), (1, 2, 3), parties=people, ticks=(5.0,), horizon=5.0)
        assert play(case, SEARCHES).matches[0].teams == teams


def cases(rng: random.Random) -> list[Case]:
    """Return a random case of each preset."""
    size = rng.randint(1, 4)
    count = rng.randint(0, 24)
    names = tuple(range(count))
    clock = tuple(6.0 * k for k in range(1, 70))
    people = parties(rng, count, size)
    soldiers = tuple(
        Soldier(one.time, one.cancel, rng.gauss(1500, 200), rng.uniform(0, 300), maps=picks)
        for one in people
        for picks in [None if rng.random() < 0.5 else frozenset(rng.sample("abc", 1))]
    )
    members = tuple(
        Member(
            one.time,
            one.cancel,
            str(k),
            int(rng.gauss(1500, 200)),
            sit=-rng.randint(0, 14),
            lame=rng.random() < 0.1,
            blocks=frozenset([str(rng.randint(0, 24))]),
        )
        for k, one in enumerate(people)
    )
    users = tuple(User(rng.gauss(1500, 200)) for _ in range(count))
    joins = [Event("join", rng.uniform(0, 300), k) for k in range(count)]
    events = sorted([*joins, *(Event("tick", t) for t in clock)], key=lambda one: one.time)
    teams = f"2x{size}"
    return [
        Case(words("faf", teams=teams), names, parties=people, horizon=420.0),
        Case(words("bar", teams=teams), names, parties=people, horizon=420.0, ticks=clock),
        Case(
            words("shieldbattery", teams=f"2x{min(size, 2)}"),
            names,
            soldiers=soldiers,
            horizon=420.0,
            ticks=clock,
        ),
        Case(words("osu", teams={"lobby": size + 1}), names, users=users, events=tuple(events)),
        Case(words("lichess"), names, members=members, horizon=420.0),
    ]


def check(case: Case, played: Played) -> int:
    """Check that nobody is in two matches, teams are full, and exclusions hold."""
    numbers = [k for match in played.matches for team in match.teams for k in team]
    assert len(numbers) == len(set(numbers))
    assert not set(numbers) & set(played.waiting)
    for match in played.matches:
        members = [k for team in match.teams for k in team]
        if case.parties:
            assert isinstance(case.rule.teams, str)
            _, size = team_sizes(case.rule.teams)
            for team in match.teams:
                assert sum(len(case.parties[k].players) for k in team) == size
        for k in members:
            if case.parties:
                assert case.parties[k].time <= match.time <= case.parties[k].cancel
            if case.members:
                assert case.members[k].time <= match.time <= case.members[k].cancel
        picks = [case.soldiers[k].maps for k in members] if case.soldiers else []
        named = [one for one in picks if one is not None]
        assert not picks or len(named) < len(picks) or frozenset.intersection(*named)
        for one in members if case.members else ():
            for other in members:
                lame = case.members[one].lame
                assert lame == case.members[other].lame
                blocked = one != other and case.members[other].user in case.members[one].blocks
                assert lame or not blocked
    return len(played.matches)


def test_nobody_is_in_two_matches_and_exclusions_hold() -> None:
    rng = random.Random(6)
    found: dict[str, int] = {}
    for _ in range(15):
        for case in cases(rng):
            preset = case.rule.preset
            found[preset] = found.get(preset, 0) + check(case, play(case, SEARCHES))
    assert min(found.values()) > 10
