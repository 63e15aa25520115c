"""Rating a whole log at once: read, fitted, put into rows, written."""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.execution.interruption import stop_on_signal
from valmatch.game_logs.options import INFORMATION, MOST_LISTED, NONE, SANDWICH, RankOptions
from valmatch.game_logs.rating_files import claim, write_result
from valmatch.game_logs.reading.log import GameFacts, GameLog, games_at
from valmatch.game_logs.whole_log import firmness as f
from valmatch.game_logs.whole_log import result as r
from valmatch.game_logs.whole_log.result import BatchRating, Posterior, listed
from valmatch.inputs import arguments
from valmatch.inputs.csv_reader import read_table
from valmatch.inputs.files import readable, sha256
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.kernels.threads import one_thread
from valmatch.ratings import whole_history as wh
from valmatch.ratings.bradley_terry import contests as c
from valmatch.ratings.bradley_terry import rating as bt
from valmatch.ratings.bradley_terry.covariance import rank_ranges
from valmatch.ratings.bradley_terry.fit import NoEstimate
from valmatch.ratings.games import Games
from valmatch.ratings.registry import BATCH_NAMES
from valmatch.statistics.estimates import range_quantile, t_quantile
from valmatch.storage.output import cell, csv_line, csv_text, write_atomically, write_binary
from valmatch.storage.results import Warnings
from valmatch.text.terminal import Note, Notice, shown


