"""Waits that theory knows, conservation of tickets; rule sets in the config itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.support import ticket_theory as theory
from valmatch import load_config, replicate, simulate
from valmatch.config.identity import config_id, resolved, restore
from valmatch.config.loading import shipped_configs
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.rule_sets.files import read_rule_file
from valmatch.rule_sets.json_text import plain

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


SHORT: dict[str, Any] = {
    "teams": "2x5",
    "skill": {"attribute": "skill", "within": 300, "widen": [[10, 500], [25, 800]]},
    "latency": {"max": 100, "widen": [[20, 250]]},
    "same": ["mode"],
    "age": "oldest",
}

FACTORS: dict[str, Any] = {
    "hours": 0.5,
    "warmup_minutes": 5,
    "arrivals": {"per_hour": 480},
    "attributes": {"mode": {"ranked": 0.7, "casual": 0.3}},
}


def config_file(folder: Path, rules: object, **more: object) -> Path:
    """Write a config with a rule set."""
    content = {"model": "tickets", "rules": rules, "factors": FACTORS, **more}
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def waits(rules: object, folder: Path, *overrides: str) -> list[float]:
    """Return the waits of a run by a rule set."""
    found = simulate(load_config(config_file(folder, rules), overrides), seed=2)
    assert found.summary()["responses"]["tickets_matched"] > 20
    return [wait for wait in found["tickets"]["wait"].tolist() if wait == wait]


@pytest.mark.parametrize("form", ["short.yaml", "short.json", "flexmatch.json", "mapping"])
def test_a_rule_set_is_the_same_in_any_form(form: str, tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text(yaml.safe_dump(SHORT))
    (tmp_path / "short.json").write_text(json.dumps(SHORT))
    node = read_rule_file(tmp_path / "short.json").node
    assert node is not None
    flexmatch = plain(node)
    (tmp_path / "flexmatch.json").write_text(json.dumps(flexmatch))
    expected = waits(SHORT, tmp_path)
    assert waits(flexmatch if form == "mapping" else form, tmp_path) == expected
    # The names of values are those of what is expanded.
    steps = "expansions.skill.maxDistance[1].value=510"
    changed = waits(SHORT, tmp_path, steps)
    assert changed != expected
    assert waits(flexmatch if form == "mapping" else form, tmp_path, steps) == changed


def test_a_mapping_belongs_to_the_id_and_is_kept(tmp_path: Path) -> None:
    config = load_config(config_file(tmp_path, SHORT))
    wider = load_config(config_file(tmp_path, {**SHORT, "latency": {"max": 120}}))
    assert config_id(config) != config_id(wider)
    again = restore(resolved(config), "manifest.json")
    assert config_id(again) == config_id(config)
    assert again.factors == config.factors
    replicate(config, n=2, out=tmp_path / "run")
    replicate(config, n=4, workers=2, resume=True, out=tmp_path / "run")
    replicate(config, n=4, out=tmp_path / "whole")
    one, other = (tmp_path / name / "replications.csv" for name in ("run", "whole"))
    assert one.read_bytes() == other.read_bytes()
