"""Tables of a ladder: its players, games and tickets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Records
from valmatch.models.ladder.population import DrawnPlayers
from valmatch.models.ladder.state import LEFT, Log, Loop
from valmatch.models.model import Table


def players_table(names: NDArray[Any], population: DrawnPlayers, loop: Loop, drawn: bool) -> Table:
    """Return a row for each player.

    Parameters
    ----------
    names : (n,) ndarray
        What they are called.
    population : DrawnPlayers
        Who they are.
    loop : Loop
        How they end.
    drawn : bool
        Whether their sessions were drawn by their activities.
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


def games_table(names: NDArray[Any], loop: Loop, log: Log, minutes: float) -> Table:
    """Return a row for each player of each match that ended, in order of ending."""
    size = log.teams.shape[1] // 2
    ended = np.flatnonzero(log.matches["place"][: loop.state["numbered"][0]] >= 0)
    ended = ended[np.argsort(log.matches["place"][ended], kind="stable")]
    rows, matches = 2 * size * ended.size, log.matches[ended]
    side_b = np.tile(np.repeat([False, True], size), ended.size)
    tickets = log.tickets[log.teams[ended].ravel()]
    won = np.repeat(matches["a_wins"] > 0, 2 * size) != side_b
    return Table(
        "games",
        {
            "game": np.repeat(ended, 2 * size),
            "time": np.repeat(matches["time"] + minutes / 60.0, 2 * size),
            "player": names[tickets["player"]],
            "team": np.where(side_b, "B", "A"),
            "score": won.astype(np.int64),
            "minutes": np.full(rows, minutes),
            "wait_minutes": 60.0 * (tickets["ended"] - tickets["time"]),
            "p": np.where(side_b, 1.0, 0.0) + (1 - 2 * side_b) * np.repeat(matches["p"], 2 * size),
            "rating_before": log.before[ended, :, 0].ravel(),
            "rating_after": log.after[ended, :, 0].ravel(),
            **_party(loop, tickets),
        },
    )


def tickets_table(names: NDArray[Any], loop: Loop, log: Log) -> Table:
    """Return a row for each ticket of a player; one still waiting has not ended."""
    tickets = log.tickets[: loop.state["tickets"][0]]
    matched = tickets["match"] >= 0
    return Table(
        "tickets",
        {
            "ticket": np.arange(tickets.size),
            "player": names[tickets["player"]],
            "queued_hours": tickets["time"],
            "rating": tickets["rating"],
            "ended_hours": tickets["ended"],
            "match": np.where(matched, tickets["match"], np.nan),
            "wait_minutes": 60.0 * (tickets["ended"] - tickets["time"]),
            **_party(loop, tickets),
        },
        whole=("match",),
    )


def _party(loop: Loop, tickets: Records) -> dict[str, NDArray[Any]]:
    """Return how many queued together, where friends may."""
    return {"party": tickets["together"]} if loop.by_size.size else {}
