"""Speed of the matchmaker of tickets: two teams of five, parties, modes, a window, regions.

A pass a second; a ticket waits 120 s at most. Verdicts are counted where that is said. Times are of
the processor.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from valmatch.matching.tickets.arrays import arrays_of, queue_of
from valmatch.matching.tickets.columns import Document, Service, tickets_of
from valmatch.matching.tickets.layout import Queue, World
from valmatch.matching.tickets.playing import play_kernel
from valmatch.rule_sets.flexmatch import read_rule_set
from valmatch.rule_sets.table import Table

pytestmark = pytest.mark.benchmark(timer=time.process_time)

REGIONS = 8
SKILLS = "teams[*].players.attributes[skill]"
ALL = f"flatten({SKILLS})"


def rules(further: int) -> list[dict[str, Any]]:
    """Return the four rules of the setting, and further ones that hold of nearly all matches."""
    red, blue = (f"avg(teams[{name}].players.attributes[skill])" for name in ("red", "blue"))
    modes = ["flatten(teams[*].players.attributes[mode])"]
    found: list[dict[str, Any]] = [
        {"type": "comparison", "operation": "=", "measurements": modes},
        distance(f"max({ALL})", f"min({ALL})", 100),
        {"type": "latency", "maxLatency": 60},
        distance(red, blue, 60),
    ]
    for k in range(further):
        most = {"type": "comparison", "measurements": [f"max({ALL})"], "operation": "<="}
        kinds = (
            distance(ALL, f"avg({ALL})", 500 + k),
            {**most, "referenceValue": 5000 + k},
            distance(f"avg({SKILLS})", f"avg({ALL})", 300 + k),
        )
        found.append(kinds[k % 3])
    return [{"name": f"R{k}", **rule} for k, rule in enumerate(found)]


def distance(measured: str, reference: str, most: float) -> dict[str, Any]:
    """Return a rule of a distance."""
    values = {"measurements": [measured], "referenceValue": reference, "maxDistance": most}
    return {"type": "distance", **values}


def table(further: int) -> Table:
    """Return what the matchmaker goes by."""

    def widened(number: int, key: str, *steps: tuple[float, float]) -> dict[str, Any]:
        entries = [{"waitTimeSeconds": wait, "value": value} for wait, value in steps]
        return {"target": f"rules[R{number}].{key}", "steps": entries}

    document = {
        "ruleLanguageVersion": "1.0",
        "playerAttributes": [
            {"name": "skill", "type": "number"},
            {"name": "mode", "type": "string"},
        ],
        "teams": [{"name": name, "minPlayers": 5, "maxPlayers": 5} for name in ("red", "blue")],
        "rules": rules(further),
        "expansions": [
            widened(1, "maxDistance", (15, 200), (30, 400)),
            widened(2, "maxLatency", (10, 100), (20, 150)),
        ],
    }
    found = read_rule_set(json.dumps(document)).table
    assert found is not None
    return found


def stream(count: int, per_second: float | None) -> list[Document]:
    """Return tickets that join at a rate, or all at once."""
    rng = np.random.default_rng(1)
    gaps = rng.exponential(1.0 if per_second is None else 1.0 / per_second, count)
    times = np.zeros(count) if per_second is None else np.cumsum(gaps)
    sizes, homes = (
        rng.choice([1, 2, 3, 5], count, p=[0.62, 0.24, 0.08, 0.06]),
        rng.integers(0, REGIONS, count),
    )
    places = rng.uniform(0, 1, (REGIONS, 2))
    apart = 20 + 150 * np.sqrt(((places[:, None] - places) ** 2).sum(axis=2))
    tickets = []
    for k in range(count):
        pings = apart[homes[k]] * rng.lognormal(0, 0.25, REGIONS)
        latency = {f"r{number}": max(1.0, float(int(ping))) for number, ping in enumerate(pings)}
        mode, party = "abcd"[rng.integers(4)], rng.normal(1500, 300)
        players = [
            {
                "id": f"p{k}.{i}",
                "attributes": {"skill": int(skill), "mode": mode},
                "latency": latency,
            }
            for i, skill in enumerate(rng.normal(party, 75, sizes[k]))
        ]
        tickets.append({"id": f"t{k}", "time": float(times[k]), "players": players})
    return tickets


def world(tickets: list[Document], further: int = 0, counted: bool = False) -> World:
    """Return the world of a setting; of tickets that join all at once a single pass."""
    last = tickets[-1]["time"]
    service = Service(timeout=120, horizon=last, review=1, passes=None if last else 1)
    rules = table(further)
    columns = tickets_of(tickets, rules, np.zeros(3, np.uint64))
    return arrays_of(rules, columns, service, "pass", counted)


SETTINGS = {
    "150 waiting": (10_000, 2.0, 0, False),
    "1,000 waiting": (20_000, 100.0, 0, False),
    "50 rules": (10_000, 2.0, 46, False),
    "150 waiting, counted": (5_000, 2.0, 0, True),
    "1,000 waiting, counted": (10_000, 100.0, 0, True),
    "50 rules, counted": (5_000, 2.0, 46, True),
}
"""Tickets, tickets a second, further rules, and whether verdicts are counted."""


def measure(benchmark: BenchmarkFixture, given: World) -> Queue:
    """Time a world; return what has come of it."""
    play_kernel(np.inf, given, queue_of(given))  # compile outside the measurement
    queues: list[Queue] = []

    def prepare() -> tuple[tuple[float, World, Queue], dict[str, Any]]:
        queues.append(queue_of(given))
        return (np.inf, given, queues[-1]), {}

    benchmark.pedantic(play_kernel, setup=prepare, rounds=5)  # type: ignore[no-untyped-call]
    assert benchmark.stats is not None
    seconds = float(benchmark.stats["min"])
    benchmark.extra_info["tickets_per_second"] = given.rows.tickets.size / seconds
    benchmark.extra_info["seconds"] = seconds
    return queues[-1]


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_stream_of_tickets(benchmark: BenchmarkFixture, setting: str) -> None:
    count, per_second, further, counted = SETTINGS[setting]
    queue = measure(benchmark, world(stream(count, per_second), further, counted))
    assert queue.state[0]["completed"] > count // 20


RULES = 150
"""As many rules as make 60 kB, which is nearly all that the service takes."""


def test_a_check_of_60_kilobytes(benchmark: BenchmarkFixture) -> None:
    """Time how long a rule set with many rules, each with an expansion, is read and checked."""
    rule = distance(f"avg({SKILLS})", f"avg({ALL})", 0)
    near = [{**rule, "name": f"Near{k}", "maxDistance": k} for k in range(RULES)]
    steps = [{"waitTimeSeconds": 5, "value": 500}, {"waitTimeSeconds": 15, "value": 900}]
    document = {
        "ruleLanguageVersion": "1.0",
        "playerAttributes": [{"name": "skill", "type": "number", "default": 10}],
        "teams": [{"name": name, "minPlayers": 2, "maxPlayers": 4} for name in ("red", "blue")],
        "rules": near,
        "expansions": [
            {"target": f"rules[{rule['name']}].maxDistance", "steps": steps} for rule in near
        ],
    }
    text = json.dumps(document, indent=1)
    assert 55_000 < len(text) < 65_535
    assert benchmark(read_rule_set, text).problems == []


def test_one_pass_over_10_000_who_wait(benchmark: BenchmarkFixture) -> None:
    queue = measure(benchmark, world(stream(10_000, None)))
    assert queue.state[0]["completed"] > 500
