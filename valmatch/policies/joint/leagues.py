"""Simulated leagues: truths, games by a policy, and what the ratings say at numbers of games."""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from valmatch.draws.distributions import next_uniform
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.kernels.compilation import kernel
from valmatch.kernels.threads import one_thread
from valmatch.policies.joint.batch import Choice, choose_batch
from valmatch.policies.joint.belief import Belief
from valmatch.ratings.bradley_terry.contests import Contests, design_of, link
from valmatch.ratings.bradley_terry.dense import Counts, CountsFit, Frame, fit_counts, new_counts
from valmatch.ratings.bradley_terry.fit import POINTS, STEP, NoEstimate
from valmatch.ratings.bradley_terry.rating import Model, estimate

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
    # sides, players of each, deviation of the prior in points; None: two players a game
    sides: tuple[int, int, float | None] | None = None


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


def measures_of(fitted: CountsFit | None, truth: Floats, league: League) -> list[float]:
    """Return the measures of an estimate; without one nobody is named and nothing covered."""
    if fitted is None:
        return [math.inf, 0.0, 0.0, math.nan]
    v, n = fitted.covariance, len(fitted.covariance)
    spread = np.diag(v)[:, np.newaxis] + np.diag(v) - 2.0 * v
    errors = np.sqrt(np.maximum(spread, 0.0))
    leads, true = (places[:n, np.newaxis] - places[:n] for places in (fitted.log_odds, truth))
    upper = np.triu_indices(n, 1)
    widths = league.quantile * errors[upper]
    covered = np.abs(leads - true)[upper] <= widths
    beaten = (leads < -league.critical * errors).any(axis=1)
    strengths = fitted.log_odds[:n]
    # Of players with equal results the first leads, whatever rounding says.
    best = truth[int(np.argmax(strengths >= strengths.max() - STEP))] == truth[:n].max()
    shown = n - np.count_nonzero(beaten) == 1
    return [float(widths.mean()) / POINTS, float(best), float(shown), float(covered.mean())]


def run_leagues(
    league: League, replications: range, check: Callable[[], None] = lambda: None
) -> tuple[Floats, float]:
    """Return (replications, points, 4) measures of some leagues, and the seconds that took."""
    started = time.perf_counter()
    play_all = _measured if league.sides is None else _measured_in_sides
    with one_thread():
        measured = [play_all(league, replication, check) for replication in replications]
    return np.array(measured), time.perf_counter() - started


def _measured(league: League, replication: int, check: Callable[[], None]) -> list[list[float]]:
    """Return the measures of a league at each number of games of its grid."""
    streams, evenly, n = Streams(league.seed), league.policy == UNIFORM, len(league.before)
    words, truth = streams.words(replication, GAMES).copy(), truth_of(league, streams, replication)
    counts, done, measured = new_counts(n), 0, []
    cursor, before = np.zeros(3, np.int64), league.before.copy()
    # the estimate by which pairs can be chosen
    fitted = None if evenly else fit_counts(counts, league.frame)
    for goal in league.grid.tolist():
        while done < goal:
            check()
            games = goal - done if evenly else min(league.batch, goal - done)
            if fitted is not None and not evenly:
                mean, draw_weight = fitted.log_odds[:n] / POINTS, math.exp(fitted.log_odds[n + 1])
                belief = Belief(mean, fitted.covariance / POINTS**2, draw_weight)
                chosen = choose_batch(
                    belief, Choice(league.policy, league.goal), games, games=before
                )
                for i, j in zip(chosen.first.tolist(), chosen.second.tolist(), strict=True):
                    play(words, truth, counts, i, j, before)
            else:
                play_evenly(words, truth, counts, cursor, before, games)
            fitted = fit_counts(counts, league.frame, fitted)
            done += games
        measured.append(measures_of(fitted, truth, league))
    return measured


def _measured_in_sides(
    league: League, replication: int, check: Callable[[], None]
) -> list[list[float]]:
    """Return the measures where a game is of several sides or of teams."""
    assert league.sides is not None
    (k, m, prior), n, streams = league.sides, len(league.before), Streams(league.seed)
    draws, truth = streams.stream(replication, GAMES), truth_of(league, streams, replication)
    games, played, measured = int(league.grid[-1]), np.zeros(n), []
    model, made = Model(prior=prior), None
    players, points = np.empty((games, k * m), np.int64), np.empty((games, k))
    for game in range(games):  # each of those who have played the least, by lot
        players[game] = draws.permutation(np.argsort(played + draws.random(n))[: k * m])
        played[players[game]] += 1.0
        points[game] = draws.gumbel(size=k)
    # The order of strengths with Gumbel's noise is that of Plackett and Luce.
    points += truth[players].reshape(games, k, m).mean(axis=2)
    for games in league.grid.tolist():
        check()
        known, ones, starts = points[:games].ravel(), np.ones(games), np.arange(games + 1) * k
        of_sides, none = np.arange(games * k + 1) * m, np.zeros((games * k, 0))
        contests = Contests(
            n, starts, of_sides, known, players[:games].ravel(), none, ones, starts[:-1]
        )
        linked, fitted = link(contests, ones, model.anchors.players, model.rates_all), None
        with suppress(NoEstimate):
            if linked.rated.all():
                made = estimate(design_of(contests), model, linked, ones, made)
                covariance = model.uncertainty(made, False, draws).covariance
                assert covariance is not None  # of so few players
                places = np.append(POINTS * made.ratings, [0.0, -math.inf])
                fitted = CountsFit(made.fit.point, places, POINTS**2 * covariance)
        measured.append(measures_of(fitted, truth, league))
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
