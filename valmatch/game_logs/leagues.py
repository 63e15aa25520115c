"""Simulated leagues: truths, games by a policy, and what the ratings say at numbers of games."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.distributions import next_uniform
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.kernels.compilation import kernel, variant
from valmatch.policies.joint.batch import Batch, chooser, needs_all, new_batch
from valmatch.policies.joint.belief import Belief, Pairs, pairs_of
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

_UNCHECKED = 4_000
"""Batches between two looks at whether the work is to end, times the square of the players."""

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

    @property
    def n_players(self) -> int:
        """Number of players."""
        return len(self.before)


@kernel
def play(words: Words, truth: Floats, counts: Counts, pair: Ints, before: Ints) -> None:
    """Play a game of two players.

    Shapes: `truth` (n + 2,); `pair` (2,); `before` (n, n).
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


@kernel
def play_evenly(
    words: Words, truth: Floats, counts: Counts, pair: Ints, before: Ints, games: int
) -> None:
    """Play games, each of the two who have met the least, the first two of several such.

    Shapes: `pair` (3,).
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


@kernel
def measure(
    space: Space, truth: Floats, quantile: float, critical: float, out: Floats, found: bool
) -> None:
    """Fill in the measures of an estimate; without one nobody is named and nothing covered.

    Shapes: `truth` (n + 2,); `out` (4,).
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


class Standing(NamedTuple):
    """A league that has been played up to the last number of games of a grid."""

    # words, truth, space, counts, before: as `play_evenly` and `fit_counts` take them
    words: Words
    truth: Floats
    space: Space
    counts: Counts
    before: Ints
    cursor: Ints  # (3,) of even play, see `play_evenly`
    found: bool  # whether there is an estimate by which pairs can be chosen
    measured: Floats  # (points, 4) measures so far


def run_leagues(
    league: League,
    standings: dict[int, Standing] | None,
    replications: range,
    check: Callable[[], None] = lambda: None,
) -> tuple[Floats, float]:
    """Return (replications, points, 4) measures of some leagues, and the seconds that took."""
    started = time.perf_counter()
    streams = Streams(league.seed)
    made = np.empty((len(replications), len(league.grid), len(MEASURES)))
    for k, replication in enumerate(replications):
        check()
        standing = None if standings is None else standings.get(replication)
        if standing is None:
            standing = _begun(league, streams, replication)
        points = len(standing.measured)
        made[k, :points] = standing.measured
        found = _played_on(league, standing, made[k, points:], check)
        if standings is not None:
            standings[replication] = standing._replace(found=found, measured=made[k])
    return made, time.perf_counter() - started


def _begun(league: League, streams: Streams, replication: int) -> Standing:
    """Return a league in which nobody has played."""
    counts, space = new_counts(league.n_players), space_of(league.frame)
    return Standing(
        streams.words(replication, GAMES).copy(),
        truth_of(league, streams, replication),
        space,
        counts,
        league.before.copy(),
        np.zeros(3, np.int64),
        league.policy != UNIFORM and bool(fit_counts(counts, league.frame, space)),
        np.empty((0, len(MEASURES))),
    )


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


class Choice(NamedTuple):
    """Working space of a league whose pairs are chosen."""

    pairs: Pairs  # of the choice; `draw_weight` and `exact` are of no meaning
    batch: Batch  # the pairs chosen
    place: Words  # of the addressed numbers, which are not drawn
    cursor: Ints  # (3,) of even play, see `play_evenly`
    pair: Ints  # (2,) who plays


def choice_of(n: int, goal: str, batch: int, cursor: Ints) -> Choice:
    """Return working space for a league.

    Shapes: `cursor` (3,).
    """
    belief = Belief(np.zeros(n), np.zeros((n, n)))
    n_pairs = n * (n - 1) // 2
    everyone, games = np.ones(n_pairs, np.bool_), np.zeros(n_pairs, np.int64)
    pairs = pairs_of(belief, goal, everyone, games, np.arange(n))
    return Choice(pairs, new_batch(batch), Streams(0).place(0), cursor, np.zeros(2, np.int64))


