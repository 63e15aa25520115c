"""A world that ratings leave possible, in which pairs are chosen, played and rated again."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.kernels.threads import one_thread
from valmatch.policies.joint.batch import choose_batch
from valmatch.policies.joint.belief import Belief

_TRUTH, _OUTCOMES, _NOISE = 0x54525554, 0x4F555443, 0x4E4F4953
"""Sources of random numbers: who is how strong, how games end, which are tosses of a coin."""

_STEPS, _CLOSE, _LONGEST = 100, 1e-6, 400.0

MEASURES = ("named_best", "misordered", "widest")
"""What is measured of ratings: whether the leader is the best, how many neighbours are in the wrong
order, the standard error of the widest difference in points."""

OF_GOAL = dict(zip(("best", "order", "widest"), MEASURES, strict=True))


class Plan(NamedTuple):
    """What is played in a world."""

    belief: Belief  # what is known before; the truth is drawn from it
    games: Ints  # (n, n); games of each pair before
    allowed: Bools  # (n, n); which pairs may play
    names: Ints  # (n,); place of each player by name
    goal: str  # of the knowledge gradient
    batch: int  # games between ratings
    once: bool  # whether each player plays at most once between ratings
    explore: float  # share of pairs that are drawn
    # after how many games ratings are measured, the first 0; multiples of `batch` but the last
    marks: tuple[int, ...]
    noise: float = 0.0  # share of the games that are tosses of a coin, which ratings do not know


def update(belief: Belief, games: Ints, scores: Floats, start: Floats) -> Belief:
    """Return the belief after games: the mode, and the covariance by the curvature there.

    Shapes: `games` (n, n); `scores` (n, n); `start` (n,).

    Notes
    -----
    Newton's step, (I + V H) x' = m + V (g + H x), asks for no inverse of V, which has none where
    the zero is held.
    """
    with one_thread():
        return _updated(belief, games, scores, start)


def _updated(belief: Belief, games: Ints, scores: Floats, start: Floats) -> Belief:
    b, nu, v = belief.points, belief.draw_weight, belief.covariance
    n, x = belief.mean.size, start
    for _ in range(_STEPS):
        lead = b * (x[:, np.newaxis] - x)
        root = np.exp(-0.5 * np.abs(lead))
        total = 1.0 + root * (root + nu)
        better = (1.0 + 0.5 * nu * root) / total
        expected = np.where(lead >= 0.0, better, 1.0 - better)
        information = games * (0.25 * b * b) * root
        information *= ((1.0 + root * root) * nu + 4.0 * root) / (total * total)
        curvature = np.diag(information.sum(axis=1)) - information
        slope = b * (scores - games * expected).sum(axis=1)
        matrix = np.eye(n) + v @ curvature
        step = np.linalg.solve(matrix, belief.mean + v @ (slope + curvature @ x)) - x
        longest = float(np.abs(step).max())
        x = x + step * min(1.0, _LONGEST / longest if longest > 0.0 else 1.0)
        if longest < _CLOSE:
            break
    covariance = np.linalg.solve(matrix, v)
    return belief._replace(mean=x, covariance=0.5 * (covariance + covariance.T))


def play_world(
    plan: Plan, policy: str, streams: Streams, replication: int, stop: Callable[[], None]
) -> Floats:
    """Play a world on under a policy; return the measures at each mark, (marks, measures).

    The truth and the luck of each game are those of the replication, whatever the policy.
    """
    belief, n = plan.belief, plan.belief.mean.size
    normals = streams.stream(replication, _TRUTH).standard_normal(n)
    with one_thread():
        values, vectors = np.linalg.eigh(belief.covariance)
        truth = belief.mean + vectors @ (np.sqrt(np.maximum(values, 0.0)) * normals)
    found = play_on(plan, policy, truth, streams, replication, stop)
    return np.array([measures_of(one, truth) for one in found])


def play_on(
    plan: Plan,
    policy: str,
    truth: Floats,
    streams: Streams,
    replication: int,
    stop: Callable[[], None],
) -> list[Belief]:
    """Play on under a policy where players are as strong as they are; return the belief at marks.

    Shapes: `truth` (n,).
    """
    belief, n = plan.belief, plan.belief.mean.size
    luck = streams.stream(replication, _OUTCOMES).random(plan.marks[-1])
    tossed = streams.stream(replication, _NOISE).random(plan.marks[-1]) < plan.noise
    played, scores = np.zeros((n, n), np.int64), np.zeros((n, n))
    found = [belief]
    done = 0
    while done < plan.marks[-1]:
        stop()
        batch = choose_batch(
            belief,
            policy,
            plan.goal,
            min(plan.batch, plan.marks[-1] - done),
            once=plan.once,
            allowed=plan.allowed,
            games=plan.games + played,
            names=plan.names,
            explore=plan.explore,
            streams=streams,
            replication=replication,
            start=done,
        )
        first, second = batch.first, batch.second
        now = slice(done, done + first.size)
        leads = np.where(tossed[now], 0.0, truth[first] - truth[second])
        own = _scores(belief, leads, luck[now])
        for i, j, score in zip(first.tolist(), second.tolist(), own.tolist(), strict=True):
            played[i, j] += 1
            played[j, i] += 1
            scores[i, j] += score
            scores[j, i] += 1.0 - score
        before, done = done, done + first.size
        belief = update(plan.belief, played, scores, belief.mean)
        found += [belief] * sum(before < mark <= done for mark in plan.marks)
    return found


def _scores(belief: Belief, leads: Floats, luck: Floats) -> Floats:
    """Return how games end: 1, 1/2 or 0, by how strong the players are and a uniform number."""
    x = belief.points * leads
    win, lose = np.exp(0.5 * (x - np.abs(x))), np.exp(0.5 * (-x - np.abs(x)))
    draw = belief.draw_weight * np.exp(-0.5 * np.abs(x))
    total = win + draw + lose
    won, drawn = luck < win / total, luck < (win + draw) / total
    found: Floats = np.where(won, 1.0, np.where(drawn, 0.5, 0.0))
    return found


def measures_of(belief: Belief, truth: Floats) -> tuple[float, float, float]:
    """Return `MEASURES`."""
    order = np.argsort(-belief.mean, kind="stable")
    own = np.diag(belief.covariance)
    spread = own[:, np.newaxis] + own - 2.0 * belief.covariance
    wrong = int((np.diff(truth[order]) > 0.0).sum())
    best = float(truth[order[0]] >= truth.max())
    return best, float(wrong), float(np.sqrt(max(spread.max(), 0.0)))
