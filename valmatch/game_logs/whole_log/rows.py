"""Rows of the tables of a rated whole log."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.game_logs.whole_log.contests import WeightedGames
from valmatch.game_logs.whole_log.options import NONE, RankOptions
from valmatch.game_logs.whole_log.result import (
    ANCHOR,
    DIGITS,
    DRAW_WEIGHT,
    BatchRating,
    BootstrapRow,
    CoefficientRow,
    DayRow,
    PlayerRow,
    Posterior,
)
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry.connections import (
    ABOVE,
    BELOW,
    RATED,
    UNLINKED,
    Levels,
    Linked,
    levels_of,
    link,
)
from valmatch.ratings.bradley_terry.contests import Contests, Design, games_of_sides, rows_of_sides
from valmatch.ratings.bradley_terry.covariance import Ranks, rank_ranges
from valmatch.ratings.bradley_terry.estimating import HALF, Estimate, Uncertainty, WholeModel
from valmatch.ratings.bradley_terry.fit import NoEstimate
from valmatch.ratings.bradley_terry.rating import Bootstrap, bootstrap
from valmatch.ratings.whole_history.rating import (
    PathModel,
    TooLarge,
    Tuned,
    player_days,
    tuned_drift,
)
from valmatch.text.terminal import shown

# Notes below the table of a rated whole log.

FEW_CLUSTERS = 20
_NAMED = 10

_WHY = {
    ABOVE: "above the others (never beaten by them)",
    BELOW: "below them (never won against them)",
    UNLINKED: "not linked to them",
}


def notes_of(
    result: BatchRating,
    trouble: NoEstimate | None,
    players: Sequence[str],
    coefficients: Sequence[str],
    batch: RankOptions,
    strengths: int,
) -> list[str]:
    """Return what has to be said of a rating, a line each."""
    if trouble is not None:
        if batch.system_of.paths:
            return [_path_trouble(trouble, coefficients, strengths)]
        return [_trouble(trouble, players, coefficients, batch.prior is not None)]
    return [
        *_of_zero(result),
        *_of_paths(result),
        *_of_ties(result),
        *_of_limits(result, batch),
    ]


_WAYS = {
    "draw_weight": ("draws", "half"),
    "home_advantage": ("home", "none"),
}
"""Options without which a coefficient is not fitted; else it is a covariate."""


def _way_out(name: str) -> str:
    """Say how a coefficient is left out."""
    if name in _WAYS:
        argument, value = _WAYS[name]
        return f"{option(argument)} {value}"
    return f"a rating without {option('covariate')} {name}"


def _path_trouble(trouble: NoEstimate, coefficients: Sequence[str], strengths: int) -> str:
    """Say why there is no estimate of paths, which a prior tells, so that it is coefficients."""
    own = [coefficients[k - strengths] for k in trouble.parameters.tolist() if k >= strengths]
    if trouble.separated:
        named = own[0] if own else coefficients[-1]
        return f"no ratings: {named} has no finite estimate; {_way_out(named)} helps"
    return f"no ratings: the games do not tell apart {_listed(own)}; a rating without one helps"


def _trouble(
    trouble: NoEstimate, players: Sequence[str], coefficients: Sequence[str], prior: bool
) -> str:
    """Say why there is no estimate, and what helps."""
    n = len(players)
    own = [coefficients[k - n] for k in trouble.parameters.tolist() if k >= n]
    blamed = [players[k] for k in trouble.parameters.tolist() if k < n]
    helps = f"{option('prior')} D helps"
    if trouble.separated:
        if own:
            more = "" if prior else f", {option('prior')} D may"
            return (
                f"no ratings: {own[0]} has no finite estimate (the games are separated by it);"
                f" {_way_out(own[0])} helps{more}"
            )
        named = _listed(blamed[:_NAMED])
        return f"no ratings: no finite estimate, farthest off {named}; {helps}"
    what = _listed([*own, *blamed])
    return (
        f"no ratings: the games do not tell apart what belongs to {what}; {helps}, or a rating"
        " without it"
    )


def _listed(names: Sequence[str]) -> str:
    """Return up to ten names."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(shown, names[:_NAMED])) + more


