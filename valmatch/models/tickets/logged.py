"""Tickets of a log: what it says replaces what is drawn, and what it lacks is drawn."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from valmatch.errors import InputError
from valmatch.inputs.files import read_text
from valmatch.kernels.arrays import Bools, Floats, Words
from valmatch.matching.queue import next_arrivals
from valmatch.matching.tickets.columns import Tickets, has_value
from valmatch.matching.tickets.layout import NONE
from valmatch.matching.tickets.reading import is_event_log, read_list
from valmatch.models.tickets.factors import MOST_PLAYERS, RoundTrips, TicketsFactors
from valmatch.models.tickets.population import PROPOSALS, draw_people
from valmatch.models.tickets.rule_file import state_of
from valmatch.rule_sets.files import as_remarks, error_lines
from valmatch.rule_sets.table import Attribute, Table
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Note, Notice, shown

AGAIN = 3600.0  # seconds within which a player who comes again is counted


@lru_cache(maxsize=4)
def _tickets(path: Path, stamp: tuple[int, int], table: Table) -> tuple[Tickets, tuple[str, ...]]:
    """Return the tickets of a file, read once for each state of it, and remarks on them."""
    text, is_table = read_text(path), path.suffix.lower() == ".csv"
    if not is_table and is_event_log(text):
        raise InputError(
            f"{path}: is a log of events, which says nothing of attributes and latencies (needed: a"
            " JSON object a line with id, time and players, as valmatch rules replay takes)"
        )
    lines, seen = text.split("\n"), set[str]()
    repeated = 0
    for k, line in enumerate(lines):
        if line.strip() and line in seen:
            lines[k] = ""  # so that the others keep their places
            repeated += 1
        seen.add(line)
    tickets, problems = read_list("\n".join(lines), table, is_table)
    if tickets is None:
        raise InputError(*error_lines(path, problems))
    remarks = as_remarks(path, problems)
    if n := repeated:
        what = f"{path}: {n:,} exact duplicate{'s' * (n > 1)} of other tickets skipped"
        remarks.insert(0, Notice(what, "duplicate_rows", n))
    return tickets, tuple(remarks)


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
        further = (attribute for attribute in declared if attribute.name not in known)
        table = table._replace(attributes=(*table.attributes, *further))
        every, self.remarks = _tickets(path, state_of(path), table)
        self._path = path
        late, n = int((every.times >= horizon).sum()), every.times.size
        end = f"after the end of the run at {horizon:g} s"
        if late and late == n:
            come = "its only ticket comes" if n == 1 else f"all {n:,} tickets come"
            raise InputError(f"{path}: {come} {end} (set hours to a longer run)")
        if late:
            left = f"{path}: {late:,} of {n:,} tickets come{'s' * (late == 1)} {end}"
            self.remarks += (Note(left, "tickets_left_out", late),)
        self.tickets = tickets = every.take(np.flatnonzero(every.times < horizon))
        # when players of each ticket come again, who then leave their earlier place
        self._again = np.full(tickets.times.size, np.inf)
        if tickets.ids is not None:
            players = np.unique(tickets.ids, return_inverse=True)[1]
            of_players = next_arrivals(players, tickets.times[tickets.of])
            np.minimum.at(self._again, tickets.of, of_players)
        if again := int((self._again - tickets.times <= AGAIN).sum()):
            text = f"{path}: {again:,} tickets have a player who comes again within an hour"
            text += ": where they still wait, they are cancelled"
            self.remarks += (Note(text, "queued_again", again),)
        # attributes that some player has
        self.known = {name for name, values in tickets.values.items() if has_value(values).any()}
        maps = [attribute.name for attribute in table.attributes if attribute.kind == "map"]
        self._check(trips.centres, maps)

    def draw(self, factors: TicketsFactors, trips: RoundTrips, rng_key: Words) -> Tickets:
        """Return drawn tickets with what the log says of them."""
        # Whose players have some latencies has no others. A home is the data centre with the
        # least mean latency where all players of a ticket have some and a home is called so, else
        # it is as drawn.
        logged = self.tickets
        drawn, error = draw_people(factors, trips, rng_key, logged.times, logged.sizes)
        values = dict(drawn.values)
        for name in self.known:
            of_log = logged.values[name]
            values[name] = np.where(has_value(of_log), of_log, values.get(name, of_log))
        latencies = np.full_like(drawn.latencies, np.nan)
        for column, region in enumerate(logged.regions):
            latencies[:, trips.centres.index(region)] = logged.latencies[:, column]
        silent = np.asarray(np.isnan(latencies).all(axis=1))
        latencies[silent] = drawn.latencies[silent]
        sums = drawn.of_party(latencies, "sum")
        nearest = np.where(np.isnan(sums), np.inf, sums).argmin(axis=1)
        homes = [trips.homes.index(name) if name in trips.homes else -1 for name in trips.centres]
        home = np.array(homes, np.int64)[nearest]
        says = drawn.of_party(silent.astype(np.float64), "sum") == 0
        says &= ~np.isnan(sums).all(axis=1) & (home >= 0)
        cancels = np.where(np.isinf(logged.cancels), drawn.cancels, logged.cancels)
        # What a log has of a skill is what the matchmaker sees.
        seen = values[factors.skill.attribute]
        return drawn._replace(
            cancels=np.minimum(cancels, self._again),
            values=values,
            latencies=latencies,
            homes=np.where(says, home, drawn.homes),
            seen=seen,
            skills=np.where(seen == drawn.seen, drawn.skills, seen - error),
        )

    def answered(self, drawn: Floats) -> Floats:
        """Return answers to proposals with those of the log; a refusal lets the time run out."""
        logged = self.tickets.answers[:, :PROPOSALS]
        answers, first = drawn.copy(), drawn[:, : logged.shape[1]]
        logged = np.where(logged < 0.0, np.nan, logged)
        answers[:, : logged.shape[1]] = np.where(np.isinf(logged), first, logged)
        return answers

    def _check(self, centres: Sequence[str], maps: Sequence[str]) -> None:
        tickets, of = self.tickets, self.tickets.of

        def refuse(which: Bools, what: str) -> None:
            for ticket in np.flatnonzero(which)[:1]:
                raise InputError(f"{self._path}: ticket {shown(tickets.name(ticket))}: {what}")

        if tickets.teams is not None:
            running = tickets.teams[tickets.firsts] != NONE
            refuse(running, "is a backfill, which no arrival can be")
        for count in sorted(set(tickets.sizes[tickets.sizes > MOST_PLAYERS].tolist())):
            what = f"{count} players (allowed: up to {MOST_PLAYERS})"
            refuse(tickets.sizes == count, what)
        for region, pings in zip(tickets.regions, tickets.latencies.T, strict=True):
            if region not in centres:
                what = f"region {shown(region)} is no data centre ({hint(region, centres)})"
                reports = np.bincount(of[~np.isnan(pings)], minlength=tickets.sizes.size) > 0
                refuse(reports, f"{what}; those are in regions.shares or latency: FILE")
        for name in maps:
            what = "is a map, and maps of players cannot be simulated"
            of_players = has_value(tickets.values[name])
            has = np.bincount(of[of_players], minlength=tickets.sizes.size) > 0
            refuse(has, f"attribute {shown(name)} {what}")
