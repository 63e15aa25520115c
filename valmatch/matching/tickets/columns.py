"""The table of tickets: columns over tickets and over their players, whoever makes it.

Logs, worlds and drawn tickets are such tables; `arrays` makes the kernels' arrays of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints, Words
from valmatch.matching.tickets.layout import NONE
from valmatch.rule_sets.table import Attribute, Party, Table
from valmatch.rule_sets.worlds import Player, Ticket


class Texts(NamedTuple):
    """Texts of players."""

    codes: Ints  # (players,); which of the texts each player has; -1 for none
    texts: Sequence[str]

    @classmethod
    def of(cls, values: Iterable[str | None], texts: Sequence[str] = ()) -> Texts:
        """Return the texts of players, None for none; those named come first."""
        places = {text: place for place, text in enumerate(texts)}
        codes = [-1 if one is None else places.setdefault(one, len(places)) for one in values]
        return cls(np.array(codes, np.int64), list(places))

    @property
    def known(self) -> Bools:
        """Who has one."""
        return np.asarray(self.codes >= 0)

    def take(self, players: Ints) -> Texts:
        """Return those of some players."""
        return self._replace(codes=self.codes[players])

    def tolist(self) -> list[str | None]:
        """Return the text of each player."""
        every = [*self.texts, None]
        return [every[code] for code in self.codes.tolist()]


class Lists(NamedTuple):
    """Lists of texts of players."""

    sizes: Ints  # (players,); how many texts are in the list of each; -1 for no list
    items: Ints  # which texts, list after list
    texts: Sequence[str]

    @classmethod
    def of(cls, values: Iterable[Sequence[str] | None], texts: Sequence[str] = ()) -> Lists:
        """Return the lists of players, None for none; texts that are named come first."""
        places = {text: place for place, text in enumerate(texts)}
        sizes, items = [], []
        for one in values:
            sizes.append(-1 if one is None else len(one))
            items += [places.setdefault(text, len(places)) for text in one or ()]
        return cls(np.array(sizes, np.int64), np.array(items, np.int64), list(places))

    @property
    def known(self) -> Bools:
        """Who has one."""
        return np.asarray(self.sizes >= 0)

    @property
    def lengths(self) -> Ints:
        """How many texts each player has."""
        return np.maximum(self.sizes, 0)

    def take(self, players: Ints) -> Lists:
        """Return those of some players."""
        return self._replace(
            sizes=self.sizes[players], items=self.items[inner_of(self.lengths, players)]
        )

    def holders(self, text: int) -> Bools:
        """Return who has a text, given by its number."""
        of = np.repeat(np.arange(self.sizes.size), self.lengths)
        return np.bincount(of[self.items == text], minlength=self.sizes.size) > 0

    def tolist(self) -> list[tuple[str, ...] | None]:
        """Return the list of each player."""
        names = [self.texts[item] for item in self.items.tolist()]
        ends = np.cumsum(self.lengths).tolist()
        return [
            None if size < 0 else tuple(names[end - size : end])
            for size, end in zip(self.sizes.tolist(), ends, strict=True)
        ]


class Maps(NamedTuple):
    """Numbers by name of players."""

    numbers: Floats  # (players, names); NaN where a player has no such name
    texts: Sequence[str]  # the names, sorted
    known: Bools  # (players,); who has a map

    @classmethod
    def of(cls, values: Iterable[Mapping[str, float] | None], texts: Sequence[str] = ()) -> Maps:
        """Return the maps of players, None for none."""
        rows = list(values)
        names = sorted({*texts, *(name for one in rows if one for name in one)})
        numbers = [[(one or {}).get(name, np.nan) for name in names] for one in rows]
        known = np.array([one is not None for one in rows], np.bool_)
        return cls(np.array(numbers, np.float64).reshape(len(rows), len(names)), names, known)

    def take(self, players: Ints) -> Maps:
        """Return those of some players."""
        return self._replace(numbers=self.numbers[players], known=self.known[players])

    def tolist(self) -> list[dict[str, float] | None]:
        """Return the map of each player."""
        return [
            {name: one for name, one in zip(self.texts, row, strict=True) if one == one}
            if has
            else None
            for row, has in zip(self.numbers.tolist(), self.known.tolist(), strict=True)
        ]


Values: TypeAlias = "Floats | Texts | Lists | Maps"
"""What players have of an attribute: numbers, of which NaN is none; texts; lists; maps."""

KINDS: dict[str, type[Texts | Lists | Maps]] = {"text": Texts, "texts": Lists, "map": Maps}


def values_of(kind: str, values: Iterable[Any]) -> Values:
    """Return values of players of a kind of the table of rules, None for none."""
    if kind != "number":
        return KINDS[kind].of(values)
    return np.array([np.nan if one is None else one for one in values], np.float64)


def has_value(values: Values) -> Bools:
    """Return which players have a value."""
    return ~np.isnan(values) if isinstance(values, np.ndarray) else values.known


def filled(values: Values, others: Values) -> Values:
    """Return values with others, of the same kind, in place of those that players lack."""
    if isinstance(values, np.ndarray):
        return np.where(np.isnan(values), cast(Floats, others), values)
    pairs = zip(values.tolist(), others.tolist(), strict=True)
    every: list[Any] = [second if first is None else first for first, second in pairs]
    return type(values).of(every, cast(Texts, others).texts)


def inner_of(sizes: Ints, outer: Ints) -> Ints:
    """Return the numbers of the players of some tickets, in their order; sizes are of all.

    Likewise of whatever else stands together.
    """
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
    values: Mapping[str, Values]
    regions: Sequence[str]
    latencies: Floats  # (players, regions); milliseconds; NaN where a player reports none
    # (tickets, proposals); after how many seconds a ticket accepts each proposal; NaN for never; of
    # a refusal -1 less its seconds
    answers: Floats
    rng_key: Words  # (3,)
    ids: Texts | None = None  # of players; None: all differ
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
    def places(self) -> Ints:
        """Place in the party of each player; made anew each time too."""
        return np.arange(int(self.sizes.sum())) - np.repeat(self.firsts, self.sizes)

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

    def take(self, tickets: Ints) -> Tickets:
        """Return what the matchmaker sees of some tickets; one may be there more than once."""
        people = inner_of(self.sizes, tickets)
        return Tickets(
            self.times[tickets],
            self.cancels[tickets],
            self.sizes[tickets],
            {name: values.take(people) for name, values in self.values.items()},
            self.regions,
            self.latencies[people],
            self.answers[tickets],
            self.rng_key,
            None if self.ids is None else self.ids.take(people),
            None if self.teams is None else self.teams[people],
        )

    def lacks(self, attributes: Sequence[Attribute]) -> Bools:
        """Return which tickets have a player without a value that has no default."""
        lacks = np.zeros(self.times.size, np.bool_)
        for one in attributes:
            values = self.values.get(one.name)
            if one.default is None:
                lacks[slice(None) if values is None else self.of[~has_value(values)]] = True
        return lacks


def tickets_of(objects: Sequence[Ticket], table: Table, rng_key: Words) -> Tickets:
    """Return tickets of a log or a world, as the matchmaker sees them."""
    players = [player for one in objects for player in one.players]
    regions = sorted({region for player in players for region in player.latency})
    latencies = [[one.latency.get(region, np.nan) for region in regions] for one in players]
    names = {team.name: number for number, team in enumerate(table.teams)}
    most = max((len(one.answers) for one in objects), default=0)
    # Who says nothing of a proposal accepts at once.
    answers = [[*map(_seconds, one.answers), *[0.0] * (most - len(one.answers))] for one in objects]
    return Tickets(
        np.array([one.time for one in objects], np.float64),
        np.array([np.inf if one.cancel is None else one.cancel for one in objects], np.float64),
        np.array([len(one.players) for one in objects], np.int64),
        {
            one.name: values_of(one.kind, [player.attributes.get(one.name) for player in players])
            for one in table.attributes
        },
        regions,
        np.array(latencies, np.float64).reshape(len(players), len(regions)),
        np.array(answers, np.float64).reshape(len(objects), most),
        rng_key,
        Texts.of([player.id for player in players]),
        np.array([names[player.team] if player.team else NONE for player in players], np.int64),
    )


def _seconds(answer: tuple[float, bool] | None) -> float:
    if answer is None:
        return np.nan
    return answer[0] if answer[1] else -1.0 - answer[0]


def objects_of(tickets: Tickets) -> tuple[Ticket, ...]:
    """Return drawn tickets one by one; their ids are their numbers, as in ``tickets.csv``."""
    attributes: list[dict[str, object]] = [{} for _ in range(int(tickets.sizes.sum()))]
    for name, values in tickets.values.items():
        for player, value, has in zip(attributes, values.tolist(), has_value(values), strict=True):
            if has:
                player[name] = value
    players = [
        (own, {name: ping for name, ping in zip(tickets.regions, row, strict=True) if ping == ping})
        for own, row in zip(attributes, tickets.latencies.tolist(), strict=True)
    ]
    found = []
    rows = zip(tickets.times, tickets.cancels, tickets.sizes, tickets.firsts, strict=True)
    for number, (time, cancel, size, first) in enumerate(rows):
        ids = [str(number)] if size == 1 else [f"{number}.{k}" for k in range(1, size + 1)]
        party = players[first : first + size]
        answers = tuple(
            None if seconds != seconds else (seconds, True)
            for seconds in tickets.answers[number].tolist()
        )
        found.append(
            Ticket(
                str(number),
                float(time),
                tuple(Player(name, *own) for name, own in zip(ids, party, strict=True)),
                None if np.isinf(cancel) else float(cancel),
                False,
                answers,
            )
        )
    return tuple(found)


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
    asked: Floats  # (matched,); when these had been proposed
    filled: Bools  # (matched,); whether they joined a match that ran
    # held, refused: (rules,); how often each rule held, or was unknown, and refused; 0 where that
    # is not counted
    held: Ints
    refused: Ints