def _of_zero(result: BatchRating) -> Iterator[str]:
    """Say against what zero ratings and their intervals are."""
    if result.facts["interval"] == NONE:
        return
    zero = "the anchors" if result.facts["zero"] == "anchors" else "the mean of all who are rated"
    if "drift" in result.facts:
        zero = "the mean of all players' first days"
    yield f"intervals ({result.facts['level']:.0%}, {result.facts['interval']}) are against {zero}"


def _of_paths(result: BatchRating) -> Iterator[str]:
    """Say of ratings that move when they hold, and by how much they move."""
    facts = result.facts
    if "drift" not in facts:
        return
    yield f"ratings are those of the last day of the log, {facts['last_day']}"
    tuning = facts["tuning"]
    if tuning is not None:
        more = tuning["evidence"] - tuning["unmoved"]
        yield (
            f"drift of the greatest evidence: {tuning['drift']:.4g} points a square-root day (log"
            f" evidence {tuning['evidence']:.2f}, {more:.2f} above that of no drift)"
        )
    if facts["standard_errors"] == "drawn" and facts["critical"] is not None:
        yield "too many days for exact standard errors: those of days are from 1,000 draws"


def _of_ties(result: BatchRating) -> Iterator[str]:
    tied, unbeaten = result.tied_for_first, any(row.status == ABOVE for row in result.players)
    if tied:
        among = " among the rated" if unbeaten else ""
        yield f"tied for first{among} ({len(tied)}): {_listed(tied)}"


def _of_limits(result: BatchRating, batch: RankOptions) -> Iterator[str]:
    """Say what the numbers rest on, and who has none."""
    facts = result.facts
    if facts["score_scale"] < 1.0:
        yield (
            f"points are odds of a win against a loss: near equality {facts['score_scale']:.2f} of"
            " them count for the expected score"
        )
    clusters = facts["clusters"]
    if clusters is not None and clusters < max(FEW_CLUSTERS, facts["rated"]):
        yield (f"intervals are rough: {clusters} clusters, {facts['rated']} rated players")
    paths = batch.system_of.paths
    if (batch.prior is not None or paths) and facts["groups"] > 1:
        prior = "the prior" if paths else option("prior")
        yield (
            f"{facts['groups']} groups that no game links: differences between them rest on"
            f" {prior} alone"
        )
    if facts["interval"] != NONE and facts["critical"] is None and facts["rated"] > 1:
        yield (
            "too many players for ranges of ranks and differences: standard errors are from 1,000"
            " draws"
        )
    if result.bootstrap:
        yield from _of_bootstrap(result)
    missing = [row for row in result.players if row.rating is None]
    if missing:
        counts = {status: sum(row.status == status for row in missing) for status in _WHY}
        why = ", ".join(f"{n:,} {_WHY[status]}" for status, n in counts.items() if n)
        if unbeaten := [row.player for row in missing if row.status == ABOVE]:
            why += f"; unbeaten: {_listed(unbeaten)}"
        yield f"{len(missing):,} without a rating: {why}; {option('prior')} D rates all"


def _of_bootstrap(result: BatchRating) -> Iterator[str]:
    """Say how wide intervals by resampling are, compared with the others."""
    widths = {
        row.player: row.high - row.low
        for row in result.players
        if row.high is not None and row.low is not None
    }
    ratios = [
        (row.high - row.low) / widths[row.player]
        for row in result.bootstrap
        if row.high is not None and row.low is not None and widths.get(row.player)
    ]
    sometimes = sum(row.unrated > 0.0 for row in result.bootstrap)
    if not ratios:
        yield (
            "no interval of the bootstrap has an end on both sides: refits leave too many without a"
            " rating"
        )
    elif sometimes and result.facts["zero"] == "mean":
        yield (
            f"intervals of the bootstrap are not compared: {sometimes:,} of"
            f" {len(result.bootstrap):,} players lack a rating in some refits, which moves the zero"
        )
    else:
        yield f"intervals of the bootstrap: {statistics.median(ratios):.2f} times as wide (median)"


ERRORS, _RESAMPLING = range(2)
"""Sources of random numbers."""


