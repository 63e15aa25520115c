"""Fitting the parameters of a rating system to the first part of a log."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.reading.log import games_at
from valmatch.game_logs.roster import Difference, Roster, Scores, blocks_of, difference, scores
from valmatch.kernels.arrays import Floats
from valmatch.ratings.games import Games

# Parameters of which not every log says something, or which say how likely three results are.
HOME, DRAWS = "home_advantage", "draw_probability"
THREE = "three_way_log_loss"
_RANGE = 1024.0  # factor up and down within which a parameter is searched
_STEPS = 21  # of the coarse search over this range
_EVALUATIONS = 150  # at most, of the fine search, for each parameter
_GAIN = 5e-5  # the least loss that a fit has to save on the rest: less is shown as 0.0000
_NOTHING = 1e-6  # by which the loss changes over a whole range where nothing depends on a value


@dataclass(frozen=True)
class Trial:
    """How some values of the parameters do."""

    parameters: Mapping[str, float]  # the values
    # first, rest: scores on the part that was fitted to, and on the part after it
    first: Scores
    rest: Scores


@dataclass(frozen=True)
class Judged(Difference):
    """By how much a score of the tuned values exceeds that of others, over blocks of the rest."""

    parameters: Sequence[str]  # the fitted ones that were compared
    # the values that had to be beaten: those where the search started, but where they give draws no
    # probability, which cannot be compared, with that of the tuned ones
    against: Mapping[str, float]
    measure: str  # the score: ``log_loss``, or ``three_way_log_loss``


@dataclass(frozen=True)
class Tuning:
    """Parameters fitted to the log loss of the first part of a log, and tested on the rest."""

    train: float  # share of the games that were fitted to
    fitted: Sequence[str]  # names of the fitted parameters
    # published, tuned: how the published and the fitted values do
    published: Trial
    tuned: Trial
    # whether the tuned values beat the others on the rest, beyond the interval and worth naming
    adopted: bool
    adopted_parameters: Sequence[str]  # the fitted ones whose fitted values are adopted
    judged: Judged
    evaluations: int  # how often the first part was played
    remarks: Sequence[str]  # what to know about the fit
    values: Mapping[str, float]  # those to go on with: the tuned ones if they are adopted


def tune(
    start: Roster,
    names: Sequence[str],
    games: Games,
    train: float,
    stop: Callable[[], bool] = lambda: False,
) -> Tuning:
    """Fit parameters to the first part of some games; adopt them if the rest shows them better."""
    axes, remarks = _axes(start, names, games)
    n_first = games_to_fit(games, train)
    parts = (games_at(games, slice(0, n_first)), games_at(games, slice(n_first, games.n_games)))
    trials = _Trials(start, parts, stop, three_way=DRAWS in names)
    system, values = start.system, start.values
    axes, best = _search(axes, dict(values), trials, remarks)
    for name, value in values.items():  # a search that ends where it began is off by rounding
        best[name] = value if math.isclose(best[name], value, rel_tol=1e-12) else best[name]
    published, _ = trials.trial({p.name: p.published for p in system.parameters})
    tuned, sums = trials.trial(best)
    against = dict(values)
    if DRAWS in names and not values[DRAWS]:
        against[DRAWS] = best[DRAWS]
    measure = THREE if trials.three_way and tuned.rest.three_way_log_loss else "log_loss"
    _, beaten = trials.trial(against)
    change, better = difference(measure, sums, beaten), difference(measure, beaten, sums)
    adopted = best == against or (better.above_zero and (better.mean or 0.0) >= _GAIN)
    fitted = [axis.name for axis in axes]
    changed = [name for name in fitted if best[name] != against[name]]
    if changed and not adopted:
        new, old = (", ".join(f"{x} = {v[x]:.6g}" for x in changed) for v in (best, against))
        half, label = change.half_width, measure.replace("three_", "three-").replace("_", " ")
        spread = "" if half is None else f" +- {half:.4f}"
        by = "" if change.mean is None else f" ({change.mean:+.4f}{spread}, 95%)"
        what = f"the {label} of the rest of the games is not shown to be lower{by}"
        remarks.append(f"{new}: not adopted, {old} stays: {what}")
    chosen = best if adopted else against
    return Tuning(
        train=train,
        fitted=fitted,
        published=published,
        tuned=tuned,
        adopted=adopted,
        adopted_parameters=[name for name in fitted if best[name] == chosen[name]],
        judged=Judged(**vars(change), parameters=changed, against=against, measure=measure),
        evaluations=trials.evaluations,
        remarks=remarks,
        values=chosen,
    )


def games_to_fit(games: Games, train: float) -> int:
    """Return the number of games in the first part of a log."""
    n_first = int(games.n_games * train)
    if not 0 < n_first < games.n_games:
        raise InputError(
            f"{option('train')} {train!r}: leaves a part of the {games.n_games} games empty"
            " (allowed: a share with at least one game on either side)"
        )
    return n_first


@dataclass
class _Trials:
    """Plays a log in two parts under any values of the parameters."""

    start: Roster  # the players before the first game
    parts: tuple[Games, Games]  # the part that is fitted to, and the rest
    stop: Callable[[], bool]  # returns whether to give up
    three_way: bool  # whether the loss is that of three results
    evaluations: int = 0  # how often the first part was played for its loss

    def _start(self, values: Mapping[str, float]) -> Roster:
        """Return the players after the first part; the tally is of its predictions."""
        if self.stop():
            raise KeyboardInterrupt
        roster = self.start.restarted(values)
        roster.play(self.parts[0], 0)
        return roster

    def loss(self, values: Mapping[str, float]) -> float:
        """Return the log loss of the first part, of three results if that is wanted and known."""
        self.evaluations += 1
        first = scores(self._start(values).tally[0])
        loss = first.three_way_log_loss if self.three_way else None
        loss = first.log_loss if loss is None else loss
        assert loss is not None
        return loss

    def trial(self, values: Mapping[str, float]) -> tuple[Trial, Floats]:
        """Return the scores of both parts, and of the rest the tallies of blocks."""
        rest, roster = self.parts[1], self._start(values)
        first = scores(roster.tally[0])
        roster.tally[:] = 0.0
        upto = [roster.tally[0].copy()]
        for start, end in blocks_of(rest, dated=False):
            roster.play(games_at(rest, slice(start, end)), 0)
            upto.append(roster.tally[0].copy())
        return Trial(dict(values), first, scores(roster.tally[0])), np.diff(upto, axis=0)


class _Axis(NamedTuple):
    """How the search moves along a parameter, by a coordinate of about the length of all others."""

    name: str  # the parameter
    # low, high: least and greatest value where the search looks around
    low: float
    high: float
    # least, most: limits of what it may find
    least: float
    most: float
    even: bool  # whether the coordinate is even in the value, not in its logarithm

    def at(self, value: float) -> float:
        """Return the coordinate of a value."""
        if self.even:
            return 2.0 * math.log(_RANGE) * (value - self.low) / (self.high - self.low)
        return math.log(value)

    def value(self, x: float) -> float:
        """Return the value at a coordinate."""
        if self.even:
            value = self.low + x / (2.0 * math.log(_RANGE)) * (self.high - self.low)
        else:
            value = math.exp(x)
        return min(max(value, self.least), self.most)

    @property
    def ends(self) -> tuple[float, float]:
        """The coordinates of the least and the greatest value that may be found."""
        return self.at(self.least), self.at(self.most)

    def across(self) -> list[float]:
        """Return the coordinates of the coarse search."""
        wide = np.linspace(self.at(self.low), self.at(self.high), _STEPS)
        return sorted(set(np.clip(wide, *self.ends).tolist()))


def _axes(start: Roster, names: Sequence[str], games: Games) -> tuple[list[_Axis], list[str]]:
    """Return how to search parameters, and remarks on those that the games cannot tell."""
    if HOME in names and not (games.homes >= 0).any():
        raise InputError(
            f"{option('tune')} {HOME}: no game of this log has a side at home (allowed: with the"
            " columns home and away)"
        )
    system, values, axes = start.system, start.values, list[_Axis]()
    minutes = float(np.median(games.minutes)) if games.n_games else 1.0
    for name in names:
        if even := system.searched(values).get(name):
            axes.append(_Axis(name, *even, *even, even=True))
            continue
        limits = next(known for known in system.parameters if known.name == name)
        middle = values[name] or limits.published
        if not middle:
            what = "starts at 0, which has no scale (give it a value > 0)"
            raise InputError(f"{option('tune')} {name}: {what}")
        low, high = max(limits.low, middle / _RANGE), min(limits.high, middle * _RANGE)
        least, most = system.sane(values, minutes).get(name, (low, high))
        # A start beyond what is sane may be found again.
        least, most = max(low, min(least, middle)), min(high, max(most, middle))
        axes.append(_Axis(name, low, high, least, most, even=False))
    unit = [name for name in system.unit if values[name]]
    if not unit or start.known or not set(unit) <= set(names):
        return axes, []
    fixed = next(name for name in names if name in unit)
    remark = (
        f"{fixed} is held at {values[fixed]!r}: among new players the predictions depend only"
        f" on the ratios of {', '.join(system.unit)}"
    )
    return [axis for axis in axes if axis.name != fixed], [remark]


def _search(
    axes: Sequence[_Axis], values: dict[str, float], trials: _Trials, remarks: list[str]
) -> tuple[list[_Axis], dict[str, float]]:
    """Return which parameters count, and the values with the least loss of the first part."""
    from scipy.optimize import minimize

    def at(point: Sequence[float]) -> dict[str, float]:
        return values | {axis.name: axis.value(x) for axis, x in zip(axes, point, strict=True)}

    start = [axis.at(min(max(values[axis.name], axis.least), axis.most)) for axis in axes]
    least = trials.loss(at(start))
    idle = []
    for k, axis in enumerate(axes):
        points = [[*start[:k], x, *start[k + 1 :]] for x in axis.across()]
        losses = [trials.loss(at(point)) for point in points]
        if max(losses) - min(losses) < _NOTHING:
            idle.append(axis.name)
        elif min(losses) < least:
            least = min(losses)
            start = points[losses.index(least)]
    remarks += (
        f"{name} is held at {values[name]!r}: no prediction of the first part depends on it"
        for name in idle
    )
    left = [k for k, axis in enumerate(axes) if axis.name not in idle]
    axes, start = [axes[k] for k in left], [start[k] for k in left]
    if not axes:
        return [], values
    optimum = minimize(
        lambda point: trials.loss(at(point.tolist())),
        start,
        method="Nelder-Mead",
        bounds=[axis.ends for axis in axes],
        options={"xatol": 1e-4, "fatol": 1e-10, "maxfev": _EVALUATIONS * len(axes)},
    )
    best = at(optimum.x.tolist())
    remarks.extend(
        f"{axis.name} = {best[axis.name]!r} lies at the end of the range searched"
        for axis in axes
        if min(abs(axis.at(best[axis.name]) - end) for end in axis.ends) < 1e-3
    )
    return list(axes), best
