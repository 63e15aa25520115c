"""Rating a whole log at once: read, fitted, put into rows, written."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.execution.interruption import stop_on_signal
from valmatch.game_logs.options import INFORMATION, MOST_LISTED, NONE, SANDWICH, RankOptions
from valmatch.game_logs.rating_files import claim, write_result
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.warnings import log_warnings
from valmatch.game_logs.whole_log.contests import WeightedGames, read_anchors, weighted_games
from valmatch.game_logs.whole_log.result import (
    ANCHOR,
    BOOTSTRAP,
    COEFFICIENTS,
    DAYS,
    DIGITS,
    DRAW_WEIGHT,
    HOME,
    NAMED,
    POSTERIOR,
    RATINGS,
    BatchRating,
    BootstrapRow,
    CoefficientRow,
    DayRow,
    DifferenceRow,
    PlayerRow,
    Posterior,
    columns_of,
    listed,
    superiority_of,
)
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.files import sha256
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.threads import one_thread
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
from valmatch.ratings.bradley_terry.contests import Design, games_of_sides, rows_of_sides
from valmatch.ratings.bradley_terry.covariance import Ranks, rank_ranges
from valmatch.ratings.bradley_terry.fit import NoEstimate
from valmatch.ratings.bradley_terry.rating import (
    HALF,
    Anchors,
    Estimate,
    Model,
    Uncertainty,
    WholeModel,
    bootstrap,
    estimate,
)
from valmatch.ratings.registry import BATCH_NAMES
from valmatch.ratings.whole_history.rating import (
    PathModel,
    TooLarge,
    Tuned,
    player_days,
    tuned_drift,
)
from valmatch.statistics.estimates import range_quantile, t_quantile
from valmatch.storage.output import cell, csv_line, csv_text, write_atomically
from valmatch.storage.results import Warnings
from valmatch.text.terminal import Notice, shown

ERRORS, _RESAMPLING = range(2)
"""Sources of random numbers."""


@takes(RankOptions)
def rank_games(
    games: PathLike,
    system: str = BATCH_NAMES[0],
    **options: Any,  # noqa: ANN401
) -> BatchRating:
    """Rate the players of a game log by all of its games at once, with intervals.

    Parameters
    ----------
    games : str or Path
        The log, as `rate_games` takes it; `-` is standard input.
    system : str
        ``bradley_terry``: one rating a player; or ``whole_history``: one for each day on which
        they played, which moves in between.
    **options

    Raises
    ------
    InputError
        If the log, an option or the folder cannot be used; then nothing is written.
    RunError
        If the results cannot be written.
    """
    path, settings = arguments.path("games", games), RankOptions(system=system, **options)
    warn = Warnings(settings.warn)
    settings = replace(settings, warn=warn)
    with ExitStack() as stack:
        log, folder = GameLog(path, settings, further=settings.further), None
        if settings.out is not None:
            identity = {**settings.identity, "anchors_sha256": _digest_of(settings.anchors)}
            folder = stack.enter_context(claim("rank", settings.out, log, None, identity))
        stop = stack.enter_context(stop_on_signal())

        def look() -> None:
            if stop():
                raise KeyboardInterrupt

        read = log.games_with_facts(settings.progress)
        look()
        weighted = weighted_games(log, *read, settings)
        with one_thread(weighted.most_ratings):
            fitted = _fitted(log, weighted, settings, look)
            result = _result(fitted)
        trouble = fitted.trouble
        notes = [_trouble(fitted, trouble)] if trouble else _notes(result, settings)
        for warning in log_warnings(log):
            warn(warning)
        warnings = [*warn, *(Notice(text, "note") for text in notes)]
        result = replace(result, source=log.name, warnings=warnings)
        look()
        if folder is not None:
            folder.remark_input(log_warnings(log))

            def write_pairs() -> None:
                _write_pairs(folder.path, result, settings.differences)

            tables = _tables(result)
            return write_result(folder, result, tables, write_pairs, reading=log.reading)
    return result


def _digest_of(anchors: Path | None) -> str | None:
    """Return the SHA-256 of a file of anchors."""
    try:
        return sha256(anchors) if anchors else None
    except OSError as error:
        what = f"{anchors}: cannot be read: {error.strerror}"
        raise InputError(f"{option('anchors')}: {what}") from None


# The fit.


@dataclass(frozen=True)
class FittedLog:
    """A log that has been fitted, before it is put into rows."""

    games: WeightedGames
    options: RankOptions
    # design, levels, model, linked: as `valmatch.ratings.bradley_terry` takes them
    design: Design
    levels: Levels
    model: WholeModel
    linked: Linked
    estimate: Estimate | None  # None where there is none
    trouble: NoEstimate | None  # why there is none
    kind: str  # of the intervals
    clusters: int | None  # how many there are among the games used, where games belong together
    tuned: Tuned | None  # the drift that was fitted, if it was
    uncertainty: Uncertainty | None = None  # None without intervals
    # quantile, critical: half-widths in standard errors, of one interval and of those that hold
    # together
    quantile: float | None = None
    critical: float | None = None

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


def _fitted(
    log: GameLog, weighted: WeightedGames, options: RankOptions, look: Callable[[], None]
) -> FittedLog:
    """Return the estimate of a log, and how sure it is."""
    contests, levels = weighted.contests, levels_of(weighted.contests)
    made, tuned, trouble = None, None, None
    model: WholeModel
    if weighted.days is None:
        model = Model(options.draws, _anchors(weighted, options), options.prior, **options.values)
    else:
        days = player_days(contests, weighted.days)
        model = PathModel(options.draws, Anchors(), days=days, **options.values)
    anchors = model.anchors.players
    linked = link(contests, levels, contests.weights, anchors, model.rates_all)
    try:
        if isinstance(model, PathModel) and options.tune:
            tuned = tuned_drift(model, contests, levels, linked, look)
            model = replace(model, drift=tuned.drift)
        design = model.design(contests)
        made = estimate(design, levels, model, linked, contests.weights)
    except TooLarge:
        what = "too many players are active at once (allowed: what takes seconds for each drift)"
        raise InputError(f"{log.name}: {option('tune')} drift: {what}") from None
    except NoEstimate as error:
        design, trouble = model.design(contests), error
    kind, clusters = _kind(log, design, linked, options)
    fitted = FittedLog(
        weighted, options, design, levels, model, linked, made, trouble, kind, clusters, tuned
    )
    if made is None or kind == NONE:
        return fitted
    sure = model.uncertainty(made, kind == SANDWICH, Streams(options.seed).stream(None, ERRORS))
    degrees = math.inf if clusters is None else clusters - 1.0
    n, critical = int(linked.rated.sum()), None
    if n > 1 and sure.covariance is not None:
        critical = range_quantile(options.level, n, degrees) / math.sqrt(2.0)
    quantile = t_quantile(0.5 + 0.5 * options.level, degrees)
    return replace(fitted, uncertainty=sure, quantile=quantile, critical=critical)


def _anchors(weighted: WeightedGames, options: RankOptions) -> Anchors:
    """Return the players whose ratings are known."""
    if options.anchors is None:
        return Anchors()
    numbers = {name: k for k, name in enumerate(weighted.players)}
    return read_anchors(options.anchors, numbers, options.warn)


def _kind(
    log: GameLog, design: Design, linked: Linked, options: RankOptions
) -> tuple[str, int | None]:
    """Return the kind of the intervals, and the number of clusters if they are by these."""
    weights, used = design.contests.weights, linked.games
    halves = options.draws == HALF and _drawn(design, linked)
    kind = options.interval
    if not kind:
        fractional = bool((weights[used] % 1.0 != 0.0).any())
        kind = SANDWICH if options.clustered or halves or fractional else INFORMATION
    if kind != SANDWICH:
        return kind, None
    n = len(np.unique(design.contests.clusters[used]))
    if n < 2 and used.any():
        what = "one cluster" if options.clustered else "one game"
        raise InputError(
            f"{log.name}: {option('interval')} sandwich: {what} among the games used (allowed: two"
            " or more)"
        )
    return kind, n if options.clustered and n else None


def _drawn(design: Design, linked: Linked) -> bool:
    """Return whether a game of two sides that is used was drawn."""
    return bool((design.duel_scores[linked.games[design.duel_games]] == 0.5).any())


# Rows of the tables.


def _result(fitted: FittedLog) -> BatchRating:
    """Return what was fitted as rows."""
    posterior = _posterior(fitted)
    resampled, ratio = _bootstrap(fitted, posterior)
    return BatchRating(
        fitted.options.system,
        _facts(fitted) | ({} if ratio is None else {"bootstrap_differences": ratio}),
        _players(fitted),
        _coefficients(fitted),
        posterior,
        resampled,
        _days(fitted),
    )


def _facts(fitted: FittedLog) -> dict[str, Any]:
    """Return what ``summary.json`` holds of numbers that are no rows."""
    made, linked, options = fitted.estimate, fitted.linked, fitted.options
    games, model, sure, tuned = fitted.games, fitted.model, fitted.uncertainty, fitted.tuned
    nu = made.draw_weight if made else 0.0
    halves = options.draws == HALF and _drawn(fitted.design, linked)
    facts: dict[str, Any] = {
        "games": games.contests.n_games,
        "games_used": int(linked.games.sum()),
        "players": len(games.players),
        "rated": int(linked.rated.sum()) if made else 0,
        "groups": int(linked.groups.max()),
        "zero": "anchors" if len(model.anchors.players) else "mean",
        "interval": fitted.kind,
        "clusters": fitted.clusters,
        "level": options.level,
        "quantile": fitted.quantile,
        "critical": fitted.critical,
        "draws": "davidson" if nu > 0.0 else HALF if halves else "none",
        "score_scale": 1.0 / (1.0 + 0.5 * nu),
        "prior": options.prior,
        "log_likelihood": made.fit.log_likelihood if made else None,
    }
    if isinstance(model, PathModel):
        facts |= {
            "drift": model.drift,
            "deviation": model.deviation,
            "player_days": len(model.days.days),
            "first_day": games.day_cell(int(model.days.days.min())),
            "last_day": games.day_cell(model.days.last_day),
            "time_unit": None if games.dated else options.time_unit,
            "standard_errors": None if sure is None else "drawn" if sure.drawn else "exact",
            "tuning": None if tuned is None else tuned._asdict(),
        }
    return facts


def _rounded(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return round(value, DIGITS) + 0.0


def _ends(
    value: float, error: float | None, half: float | None, digits: int = DIGITS
) -> tuple[float | None, float | None]:
    """Return the ends of an interval."""
    if error is None or half is None:
        return None, None
    return round(value - half * error, digits), round(value + half * error, digits)


def _players(fitted: FittedLog) -> list[PlayerRow]:
    """Return the rows of all players, the unrated last."""
    counts, anchors, linked = _counts(fitted.games), fitted.model.anchors, fitted.linked
    fixed = set(anchors.players[anchors.deviations == 0.0].tolist())
    trouble, statuses = fitted.trouble, list(linked.statuses)
    if trouble is not None:
        status = "separated" if trouble.separated else "not identified"
        statuses = [
            status if rated else known
            for rated, known in zip(linked.rated.tolist(), statuses, strict=True)
        ]
    order, sure = fitted.order.tolist(), fitted.uncertainty
    ratings = np.round(fitted.ratings, DIGITS)
    ranks = 1 + np.searchsorted(-ratings, -ratings, side="left")
    errors = None if sure is None else sure.std_errors[fitted.index]
    ranges = _rank_ranges(fitted)
    rows = []
    for k, player in enumerate([*order, *sorted(set(range(len(statuses))) - set(order))]):
        games, wins, losses, draws = counts[:, player].tolist()
        name, group = fitted.games.players[player], int(linked.groups[player])
        row = PlayerRow(
            *(None, name, None, None, None, None, None, None),
            *(games, wins, losses, draws, group, statuses[player]),
        )
        if k < len(order):
            rating, error = float(ratings[k]) + 0.0, None if errors is None else float(errors[k])
            low, high = _ends(rating, error, fitted.quantile)
            row = row._replace(
                rank=int(ranks[k]),
                rating=rating,
                std_error=_rounded(error),
                low=low,
                high=high,
                rank_low=None if ranges is None else int(ranges.low[k]),
                rank_high=None if ranges is None else int(ranges.high[k]),
                status=ANCHOR if player in fixed else RATED,
            )
        rows.append(row)
    return rows


def _rank_ranges(fitted: FittedLog) -> Ranks | None:
    """Return ranges of ranks of the rated players, in order; None where they are not known."""
    if fitted.uncertainty is None or fitted.uncertainty.covariance is None:
        return None
    if fitted.critical is None or fitted.estimate is None:
        return Ranks(*np.ones((2, len(fitted.order)), np.int64))
    ratings = fitted.estimate.ratings[fitted.linked.rated]
    ranks = rank_ranges(ratings, fitted.uncertainty.covariance, fitted.critical)
    return Ranks(ranks.low[fitted.index], ranks.high[fitted.index])


def _counts(games: WeightedGames) -> Ints:
    """Return games, wins, losses and draws of each player; a shared first place is a draw."""
    contests = games.contests
    best = np.maximum.reduceat(contests.points, contests.game_starts[:-1])
    of_side = games_of_sides(contests)
    first = contests.points == best[of_side]
    alone = np.bincount(of_side, first)[of_side] == 1
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
        unit = "points" if k == 0 and name == HOME else "points per unit"
        # A coefficient keeps its digits, whatever the unit of its covariate.
        sizes = [abs(x) for x in (value, error) if x and math.isfinite(x)]
        digits = DIGITS - min(0, math.floor(math.log10(min(sizes, default=1.0))))
        ends, sure = (
            _ends(value, error, half, digits),
            None if error is None else round(error, digits),
        )
        rows.append(CoefficientRow(name, round(value, digits), sure, *ends, unit))
    if (nu := made.draw_weight) > 0.0:
        error = None if known is None else known.log_draw_weight
        ends = _ends(math.log(nu), error, half, digits=12)
        low, high = (None if end is None else round(math.exp(end), 9) for end in ends)
        sure = None if error is None else round(nu * error, 9)
        rows.append(CoefficientRow(DRAW_WEIGHT, round(nu, 9), sure, low, high, ""))
    return rows


def _posterior(fitted: FittedLog) -> Posterior:
    """Return the rated players and how sure their ratings are together, in order."""
    index, names = fitted.index, [fitted.games.players[k] for k in fitted.order.tolist()]
    covariance = fitted.uncertainty.covariance if fitted.uncertainty else None
    pairs, games = np.zeros((0, 2), np.int64), np.zeros(0)
    if covariance is not None:
        pairs, games = _met(fitted)
        if (index[1:] < index[:-1]).any():
            ordered = np.empty_like(covariance)
            for row, k in zip(ordered, index.tolist(), strict=True):  # numpy is fast row by row
                np.take(covariance[k], index, out=row, mode="clip")
            covariance = ordered
    return Posterior(names, fitted.ratings, covariance, pairs, games)


def _met(fitted: FittedLog) -> tuple[Ints, Floats]:
    """Return in how many of the games used each two rated players were on opposite sides."""
    contests = fitted.games.contests
    used = fitted.linked.games[games_of_sides(contests)][rows_of_sides(contests)]
    players, sides = contests.players[used], rows_of_sides(contests)[used]
    n, ones = contests.n_players, np.ones(len(players))
    games = games_of_sides(contests)[sides]
    in_games = sparse.csr_array((ones, (players, games)), shape=(n, contests.n_games))
    on_sides = sparse.csr_array((ones, (players, sides)), shape=(n, len(contests.points)))
    between = sparse.csr_array(in_games @ in_games.T - on_sides @ on_sides.T)
    met = sparse.coo_array(sparse.triu(between[fitted.order][:, fitted.order], 1))
    order = np.lexsort((met.col, met.row))
    return np.column_stack((met.row, met.col)).astype(np.int64)[order], met.data[order]


def _bootstrap(fitted: FittedLog, posterior: Posterior) -> tuple[list[BootstrapRow], float | None]:
    """Return what resampling says of the rated players, in order, and how wide differences are."""
    # The latter is the median ratio to their standard errors, among those whom all refits rate;
    # None where all are rated.
    options, made = fitted.options, fitted.estimate
    if not options.bootstrap or made is None or not fitted.linked.games.any():
        return [], None
    streams = Streams(options.seed)
    draws = (streams.stream(k, _RESAMPLING) for k in range(options.bootstrap))
    checked = bootstrap(fitted.design, fitted.levels, fitted.model, made, options.level, draws)
    rows = []
    for k in fitted.order.tolist():
        error, low, high = (_rounded(float(column[k])) for column in checked[:3])
        unrated = round(float(checked.unrated[k]), 9)
        rows.append(BootstrapRow(fitted.games.players[k], error, low, high, unrated))
    differences, covariance = checked.differences[fitted.order], posterior.covariance
    always = np.flatnonzero(np.isfinite(differences))
    if covariance is None or not 1 < always.size < len(rows):
        return rows, None
    known = covariance[np.ix_(always, always)]
    variances = np.diag(known) - 2.0 * known.mean(axis=1) + known.mean()
    return rows, float(np.median(differences[always] / np.sqrt(variances)))


def _days(fitted: FittedLog) -> list[DayRow]:
    """Return the rows of ``days.csv``: by player, then by day."""
    made, model, sure = fitted.estimate, fitted.model, fitted.uncertainty
    if made is None or made.days is None or not isinstance(model, PathModel):
        return []
    games, days, ratings = fitted.games, model.days, made.days
    errors = np.full(len(ratings), np.nan) if sure is None or sure.days is None else sure.days
    reach = errors * (np.nan if fitted.quantile is None else fitted.quantile)
    numbers = np.round((ratings, errors, ratings - reach, ratings + reach), DIGITS) + 0.0
    cells = ([None if x != x else x for x in column] for column in numbers.tolist())
    names = [games.players[player] for player in days.players.tolist()]
    when = map(games.day_cell, days.days.tolist())
    return [DayRow(*row) for row in zip(names, when, *cells, days.games.tolist(), strict=True)]


# Notes below the table.

FEW_CLUSTERS = 20

_WHY = {
    ABOVE: "above the others (never beaten by them)",
    BELOW: "below them (never won against them)",
    UNLINKED: "not linked to them",
}


def _trouble(fitted: FittedLog, trouble: NoEstimate) -> str:
    """Say why there is no estimate, and what helps."""
    n, names = fitted.design.contests.n_players, [*fitted.games.features, DRAW_WEIGHT]
    moved, parameters = isinstance(fitted.model, PathModel), trouble.parameters.tolist()
    coefficients = [names[k - n] for k in parameters if k >= n]
    blamed = [] if moved else [fitted.games.players[k] for k in parameters if k < n]
    prior = f"{option('prior')} D"
    if trouble.separated and moved:
        name = coefficients[0] if coefficients else names[-1]
        return f"no ratings: {name} has no finite estimate; {_without(name)} helps"
    if moved:
        what = f"the games do not tell apart {listed(coefficients)}"
        return f"no ratings: {what}; a rating without one helps"
    if not trouble.separated:
        what = f"the games do not tell apart what belongs to {listed([*coefficients, *blamed])}"
        return f"no ratings: {what}; {prior} helps, or a rating without it"
    if coefficients:
        what = f"{coefficients[0]} has no finite estimate (the games are separated by it)"
        more = "" if fitted.options.prior is not None else f", {prior} may"
        return f"no ratings: {what}; {_without(coefficients[0])} helps{more}"
    named = ", ".join(map(shown, blamed[:NAMED]))
    return f"no ratings: no finite estimate, farthest off {named}; {prior} helps"


def _without(coefficient: str) -> str:
    """Say how a coefficient is left out."""
    if coefficient == DRAW_WEIGHT:
        return f"{option('draws')} half"
    if coefficient == HOME:
        return f"{option('home')} none"
    return f"a rating without {option('covariate')} {coefficient}"


def _notes(result: BatchRating, options: RankOptions) -> Iterator[str]:
    """Say what ratings rest on, and who has none."""
    facts, moved = result.facts, "drift" in result.facts
    if facts["interval"] != NONE:
        zero = "the anchors" if facts["zero"] == "anchors" else "the mean of all who are rated"
        zero = "the mean of all players' first days" if moved else zero
        yield f"intervals ({facts['level']:.0%}, {facts['interval']}) are against {zero}"
    if moved:
        yield from _notes_of_paths(facts)
    if tied := result.tied_for_first:
        unbeaten = any(row.status == ABOVE for row in result.players)
        yield f"tied for first{' among the rated' * unbeaten} ({len(tied)}): {listed(tied)}"
    if facts["score_scale"] < 1.0:
        yield (
            "ratings leave draws out: for the expected score multiply gaps by"
            f" {facts['score_scale']:.2f}, or set draws to half"
        )
    clusters = facts["clusters"]
    if clusters is not None and clusters < max(FEW_CLUSTERS, facts["rated"]):
        yield f"intervals are rough: {clusters} clusters, {facts['rated']} rated players"
    if (options.prior is not None or moved) and facts["groups"] > 1:
        prior = "the prior" if moved else option("prior")
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
        yield _note_of_bootstrap(result)
    missing = [row for row in result.players if row.rating is None]
    if missing:
        counts = {status: sum(row.status == status for row in missing) for status in _WHY}
        why = ", ".join(f"{n:,} {_WHY[status]}" for status, n in counts.items() if n)
        if above := [row.player for row in missing if row.status == ABOVE]:
            why += f"; unbeaten: {listed(above)}"
        yield f"{len(missing):,} without a rating: {why}; {option('prior')} D rates all"


def _notes_of_paths(facts: dict[str, Any]) -> Iterator[str]:
    """Say of ratings that move when they hold, and by how much they move."""
    yield f"ratings are those of the last day of the log, {facts['last_day']}"
    if (tuning := facts["tuning"]) is not None:
        more = tuning["evidence"] - tuning["unmoved"]
        yield (
            f"drift of the greatest evidence: {tuning['drift']:.4g} points a square-root day (log"
            f" evidence {tuning['evidence']:.2f}, {more:.2f} above that of no drift)"
        )
    if facts["standard_errors"] == "drawn" and facts["critical"] is not None:
        yield "too many days for exact standard errors: those of days are from 1,000 draws"


def _note_of_bootstrap(result: BatchRating) -> str:
    """Say how wide intervals by resampling are, compared with the others."""
    rated = result.rated
    both = ((row, rated[row.player]) for row in result.bootstrap)
    ratios = [
        (row.high - row.low) / (of.high - of.low)
        for row, of in both
        if not (row.high is None or row.low is None or of.high is None or of.low is None)
        and of.high != of.low
    ]
    sometimes = [row.player for row in result.bootstrap if row.unrated > 0.0]
    names = f"without a rating in some refits, which moves the zero: {listed(sometimes)}"
    ratio = result.facts.get("bootstrap_differences")
    if ratio is not None:
        return (
            f"differences by the bootstrap: {ratio:.2f} times as wide (median), among"
            f" {len(result.bootstrap) - len(sometimes):,} of {len(result.bootstrap):,} players;"
            f" {names}"
        )
    if not ratios:
        return (
            "no interval of the bootstrap has an end on both sides: refits leave too many without a"
            " rating"
        )
    if sometimes and result.facts["zero"] == "mean":
        return f"intervals of the bootstrap are not compared; {names}"
    return f"intervals of the bootstrap: {statistics.median(ratios):.2f} times as wide (median)"


# Files.

DIFFERENCES, SUPERIORITY = "differences.csv", "superiority.csv"


def _tables(result: BatchRating) -> dict[str, dict[str, list[Any]]]:
    """Return the tables of a rating, by file."""
    tables = {
        RATINGS: result.columns(),
        COEFFICIENTS: columns_of(CoefficientRow, result.coefficients),
    }
    if result.bootstrap:
        tables[BOOTSTRAP] = columns_of(BootstrapRow, result.bootstrap)
    if result.days:
        tables[DAYS] = columns_of(DayRow, result.days)
    return tables


def _write_pairs(folder: Path, result: BatchRating, every: bool) -> None:
    """Write what is known of players together."""
    posterior, facts = result.posterior, result.facts
    if posterior.covariance is None:
        return
    posterior.write(folder / POSTERIOR)
    if len(posterior.names) > MOST_LISTED and not every:
        return
    groups = np.array([row.group for row in result.rated.values()])
    with write_atomically(folder / DIFFERENCES) as file:
        file.write(csv_line(DifferenceRow._fields))
        for rows in posterior.differences(groups, facts["quantile"], facts["critical"]):
            file.write(csv_text([cell(value) for value in row] for row in rows))
    with write_atomically(folder / SUPERIORITY) as file:
        file.write(csv_line(["player", *posterior.names]))
        for k, name in enumerate(posterior.names):
            leads = posterior.mean[k] - posterior.mean
            chances = np.round(superiority_of(leads, posterior.errors(k)), 9)
            file.write(csv_line([name, *chances.tolist()]))
