"""The ladder in plain Python where friends queue together, by a rule set of FlexMatch.

Friends come along if all who have joined and are not gone are away; a party does what its leader
draws, but for churn. Reviews are at queueings and passed waits, or at ticks.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from scipy.special import ndtri

from tests.oracles.ladder import GIVE_UP, QUEUE, TICK, Factors, Ladder, Matcher, Player, Ticket
from tests.oracles.ladder_world import BREAK, CONTINUE, PATIENCE, SKILL, World
from tests.oracles.queue_rules import Sides
from valmatch.matching.plain_tickets import Pool, Search
from valmatch.matching.tickets.columns import Document, Service, tickets_of
from valmatch.rule_sets.table import Steps, Table

FRIENDS, BOND = 11, 12

WAIT = -1
"""Stands for a tick at which a ticket passes a wait."""


def in_hours(value: Any) -> Any:  # noqa: ANN401 - a table, or a part of one
    """Return a table with its waits in hours instead of seconds."""
    if isinstance(value, Steps):
        return Steps(tuple(wait / 3600.0 for wait in value.waits), value.values)
    if isinstance(value, tuple):
        parts = [in_hours(part) for part in value]
        found = value._make(parts) if hasattr(value, "_make") else tuple(parts)
        if isinstance(found, Table):
            found = found._replace(waits=tuple(wait / 3600.0 for wait in found.waits))
        return found
    return value


def groups_of(shares: Sequence[float], world: World) -> list[list[int]]:
    """Return the groups of friends, in order."""
    n, old = len(world.skills), len(world.skills) - len(world.joining)
    sums, found, first = list(accumulate(shares)), list[list[int]](), 0
    while first < n:
        size = 1 + bisect_right(sums, world.numbers.uniform(FRIENDS, first, 0))
        end = min(first + size, old if first < old else n)
        found.append(list(range(first, end)))
        first = end
    return found


def bonded(factors: Factors, world: World, groups: list[list[int]]) -> None:
    """Give the players of a world skills that are like those of their friends."""
    population, share = factors["population"], factors["parties"]["skill_correlation"]
    old = len(world.skills) - len(world.joining)
    for group in (group for group in groups if len(group) > 1):
        common = ndtri(world.numbers.uniform(BOND, group[0], 0))
        for player in group:
            if player >= old and world.skills[player] == population["smurf_skill"]:
                continue
            mean = population["newcomer_skill_mean" if player >= old else "skill_mean"]
            own = ndtri(world.numbers.uniform(SKILL, player, 0))
            normal = share**0.5 * common + (1.0 - share) ** 0.5 * own
            world.skills[player] = float(mean + population["skill_std"] * normal)


class Flexmatch:
    """Parties that wait, and the plain search for matches among them."""

    def __init__(self, table: Table, attribute: str) -> None:
        self.table, self.attribute = in_hours(table), attribute
        self.parties: list[tuple[float, list[tuple[int, float]]]] = []

    def join(self, ticket: int, time: float, rating: float) -> None:
        self.come(time, [(ticket, rating)])

    def come(self, time: float, players: list[tuple[int, float]]) -> None:
        self.parties.append((time, players))

    def leave(self, ticket: int) -> list[int]:
        self.parties = [one for one in self.parties if one[1][0][0] != ticket]
        return []

    def passes_at(self, time: float) -> list[float]:
        """Return when a ticket of some time passes the waits."""
        return [time + wait for wait in self.table.waits]

    def review(self, now: float, changed: Sequence[int]) -> list[Sides]:
        tickets: list[Document] = [
            {
                "id": str(number),
                "time": time,
                "players": [
                    {"id": str(k), "attributes": {self.attribute: rating}} for k, rating in players
                ],
            }
            for number, (time, players) in enumerate(self.parties)
        ]
        service = Service(math.inf, math.inf)
        waiting_ones = tickets_of(tickets, self.table, np.zeros(3, np.uint64))
        search = Search(Pool(self.table, waiting_ones, service, "pass"))
        waiting, found = list(range(len(tickets))), list[Sides]()
        while True:
            made = list(search.one_pass(waiting, now, 0))
            if not made:
                break
            for match in made:
                first, second = (tuple(int(one["id"]) for one in team) for team in match.teams)
                found.append((first, second))
                waiting = [one for one in waiting if one not in match.tickets]
        self.parties = [self.parties[k] for k in waiting]
        return found


class PartyLadder(Ladder):
    """One replication."""

    def __init__(self, factors: Factors, world: World, table: Table) -> None:
        found = groups_of(factors["parties"]["shares"], world)
        if factors["parties"]["skill_correlation"]:
            bonded(factors, world, found)
        self.table = table
        super().__init__(factors, world)
        self.groups = {group[0]: group for group in found}  # by first player
        self.sizes = {player: len(group) for group in found for player in group}
        self.party: dict[int, list[Player]] = {}  # by leader, who queues together now
        self.led: set[int] = set()  # who is in the party of another one
        self.together: dict[int, int] = {}
        every = factors["rule"]["review_seconds"]
        if every:
            self.expect(every / 3600.0, TICK, 1)

    def new_matcher(self) -> Matcher:
        self.flexmatch = Flexmatch(self.table, self.factors["rule"]["skill_attribute"])
        return self.flexmatch

    def start_session(self, now: float, player: Player) -> None:
        if player.state == "away":
            self.party[player.number] = self.come_along(now, player)
        super().start_session(now, player)

    def come_along(self, now: float, leader: Player) -> list[Player]:
        """Return who plays together in a session of a player."""
        group = [self.players[k] for k in self.groups.get(leader.number, [leader.number])]
        old = len(self.players) - len(self.world.joining)
        there = [
            one
            for one in group
            if one is leader
            or (
                one.state != "gone"
                and (one.number < old or self.world.joining[one.number - old] <= now)
            )
        ]
        return there if all(one.state == "away" for one in there) else [leader]

    def queue(self, now: float, player: Player) -> None:
        rule, patience = self.factors["rule"], self.factors["sessions"]["patience_minutes"]
        party = self.party[player.number]
        self.led |= {one.number for one in party if one is not player}
        tickets = []
        first = len(self.tickets)
        if patience is not None:
            wait = patience / 60.0 * self.exponential(PATIENCE, player, player.tickets)
            self.expect(now + wait, GIVE_UP, player.number, first)
        for one in party:
            ticket = Ticket(len(self.tickets), one, now, self.seen(one))
            self.tickets.append(ticket)
            tickets.append(ticket)
            self.together[ticket.number] = len(party)
            self.history.append((now, "queue", one.number, ticket.number, ticket.rating))
            one.state = "queued"
            one.tickets += 1
        self.flexmatch.come(now, [(one.number, one.rating) for one in tickets])
        if rule["review_seconds"]:
            return
        for moment in self.flexmatch.passes_at(now):
            self.expect(moment, TICK, WAIT, first)
        self.review(now, [first])

    def happen(self, now: float, kind: int, number: int, ticket: int, session: bool) -> None:
        if kind != TICK:
            super().happen(now, kind, number, ticket, session)
        elif number == WAIT:
            if self.tickets[ticket].ended is None:
                self.review(now, [])
        else:
            self.review(now, [])
            every = self.factors["rule"]["review_seconds"]
            self.expect((number + 1) * every / 3600.0, TICK, number + 1)

    def give_up(self, now: float, ticket: Ticket) -> None:
        if ticket.ended is not None:
            return
        party = self.party[ticket.player.number]
        self.matcher.leave(ticket.number)
        for k, one in enumerate(party):
            self.tickets[ticket.number + k].ended = now
            self.history.append((now, "give up", one.number, ticket.number + k, ()))
        self.end_party(now, ticket.player)

    def end_party(self, now: float, leader: Player) -> None:
        for one in self.party[leader.number]:
            self.led.discard(one.number)
            self.end_session(now, one)

    def end_match(self, now: float, match: Any) -> None:  # noqa: ANN401
        self.leaders = {one.number for one in match.players() if one.number not in self.led}
        super().end_match(now, match)

    def go_on(self, now: float, player: Player, won: bool) -> None:
        if player.number not in self.leaders:
            return
        sessions = self.factors["sessions"]
        effect = sessions["win_effect" if won else "loss_effect"]
        chance = min(1.0, max(0.0, sessions["continue_prob"] + effect))
        game = player.matches - 1
        if self.uniform(CONTINUE, player, game) < chance:
            for one in self.party[player.number]:
                one.state = "break"
            pause = sessions["break_minutes"] / 60.0 * self.exponential(BREAK, player, game)
            self.expect(now + pause, QUEUE, player.number)
        else:
            self.end_party(now, player)
