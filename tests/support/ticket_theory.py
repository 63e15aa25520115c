"""Poisson tickets, replayed by the kernel, whose mean figures theory knows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tests.support.ladder_theory import error_of, queue_and_abandoned
from valmatch.kernels.arrays import Floats
from valmatch.matching.tickets.playing import Outcome, play
from valmatch.rule_sets.flexmatch import read_rule_set
from valmatch.rule_sets.table import Table
from valmatch.rule_sets.worlds import Player, Service, Ticket

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
    rng: np.random.Generator,
    rate: float,  # tickets a second
    count: int,
    # Of the players of a ticket, by its number.
    attributes: Callable[[int], dict[str, object]] = lambda number: {},
    sizes: Sequence[int] = (1,),  # players of tickets, each as likely as the others
    theta: float = 0.0,  # rate at which a ticket that waits is cancelled
) -> list[Ticket]:
    """Return tickets at the times of a Poisson process."""
    times = np.cumsum(rng.exponential(1.0 / rate, count))
    chosen = rng.choice(sizes, count)
    cancels = times + rng.exponential(1.0 / theta, count) if theta else np.full(count, np.inf)
    found = []
    for number in range(count):
        players = tuple(
            Player(f"p{number}.{k}", attributes(number), {}) for k in range(int(chosen[number]))
        )
        cancel = float(cancels[number]) if theta else None
        found.append(Ticket(f"t{number}", float(times[number]), players, cancel))
    return found


def played(table: Table, tickets: Sequence[Ticket], review: float | None, end: float) -> Outcome:
    """Play tickets until some seconds after the last one."""
    service = Service(FOREVER, tickets[-1].time + end, review)
    return play(table, tickets, service, "pass")


def waits(outcome: Outcome, tickets: Sequence[Ticket]) -> list[float]:
    """Return how long those waited who were matched."""
    return [
        outcome.times[k] - tickets[k].time
        for k in outcome.ended
        if outcome.statuses[k] == "COMPLETED"
    ]


def mean_waits(
    table: Table,
    drawn: Sequence[np.random.Generator],
    review: float | None,
    end: float,
    draw: Callable[[np.random.Generator], list[Ticket]],
    chosen: Callable[[Ticket], bool] = lambda ticket: True,
) -> list[float]:
    """Return the mean wait of each replication, of the tickets that are chosen."""
    means = []
    for rng in drawn:
        tickets = draw(rng)
        outcome = played(table, tickets, review, end)
        own = [
            outcome.times[k] - tickets[k].time
            for k in outcome.ended
            if outcome.statuses[k] == "COMPLETED" and chosen(tickets[k])
        ]
        means.append(float(np.mean(own)))
    return means


def no_rules(players: int, rate: float, review: float, size: Size) -> Figure:
    """Return mean waits for matches of n without rules: (n - 1) / (2 lambda) + T / 2."""
    count = size.tickets - size.tickets % players
    values = mean_waits(
        table_of(one_team(players, players)),
        size.drawn(players, rate, review),
        review,
        2 * review,
        lambda rng: tickets_of(rng, rate, count),
    )
    return Figure(values, (players - 1) / (2 * rate) + review / 2)


def classes(number: int, players: int, rate: float, review: float, size: Size) -> Figure:
    """Return mean waits for matches within K classes: K (n - 1) / (2 lambda) + T / 2."""
    table = table_of(**same_modes(players))

    def draw(rng: np.random.Generator) -> list[Ticket]:
        modes = rng.integers(number, size=size.tickets)
        return tickets_of(rng, rate, size.tickets, lambda k: {"mode": f"m{modes[k]}"})

    drawn = size.drawn(number, players, rate, review)
    values = mean_waits(table, drawn, review, 2 * review, draw)
    return Figure(values, number * (players - 1) / (2 * rate) + review / 2)


def longest_wait(players: int, rate: float, step: float, review: float, size: Size) -> float:
    """Return the longest wait where one player is enough from a step on: at most w + T."""
    expansion = {
        "target": "teams[all].minPlayers",
        "steps": [{"waitTimeSeconds": step, "value": 1}],
    }
    table = table_of(one_team(players, players), expansions=[expansion])
    longest = 0.0
    for rng in size.drawn(players, rate, step, review):
        tickets = tickets_of(rng, rate, size.tickets)
        outcome = played(table, tickets, review, step + 2 * review)
        own = waits(outcome, tickets)
        assert len(own) == len(tickets)
        longest = max(longest, *own)
    return longest


def patience(players: int, rate: float, theta: float, size: Size) -> tuple[Figure, Figure]:
    """Return how many wait on average, and the share that leaves, where tickets are cancelled."""
    table = table_of(one_team(players, players))
    queues, shares = [], []
    for rng in size.drawn(players, rate, theta):
        tickets = tickets_of(rng, rate, size.tickets, theta=theta)
        outcome = played(table, tickets, None, 0.0)
        seconds = [outcome.times[k] - tickets[k].time for k in outcome.ended]
        queues.append(sum(seconds) / tickets[-1].time)
        shares.append(outcome.statuses.count("CANCELLED") / len(tickets))
    queue, left = queue_and_abandoned(players, rate, 60.0 / theta)
    return Figure(queues, queue), Figure(shares, left)


def parties(players: int, rate: float, review: float, size: Size) -> tuple[Figure, Figure]:
    """Return mean waits in two queues: of single players, and of parties that are a match alone."""
    table = table_of(one_team(players, players))

    def draw(rng: np.random.Generator) -> list[Ticket]:
        return tickets_of(rng, rate, size.tickets, sizes=(1, players))

    def means(of: int) -> list[float]:
        drawn = size.drawn(players, rate, review)
        return mean_waits(
            table, drawn, review, 2 * review, draw, lambda ticket: len(ticket.players) == of
        )

    return (Figure(means(1), (players - 1) / rate + review / 2), Figure(means(players), review / 2))


def ages(age: str, rate: float, step: float, size: Size) -> Figure:
    """Return waits one against one, where nobody fits before w seconds, then everybody."""
    table = table_of(**far_duels(age, step))
    count = size.tickets - size.tickets % 2
    values = mean_waits(
        table,
        size.drawn(age == "newest", rate, step),
        None,
        2 * step,
        lambda rng: tickets_of(rng, rate, count, lambda k: {"skill": float(k)}),
    )
    newest = step + 1 / (2 * rate)
    oldest = step - 1 / (2 * rate) + math.exp(-rate * step) / rate
    return Figure(values, newest if age == "newest" else oldest)
