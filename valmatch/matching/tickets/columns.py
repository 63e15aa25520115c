"""The table of tickets: columns over tickets and over their players, whoever makes it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Bools, Floats, Ints, Words
from valmatch.matching.tickets.layout import NONE
from valmatch.rule_sets.table import Attribute, Party, Table

Search = Literal["pass", "exhaustive"]
SEARCHES: tuple[Search, ...] = ("pass", "exhaustive")

FEW = 9  # tickets that an exhaustive search is meant for
MOST_REVIEWS = 10_000_000  # most reviews of a replay

Document: TypeAlias = "dict[str, Any]"
"""A ticket or a player as JSON: a ticket has `id`, `time`, `players`, perhaps `cancel`, `backfill`
and `answers`; a player `id`, `attributes`, `latency`, and with backfill `team`."""


class Service(NamedTuple):
    """How the service ticks."""

    timeout: float  # seconds after which a ticket leaves
    horizon: float  # when nothing happens any more
    review: float | None = None  # seconds between reviews; None: whenever something changes
    batch_size: int | None = None  # tickets of a batch; None: one batch
    passes: int | None = None  # most passes of a review; None: until one forms nothing
    # seconds in which a match has to be accepted; None: matches are not proposed
    acceptance: float | None = None
    # seconds before a ticket leaves in which alone it is an anchor; None: always
    foresight: float | None = None

    @property
    def reviews_too_often(self) -> bool:
        """Whether there would be more reviews until the horizon than a replay may have."""
        return self.review is not None and not self.review > self.horizon / MOST_REVIEWS


def by_name(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> Floats:
    """Return numbers by name as columns, NaN where a row has no such name."""
    numbers = [[row.get(name, np.nan) for name in names] for row in rows]
    return np.array(numbers, np.float64).reshape(len(rows), len(names))


Values: TypeAlias = "NDArray[Any]"
"""What players have of an attribute: numbers, NaN for none, or objects, None for none."""


def values_of(kind: str, values: Iterable[Any]) -> Values:
    """Return values of players of a kind of the table of rules, None for none."""
    if kind != "number":
        return np.fromiter(values, object)
    return np.array([np.nan if value is None else value for value in values], np.float64)


def has_value(values: Values) -> Bools:
    """Return which players have a value."""
    if values.dtype != object:
        return ~np.isnan(values)
    return np.array([value is not None for value in values.tolist()], np.bool_)


def inner_of(sizes: Ints, outer: Ints) -> Ints:
    """Return the numbers of the players of some tickets, in their order; sizes are of all."""
    return spans((np.cumsum(sizes) - sizes)[outer], sizes[outer])


def spans(firsts: Ints, sizes: Ints) -> Ints:
    """Return the numbers from each of some firsts on, as many as its size says."""
    return np.repeat(firsts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())


NO_NUMBERS, NO_COUNTS = np.empty(0), np.empty(0, np.int64)


class Tickets(NamedTuple):
    """Tickets in order of time; the players of a ticket stand together, in the same order."""

    # times, cancels: (tickets,); seconds; infinity where a ticket is never cancelled
    times: Floats
    cancels: Floats
    sizes: Ints  # (tickets,); players of each
    # by attribute; what is not there, or what a player lacks, has its default
    values: "Mapping[str, Values]"
    regions: Sequence[str]
    latencies: Floats  # (players, regions); milliseconds; NaN where a player reports none
    # (tickets, proposals); after how many seconds a ticket accepts each proposal; NaN for never; of
    # a refusal -1 less its seconds; infinity where nothing is said: it then accepts at once
    answers: Floats
    rng_key: Words  # (3,)
    # names, ids: of tickets and of players; empty, None: of drawn ones, which are numbered
    names: Sequence[str] = ()
    ids: "Values | None" = None
    teams: Ints | None = None  # (players,); of games that run, else NONE; None: nobody plays
    # Of those that are drawn: (tickets,) the number of the home region; (players,) true skills, and
    # what the matchmaker sees of them.
    homes: Ints = NO_COUNTS
    skills: Floats = NO_NUMBERS
    seen: Floats = NO_NUMBERS

    @property
    def of(self) -> Ints:
        """Ticket of each player, from 0 on; made anew each time, as a long run has many players."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    @property
    def firsts(self) -> Ints:
        """The first player of each ticket."""
        return np.asarray(np.cumsum(self.sizes) - self.sizes)

    @property
    def seats(self) -> Ints:
        """The number in the party of each player; made anew each time too."""
        return np.arange(int(self.sizes.sum())) - np.repeat(self.firsts, self.sizes)

    def name(self, ticket: int) -> str:
        """Return what a ticket is called: by its number, as in ``tickets.csv``, if it is drawn."""
        return self.names[ticket] if self.names else str(ticket)

    def of_party(self, values: Floats, party: Party | Literal["sum"]) -> Floats:
        """Return of players' values, a column or several, those that stand for their tickets."""
        n = self.sizes.size
        if not n:
            return values[:0]
        if values.ndim > 1:
            columns = [self.of_party(column, party) for column in values.T]
            return np.array(columns).reshape(-1, n).T
        if party in ("min", "max"):
            return (np.minimum if party == "min" else np.maximum).reduceat(values, self.firsts)
        sums = np.bincount(self.of, values, n)  # in the order of the players, as compiled code adds
        return np.asarray(sums / self.sizes if party == "avg" else sums, np.float64)

    def take(self, tickets: Ints) -> "Tickets":
        """Return what the matchmaker sees of some tickets; one may be there more than once."""
        people = inner_of(self.sizes, tickets)
        return Tickets(
            self.times[tickets],
            self.cancels[tickets],
            self.sizes[tickets],
            {name: values[people] for name, values in self.values.items()},
            self.regions,
            self.latencies[people],
            self.answers[tickets],
            self.rng_key,
            [self.names[k] for k in tickets.tolist()] if self.names else (),
            None if self.ids is None else self.ids[people],
            None if self.teams is None else self.teams[people],
        )

    def lacks(self, attribute: Attribute) -> Bools:
        """Return which tickets cannot be matched, as a player has no value and no default."""
        lacks, values = np.zeros(self.times.size, np.bool_), self.values.get(attribute.name)
        if attribute.default is None:
            lacks[slice(None) if values is None else self.of[~has_value(values)]] = True
        return lacks

    def documents(self, table: Table) -> "list[Document]":
        """Return the tickets one by one."""
        players: list[Document] = [
            {"id": name, "attributes": {}, "latency": dict(zip(self.regions, row, strict=True))}
            for name, row in zip(self.player_ids(), self.latencies.tolist(), strict=True)
        ]
        for name, values in self.values.items():
            for player, value, has in zip(players, values.tolist(), has_value(values), strict=True):
                if has:
                    player["attributes"][name] = value
        for player in players:
            pings = player["latency"].items()
            player["latency"] = {name: trip for name, trip in pings if trip == trip}
        for player, team in zip(players, () if self.teams is None else self.teams, strict=False):
            if team != NONE:
                player["team"] = table.teams[team].name
        rows = zip(self.times.tolist(), self.cancels.tolist(), self.firsts, self.sizes, strict=True)
        documents = []
        for number, (time, cancel, first, size) in enumerate(rows):
            party = players[first : first + size]
            ticket: Document = {"id": self.name(number), "time": time, "players": party}
            if cancel < np.inf:
                ticket["cancel"] = cancel
            if "team" in party[0]:
                ticket["backfill"] = True
            if answers := [s for s in self.answers[number].tolist() if abs(s) != np.inf]:
                ticket["answers"] = [
                    None if s != s else (s, True) if s >= 0.0 else (-1.0 - s, False)
                    for s in answers
                ]
            documents.append(ticket)
        return documents

    def player_ids(self) -> list[str]:
        """Return the ids of all players."""
        if self.ids is not None:
            return self.ids.tolist()
        rows = zip(self.of.tolist(), self.seats.tolist(), self.sizes[self.of], strict=True)
        return [f"{of}.{seat + 1}" if size > 1 else f"{of}" for of, seat, size in rows]


