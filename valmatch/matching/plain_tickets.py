"""The matchmaker of tickets in plain Python, one ticket and one rule at a time: it says why."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.streams import uniform_at
from valmatch.matching.tickets.columns import Document, Service, Tickets
from valmatch.matching.tickets.columns import Search as SearchName
from valmatch.matching.tickets.playing import Outcome
from valmatch.matching.tickets.search import BATCHES, PASSES
from valmatch.rule_sets.table import (
    OF_PARTY,
    Aggregate,
    Finding,
    Ordered,
    Ping,
    Steps,
    Table,
    added,
    common,
    defined,
)
from valmatch.rule_sets.types import Reached


class Pool:
    """A world, as plain Python looks at it."""

    def __init__(
        self, table: Table, tickets: Tickets, service: Service, search: SearchName
    ) -> None:
        self.table, self.service, self.search = table, service, search
        self.rng_key, self.times = tickets.rng_key, tickets.times.tolist()
        self.tickets = tickets.documents(table)
        self.running = ["backfill" in ticket for ticket in self.tickets]
        self.leaves = np.minimum(tickets.cancels, tickets.times + service.timeout).tolist()
        defaults = {attribute.name: attribute.default for attribute in table.attributes}

        def with_defaults(player: Document) -> Document:
            return {**player, "attributes": {**defaults, **player["attributes"]}}

        # of each ticket the players, with a value of every attribute, None for none
        self.players = [list(map(with_defaults, ticket["players"])) for ticket in self.tickets]
        # whether all players of a ticket have all attributes
        self.matchable = [not missing(table, ticket) for ticket in self.tickets]
        self._pings: dict[tuple[int, Reached], dict[str, Ping]] = {}

    def nobody(self) -> "PartialMatch":
        """Return a match without tickets."""
        born = math.inf if self.table.oldest else -math.inf
        return PartialMatch(self, ((),) * len(self.table.teams), born)

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
            self._pings[ticket, rule] = pings = {}
            for region in latencies[0]:
                players = [of_player[region] for of_player in latencies if region in of_player]
                if len(players) < len(latencies):
                    continue
                value = OF_PARTY[rule.party](players)
                high, low = (max(players), min(players)) if rule.each else (value, value)
                pings[region] = Ping(high, low, added(players), min(players))
        return self._pings[ticket, rule]

    def ordered(self, rule: Ordered, anchor: int, others: list[int]) -> list[int]:
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
    players = [player["attributes"] for player in ticket["players"]]
    return [name for name in needed if any(name not in values for values in players)]


def in_force(steps: Steps, born: float, now: float) -> Any:  # noqa: ANN401
    """Return what holds of a step function for who has waited since `born`."""
    return steps.values[sum(born + wait <= now for wait in steps.waits)]


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


# Aggregates of a match as nested lists: None is undefined.

Nested = Any  # a value, or nested lists of values


def evaluate(aggregate: Aggregate, match: "PartialMatch") -> Nested:
    """Return an aggregate of the players of a match; None if it is undefined."""
    depth = aggregate.depth + len(aggregate.functions)
    source, attributes = aggregate.source, match.pool.table.attributes

    def of_player(player: Document) -> object:
        if isinstance(source, int):
            return player["attributes"][attributes[source].name]
        return player["id"] if source == "ids" else 0.0

    value: Nested = [list(map(of_player, match.teams[k])) for k in aggregate.teams]
    if aggregate.source == "teams":
        value = [[0.0] * len(value)]
    if not aggregate.grouped or aggregate.source == "teams":
        value = value[0]
    for function in aggregate.functions:
        value, depth = _applied(function, value, depth), depth - 1
    return value


def _applied(function: str, value: Nested, depth: int) -> Nested:
    """Return a function of nested lists: flatten of the outermost, others of the innermost."""
    if value is None:
        return None
    if function == "flatten":
        return [item for inner in defined(value) for item in inner]
    if depth > (2 if function == "set_intersection" else 1):
        return [_applied(function, item, depth - 1) for item in value]
    values = defined(value)
    if function == "set_intersection":
        return common(values)
    if not values and function not in ("count", "sum"):
        return None
    return FUNCTIONS[function](values)


def _deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of a population."""
    mean = OF_PARTY["avg"](values)
    return math.sqrt(added([(value - mean) * (value - mean) for value in values]) / len(values))


