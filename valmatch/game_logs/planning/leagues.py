"""Simulated leagues: truths, games by a policy, and what the ratings say at numbers of games."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.draws.uniform import next_uniform
from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.kernels.compilation import unallocating
from valmatch.policies.joint.batch import choose_batch
from valmatch.policies.joint.belief import Belief
from valmatch.ratings.bradley_terry.dense import (
    Counts,
    Frame,
    Space,
    fit_counts,
    new_counts,
    space_of,
)
from valmatch.ratings.bradley_terry.fit import POINTS

TRUTH, GAMES, RESAMPLED = 1, 2, 3
"""Sources of random numbers: strengths, results of games, resamples of replications."""

MEASURES = HALF_WIDTH, NAMED, SHOWN, COVERAGE = "half_width", "named_best", "shown_best", "coverage"
"""What is measured at each number of games."""

UNIFORM = "uniform"
"""The policy by which the pair of the fewest games plays."""


class League(NamedTuple):
    """What is simulated, and how it is rated.

    Attributes
    ----------
    frame : Frame
        What is fitted. Where nothing is known of the players, `spread` says how truths scatter.
    spread : float or None
        Standard deviation of the truths in points; None: truths are drawn from the frame.
    home : float
        Advantage of the first player in points; of every pair either is first in turn.
    draw_weight : float
        nu.
    before : numpy.ndarray
        (n, n) games of each two before.
    policy, goal : str
        Who plays, and what for.
    batch : int
        Games that are chosen by one estimate.
    grid : numpy.ndarray
        (points,) numbers of games at which is measured.
    quantile, critical : float
        Standard errors of the half-width of an interval, and of a difference that is shown.
    seed : int
        Of all random numbers.
    """

    frame: Frame
    spread: float | None
    home: float
    draw_weight: float
    before: Ints
    policy: str
    goal: str
    batch: int
    grid: Ints
    quantile: float
    critical: float
    seed: int

    @property
    def n_players(self) -> int:
        """Number of players."""
        return len(self.before)


@unallocating
def play(words: Words, truth: Floats, counts: Counts, pair: Ints, before: Ints) -> None:
    """Play a game of two players.

    Parameters
    ----------
    words : numpy.ndarray
        Stream of random numbers.
    truth : numpy.ndarray
        (n + 2,) strengths in log odds, home advantage, nu.
    counts : Counts
        In and out.
    pair : numpy.ndarray
        (2,) the players, the smaller number first.
    before : numpy.ndarray
        (n, n) games of each two, in and out; the first player of the pair is first at even numbers,
        and always where there is no home advantage.
    """
    n = truth.size - 2
    i, j = pair[0], pair[1]
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


@unallocating
def play_evenly(
    words: Words, truth: Floats, counts: Counts, pair: Ints, before: Ints, games: int
) -> None:
    """Play games, each of the two who have met the least, the first two of several such.

    Parameters
    ----------
    words, truth, counts, before
        As `play` takes them.
    pair : numpy.ndarray
        (3,) in and out: the pair that was looked at last, and the number of games that pairs are
        brought to; begins at 0.
    games : int
        How many.
    """
    n = before.shape[0]
    while games > 0:
        pair[1] += 1
        if pair[1] >= n:
            pair[0] += 1
            pair[1] = pair[0] + 1
            if pair[1] >= n:  # all have so many
                pair[0], pair[1] = 0, 1
                pair[2] += 1
        if before[pair[0], pair[1]] < pair[2]:
            play(words, truth, counts, pair, before)
            games -= 1


@unallocating
def measure(
    space: Space, truth: Floats, quantile: float, critical: float, out: Floats, found: bool
) -> None:
    """Fill in the measures of an estimate; without one nobody is named and nothing covered.

    Parameters
    ----------
    space : Space
        The estimate.
    truth : numpy.ndarray
        (n + 2,) the true places.
    quantile, critical : float
        As in `League`.
    out : numpy.ndarray
        (4,) the measures.
    found : bool
        Whether there is an estimate.
    """
    if not found:
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


@unallocating
def even_league(
    words: Words,
    truth: Floats,
    frame: Frame,
    space: Space,
    counts: Counts,
    before: Ints,
    pair: Ints,
    grid: Ints,
    quantile: float,
    critical: float,
    out: Floats,
) -> None:
    """Play a league evenly, and measure it at all numbers of games of the grid.

    The parameters are those of `play_evenly` and `measure`; `out` is (points, 4).
    """
    done = 0
    for k in range(grid.size):
        play_evenly(words, truth, counts, pair, before, grid[k] - done)
        done = grid[k]
        found = fit_counts(counts, frame, space)
        measure(space, truth, quantile, critical, out[k], found)


def run_leagues(
    league: League, replications: range, check: Callable[[], None] = lambda: None
) -> tuple[Floats, float]:
    """Return (replications, points, 4) measures of some leagues, and the seconds that took.

    Parameters
    ----------
    league : League
        What is simulated.
    replications : range
        Which.
    check : callable
        Called between two of them, to end the work.
    """
    started = time.perf_counter()
    streams = Streams(league.seed)
    made = np.empty((len(replications), len(league.grid), len(MEASURES)))
    for k, replication in enumerate(replications):
        check()
        truth = truth_of(league, streams, replication)
        words = streams.words(replication, GAMES)
        if league.policy == UNIFORM:
            even_league(
                words,
                truth,
                league.frame,
                space_of(league.frame),
                new_counts(league.n_players),
                league.before.copy(),
                np.zeros(3, np.int64),
                league.grid,
                league.quantile,
                league.critical,
                made[k],
            )
        else:
            _chosen_league(league, words, truth, made[k], check)
    return made, time.perf_counter() - started


def truth_of(league: League, streams: Streams, replication: int) -> Floats:
    """Return the true strengths of a league in log odds, its home advantage, and nu."""
    n, draws = league.n_players, streams.stream(replication, TRUTH)
    if league.spread is not None:
        strengths = POINTS * league.spread * draws.standard_normal(n)
    else:
        basis = league.frame.basis[:n]
        strengths = league.frame.centre[:n] + basis @ draws.standard_normal(basis.shape[1])
    found: Floats = np.append(strengths, [POINTS * league.home, league.draw_weight])
    return found


def _chosen_league(
    league: League, words: Words, truth: Floats, out: Floats, check: Callable[[], None]
) -> None:
    """Play a league whose pairs are chosen by what is known; evenly until everybody is rated."""
    n, frame, space = league.n_players, league.frame, space_of(league.frame)
    counts, before, cursor = new_counts(n), league.before.copy(), np.zeros(3, np.int64)
    found, done = fit_counts(counts, frame, space), 0
    for k, goal in enumerate(league.grid.tolist()):
        while done < goal:
            check()
            size = min(league.batch, goal - done)
            if found:
                belief = Belief(
                    space.places[:n] / POINTS,
                    space.covariance / POINTS**2,
                    math.exp(space.places[n + 1]),
                )
                chosen = choose_batch(belief, league.policy, league.goal, size, games=before)
                for pair in np.column_stack([chosen.first, chosen.second]):
                    play(words, truth, counts, pair, before)
            else:
                play_evenly(words, truth, counts, cursor, before, size)
            done += size
            found = fit_counts(counts, frame, space)
        measure(space, truth, league.quantile, league.critical, out[k], found)
