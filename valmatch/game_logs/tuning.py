"""Fitting the parameters of a rating system to the first part of a log."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError, option
from valmatch.game_logs.games import Games, part
from valmatch.game_logs.names import Names
from valmatch.game_logs.roster import Known, Roster
from valmatch.game_logs.scores import Scores, scores
from valmatch.game_logs.system import System

__all__ = ["Trial", "Tuning", "tune"]

_RANGE = 1024.0  # factor up and down within which a parameter is searched
_STEPS = 21  # of the coarse search over this range
_EVALUATIONS = 150  # at most, of the fine search, for each parameter


@dataclass(frozen=True)
class Trial:
    """How some values of the parameters do.

    Attributes
    ----------
    parameters : mapping of str to float
        The values.
    first, rest : Scores
        Scores on the part that was fitted to, and on the part after it.
    """

    parameters: Mapping[str, float]
    first: Scores
    rest: Scores

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as ``summary.json`` holds them."""
        return {
            "parameters": dict(self.parameters),
            "first": self.first.as_dict(),
            "rest": self.rest.as_dict(),
        }


@dataclass(frozen=True)
class Tuning:
    """Parameters fitted to the log loss of the first part of a log, and judged by the rest.

    Attributes
    ----------
    train : float
        Share of the games that were fitted to.
    fitted : sequence of str
        Names of the fitted parameters.
    published, tuned : Trial
        How the published and the fitted values do.
    difference : float
        Mean over the games of the rest of log loss tuned - published.
    difference_std_error : float or None
        Its standard error, by the spread over games; None for one game.
    evaluations : int
        How often the first part was played.
    remarks : sequence of str
        What to know about the fit.
    """

    train: float
    fitted: Sequence[str]
    published: Trial
    tuned: Trial
    difference: float
    difference_std_error: float | None
    evaluations: int
    remarks: Sequence[str]

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as ``summary.json`` holds them."""
        return {
            "train": self.train,
            "fitted": list(self.fitted),
            "published": self.published.as_dict(),
            "tuned": self.tuned.as_dict(),
            "rest_log_loss_difference": {
                "mean": self.difference,
                "std_error": self.difference_std_error,
            },
            "evaluations": self.evaluations,
            "remarks": list(self.remarks),
        }


def tune(
    system: System,
    names: Sequence[str],
    values: Mapping[str, float],
    games: Games,
    players: Names,
    known: Sequence[Known],
    train: float,
    stop: Callable[[], bool] = lambda: False,
) -> Tuning:
    """Fit parameters to the log loss of the first part of some games.

    The search runs over logarithms: each parameter in turn over a wide range, then the
    Nelder-Mead method (scipy) from the best point. It is deterministic.

    If all parameters that carry the unit of the ratings were to be fitted and all players are
    new, only their ratios could be told from the games: then the first of them is held.

    Parameters
    ----------
    system : System
        The rating system.
    names : sequence of str
        Parameters to fit.
    values : mapping
        Values of all parameters, where the search starts.
    games : Games
        All games in play order.
    players : Names
        Their players.
    known : sequence of Known
        Where some players start.
    train : float
        Share of the games that form the first part, in (0, 1).
    stop : callable
        Returns whether to give up, which is asked before each trial.

    Raises
    ------
    InputError
        If either part is empty, or a parameter to be fitted has no scale to search on.
    KeyboardInterrupt
        If `stop` says so.
    """
    for one in system.parameters:
        if one.name in names and not (values[one.name] or one.published):
            raise InputError(
                f"{option('tune')} {one.name}: starts at 0, which has no scale (give it a value >"
                " 0)"
            )
    n_first = int(games.n_games * train)
    if not 0 < n_first < games.n_games:
        raise InputError(
            f"{option('train')} {train!r}: leaves a part of the {games.n_games} games empty"
            " (allowed: a share"
            " with at least one game on either side)"
        )
    parts = (part(games, 0, n_first), part(games, n_first, games.n_games))
    judge = _Judge(system, players, known, parts, stop)
    fitted, remarks = list(names), []
    if system.unit and not known and set(system.unit) <= set(names):
        held = next(name for name in names if name in system.unit)
        fitted.remove(held)
        remarks.append(
            f"{held} is held at {values[held]!r}: among new players the predictions depend only"
            f" on the ratios of {', '.join(system.unit)}"
        )
    best = _search(system, fitted, dict(values), judge, remarks)
    published, before = judge.trial({p.name: p.published for p in system.parameters})
    tuned, after = judge.trial(best)
    gain = after - before
    std_error = float(gain.std(ddof=1) / math.sqrt(len(gain))) if len(gain) > 1 else None
    return Tuning(
        train,
        fitted,
        published,
        tuned,
        float(gain.mean()),
        std_error,
        judge.evaluations,
        remarks,
    )


@dataclass
class _Judge:
    """Plays a log in two parts under any values of the parameters."""

    system: System
    players: Names
    known: Sequence[Known]
    parts: tuple[Games, Games]
    stop: Callable[[], bool]
    evaluations: int = field(default=0)

    def loss(self, values: Mapping[str, float]) -> float:
        """Return the log loss of the first part."""
        if self.stop():
            raise KeyboardInterrupt
        self.evaluations += 1
        roster = Roster(self.system, values, self.players, self.known)
        roster.play(self.parts[0], 0)
        loss = scores(roster.tally[0]).log_loss
        assert loss is not None
        return loss

    def trial(self, values: Mapping[str, float]) -> tuple[Trial, NDArray[np.float64]]:
        """Return the scores of both parts, and the log loss of each game of the rest."""
        roster = Roster(self.system, values, self.players, self.known)
        roster.play(self.parts[0], 0)
        first = scores(roster.tally[0])
        roster.tally[:] = 0.0
        losses = roster.play(self.parts[1], 0).losses
        return Trial(dict(values), first, scores(roster.tally[0])), losses


def _search(
    system: System,
    names: Sequence[str],
    values: dict[str, float],
    judge: _Judge,
    remarks: list[str],
) -> dict[str, float]:
    """Return the values with the least log loss of the first part."""
    from scipy.optimize import minimize

    limits = {
        p.name: (
            max(p.low, (values[p.name] or p.published) / _RANGE),
            min(p.high, (values[p.name] or p.published) * _RANGE),
        )
        for p in system.parameters
    }

    def at(point: Sequence[float]) -> dict[str, float]:
        return values | {
            name: min(max(math.exp(x), limits[name][0]), limits[name][1])
            for name, x in zip(names, point, strict=True)
        }

    start = [math.log(values[name] or limits[name][0]) for name in names]
    least = judge.loss(at(start))
    for k, name in enumerate(names):
        low, high = map(math.log, limits[name])
        for x in np.linspace(low, high, _STEPS).tolist():
            point = [*start[:k], x, *start[k + 1 :]]
            loss = judge.loss(at(point))
            if loss < least:
                least, start = loss, point
    found = minimize(
        lambda point: judge.loss(at(point.tolist())),
        start,
        method="Nelder-Mead",
        bounds=[tuple(map(math.log, limits[name])) for name in names],
        options={"xatol": 1e-4, "fatol": 1e-10, "maxfev": _EVALUATIONS * len(names)},
    )
    best = at(found.x.tolist())
    remarks.extend(
        f"{name} = {best[name]!r} lies at the end of the range searched"
        for name in names
        if min(abs(math.log(best[name] / limit)) for limit in limits[name]) < 1e-3
    )
    return best
