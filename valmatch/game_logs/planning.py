"""Planning how many games a goal takes, with workers and a folder if wanted."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.distributions import next_uniform
from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.execution.chunks import Chunks
from valmatch.execution.executors import open_pool
from valmatch.execution.interruption import Stop, stop_on_signal
from valmatch.execution.processes import WorkerPool
from valmatch.game_logs.documents import DocumentedResult
from valmatch.game_logs.next_pairs import RatedTogether, caution, read_together
from valmatch.game_logs.options import AIMS, OF_PLAYERS, PlanOptions
from valmatch.game_logs.rating_files import write_result
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.kernels.compilation import kernel
from valmatch.policies.joint.batch import choose_batch
from valmatch.policies.joint.belief import Belief
from valmatch.ratings.bradley_terry.dense import (
    Counts,
    Frame,
    Space,
    fit_counts,
    frame_of,
    frame_of_belief,
    new_counts,
    space_of,
)
from valmatch.ratings.bradley_terry.fit import POINTS
from valmatch.ratings.davidson import weight_of_draws
from valmatch.statistics.crossing import crossing, crossing_interval
from valmatch.statistics.estimates import range_quantile, t_quantile
from valmatch.storage.result_files import ResultFiles
from valmatch.storage.run_folder import RunFolder
from valmatch.text.terminal import Notice

# Simulated leagues: truths, games by a policy, and what the ratings say at numbers of games.

TRUTH, GAMES, RESAMPLED = 1, 2, 3
"""Sources of random numbers: strengths, results of games, resamples of replications."""

MEASURES = HALF_WIDTH, NAMED, SHOWN, COVERAGE = "half_width", "named_best", "shown_best", "coverage"
"""What is measured at each number of games."""

UNIFORM = "uniform"  # the policy by which the pair of the fewest games plays


class League(NamedTuple):
    """What is simulated, and how it is rated."""

    # what is fitted. Where nothing is known of the players, `spread` says how truths scatter
    frame: Frame
    # standard deviation of the truths in points; None: truths are drawn from the frame
    spread: float | None
    home: float  # advantage of the first player in points; of every pair either is first in turn
    draw_weight: float  # nu
    before: Ints  # (n, n) games of each two before
    # policy, goal: who plays, and what for
    policy: str
    goal: str
    batch: int  # games that are chosen by one estimate
    grid: Ints  # (points,) numbers of games at which is measured
    # quantile, critical: standard errors of the half-width of an interval, and of a difference that
    # is shown
    quantile: float
    critical: float
    seed: int  # of all random numbers


@kernel
def play(words: Words, truth: Floats, counts: Counts, i: int, j: int, before: Ints) -> None:
    """Play a game of two players."""
    # Shapes: `truth` (n + 2,); `before` (n, n).
    n = truth.size - 2
    if truth[n] != 0.0 and before[i, j] % 2 == 1:
        i, j = j, i
    lead = truth[i] - truth[j] + truth[n]
    root = math.exp(-0.5 * abs(lead))
    weaker, drawn = root * root, truth[n + 1] * root
    total = 1.0 + weaker + drawn
    first = (1.0 if lead >= 0.0 else weaker) / total
    uniform = next_uniform(words)
    if uniform < first:
        counts.won[i, j] += 1.0
    elif uniform < first + drawn / total:
        counts.drawn[i, j] += 1.0
    else:
        counts.lost[i, j] += 1.0
    before[i, j] += 1
    before[j, i] = before[i, j]


@kernel
def play_evenly(
    words: Words, truth: Floats, counts: Counts, cursor: Ints, before: Ints, games: int
) -> None:
    """Play games, each of the two who have met the least, the first two of several such."""
    # Shapes: `cursor` (3,): the two who played last, and the least games of a pair.
    n = before.shape[0]
    while games > 0:
        cursor[1] += 1
        if cursor[1] >= n:
            cursor[0] += 1
            cursor[1] = cursor[0] + 1
            if cursor[1] >= n:  # all have so many
                cursor[0], cursor[1] = 0, 1
                cursor[2] += 1
        if before[cursor[0], cursor[1]] < cursor[2]:
            play(words, truth, counts, cursor[0], cursor[1], before)
            games -= 1


@kernel
def measure(
    space: Space, truth: Floats, quantile: float, critical: float, out: Floats, rated: bool
) -> None:
    """Fill in the measures of an estimate; without one nobody is named and nothing covered."""
    # Shapes: `truth` (n + 2,); `out` (4,).
    if not rated:
        out[0], out[1], out[2], out[3] = np.inf, 0.0, 0.0, np.nan
        return
    v, places = space.covariance, space.places
    n = v.shape[0]
    width, covered, tied, leader, best = 0.0, 0, 0, 0, truth[0]
    for i in range(n):
        beaten = False
        if places[i] > places[leader]:
            leader = i
        best = max(best, truth[i])
        for j in range(n):
            error = math.sqrt(max(v[i, i] + v[j, j] - 2.0 * v[i, j], 0.0))
            lead = places[j] - places[i]
            if lead > critical * error:
                beaten = True
            if j > i:
                width += quantile * error
                covered += abs(lead - truth[j] + truth[i]) <= quantile * error
        tied += not beaten
    pairs = 0.5 * n * (n - 1)
    out[0] = width / pairs / POINTS
    out[1] = 1.0 if truth[leader] == best else 0.0
    out[2] = 1.0 if tied == 1 else 0.0
    out[3] = covered / pairs


def run_leagues(
    league: League, replications: range, check: Callable[[], None] = lambda: None
) -> tuple[Floats, float]:
    """Return (replications, points, 4) measures of some leagues, and the seconds that took."""
    started = time.perf_counter()
    measured = np.array([_measured(league, replication, check) for replication in replications])
    return measured, time.perf_counter() - started


def _measured(league: League, replication: int, check: Callable[[], None]) -> Floats:
    """Return the measures of a league at each number of games of its grid."""
    streams, evenly, n = Streams(league.seed), league.policy == UNIFORM, len(league.before)
    words, truth = streams.words(replication, GAMES).copy(), truth_of(league, streams, replication)
    counts, space = new_counts(n), space_of(league.frame)
    cursor, before = np.zeros(3, np.int64), league.before.copy()
    # whether there is an estimate by which pairs can be chosen
    rated, done = not evenly and bool(fit_counts(counts, league.frame, space)), 0
    measured = np.empty((len(league.grid), len(MEASURES)))
    for out, goal in zip(measured, league.grid.tolist(), strict=True):
        while done < goal:
            check()
            games = goal - done if evenly else min(league.batch, goal - done)
            if rated and not evenly:
                mean, draw_weight = space.places[:n] / POINTS, math.exp(space.places[n + 1])
                belief = Belief(mean, space.covariance / POINTS**2, draw_weight)
                chosen = choose_batch(belief, league.policy, league.goal, games, games=before)
                for i, j in zip(chosen.first.tolist(), chosen.second.tolist(), strict=True):
                    play(words, truth, counts, i, j, before)
            else:
                play_evenly(words, truth, counts, cursor, before, games)
            rated = bool(fit_counts(counts, league.frame, space))
            done += games
        measure(space, truth, league.quantile, league.critical, out, rated)
    return measured


def truth_of(league: League, streams: Streams, replication: int) -> Floats:
    """Return the true strengths of a league in log odds, its home advantage, and nu."""
    n, draws = len(league.before), streams.stream(replication, TRUTH)
    if league.spread is not None:
        strengths = POINTS * league.spread * draws.standard_normal(n)
    else:
        basis = league.frame.basis[:n]
        strengths = league.frame.centre[:n] + basis @ draws.standard_normal(basis.shape[1])
    return np.append(strengths, [POINTS * league.home, league.draw_weight])


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
        if not len(table):
            raise InputError(f"{table.path}: damaged: holds no number of games")
        curves: dict[str, list[Any]] = {"games": [int(n) for n in table.numbers["games"]]}
        for name in columns:
            curves[name] = [None if x != x else x for x in table.numbers[name].tolist()]
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
    grid = [min(max(10, n), options.max_games)]
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
