"""Rating a whole log at once: read, fitted, measured, written."""

from __future__ import annotations

import math
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.execution.interruption import held_signals, stop_on_signal
from valmatch.execution.listeners import Listeners
from valmatch.game_logs.batch.anchors import read_anchors
from valmatch.game_logs.batch.contests import Read, contests_of
from valmatch.game_logs.batch.options import INFORMATION, NONE, SANDWICH, BatchOptions
from valmatch.game_logs.batch.result import (
    BatchRating,
)
from valmatch.game_logs.batch.rows import ERRORS, SYSTEM, Found, result_of
from valmatch.game_logs.batch.writing import write_batch
from valmatch.game_logs.options import LogOptions
from valmatch.game_logs.reading.cells import find_cells
from valmatch.game_logs.reading.log import GameLog, open_log
from valmatch.game_logs.remarks import games_left_out
from valmatch.game_logs.writing.folder import claim
from valmatch.inputs.files import sha256
from valmatch.kernels.compilation import announce_compilation
from valmatch.ratings.bradley_terry.connections import Linked, levels_of, link
from valmatch.ratings.bradley_terry.contests import (
    Design,
    design_of,
)
from valmatch.ratings.bradley_terry.fit import NoEstimate
from valmatch.ratings.bradley_terry.rating import (
    HALF,
    Anchors,
    Model,
    estimate,
    uncertainty,
)
from valmatch.ratings.bradley_terry.studentized_range import quantile as range_quantile
from valmatch.ratings.system import MOST_PLAYERS
from valmatch.statistics.estimates import t_quantile


def rate_whole(
    path: Path, options: LogOptions, batch: BatchOptions, raw_names: bool, listeners: Listeners
) -> BatchRating:
    """Rate the players of a log by all of its games at once.

    Parameters
    ----------
    path : Path
        The log; ``-`` is standard input.
    options : LogOptions
        How it is read, and where files go.
    batch : BatchOptions
        How it is rated.
    raw_names : bool
        Whether names that begin like formulas are written as they are.
    listeners : Listeners
        Whom to tell.

    Raises
    ------
    InputError
        If the log, the anchors or the folder cannot be used; then nothing is written.
    """
    values = batch.values(SYSTEM)
    announce_compilation(find_cells)
    with ExitStack() as stack:
        log = open_log(path, options, MOST_PLAYERS, batch.further)
        stack.enter_context(closing(log))
        folder = None
        if options.out is not None:
            anchors = {"anchors_sha256": sha256(batch.anchors) if batch.anchors else None}
            identity = {**_identity(options, values), **batch.identity, **anchors}
            folder = stack.enter_context(claim(options.out, log, None, identity, options.redo))
        stop = stack.enter_context(stop_on_signal())
        games, facts = log.whole(listeners.progress)
        if stop():
            raise KeyboardInterrupt
        read = contests_of(log, games, facts, batch)
        found = _fitted(log, read, batch, listeners)
        result = result_of(found, batch)
        for remark in games_left_out(log):
            listeners.warn(remark)
        if stop():
            raise KeyboardInterrupt
        if folder is not None:
            result = replace(result, folder=folder.path)
            with held_signals():  # a signal finds all files or none
                write_batch(folder, result, batch.differences, raw_names)
    return result


def _identity(options: LogOptions, values: dict[str, float]) -> dict[str, object]:
    """Return what distinguishes this rating from others of the same log, but for `BatchOptions`."""
    return {
        "system": SYSTEM,
        "given": values,
        "columns": dict(options.format.columns),
        "separator": options.format.other_separator,
        "skip_bad_games": options.most_bad is not None,
        **options.choice.identity,
    }


def _fitted(log: GameLog, read: Read, batch: BatchOptions, listeners: Listeners) -> Found:
    """Return the estimate of a log, and how sure it is."""
    numbers = {name: k for k, name in enumerate(read.players)}
    anchors = Anchors()
    if batch.anchors is not None:
        anchors = read_anchors(batch.anchors, numbers, listeners.warn)
    model = Model(batch.draws, batch.prior, anchors, batch.mean)
    contests, levels = read.contests, levels_of(read.contests)
    design = design_of(contests)
    linked = link(contests, levels, contests.weights, anchors.players, batch.prior is not None)
    made, trouble = None, None
    try:
        made = estimate(design, levels, model, linked, contests.weights)
    except NoEstimate as error:
        trouble = error
    kind, clusters = _kind(log, design, linked, batch)
    found = Found(
        read, design, levels, model, linked, made, trouble, kind, clusters, None, None, None
    )
    if made is None or kind == NONE:
        return found
    draws = Streams(batch.seed).stream(None, ERRORS)
    sure = uncertainty(made, kind == SANDWICH, draws)
    degrees = math.inf if clusters is None else clusters - 1.0
    n, critical = int(linked.rated.sum()), None
    if n > 1 and sure.covariance is not None:
        critical = range_quantile(batch.level, n, degrees) / math.sqrt(2.0)
    normal = t_quantile(0.5 + 0.5 * batch.level, degrees)
    return replace(found, sure=sure, quantile=normal, critical=critical)


def _kind(
    log: GameLog, design: Design, linked: Linked, batch: BatchOptions
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
    return kind, n if batch.clustered else None
