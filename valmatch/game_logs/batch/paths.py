"""Paths of players in time: their model by the options, and the rows of their days."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.batch.contests import Read
from valmatch.game_logs.batch.options import BatchOptions
from valmatch.game_logs.batch.result import DIGITS, DayRow
from valmatch.ratings.bradley_terry.connections import levels_of, link
from valmatch.ratings.bradley_terry.estimating import Estimate, Uncertainty
from valmatch.ratings.whole_history.days import player_days
from valmatch.ratings.whole_history.evidence import TooLarge, Tuned, tuned_drift
from valmatch.ratings.whole_history.rating import PathModel


def path_model(read: Read, batch: BatchOptions) -> PathModel:
    """Return the model of ratings that move."""
    assert read.days is not None
    values = batch.values
    days = player_days(read.contests, read.days)
    return PathModel(
        batch.draws,
        days=days,
        drift=values["drift"],
        deviation=values["deviation"],
        mean=values["mean"],
    )


def tuned_model(
    name: str, model: PathModel, read: Read, told: Callable[[], None]
) -> tuple[PathModel, Tuned]:
    """Return a model with the drift of the greatest evidence, and that evidence."""
    contests, levels = read.contests, levels_of(read.contests)
    linked = link(contests, levels, contests.weights, np.zeros(0, np.int64), all_rated=True)
    try:
        found = tuned_drift(model, contests, levels, linked, told)
    except TooLarge:
        what = "too many players are active at once (allowed: what takes seconds for each drift)"
        raise InputError(f"{name}: {option('tune')} drift: {what}") from None
    return replace(model, drift=found.drift), found


def path_facts(
    read: Read, model: PathModel, tuned: Tuned | None, sure: Uncertainty | None, unit: str
) -> dict[str, Any]:
    """Return what ``summary.json`` holds of paths besides the facts of all whole logs."""
    days = model.days
    return {
        "drift": model.drift,
        "deviation": model.deviation,
        "player_days": len(days.days),
        "first_day": read.day_cell(int(days.days.min())),
        "last_day": read.day_cell(days.last_day),
        "time_unit": None if read.dated else unit,
        "standard_errors": None if sure is None else "drawn" if sure.drawn else "exact",
        "tuning": None if tuned is None else tuned._asdict(),
    }


def day_rows(
    read: Read, model: PathModel, made: Estimate, sure: Uncertainty | None, half: float | None
) -> list[DayRow]:
    """Return the rows of ``days.csv``: by player, then by day."""
    days, ratings = model.days, made.days
    assert ratings is not None
    empty = np.full(len(ratings), np.nan)
    errors = empty if sure is None or sure.days is None else sure.days
    reach = errors * (np.nan if half is None else half)
    columns = (
        [read.players[player] for player in days.players.tolist()],
        list(map(read.day_cell, days.days.tolist())),
        *(_cells(column) for column in (ratings, errors, ratings - reach, ratings + reach)),
        days.games.tolist(),
    )
    return [DayRow(*row) for row in zip(*columns, strict=True)]


def _cells(column: Any) -> list[float | None]:  # noqa: ANN401 - an array
    rounded = (np.round(column, DIGITS) + 0.0).tolist()
    return [None if value != value else value for value in rounded]
