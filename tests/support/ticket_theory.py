"""Poisson tickets, replayed by the kernel, whose mean figures theory knows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tests.support.ladder_theory import error_of, queue_and_abandoned
from valmatch.kernels.arrays import Floats
from valmatch.matching.tickets.columns import Document, Service
from valmatch.matching.tickets.columns import tickets_of as table_of_tickets
from valmatch.matching.tickets.playing import Outcome, play
from valmatch.rule_sets.flexmatch import read_rule_set
from valmatch.rule_sets.table import Table

FOREVER = 1e7
"""Seconds after which tickets would leave."""


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


class Size(NamedTuple):
    """How much is simulated: replications, tickets of each, and by what seed."""

    replications: int
    tickets: int
    seed: int = 1

    def drawn(self, *setting: float) -> list[np.random.Generator]:
        """Return a generator for each replication, of each setting others."""
        key = [self.seed, *(round(1e6 * value) for value in setting)]
        return [np.random.default_rng([*key, number]) for number in range(self.replications)]


def table_of(teams: Sequence[Any], **rule_set: Any) -> Table:  # noqa: ANN401
    """Return the table of a rule set."""
    document = {"ruleLanguageVersion": "1.0", "teams": list(teams), **rule_set}
    table = read_rule_set(json.dumps(document)).table
    assert table is not None
    return table


def one_team(least: int, most: int) -> list[dict[str, Any]]:
    return [{"name": "all", "minPlayers": least, "maxPlayers": most}]


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


def tickets_of(
    rng: np.random.Generator, rate: float, count: int, theta: float = 0.0
) -> list[Document]:
    """Return single players at the times of a Poisson process, cancelled at a rate theta."""
    times = np.cumsum(rng.exponential(1.0 / rate, count))
    cancels = times + rng.exponential(1.0 / theta, count) if theta else times
    return [
        {"id": f"t{k}", "time": time, "players": [{"id": f"p{k}"}]}
        | ({"cancel": cancel} if theta else {})
        for k, (time, cancel) in enumerate(zip(times, cancels, strict=True))
    ]


def played(table: Table, tickets: Sequence[Document], review: float | None, end: float) -> Outcome:
    """Play tickets until some seconds after the last one."""
    service = Service(FOREVER, tickets[-1]["time"] + end, review)
    columns = table_of_tickets(tickets, table, np.zeros(3, np.uint64))
    return play(table, columns, service, "pass")


def no_rules(players: int, rate: float, review: float, size: Size) -> Figure:
    """Return mean waits for matches of n without rules: (n - 1) / (2 lambda) + T / 2."""
    count, values = size.tickets - size.tickets % players, []
    for rng in size.drawn(players, rate, review):
        tickets = tickets_of(rng, rate, count)
        outcome = played(table_of(one_team(players, players)), tickets, review, 2 * review)
        waits = [
            outcome.times[k] - tickets[k]["time"]
            for k in outcome.ended
            if outcome.statuses[k] == "COMPLETED"
        ]
        values.append(float(np.mean(waits)))
    return Figure(values, (players - 1) / (2 * rate) + review / 2)


def patience(players: int, rate: float, theta: float, size: Size) -> tuple[Figure, Figure]:
    """Return how many wait on average, and the share that leaves, where tickets are cancelled."""
    table = table_of(one_team(players, players))
    queues, shares = [], []
    for rng in size.drawn(players, rate, theta):
        tickets = tickets_of(rng, rate, size.tickets, theta=theta)
        outcome = played(table, tickets, None, 0.0)
        seconds = [outcome.times[k] - tickets[k]["time"] for k in outcome.ended]
        queues.append(sum(seconds) / tickets[-1]["time"])
        shares.append(outcome.statuses.count("CANCELLED") / len(tickets))
    queue, left = queue_and_abandoned(players, rate, 60.0 / theta)
    return Figure(queues, queue), Figure(shares, left)