def tickets_of(documents: "Sequence[Document]", table: Table, rng_key: Words) -> Tickets:
    """Return tickets that are given one by one, in order of time."""
    players = [player for document in documents for player in document["players"]]
    latencies = [player.get("latency", {}) for player in players]
    regions = list(dict.fromkeys(region for pings in latencies for region in pings))
    attributes = [player.get("attributes", {}) for player in players]
    teams = {team.name: number for number, team in enumerate(table.teams)}
    answers = [
        [
            np.nan if a is None else a[0] if a[1] else -1.0 - a[0]
            for a in document.get("answers", ())
        ]
        for document in documents
    ]
    most = max(map(len, answers), default=0)
    return Tickets(
        np.array([document["time"] for document in documents], np.float64),
        np.array([document.get("cancel", np.inf) for document in documents], np.float64),
        np.array([len(document["players"]) for document in documents], np.int64),
        {
            attribute.name: values_of(
                attribute.kind, [values.get(attribute.name) for values in attributes]
            )
            for attribute in table.attributes
        },
        regions,
        by_name(latencies, regions),
        np.array(
            [[*answer, *[np.inf] * (most - len(answer))] for answer in answers], np.float64
        ).reshape(len(answers), most),
        rng_key,
        [document["id"] for document in documents],
        values_of("text", [player["id"] for player in players]),
        np.array([teams.get(player.get("team", ""), NONE) for player in players], np.int64),
    )


class Played(NamedTuple):
    """What came of tickets."""

    statuses: Ints  # (tickets,); as in `layout`; AWAY of those that came after the horizon
    ends: Floats  # (tickets,); when they ended
    # times, proposed: (matches,); when matches were made, in order, and when they had been proposed
    times: Floats
    proposed: Floats
    # tickets, matches, teams: (matched,); tickets of matches, of which match, and their teams
    tickets: Ints
    matches: Ints
    teams: Ints
    proposals: Floats  # (matched,); when these had been proposed
    filled: Bools  # (matched,); whether they joined a match that ran
    # held, refused: (rules,); how often each rule held, or was unknown, and refused; 0 where that
    # is not counted
    held: Ints
    refused: Ints