@takes(RankOptions)
def rank_games(
    games: arguments.PathLike,
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
            with readable(f"{option('anchors')}: {settings.anchors}"):
                digest = sha256(settings.anchors) if settings.anchors else None
            identity = {**settings.identity, "anchors_sha256": digest}
            folder = stack.enter_context(claim("rank", settings.out, log, None, identity))
        stop = stack.enter_context(stop_on_signal())

        def look() -> None:
            if stop():
                raise KeyboardInterrupt

        read = log.games_with_facts()
        look()
        weighted = weighted_games(log, *read, settings)
        if settings.firmness:
            f.check_firmness(log, weighted, settings)
        contests = weighted.contests  # of which each player has one rating, or one a day
        with one_thread(contests.n_players if weighted.days is None else contests.players.size):
            fitted = _fitted(log, weighted, settings, look)
            result = _result(fitted)
            if settings.firmness:
                result.facts["firmness"] = f.firmness_of(log, fitted, result, look)
        trouble = fitted.trouble
        notes = [_trouble(fitted, trouble)] if trouble else _notes(result, settings)
        warn(*log.warnings())
        warnings = [*warn, *(Notice(text, "note") for text in notes)]
        again = {k: v for k, v in options.items() if k not in ("out", "progress", "warn")}
        rerun = None if str(path) == "-" else partial(rank_games, path, system, **again)
        result = replace(result, source=log.name, warnings=warnings, rerun=rerun)
        look()
        if folder is not None:
            folder.remark(log.warnings())
            write_pairs = partial(_write_pairs, folder.path, result, settings.differences)
            facts = {"reading": log.reading}
            result = write_result(folder, result, _tables(result), write_pairs, **facts)
    return result


def _tables(result: BatchRating) -> dict[str, dict[str, list[Any]]]:
    """Return the tables of a rating, those that hold anything."""
    tables = {r.RATINGS: result.columns()}
    for name, kind, rows in (
        (r.COEFFICIENTS, r.CoefficientRow, result.coefficients),
        (r.BOOTSTRAP, r.BootstrapRow, result.bootstrap),
        (r.DAYS, r.DayRow, result.days),
    ):
        if rows or name == r.COEFFICIENTS:
            tables[name] = r.columns_of(kind, rows)
    if boundaries := result.facts.get("firmness", {}).get("boundaries"):
        tables[r.FIRMNESS] = {name: [row[name] for row in boundaries] for name in boundaries[0]}
    return tables


_FARTHEST = 1e9  # day beyond which times are no times


def weighted_games(
    log: GameLog, games: Games, facts: GameFacts, options: RankOptions
) -> f.WeightedGames:
    """Return the games of a log; those of weight 0 are as if absent."""
    weighty = facts.weights > 0.0
    if not weighty.any():
        raise InputError(f"{log.name}: holds no game that can be rated (all have weight 0)")
    rows = np.repeat(weighty, np.diff(games.side_starts[games.game_starts]))
    games = games_at(games, np.flatnonzero(weighty))
    covariates, names = facts.covariates[rows], log.players.texts
    _check_covariates(log, covariates, options)
    days, clusters = _days_and_clusters(log, games, facts.clusters[weighty], options)
    ranks = log.players.ranks()
    present, players = np.unique(ranks[games.players], return_inverse=True)
    contests = c.Contests(
        len(present),
        games.game_starts,
        games.side_starts,
        games.points,
        players.ravel(),
        np.zeros((len(games.points), 0)),
        facts.weights[weighty],
        clusters,
    )
    features = [_mean_of_sides(contests, column) for column in covariates.T]
    coefficients = list(options.covariate)
    if options.home != "none":
        home = _mean_of_sides(contests, facts.homes[rows].astype(np.float64))
        if (home != home[contests.game_starts[:-1]][contests.game_of_side]).any():
            features, coefficients = [home, *features], [r.HOME, *coefficients]
        elif options.home == "fit":
            what = "no game has one side at home (allowed: a log with columns home and away)"
            raise InputError(f"{log.name}: {option('home')} fit: {what}")
    if features:
        contests = replace(contests, features=np.column_stack(features))
    by_name = [names[k] for k in np.argsort(ranks)[present].tolist()]
    first, places = None, log.columns.places
    if "player" not in places and "winner" not in places:
        first = np.argmax(facts.named_first[rows].reshape(-1, 2), axis=1)
    questions = facts.clusters[weighty, -1] if options.swapped_by else None
    of_log = log.dated, games.names, first, questions
    return f.WeightedGames(contests, by_name, coefficients, days, *of_log)


def _days_and_clusters(
    log: GameLog, games: Games, cells: Ints, options: RankOptions
) -> tuple[Ints | None, Ints]:
    """Return the day of each game, where players have ratings by day, and its cluster."""
    days_of_ratings: Ints | None = None
    clusters = np.arange(games.n_games)
    if options.system_of.paths or options.cluster_days is not None:
        days = r.day_of(games.times, log.dated, options.time_unit)
        if np.abs(days).max() > _FARTHEST:
            what = f"time: beyond day {_FARTHEST:.0e} (allowed: {_FARTHEST:.0e})"
            raise InputError(f"{log.name}: {what}")
        if options.cluster_days is not None:
            blocks = np.floor((days - days.min()) / options.cluster_days)
            clusters = np.unique(blocks, return_inverse=True)[1].ravel()
        if options.system_of.paths:
            days_of_ratings = days.astype(np.int64)
    if options.cluster:
        columns = cells[:, : len(options.cluster)]
        clusters = np.unique(columns, axis=0, return_inverse=True)[1].ravel()
    return days_of_ratings, clusters


def _mean_of_sides(contests: c.Contests, values: Floats) -> Floats:
    """Return the mean over the players of each side."""
    sums = np.bincount(contests.side_of_row, values, len(contests.points))
    means: Floats = sums / np.diff(contests.side_starts)
    return means


def _check_covariates(log: GameLog, covariates: Floats, options: RankOptions) -> None:
    """Refuse covariates that are the same everywhere."""
    columns = log.columns.names if log.columns.format.name != "long" else ()
    for k, name in enumerate(options.covariate):
        values = covariates[:, k]
        known = values[values != 0.0]
        if name in columns and f"{name}_a" not in columns and len(known) == len(values) // 2:
            values = known  # the difference stands at the first side, 0 at the second
        if len(np.unique(values)) < 2:
            what = f"{name} is the same in all games (allowed: what differs)"
            raise InputError(f"{log.name}: {option('covariate')}: {what}")


MOST_POINTS = 1e6  # largest size of a rating in points, beyond all use


def read_anchors(path: Path, players: Mapping[str, int], warn: Callable[[str], None]) -> bt.Anchors:
    """Read anchors; those who did not play are named and left out."""
    what = "anchors have the columns player, rating, and optionally deviation"
    anchors: dict[str, tuple[float, float]] = {}
    for row in read_table(path, ("player", "rating"), ("deviation",), what=what):
        name = row.text("player")
        if name in anchors:
            raise row.wrong("player", f"{shown(name)} is there twice")
        rating, deviation = row.number_within("rating", -MOST_POINTS, MOST_POINTS), 0.0
        if cell := row.cells.get("deviation"):
            deviation = row.number_within("deviation", 0.0, arguments.DEVIATION[1])
            if 0.0 < deviation < arguments.DEVIATION[0]:
                allowed = f"0 for a rating that is known, or points >= {arguments.DEVIATION[0]:g}"
                raise row.wrong("deviation", f"{shown(cell)} (allowed: {allowed})")
        anchors[name] = rating, deviation
    absent = [name for name in anchors if name not in players]
    if len(absent) == len(anchors):
        raise InputError(f"{path}: none of its players has played")
    if absent:
        warn(Note(f"{path}: did not play, and left out: {listed(absent)}"))
    known = sorted((players[name], *of) for name, of in anchors.items() if name in players)
    numbers, ratings, deviations = zip(*known, strict=True)
    return bt.Anchors(np.array(numbers), np.array(ratings, float), np.array(deviations, float))


def _model(weighted: f.WeightedGames, options: RankOptions) -> bt.WholeModel:
    """Return the model of ratings, with those that are known."""
    if weighted.days is not None:
        days = wh.player_days(weighted.contests, weighted.days)
        return wh.PathModel(options.draws, bt.Anchors(), days=days, **options.values)
    anchors = bt.Anchors()
    if options.anchors is not None:
        numbers = {name: k for k, name in enumerate(weighted.players)}
        anchors = read_anchors(options.anchors, numbers, options.warn)
    return bt.Model(options.draws, anchors, options.prior, **options.values)


def _fitted(
    log: GameLog, weighted: f.WeightedGames, options: RankOptions, look: Callable[[], None]
) -> f.FittedLog:
    """Return the estimate of a log, and how sure it is."""
    contests = weighted.contests
    model, made, tuned, trouble = _model(weighted, options), None, None, None
    linked = c.link(contests, contests.weights, model.anchors.players, model.rates_all)
    try:
        if isinstance(model, wh.PathModel) and options.tune:
            tuned = wh.tuned_drift(model, contests, linked, look)
            model = replace(model, drift=tuned.drift)
        design = model.design(contests)
        made = bt.estimate(design, model, linked, contests.weights)
    except wh.TooLarge:
        what = "too many players are active at once (allowed: what takes seconds for each drift)"
        raise InputError(f"{log.name}: {option('tune')} drift: {what}") from None
    except NoEstimate as error:
        design, trouble = model.design(contests), error
    rated, index = np.flatnonzero(linked.rated), np.zeros(0, np.int64)
    if made is not None:
        index = np.argsort(-np.round(made.ratings[rated], r.DIGITS), kind="stable")
    drawn = design.duel_scores[linked.games[design.duel_games]] == 0.5
    half_draws = options.draws == bt.HALF and bool(drawn.any())
    kind, clusters = _intervals(log, design.contests, linked.games, options, half_draws)
    sure, quantile, critical = None, None, None
    if made is not None and kind != NONE:
        streams = Streams(options.seed)
        sure = model.uncertainty(made, kind == SANDWICH, streams.stream(None, f.ERRORS))
        sure = sure._replace(std_errors=sure.std_errors[index])
        degrees = math.inf if clusters is None else clusters - 1.0
        quantile = t_quantile(0.5 + 0.5 * options.level, degrees)
        if sure.covariance is not None:
            sure = sure._replace(covariance=sure.covariance[np.ix_(index, index)])
            if len(rated) > 1:
                critical = range_quantile(options.level, len(rated), degrees) / math.sqrt(2.0)
    fit = (design, model, linked, made, trouble, tuned, rated[index])
    intervals = (half_draws, kind, clusters, sure, quantile, critical)
    return f.FittedLog(weighted, options, *fit, *intervals)


def _intervals(
    log: GameLog, contests: c.Contests, used: Bools, options: RankOptions, half_draws: bool
) -> tuple[str, int | None]:
    """Return the kind of intervals, and the number of clusters if these count."""
    fractional = bool((contests.weights[used] % 1.0 != 0.0).any())
    robust = options.clustered or half_draws or fractional
    kind = options.interval or (SANDWICH if robust else INFORMATION)
    if kind != SANDWICH:
        return kind, None
    n = len(np.unique(contests.clusters[used]))
    if n < 2 and used.any():
        what = "one cluster" if options.clustered else "one game"
        raise InputError(
            f"{log.name}: {option('interval')} sandwich: {what} among the games used (allowed: two"
            " or more)"
        )
    return kind, n if options.clustered and n else None


def _result(fitted: f.FittedLog) -> BatchRating:
    """Return what was fitted as rows."""
    posterior, facts = _posterior(fitted), _facts(fitted)
    resampled, ratio = _bootstrap(fitted, posterior)
    if ratio is not None:
        facts["bootstrap_differences"] = ratio
    return BatchRating(
        fitted.options.system,
        facts,
        _players(fitted),
        _coefficients(fitted),
        posterior,
        resampled,
        _days(fitted),
    )


def _facts(fitted: f.FittedLog) -> dict[str, Any]:
    """Return what ``summary.json`` holds of numbers that are no rows."""
    made, linked, options = fitted.estimate, fitted.linked, fitted.options
    games, model, sure, tuned = fitted.games, fitted.model, fitted.uncertainty, fitted.tuned
    nu = made.draw_weight if made else 0.0
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
        "draws": "davidson" if nu > 0.0 else bt.HALF if fitted.half_draws else "none",
        "score_scale": 1.0 / (1.0 + 0.5 * nu),
        "prior": options.prior,
        "log_likelihood": made.fit.terms.value if made else None,
    }
    if options.gate:
        facts["gate"] = options.gate
    if isinstance(model, wh.PathModel):
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


