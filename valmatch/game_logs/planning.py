"""Planning how many games a goal takes, with workers and a folder if wanted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.execution.chunks import Chunks
from valmatch.execution.executors import WorkerPool, open_pool
from valmatch.execution.interruption import Stop, stop_on_signal
from valmatch.game_logs.next_pairs import RatedTogether, caution, read_together
from valmatch.game_logs.options import AIMS, OF_PLAYERS, PlanOptions
from valmatch.game_logs.rating_files import write_result
from valmatch.inputs import arguments
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Floats, Ints
from valmatch.policies.joint.leagues import (
    HALF_WIDTH,
    MEASURES,
    RESAMPLED,
    UNIFORM,
    League,
    run_leagues,
)
from valmatch.ratings.bradley_terry.dense import frame_of, frame_of_belief
from valmatch.ratings.system import weight_of_draws
from valmatch.statistics.curves import crossing, crossing_interval
from valmatch.statistics.estimates import range_quantile, t_quantile
from valmatch.storage.results import DocumentedResult, ResultFiles
from valmatch.storage.run_folder import RunFolder
from valmatch.text.terminal import Notice

# The result of a plan: curves over numbers of games, and where they reach what is wanted.

PLAN = "plan.csv"

AIMED = {
    "half_width": "a mean half-width of the differences of {value:g} points",
    "named_best": "naming the best in {value:g} of all leagues",
    "shown_best": "one who alone is tied for first in {value:g} of all leagues",
}
"""What is wanted, in words, by measure."""


@dataclass(frozen=True, repr=False)
class PlannedGames(DocumentedResult):
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
        Games that reach the goal, and the ends of their interval; None beyond `max_games`. Of
        players who are rated these come on top of the games that they have played.
    measured : numpy.ndarray or None
        (replications, points, 4) half-width, whether the best was named and shown, coverage; None
        of a plan that was read from its folder.
    warnings : sequence of str
        What has to be known of the ratings and of the policy.
    """

    presented_by, documented = "plan", ("players", "games", "low", "high")

    options: PlanOptions
    players: int
    curves: Mapping[str, Sequence[Any]]
    games: int | None
    low: int | None
    high: int | None
    folder: Path | None = None
    measured: Floats | None = field(default=None, compare=False)
    warnings: Sequence[str] = ()

    @property
    def title(self) -> str:
        """What was planned, in one line."""
        n = self.options.replications
        return f"plan, {self.players:,} players, {self.options.policy_in_words}, {n:,} replications"

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
        return {name: list(curve) for name, curve in self.curves.items()}

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {**self.options.identity, **super().summary()}

    @classmethod
    def held_elsewhere(cls, files: ResultFiles, document: dict[str, Any]) -> dict[str, Any]:
        """Return what was asked, and the curves."""
        aims = {measure: name for name, measure in AIMS.items()}
        wanted = {aims[document["aim"]]: document["value"], "goal": document["goal"] or None}
        names = ["policy", "batch", "replications", "seed", "level", "max_games"]
        names += OF_PLAYERS if "spread" in document else ()
        options = PlanOptions(**wanted, **{name: document[name] for name in names})
        columns = [column for name in MEASURES for column in (name, f"{name}_std_error")]
        table = files.table(PLAN, ["games", *columns])
        if not table["games"]:
            raise InputError(f"{files.folder / PLAN}: damaged: holds no number of games")
        curves: dict[str, list[Any]] = {"games": list(map(int, table["games"]))}
        for name in columns:
            curves[name] = [None if x != x else x for x in table[name]]
        return {"options": options, "curves": curves}

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        aim, value = self.options.aim
        wanted = AIMED[aim].format(value=value)
        more, in_all = ("", " in all") if self.options.players else (" more", "")
        if self.games is None:
            return f"{self.options.max_games:,}{more} games{in_all} do not reach {wanted}"
        if self.games == self.curves["games"][0]:
            return f"{self.games:,}{more} games{in_all} or fewer reach {wanted}"
        ends = f"{self.low:,} or more" if self.high is None else f"{self.low:,} to {self.high:,}"
        level = f"{100.0 * self.options.level:g}%"
        return f"{self.games:,}{more} games{in_all} reach {wanted} ({level}: {ends})"


def curves_of(grid: Ints, measured: Floats) -> dict[str, list[Any]]:
    """Return the curves of leagues: means over them and standard errors."""
    # Shapes: `measured` (leagues, points, measures).
    curves: dict[str, list[Any]] = {"games": grid.tolist()}
    for k, name in enumerate(MEASURES):
        means, errors = zip(
            *(_mean(column) for column in measured[:, :, k].T.tolist()), strict=True
        )
        curves[name], curves[f"{name}_std_error"] = list(means), list(errors)
    return curves


