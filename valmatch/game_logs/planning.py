"""Planning how many games a goal takes, with workers and a folder if wanted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.execution.chunks import Chunks
from valmatch.execution.executors import open_pool
from valmatch.execution.interruption import Stop, stop_on_signal
from valmatch.execution.processes import WorkerPool
from valmatch.game_logs.leagues import (
    HALF_WIDTH,
    MEASURES,
    RESAMPLED,
    UNIFORM,
    League,
    Standing,
    chosen_player,
    run_leagues,
)
from valmatch.game_logs.next_pairs import (
    FIT,
    RatedTogether,
    caution,
    read_together,
    seconds_of_choice,
    tell_cost,
)
from valmatch.game_logs.options import AIMS, PlanOptions
from valmatch.game_logs.rating_files import SUMMARY, write_result
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import announce_compilation
from valmatch.ratings.bradley_terry.dense import fit_counts, frame_of, frame_of_belief
from valmatch.ratings.davidson import weight_of_draws
from valmatch.statistics.crossing import crossing, crossing_interval
from valmatch.statistics.estimates import range_quantile, t_quantile
from valmatch.storage.result_files import ResultFiles, damaged
from valmatch.storage.results import Result
from valmatch.storage.run_folder import RunFolder
from valmatch.text.durations import in_words

# The result of a plan: curves over numbers of games, and where they reach what is wanted.

AIMED = {
    "half_width": "a mean half-width of the differences of {value:g} points",
    "named_best": "naming the best in {value:g} of all leagues",
    "shown_best": "one who alone is tied for first in {value:g} of all leagues",
}
"""What is wanted, in words, by measure."""


@dataclass(frozen=True, repr=False)
class PlannedGames(Result):
    """How many games reach a goal.

    Attributes
    ----------
    options : PlanOptions
        What was asked.
    players : int
        How many there are.
    curves : mapping of str to sequence of float
        By name the numbers of games, the mean over the leagues of each measure there, and its
        standard error; None where it is not known in every league.
    games, low, high : int or None
        Games that reach the goal, and the ends of their interval; None beyond `max_games`.
    measured : numpy.ndarray or None
        (replications, points, 4) half-width, whether the best was named and shown, coverage; None
        of a plan that was read from its folder.
    """

    presented_by = "plan"

    options: PlanOptions
    players: int
    curves: Mapping[str, Sequence[Any]]
    games: int | None
    low: int | None
    high: int | None
    folder: Path | None = None
    measured: Floats | None = field(default=None, compare=False)

    @property
    def title(self) -> str:
        """What was planned, in one line."""
        o = self.options
        policy = f"{o.policy} ({o.goal_of_policy})" if o.goal_of_policy else o.policy
        return f"plan, {self.players:,} players, {policy}, {o.replications:,} replications"

    @property
    def grid(self) -> Ints:
        """The numbers of games at which is measured."""
        return np.array(self.curves["games"], np.int64)

    @property
    def reached(self) -> bool:
        """Whether the goal is reached within `max_games`."""
        return self.games is not None

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``plan.csv``."""
        return {name: list(own) for name, own in self.curves.items()}

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            **self.options.identity,
            "players": self.players,
            "games": self.games,
            "low": self.low,
            "high": self.high,
            "notes": list(self.notes),
        }

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the plan that a folder holds."""
        given = files.json(SUMMARY)
        with damaged(files.folder / SUMMARY):
            aims = {measure: name for name, measure in AIMS.items()}
            asked = {aims[given["aim"]]: given["value"], "goal": given["goal"] or None}
            own = ("policy", "batch", "replications", "seed", "level", "max_games")
            afresh = ("spread", "draws", "home", "prior") if "spread" in given else ()
            asked |= {name: given[name] for name in (*own, *afresh)}
            players, ends = int(given["players"]), (given["games"], given["low"], given["high"])
            options = PlanOptions(**asked, players=players if afresh else None)
            games, low, high = (None if end is None else int(end) for end in ends)
        names = [one for name in MEASURES for one in (name, f"{name}_std_error")]
        table = files.table(PLAN, ["games", *names])
        if not len(table):
            raise InputError(f"{table.path}: damaged: holds no number of games")
        columns = {name: table.numbers[name].tolist() for name in names}
        curves: dict[str, list[Any]] = {"games": [int(n) for n in table.numbers["games"]]}
        for name, values in columns.items():
            curves[name] = [None if math.isnan(value) else value for value in values]
        return cls(options, players, curves, games, low, high, files.folder)

    @property
    def notes(self) -> Sequence[str]:
        """What choosing pairs does to intervals; nothing where nobody chooses."""
        o = self.options
        return [] if o.policy == UNIFORM else [caution(o.policy, o.goal_of_policy)]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        aim, value = self.options.aim
        wanted = AIMED[aim].format(value=value)
        if self.games is None:
            return f"{self.options.max_games:,} games do not reach {wanted}"
        if self.games == self.curves["games"][0]:
            return f"{self.games:,} games or fewer reach {wanted}"
        ends = f"{self.low:,} or more" if self.high is None else f"{self.low:,} to {self.high:,}"
        level = f"{100.0 * self.options.level:g}%"
        return f"{self.games:,} games reach {wanted} ({level}: {ends})"


def curves_of(grid: Ints, measured: Floats) -> dict[str, list[Any]]:
    """Return the curves of leagues: means over them and standard errors.

    Shapes: `measured` (leagues, points, measures).
    """
    found: dict[str, list[Any]] = {"games": grid.tolist()}
    for k, name in enumerate(MEASURES):
        means, errors = zip(*(_mean(column) for column in measured[:, :, k].T), strict=True)
        found[name], found[f"{name}_std_error"] = list(means), list(errors)
    return found


def _mean(values: Sequence[float] | Floats) -> tuple[float | None, float | None]:
    """Return a mean and its standard error, of what is defined."""
    known = [float(value) for value in values if not math.isnan(value)]
    if not known or not all(map(math.isfinite, known)):
        return None, None
    mean = math.fsum(known) / len(known)
    if len(known) < 2:
        return mean, None
    variance = math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1)
    return mean, math.sqrt(variance / len(known))


def reached_at(value: float) -> int | None:
    """Return a number of games, rounded up; None for one beyond all."""
    return math.ceil(value - 1e-9) if np.isfinite(value) else None


PLAN = "plan.csv"

GROWTH = 1.25  # from one number of games to the next, at which is measured

FIRST_LOOK = 2_000
"""Games of the first leagues; where they do not reach the goal, longer ones are played."""

FURTHER = 6  # by how many numbers of games leagues grow then: almost fourfold

MOST_PLAYERS = 500

MOST_KEPT = 2_000_000
"""Leagues that are kept to go on later, times the square of their players: some 130 MB."""


@takes(PlanOptions)
def plan_games(
    ratings: PathLike | None = None,
    **options: Any,  # noqa: ANN401
) -> PlannedGames:
    """Plan how many games it takes to know players as well as is wanted, by simulated leagues.

    In each league players play on and are rated by Bradley-Terry at growing numbers of games.
    Truths are drawn from what is believed of the players of a folder, whose games stay; or afresh.

    Parameters
    ----------
    ratings : str or Path, optional
        A folder that `rank_games` wrote under ``bradley_terry``, in which all are rated; games
        are on neutral ground, and the weight of draws is taken as known. Else `players` and
        `spread` say of whom.
    **options

    Raises
    ------
    InputError
        If the folder or an option cannot be used.
    RunError
        If the results cannot be written, or workers are lost.
    """
    path = None if ratings is None else arguments.path("ratings", ratings)
    return plan_of(path, PlanOptions(**options))


def plan_of(ratings: Path | None, options: PlanOptions) -> PlannedGames:
    """Plan how many games it takes; see `plan_games`."""
    rated = None
    if ratings is None:
        options.check_afresh()
    else:
        options.check_rated()
        rated = read_together(ratings, options.warn)
        if len(rated.names) > MOST_PLAYERS:
            what = f"{len(rated.names):,} players (allowed: 2 to {MOST_PLAYERS})"
            raise InputError(f"{rated.path}: {what}")
    workers, out = options.workers, options.out
    league = _league(options, rated)
    _tell_cost(league, options, workers, options.warn)
    evenly = options.policy == UNIFORM
    announce_compilation(fit_counts if evenly else chosen_player(options.policy))
    with ExitStack() as stack:
        folder = None
        if out is not None:
            folder = RunFolder(out, "plan", None, options.identity)
            if rated is not None:
                folder = rated.folder(out, "plan", options.identity)
            stack.enter_context(folder)
        pool = stack.enter_context(open_pool(None, workers, threads=True))
        stop = stack.enter_context(stop_on_signal())
        measured, found = _played(league, options, pool, stop)
        grid = league.grid[: measured.shape[1]]
        games, low, high = map(reached_at, found)
        result = PlannedGames(
            options,
            league.n_players,
            curves_of(grid, measured),
            games,
            low,
            high,
            measured=measured,
        )
        if folder is not None:
            result = write_result(folder, result, {PLAN: result.columns()})
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
    league: League, options: PlanOptions, pool: WorkerPool, stop: Stop
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
                options.progress(len(part))
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
    grid, values, rising = grid[first:], values[:, first:], (measure != HALF_WIDTH)
    at = crossing(grid, values.mean(axis=0), goal, rising)
    draws = Streams(options.seed).stream(None, RESAMPLED)
    return _Found(at, *crossing_interval(grid, values, goal, rising, options.level, draws))
