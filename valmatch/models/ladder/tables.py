"""Tables of a ladder: its players, games and tickets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Records
from valmatch.kernels.scratch import Scratch
from valmatch.models.ladder.population import DrawnPlayers
from valmatch.models.ladder.state import LEFT, Log, Loop
from valmatch.models.model import LargeTable, Table


def players_table(names: NDArray[Any], population: DrawnPlayers, loop: Loop, drawn: bool) -> Table:
    """Return a row for each player.

    Shapes: `names` (n,).
    """
    players, joined = loop.players, population.joining.size
    n = players.size
    friends = {"group": names[population.groups]} if loop.by_size.size else {}
    return Table(
        "players",
        {
            "player": names,
            "joined_hours": np.concatenate([np.zeros(n - joined), population.joining]),
            "skill": players["skill"],
            "activity": population.activities if drawn else np.full(n, np.nan),
            "rating": players["mean"],
            "sigma": players["sigma"] if players["sigma"].any() else np.full(n, np.nan),
            "games": players["finished"],
            "gone": (players["state"] == LEFT).astype(np.int64),
            **friends,
        },
    )


def games_table(
    names: NDArray[Any], loop: Loop, log: Log, minutes: float, scratch: Scratch
) -> Table:
    """Return a row for each player of each match that ended, in order of ending.

    Shapes: `names` (n,).
    """
    players = log.teams.shape[1]

    def part(rows: slice) -> dict[str, NDArray[Any]]:
        count = np.arange(rows.start, rows.stop)
        game, place = count // players, count % players
        matches, tickets = log.matches[game], log.tickets[log.teams[game, place]]
        side_b = place >= players // 2
        found = {
            "game": game,
            "time": matches["time"] + minutes / 60.0,
            "player": names[tickets["player"]],
            "team": np.where(side_b, "B", "A"),
            "score": ((matches["a_wins"] > 0) != side_b).astype(np.int64),
            "minutes": np.full(count.size, minutes),
            "wait_minutes": 60.0 * (tickets["ended"] - tickets["time"]),
            "p": np.where(side_b, 1.0, 0.0) + (1 - 2 * side_b) * matches["p"],
            "rating_before": log.before[game, place, 0],
            "rating_after": log.after[game, place, 0],
            **_party(loop, tickets),
        }
        scratch.release()
        return found

    return LargeTable("games", players * int(loop.state["ended"][0]), part)


def tickets_table(names: NDArray[Any], loop: Loop, log: Log, scratch: Scratch) -> Table:
    """Return a row for each ticket of a player; one still waiting has not ended."""

    def part(rows: slice) -> dict[str, NDArray[Any]]:
        tickets = log.tickets[rows].copy()
        scratch.release()
        return {
            "ticket": np.arange(rows.start, rows.stop),
            "player": names[tickets["player"]],
            "queued_hours": tickets["time"],
            "rating": tickets["rating"],
            "ended_hours": tickets["ended"],
            "match": np.where(tickets["match"] >= 0, tickets["match"], np.nan),
            "wait_minutes": 60.0 * (tickets["ended"] - tickets["time"]),
            **_party(loop, tickets),
        }

    return LargeTable("tickets", int(loop.state["tickets"][0]), part, whole=("match",))


def _party(loop: Loop, tickets: Records) -> dict[str, NDArray[Any]]:
    """Return how many queued together, where friends may."""
    return {"party": tickets["together"]} if loop.by_size.size else {}
