"""Bradley-Terry and its kin as the definitions have them, in points: loops and differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize

from valmatch.kernels.arrays import Floats

B = math.log(10.0) / 400.0


@dataclass
class Side:
    """A side of a game: its players, its score, its features."""

    players: Sequence[int]
    score: float
    features: Sequence[float] = ()


@dataclass
class Game:
    """A game: its sides, its weight, its cluster."""

    sides: Sequence[Side]
    weight: float = 1.0
    cluster: int = 0


@dataclass
class World:
    """What is known of a log: ratings, then coefficients, then ln nu if `davidson`, in points."""

    games: Sequence[Game]
    n_players: int
    n_features: int = 0
    davidson: bool = False
    prior: float | None = None
    anchors: dict[int, tuple[float, float]] = field(default_factory=dict)


def log_likelihood(game: Game, world: World, place: Floats) -> float:
    """Return the log likelihood of one game."""
    n = world.n_players

    def strength(side: Side) -> float:
        mean = sum(place[player] for player in side.players) / len(side.players)
        more = sum(place[n + k] * value for k, value in enumerate(side.features))
        return float(B * (mean + more))

    strengths = [strength(side) for side in game.sides]
    scores = [side.score for side in game.sides]
    if len(scores) == 2:
        x = strengths[0] - strengths[1]
        nu = math.exp(place[-1]) if world.davidson else 0.0
        total = math.exp(x / 2) + math.exp(-x / 2) + nu
        won, lost = math.exp(x / 2) / total, math.exp(-x / 2) / total
        if scores[0] == scores[1]:
            return math.log(nu / total) if nu else 0.5 * (math.log(won) + math.log(lost))
        return math.log(won if scores[0] > scores[1] else lost)
    found = 0.0
    for score in sorted(set(scores), reverse=True):
        tied = [s for s, own in zip(strengths, scores, strict=True) if own == score]
        after = [s for s, own in zip(strengths, scores, strict=True) if own < score]
        rest, level = sum(map(math.exp, after)), sum(map(math.exp, tied))
        for r in range(len(tied)):
            found += tied[r] - math.log(rest + (1.0 - r / len(tied)) * level)
    return found


def log_prior(world: World, place: Floats) -> float:
    """Return the log density of the prior, but for a constant."""
    found = 0.0
    free = [k for k in range(world.n_players) if k not in world.anchors]
    if world.prior is not None and free:
        mean = sum(place[k] for k in free) / len(free)
        found -= sum((place[k] - mean) ** 2 for k in free) / (2.0 * world.prior**2)
    for player, (rating, deviation) in world.anchors.items():
        if deviation:
            found -= (place[player] - rating) ** 2 / (2.0 * deviation**2)
    return found


def _basis(world: World, mean: float) -> tuple[Floats, Floats]:
    """Return an origin and a basis of the places where the zero is held."""
    size = world.n_players + world.n_features + world.davidson
    origin = np.zeros(size)
    origin[: world.n_players] = mean
    fixed = [player for player, (_, deviation) in world.anchors.items() if not deviation]
    for player, (rating, _) in world.anchors.items():
        origin[player] = rating
    unit = np.eye(size)
    if world.anchors:
        return origin, unit[:, [k for k in range(size) if k not in fixed]]
    # The first player moves against all others.
    basis = unit[:, 1:].copy()
    basis[0, : world.n_players - 1] = -1.0
    return origin, basis


def maximum(world: World, mean: float = 1500.0) -> Floats:
    """Return the place of the maximum of the posterior density."""
    origin, basis = _basis(world, mean)
    scales = np.full(basis.shape[1], 100.0)
    if world.davidson:
        scales[-1] = 1.0

    def loss(z: Floats) -> float:
        place = origin + basis @ (scales * z)
        likelihood = sum(g.weight * log_likelihood(g, world, place) for g in world.games)
        return -likelihood - log_prior(world, place)

    found = np.zeros(len(scales))
    for method in ("BFGS", "Nelder-Mead", "BFGS"):
        if method == "Nelder-Mead" and len(scales) > 6:
            continue
        found = minimize(loss, found, method=method, tol=1e-12).x
    for _ in range(3):  # polished by Newton's method with differences
        found = found - np.linalg.solve(second(loss, found), first(loss, found))
    return np.asarray(origin + basis @ (scales * found))


def first(function: Callable[[Floats], float], z: Floats, step: float = 1e-4) -> Floats:
    """Return derivatives by central differences of the fourth order."""
    found = np.empty(len(z))
    for k in range(len(z)):
        move = np.zeros(len(z))
        move[k] = step
        near = function(z + move) - function(z - move)
        far = function(z + 2 * move) - function(z - 2 * move)
        found[k] = (8.0 * near - far) / (12.0 * step)
    return found


def second(function: Callable[[Floats], float], z: Floats, step: float = 1e-3) -> Floats:
    """Return second derivatives as differences of first ones."""
    found = np.empty((len(z), len(z)))
    for k in range(len(z)):
        move = np.zeros(len(z))
        move[k] = step
        near = first(function, z + move, step) - first(function, z - move, step)
        far = first(function, z + 2 * move, step) - first(function, z - 2 * move, step)
        found[k] = (8.0 * near - far) / (12.0 * step)
    return 0.5 * (found + found.T)


def covariance(world: World, place: Floats, sandwich: bool = False) -> Floats:
    """Return the covariance of all parameters at the maximum, where the zero is held."""
    _, basis = _basis(world, 0.0)
    scales = np.full(basis.shape[1], 100.0)
    if world.davidson:
        scales[-1] = 1.0
    ways = basis * scales

    def along(function: Callable[[Floats], float]) -> Callable[[Floats], float]:
        return lambda z: function(place + ways @ z)

    def of_games(at: Floats) -> float:
        return sum(g.weight * log_likelihood(g, world, at) for g in world.games)

    zero = np.zeros(len(scales))
    inner = -second(along(lambda at: log_prior(world, at)), zero)
    bread = np.linalg.inv(-second(along(of_games), zero) + inner)
    meat = np.linalg.inv(bread)
    if sandwich:
        clusters = sorted({game.cluster for game in world.games if game.weight})
        sums = np.array([_gradient(world, cluster, along, zero) for cluster in clusters])
        n = len(clusters)
        meat = n / (n - 1.0) * sums.T @ sums + inner
    return np.asarray(ways @ bread @ meat @ bread @ ways.T)


def _gradient(
    world: World,
    cluster: int,
    along: Callable[[Callable[[Floats], float]], Callable[[Floats], float]],
    zero: Floats,
) -> Floats:
    """Return the gradient of the games of one cluster."""
    own = [game for game in world.games if game.cluster == cluster]
    return first(along(lambda at: sum(g.weight * log_likelihood(g, world, at) for g in own)), zero)