@dataclass(frozen=True)
class FittedLog:
    """A log that has been fitted, before it is put into rows."""

    games: WeightedGames
    # design, levels, model, linked: as the science takes them
    design: Design
    levels: Levels
    model: WholeModel
    linked: Linked
    estimate: Estimate | None  # None where there is none
    trouble: NoEstimate | None  # why there is none
    kind: str  # of the intervals
    clusters: int | None  # how many there are among the games used, where games belong together
    uncertainty: Uncertainty | None = None  # None without intervals
    # quantile, critical: half-widths in standard errors, of one interval and of those that hold
    # together
    quantile: float | None = None
    critical: float | None = None
    tuned: Tuned | None = None  # the drift that was fitted, if it was

    @cached_property
    def order(self) -> Ints:
        """The rated players, the best first, equal ones by name."""
        if self.estimate is None:
            return np.zeros(0, np.int64)
        rated = np.flatnonzero(self.linked.rated)
        ratings = np.round(self.estimate.ratings[rated], DIGITS)
        return rated[np.argsort(-ratings, kind="stable")]

    @cached_property
    def index(self) -> Ints:
        """Where each of these stands among the rated players."""
        return np.searchsorted(np.flatnonzero(self.linked.rated), self.order)

    @property
    def ratings(self) -> Floats:
        """Their ratings."""
        return np.zeros(0) if self.estimate is None else self.estimate.ratings[self.order]


def result_of(fitted: FittedLog, batch: RankOptions) -> BatchRating:
    """Return what was fitted as rows."""
    rows, facts, games, model = _players(fitted), _facts(fitted, batch), fitted.games, fitted.model
    days: list[DayRow] = []
    if isinstance(model, PathModel):
        facts.update(_path_facts(fitted, model, batch.time_unit))
        days = _days(fitted, model)
    result = BatchRating(
        batch.system,
        facts,
        rows,
        _coefficients(fitted),
        _posterior(fitted),
        _bootstrap(fitted, batch),
        days,
        all(row.rating is not None for row in rows),
    )
    names = [*games.features, DRAW_WEIGHT]
    strengths = fitted.design.contests.n_players
    notes = notes_of(result, fitted.trouble, games.players, names, batch, strengths)
    return replace(result, notes=notes)


