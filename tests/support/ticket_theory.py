"""Poisson tickets whose mean figures theory knows: replayed by the kernel, and of the model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import quad

from tests.support.ladder_theory import error_of, queue_and_abandoned
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.matching.tickets.columns import Document, Service, tickets_of
from valmatch.matching.tickets.playing import Outcome, play
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.models.tickets.model import TicketsModel
from valmatch.rule_sets.flexmatch import read_rule_set

FOREVER = 43_200
"""Seconds after which tickets leave that would not."""


class Figure(NamedTuple):
    """A figure of each replication, and what it should be on average."""

    values: Sequence[float] | Floats
    wanted: float

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return error_of(self.values)

    @property
    def away(self) -> float:
        """By how many standard errors the mean misses what it should be."""
        return (float(np.mean(self.values)) - self.wanted) / self.error


def agrees(what: str, figures: Iterable[Figure]) -> None:
    """Print means beside what they should be; they differ by less than three standard errors."""
    for figure in figures:
        mean = float(np.mean(figure.values))
        print(f"{what}: {mean:.4f} +- {figure.error:.4f}, wanted {figure.wanted:.4f}", end="")
        print(f" ({figure.away:+.2f} standard errors)")
        assert abs(figure.away) < 3


def one_team(least: int, most: int) -> list[dict[str, Any]]:
    return [{"name": "all", "minPlayers": least, "maxPlayers": most}]


# Tickets of a Poisson process, replayed without rules until some seconds after the last one.


def replayed(
    players: int, times: Floats, review: float | None, cancels: Floats | None = None
) -> Outcome:
    """Return what comes of single players at some times, for matches of so many."""
    tickets: list[Document] = [
        {"id": f"t{k}", "time": time, "players": [{"id": f"p{k}"}]} for k, time in enumerate(times)
    ]
    for ticket, cancel in zip(tickets, () if cancels is None else cancels, strict=False):
        ticket["cancel"] = cancel
    rules = {"ruleLanguageVersion": "1.0", "teams": one_team(players, players)}
    table = read_rule_set(json.dumps(rules)).table
    assert table is not None
    service = Service(1e7, float(times[-1]) + 2.0 * (review or 0.0), review)
    return play(table, tickets_of(tickets, table, np.zeros(3, np.uint64)), service, "pass")


def cancelled(
    players: int, rate: float, theta: float, replications: int, tickets: int
) -> tuple[Figure, Figure]:
    """Return how many wait on average, and the share that leaves, where tickets are cancelled."""
    queues, shares = [], []
    for number in range(replications):
        rng = np.random.default_rng([players, round(1e6 * rate), round(1e6 * theta), number])
        times = np.cumsum(rng.exponential(1.0 / rate, tickets))
        outcome = replayed(players, times, None, times + rng.exponential(1.0 / theta, tickets))
        seconds = [outcome.times[k] - times[k] for k in outcome.ended]
        queues.append(sum(seconds) / times[-1])
        shares.append(outcome.statuses.count("CANCELLED") / tickets)
    queue, left = queue_and_abandoned(players, rate, 60.0 / theta)
    return Figure(queues, queue), Figure(shares, left)


# The model.


DUEL = [{"name": name, "minPlayers": 1, "maxPlayers": 1} for name in ("red", "blue")]


def same_modes(players: int) -> dict[str, Any]:
    """Return a rule set for so many players of the same mode."""
    every = "flatten(teams[*].players.attributes[mode])"
    rule = {"name": "Same", "type": "comparison", "measurements": [every], "operation": "="}
    modes = [{"name": "mode", "type": "string"}]
    return {"playerAttributes": modes, "teams": one_team(players, players), "rules": [rule]}


def far_duels(age: str, step: float) -> dict[str, Any]:
    """Return a rule set one against one, where nobody fits before a step, then everybody."""
    rule = {"name": "Far", "type": "batchDistance", "batchAttribute": "skill", "maxDistance": 0}
    steps = [{"waitTimeSeconds": step, "value": 10**9}]
    return {
        "playerAttributes": [{"name": "skill", "type": "number"}],
        "algorithm": {"expansionAgeSelection": age},
        "teams": DUEL,
        "rules": [rule],
        "expansions": [{"target": "rules[Far].maxDistance", "steps": steps}],
    }


def rule_file(folder: Path, **content: Any) -> Path:  # noqa: ANN401
    """Write a rule set."""
    path = folder / "rules.json"
    path.write_text(json.dumps({"ruleLanguageVersion": "1.0", **content}))
    return path


def means(given: dict[str, Any], rules: Path | None, n: int, *names: str) -> Floats:
    """Return responses of n replications, (n, names)."""
    factors = TicketsFactors.model_validate(given)
    model = TicketsModel(factors, {"rules": rules} if rules else {})
    batch = model.run_many(Streams(7), range(n), False, lambda: None)
    columns = [model.responses.names.index(name) for name in names]
    return np.asarray(batch.responses[:, columns])


def lasting(tickets: float, per_hour: float, warmup: float = 10.0) -> dict[str, Any]:
    """Return factors of a run of single players that lasts for some tickets."""
    hours = tickets / per_hour + warmup / 60.0
    return {
        "parties": {"shares": [1]},
        "hours": hours,
        "warmup_minutes": warmup,
        "arrivals": {"per_hour": per_hour},
    }


def no_rules(size: int, per_hour: float, review: float, n: int, folder: Path) -> Figure:
    """Return waits for n players without rules: (n - 1) / (2 lambda) + T / 2."""
    teams = one_team(size, size)
    service = {"review_seconds": review, "request_timeout_seconds": FOREVER}
    given = {**lasting(600, per_hour, 600 * size / per_hour), "service": service}
    waits = means(given, rule_file(folder, teams=teams), n, "time_to_match")[:, 0]
    return Figure(waits, (size - 1) / (2 * per_hour / 3600) + review / 2)


def classes(number: int, size: int, per_hour: float, n: int, folder: Path) -> Figure:
    """Return waits in K classes: K (n - 1) / (2 lambda) + T / 2."""
    given = {
        **lasting(900, per_hour, 60 * 20 * number * size / per_hour),
        "attributes": {"mode": {f"m{k}": 1 / number for k in range(number)}},
        "service": {"request_timeout_seconds": FOREVER},
    }
    waits = means(given, rule_file(folder, **same_modes(size)), n, "time_to_match")[:, 0]
    return Figure(waits, number * (size - 1) / (2 * per_hour / 3600) + 0.5)


def ages(age: str, per_second: float, wait: float, n: int, folder: Path) -> Figure:
    """Return waits one against one, where nobody fits before w seconds, then everybody."""
    service = {"review_seconds": 0.1, "request_timeout_seconds": FOREVER}
    given = {**lasting(700, 3600 * per_second), "service": service}
    waits = means(given, rule_file(folder, **far_duels(age, wait)), n, "time_to_match")[:, 0]
    half = 0.5 / per_second
    oldest = wait - half + math.exp(-per_second * wait) / per_second
    return Figure(waits, (wait + half if age == "newest" else oldest) + 0.05)


def patience(
    per_second: float, median: float, spread: float, n: int, folder: Path
) -> tuple[Figure, Figure]:
    """Return how many wait for a match of two (until the next comes), and the share that leaves."""
    review = max(0.002 / per_second, 0.01)
    given = {
        **lasting(600, 3600 * per_second),
        "patience": {"median_seconds": median, "spread": spread},
        "service": {"review_seconds": review, "request_timeout_seconds": FOREVER},
    }
    names = "current_tickets", "tickets_cancelled", "n_tickets"
    found = means(given, rule_file(folder, teams=one_team(2, 2)), n, *names)
    p = math.exp(-per_second * median)
    if spread > 0.0:

        def density(z: float) -> float:
            gone = math.exp(-per_second * median * math.exp(spread * z))
            return gone * math.exp(-z * z / 2.0) / math.sqrt(2.0 * math.pi)

        p = quad(density, -10.0, 10.0)[0]
    shares = found[:, 1] / found[:, 2]
    queue = (1 - p) / (2 - p) + per_second * review / 2
    return Figure(found[:, 0], queue), Figure(shares, p / (2 - p))


def parties(
    size: int, share: float, per_hour: float, n: int, folder: Path
) -> tuple[Figure, Figure]:
    """Return waits of single players, and of parties that are a match alone: two queues."""
    teams = one_team(size, size)
    given = {
        **lasting(1200, per_hour, 60 * 20 * size / (share * per_hour)),
        "parties": {"shares": [share, *[0] * (size - 2), 1 - share]},
        "service": {"request_timeout_seconds": FOREVER},
        "measure": ["sizes"],
    }
    names = "time_to_match.size_1", f"time_to_match.size_{size}"
    found = means(given, rule_file(folder, teams=teams), n, *names)
    singles = (size - 1) / (2 * share * per_hour / 3600) + 0.5
    return Figure(found[:, 0], singles), Figure(found[:, 1], 0.5)