def _mean(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Return a mean and its standard error, of what is defined."""
    known = [value for value in values if not math.isnan(value)]
    if not known or not all(map(math.isfinite, known)):
        return None, None
    n, mean = len(known), math.fsum(known) / len(known)
    variance = math.fsum((value - mean) ** 2 for value in known) / max(n - 1, 1)
    return mean, math.sqrt(variance / n) if n > 1 else None


# Planning.

GROWTH = 1.25  # from one number of games to the next, at which is measured

FIRST_LOOK = 2_000
"""Games of the first leagues; where they do not reach the goal, longer ones are played."""

FURTHER = 6  # by how many numbers of games leagues grow then: almost fourfold

MOST_PLAYERS = 500


@takes(PlanOptions)
def plan_games(
    ratings: arguments.PathLike | None = None,
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
    settings, rated = PlanOptions(**options), None
    settings.check_players(rated=ratings is not None)
    if ratings is not None:
        rated = read_together(arguments.path("ratings", ratings))
        if len(rated.names) > MOST_PLAYERS:
            what = f"{len(rated.names):,} players (allowed: 2 to {MOST_PLAYERS})"
            raise InputError(f"{rated.path}: {what}")
    league = _league(settings, rated)
    with ExitStack() as stack:
        folder = None
        if settings.out is not None:
            folder = RunFolder(settings.out, "plan", None, settings.identity)
            if rated is not None:
                folder = rated.folder(settings.out, "plan", settings.identity)
            stack.enter_context(folder)
        pool = stack.enter_context(open_pool(None, settings.workers, threads=True))
        stop = stack.enter_context(stop_on_signal())
        measured, ends = _played(league, settings, pool, stop)
        games, low, high = (math.ceil(x - 1e-9) if math.isfinite(x) else None for x in ends)
        chosen = (
            [] if league.policy == UNIFORM else [caution(league.policy, settings.goal_of_policy)]
        )
        result = PlannedGames(
            settings,
            len(league.before),
            curves_of(league.grid[: measured.shape[1]], measured),
            games,
            low,
            high,
            measured=measured,
            warnings=[Notice(text, "note") for text in chosen],
        )
        if folder is not None:
            result = write_result(folder, result, {PLAN: result.columns()})
    return result


def _league(options: PlanOptions, rated: RatedTogether | None) -> League:
    """Return what is simulated, over the whole grid."""
    if rated is None:
        n, nu = int(options.players or 0), weight_of_draws(options.draws)
        frame = frame_of(n, options.prior, options.home != 0.0, nu > 0.0)
        before = np.zeros((n, n), np.int64)
    else:
        n, nu = len(rated.names), rated.belief.draw_weight
        frame = frame_of_belief(rated.belief.mean, rated.belief.covariance, nu)
        before = rated.games.copy()
    # A few games of each player, of whom two or more play at once.
    grid = [min(math.ceil(2 * max(10, n) / (options.sides * options.team)), options.max_games)]
    while grid[-1] < options.max_games:
        grid.append(min(options.max_games, math.ceil(grid[-1] * GROWTH)))
    return League(
        frame,
        options.spread if rated is None else None,
        options.home,
        nu,
        before,
        options.policy,
        options.goal_of_policy or "best",
        options.batch,
        np.array(grid, np.int64),
        t_quantile(0.5 + 0.5 * options.level, math.inf),
        range_quantile(options.level, n) / math.sqrt(2.0),
        options.seed,
        None if options.duels else (options.sides, options.team, options.prior),
    )


def _played(
    league: League, options: PlanOptions, pool: WorkerPool, stop: Stop
) -> tuple[Floats, tuple[float, float, float]]:
    """Return the measures of leagues that are long enough, and where these reach the goal."""
    grid = league.grid
    points = min(int(np.searchsorted(grid, FIRST_LOOK, "right")) + 1, len(grid))
    while True:
        shorter, parts = league._replace(grid=grid[:points]), []
        chunks = Chunks[Floats](pool, partial(run_leagues, shorter))
        with closing(chunks.run(range(options.replications), stop)) as made:
            for part in made:
                parts.append(part)
                options.progress(len(part))
        if stop() or sum(map(len, parts)) < options.replications:
            raise KeyboardInterrupt
        measured = np.concatenate(parts)
        ends = _reached(shorter.grid, measured, options)
        if points == len(grid) or math.isfinite(ends[-1]):
            return measured, ends
        points = min(points + FURTHER, len(grid))


def _reached(grid: Ints, measured: Floats, options: PlanOptions) -> tuple[float, float, float]:
    """Return where leagues reach the goal, and the ends of its interval; inf beyond the grid."""
    aim, goal = options.aim
    values = measured[:, :, MEASURES.index(aim)]
    undefined = np.flatnonzero(~np.isfinite(values).all(axis=0))
    first = int(undefined[-1]) + 1 if len(undefined) else 0
    grid, values, rising = grid[first:], values[:, first:], (aim != HALF_WIDTH)
    at = crossing(grid, values.mean(axis=0), goal, rising)
    draws = Streams(options.seed).stream(None, RESAMPLED)
    return at, *crossing_interval(grid, values, goal, rising, options.level, draws)