FUNCTIONS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "min": min,
    "max": max,
    "avg": OF_PARTY["avg"],
    "median": statistics.median,
    "sum": added,
    "stddev": _deviation,
    "count": len,
}


# Matches that grow: tickets on teams, complete or not.


class PartialMatch(NamedTuple):
    """Tickets on teams at one moment."""

    pool: Pool
    teams: tuple[tuple[Document, ...], ...]  # players by team
    born: float  # when the ticket joined whose age counts; without one, infinitely far off
    tickets: tuple[int, ...] = ()  # in the order in which they were added
    # the team of each; None for one of a game that runs, whose players have teams of their own
    homes: tuple[int | None, ...] = ()

    @property
    def players(self) -> int:
        """How many players it has."""
        return sum(map(len, self.teams))

    @property
    def running(self) -> int:
        """How many of its tickets are of games that run."""
        return self.homes.count(None)

    def born_with(self, ticket: int) -> float:
        """Return when the ticket would have joined whose age counted if one were added."""
        counts: Callable[[float, float], float] = min if self.pool.table.oldest else max
        return counts(self.pool.times[ticket], self.born)

    def with_ticket(self, ticket: int, home: int | None) -> "PartialMatch":
        """Return the match with another ticket on a team."""
        teams = list(self.teams)
        for player in self.pool.players[ticket]:
            at = self.pool.home(player) if home is None else home
            teams[at] = (*teams[at], player)
        tickets, homes = (*self.tickets, ticket), (*self.homes, home)
        return PartialMatch(self.pool, tuple(teams), self.born_with(ticket), tickets, homes)

    def sizes(self, now: float, more: int | None = None) -> list[tuple[int, int]]:
        """Return least and most players of each team at the age of the match, or with a ticket."""
        born = self.born if more is None else self.born_with(more)
        return [
            (in_force(team.least, born, now), in_force(team.most, born, now))
            for team in self.pool.table.teams
        ]

    def fits(self, now: float) -> bool:
        """Return whether games that run, and the size of each team, are what a match needs."""
        if self.running > 1 or self.running == len(self.tickets):
            return False
        return all(
            least <= len(team) <= most
            for team, (least, most) in zip(self.teams, self.sizes(now), strict=True)
        )

    def homes_for(self, ticket: int, now: float) -> list[int | None]:
        """Return the teams that have room for a ticket, in the order of filling."""
        # Teams that are too small come first, then those with most room. A ticket of a game that
        # runs goes to the teams of its players: [None], or [] without room.
        sizes, players = self.sizes(now, ticket), self.pool.players[ticket]
        if self.pool.running[ticket]:
            homes = [self.pool.home(player) for player in players]
            full = any(
                home in homes and len(team) + homes.count(home) > most
                for home, (team, (_, most)) in enumerate(zip(self.teams, sizes, strict=True))
            )
            return [] if full else [None]
        filled = [
            (len(team) >= least, len(team) - most, number)
            for number, (team, (least, most)) in enumerate(zip(self.teams, sizes, strict=True))
        ]
        return [number for _, excess, number in sorted(filled) if len(players) + excess <= 0]


