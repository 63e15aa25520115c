"""Worlds of tickets: known answers, the published behaviour, and the plain twin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.plain_matchmaker import played_by_both as both
from tests.support.ticket_worlds import (
    SKILL,
    ages,
    in_tenths,
    party,
    plain_world,
    random_world,
    reading_of,
    solo,
    team,
    world,
)
from valmatch.matching.tickets.arrays import arrays_of, queue_of
from valmatch.matching.tickets.columns import SEARCHES, Search
from valmatch.matching.tickets.playing import play_kernel

FOLDER = Path(__file__).parents[1] / "fixtures" / "ticket_worlds"

KNOWN = [
    (path.name, search)
    for path in sorted(FOLDER.glob("*.json"))
    for search in json.loads(path.read_text(encoding="utf-8"))["answers"]
]


def made(answers: dict[str, Any]) -> list[tuple[float, list[str]]]:
    """Return when which tickets were matched."""
    return [(match["time"], match["tickets"]) for match in answers["matches"]]


@pytest.mark.parametrize(("name", "search"), KNOWN)
def test_known_worlds(name: str, search: Search) -> None:
    given = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    answers = both(given, search)
    assert answers == given["answers"][search]
    assert list(answers["tickets"]) == list(given["answers"][search]["tickets"])


@pytest.mark.parametrize("seed", range(16))
def test_random_worlds_are_played_as_the_twin_plays_them(seed: int) -> None:
    given = random_world(seed, 7)
    both(given, "pass")
    if seed % 4 == 0:
        both(given, "exhaustive")


@pytest.mark.parametrize("seed", range(8))
def test_anchors_go_on_from_what_they_have_kept(seed: int) -> None:
    both(plain_world(seed, 20), "pass")


@pytest.mark.parametrize("seed", range(10))
def test_worlds_in_which_rounding_decides(seed: int) -> None:
    both(in_tenths(plain_world(seed, 14)), "pass")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1060))
def test_more_random_worlds(seed: int) -> None:
    both(random_world(seed, 8 if seed % 3 else 25), "pass")
    if seed % 3 == 0:
        both(plain_world(seed, 40), "pass")
        both(in_tenths(plain_world(seed, 25)), "pass")


# The thread QU7fQeFL9QSdaJhr9eWiwquA of re:Post, answered by the service's staff.

SLOW = ((30, 3), (40, 2), (45, 1))
QUICK = ((5, 3), (15, 2), (45, 1))


@pytest.mark.parametrize("search", ["pass", "exhaustive"])
@pytest.mark.parametrize(
    ("age", "steps", "matches"),
    [
        ("newest", SLOW, [(45, ["t1"]), (55, ["t2"])]),
        ("oldest", SLOW, [(40, ["t1", "t2"])]),
        ("newest", QUICK, [(25, ["t1", "t2"])]),
    ],
)
def test_ages(
    age: str, steps: tuple[tuple[float, int], ...], matches: object, search: Search
) -> None:
    assert made(both(ages(age, *steps), search)) == matches


@pytest.mark.parametrize("search", SEARCHES)
def test_matches_are_built_around_who_is_about_to_leave(search: Search) -> None:
    tickets = [solo(0, 0.5), solo(1, 1.5), {**solo(2, 2.5), "cancel": 5.5}]
    given = world([team("a", 2, 2)], tickets, timeout=10)
    given["config"] |= {"review": 1, "foresightSeconds": 2}
    assert made(both(given, search)) == [(4, ["t0", "t2"])]
    for seed in range(20):
        given = random_world(seed, 8)
        given["config"] |= {"review": 1, "foresightSeconds": 2.5}
        both(given, search)


# Proposals that are refused.


def refusing(tickets: int) -> dict[str, Any]:
    """Return a world in which three tickets accept time and again, and each fourth one refuses."""
    patient = [solo(k) for k in range(3)]
    others = [{**solo(k, k), "answers": [[0.25, False]]} for k in range(3, tickets)]
    given = world([team("a", 4, 4)], [*patient, *others], timeout=1000)
    given["config"] |= {"acceptanceTimeoutSeconds": 1, "horizon": 1000}
    return given


@pytest.mark.parametrize("seed", range(-1, 12))
def test_there_is_room_for_proposals_that_are_refused_time_and_again(seed: int) -> None:
    given = refusing(60) if seed < 0 else random_world(seed, 12)
    given["config"]["acceptanceTimeoutSeconds"] = 3
    for ticket in given["tickets"] if seed > 0 else ():
        ticket["answers"] = [[seed % 3, k % 4 != seed % 4] for k in range(9)]
    read = reading_of(given)
    arrays = arrays_of(*read[:3], "pass", True)
    queue, tickets = queue_of(arrays), read.tickets.sizes.size
    roomy = queue._replace(
        matched=np.zeros((2, 100_000), np.int64), matches=np.zeros(1000, queue.matches.dtype)
    )
    play_kernel(np.inf, arrays, roomy)
    assert roomy.state[0]["listed"] <= queue.matched.shape[1]
    assert roomy.state[0]["matches"] <= queue.matches.size == tickets
    if seed < 0:
        assert roomy.state[0]["listed"] == 4 * 57


# "Set match team structure for large matches": fill sequences.


def sequence(answers: dict[str, Any], count: int) -> list[str]:
    """Return the team that each player was put on, in order; player k is of ticket k."""
    (match,) = answers["matches"]
    home = {player: name for name, players in match["teams"].items() for player in players}
    return [home[f"p{k}"] for k in range(1, count + 1)]


def test_three_teams_are_filled_in_the_published_order() -> None:
    teams = [team("Red", 5, 10), team("Blue", 5, 10), team("Green", 2, 3)]
    filled = sequence(both(world(teams, [solo(k) for k in range(1, 24)])), 23)
    assert filled[:10] == ["Red", "Blue"] * 5
    assert filled[10:12] == ["Green"] * 2
    assert filled[12:20] == ["Red", "Blue"] * 4
    assert filled[20:] == ["Red", "Blue", "Green"]


def test_hunters_and_monsters_are_filled_in_the_published_order() -> None:
    """As the published example 8 says: 100 hunters, 22, 3 monsters, 30 hunters."""
    teams = [team("Monsters", 5, 5), team("Hunters", 12, 15, quantity=10)]
    given = world(
        teams,
        [solo(k, skill=5) for k in range(1, 156)],
        playerAttributes=SKILL,
        algorithm={"strategy": "balanced", "balancedAttribute": "skill"},
    )
    filled = sequence(both(given), 155)
    hunters = [f"Hunters_{k}" for k in range(1, 11)]
    assert filled[:100] == hunters * 10
    assert filled[100:122] == ["Monsters", *hunters] * 2
    assert filled[122:125] == ["Monsters"] * 3
    assert filled[125:] == hunters * 3


def test_a_full_match_ends_the_search_and_a_small_one_needs_a_full_pass() -> None:
    """Staff in thread 4898 of the former forums: 60 waiting, 6 to 25 players."""
    given = world([team("all", 6, 25)], [solo(k) for k in range(1, 61)])
    assert [len(tickets) for _, tickets in made(both(given))] == [25, 25, 10]


@pytest.mark.parametrize("search", ["pass", "exhaustive"])
def test_single_tickets_are_matches_and_parties_stay_together(search: Search) -> None:
    """Threads 5243 (staff) and 11501 of the former forums."""
    alone = both(world([team("all", 1, 1)], [solo(1), solo(2)]), search)
    assert made(alone) == [(0, ["t1"]), (0, ["t2"])]
    pair = party(3, [{}, {}])
    parties = both(world([team("a", 2, 2), team("b", 2, 2)], [solo(1), pair, solo(2)]), search)
    (match,) = parties["matches"]
    assert sorted(match["teams"].values()) == [["p1", "p2"], ["p3a", "p3b"]]
    split = both(world([team("a", 1, 1), team("b", 1, 1)], [pair]), search)
    assert split["matches"] == []


def test_parties_that_no_team_holds_and_those_that_fill_one() -> None:
    """Thread QUXtJpp2VTShChZ-azkiTedw of re:Post; 2 + 1 + 1 is a declared difference."""
    sevens = [team("a", 7, 7), team("b", 7, 7)]
    fourteen = both(world(sevens, [party(1, [{}] * 14)]))
    assert fourteen["tickets"]["t1"] == {"status": "TIMED_OUT", "time": 100.0}
    twos = [team("a", 2, 2), team("b", 2, 2)]
    pairs = [party(k, [{}, {}]) for k in (1, 2)]
    assert made(both(world(twos, pairs))) == [(0, ["t1", "t2"])]
    mixed = [party(1, [{}, {}]), solo(2), solo(3)]
    assert made(both(world(twos, mixed))) == [(0, ["t1", "t2", "t3"])]


# The published examples, small cases by hand.


def example(number: int) -> dict[str, Any]:
    """Return a published example."""
    name = f"example-{number:02d}.json"
    text = (FOLDER.parent / "rule_sets" / name).read_text(encoding="utf-8")
    lines = [line.partition(" //")[0] for line in text.splitlines()]
    document: dict[str, Any] = json.loads("\n".join(lines))
    return document


def play_example(number: int, tickets: list[dict[str, Any]]) -> dict[str, Any]:
    config = {"requestTimeoutSeconds": 90, "horizon": 200}
    return both({"ruleSet": example(number), "config": config, "tickets": tickets})


def test_example_2_a_monster_that_is_strong_enough() -> None:
    players = [solo(k, desiredSkillOfMonster=20) for k in range(5)]
    weak, strong = (
        solo(number, wantsToBeMonster=1, skill=skill) for number, skill in ((8, 19), (9, 20))
    )
    found = play_example(2, [*players, weak, strong])
    (match,) = found["matches"]
    assert match["teams"] == {"players": [f"p{k}" for k in range(5)], "monster": ["p9"]}
    fewer = play_example(2, [*players[:4], strong])
    assert made(fewer) == [(30, ["t0", "t1", "t2", "t3", "t9"])]
    fewest = play_example(2, [*players[:3], strong])
    assert made(fewest) == [(60, ["t0", "t1", "t2", "t9"])]


def test_example_3_medics_and_latency() -> None:
    def one(number: int, medic: bool, ping: int) -> dict[str, Any]:
        ticket = solo(number, character=["medic"] if medic else ["scout"])
        ticket["players"][0]["latency"] = {"eu": ping}
        return ticket

    assert len(play_example(3, [one(k, k < 5, 50) for k in range(9)])["matches"]) == 1
    assert play_example(3, [one(k, k < 6, 50) for k in range(9)])["matches"] == []
    for ping, seconds in ((50, 0), (100, 10), (150, 20)):
        late = play_example(3, [one(k, False, ping if k else 10) for k in range(9)])
        assert [time for time, _ in made(late)] == [seconds]
    assert made(play_example(3, [one(k, False, 151) for k in range(9)])) == []


def test_example_4_sorts_and_intersections() -> None:
    def one(number: int, experience: int, likes: dict[str, int], maps: list[str]) -> dict[str, Any]:
        more: dict[str, Any] = {
            "mapPreference": likes,
            "acceptableMaps": maps,
            "gameMode": ["duel"],
        }
        return solo(number, experience=experience, **more)

    anchor = one(0, 50, {"x": 9, "y": 1}, ["x", "y"])
    others = [one(k, 50, {"x": k}, ["x"]) for k in range(1, 8)]
    others[6]["players"][0]["attributes"]["acceptableMaps"] = ["z"]
    (match,) = play_example(4, [anchor, *others])["matches"]
    assert match["tickets"] == ["t0", "t2", "t3", "t4", "t5", "t6"]


def test_example_5_every_opponent_is_preferred() -> None:
    def one(number: int, mine: str, preferred: str) -> dict[str, Any]:
        return solo(number, myCharacter=[mine], preferredOpponents=list(preferred))

    fine = [one(k, "abcab"[k], "abcd") for k in range(5)]
    assert len(play_example(5, fine)["matches"]) == 1
    spoiled = [*fine[:4], one(4, "e", "abcd")]
    assert made(play_example(5, spoiled)) == [(15, ["t0", "t1", "t2", "t3", "t4"])]


def test_example_10_near_or_of_one_mind() -> None:
    def one(number: int, mode: str, skill: float) -> dict[str, Any]:
        return solo(number, league=1, skill=skill, map="x", mode=mode)

    alike = [one(k, "duel", 100 * k) for k in range(20)]
    near = [one(k, "duel" if k % 2 else "team", k % 10) for k in range(20)]
    mixed = [one(k, "duel" if k % 2 else "team", 100 * k) for k in range(20)]
    assert len(play_example(10, alike)["matches"]) == 1
    assert len(play_example(10, near)["matches"]) == 1
    assert play_example(10, mixed)["matches"] == []
    for spread, seconds in ((10, 0), (20, 10), (40, 20)):
        wide = [one(k, "duel" if k % 2 else "team", spread * (k % 3) / 2) for k in range(20)]
        assert [time for time, _ in made(play_example(10, wide))] == [seconds]
