"""A world of tickets in plain Python, worked out once: values, latencies, orders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from valmatch.matching.tickets.columns import Document, Search, Service, Tickets
from valmatch.matching.tickets.playing import Outcome
from valmatch.rule_sets.table import Ordered, Reached, Steps, Table, Value
from valmatch.rule_sets.types import OF_PARTY, Ping, added


class Pool:
    """A world, as plain Python looks at it."""

    def __init__(self, table: Table, tickets: Tickets, service: Service, search: Search) -> None:
        self.table, self.service, self.search = table, service, search
        self.rng_key, self.times = tickets.rng_key, tickets.times.tolist()
        self.tickets = tickets.documents(table)
        self.running = ["backfill" in ticket for ticket in self.tickets]
        defaults = {attribute.name: attribute.default for attribute in table.attributes}
        # of each ticket the players, with a value of every attribute, None for none
        self.players: list[list[Document]] = [
            [
                {**player, "attributes": {**defaults, **player["attributes"]}}
                for player in ticket["players"]
            ]
            for ticket in self.tickets
        ]
        # whether all players of a ticket have all attributes
        self.matchable = [not missing(table, ticket) for ticket in self.tickets]
        self._pings: dict[tuple[int, Reached], dict[str, Ping]] = {}

    def values(self, ticket: int, attribute: int) -> list[Any]:
        """Return the values of a ticket's players."""
        name = self.table.attributes[attribute].name
        return [player["attributes"][name] for player in self.players[ticket]]

    def home(self, player: Document) -> int:
        """Return the team of a player of a game that runs."""
        return [team.name for team in self.table.teams].index(player["team"])

    def pings(self, ticket: int, rule: Reached) -> dict[str, Ping]:
        """Return what a rule looks at, by region that all players of a ticket report."""
        if (ticket, rule) not in self._pings:
            latencies = [player["latency"] for player in self.players[ticket]]
            regions = [
                region for region in latencies[0] if all(region in other for other in latencies)
            ]
            self._pings[ticket, rule] = pings = {}
            for region in regions:
                players = [of_player[region] for of_player in latencies]
                value = OF_PARTY[rule.party](players)
                high, low = (max(players), min(players)) if rule.each else (value, value)
                pings[region] = Ping(high, low, added(players), min(players))
        return self._pings[ticket, rule]

    def in_order(self, anchor: int, others: list[int]) -> list[int]:
        """Return tickets in the order in which an anchor tries them, given by age."""
        for rule in reversed(self.table.sorts):
            others = self._sorted(rule, anchor, others)
        return others

    def _sorted(self, rule: Ordered, anchor: int, others: list[int]) -> list[int]:
        """Return tickets by one sort: those without a value last."""
        values = self.sort_values(rule, anchor)
        if not values:
            return others
        best = min if rule.key != "highest" else max
        least = best(values.values())
        key = min(name for name, value in values.items() if value == least)

        def by(ticket: int) -> tuple[bool, float]:
            value = self.sort_values(rule, ticket).get(key)
            if value is None:
                return True, 0.0
            value = abs(value - values[key]) if rule.from_anchor else value
            return False, -value if rule.descending else value

        return sorted(others, key=by)

    def sort_values(self, rule: Ordered, ticket: int) -> dict[str, float]:
        """Return the values of a ticket that a sort sees, by key; "" is that of a number."""
        values, party = self.values(ticket, rule.attribute), OF_PARTY[rule.party]
        if None in values:
            return {}
        if not rule.key:
            return {"": party(values)}
        keys = sorted({key for numbers in values for key in numbers})
        return {key: party([numbers[key] for numbers in values if key in numbers]) for key in keys}


def missing(table: Table, ticket: Document) -> list[str]:
    """Return the attributes for which a player of a ticket has no value: it cannot be matched."""
    needed = [attribute.name for attribute in table.attributes if attribute.default is None]
    return [
        name
        for name in needed
        if any(name not in player["attributes"] for player in ticket["players"])
    ]


def in_force(steps: Steps, born: float, now: float) -> Value:
    """Return what holds of a step function for who has waited since `born`."""
    passed = 0
    while passed < len(steps.waits) and born + steps.waits[passed] <= now:
        passed += 1
    return steps.values[passed]


# The reviews of a world that has been played: who waits at each of them.


class Review(NamedTuple):
    """A review."""

    number: int  # how many there were before
    time: float
    waiting: tuple[int, ...]  # who waits as it begins, by age
    left: tuple[int, ...]  # who waits as it has ended


def reviews(pool: Pool, outcome: Outcome) -> Iterator[Review]:
    """Yield the reviews at which somebody waits."""
    # A ticket waits from the first review after it joins to that of its proposal, and again from
    # the first one after this has failed; or until it ends.
    times, first = np.array(outcome.reviews), np.searchsorted(outcome.reviews, pool.times).tolist()
    coming, going = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    proposed = defaultdict[int, list[int]](list)

    def waits(ticket: int, until: int) -> None:
        if first[ticket] < until:
            coming[first[ticket]].append(ticket)
            going[until].append(ticket)

    for match in outcome.proposed:
        proposed[match.review] += match.tickets
        for ticket in match.tickets:
            waits(ticket, match.review + 1)
            first[ticket] = max(int(times.searchsorted(match.time)), match.review + 1)
    for ticket in outcome.ended:
        is_left = outcome.statuses[ticket] == "SEARCHING"
        waits(ticket, times.size if is_left else int(times.searchsorted(outcome.times[ticket])))
    line = set[int]()
    for number, now in enumerate(outcome.reviews):
        line = line.difference(going[number]).union(coming[number])
        if line:
            left = tuple(sorted(line.difference(proposed[number])))
            yield Review(number, now, tuple(sorted(line)), left)