def _interval(
    value: float, error: float | None, half: float | None, digits: int = r.DIGITS
) -> tuple[float | None, float | None, float | None]:
    """Return a standard error and the ends of an interval, rounded; None of what is not known."""
    if error is None or half is None or not math.isfinite(error):
        return None, None, None
    low, high = value - half * error, value + half * error
    return round(error, digits) + 0.0, round(low, digits), round(high, digits)


def _players(fitted: f.FittedLog) -> list[r.PlayerRow]:
    """Return the rows of all players, the unrated last."""
    anchors, linked, sure = fitted.model.anchors, fitted.linked, fitted.uncertainty
    fixed = {*anchors.players[anchors.deviations == 0.0].tolist()}
    order = fitted.order.tolist()
    counts, ratings = fitted.games.contests.results(), np.round(fitted.ratings, r.DIGITS) + 0.0
    ranks = 1 + np.searchsorted(-ratings, -ratings, side="left")
    errors = [None] * len(order) if sure is None else sure.std_errors.tolist()
    ranges: list[tuple[int | None, int | None]] = [(None, None)] * len(order)
    if sure is not None and sure.covariance is not None:
        ranges = [(1, 1)] * len(order)
        if fitted.critical is not None:
            low, high = rank_ranges(fitted.ratings, sure.covariance, fitted.critical)
            ranges = [*zip(low.tolist(), high.tolist(), strict=True)]

    statuses = dict(enumerate(linked.statuses))
    if fitted.trouble is not None:
        status = "separated" if fitted.trouble.separated else "not identified"
        statuses |= dict.fromkeys(np.flatnonzero(linked.rated).tolist(), status)
    statuses |= {k: r.ANCHOR if k in fixed else c.RATED for k in order}
    columns = (order, ranks.tolist(), ratings.tolist(), errors, ranges)
    numbers: dict[int, tuple[Any, ...]] = {
        player: (rank, rating, *_interval(rating, error, fitted.quantile), *places)
        for player, rank, rating, error, places in zip(*columns, strict=True)
    }
    rows = []
    for k in [*order, *sorted(statuses.keys() - set(order))]:
        rank, *others = numbers.get(k, (None,) * 7)
        known = (*others, *counts[:, k].tolist(), int(linked.groups[k]), statuses[k])
        rows.append(r.PlayerRow(rank, fitted.games.players[k], *known))
    return rows


