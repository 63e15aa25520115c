"""Ratings by player and day as the definitions have them, in points: loops, dense matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests.oracles.bradley_terry import B, Game
from valmatch.kernels.arrays import Floats


@dataclass
class PathWorld:
    """What is known of a log: ratings by player and day, coefficients, then ln nu if `davidson`."""

    games: Sequence[Game]
    days: Sequence[int]
    n_features: int = 0
    davidson: bool = False
    drift: float = 3.7
    deviation: float = 350.0
    mean: float = 1500.0
    n_players: int = 6

    def __post_init__(self) -> None:
        played = {
            (player, day)
            for game, day in zip(self.games, self.days, strict=True)
            for side in game.sides
            for player in side.players
        }
        self.states = sorted(played)
        self.place = {state: k for k, state in enumerate(self.states)}
        self.first = [k for k, (player, _) in enumerate(self.states) if not self._goes_on(k)]
        self.size = len(self.states) + self.n_features + self.davidson

    def _goes_on(self, k: int) -> bool:
        return k > 0 and self.states[k - 1][0] == self.states[k][0]

    def last(self) -> list[int]:
        """Return the last state of each player."""
        return [*(k - 1 for k in self.first[1:]), len(self.states) - 1]


class Terms(NamedTuple):
    """A value, its gradient and its second derivatives."""

    value: float
    gradient: Floats
    second: Floats


def _side_terms(scores: Sequence[float], x: Floats, log_nu: float | None) -> Terms:
    """Return the log likelihood of a game by the strengths of its sides (log odds) and ln nu."""
    k = len(scores)
    gradient, second = np.zeros(k + 1), np.zeros((k + 1, k + 1))

    def minus_log_sum(rows: Floats, logs: Floats) -> float:
        """Subtract ln sum exp(logs), where each log moves by a row of derivatives."""
        nonlocal gradient, second
        chances = np.exp(logs - logs.max())
        chances = chances / chances.sum()
        mean = chances @ rows
        gradient = gradient - mean
        second = second - (rows.T * chances) @ rows + np.outer(mean, mean)
        return -float(logs.max() + np.log(np.exp(logs - logs.max()).sum()))

    unit = np.eye(k + 1)
    if k == 2:
        ways = np.array([0.5 * (unit[0] - unit[1]), 0.5 * (unit[1] - unit[0])])
        logs = ways[:, :2] @ x
        if log_nu is not None:
            ways, logs = np.vstack([ways, unit[2]]), np.append(logs, log_nu)
        value = minus_log_sum(ways, logs)
        if scores[0] == scores[1]:
            share = np.array([0.0, 0.0, 1.0]) if log_nu is not None else np.array([0.5, 0.5])
        else:
            share = np.zeros(len(logs))
            share[int(scores[1] > scores[0])] = 1.0
        return Terms(value + float(share @ logs), gradient + share @ ways, second)
    value = 0.0
    for score in sorted(set(scores), reverse=True):
        tied = [s for s in range(k) if scores[s] == score]
        left = [s for s in range(k) if scores[s] <= score]
        for r, chosen in enumerate(tied):
            shares = np.array([1.0 - r / len(tied) if s in tied else 1.0 for s in left])
            value += minus_log_sum(unit[left], x[left] + np.log(shares)) + x[chosen]
            gradient = gradient + unit[chosen]
    return Terms(value, gradient, second)


def _rows(world: PathWorld, game: Game, day: int) -> Floats:
    """Return how the strengths of the sides in log odds, and ln nu, follow from the parameters."""
    rows = np.zeros((len(game.sides) + 1, world.size))
    n = len(world.states)
    for s, side in enumerate(game.sides):
        for player in side.players:
            rows[s, world.place[player, day]] += B / len(side.players)
        for k, value in enumerate(side.features):
            rows[s, n + k] = B * value
    if world.davidson:
        rows[-1, -1] = 1.0
    return rows


def game_terms(world: PathWorld, place: Floats) -> list[Terms]:
    """Return the weighted log likelihood of each game and its derivatives."""
    found = []
    log_nu = float(place[-1]) if world.davidson else None
    for game, day in zip(world.games, world.days, strict=True):
        rows = _rows(world, game, day)
        scores = [side.score for side in game.sides]
        value, gradient, second = _side_terms(scores, (rows @ place)[:-1], log_nu)
        w = game.weight
        found.append(Terms(w * value, w * gradient @ rows, w * rows.T @ second @ rows))
    return found


def prior_terms(world: PathWorld, place: Floats) -> Terms:
    """Return the log density of the prior, but for a constant, and its derivatives."""
    n = len(world.states)
    q, centre = np.zeros((world.size, world.size)), np.zeros(world.size)
    centre[:n] = world.mean
    for k in world.first:
        q[k, k] += 1.0 / world.deviation**2
    for k in range(1, n):
        (before, earlier), (player, day) = world.states[k - 1 : k + 1]
        if before == player:
            step = np.zeros(world.size)
            step[k], step[k - 1] = 1.0, -1.0
            q += np.outer(step, step) / (world.drift**2 * (day - earlier))
    away = place - centre
    return Terms(-0.5 * float(away @ q @ away), -q @ away, -q)


class Solution(NamedTuple):
    """The maximum, its joint information, the prior's part of it, and gradients by game."""

    place: Floats
    information: Floats
    prior: Floats
    gradients: Floats
    log_likelihood: float
    log_density: float


