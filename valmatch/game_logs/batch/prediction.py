"""Games to come, predicted by the ratings of a whole log."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.batch.contests import HOME, day_of
from valmatch.game_logs.batch.options import TIME_UNITS
from valmatch.game_logs.batch.posterior_file import POSTERIOR, check_same, read_posterior
from valmatch.game_logs.batch.result import ANCHOR, DRAW_WEIGHT
from valmatch.game_logs.batch.writing import COEFFICIENTS
from valmatch.game_logs.prediction.fixtures import Fixture
from valmatch.game_logs.prediction.forecasts import Forecast, of_sides, undefined
from valmatch.game_logs.previous_ratings import KINDS
from valmatch.game_logs.writing.folder import SUMMARY
from valmatch.inputs.csv_reader import Dialect, Row, read_rows
from valmatch.kernels.arrays import Floats
from valmatch.ratings.bradley_terry.fit import POINTS
from valmatch.ratings.bradley_terry.likelihood import duel_chances
from valmatch.ratings.system import BatchSystem, Chances, Z
from valmatch.text.terminal import shown

NAMED = 5  # reasons for which games have no prediction that are told


class WholeRatings:
    """The ratings of a whole log, from the folder that `rate` wrote."""

    def __init__(self, path: Path, system: BatchSystem, warn: Callable[[str], None]) -> None:
        every = _rows(path, ("player", "rating", "group", "status"))
        rows = [row for row in every if row.cells["rating"]]
        if not rows:
            raise InputError(f"{path}: nobody has a rating")
        self.everybody = [row.text("player") for row in every]  # all who played
        self._groups = {row.text("player"): row.cells["group"] for row in every}
        self._unrated = {
            row.text("player"): row.cells["status"] for row in every if not row.cells["rating"]
        }
        self.names = [row.text("player") for row in rows]  # the rated players
        self._places = {name: k for k, name in enumerate(self.names)}
        self._ratings = np.array([row.number("rating") for row in rows])
        found = list(_rows(path.parent / COEFFICIENTS, ("name", "value")))
        coefficients = {row.text("name"): row.number("value") for row in found}
        self._home = coefficients.pop(HOME, 0.0)
        self._draw_weight = coefficients.pop(DRAW_WEIGHT, 0.0)
        self._coefficients, self._warn = coefficients, warn
        self.covariates = list(coefficients)  # those that have coefficients
        self._covariance = self._held_by(path, [row.cells["status"] == ANCHOR for row in rows])
        self._paths = _paths(path.parent / SUMMARY) if system.paths else None

    def _held_by(self, path: Path, anchored: Sequence[bool]) -> Floats | None:
        """Return the covariance of the ratings; None where it was not written."""
        file = path.parent / POSTERIOR
        held = read_posterior(file)
        if held is None:
            return None
        check_same(file, held, path, self.names, self._ratings.tolist(), anchored)
        return held.covariance

    def forecast(self, fixtures: Sequence[Fixture]) -> list[Forecast]:
        """Predict games; who never played is as strong as the mean, and there is no interval.

        Both sides of a game are taken to have the same of covariates that it does not say. A game
        has no prediction where somebody has no finite rating, or no game links two of its players.
        """
        unknown = [
            name
            for name in self.covariates
            if not all(name in fixture.covariates for fixture in fixtures)
        ]
        if unknown:
            self._warn(f"predicted as if both sides had the same {', '.join(unknown)}")
        reasons = [self._undefined(fixture) for fixture in fixtures]
        if why := list(dict.fromkeys(filter(None, reasons))):
            more = f" and {len(why) - NAMED:,} more" if len(why) > NAMED else ""
            n = len(reasons) - reasons.count("")
            self._warn(
                f"{n:,} game{'s' * (n != 1)} without a prediction: {'; '.join(why[:NAMED])}{more}"
            )
        return [
            undefined(fixture, self._newcomers(fixture)) if reason else self._one(fixture)
            for fixture, reason in zip(fixtures, reasons, strict=True)
        ]

    def _undefined(self, fixture: Fixture) -> str:
        """Say why the ratings say nothing of a game; or nothing."""
        players = [name for side in fixture.sides for name in side if name in self._groups]
        for name in players:
            if status := self._unrated.get(name):
                helps = f"rate with {option('prior')} D to give everybody one"
                return f"{shown(name)} has no finite rating ({status}; {helps})"
            if self._groups[name] != self._groups[players[0]]:
                return f"no game links {shown(players[0])} and {shown(name)}"
        return ""

    def _newcomers(self, fixture: Fixture) -> list[str]:
        return [name for side in fixture.sides for name in side if name not in self._groups]

    def _one(self, fixture: Fixture) -> Forecast:
        pairs = list(permutations(range(len(fixture.sides)), 2))
        leads = np.array([self._lead(fixture, *pair) for pair in pairs])
        errors = np.array([self._error(fixture, *pair) for pair in pairs])
        # Of an order, who comes first follows from strengths alone.
        nu = self._draw_weight if len(fixture.sides) == 2 else 0.0
        log_nu = math.log(nu) if nu > 0.0 else -math.inf
        at, low, high = (
            duel_chances(POINTS * (leads + step * np.nan_to_num(errors)), log_nu)
            for step in (0.0, -Z, Z)
        )
        drawn = at.drawn if nu > 0.0 else np.full(len(pairs), np.nan)
        chances = Chances(
            at.first + 0.5 * at.drawn,
            at.first,
            drawn,
            np.where(np.isnan(errors), np.nan, low.first),
            np.where(np.isnan(errors), np.nan, high.first),
        )
        return of_sides(fixture, chances, self._newcomers(fixture))

    def _lead(self, fixture: Fixture, a: int, b: int) -> float:
        """Return the lead of a side over another in points."""
        home = self._home * fixture.at_home * ((a == 0) - (b == 0))
        more = math.fsum(
            self._coefficients[name] * (values[a] - values[b])
            for name, values in fixture.covariates.items()
        )
        strengths = self._strength(fixture.sides[a]) - self._strength(fixture.sides[b])
        return strengths + home + more

    def _strength(self, side: Sequence[str]) -> float:
        mean = float(self._ratings.mean())
        places = (self._places.get(name) for name in sorted(side, key=str.encode))
        own = [mean if place is None else float(self._ratings[place]) for place in places]
        return math.fsum(own) / len(own)

    def _error(self, fixture: Fixture, a: int, b: int) -> float:
        """Return the standard error of that lead; NaN where it is not known."""
        sides = fixture.sides[a], fixture.sides[b]
        if self._covariance is None or any(n not in self._places for s in sides for n in s):
            return math.nan
        places = [self._places[name] for side in sides for name in side]
        shares = [sign / len(side) for sign, side in zip((1, -1), sides, strict=True) for _ in side]
        spread = self._covariance[np.ix_(places, places)]
        variance = float(np.array(shares) @ spread @ np.array(shares))
        if self._paths is not None:  # everybody moves by himself until the game
            variance += self._paths.later(fixture) * math.fsum(share**2 for share in shares)
        return math.sqrt(max(variance, 0.0))


class _Paths(NamedTuple):
    """How ratings move after the last day of the log."""

    drift: float
    last: float
    dated: bool
    unit: str

    def later(self, fixture: Fixture) -> float:
        """Return the variance of what a rating has moved at a game; 0 if its time is not known."""
        if math.isnan(fixture.time):
            return 0.0
        if fixture.dated != self.dated:
            raise InputError(
                f"{fixture.where}: time: {KINDS[fixture.dated]}, where the log holds"
                f" {KINDS[self.dated]} (allowed: the same in both)"
            )
        day = float(day_of(np.array([fixture.time]), self.dated, self.unit)[0])
        return self.drift**2 * max(day - self.last, 0.0)


def _paths(path: Path) -> _Paths:
    """Return how ratings move, from the summary of a rating."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        drift, last, unit = float(facts["drift"]), facts["last_day"], facts["time_unit"]
        dated = isinstance(last, str)
        day = float(np.datetime64(last, "D").astype(np.int64)) if dated else float(last)
        if unit not in (None, *TIME_UNITS):
            raise ValueError(f"time_unit: {unit!r}")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: damaged: {error}") from None
    return _Paths(drift, day, dated, unit or "days")


def _rows(path: Path, wanted: Sequence[str]) -> list[Row]:
    """Return the rows of a file of a rating."""

    def choose(header: Sequence[str], place: str) -> Sequence[str]:
        if missing := [name for name in wanted if name not in header]:
            raise InputError(f"{place}: no column {missing[0]} (allowed: as `rate` wrote it)")
        return wanted

    return list(read_rows(path, choose, Dialect()))