def _coefficients(fitted: f.FittedLog) -> list[r.CoefficientRow]:
    """Return the rows of the coefficients."""
    made, known, half = fitted.estimate, fitted.uncertainty, fitted.quantile
    if made is None or not fitted.linked.games.any():
        return []
    rows = []
    for k, name in enumerate(fitted.games.features):
        value = float(made.coefficients[k])
        error = None if known is None else float(known.coefficients[k])
        unit = "points" if k == 0 and name == r.HOME else "points per unit"
        # A coefficient keeps its digits, whatever the unit of its covariate.
        sizes = [abs(x) for x in (value, error) if x and math.isfinite(x)]
        digits = r.DIGITS - min(0, math.floor(math.log10(min(sizes, default=1.0))))
        ends = _interval(value, error, half, digits)
        rows.append(r.CoefficientRow(name, round(value, digits), *ends, unit))
    if (nu := made.draw_weight) > 0.0:
        error = None if known is None else known.log_draw_weight
        _, *ends_of_log = _interval(math.log(nu), error, half, digits=12)
        low, high = (None if end is None else round(math.exp(end), 9) for end in ends_of_log)
        sure = None if error is None else round(nu * error, 9)
        rows.append(r.CoefficientRow(r.DRAW_WEIGHT, round(nu, 9), sure, low, high, ""))
    return rows


