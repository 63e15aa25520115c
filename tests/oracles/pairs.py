"""Matching by `pairs`: the weights of all policies, and the matching of greatest total weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import mpmath

from valmatch.ratings.trueskill import update, v_and_w, win_probability

Pair = tuple[int, int]
Weights = Mapping[Pair, int]
Matching = list[Pair]


class Waiting(NamedTuple):
    """A waiting ticket: what the rule sees of it, what is believed of its player, the truth."""

    ticket: int
    time: float
    seen: float
    mu: float
    variance: float
    skill: float


class Context(NamedTuple):
    """What weights depend on besides the two tickets."""

    rule: Mapping[str, Any]  # its factors
    noise: float  # rating.beta squared
    true_noise: float  # match.beta squared
    uniform: Callable[[int, int], float]  # of a lower and a higher ticket, for the policy `random`


def best_matching(n: int, weights: Weights) -> Matching:
    """Return the best of all matchings; among equals the first places have the nearest partners."""

    def key(matching: Matching) -> tuple[int, list[float]]:
        partner = dict(matching) | {j: i for i, j in matching}
        distances = [abs(partner.get(place, math.inf) - place) for place in range(n)]
        return -sum(weights[pair] for pair in matching), distances

    return min(_matchings(tuple(range(n)), weights), key=key)


def _matchings(places: tuple[int, ...], weights: Weights) -> Iterator[Matching]:
    if not places:
        yield []
        return
    first, rest = places[0], places[1:]
    yield from _matchings(rest, weights)
    for k, other in enumerate(rest):
        if (first, other) in weights:
            for matching in _matchings(rest[:k] + rest[k + 1 :], weights):
                yield [(first, other), *matching]


def band_matching(n: int, weights: Weights, band: int) -> Matching:
    """Return the same where pairs are at most `band` places apart, for more places."""

    @cache
    def gain(place: int, taken: int) -> int:
        if place == n:
            return 0
        if taken & 1:
            return gain(place + 1, taken >> 1)
        return max([gain(place + 1, taken >> 1), *(total for total, _ in options(place, taken))])

    def options(place: int, taken: int) -> Iterator[tuple[int, int]]:
        """Yield (what can be gained, partner), the nearest partner first."""
        for k in range(1, band + 1):
            if not taken >> k & 1 and (place, place + k) in weights:
                after = (taken | 1 << k) >> 1
                yield weights[place, place + k] + gain(place + 1, after), place + k

    matching, taken = [], 0
    for place in range(n):
        if not taken & 1:
            best = gain(place, taken)
            partner = next((j for total, j in options(place, taken) if total == best), None)
            if partner is not None:
                matching.append((place, partner))
                taken |= 1 << (partner - place)
        taken >>= 1
    return matching


def tick_pairs(waiting: Sequence[Waiting], now: float, context: Context) -> list[tuple[int, int]]:
    """Return the tickets that play at a tick, (lower, higher), by the lower one."""
    rule = context.rule
    ordered = sorted(waiting, key=lambda one: (one.seen, one.ticket))
    weights = {}
    for i, one in enumerate(ordered):
        for j in range(i + 1, min(i + rule["band"] + 1, len(ordered))):
            weight = _weight(one, ordered[j], ordered, now, context)
            if weight is not None and weight >= 0:
                weights[i, j] = weight
    found = band_matching(len(ordered), weights, rule["band"])
    tickets = [sorted((ordered[i].ticket, ordered[j].ticket)) for i, j in found]
    return sorted((low, high) for low, high in tickets)


def _weight(
    i: Waiting, j: Waiting, waiting: Sequence[Waiting], now: float, context: Context
) -> int | None:
    """Return the weight of two tickets in units of 2**-40; None if they may not play."""
    rule = context.rule
    ages = now - i.time, now - j.time
    age = min(ages) if rule["widening_age"] == "newest" else max(ages)
    limit = rule["tolerance"] + rule["widening"] * age
    if abs(i.seen - j.seen) > limit:
        return None
    w = policy_weight(i, j, limit, waiting, context)
    total: float = w + rule["urgency"] * (ages[0] + ages[1]) - rule["reserve"]
    return round(total * 2**40)


def policy_weight(
    i: Waiting, j: Waiting, limit: float, waiting: Sequence[Waiting], context: Context
) -> float:
    """Return w of two tickets, `i` the one that the rule sees lower."""
    policy, kappa, gamma = (context.rule[name] for name in ("policy", "kappa", "gamma"))
    if policy == "nearest":
        return 1.0 - abs(i.seen - j.seen) / limit if limit else 1.0
    if policy == "random":
        return context.uniform(min(i.ticket, j.ticket), max(i.ticket, j.ticket))
    if policy == "oracle":
        return _quality(i.skill, 0.0, j.skill, 0.0, context.true_noise)
    q = _quality(i.mu, i.variance, j.mu, j.variance, context.noise)
    if policy == "ucb":
        return q + float(kappa) * _deviation(i, j, context.noise)
    if policy == "draw_chance":
        return q
    gained = _gained_by_variance if policy == "knowledge_gradient_variance" else _gained
    return q + 0.5 * float(gamma / (1.0 - gamma)) * gained(i, j, waiting, context)


def _quality(mu_i: float, var_i: float, mu_j: float, var_j: float, noise: float) -> float:
    """Return N(d; 0, c^2) / N(0; 0, 2 beta^2), equation (6)."""
    total = var_i + var_j + 2.0 * noise
    d = mu_i - mu_j
    return math.sqrt(2.0 * noise / total) * math.exp(-0.5 * d * d / total)


def _deviation(i: Waiting, j: Waiting, noise: float) -> float:
    """Return the standard deviation of the divided true density under the belief, by 40 digits."""
    with mpmath.workdps(40):
        variance, d = mpmath.mpf(i.variance + j.variance), mpmath.mpf(i.mu - j.mu)

        def moment(noise: float) -> Any:  # noqa: ANN401
            total = variance + noise
            return mpmath.sqrt(noise / total) * mpmath.exp(-d * d / (2 * total))

        # Without doubt the variance is 0, and rounding may leave less.
        return float(mpmath.sqrt(max(moment(noise) - moment(2.0 * noise) ** 2, mpmath.mpf(0))))


def _gained(i: Waiting, j: Waiting, waiting: Sequence[Waiting], context: Context) -> float:
    """Return what a game is expected to add to the best next qualities of both."""
    noise, band = context.noise, context.rule["band"]
    others = sorted((one for one in waiting if one not in (i, j)), key=lambda k: (k.mu, k.ticket))
    p = win_probability(i.mu, i.variance, j.mu, j.variance, noise)
    won = update(i.mu, i.variance, j.mu, j.variance, noise)
    lost = update(j.mu, j.variance, i.mu, i.variance, noise)

    def best(one: Waiting, mu: float, variance: float) -> float:
        place = sum((other.mu, other.ticket) < (mu, one.ticket) for other in others)
        near = others[max(0, place - band) : place + band]
        return max((_quality(mu, variance, k.mu, k.variance, noise) for k in near), default=0.0)

    after_i = p * best(i, won[0], won[1]) + (1.0 - p) * best(i, lost[2], lost[3])
    after_j = p * best(j, won[2], won[3]) + (1.0 - p) * best(j, lost[0], lost[1])
    return (after_i - best(i, i.mu, i.variance)) + (after_j - best(j, j.mu, j.variance))


def _gained_by_variance(
    i: Waiting, j: Waiting, waiting: Sequence[Waiting], context: Context
) -> float:
    """Return what a game adds to the qualities of both with somebody equal of mean variance."""
    noise = context.noise
    mean = sum(one.variance for one in waiting) / len(waiting)
    total = i.variance + j.variance + 2.0 * noise
    x = (i.mu - j.mu) / math.sqrt(total)
    learnt = v_and_w(x)[0] * v_and_w(-x)[0]  # phi(x)^2 / (Phi(x) Phi(-x))

    def added(variance: float) -> float:
        after = variance - variance * variance / total * learnt
        return _quality(0.0, after, 0.0, mean, noise) - _quality(0.0, variance, 0.0, mean, noise)

    return added(i.variance) + added(j.variance)