class Judge:
    """Judges the rules of a table on a match."""

    def __init__(self, match: PartialMatch, now: float, partial: bool) -> None:
        self.match, self.partial, self.players = match, partial, match.players
        self.now, self.born = now, match.born
        self.rules = match.pool.table.rules
        self._findings: dict[int, Finding] = {}

    def refuses(self) -> bool:
        """Return whether a rule that has to hold by itself is false."""
        return any(True for _ in self.refusing())

    def refusing(self) -> Iterator[int]:
        """Yield the rules that have to hold by themselves and are false."""
        for number, rule in enumerate(self.rules):
            if rule.alone and self.finding(number).verdict is False:
                yield number

    def finding(self, number: int) -> Finding:
        """Return what is found of a rule."""
        if number not in self._findings:
            rule = self.rules[number]
            unknown = self.partial and rule.is_open
            self._findings[number] = Finding(None) if unknown else rule.predicate.judge(self)
        return self._findings[number]

    def number(self, steps: Steps | None) -> float | None:
        """Return a number that is in force, None where there is none."""
        return None if steps is None else in_force(steps, self.born, self.now)

    def value(self, measure: Aggregate) -> Any:  # noqa: ANN401
        """Return an aggregate, None if it is undefined."""
        return evaluate(measure, self.match)

    def reference(self, steps: Steps) -> Any:  # noqa: ANN401
        """Return the value of a reference, None where it is undefined."""
        value = in_force(steps, self.born, self.now)
        return self.value(value) if isinstance(value, Aggregate) else value

    def pings(self, rule: Reached) -> list[dict[str, Ping]]:
        """Return of each ticket what a rule looks at, by region that all its players report."""
        return [self.match.pool.pings(ticket, rule) for ticket in self.match.tickets]

    def parties(self, attribute: int) -> list[list[Any]]:
        """Return the values of the players of each ticket."""
        return [self.match.pool.values(ticket, attribute) for ticket in self.match.tickets]


def holds_from(match: PartialMatch, now: float, partial: bool, number: int) -> float | None:
    """Return from which age of the match a rule that is false would not be; None if never."""
    age = now - match.born
    for wait in match.pool.table.waits:
        if wait > age:
            later = Judge(match, match.born + wait, partial)
            if later.finding(number).verdict is not False:
                return wait
    return None


# The passes of a review, one anchor after the other.

MANY = 2**62  # more anchors than there ever are