def _posterior(fitted: f.FittedLog) -> Posterior:
    """Return the rated players and how sure their ratings are together, in order."""
    names = [fitted.games.players[k] for k in fitted.order.tolist()]
    covariance = fitted.uncertainty.covariance if fitted.uncertainty else None
    if covariance is None:
        return Posterior(names, fitted.ratings, None, np.zeros((0, 2), np.int64), np.zeros(0))
    met = fitted.games.contests.meetings(fitted.linked.games, fitted.order)
    return Posterior(names, fitted.ratings, covariance, *met)


def _bootstrap(
    fitted: f.FittedLog, posterior: Posterior
) -> tuple[list[r.BootstrapRow], float | None]:
    """Return what resampling says of the rated players, in order, and how wide differences are."""
    # The latter is the median ratio to their standard errors, among those whom all refits rate;
    # None where all are rated.
    options, made = fitted.options, fitted.estimate
    if not options.bootstrap or made is None or not fitted.linked.games.any():
        return [], None
    streams = Streams(options.seed)
    draws = (streams.stream(k, f.RESAMPLING) for k in range(options.bootstrap))
    checked = bt.bootstrap(fitted.design, fitted.model, made, options.level, draws)
    rows = []
    for k in fitted.order.tolist():
        numbers = (float(column[k]) for column in checked[:3])
        error, low, high = (round(x, r.DIGITS) + 0.0 if math.isfinite(x) else None for x in numbers)
        unrated = round(float(checked.unrated[k]), 9)
        rows.append(r.BootstrapRow(fitted.games.players[k], error, low, high, unrated))
    differences, covariance = checked.differences[fitted.order], posterior.covariance
    always = np.flatnonzero(np.isfinite(differences))
    if covariance is None or not 1 < always.size < len(rows):
        return rows, None
    known = covariance[np.ix_(always, always)]
    variances = np.diag(known) - 2.0 * known.mean(axis=1) + known.mean()
    return rows, float(np.median(differences[always] / np.sqrt(variances)))


def _days(fitted: f.FittedLog) -> list[r.DayRow]:
    """Return the rows of ``days.csv``: by player, then by day."""
    made, model, sure = fitted.estimate, fitted.model, fitted.uncertainty
    if made is None or made.days is None or not isinstance(model, wh.PathModel):
        return []
    games, days, ratings = fitted.games, model.days, made.days
    errors = np.full(len(ratings), np.nan) if sure is None or sure.days is None else sure.days
    reach = errors * (np.nan if fitted.quantile is None else fitted.quantile)
    numbers = np.round((ratings, errors, ratings - reach, ratings + reach), r.DIGITS) + 0.0
    cells = ([None if x != x else x for x in column] for column in numbers.tolist())
    names = [games.players[player] for player in days.players.tolist()]
    when = map(games.day_cell, days.days.tolist())
    return [r.DayRow(*row) for row in zip(names, when, *cells, days.games.tolist(), strict=True)]


FEW_CLUSTERS = 20


def _trouble(fitted: f.FittedLog, trouble: NoEstimate) -> str:
    """Say why there is no estimate, and what helps."""
    n, names = fitted.design.contests.n_players, [*fitted.games.features, r.DRAW_WEIGHT]
    moved, parameters = isinstance(fitted.model, wh.PathModel), trouble.parameters.tolist()
    coefficients = [names[k - n] for k in parameters if k >= n]
    blamed = [] if moved else [fitted.games.players[k] for k in parameters if k < n]
    if trouble.separated and moved and not coefficients:
        coefficients = [names[-1]]
    prior = "" if moved else f"{option('prior')} D"
    if not trouble.separated:
        what = f"the games do not tell apart {listed([*coefficients, *blamed])}"
        helps = f"{prior} helps, or a rating without it" if prior else "leave one out"
    elif coefficients:
        name = coefficients[0]
        what = f"{name} has no finite estimate (the games are separated by it)"
        left_out = {r.DRAW_WEIGHT: f"{option('draws')} half", r.HOME: f"{option('home')} none"}
        without = left_out.get(name, f"a rating without {option('covariate')} {name}")
        may = f", {prior} may" if prior and fitted.options.prior is None else ""
        helps = f"{without} helps{may}"
    else:
        named = ", ".join(map(shown, blamed[: r.NAMED]))
        what, helps = f"no finite estimate, farthest off {named}", f"{prior} helps"
    return f"no ratings: {what}; {helps}"


