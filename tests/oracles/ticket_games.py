"""The readable twin of games whose servers ask for players, one game and player at a time."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Any

from tests.support.plain_matchmaker import Matchmaker
from valmatch.matching.plain_tickets import Pool
from valmatch.matching.tickets.columns import Document, tickets_of


class Server(Matchmaker):
    """A world whose matches run for some seconds, with backfill, perhaps for leavers."""

    def __init__(
        self, world: dict[str, Any], seconds: float, leavers: bool, stays: dict[str, float]
    ) -> None:
        super().__init__(world, "pass")
        self.seconds, self.leavers, self.stays = seconds, leavers, stays
        self.games: list[dict[str, Any]] = []
        self.backfills: list[Document] = []
        self.asked_by: dict[str, dict[str, Any]] = {}
        self.places = self.table.largest

    def complete(self, match: dict[str, Any], tickets: list[Document], now: float) -> None:
        super().complete(match, tickets, now)
        game = next((self.asked_by[one["id"]] for one in tickets if "backfill" in one), None)
        if game is None:
            game = {"end": now + self.seconds, "players": [], "ticket": None, "changed": True}
            self.games.append(game)
        else:
            game.update(ticket=None, changed=True)
        new = {p["id"]: p for one in tickets if "backfill" not in one for p in one["players"]}
        for team, ids in match["teams"].items():
            for name in ids:
                if name in new:
                    stays = self.stays[name]
                    left = max(game["end"] - now, 0.0)
                    leaves = now + stays * left if stays < 1.0 else math.inf
                    game["players"].append(({**new[name], "team": team}, leaves))

    def review(self, now: float) -> None:
        super().review(now)
        assert self.service.review
        then = len(self.reviews) * self.service.review
        if then > self.service.horizon:
            return
        for game in self.games:
            if game["end"] > then:
                self.look_at(game, now, then)

    def look_at(self, game: dict[str, Any], now: float, then: float) -> None:
        """Let a server see who has left, and ask anew if anything has changed."""
        if self.leavers:
            there = [one for one in game["players"] if one[1] > now]
            game["changed"] |= len(there) < len(game["players"])
            game["players"] = there
        name = game["ticket"]
        numbers = [k for k in self.waiting if self.tickets[k]["id"] == name]
        if name is not None:
            game["changed"] |= name in self.ended
            if name not in self.ended and not numbers:
                return  # until its proposal is decided
        if not game["changed"]:
            return
        for number in numbers:
            self.tickets[number]["cancel"] = then
        game.update(ticket=None, changed=False)
        if 0 < len(game["players"]) < self.places:
            self.ask(game, [player for player, _ in game["players"]], then)
        tickets = tickets_of(self.tickets, self.table, self.pool.rng_key)
        self.pool = Pool(self.table, tickets, self.service, "pass")
        self.tickets = self.pool.tickets

    def ask(self, game: dict[str, Any], players: list[Document], then: float) -> None:
        """Let a backfill ticket come; of those who come at the same moment it is the last."""
        new: Document = {"id": f"b{len(self.backfills)}", "time": then, "players": players}
        new |= {"cancel": game["end"], "backfill": True}
        self.backfills.append(new)
        self.tickets.insert(bisect_right([one["time"] for one in self.tickets], then), new)
        self.asked_by[new["id"]] = game
        game["ticket"] = new["id"]
