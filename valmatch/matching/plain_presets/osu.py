"""osu!'s queue: users in order of rating draw a lobby from those within their radius."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from valmatch.rule_sets.presets.rules import OsuRule
from valmatch.rule_sets.presets.tickets import Event, Formed, Played, User

Draw = Callable[[int, int, int], float]
"""A number drawn for an update, a pivot and a candidate: those with the smallest are chosen."""


def radius(rating: float, waited: float, rule: OsuRule) -> float:
    """Return how far off the ratings are that a pivot takes."""
    most = rule.most * max(1.0, (rating - rule.top) / rule.most)
    off = (rating - rule.centre) / rule.scale
    by_rating = math.exp(min(off * off, FARTHEST))
    return min(most, rule.start * by_rating * 2.0 ** min(waited / rule.every, FARTHEST))


FARTHEST = 700.0  # powers beyond which a radius has long reached its limit


class Waiting(NamedTuple):
    """A user in the queue."""

    number: int
    since: float  # when it joined
    banned: float  # until when it is not searched for, that moment included


def search(
    queue: Sequence[Waiting],
    users: Sequence[User],
    now: float,
    rule: OsuRule,
    met: Callable[[int, int], bool],
    draw: Draw,
    update: int = 0,
) -> list[list[int]]:
    """Return the lobbies of an update, pivots first."""
    free = [one for one in queue if one.banned < now]
    if len(free) < rule.lobby_size:
        return []
    free.sort(key=lambda one: users[one.number].rating)
    lobbies: list[list[int]] = []
    place = 0
    while place < len(free):
        pivot = free[place]
        own = users[pivot.number].rating
        reach = radius(own, now - pivot.since, rule)
        others = [
            one
            for one in free
            if one is not pivot
            and abs(users[one.number].rating - own) <= reach
            and not met(pivot.number, one.number)
        ]
        # Too few are drawn, too: that takes numbers of draws that have no addresses.
        drawn = [(draw(update, pivot.number, one.number), k) for k, one in enumerate(others)]
        if len(others) < rule.lobby_size - 1:
            place += 1
            continue
        chosen = [others[k] for _, k in sorted(drawn)[: rule.lobby_size - 1]]
        lobbies.append([pivot.number, *(one.number for one in chosen)])
        if rule.skip:
            place += 1
        else:
            place -= sum(free.index(one) < place for one in chosen)
        free = [one for one in free if one is not pivot and one not in chosen]
    return lobbies


class Lobby(NamedTuple):
    """Users who are invited."""

    members: list[int]  # the pivot first
    since: float  # when they were
    accepted: set[int]


class Queue:
    """The queue while events come."""

    def __init__(self, users: Sequence[User], rule: OsuRule, at_once: bool, draw: Draw) -> None:
        self.users, self.rule, self.at_once, self.draw = users, rule, at_once, draw
        self.present: dict[int, Waiting] = {}  # in order of joining, the invited among them
        self.places: dict[int, int] = {}  # in its set, where who joins takes the place left last
        self.left: list[int] = []
        self.lobbies: list[Lobby] = []
        self.banned: dict[int, float] = {}
        self.last: dict[tuple[int, int], float] = {}
        self.now = 0.0
        self.updates = 0
        self.matches: list[Formed] = []
        self.log: list[list[Any]] = []

    def take(self, event: Event) -> None:
        """Let an event happen."""
        self.now = event.time
        if event.kind == "tick":
            self.tick()
        elif event.kind == "join":
            self.join(event.ticket)
        elif event.kind == "accept":
            self.accept(event.ticket)
        elif event.ticket in self.present:
            self.remove([event.ticket])

    def free(self) -> list[Waiting]:
        """Return who waits without an invitation, in order of joining."""
        invited = {number for lobby in self.lobbies for number in lobby.members}
        return [one for number, one in self.present.items() if number not in invited]

    def join(self, number: int) -> None:
        """Let a user join that is not there."""
        if number not in self.present:
            until = max(self.users[number].banned, self.banned.get(number, -math.inf))
            self.places[number] = self.left.pop() if self.left else len(self.present)
            self.present[number] = Waiting(number, self.now, until)

    def accept(self, number: int) -> None:
        """Let an invited user accept; the match starts when all have."""
        lobby = self._lobby(number)
        if lobby is None:
            return
        lobby.accepted.add(number)
        if len(lobby.accepted) == len(lobby.members):
            self.lobbies.remove(lobby)
            self._start(lobby.members)

    def remove(self, leaving: Sequence[int]) -> None:
        """Let users leave, the invited at fault; the others of their lobbies search on."""
        leaving = sorted(leaving, key=self.places.__getitem__)
        ending = [lobby for number in leaving if (lobby := self._lobby(number))]
        for lobby in ending:
            if lobby in self.lobbies:
                self.lobbies.remove(lobby)
                self.log.append(["recycled", self.now, lobby.members])
        for number in leaving:
            self._drop(number)
            self.log.append(["removed", self.now, number])
            if self.rule.ban and any(number in lobby.members for lobby in ending):
                self.banned[number] = self.now + self.rule.ban

    def tick(self) -> None:
        """Search, then let invitations lapse and those leave who have waited too long."""
        found = search(
            self.free(), self.users, self.now, self.rule, self.met, self.draw, self.updates
        )
        self.updates += 1
        for members in found:
            self.log.append(["formed", self.now, members])
            if self.at_once:
                self._start(members)
            else:
                self.lobbies.append(Lobby(members, self.now, set()))
        silent = [
            number
            for lobby in self.lobbies
            if self.now - lobby.since > self.rule.invite
            for number in lobby.members
            if number not in lobby.accepted
        ]
        self.remove(silent)
        if self.rule.timeout:
            late = [k.number for k in self.free() if self.now - k.since > self.rule.timeout]
            self.remove(late)

    def met(self, first: int, second: int) -> bool:
        """Return whether two have met recently."""
        last = self.last.get((min(first, second), max(first, second)))
        return last is not None and self.now - last <= self.rule.recent

    def _lobby(self, number: int) -> Lobby | None:
        return next((lobby for lobby in self.lobbies if number in lobby.members), None)

    def _start(self, members: Sequence[int]) -> None:
        """Let a match start."""
        for number in members:
            self._drop(number)
        self.matches.append(Formed(self.now, tuple((number,) for number in members), {}))
        if self.rule.recent:
            for pair in combinations(sorted(members), 2):
                self.last[pair] = self.now

    def _drop(self, number: int) -> None:
        del self.present[number]
        self.left.append(self.places.pop(number))
        if not self.present:
            self.left.clear()


def play(
    users: Sequence[User], rule: OsuRule, events: Sequence[Event], at_once: bool, draw: Draw
) -> Played:
    """Play a queue with its events."""
    queue = Queue(users, rule, at_once, draw)
    for event in events:
        queue.take(event)
    waiting = sorted(one.number for one in queue.free())
    return Played(queue.matches, waiting, {"log": queue.log})


def congruential(seed: int) -> Draw:
    """Return draws of a linear congruential generator, as cases have them, one after another."""
    state = seed

    def draw(update: int, pivot: int, candidate: int) -> float:
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return float(state >> 8)

    return draw