def _notes(result: BatchRating, options: RankOptions) -> Iterator[str]:
    """Say what ratings rest on, and who has none."""
    facts, moved = result.facts, "drift" in result.facts
    if facts["interval"] != NONE:
        zero = "the anchors" if facts["zero"] == "anchors" else "the mean of all who are rated"
        zero = "the mean of all players' first days" if moved else zero
        yield f"intervals ({facts['level']:.0%}, {facts['interval']}) are against {zero}"
    if moved:
        yield f"ratings are those of the last day of the log, {facts['last_day']}"
        if (tuning := facts["tuning"]) is not None:
            more = tuning["evidence"] - tuning["unmoved"]
            yield (
                f"drift of the greatest evidence: {tuning['drift']:.4g} points a square-root day"
                f" (log evidence {tuning['evidence']:.2f}, {more:.2f} above that of no drift)"
            )
        if facts["standard_errors"] == "drawn" and facts["critical"] is not None:
            yield "too many days for exact standard errors: those of days are from 1,000 draws"
    if tied := result.tied_for_first:
        unbeaten = any(row.rating is None and row.losses == 0 for row in result.players)
        yield f"tied for first{' among the rated' * unbeaten} ({len(tied)}): {listed(tied)}"
    if facts["score_scale"] < 1.0:
        yield (
            "ratings leave draws out: for the expected score multiply gaps by"
            f" {facts['score_scale']:.2f}. Arenas count a draw as half a win:"
            f" {option('draws')} half"
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
    if kinds := result.unrated:
        n = sum(map(len, kinds.values()))
        who = "; ".join(f"{kind} {listed(names)}" for kind, names in kinds.items())
        yield f"{n:,} without a rating: {who}. {option('prior')} D rates everybody"


def _note_of_bootstrap(result: BatchRating) -> str:
    """Say how wide intervals by resampling are, compared with the others."""
    rated, ratios = result.rated, []
    for row in result.bootstrap:
        of = rated[row.player]
        if not (row.high is None or row.low is None or of.high is None or of.low is None):
            ratios += [(row.high - row.low) / (of.high - of.low)] if of.high != of.low else []
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


DIFFERENCES, SUPERIORITY = "differences.csv", "superiority.csv"


def _write_pairs(folder: Path, result: BatchRating, every: bool) -> None:
    """Write what is known of players together; differences of the higher player first."""
    posterior, facts = result.posterior, result.facts
    if posterior.covariance is None:
        return
    names, n = posterior.names, len(posterior.names)
    with write_binary(folder / r.POSTERIOR) as file:
        np.savez(file, **vars(posterior) | {"names": np.array(names, np.str_)})
    if n > MOST_LISTED and not every:
        return
    met = sparse.csr_array((posterior.games, posterior.pairs.T), shape=(n, n))
    groups = [row.group for row in result.rated.values()]
    with (
        write_atomically(folder / DIFFERENCES) as differences,
        write_atomically(folder / SUPERIORITY) as superiority,
    ):
        differences.write(csv_line(r.OF_TWO))
        superiority.write(csv_line(["player", *names]))
        for k, name in enumerate(names):
            leads, errors = posterior.mean[k] - posterior.mean, posterior.errors(k)
            chances, games = posterior.superiority(k), met[[k]].toarray()[0]
            superiority.write(csv_line([name, *np.round(chances, 9).tolist()]))
            columns = (names, groups, *(x.tolist() for x in (leads, errors, chances, games)))
            rows = []
            others = list(zip(*columns, strict=True))[k + 1 :]
            for other, group, lead, error, chance, between in others:
                low, high, *together = (
                    None if reach is None else round(lead + sign * reach * error, r.DIGITS)
                    for reach in (facts["quantile"], facts["critical"])
                    for sign in (-1.0, 1.0)
                )
                numbers = (round(lead, r.DIGITS), round(error, r.DIGITS), low, high)
                linked = "yes" if group == groups[k] else "no"
                rows.append(
                    (name, other, *numbers, round(chance, 9), *together, linked, int(between))
                )
            differences.write(csv_text([cell(value) for value in row] for row in rows))
