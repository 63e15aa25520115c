"""Tickets drawn one by one in plain Python, by the table in `models.tickets.population`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

from tests.oracles.addressed import Addressed

NORMAL = NormalDist()

GAP, SIZE, HOME, SKILL, OWN_SKILL, ERROR, LATENCY, PATIENCE, ACCEPTS, ANSWER = range(2, 12)


class Ticket(NamedTuple):
    """A ticket as it is drawn."""

    time: float
    cancel: float
    home: str
    skills: list[float]
    seen: list[float]
    latencies: list[list[float]]
    attributes: dict[str, list[Any]]
    answers: list[float | None]


def tickets(
    factors: Mapping[str, Any], trips: Mapping[str, Sequence[float]], seed: int, replication: int
) -> Iterator[Ticket]:
    """Yield the tickets of a replication; factors are plain values, all given."""
    numbers = Addressed(seed, replication)
    for ticket, time in enumerate(times(factors, numbers)):
        yield drawn(factors, trips, numbers, ticket, time)


def times(factors: Mapping[str, Any], numbers: Addressed) -> Iterator[float]:
    """Yield when tickets come, in seconds: hour by hour what is left of a gap is used up."""
    profile = factors["arrivals"]["hourly_profile"]
    mean = sum(profile) / 24
    hour, ticket, left = 0.0, 0, numbers.exponential(GAP, 0, 0)
    while hour < factors["hours"]:
        rate = factors["arrivals"]["per_hour"] * profile[int(hour) % 24] / mean
        end = min(math.floor(hour) + 1.0, factors["hours"])
        if left < rate * (end - hour):
            hour += left / rate
            yield 3600.0 * hour
            ticket += 1
            left = numbers.exponential(GAP, 0, ticket)
        else:
            left -= rate * (end - hour)
            hour = end


def drawn(
    factors: Mapping[str, Any],
    trips: Mapping[str, Sequence[float]],
    numbers: Addressed,
    ticket: int,
    time: float,
) -> Ticket:
    """Return a ticket."""

    def normal(source: int, counter: int) -> float:
        return NORMAL.inv_cdf(numbers.uniform(source, ticket, counter))

    def chosen(shares: Sequence[float], source: int) -> int:
        uniform, total = numbers.uniform(source, ticket, 0), 0.0
        for number, share in enumerate(shares):
            total += share
            if uniform < total:
                return number
        raise AssertionError(shares)

    skill, regions, service = factors["skill"], factors["regions"], factors["service"]
    size = 1 + chosen(factors["parties"]["shares"], SIZE)
    home = list(regions["shares"])[chosen(list(regions["shares"].values()), HOME)]
    party = skill["mean"] + skill["std"] * normal(SKILL, 0)
    skills = [party + skill["party_std"] * normal(OWN_SKILL, j) * (size > 1) for j in range(size)]
    seen = [own + skill["error"] * normal(ERROR, j) for j, own in enumerate(skills)]
    latencies = [
        [
            max(1.0, round(trip * math.exp(regions["spread"] * normal(LATENCY, 64 * j + k))))
            for k, trip in enumerate(trips[home])
        ]
        for j in range(size)
    ]
    attributes: dict[str, list[Any]] = {}
    for k, (name, law) in enumerate(factors["attributes"].items()):
        if "mean" in law:
            own = [law["mean"] + law["std"] * normal(16 + k, 256 * j) for j in range(size)]
            attributes[name] = own
        elif "lists" in law:
            attributes[name] = [
                [
                    item
                    for i, (item, share) in enumerate(law["lists"].items())
                    if numbers.uniform(16 + k, ticket, 256 * j + i) < share
                ]
                for j in range(size)
            ]
        else:
            attributes[name] = [list(law)[chosen(list(law.values()), 16 + k)]] * size
    patience = factors["patience"]
    median, cancel = patience["median_seconds"], math.inf
    if median is not None:
        cancel = time + median * math.exp(patience["spread"] * normal(PATIENCE, 0))
    answers: list[float | None] = []
    for proposal in range(16):
        seconds = 0.0
        for j in range(size):
            if numbers.uniform(ACCEPTS, ticket, 16 * proposal + j) >= service["accept_prob"]:
                seconds = math.inf
            answer = numbers.exponential(ANSWER, ticket, 16 * proposal + j)
            seconds = max(seconds, service["answer_seconds"] * answer)
        answers.append(None if seconds == math.inf else seconds)
    return Ticket(time, cancel, home, skills, seen, latencies, attributes, answers)
