"""Rows of the tables of a rated whole log."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.game_logs.whole_log.contests import Read
from valmatch.game_logs.whole_log.options import NONE, BatchOptions
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

if TYPE_CHECKING:
    from valmatch.ratings.whole_history.rating import Tuned


# Sentences below the table of a rated whole log.

FEW_CLUSTERS = 20
_NAMED = 10

_WHY = {
    ABOVE: "above the others (never beaten by them)",
    BELOW: "below them (never won against them)",
    UNLINKED: "not linked to them",
}


def sentences(
    found: BatchRating,
    trouble: NoEstimate | None,
    players: Sequence[str],
    coefficients: Sequence[str],
    batch: BatchOptions,
    strengths: int,
) -> list[str]:
    """Return what has to be said of a rating, a line each."""
    if trouble is not None:
        if batch.system_of.paths:
            return [_path_trouble(trouble, coefficients, strengths)]
        return [_trouble(trouble, players, coefficients, batch.prior is not None)]
    return [
        *_of_zero(found),
        *_of_paths(found),
        *_of_ties(found),
        *_of_limits(found, batch),
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


def _of_zero(found: BatchRating) -> Iterator[str]:
    """Say against what zero ratings and their intervals are."""
    if found.facts["interval"] == NONE:
        return
    zero = "the anchors" if found.facts["zero"] == "anchors" else "the mean of all who are rated"
    if "drift" in found.facts:
        zero = "the mean of all players' first days"
    yield f"intervals ({found.facts['level']:.0%}, {found.facts['interval']}) are against {zero}"


def _of_paths(found: BatchRating) -> Iterator[str]:
    """Say of ratings that move when they hold, and by how much they move."""
    facts = found.facts
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


def _of_ties(found: BatchRating) -> Iterator[str]:
    tied, unbeaten = found.tied_for_first, any(row.status == ABOVE for row in found.players)
    if tied:
        among = " among the rated" if unbeaten else ""
        yield f"tied for first{among} ({len(tied)}): {_listed(tied)}"


def _of_limits(found: BatchRating, batch: BatchOptions) -> Iterator[str]:
    """Say what the numbers rest on, and who has none."""
    facts = found.facts
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
    if found.bootstrap:
        yield from _of_bootstrap(found)
    missing = [row for row in found.players if row.rating is None]
    if missing:
        counts = {status: sum(row.status == status for row in missing) for status in _WHY}
        why = ", ".join(f"{n:,} {_WHY[status]}" for status, n in counts.items() if n)
        if unbeaten := [row.player for row in missing if row.status == ABOVE]:
            why += f"; unbeaten: {_listed(unbeaten)}"
        yield f"{len(missing):,} without a rating: {why}; {option('prior')} D rates all"


def _of_bootstrap(found: BatchRating) -> Iterator[str]:
    """Say how wide intervals by resampling are, compared with the others."""
    widths = {
        row.player: row.high - row.low
        for row in found.players
        if row.high is not None and row.low is not None
    }
    ratios = [
        (row.high - row.low) / widths[row.player]
        for row in found.bootstrap
        if row.high is not None and row.low is not None and widths.get(row.player)
    ]
    sometimes = sum(row.unrated > 0.0 for row in found.bootstrap)
    if not ratios:
        yield (
            "no interval of the bootstrap has an end on both sides: refits leave too many without a"
            " rating"
        )
    elif sometimes and found.facts["zero"] == "mean":
        yield (
            f"intervals of the bootstrap are not compared: {sometimes:,} of"
            f" {len(found.bootstrap):,} players lack a rating in some refits, which moves the zero"
        )
    else:
        yield f"intervals of the bootstrap: {statistics.median(ratios):.2f} times as wide (median)"


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
    notes = sentences(result, found.trouble, found.read.players, names, batch, strengths)
    return replace(result, notes=notes)


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


# Paths of players in time: their model by the options, and the rows of their days.


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
