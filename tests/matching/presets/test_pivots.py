"""Lobbies of osu!: the compiled search is the plain one, draw for draw."""

from __future__ import annotations

import random

import numpy as np
import pytest

from valmatch.draws.streams import Streams
from valmatch.matching.plain_presets.osu import Waiting, search
from valmatch.matching.plain_presets.playing import addressed
from valmatch.matching.presets.pivots import Room, Users, form_lobbies, terms_of
from valmatch.rule_sets.presets.building import osu_rule
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.rules import OsuRule
from valmatch.rule_sets.presets.tickets import User

RULE = osu_rule(RuleWords.model_validate({"preset": "osu"}))

NOW, SEED = 500.0, 8


def compiled(
    queue: list[Waiting], users: list[User], rule: OsuRule, met: set[frozenset[int]], update: int
) -> list[list[int]]:
    """Return the lobbies that the kernel forms."""
    free = [one for one in queue if one.banned < NOW]
    free.sort(key=lambda one: users[one.number].rating)
    numbers = [one.number for one in free]
    recent = [[int(frozenset((a, b)) in met) for b in numbers] for a in numbers]
    count = len(free)
    people = Users(
        np.array(numbers, np.int64),
        np.array([users[k].rating for k in numbers], np.float64),
        np.array([NOW - one.since for one in free], np.float64),
        np.array(recent, np.int64).reshape(count, count),
    )
    room = Room(
        np.zeros(count, np.int64),
        np.zeros(count),
        np.zeros((count, rule.lobby_size), np.int64),
    )
    found = form_lobbies(people, terms_of(rule), room, Streams(SEED).place(0), update)
    return [[numbers[k] for k in row] for row in room.lobby[:found].tolist()]


def same(worlds: int, seed: int) -> int:
    """Compare both searches in random worlds; return how many lobbies there were."""
    rng = random.Random(seed)
    draw = addressed(SEED)
    lobbies = 0
    for update in range(worlds):
        count = rng.randint(0, 30)
        users = [User(1500 + 8 * rng.gauss(0, 40)) for _ in range(count)]
        queue = [
            Waiting(k, rng.uniform(0, NOW), rng.choice([0.0, 0.0, 900.0])) for k in range(count)
        ]
        rng.shuffle(queue)
        met = {frozenset((rng.randrange(count), rng.randrange(count))) for _ in range(count)}
        rule = RULE._replace(
            lobby_size=rng.choice([2, 3, 8]),
            start=rng.choice([20.0, 150.0]),
            every=rng.choice([30.0, 300.0]),
            skip=rng.random() < 0.6,
        )

        def recent(one: int, other: int, met: set[frozenset[int]] = met) -> bool:
            return frozenset((one, other)) in met

        expected = search(queue, users, NOW, rule, recent, draw, update)
        assert compiled(queue, users, rule, met, update) == expected
        lobbies += len(expected)
    return lobbies


def test_the_compiled_search_is_the_plain_one() -> None:
    assert same(60, 1) > 60


@pytest.mark.slow
def test_the_compiled_search_is_the_plain_one_in_1000_worlds() -> None:
    assert same(1000, 2) > 1000
