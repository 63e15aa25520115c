"""A world of tickets in plain Python, worked out once: values, latencies, orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from valmatch.matching.tickets.building import OF_PARTY, added, missing, ping_of
from valmatch.rule_sets.table import Aggregate, Ordered, Predicate, Reached, Steps, Table, Value
from valmatch.rule_sets.worlds import Search, Service, Ticket

OPEN = {"count", "sum"}  # functions that say nothing of a match that is not complete


class Known(NamedTuple):
    """A player: its id, its values by attribute, and its team if its game runs already."""

    id: str
    values: tuple[Any, ...]
    home: int | None


class Ping(NamedTuple):
    """Milliseconds of a ticket in a region: the highest and the lowest that a rule looks at.

    They are the same where one number stands for the ticket. `total` and `least` are of its
    players, for references.
    """

    high: float
    low: float
    total: float
    least: float


class Pool:
    """A world, as plain Python looks at it."""

    def __init__(
        self, table: Table, tickets: Sequence[Ticket], service: Service, search: Search
    ) -> None:
        self.table, self.tickets, self.service, self.search = table, tickets, service, search
        names = [team.name for team in table.teams]
        # of each ticket
        self.players = [
            [
                Known(
                    player.id,
                    tuple(
                        player.attributes.get(attribute.name, attribute.default)
                        for attribute in table.attributes
                    ),
                    names.index(player.team) if ticket.running else None,
                )
                for player in ticket.players
            ]
            for ticket in tickets
        ]
        # whether all players of a ticket have all attributes
        self.matchable = [not missing(table, ticket) for ticket in tickets]
        # whether nothing can be said of a rule before a match is complete
        self.is_open = [is_open(rule.predicate) for rule in table.rules]
        self.times = [ticket.time for ticket in tickets]
        self.sorts = [rule.predicate for rule in table.rules if isinstance(rule.predicate, Ordered)]
        if table.search.balance is not None:
            self.sorts.append(Ordered(table.search.balance, True, False, "", "avg"))
        self._pings: dict[tuple[int, Reached], dict[str, Ping]] = {}

    def values(self, ticket: int, attribute: int) -> list[Any]:
        """Return the values of a ticket's players."""
        return [player.values[attribute] for player in self.players[ticket]]

    def pings(self, ticket: int, rule: Reached) -> dict[str, Ping]:
        """Return what a rule looks at, by region that all players of a ticket report."""
        found = self._pings.get((ticket, rule))
        if found is None:
            players = self.tickets[ticket].players
            found = {
                region: _ping([one.latency[region] for one in players], rule)
                for region in players[0].latency
                if all(region in one.latency for one in players)
            }
            self._pings[ticket, rule] = found
        return found

    def in_order(self, anchor: int, others: list[int]) -> list[int]:
        """Return tickets in the order in which an anchor tries them, given by age."""
        for rule in reversed(self.sorts):
            others = self._sorted(rule, anchor, others)
        return others

    def _sorted(self, rule: Ordered, anchor: int, others: list[int]) -> list[int]:
        """Return tickets by one sort: those without a value last."""
        own = self.sort_values(rule, anchor)
        if not own:
            return others
        best = min if rule.key != "highest" else max
        least = best(own.values())
        key = min(name for name, value in own.items() if value == least)

        def by(ticket: int) -> tuple[bool, float]:
            value = self.sort_values(rule, ticket).get(key)
            if value is None:
                return True, 0.0
            value = abs(value - own[key]) if rule.from_anchor else value
            return False, -value if rule.descending else value

        return sorted(others, key=by)

    def sort_values(self, rule: Ordered, ticket: int) -> dict[str, float]:
        """Return the values of a ticket that a sort sees, by key; "" is that of a number."""
        values, party = self.values(ticket, rule.attribute), OF_PARTY[rule.party]
        if None in values:
            return {}
        if not rule.key:
            return {"": party(values)}
        keys = sorted({key for one in values for key in one})
        return {key: party([one[key] for one in values if key in one]) for key in keys}


def _ping(own: list[float], rule: Reached) -> Ping:
    """Return what a rule looks at of the latencies of a ticket's players."""
    return Ping(*ping_of(own, rule), added(own), min(own))


def in_force(steps: Steps, born: float, now: float) -> Value:
    """Return what holds of a step function for who has waited since `born`."""
    place = 0
    while place < len(steps.waits) and born + steps.waits[place] <= now:
        place += 1
    return steps.values[place]


def is_open(predicate: Predicate) -> bool:
    """Return whether nothing can be said of a rule before a match is complete."""
    every: list[Any] = [*getattr(predicate, "measures", ())]
    reference = getattr(predicate, "reference", None)
    if isinstance(reference, Steps):
        every += reference.values
    return any(isinstance(one, Aggregate) and OPEN & set(one.functions) for one in every)