@kernel
def believe(pairs: Pairs, space: Space, before: Ints) -> None:
    """Begin a choice of pairs by an estimate, all of which may play.

    Shapes: `before` (n, n).
    """
    n, p = pairs.mean.size, 0
    for i in range(n):
        pairs.mean[i] = space.places[i] / POINTS
        for j in range(n):
            pairs.covariance[i, j] = space.covariance[i, j] / POINTS**2
        for j in range(i + 1, n):
            pairs.games[p], pairs.values[p], pairs.open[p] = before[i, j], np.inf, True
            pairs.sides[p] = np.inf
            p += 1
        rank = i
        while rank > 0 and pairs.mean[pairs.by_mean[rank - 1]] < pairs.mean[i]:
            pairs.by_mean[rank] = pairs.by_mean[rank - 1]
            rank -= 1
        pairs.by_mean[rank] = i


def _play_chosen(
    words: Words,
    truth: Floats,
    frame: Frame,
    space: Space,
    counts: Counts,
    before: Ints,
    choice: Choice,
    found: bool,
    games: int,
) -> bool:
    """Play games of pairs chosen by what is known; evenly until everybody is rated.

    To be compiled for each policy; the parameters are those of `play_evenly`, `found` says whether
    there is an estimate, and what is returned whether there is one in the end.
    """
    n, pairs, batch = before.shape[0], choice.pairs, choice.batch
    while games > 0:
        size = min(batch.first.size, games)
        if found:
            believe(pairs, space, before)
            draw_weight = math.exp(space.places[n + 1])
            now = Pairs(
                pairs.mean,
                pairs.covariance,
                draw_weight,
                pairs.points,
                needs_all(pairs.covariance, pairs.points, draw_weight),
                pairs.goal,
                pairs.open,
                pairs.games,
                pairs.values,
                pairs.by_mean,
                pairs.names,
                pairs.parts,
                pairs.gaps,
                pairs.bends,
                pairs.inverse,
                pairs.moved,
                pairs.sides,
            )
            out = Batch(
                batch.first[:size],
                batch.second[:size],
                batch.value[:size],
                batch.std_error[:size],
                batch.games[:size],
                batch.propensity[:size],
            )
            choose(now, False, 0.0, choice.place, 0, out)  # type: ignore[name-defined]  # noqa: F821
            for k in range(size):
                choice.pair[0], choice.pair[1] = out.first[k], out.second[k]
                play(words, truth, counts, choice.pair, before)
        else:
            play_evenly(words, truth, counts, choice.cursor, before, size)
        games -= size
        found = fit_counts(counts, frame, space)
    return found


@cache
def chosen_player(policy: str) -> Any:  # noqa: ANN401 - a compiled function
    """Return the kernel of `_play_chosen` for a policy."""
    return kernel(variant(_play_chosen, policy, choose=chooser(policy)), allocates=True)


def _played_on(league: League, standing: Standing, out: Floats, check: Callable[[], None]) -> bool:
    """Play a league on, and measure it; return whether there is an estimate in the end."""
    n, frame, found = league.n_players, league.frame, standing.found
    words, truth, space = standing.words, standing.truth, standing.space
    counts, before, cursor = standing.counts, standing.before, standing.cursor
    points, longest = len(standing.measured), league.batch * max(1, _UNCHECKED // n**2)
    done, evenly = int(league.grid[points - 1]) if points else 0, league.policy == UNIFORM
    if not evenly:
        choice = choice_of(n, league.goal, league.batch, cursor)
        play_chosen = chosen_player(league.policy)
    for k, goal in enumerate(league.grid[points:].tolist()):
        while done < goal:
            check()
            games = goal - done if evenly else min(longest, goal - done)
            if evenly:
                play_evenly(words, truth, counts, cursor, before, games)
                found = bool(fit_counts(counts, frame, space))
            else:
                more = words, truth, frame, space, counts, before, choice, found, games
                found = play_chosen(*more)
            done += games
        measure(space, truth, league.quantile, league.critical, out[k], found)
    return found