def _rounded(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return round(value, DIGITS) + 0.0


def _players(fitted: FittedLog) -> list[PlayerRow]:
    """Return the rows of all players, the unrated last."""
    order, counts, anchors = fitted.order, _counts(fitted.games.contests), fitted.model.anchors
    fixed = set(anchors.players[anchors.deviations == 0.0].tolist())
    ratings = np.round(fitted.ratings, DIGITS)
    ranks = 1 + np.searchsorted(-ratings, -ratings, side="left")
    sure = fitted.uncertainty
    errors = None if sure is None else sure.std_errors[fitted.index]
    ranges = _rank_ranges(fitted)
    rows = []
    for k, player in enumerate(order.tolist()):
        rating, error = float(ratings[k]) + 0.0, None if errors is None else float(errors[k])
        low, high = _ends(rating, error, fitted.quantile)
        rows.append(
            _row(fitted, counts, player)._replace(
                rank=int(ranks[k]),
                rating=rating,
                std_error=_rounded(error),
                low=low,
                high=high,
                rank_low=None if ranges is None else int(ranges.low[k]),
                rank_high=None if ranges is None else int(ranges.high[k]),
                status=ANCHOR if player in fixed else RATED,
            )
        )
    others = sorted(set(range(len(fitted.games.players))) - set(order.tolist()))
    return rows + [_row(fitted, counts, player) for player in others]


def _row(fitted: FittedLog, counts: Ints, player: int) -> PlayerRow:
    """Return the row of a player without a rating."""
    linked = fitted.linked
    status = linked.statuses[player]
    if fitted.trouble is not None and linked.rated[player]:
        status = "separated" if fitted.trouble.separated else "not identified"
    games, wins, losses, draws = counts[:, player].tolist()
    group, name = int(linked.groups[player]), fitted.games.players[player]
    nothing = (None, None, None, None, None)
    return PlayerRow(None, name, None, *nothing, games, wins, losses, draws, group, status)


def _rank_ranges(fitted: FittedLog) -> Ranks | None:
    """Return ranges of ranks of the rated players, in order; None where they are not known."""
    if fitted.uncertainty is None or fitted.uncertainty.covariance is None:
        return None
    if fitted.critical is None or fitted.estimate is None:
        return Ranks(*np.ones((2, len(fitted.order)), np.int64))
    ratings = fitted.estimate.ratings[fitted.linked.rated]
    ranks = rank_ranges(ratings, fitted.uncertainty.covariance, fitted.critical)
    return Ranks(ranks.low[fitted.index], ranks.high[fitted.index])


def _counts(contests: Contests) -> Ints:
    """Return games, wins, losses and draws of each player; a shared first place is a draw."""
    best = np.maximum.reduceat(contests.points, contests.game_starts[:-1])
    games = games_of_sides(contests)
    first = contests.points == best[games]
    alone = np.bincount(games, first)[games] == 1
    rows, n = rows_of_sides(contests), contests.n_players
    kinds = (first >= 0, first & alone, ~first, first & ~alone)
    return np.array([np.bincount(contests.players, kind[rows], n) for kind in kinds], np.int64)


def _coefficients(fitted: FittedLog) -> list[CoefficientRow]:
    """Return the rows of the coefficients."""
    made, known, half = fitted.estimate, fitted.uncertainty, fitted.quantile
    if made is None or not fitted.linked.games.any():
        return []
    rows = []
    for k, name in enumerate(fitted.games.features):
        value = float(made.coefficients[k])
        error = None if known is None else float(known.coefficients[k])
        unit = "points" if k == 0 and name == "home_advantage" else "points per unit"
        digits = _digits_of(value, error)
        ends = _ends(value, error, half, digits)
        sure = None if error is None else round(error, digits)
        rows.append(CoefficientRow(name, round(value, digits), sure, *ends, unit))
    if made.draw_weight > 0.0:
        nu = made.draw_weight
        log_error = None if known is None else known.log_draw_weight
        low, high = _ends(math.log(nu), log_error, half, digits=12)
        rows.append(
            CoefficientRow(
                DRAW_WEIGHT,
                round(nu, 9),
                None if log_error is None else round(nu * log_error, 9),
                None if low is None else round(math.exp(low), 9),
                None if high is None else round(math.exp(high), 9),
                "",
            )
        )
    return rows


def _digits_of(value: float, error: float | None) -> int:
    """Return decimals that leave a coefficient its digits, whatever the unit of its covariate."""
    sizes = [abs(one) for one in (value, error) if one and math.isfinite(one)]
    return DIGITS - min(0, math.floor(math.log10(min(sizes, default=1.0))))


def _ends(
    value: float, error: float | None, half: float | None, digits: int = DIGITS
) -> tuple[float | None, float | None]:
    """Return the ends of an interval."""
    if error is None or half is None:
        return None, None
    return round(value - half * error, digits), round(value + half * error, digits)


def _posterior(fitted: FittedLog) -> Posterior:
    """Return the rated players and how sure their ratings are together, in order."""
    order, index = fitted.order, fitted.index
    names = [fitted.games.players[k] for k in order.tolist()]
    covariance = fitted.uncertainty.covariance if fitted.uncertainty else None
    between = None
    if covariance is not None:
        between = _games_between(fitted)[order][:, order]
        if (index[1:] < index[:-1]).any():
            covariance = _reordered(covariance, index)
    return Posterior(names, fitted.ratings, covariance, fitted.linked.groups[order], between)


def _reordered(matrix: Floats, order: Ints) -> Floats:
    """Return a matrix with rows and columns in another order, row by row, as numpy is fast then."""
    result = np.empty((len(order), len(order)))
    for row, k in zip(result, order.tolist(), strict=True):
        np.take(matrix[k], order, out=row, mode="clip")
    return result


def _games_between(fitted: FittedLog) -> sparse.csr_array:
    """Return in how many of the games used each two players were on opposite sides."""
    contests = fitted.games.contests
    used = fitted.linked.games[games_of_sides(contests)][rows_of_sides(contests)]
    players = contests.players[used]
    sides = rows_of_sides(contests)[used]
    games = games_of_sides(contests)[sides]
    shape = (contests.n_players, contests.n_games)
    ones = np.ones(len(players))
    in_games = sparse.csr_array((ones, (players, games)), shape=shape)
    on_sides = sparse.csr_array(
        (ones, (players, sides)), shape=(contests.n_players, len(contests.points))
    )
    return sparse.csr_array(in_games @ in_games.T - on_sides @ on_sides.T)


def _bootstrap(fitted: FittedLog, batch: RankOptions) -> list[BootstrapRow]:
    """Return what resampling says of the rated players, in order."""
    if not batch.bootstrap or fitted.estimate is None or not fitted.linked.games.any():
        return []
    streams = Streams(batch.seed)
    draws = (streams.stream(k, _RESAMPLING) for k in range(batch.bootstrap))
    checked: Bootstrap = bootstrap(
        fitted.design, fitted.levels, fitted.model, fitted.estimate, batch.level, draws
    )
    rows = []
    for k in fitted.order.tolist():
        error, low, high = (_rounded(float(own[k])) for own in checked[:3])
        unrated = round(float(checked.unrated[k]), 9)
        rows.append(BootstrapRow(fitted.games.players[k], error, low, high, unrated))
    return rows


def _facts(fitted: FittedLog, batch: RankOptions) -> dict[str, Any]:
    """Return what ``summary.json`` holds of numbers that are no rows."""
    made, linked = fitted.estimate, fitted.linked
    nu = made.draw_weight if made else 0.0
    games = linked.games[fitted.design.duel_games]
    drawn = bool((fitted.design.duel_scores[games] == 0.5).any())
    kind = "davidson" if nu > 0.0 else HALF if drawn and batch.draws == HALF else "none"
    return {
        "games": fitted.games.contests.n_games,
        "games_used": int(linked.games.sum()),
        "players": len(fitted.games.players),
        "rated": int(linked.rated.sum()) if made else 0,
        "groups": int(linked.groups.max()),
        "zero": "anchors" if len(fitted.model.anchors.players) else "mean",
        "interval": fitted.kind,
        "clusters": fitted.clusters,
        "level": batch.level,
        "quantile": fitted.quantile,
        "critical": fitted.critical,
        "draws": kind,
        "score_scale": 1.0 / (1.0 + 0.5 * nu),
        "prior": batch.prior,
        "log_likelihood": made.fit.log_likelihood if made else None,
    }


# Paths of players in time: their model by the options, and the rows of their days.


def path_model(games: WeightedGames, batch: RankOptions) -> PathModel:
    """Return the model of ratings that move."""
    assert games.days is not None
    values = batch.values
    days = player_days(games.contests, games.days)
    return PathModel(
        batch.draws,
        days=days,
        drift=values["drift"],
        deviation=values["deviation"],
        mean=values["mean"],
    )


def tuned_model(
    name: str, model: PathModel, games: WeightedGames, look: Callable[[], None]
) -> tuple[PathModel, Tuned]:
    """Return a model with the drift of the greatest evidence, and that evidence."""
    contests, levels = games.contests, levels_of(games.contests)
    linked = link(contests, levels, contests.weights, np.zeros(0, np.int64), all_rated=True)
    try:
        tuned = tuned_drift(model, contests, levels, linked, look)
    except TooLarge:
        what = "too many players are active at once (allowed: what takes seconds for each drift)"
        raise InputError(f"{name}: {option('tune')} drift: {what}") from None
    return replace(model, drift=tuned.drift), tuned


def _path_facts(fitted: FittedLog, model: PathModel, unit: str) -> dict[str, Any]:
    """Return what ``summary.json`` holds of paths besides the facts of all whole logs."""
    games, days, sure, tuned = fitted.games, model.days, fitted.uncertainty, fitted.tuned
    return {
        "drift": model.drift,
        "deviation": model.deviation,
        "player_days": len(days.days),
        "first_day": games.day_cell(int(days.days.min())),
        "last_day": games.day_cell(days.last_day),
        "time_unit": None if games.dated else unit,
        "standard_errors": None if sure is None else "drawn" if sure.drawn else "exact",
        "tuning": None if tuned is None else tuned._asdict(),
    }


def _days(fitted: FittedLog, model: PathModel) -> list[DayRow]:
    """Return the rows of ``days.csv``: by player, then by day."""
    if fitted.estimate is None:
        return []
    games, days, ratings = fitted.games, model.days, fitted.estimate.days
    assert ratings is not None
    errors = fitted.uncertainty.days if fitted.uncertainty else None
    errors = np.full(len(ratings), np.nan) if errors is None else errors
    reach = errors * (np.nan if fitted.quantile is None else fitted.quantile)
    columns = (
        [games.players[player] for player in days.players.tolist()],
        list(map(games.day_cell, days.days.tolist())),
        *(_cells(column) for column in (ratings, errors, ratings - reach, ratings + reach)),
        days.games.tolist(),
    )
    return [DayRow(*row) for row in zip(*columns, strict=True)]


def _cells(column: Any) -> list[float | None]:  # noqa: ANN401 - an array
    rounded = (np.round(column, DIGITS) + 0.0).tolist()
    return [None if value != value else value for value in rounded]
