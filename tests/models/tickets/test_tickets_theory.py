"""Waits that theory knows, conservation of tickets, and what common random numbers are worth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import ticket_theory as theory
from valmatch import load_config, simulate
from valmatch.config.loading import shipped_configs
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build, run
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.models.tickets.model import TicketsModel

FEW = 30
"""Replications; tests/verification has more, and more settings."""


SETTINGS: list[tuple[Any, tuple[Any, ...]]] = [
    (theory.no_rules, (4, 600, 1)),
    (theory.classes, (3, 2, 1800)),
    (theory.ages, ("newest", 0.1, 20)),
    (theory.ages, ("oldest", 0.1, 20)),
    (theory.patience, (0.1, 10, 0.8)),
    (theory.parties, (4, 0.6, 1200)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("law", "setting"), SETTINGS)
def test_means_are_those_of_theory(law: Any, setting: tuple[Any, ...], tmp_path: Path) -> None:  # noqa: ANN401
    found = law(*setting, FEW, tmp_path)
    for figure in [found] if isinstance(found, theory.Figure) else found:
        assert abs(figure.away) < 3


def check_littles_law(table: Any, current: float, start: float, end: float) -> None:  # noqa: ANN401
    """Check L = lambda W of a window, exactly, with who waited at its start and at its end."""
    times, ended = table["time"], table["ended"]
    assert (ended <= end).all()
    changes = np.unique(np.concatenate([times, ended, [start, end]]).clip(start, end))
    waiting = np.searchsorted(np.sort(times), changes, side="right")
    waiting -= np.searchsorted(np.sort(ended), changes, side="right")
    integral = (waiting[:-1] * np.diff(changes)).sum()
    assert current * (end - start) == pytest.approx(integral, rel=1e-9)
    came, there = times >= start, (times < start) & (ended > start)
    before_them = (ended[there] - start).sum()
    assert integral == pytest.approx(table["wait"][came].sum() + before_them, rel=1e-9)
    # Who waits at the end: who waited at the start, and came, and has not gone.
    gone = (ended > start) & (table["status"] != "SEARCHING")
    assert (table["status"] == "SEARCHING").sum() == there.sum() + came.sum() - gone.sum()


def test_tickets_are_conserved_and_obey_littles_law(tmp_path: Path) -> None:
    given = {
        "hours": 1.0,
        "warmup_minutes": 0,
        "arrivals": {"per_hour": 300},
        "patience": {"median_seconds": 90},
        "service": {"acceptance_seconds": 10},
    }
    model = TicketsModel(TicketsFactors.model_validate(given))
    for seed in range(3):
        record = model.record(model.draw(Streams(seed), 0))
        found, table = dict(record.responses), record.tables[0].columns
        ends = ("matched", "timed_out", "cancelled", "searching")
        assert sum(found[f"tickets_{end}"] for end in ends) == found["n_tickets"]
        assert found["tickets_cancelled"] > 0
        assert found["tickets_matched"] > 0
        check_littles_law(table, found["current_tickets"], 0.0, 3600.0)


SHIPPED = [
    pytest.param(name, marks=[] if name == "tickets-low" else pytest.mark.slow)
    for name in shipped_configs()
    if name.startswith("tickets")
]


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_configs_conserve_tickets_and_obey_littles_law(name: str) -> None:
    config = load_config(name)
    factors = config.factors
    assert isinstance(factors, TicketsFactors)
    start, end = 60.0 * factors.warmup_minutes, 3600.0 * factors.hours
    found = simulate(config, seed=5)
    values, table = found.summary()["responses"], found["tickets"]
    came = table["time"] >= start
    ends = ("matched", "timed_out", "cancelled", "searching")
    assert sum(values[f"tickets_{end}"] for end in ends) == values["n_tickets"] == came.sum() > 0
    assert values["tickets_matched"] > 0
    assert np.isin(table["ended"][table["status"] == "SEARCHING"], end).all()
    # Who is matched is in one match, and matches have nobody else.
    of_matches = found["matches"]["players"].sum()
    if factors.match.backfill != "none":
        texts = ";".join(text for text in found["backfills"]["joined"].tolist() if text)
        of_matches += table["players"][[int(one) for one in texts.split(";")]].sum()
    assert of_matches == table["players"][table["status"] == "COMPLETED"].sum()
    check_littles_law(table, values["current_tickets"], start, end)
    # And of all groups that tickets fall into, one each.
    groups = found["groups"]
    for by in ("size", "region", "hour", "skill"):
        own = groups["by"] == by
        for column in ("n_tickets", *(f"tickets_{end}" for end in ends)):
            assert groups[column][own].sum() == values[column], (by, column)
        assert groups["current_tickets"][own].sum() == pytest.approx(values["current_tickets"])


@pytest.mark.slow
def test_rules_of_a_shipped_config_are_compared_on_the_same_tickets() -> None:
    less = {"hours": 2, "warmup_minutes": 20}
    sooner = {**less, "expansions.FastConnection.maxLatency[0].wait": 15}
    first, second = (
        run(build(load_config("tickets", factors)), 5, range(16)) for factors in (less, sooner)
    )
    names = build(load_config("tickets", less)).responses.names
    came = names.index("n_tickets")
    assert (first.responses[:, came] == second.responses[:, came]).all()
    for name in ("time_to_match", "latency"):
        one, other = (each.responses[:, names.index(name)] for each in (first, second))
        common = (one - other).var(ddof=1)
        assert common < 0.5 * (one.var(ddof=1) + other.var(ddof=1)), name
