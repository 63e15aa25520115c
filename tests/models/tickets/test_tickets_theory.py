"""Waits that theory knows, conservation of tickets, and what common random numbers are worth."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valmatch import load, simulate
from valmatch.config.loading import shipped_configs
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.models.tickets.model import TicketsModel

SOLO: dict[str, Any] = {"parties": {"shares": [1]}, "warmup_minutes": 10}


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


def off(values: Floats, expected: float) -> float:
    """Return by how many standard errors a mean is off."""
    return float(abs(values.mean() - expected) / (values.std(ddof=1) / math.sqrt(values.size)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "per_hour", "review"),
    [(2, 600, 1), (4, 600, 1), (10, 600, 5), (10, 1800, 1), (6, 3600, 10), (3, 120, 60)],
)
def test_without_rules(size: int, per_hour: float, review: float, tmp_path: Path) -> None:
    teams = [{"name": "a", "minPlayers": size, "maxPlayers": size}]
    given = {
        **SOLO,
        "hours": 10.0 * size * 60 / per_hour + 0.5,
        "arrivals": {"per_hour": per_hour},
        "service": {"review_seconds": review, "request_timeout_seconds": 43_200},
    }
    waits = means(given, rule_file(tmp_path, teams=teams), 40, "time_to_match")[:, 0]
    assert off(waits, (size - 1) / (2 * per_hour / 3600) + review / 2) < 3.5


def equal_modes(folder: Path) -> Path:
    """Write a rule set of two players of the same mode each."""
    return rule_file(
        folder,
        playerAttributes=[{"name": "mode", "type": "string"}],
        teams=[{"name": "a", "minPlayers": 3, "maxPlayers": 3}],
        rules=[
            {
                "name": "same",
                "type": "comparison",
                "measurements": ["flatten(teams[*].players.attributes[mode])"],
                "operation": "=",
            }
        ],
    )


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 5])
def test_classes_of_equality(classes: int, tmp_path: Path) -> None:
    given = {
        **SOLO,
        "hours": 1.5,
        "arrivals": {"per_hour": 900},
        "attributes": {"mode": {f"m{k}": 1 / classes for k in range(classes)}},
        "service": {"request_timeout_seconds": 43_200},
    }
    waits = means(given, equal_modes(tmp_path), 30, "time_to_match")[:, 0]
    assert off(waits, classes * 2 / (2 * 0.25) + 0.5) < 3.5


def duel(folder: Path, age: str, wait: float) -> Path:
    """Write a rule set in which nobody may meet before a step, and everybody after it."""
    return rule_file(
        folder,
        playerAttributes=[{"name": "skill", "type": "number"}],
        algorithm={"expansionAgeSelection": age},
        teams=[{"name": name, "minPlayers": 1, "maxPlayers": 1} for name in ("a", "b")],
        rules=[
            {
                "name": "same",
                "type": "distance",
                "measurements": ["flatten(teams[*].players.attributes[skill])"],
                "referenceValue": "avg(flatten(teams[*].players.attributes[skill]))",
                "maxDistance": 0,
            }
        ],
        expansions=[
            {
                "target": "rules[same].maxDistance",
                "steps": [{"waitTimeSeconds": wait, "value": 1e9}],
            }
        ],
    )


@pytest.mark.slow
@pytest.mark.parametrize(("age", "wait"), [("newest", 20), ("oldest", 20), ("oldest", 5)])
def test_newest_and_oldest(age: str, wait: float, tmp_path: Path) -> None:
    rate = 0.1
    given = {
        **SOLO,
        "hours": 2.0,
        "arrivals": {"per_hour": 3600 * rate},
        "service": {"review_seconds": 0.5, "request_timeout_seconds": 43_200},
    }
    waits = means(given, duel(tmp_path, age, wait), 30, "time_to_match")[:, 0]
    exact = {
        "newest": wait + 0.5 / rate,
        "oldest": wait - 0.5 / rate + math.exp(-rate * wait) / rate,
    }[age]
    assert off(waits, exact + 0.25) < 3.5


def test_nobody_waits_beyond_the_step_at_which_one_is_enough(tmp_path: Path) -> None:
    rules = rule_file(
        tmp_path,
        teams=[{"name": "a", "minPlayers": 8, "maxPlayers": 8}],
        expansions=[
            {"target": "teams[a].minPlayers", "steps": [{"waitTimeSeconds": 30, "value": 1}]}
        ],
    )
    given = {**SOLO, "hours": 0.5, "arrivals": {"per_hour": 300}}
    model = TicketsModel(TicketsFactors.model_validate(given), {"rules": rules})
    record = model.record(model.draw(Streams(1), 0))
    waits = record.tables[0].columns["wait"]
    ended = record.tables[0].columns["status"] == "COMPLETED"
    assert waits[ended].max() <= 31.0
    assert (record.tables[0].columns["status"] == "TIMED_OUT").sum() == 0


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
        # L = lambda W, with L counted moment by moment.
        moments = np.arange(0.0, 3600.0, 0.25)
        came = np.searchsorted(table["time"], moments, side="right")
        gone = np.searchsorted(np.sort(table["ended"]), moments, side="right")
        assert found["current_tickets"] == pytest.approx((came - gone).mean(), rel=0.01)
        rate_of_waits = table["wait"].sum() / 3600.0
        assert found["current_tickets"] == pytest.approx(rate_of_waits, rel=1e-9)


SHIPPED = [name for name in shipped_configs() if name.startswith("tickets")]


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_configs_conserve_tickets_and_obey_littles_law(name: str) -> None:
    config = load(name)
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
    assert of_matches == table["players"][table["status"] == "COMPLETED"].sum()
    # L = lambda W: L counted moment by moment, and W that of tickets, but for what lies over edges.
    moments = np.arange(start, end, 0.5)
    here = np.searchsorted(table["time"], moments, side="right")
    gone = np.searchsorted(np.sort(table["ended"]), moments, side="right")
    assert values["current_tickets"] == pytest.approx((here - gone).mean(), rel=0.01)
    seconds, of_tickets = values["current_tickets"] * (end - start), table["wait"][came].sum()
    over_edges = factors.service.request_timeout_seconds * ((here - gone)[[0, -1]].sum() + 1)
    assert abs(seconds - of_tickets) <= over_edges < 0.1 * of_tickets
    # And of all groups that tickets fall into, one each.
    groups = found["groups"]
    for by in ("size", "region", "hour", "skill"):
        own = groups["by"] == by
        for column in ("n_tickets", *(f"tickets_{end}" for end in ends)):
            assert groups[column][own].sum() == values[column], (by, column)
        assert groups["current_tickets"][own].sum() == pytest.approx(values["current_tickets"])


@pytest.mark.slow
def test_rules_are_compared_on_the_same_tickets(tmp_path: Path) -> None:
    given = {**SOLO, "hours": 1.0, "arrivals": {"per_hour": 300}, "warmup_minutes": 5}
    sooner = means(given, duel(tmp_path, "newest", 20), 30, "time_to_match", "n_tickets")
    later = means(given, duel(tmp_path, "newest", 25), 30, "time_to_match", "n_tickets")
    assert (sooner[:, 1] == later[:, 1]).all()
    common = (sooner - later)[:, 0].var(ddof=1)
    independent = sooner[:, 0].var(ddof=1) + later[:, 0].var(ddof=1)
    assert common < 0.2 * independent
