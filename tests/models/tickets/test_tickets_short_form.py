"""Rule sets in the config itself: the short form as a mapping, and files of other forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from valmatch import load_config, optimize, replicate, simulate
from valmatch.config.identity import config_id, resolved, restore
from valmatch.errors import InputError
from valmatch.rule_sets.files import read_rule_file
from valmatch.rule_sets.json_text import plain

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


def test_what_is_wrong_is_said_at_its_place(tmp_path: Path) -> None:
    wrong = {**SHORT, "skill": {"attribute": "skill", "withn": 3, "widen": [[10]]}}
    path = config_file(tmp_path, wrong)
    lines = path.read_text().splitlines()
    skill = lines.index("  skill:") + 1
    with pytest.raises(InputError) as info:
        load_config(path)
    assert str(info.value).splitlines() == [
        f"{path}:{skill}:3: rules.skill: no within (a number is needed)",
        f"{path}:{skill}:3: rules.skill: unknown key 'withn' (did you mean within?)",
    ]


@pytest.mark.slow
def test_values_of_a_mapping_are_optimised(tmp_path: Path) -> None:
    # The value of the config, 800, is out of bounds: whatever is recommended differs from it.
    bounds = {"low": 501, "high": 700, "start": 550}
    problem = {
        "variables": {"expansions.skill.maxDistance[1].value": bounds},
        "objective": {"wait": {"response": "time_to_match"}},
    }
    config = load_config(config_file(tmp_path, SHORT, optimize=problem))
    optimize(config, budget=100, seed=3, out=tmp_path / "out")
    assert read_rule_file(tmp_path / "out" / "tuned_rules.json", timeout=120).problems == []
    again = load_config(tmp_path / "out" / "recommended.yaml")
    assert again.factors.model_dump()["rule_set"] == SHORT


@pytest.mark.long
@pytest.mark.slow
def test_the_shipped_problem_has_a_feasible_recommendation(tmp_path: Path) -> None:
    optimize(load_config("tickets-tune"), budget=150, workers=2, out=tmp_path / "out")
    assert read_rule_file(tmp_path / "out" / "tuned_rules.json", timeout=120).problems == []
    found = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert found["feasible"] is True
