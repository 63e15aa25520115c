"""Tickets of a log: what it says replaces what is drawn, and what it lacks is drawn.

Tickets are numbered from 0 in the order of the log, so that what is drawn for one never depends on
what the log says of another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from valmatch.errors import InputError, in_lines
from valmatch.inputs.files import read_text
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.matching.tickets.columns import Lists, Texts
from valmatch.models.tickets.factors import MOST_PLAYERS
from valmatch.models.tickets.matches import Drawn
from valmatch.models.tickets.population import PROPOSALS, Logged
from valmatch.rule_sets.event_log import is_event_log
from valmatch.rule_sets.files import as_remarks, in_line
from valmatch.rule_sets.table import Attribute, Table
from valmatch.rule_sets.ticket_table import read_table
from valmatch.rule_sets.world_reading import read_lines
from valmatch.rule_sets.worlds import Player, Ticket
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Note, shown


@lru_cache(maxsize=4)
def _tickets(
    path: Path, stamp: tuple[int, int], table: Table
) -> tuple[tuple[Ticket, ...], tuple[str, ...]]:
    """Return the tickets of a file, read once for each state of it, and remarks on them."""
    text, is_table = read_text(path), path.suffix.lower() == ".csv"
    if not is_table and is_event_log(text):
        raise InputError(
            f"{path}: is a log of events, which says nothing of attributes and latencies (needed: a"
            " JSON object a line with id, time and players, as valmatch rules replay takes)"
        )
    tickets, problems = (read_table if is_table else read_lines)(text, table)
    if tickets is None:
        errors = [in_line(path, one) for one in problems if one.severity == "error"]
        raise InputError(*in_lines(errors))
    return tickets, tuple(as_remarks(path, problems))


class TicketLog:
    """The tickets of a file."""

    def __init__(
        self,
        path: Path,
        table: Table,
        declared: Sequence[Attribute],
        centres: Sequence[str],
        horizon: float,
    ) -> None:
        known = {attribute.name for attribute in table.attributes}
        attributes = (*table.attributes, *(one for one in declared if one.name not in known))
        try:
            state = path.stat()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        stamp = state.st_mtime_ns, state.st_size
        every, remarks = _tickets(path, stamp, table._replace(attributes=attributes))
        self._path = path
        tickets = [one for one in every if one.time < horizon]
        late = len(every) - len(tickets)
        if late and not tickets:
            raise InputError(f"{path}: {_after_the_end(late, horizon)} (set hours to a longer run)")
        notes = [Note(f"{path}: {_after_the_end(late, horizon, len(every))}")] if late else []
        self.remarks = (*remarks, *notes)
        self._check(tickets, centres)
        players = [player for one in tickets for player in one.players]
        # attributes that some player has
        self.given = {name for player in players for name in player.attributes}
        self.logged = Logged(
            np.array([one.time for one in tickets], np.float64),
            np.array([len(one.players) for one in tickets], np.int64),
            lambda drawn: _laid_over(drawn, tickets, players, attributes, tuple(centres)),
            lambda drawn: _answers(drawn, tickets),
        )

    def _check(self, tickets: Sequence[Ticket], centres: Sequence[str]) -> None:
        """Refuse what cannot be simulated."""
        for ticket in tickets:
            where = f"{self._path}: ticket {shown(ticket.id)}"
            if ticket.running:
                raise InputError(f"{where}: is a backfill, which no arrival can be")
            if len(ticket.players) > MOST_PLAYERS:
                count = len(ticket.players)
                raise InputError(f"{where}: {count} players (allowed: up to {MOST_PLAYERS})")
            for player in ticket.players:
                for region in player.latency:
                    if region not in centres:
                        meant = hint(region, centres)
                        what = f"{where}: region {shown(region)} is no data centre ({meant})"
                        raise InputError(f"{what}; those are in regions.shares or latency: FILE")
                for name, value in player.attributes.items():
                    if isinstance(value, dict):
                        what = "a map, and maps of players cannot be simulated"
                        raise InputError(f"{where}: attribute {shown(name)} is {what}")


def _after_the_end(late: int, horizon: float, every: int = 0) -> str:
    """Return what is said of the tickets of a log that come too late, all of them or some."""
    end = f"after the end of the run at {horizon:g} s"
    if not every:
        return f"{'its only ticket comes' if late == 1 else f'all {late:,} tickets come'} {end}"
    return f"{late:,} of {every:,} tickets {'comes' if late == 1 else 'come'} {end}"


def _laid_over(
    drawn: Drawn,
    tickets: Sequence[Ticket],
    players: Sequence[Player],
    attributes: Sequence[Attribute],
    centres: Sequence[str],
) -> Drawn:
    """Return drawn tickets with what a log says of them."""
    values, missing = dict(drawn.attributes), dict[str, Bools]()
    for attribute in attributes:
        name, kind = attribute.name, attribute.kind
        has = np.array([name in player.attributes for player in players], np.bool_)
        if not has.any() or kind == "map":
            continue
        own = [player.attributes.get(name) for player in players]
        values[name] = _MERGED[kind](own, has, values.get(name))
        if name not in drawn.attributes:
            missing[name] = ~has
    cancels = drawn.cancels.copy()
    for number, ticket in enumerate(tickets):
        if ticket.cancel is not None:
            cancels[number] = ticket.cancel
    latencies, homes = _latencies(drawn, tickets, players, centres)
    return drawn._replace(
        cancels=cancels, attributes=values, missing=missing, latencies=latencies, homes=homes
    )


def _numbers(own: Sequence[object], has: Bools, law: Floats | None) -> Floats:
    given = np.array([value if isinstance(value, float) else np.nan for value in own])
    return given if law is None else np.where(has, given, law)


def _texts(own: Sequence[object], has: Bools, law: Texts | None) -> Texts:
    texts = list(law.texts) if law else []
    places = {text: place for place, text in enumerate(texts)}
    codes = np.zeros(has.size, np.int64) if law is None else law.codes.copy()
    for player in np.flatnonzero(has).tolist():
        codes[player] = places.setdefault(str(own[player]), len(places))
    return Texts(codes, list(places))


def _lists(own: Sequence[object], has: Bools, law: Lists | None) -> Lists:
    places = {text: place for place, text in enumerate(law.texts if law else ())}
    for value in own:
        for text in value if isinstance(value, tuple) else ():
            places.setdefault(text, len(places))
    found = np.zeros((has.size, len(places)), np.bool_)
    if law is not None:
        found[:, : law.has.shape[1]] = law.has
    for player in np.flatnonzero(has).tolist():
        value = own[player]
        found[player] = False
        for text in value if isinstance(value, tuple) else ():
            found[player, places[text]] = True
    return Lists(found, list(places))


_MERGED: Mapping[str, Callable[..., Floats | Texts | Lists]] = {
    "number": _numbers,
    "text": _texts,
    "texts": _lists,
}


def _latencies(
    drawn: Drawn, tickets: Sequence[Ticket], players: Sequence[Player], centres: Sequence[str]
) -> tuple[Floats, Ints]:
    """Return latencies, NaN where a player has some and not this one, and home regions.

    A home is the data centre with the least mean latency where all players of a ticket have some
    and a home is called so, else it is as drawn.
    """
    latencies, homes = drawn.latencies.copy(), drawn.homes.copy()
    for number, player in enumerate(players):
        if player.latency:
            latencies[number] = [player.latency.get(region, np.nan) for region in centres]
    first = 0
    for number, ticket in enumerate(tickets):
        own = latencies[first : first + len(ticket.players)].sum(axis=0)
        first += len(ticket.players)
        if all(player.latency for player in ticket.players) and not np.isnan(own).all():
            home = centres[int(np.nanargmin(own))]
            if home in drawn.regions:
                homes[number] = drawn.regions.index(home)
    return latencies, homes


def _answers(drawn: Floats, tickets: Sequence[Ticket]) -> Floats:
    """Return answers to proposals with those of a log; a refusal lets the time run out."""
    answers = drawn.copy()
    for number, ticket in enumerate(tickets):
        for k, answer in enumerate(ticket.answers[:PROPOSALS]):
            answers[number, k] = answer[0] if answer is not None and answer[1] else np.nan
    return answers