class Search:
    """Searches the tickets that wait at a review."""

    def __init__(self, pool: Pool) -> None:
        self.pool, self.last = pool, pool.nobody()  # with what the last anchor has ended
        self.unfinished = Counter[int]()  # in how many unfinished matches of others each ticket is

    def tried(
        self, match: PartialMatch, ticket: int, refused: list[PartialMatch], taken: bool
    ) -> None:
        """Note a ticket that is tried: on which teams with room it is refused, if it is taken."""

    def judged(self, match: PartialMatch) -> None:
        """Note a match of sizes that can be, which an exhaustive search judges."""

    def one_pass(
        self, waiting: Sequence[int], now: float, review: int, number: int = 0, most: int = MANY
    ) -> Iterator[PartialMatch]:
        """Let each ticket that is free be an anchor once; yield the matches, anchors first."""
        taken: set[int] = set()
        for anchor, others in islice(self.anchors(waiting, review, number), most):
            if anchor not in taken:
                free = [ticket for ticket in others if ticket not in taken]
                match = self.best(anchor, free, now)
                if match is not None:
                    taken.update(match.tickets)
                    yield match

    def anchors(
        self, waiting: Sequence[int], review: int, number: int = 0
    ) -> Iterator[tuple[int, list[int]]]:
        """Yield tickets in the order of anchors, with whom they try; see `one_pass`."""
        running = self.pool.running
        for batch in self._batches(waiting, review, number):
            parts = [(batch, batch)]
            if (priority := self.pool.table.search.backfill) != "normal":
                new = [ticket for ticket in batch if not running[ticket]]
                parts = [([ticket for ticket in batch if running[ticket]], batch), (new, new)]
            for anchors, others in parts if priority != "low" else parts[::-1]:
                for anchor in anchors:
                    yield anchor, [ticket for ticket in others if ticket != anchor]

    def _batches(self, waiting: Sequence[int], review: int, number: int) -> list[list[int]]:
        """Return the tickets that can be matched, in batches, each by age."""
        pool = [ticket for ticket in waiting if self.pool.matchable[ticket]]
        size, search = self.pool.service.batch_size, self.pool.table.search
        if size is None:
            return [pool]

        counter = review * PASSES + number
        if search.batches == "sorted":  # by the average of a party, the smallest text
            for attribute in reversed(search.batch_order):
                texts = self.pool.table.attributes[attribute].kind == "text"
                values = {k: self.pool.values(k, attribute) for k in pool}
                pool.sort(key=lambda k: OF_PARTY["min" if texts else "avg"](values[k]))
        else:
            pool.sort(key=lambda ticket: uniform_at(self.pool.rng_key, BATCHES, ticket, counter))
        return [sorted(pool[start : start + size]) for start in range(0, len(pool), size)]

    def best(self, anchor: int, others: list[int], now: float) -> PartialMatch | None:
        """Return the match that an anchor makes of others, given by age, if any."""
        pool, seconds = self.pool, self.pool.service.foresight
        stays = seconds is not None and pool.leaves[anchor] > now + seconds
        if stays and not pool.running[anchor]:
            self.last = pool.nobody()
            return None
        for rule in reversed(self.pool.table.sorts):  # in the order in which the anchor tries them
            others = self.pool.ordered(rule, anchor, others)
        if self.pool.search == "exhaustive":
            return self._exhaustive(anchor, others, now)
        return self._greedy(anchor, others, now)

    def _greedy(self, anchor: int, others: list[int], now: float) -> PartialMatch | None:
        """Add ticket after ticket to the first team that takes it; the last valid match counts."""
        match, last = self.pool.nobody(), None
        for ticket in (anchor, *others):
            if self.pool.running[ticket] and match.running:
                continue
            refused, taken = list[PartialMatch](), False
            for home in match.homes_for(ticket, now):
                grown = match.with_ticket(ticket, home)
                if taken := not Judge(grown, now, partial=True).refuses():
                    break
                refused.append(grown)
            self.tried(match, ticket, refused, taken)
            if not taken:
                if ticket == anchor:
                    break
                continue
            match = grown
            if match.fits(now) and not Judge(match, now, partial=False).refuses():
                last = match
            room = zip(match.teams, match.sizes(now), strict=True)
            if all(len(team) >= most for team, (_, most) in room):
                break
        self.last = match
        if last is None:
            self.unfinished.update(match.tickets[1:])
        return last

    def _exhaustive(self, anchor: int, others: list[int], now: float) -> PartialMatch | None:
        """Return the best match: most players, then smallest places, then smallest teams."""
        best: tuple[Any, PartialMatch] | None = None
        for match, indices in self._every([anchor, *others]):
            if not match.fits(now):
                continue
            self.judged(match)
            teams = tuple(-1 if home is None else home for home in match.homes)
            key = (-match.players, indices, teams)
            better = best is None or key < best[0]
            if better and not Judge(match, now, partial=False).refuses():
                best = key, match
        return best[1] if best else None

    def _every(self, tickets: list[int]) -> Iterator[tuple[PartialMatch, tuple[int, ...]]]:
        """Yield all matches with the first of some tickets, and the places of their tickets."""
        most = [team.largest for team in self.pool.table.teams]

        def grow(match: PartialMatch, indices: tuple[int, ...], at: int) -> Any:  # noqa: ANN401
            if at:
                yield match, indices
            for index in range(at, 1 if at == 0 else len(tickets)):
                running = self.pool.running[tickets[index]]
                for home in [None] if running else range(len(most)):
                    if home is None and match.running:
                        continue
                    grown = match.with_ticket(tickets[index], home)
                    if all(map(int.__le__, map(len, grown.teams), most)):
                        yield from grow(grown, (*indices, index), index + 1)

        yield from grow(self.pool.nobody(), (), 0)
