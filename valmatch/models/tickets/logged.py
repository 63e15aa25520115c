"""Tickets of a log: what it says replaces what is drawn, and what it lacks is drawn.

Tickets are numbered from 0 in the order of the log, so that what is drawn for one never depends on
what the log says of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from valmatch.errors import InputError, in_lines
from valmatch.inputs.files import read_text
from valmatch.kernels.arrays import Floats
from valmatch.matching.tickets.columns import Tickets, filled, has_value, tickets_of
from valmatch.models.tickets.factors import MOST_PLAYERS, RoundTrips
from valmatch.models.tickets.population import PROPOSALS
from valmatch.rule_sets.event_log import is_event_log
from valmatch.rule_sets.files import as_remarks, in_line
from valmatch.rule_sets.table import Attribute, Table
from valmatch.rule_sets.world_reading import read_lines, read_table
from valmatch.rule_sets.worlds import Ticket
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
        trips: RoundTrips,
        horizon: float,
    ) -> None:
        known = {attribute.name for attribute in table.attributes}
        attributes = (*table.attributes, *(one for one in declared if one.name not in known))
        table = table._replace(attributes=attributes)
        try:
            state = path.stat()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        every, remarks = _tickets(path, (state.st_mtime_ns, state.st_size), table)
        self._path, self._homes = path, trips.homes
        tickets = [one for one in every if one.time < horizon]
        late = len(every) - len(tickets)
        if late and not tickets:
            raise InputError(f"{path}: {_after_the_end(late, horizon)} (set hours to a longer run)")
        self.remarks = remarks
        if late:
            left = f"{path}: {_after_the_end(late, horizon, len(every))}"
            self.remarks += (Note(left, "tickets_left_out", late),)
        self._check(tickets, trips.centres)
        self.tickets = tickets_of(tickets, table, np.zeros(3, np.uint64))
        self._answers = [ticket.answers[:PROPOSALS] for ticket in tickets]
        # attributes that some player has
        self.given = {name for name, own in self.tickets.values.items() if has_value(own).any()}

    def laid_over(self, drawn: Tickets) -> Tickets:
        """Return drawn tickets with what the log says of them.

        Whose players have some latencies has no others. A home is the data centre with the least
        mean latency where all players of a ticket have some and a home is called so, else it is as
        drawn.
        """
        logged, values = self.tickets, dict(drawn.values)
        for name in self.given:
            own = logged.values[name]
            values[name] = filled(own, values[name]) if name in values else own
        latencies: Floats = np.full_like(drawn.latencies, np.nan)
        for column, region in enumerate(logged.regions):
            latencies[:, drawn.regions.index(region)] = logged.latencies[:, column]
        silent = np.asarray(np.isnan(latencies).all(axis=1))
        latencies[silent] = drawn.latencies[silent]
        sums = drawn.of_party(latencies, "sum")
        nearest = np.where(np.isnan(sums), np.inf, sums).argmin(axis=1)
        homes = [self._homes.index(one) if one in self._homes else -1 for one in drawn.regions]
        home = np.array(homes, np.int64)[nearest]
        says = drawn.of_party(silent.astype(np.float64), "sum") == 0
        at = says & ~np.isnan(sums).all(axis=1) & (home >= 0)
        return drawn._replace(
            cancels=np.where(np.isinf(logged.cancels), drawn.cancels, logged.cancels),
            values=values,
            latencies=latencies,
            homes=np.where(at, home, drawn.homes),
        )

    def answered(self, drawn: Floats) -> Floats:
        """Return answers to proposals with those of the log; a refusal lets the time run out."""
        answers = drawn.copy()
        for number, given in enumerate(self._answers):
            for k, answer in enumerate(given):
                answers[number, k] = answer[0] if answer is not None and answer[1] else np.nan
        return answers

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
