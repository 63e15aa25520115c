"""Planning how many games a goal takes, with workers and a folder if wanted."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.execution.chunks import Chunks
from valmatch.execution.executors import open_pool
from valmatch.execution.interruption import Stop, held_signals, stop_on_signal
from valmatch.execution.listeners import Listeners, listeners_among
from valmatch.execution.worker_pool import WorkerPool
from valmatch.game_logs.batch.posterior_file import POSTERIOR
from valmatch.game_logs.next_pairs.cost import FIT, seconds_of_choice, tell_cost
from valmatch.game_logs.next_pairs.reading import RatedTogether, read_together
from valmatch.game_logs.planning.leagues import (
    MEASURES,
    RESAMPLED,
    UNIFORM,
    League,
    Standing,
    chosen_player,
    even_league,
    run_leagues,
)
from valmatch.game_logs.planning.options import PlanOptions
from valmatch.game_logs.planning.result import PlannedGames, reached_at
from valmatch.game_logs.writing.folder import SUMMARY
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.files import sha256
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import announce_compilation
from valmatch.ratings.bradley_terry.dense import frame_of, frame_of_belief
from valmatch.ratings.davidson import weight_of_draws
from valmatch.statistics.crossing import crossing, crossing_interval
from valmatch.statistics.estimates import range_quantile, t_quantile
from valmatch.storage.contents import MANIFEST
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.run_folder import RunFolder
from valmatch.text.durations import in_words

PLAN = "plan.csv"

GROWTH = 1.25  # from one number of games to the next, at which is measured

FIRST_LOOK = 2_000
"""Games of the first leagues; where they do not reach the goal, longer ones are played."""

FURTHER = 6  # by how many numbers of games leagues grow then: almost fourfold

MOST_PLAYERS = 500

MOST_KEPT = 2_000_000
"""Leagues that are kept to go on later, times the square of their players: some 130 MB."""


class PlanKeywords(TypedDict, total=False):
    """Keyword arguments of the public function that plans games; see `PlanOptions`."""

    half_width: float | None
    best: float | None
    shown: float | None
    players: int | None
    spread: float | None
    draws: float
    home: float
    prior: float | None
    policy: str
    goal: str | None
    batch: int
    replications: int
    seed: int
    level: float
    max_games: int
    workers: int
    out: PathLike | None
    progress: Callable[[int], None]
    warn: Callable[[str], None]


def plan_games(ratings: PathLike | None = None, **keywords: Unpack[PlanKeywords]) -> PlannedGames:
    """Plan how many games it takes to know players as well as is wanted, by simulated leagues.

    In each league players play on and are rated by Bradley-Terry at growing numbers of games.
    Truths are drawn from what is believed of the players of a folder, whose games stay; or afresh.

    Parameters
    ----------
    ratings : str or Path, optional
        A folder that `rate_whole_log` wrote under ``bradley_terry``, in which all are rated; games
        are on neutral ground, and the weight of draws is taken as known. Else `players` and
        `spread` say of whom.
    **keywords
        What is wanted, of whom, and how it is simulated:

        half_width : float
            Games until the mean half-width of the differences is so many points.
        best : float
            Games until the leader is the true best in such a share of the leagues.
        shown : float
            Games until exactly one is tied for first in such a share of them.
        players : int
            How many, from 2 to 500.
        spread : float
            Standard deviation of their true strengths in points, >= 0.
        draws : float
            Share of drawn games between equals; where there are some, the fit knows that.
        home : float
            Advantage of who is at home in points, which is fitted unless it is 0; of every pair
            each is at home in turn.
        prior : float or None
            Deviation of the prior by which they are rated; 350 by default, None for none.
        policy : str
            Who plays: ``uniform`` (those who have met the least), or as `next_pairs` has it.
        goal : str
            As `next_pairs` has it.
        batch : int
            Games that are chosen by one estimate, where they are; 10 by default.
        replications : int
            How many leagues; 200 by default.
        seed : int
            Of all random numbers.
        level : float
            Of the intervals of the ratings and of the plan.
        max_games : int
            Where to give up; 1,000,000 by default.
        workers : int
            Workers of this machine; no result depends on them.
        out : PathLike or None
            Folder for ``plan.csv``, ``summary.json`` and ``manifest.json``.
        progress : callable
            Called with the number of further leagues played.
        warn : callable
            Called with each remark.

    Raises
    ------
    InputError
        If the folder or an option cannot be used.
    RunError
        If the results cannot be written, or workers are lost.
    """
    listeners = listeners_among(keywords, PlanKeywords)
    own = PlanOptions.__dataclass_fields__
    options = PlanOptions(**{k: v for k, v in keywords.items() if k in own})  # type: ignore[arg-type]
    workers = arguments.whole("workers", keywords.get("workers", 1))
    out = keywords.get("out")
    folder = None if out is None else arguments.path("out", out)
    rated = None
    if ratings is None:
        options.check_afresh()
    else:
        options.check_rated()
        rated = read_together(arguments.path("ratings", ratings), listeners.warn)
        if len(rated.names) > MOST_PLAYERS:
            what = f"{len(rated.names):,} players (allowed: 2 to {MOST_PLAYERS})"
            raise InputError(f"{rated.path}: {what}")
    return plan(options, rated, workers, folder, listeners)


def plan(
    options: PlanOptions,
    rated: RatedTogether | None,
    workers: int,
    out: Path | None,
    listeners: Listeners,
) -> PlannedGames:
    """Plan how many games it takes, see `plan_games`."""
    league = _league(options, rated)
    _tell_cost(league, options, workers, listeners.warn)
    evenly = options.policy == UNIFORM
    announce_compilation(even_league if evenly else chosen_player(options.policy))
    with ExitStack() as stack:
        folder = stack.enter_context(_claim(out, options, rated)) if out else None
        pool = stack.enter_context(open_pool(None, workers, threads=True))
        stop = stack.enter_context(stop_on_signal())
        measured, found = _played(league, options, pool, stop, listeners)
        grid = league.grid[: measured.shape[1]]
        games, low, high = map(reached_at, found)
        result = PlannedGames(options, league.n_players, grid, measured, games, low, high)
        if folder is not None:
            result = replace(result, folder=folder.path)
            with held_signals():  # a signal finds all files or none
                write_csv(folder.path / PLAN, result.columns())
                with write_atomically(folder.path / SUMMARY) as file:
                    file.write(to_json(result.summary()))
                folder.close("complete")
    return result


def _tell_cost(
    league: League, options: PlanOptions, workers: int, warn: Callable[[str], None]
) -> None:
    """Say what the first leagues take, and what all their games would."""
    n, batch = league.n_players, options.batch
    policy, goal = options.policy, options.goal_of_policy

    def seconds(points: int) -> float:
        """Return those up to a number of points of the grid."""
        rated = points * FIT * n**3
        if policy != UNIFORM:
            choice = seconds_of_choice(policy, goal, n, n * (n - 1) // 2, batch)
            rated = league.grid[points - 1] / batch * (FIT * n**3 + choice)
        return float(options.replications / workers * rated)

    points = _first_points(league.grid)
    by = f"{policy} ({goal})" if goal else policy
    games, last = league.grid[points - 1], league.grid[-1]
    what = f"the first {games:,} games of {options.replications:,} leagues of {n:,} players by {by}"
    further = f", and for all {last:,} games {in_words(seconds(len(league.grid)))}"
    tell_cost(what, seconds(points), warn, further=further if last > games else "")


def _first_points(grid: Ints) -> int:
    """Return at how many numbers of games of a grid is measured first."""
    return min(int(np.searchsorted(grid, FIRST_LOOK, "right")) + 1, len(grid))


def _claim(out: Path, options: PlanOptions, rated: RatedTogether | None) -> RunFolder:
    """Return the folder of a plan, claimed."""
    if rated is None:
        return RunFolder(out, "plan", None, options.identity)
    home = rated.path.parent
    identity = {**options.identity, "posterior_sha256": sha256(home / POSTERIOR)}
    read = [rated.path, *(home / name for name in (POSTERIOR, SUMMARY, MANIFEST))]
    return RunFolder(out, "plan", None, identity, facts={"source": str(rated.path)}, read=read)


def _league(options: PlanOptions, rated: RatedTogether | None) -> League:
    """Return what is simulated, over the whole grid."""
    if rated is None:
        n, spread = int(options.players or 0), options.spread
        nu = weight_of_draws(options.draws)
        frame = frame_of(n, options.prior, options.home != 0.0, nu > 0.0)
        before = np.zeros((n, n), np.int64)
    else:
        belief = rated.belief
        n, spread, nu = len(rated.names), None, belief.draw_weight
        frame = frame_of_belief(belief.mean, belief.covariance, nu)
        before = rated.games.copy()
    normal = t_quantile(0.5 + 0.5 * options.level, math.inf)
    return League(
        frame,
        spread,
        options.home,
        nu,
        before,
        options.policy,
        options.goal_of_policy or "best",
        options.batch,
        _grid(max(10, n), options.max_games),
        normal,
        range_quantile(options.level, n) / math.sqrt(2.0),
        options.seed,
    )


def _grid(first: int, last: int) -> Ints:
    """Return the numbers of games at which is measured."""
    found = [min(first, last)]
    while found[-1] < last:
        found.append(min(last, math.ceil(found[-1] * GROWTH)))
    return np.array(found, np.int64)


class _Found(NamedTuple):
    """Games that reach the goal, and the ends of their interval; inf beyond the grid."""

    games: float
    low: float
    high: float


def _played(
    league: League, options: PlanOptions, pool: WorkerPool, stop: Stop, listeners: Listeners
) -> tuple[Floats, _Found]:
    """Return the measures of leagues that are long enough, and where these reach the goal.

    Longer leagues begin as the shorter ones did: they go on where these ended, or, where there is
    not the room to keep them, are played anew, for all random numbers have addresses.
    """
    kept = options.replications * league.n_players**2 <= MOST_KEPT
    standings: dict[int, Standing] | None = {} if kept else None
    grid = league.grid
    points = _first_points(grid)
    while True:
        shorter = league._replace(grid=grid[:points])
        chunks = Chunks[Floats](pool, partial(run_leagues, shorter, standings))
        parts = []
        with closing(chunks.run(range(options.replications), stop)) as made:
            for part in made:
                parts.append(part)
                listeners.progress(len(part))
        if stop() or sum(map(len, parts)) < options.replications:
            raise KeyboardInterrupt
        measured = np.concatenate(parts)
        found = _reached(shorter.grid, measured, options)
        if points == len(grid) or math.isfinite(found.high):
            return measured, found
        points = min(points + FURTHER, len(grid))


def _reached(grid: Ints, measured: Floats, options: PlanOptions) -> _Found:
    """Return where leagues reach the goal, by numbers of games at which all have an estimate."""
    measure, goal = options.aim
    values = measured[:, :, MEASURES.index(measure)]
    undefined = np.flatnonzero(~np.isfinite(values).all(axis=0))
    first = int(undefined[-1]) + 1 if len(undefined) else 0
    grid, values, rising = grid[first:], values[:, first:], options.rises
    at = crossing(grid, values.mean(axis=0), goal, rising)
    draws = Streams(options.seed).stream(None, RESAMPLED)
    return _Found(at, *crossing_interval(grid, values, goal, rising, options.level, draws))
