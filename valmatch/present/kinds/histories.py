"""Ratings of some players over the games or the days of a log."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.rating_files import HISTORY
from valmatch.present.document import COLOURS, Graph, Line
from valmatch.storage.result_files import ResultFiles, damaged
from valmatch.text.durations import seconds_of
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import correction

DRAWN = 5  # players that are drawn where none are chosen

DAY = 86_400.0


def check_rated(players: Sequence[str], ranked: Sequence[str]) -> None:
    """Refuse to draw players who have no rating."""
    for player in players:
        if player not in ranked:
            near = correction(player, ranked)
            raise InputError(f"{option('players')}: {player!r} has no rating here{near}")


def chosen_players(players: Sequence[str], ranked: Sequence[str]) -> list[str]:
    """Return the players that are drawn: those that are wanted, or the best."""
    check_rated(players, ranked)
    if len(players) > COLOURS:
        most = f"allowed: {COLOURS}, which colours tell apart"
        raise InputError(f"{option('players')}: {len(players)} players ({most})")
    return list(dict.fromkeys(players)) or list(ranked[:DRAWN])


def history_chart(run: ResultFiles, players: Sequence[str], system: str) -> Graph:
    """Return the ratings of some players over the games of ``history.csv``, or over their times.

    A rating before the first game stands just before it. Rows stream through, because there may be
    many millions.
    """
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in players}
    timed = "time" in run.header(HISTORY)
    columns = ("game", "player", "rating_before", "rating_after", *(["time"] if timed else []))
    place, last, over = 0.0, None, "games of the log, in order of play"
    with damaged(run.folder / HISTORY):
        for game, player, before, after, *time in run.rows(HISTORY, columns):
            if game != last:
                last = game
                if timed:
                    place, over = _time(time[0])
                else:
                    place += 1.0
            if player in found:
                if not found[player]:
                    found[player].append((place - (not timed), float(before)))
                found[player].append((place, float(after)))
    first = min((rows[0][0] for rows in found.values() if rows), default=0.0)
    start, scale = 0.0, 1.0
    if over == DATES:
        start, scale = DAY * math.floor(first / DAY), DAY
        over = f"days after {datetime.fromtimestamp(start, UTC):%Y-%m-%d}"
    lines = []
    for k, (name, rows) in enumerate(found.items()):
        x, y = np.array(rows, np.float64).reshape(-1, 2).T
        lines.append(Line(name, (x - start) / scale, y, colour=k))
    return Graph(f"Ratings by {system}", over, "rating", lines)


DATES, TIMES = "date (UTC)", "time"


def _time(text: str) -> tuple[float, str]:
    """Return the time of a game, and what an axis of such times is called."""
    number = real_number(text)
    if number is not None:
        return number, TIMES
    value = seconds_of(text)
    if math.isnan(value):
        raise ValueError(f"{text!r} is no time")
    return value, DATES
