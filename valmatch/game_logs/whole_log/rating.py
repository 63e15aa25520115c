"""Rating a whole log at once: read, fitted, measured, written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.execution.interruption import stop_on_signal
from valmatch.game_logs.rating_files import claim, write_result
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.roster import RATINGS
from valmatch.game_logs.warnings import log_warnings
from valmatch.game_logs.whole_log.contests import WeightedGames, read_anchors, weighted_games
from valmatch.game_logs.whole_log.options import (
    INFORMATION,
    MOST_LISTED,
    NONE,
    SANDWICH,
    RankOptions,
)
from valmatch.game_logs.whole_log.result import (
    BOOTSTRAP,
    DAYS,
    BatchRating,
    BootstrapRow,
    CoefficientRow,
    DayRow,
    DifferenceRow,
    PlayerRow,
    Posterior,
    columns_of,
    superiority_of,
)
from valmatch.game_logs.whole_log.rows import ERRORS, FittedLog, path_model, result_of, tuned_model
from valmatch.game_logs.whole_log.saved_ratings import POSTERIOR, write_posterior
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.files import sha256
from valmatch.inputs.options import takes
from valmatch.kernels.threads import threads_for
from valmatch.ratings.bradley_terry.connections import Linked, levels_of, link
from valmatch.ratings.bradley_terry.contests import Design
from valmatch.ratings.bradley_terry.estimating import HALF, Anchors, WholeModel, estimate
from valmatch.ratings.bradley_terry.fit import NoEstimate
from valmatch.ratings.bradley_terry.rating import Model
from valmatch.ratings.registry import BATCH_NAMES
from valmatch.ratings.whole_history.rating import Tuned
from valmatch.statistics.estimates import range_quantile, t_quantile
from valmatch.storage.output import cell, csv_line, csv_text, write_atomically
from valmatch.storage.results import Warnings
from valmatch.storage.run_folder import RunFolder


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
    return rank_log(arguments.path("games", games), RankOptions(system=system, **options))


def rank_log(path: Path, options: RankOptions) -> BatchRating:
    """Rate the players of a log by all of its games at once; see `rank_games`."""
    warn = Warnings(options.warn)
    options = replace(options, warn=warn)
    identity = options.identity
    with ExitStack() as stack:
        log = GameLog(path, options, further=options.further)
        folder = None
        if options.out is not None:
            identity["anchors_sha256"] = _digest_of(options.anchors)
            folder = stack.enter_context(claim("rank", options.out, log, None, identity))
        stop = stack.enter_context(stop_on_signal())
        games, facts = log.games_with_facts(options.progress)
        if stop():
            raise KeyboardInterrupt
        weighted = weighted_games(log, games, facts, options)
        with threads_for(weighted.most_ratings):
            model, tuned, trouble = _model(log, weighted, options, stop)
            result = result_of(_fitted(log, weighted, options, model, trouble, tuned), options)
        for warning in log_warnings(log):
            warn(warning)
        result = replace(result, source=log.name, warnings=list(warn))
        if stop():
            raise KeyboardInterrupt
        if folder is not None:
            folder.remark_input(log_warnings(log))
            tables = _tables(result)
            also = partial(_write_pairs, folder, result, options.differences)
            result = write_result(folder, result, tables, also)
    return result


def _digest_of(anchors: Path | None) -> str | None:
    """Return the SHA-256 of a file of anchors."""
    try:
        return sha256(anchors) if anchors else None
    except OSError as error:
        text = f"{option('anchors')}: {anchors}: cannot be read: {error.strerror}"
        raise InputError(text) from None


def _model(
    log: GameLog,
    weighted: WeightedGames,
    batch: RankOptions,
    stop: Callable[[], bool],
) -> tuple[WholeModel, Tuned | None, NoEstimate | None]:
    """Return the model, what of it was fitted, and why that could not be done, if so."""
    if batch.system_of.paths:
        model = path_model(weighted, batch)
        if not batch.tune:
            return model, None, None

        def look() -> None:
            if stop():
                raise KeyboardInterrupt

        try:
            return *tuned_model(log.name, model, weighted, look), None
        except NoEstimate as error:
            return model, None, error
    anchors = Anchors()
    if batch.anchors is not None:
        numbers = {name: k for k, name in enumerate(weighted.players)}
        anchors = read_anchors(batch.anchors, numbers, batch.warn)
    return Model(batch.draws, batch.prior, anchors, batch.values["mean"]), None, None


def _fitted(
    log: GameLog,
    weighted: WeightedGames,
    batch: RankOptions,
    model: WholeModel,
    trouble: NoEstimate | None,
    tuned: Tuned | None,
) -> FittedLog:
    """Return the estimate of a log, and how sure it is."""
    contests, levels = weighted.contests, levels_of(weighted.contests)
    design, anchors = model.design(contests), model.anchors.players
    linked = link(contests, levels, contests.weights, anchors, model.rates_all)
    made = None
    try:
        if trouble is None:
            made = estimate(design, levels, model, linked, contests.weights)
    except NoEstimate as error:
        trouble = error
    kind, clusters = _kind(log, design, linked, batch)
    fitted = FittedLog(
        weighted, design, levels, model, linked, made, trouble, kind, clusters, tuned=tuned
    )
    if made is None or kind == NONE:
        return fitted
    sure = model.uncertainty(made, kind == SANDWICH, Streams(batch.seed).stream(None, ERRORS))
    degrees = math.inf if clusters is None else clusters - 1.0
    n, critical = int(linked.rated.sum()), None
    if n > 1 and sure.covariance is not None:
        critical = range_quantile(batch.level, n, degrees) / math.sqrt(2.0)
    quantile = t_quantile(0.5 + 0.5 * batch.level, degrees)
    return replace(fitted, uncertainty=sure, quantile=quantile, critical=critical)


def _kind(
    log: GameLog, design: Design, linked: Linked, batch: RankOptions
) -> tuple[str, int | None]:
    """Return the kind of the intervals, and the number of clusters if they are by these."""
    weights, used = design.contests.weights, linked.games
    games = used[design.duel_games]
    halves = batch.draws == HALF and bool((design.duel_scores[games] == 0.5).any())
    fractional = bool((weights[used] % 1.0 != 0.0).any())
    kind = batch.interval
    if not kind:
        kind = SANDWICH if batch.clustered or halves or fractional else INFORMATION
    if kind != SANDWICH:
        return kind, None
    n = len(np.unique(design.contests.clusters[used]))
    if n < 2 and used.any():
        what = "one cluster" if batch.clustered else "one game"
        raise InputError(
            f"{log.name}: {option('interval')} sandwich: {what} among the games used (allowed: two"
            " or more)"
        )
    return kind, n if batch.clustered and n else None


# The files of a rating of a whole log.

DIFFERENCES, SUPERIORITY = "differences.csv", "superiority.csv"
COEFFICIENTS = "coefficients.csv"

_AT_ONCE = 10_000  # rows that are held


def _tables(result: BatchRating) -> dict[str, dict[str, list[Any]]]:
    """Return the tables of a rating, by file."""
    tables: dict[str, tuple[type[Any], Sequence[Any]]] = {
        RATINGS: (PlayerRow, result.players),
        COEFFICIENTS: (CoefficientRow, result.coefficients),
    }
    if result.bootstrap:
        tables[BOOTSTRAP] = (BootstrapRow, result.bootstrap)
    if result.days:
        tables[DAYS] = (DayRow, result.days)
    return {name: columns_of(kind, rows) for name, (kind, rows) in tables.items()}


def _write_pairs(folder: RunFolder, result: BatchRating, every: bool) -> None:
    """Write what is known of players together."""
    posterior = result.posterior
    if posterior.covariance is not None:
        write_posterior(folder.path / POSTERIOR, posterior)
        if len(posterior.names) <= MOST_LISTED or every:
            _write_differences(folder, result)
            _write_superiority(folder, posterior)


def _write_lines(path: Any, header: Iterable[str], rows: Iterable[Sequence[object]]) -> None:  # noqa: ANN401
    with write_atomically(path) as file:
        file.write(csv_line(header))
        left = iter(rows)
        while some := list(islice(left, _AT_ONCE)):
            file.write(csv_text([cell(value) for value in row] for row in some))


def _write_differences(folder: RunFolder, result: BatchRating) -> None:
    rows = result.posterior.differences(result.facts["quantile"], result.facts["critical"])
    _write_lines(folder.path / DIFFERENCES, DifferenceRow._fields, rows)


def _write_superiority(folder: RunFolder, posterior: Posterior) -> None:
    """Write how likely the player of each row is stronger than that of each column."""
    covariance = posterior.covariance
    assert covariance is not None
    own = np.diag(covariance)

    def rows() -> Iterable[Sequence[object]]:
        for k, name in enumerate(posterior.names):
            leads = posterior.mean[k] - posterior.mean
            errors = np.sqrt(np.maximum(own[k] + own - 2.0 * covariance[k], 0.0))
            yield [name, *np.round(superiority_of(leads, errors), 9).tolist()]

    _write_lines(folder.path / SUPERIORITY, ["player", *posterior.names], rows())
