"""Rows of the tables of a rated whole log."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from valmatch.draws.streams import Streams
from valmatch.game_logs.batch.contests import Read
from valmatch.game_logs.batch.options import BatchOptions
from valmatch.game_logs.batch.result import (
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
from valmatch.game_logs.batch.sentences import sentences
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry.bootstrap import Bootstrap, bootstrap
from valmatch.ratings.bradley_terry.connections import RATED, Levels, Linked
from valmatch.ratings.bradley_terry.contests import (
    Contests,
    Design,
    games_of_sides,
    rows_of_sides,
)
from valmatch.ratings.bradley_terry.covariance import Ranks, rank_ranges
from valmatch.ratings.bradley_terry.estimating import HALF, Estimate, Uncertainty, WholeModel
from valmatch.ratings.bradley_terry.fit import NoEstimate

if TYPE_CHECKING:
    from valmatch.ratings.whole_history.evidence import Tuned

ERRORS, _RESAMPLING = range(2)
"""Sources of random numbers."""


@dataclass(frozen=True)
class Found:
    """What there is to say of a log before it is put into rows."""

    read: Read  # the games
    # design, levels, model, linked: as the science takes them
    design: Design
    levels: Levels
    model: WholeModel
    linked: Linked
    estimate: Estimate | None  # None where there is none
    trouble: NoEstimate | None  # why there is none
    kind: str  # of the intervals
    clusters: int | None  # how many there are among the games used, where games belong together
    sure: Uncertainty | None  # None without intervals
    # quantile, critical: half-widths in standard errors, of one interval and of those that hold
    # together
    quantile: float | None
    critical: float | None
    tuned: Tuned | None = None  # the drift that was fitted, if it was


def result_of(found: Found, batch: BatchOptions) -> BatchRating:
    """Return what was found as rows."""
    ranks, rows = _players(found)
    coefficients = _coefficients(found)
    posterior = _posterior(found, ranks)
    checks = _bootstrap(found, batch, ranks)
    facts = _facts(found, batch)
    days: list[DayRow] = []
    if batch.system_of.paths:
        from valmatch.game_logs.batch.paths import day_rows, path_facts
        from valmatch.ratings.whole_history.rating import PathModel

        assert isinstance(found.model, PathModel)
        facts.update(path_facts(found.read, found.model, found.tuned, found.sure, batch.time_unit))
        if found.estimate is not None:
            days = day_rows(found.read, found.model, found.estimate, found.sure, found.quantile)
    result = BatchRating(
        batch.system,
        facts,
        rows,
        coefficients,
        posterior,
        checks,
        days,
        all(row.rating is not None for row in rows),
    )
    names = [*found.read.features, DRAW_WEIGHT]
    strengths = found.design.contests.n_players
    lines = sentences(result, found.trouble, found.read.players, names, batch, strengths)
    return replace(result, lines=lines)


def _rounded(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return round(value, DIGITS) + 0.0


def _order(found: Found) -> Ints:
    """Return the rated players, the best first, equal ones by name."""
    if found.estimate is None:
        return np.zeros(0, np.int64)
    rated = np.flatnonzero(found.linked.rated)
    ratings = np.round(found.estimate.ratings[rated], DIGITS)
    return rated[np.argsort(-ratings, kind="stable")]


def _players(found: Found) -> tuple[Ints, list[PlayerRow]]:
    """Return the rated players in order, and the rows of all, the unrated last."""
    order = _order(found)
    counts = _counts(found.read.contests)
    fixed = set(found.model.anchors.players[found.model.anchors.deviations == 0.0].tolist())
    rows = []
    ratings = np.round(found.estimate.ratings[order], DIGITS) if found.estimate else np.zeros(0)
    places = 1 + np.searchsorted(-ratings, -ratings, side="left")
    errors, ranks = _errors_and_ranks(found, order)
    for k, player in enumerate(order.tolist()):
        rating, error = float(ratings[k]) + 0.0, None if errors is None else float(errors[k])
        low, high = _ends(rating, error, found.quantile)
        rows.append(
            _row(found, counts, player)._replace(
                rank=int(places[k]),
                rating=rating,
                std_error=_rounded(error),
                low=low,
                high=high,
                rank_low=None if ranks is None else int(ranks.low[k]),
                rank_high=None if ranks is None else int(ranks.high[k]),
                status=ANCHOR if player in fixed else RATED,
            )
        )
    others = sorted(set(range(len(found.read.players))) - set(order.tolist()))
    rows += [_row(found, counts, player) for player in others]
    return order, rows


def _row(found: Found, counts: Ints, player: int) -> PlayerRow:
    """Return the row of a player without a rating."""
    linked = found.linked
    status = linked.statuses[player]
    if found.trouble is not None and linked.rated[player]:
        status = "separated" if found.trouble.separated else "not identified"
    games, wins, losses, draws = counts[:, player].tolist()
    group, name = int(linked.groups[player]), found.read.players[player]
    nothing = (None, None, None, None, None)
    return PlayerRow(None, name, None, *nothing, games, wins, losses, draws, group, status)


def _errors_and_ranks(found: Found, order: Ints) -> tuple[Floats | None, Ranks | None]:
    """Return standard errors and ranges of ranks of the rated players, in order."""
    if found.sure is None or found.estimate is None:
        return None, None
    places = np.searchsorted(np.flatnonzero(found.linked.rated), order)
    errors = found.sure.std_errors[places]
    if found.sure.covariance is None:
        return errors, None
    if found.critical is None:
        return errors, Ranks(np.ones(len(order), np.int64), np.ones(len(order), np.int64))
    rated = np.flatnonzero(found.linked.rated)
    ranks = rank_ranges(found.estimate.ratings[rated], found.sure.covariance, found.critical)
    return errors, Ranks(ranks.low[places], ranks.high[places])


def _counts(contests: Contests) -> Ints:
    """Return games, wins, losses and draws of each player; a shared first place is a draw."""
    best = np.maximum.reduceat(contests.points, contests.game_starts[:-1])
    games = games_of_sides(contests)
    first = contests.points == best[games]
    alone = np.bincount(games, first)[games] == 1
    rows, n = rows_of_sides(contests), contests.n_players
    kinds = (first >= 0, first & alone, ~first, first & ~alone)
    return np.array([np.bincount(contests.players, own[rows], n) for own in kinds], np.int64)


def _coefficients(found: Found) -> list[CoefficientRow]:
    """Return the rows of the coefficients."""
    made, known, half = found.estimate, found.sure, found.quantile
    if made is None or not found.linked.games.any():
        return []
    rows = []
    for k, name in enumerate(found.read.features):
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


def _posterior(found: Found, order: Ints) -> Posterior:
    """Return the rated players and how sure their ratings are together, in order."""
    names = [found.read.players[k] for k in order.tolist()]
    mean = found.estimate.ratings[order] if found.estimate else np.zeros(0)
    spread = None
    if found.sure is not None and found.sure.covariance is not None:
        places = np.searchsorted(np.flatnonzero(found.linked.rated), order)
        spread = found.sure.covariance
        if (places[1:] < places[:-1]).any():
            spread = _reordered(spread, places)
    between = None if spread is None else _games_between(found)[order][:, order]
    return Posterior(names, mean, spread, found.linked.groups[order], between)


def _reordered(matrix: Floats, places: Ints) -> Floats:
    """Return a matrix with rows and columns in another order, row by row, as numpy is fast then."""
    found = np.empty((len(places), len(places)))
    for row, place in zip(found, places.tolist(), strict=True):
        np.take(matrix[place], places, out=row, mode="clip")
    return found


def _games_between(found: Found) -> sparse.csr_array:
    """Return in how many of the games used each two players were on opposite sides."""
    contests = found.read.contests
    used = found.linked.games[games_of_sides(contests)][rows_of_sides(contests)]
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


def _bootstrap(found: Found, batch: BatchOptions, order: Ints) -> list[BootstrapRow]:
    """Return what resampling says of the rated players, in order."""
    if not batch.bootstrap or found.estimate is None or not found.linked.games.any():
        return []
    streams = Streams(batch.seed)
    draws = (streams.stream(k, _RESAMPLING) for k in range(batch.bootstrap))
    checked: Bootstrap = bootstrap(
        found.design, found.levels, found.model, found.estimate, batch.level, draws
    )
    rows = []
    for k in order.tolist():
        error, low, high = (_rounded(float(own[k])) for own in checked[:3])
        unrated = round(float(checked.unrated[k]), 9)
        rows.append(BootstrapRow(found.read.players[k], error, low, high, unrated))
    return rows


def _facts(found: Found, batch: BatchOptions) -> dict[str, Any]:
    """Return what ``summary.json`` holds of numbers that are no rows."""
    made, linked = found.estimate, found.linked
    nu = made.draw_weight if made else 0.0
    games = linked.games[found.design.duel_games]
    drawn = bool((found.design.duel_scores[games] == 0.5).any())
    kind = "davidson" if nu > 0.0 else HALF if drawn and batch.draws == HALF else "none"
    return {
        "games": found.read.contests.n_games,
        "games_used": int(linked.games.sum()),
        "players": len(found.read.players),
        "rated": int(linked.rated.sum()) if made else 0,
        "groups": int(linked.groups.max()),
        "zero": "anchors" if len(found.model.anchors.players) else "mean",
        "interval": found.kind,
        "clusters": found.clusters,
        "level": batch.level,
        "quantile": found.quantile,
        "critical": found.critical,
        "draws": kind,
        "score_scale": 1.0 / (1.0 + 0.5 * nu),
        "prior": batch.prior,
        "log_likelihood": made.fit.log_likelihood if made else None,
    }
