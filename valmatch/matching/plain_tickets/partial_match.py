"""Matches that grow: tickets on teams, complete or not."""

from __future__ import annotations

from typing import cast

from valmatch.matching.plain_tickets.pool import Known, Pool, in_force


class PartialMatch:
    """Tickets on teams at one moment; it never changes, `with_ticket` returns another one."""

    def __init__(
        self,
        pool: Pool,
        tickets: tuple[int, ...] = (),
        homes: tuple[int | None, ...] = (),
        teams: tuple[tuple[Known, ...], ...] | None = None,
        born: float | None = None,
    ) -> None:
        # tickets: in the order in which they were added
        # homes: the team of each; None for one of a game that runs, whose players have teams of
        # their own
        self.pool, self.tickets, self.homes = pool, tickets, homes
        # players by team
        self.teams = tuple(() for _ in pool.table.teams) if teams is None else teams
        self._born = born

    @property
    def players(self) -> int:
        """How many players it has."""
        return sum(map(len, self.teams))

    @property
    def running(self) -> int:
        """How many of its tickets are of games that run."""
        return self.homes.count(None)

    @property
    def born(self) -> float:
        """When the ticket joined whose age counts; there is one."""
        return cast(float, self._born)

    def born_with(self, ticket: int) -> float:
        """Return when the ticket would have joined whose age counted if one were added."""
        time = self.pool.times[ticket]
        if self._born is None:
            return time
        return min(time, self._born) if self.pool.table.oldest else max(time, self._born)

    def with_ticket(self, ticket: int, home: int | None) -> PartialMatch:
        """Return the match with another ticket on a team."""
        teams = list(self.teams)
        for player in self.pool.players[ticket]:
            at = cast(int, player.home) if home is None else home
            teams[at] = (*teams[at], player)
        return PartialMatch(
            self.pool,
            (*self.tickets, ticket),
            (*self.homes, home),
            tuple(teams),
            self.born_with(ticket),
        )

    def sizes(self, now: float, more: int | None = None) -> list[tuple[int, int]]:
        """Return least and most players of each team at the age of the match, or with a ticket."""
        born = self.born if more is None else self.born_with(more)
        return [
            (
                int(cast(float, in_force(team.least, born, now))),
                int(cast(float, in_force(team.most, born, now))),
            )
            for team in self.pool.table.teams
        ]

    def is_full(self, now: float) -> bool:
        """Return whether no team has room."""
        return all(
            len(team) >= most for team, (_, most) in zip(self.teams, self.sizes(now), strict=True)
        )

    def fits(self, now: float) -> bool:
        """Return whether games that run, and the size of each team, are what a match needs."""
        if self.running > 1 or self.running == len(self.tickets):
            return False
        return all(
            least <= len(team) <= most
            for team, (least, most) in zip(self.teams, self.sizes(now), strict=True)
        )

    def homes_for(self, ticket: int, now: float) -> list[int | None]:
        """Return the teams that have room for a ticket, in the order of filling.

        Teams that are too small come first, then those with most room. A ticket of a game that runs
        goes to the teams of its players: [None], or [] without room.
        """
        sizes, own = self.sizes(now, ticket), self.pool.players[ticket]
        if self.pool.tickets[ticket].running:
            homes = [player.home for player in own]
            full = any(
                home in homes and len(team) + homes.count(home) > most
                for home, (team, (_, most)) in enumerate(zip(self.teams, sizes, strict=True))
            )
            return [] if full else [None]
        order = sorted(
            (len(team) >= least, len(team) - most, number)
            for number, (team, (least, most)) in enumerate(zip(self.teams, sizes, strict=True))
        )
        return [number for _, room, number in order if len(own) <= -room]