def solved(world: PathWorld) -> Solution:
    """Return the maximum by Newton's method."""
    place = np.full(world.size, world.mean)
    place[len(world.states) :] = 0.0

    def all_terms(at: Floats) -> tuple[list[Terms], Terms, float]:
        games, prior = game_terms(world, at), prior_terms(world, at)
        return games, prior, sum(g.value for g in games) + prior.value

    games, prior, value = all_terms(place)
    for _ in range(100):
        gradient = sum((g.gradient for g in games), prior.gradient)
        information = -sum((g.second for g in games), prior.second)
        step = np.linalg.solve(information, gradient)
        while True:
            there = all_terms(place + step)
            if there[2] >= value - 1e-9 * (1 + abs(value)):
                break
            step = 0.5 * step
        place = place + step
        games, prior, value = there
        if np.abs(step).max() < 1e-10:
            break
    information = -sum((g.second for g in games), prior.second)
    likelihood = sum(g.value for g in games)
    gradients = np.array([g.gradient for g in games])
    return Solution(place, information, -prior.second, gradients, likelihood, value)


def covariance(world: PathWorld, found: Solution, sandwich: bool = False) -> Floats:
    """Return the covariance of all parameters where the mean of the first days is held."""
    n = world.size
    bordered = np.zeros((n + 1, n + 1))
    bordered[:n, :n] = found.information
    bordered[world.first, n] = bordered[n, world.first] = 1.0 / len(world.first)
    inverse = np.linalg.inv(bordered)[:n, :n]
    if not sandwich:
        return np.asarray(inverse)
    clusters = sorted({game.cluster for game in world.games if game.weight})
    meat = np.zeros((n, n))
    for cluster in clusters:
        own = sum(
            (
                u
                for u, game in zip(found.gradients, world.games, strict=True)
                if game.cluster == cluster
            ),
            np.zeros(n),
        )
        meat += np.outer(own, own)
    c = len(clusters)
    return np.asarray(inverse @ (c / (c - 1.0) * meat + found.prior) @ inverse)


def on_last_day(world: PathWorld, found: Solution, covariances: Floats) -> tuple[Floats, Floats]:
    """Return the ratings of all players on the last day of the log, and their covariance."""
    last = world.last()
    since = [world.drift**2 * (max(world.days) - world.states[k][1]) for k in last]
    spread: Floats = covariances[np.ix_(last, last)] + np.diag(since)
    return found.place[last], spread


def log_evidence(world: PathWorld, found: Solution) -> float:
    """Return the logarithm of Laplace's approximation of the evidence, in points and ln nu."""
    n = len(world.states)
    _, of_prior = np.linalg.slogdet(found.prior[:n, :n])
    _, whole = np.linalg.slogdet(found.information)
    more = 0.5 * (world.size - n) * math.log(2.0 * math.pi)
    return found.log_density + 0.5 * float(of_prior) - 0.5 * float(whole) + more
