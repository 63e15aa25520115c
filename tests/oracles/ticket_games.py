"""Games whose servers ask for players, one game and one player at a time.

The readable twin of games in `valmatch`: a matchmaker to whose tickets servers add their own after
each review, and which knows who is still there.
"""

from __future__ import annotations

import math
from typing import Any

from tests.oracles.rule_judge import Ticket
from tests.oracles.tickets import Matchmaker


class Server(Matchmaker):
    """A world whose matches run for some seconds, with backfill.

    Parameters
    ----------
    world : dict
        The world, without backfill tickets.
    seconds : float
        Length of a match.
    leavers : bool
        Whether servers ask in place of those who have left.
    stays : dict of str to float
        Which part of what is left of the match each player stays.
    """

    def __init__(
        self, world: dict[str, Any], seconds: float, leavers: bool, stays: dict[str, float]
    ) -> None:
        super().__init__({**world, "tickets": list(world["tickets"])}, "pass")
        self.seconds, self.leavers, self.stays = seconds, leavers, stays
        self.drawn = list(world["tickets"])
        self.games: list[dict[str, Any]] = []
        self.asked_by: dict[str, dict[str, Any]] = {}
        self.places = sum(
            max(
                [team["maxPlayers"]]
                + [
                    step["value"]
                    for one in self.rule_set.get("expansions", [])
                    if one["target"] == f"teams[{team['name']}].maxPlayers"
                    for step in one["steps"]
                ]
            )
            * team.get("quantity", 1)
            for team in self.rule_set["teams"]
        )

    def complete(self, match: dict[str, Any], tickets: list[Ticket], now: float) -> None:
        super().complete(match, tickets, now)
        game = next((self.asked_by[one["id"]] for one in tickets if one.get("backfill")), None)
        if game is None:
            game = {"end": now + self.seconds, "players": [], "ticket": None, "changed": True}
            self.games.append(game)
        else:
            game.update(ticket=None, changed=True)
        new = {p["id"]: p for one in tickets if not one.get("backfill") for p in one["players"]}
        for team, ids in match["teams"].items():
            for name in ids:
                if name in new:
                    stays = self.stays[name]
                    left = max(game["end"] - now, 0.0)
                    leaves = now + stays * left if stays < 1.0 else math.inf
                    game["players"].append(({**new[name], "team": team}, leaves))

    def review(self, now: float) -> None:
        super().review(now)
        then = self.tick * self.config["review"]
        if then > self.config["horizon"]:
            return
        for number, game in enumerate(self.games):
            if game["end"] > then:
                self.look_at(number, game, now, then)

    def look_at(self, number: int, game: dict[str, Any], now: float, then: float) -> None:
        """Let a server see who has left, and ask anew if anything has changed."""
        if self.leavers:
            there = [one for one in game["players"] if one[1] > now]
            game["changed"] |= len(there) < len(game["players"])
            game["players"] = there
        ticket = game["ticket"]
        if ticket is not None:
            game["changed"] |= ticket["id"] in self.ended
            if ticket["id"] not in self.ended and ticket not in self.waiting:
                return  # until its proposal is decided
        if not game["changed"]:
            return
        if ticket is not None and ticket["id"] not in self.ended:
            ticket["cancel"] = then
        game.update(ticket=None, changed=False)
        if 0 < len(game["players"]) < self.places:
            new = {
                "id": f"b{len(self.asked_by)}",
                "time": then,
                "cancel": game["end"],
                "backfill": True,
                "players": [player for player, _ in game["players"]],
            }
            # Of those who come at the same moment it is the last.
            self.tickets.append(new)
            self.place[new["id"]] = len(self.place)
            self.asked[new["id"]] = 0
            self.asked_by[new["id"]] = game
            game["ticket"] = new
