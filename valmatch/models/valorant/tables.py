"""Tables of a replication: its players, its matches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.inputs.csv_reader import joined_names
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.matching.rules import Rules, prioritized
from valmatch.models.model import Table, Values
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.models.valorant.log_factors import LEFT


class Played(NamedTuple):
    """A replication, player by player."""

    players: ArrivingPlayers  # who arrived
    log: Floats  # the matches as the kernel logs them
    gave_up: Bools  # (n,): who left without a match
    until: Floats  # (n,): until when those waited who did not play, in hours
    responses: Values  # the responses


def players_table(
    played: Played,
    names: NDArray[Any],
    rules: Rules,
    waiting: Iterable[tuple[int, Sequence[int]]],
    further: Mapping[str, NDArray[Any]],
) -> Table:
    """Return one row for each player.

    Shapes: `names` (n,).
    """
    players, team_num = played.players, rules.team_num
    n = players.times.size
    team, match, left = (np.full(n, np.nan) for _ in range(3))
    for number, row in enumerate(played.log):
        for k, player in enumerate(row[3:].astype(int).tolist()):
            team[player] = row[1 + k // team_num]
            match[player], left[player] = number, row[0]
    for order, members in waiting:
        for player in members:
            team[player] = order
    vectors = players.vectors.T if players.vectors.size else np.full((3, n), np.nan)
    seen = np.where(np.isnan(left), played.until, left)
    gave_up = np.where(played.gave_up, played.until, np.nan)
    return Table(
        "players",
        {
            "player": names,
            "arrival_hours": players.times,
            **further,
            **dict(zip(("elo", "kd", "wr"), vectors, strict=True)),
            "rating": players.ratings,
            "team": team,
            "match": match,
            "match_hours": left,
            **({LEFT: gave_up} if players.departures.size else {}),
            "wait_minutes": 60.0 * (left - players.times),
            "prioritized": prioritized(players.times, seen, rules).astype(np.int64),
        },
        whole=("team", "match"),
    )


def matches_table(played: Played, names: NDArray[Any], team_num: int) -> Table:
    """Return one row for each match."""
    players, log = played.players, played.log
    sides = sides_of(log)
    # Added one by one like the kernel adds them, so that differences agree to the last bit.
    means = [_sums(players.ratings[side]) / team_num for side in sides]
    teams = [
        np.array([joined_names([*map(str, names[team].tolist())]) for team in side], str)
        for side in sides
    ]
    return Table(
        "matches",
        {
            "match": np.arange(log.shape[0]),
            "time_hours": log[:, 0],
            "team_a": teams[0],
            "team_b": teams[1],
            "mean_a": means[0],
            "mean_b": means[1],
            "team_diff": np.abs(means[0] - means[1]),
        },
    )


def sides_of(log: Floats) -> tuple[Ints, Ints]:
    """Return the players of both teams of each match."""
    first, second = np.split(log[:, 3:].astype(np.int64), 2, axis=1)
    return first, second


def _sums(ratings: Floats) -> Floats:
    """Return the sum of each row, added from left to right."""
    total = np.zeros(ratings.shape[0])
    for column in ratings.T:
        total += column
    return total
