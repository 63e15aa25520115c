"""The model `tickets`: responses, groups, rule values as factors, what is refused."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.case_tables import cases
from valmatch import load_config, simulate
from valmatch.config.factor_paths import flat
from valmatch.config.identity import config_id
from valmatch.config.loading import shipped_configs
from valmatch.errors import InputError, RunError
from valmatch.execution.chunks import build
from valmatch.optimization.problem import problem_of
from valmatch.rule_sets.files import read_rule_file


def arena() -> dict[str, Any]:
    """Return the shipped config, with few tickets."""
    return {
        "model": "tickets",
        "rules": str(shipped_configs()["tickets"].with_suffix(".json")),
        "factors": {
            "hours": 0.5,
            "warmup_minutes": 5,
            "arrivals": {"per_hour": 240},
            "attributes": {"mode": {"ranked": 0.7, "casual": 0.3}},
        },
    }


@pytest.mark.parametrize("name", [one for one in shipped_configs() if one.startswith("tickets")])
def test_shipped_configs(name: str) -> None:
    config = load_config(name)
    assert config.warnings == ()
    if "rules" in config.files:
        timeout = config.factors.model_dump()["service"]["request_timeout_seconds"]
        reading = read_rule_file(config.files["rules"].path, timeout=timeout)
        assert reading.problems == []
    assert build(config).warnings == ()


def test_tables_say_what_responses_say() -> None:
    found = simulate(
        load_config(arena(), {"measure": ["sizes", "steps", "hours"], "arrivals.per_hour": 480})
    )
    values = found.summary()["responses"]
    tickets, matches = found["tickets"], found["matches"]
    came, made = tickets["time"] >= 300.0, matches["time"] >= 300.0
    matched = came & (tickets["status"] == "COMPLETED")
    assert values["tickets_matched"] == matched.sum() > 20
    assert values["time_to_match"] == pytest.approx(tickets["wait"][matched].mean())
    assert values["n_matches"] == made.sum()
    assert values["true_team_diff"] == pytest.approx(matches["true_team_diff"][made].mean())
    assert values["players_per_match"] == matches["players"][made].mean() == 10.0
    for size in (1, 2):
        own = matched & (tickets["players"] == size)
        mean = tickets["wait"][own].mean()
        assert values[f"time_to_match.size_{size}"] == pytest.approx(mean)
    shares = [values[f"step_used.{step}"] for step in range(5)]
    assert sum(shares) == pytest.approx(1.0)
    assert sum(k * share for k, share in enumerate(shares)) == pytest.approx(values["step_used"])
    # Every match of two teams has a winner, whose chance is the other's risk.
    first = [tickets["win_prob"][(tickets["match"] == k) & (tickets["team"] == 0)] for k in (0, 1)]
    second = [tickets["win_prob"][(tickets["match"] == k) & (tickets["team"] == 1)] for k in (0, 1)]
    for mine, other in zip(first, second, strict=True):
        assert np.allclose(mine[0] + other, 1.0)
        assert np.allclose(mine, mine[0])


def test_values_of_the_rule_set_are_factors(tmp_path: Path) -> None:
    plain = load_config(arena())
    assert plain.factors.model_dump()["rules"]["FairTeamSkill"]["maxDistance"] == 60
    steps = plain.factors.model_dump()["expansions"]["FairTeamSkill"]["maxDistance"]
    assert steps == [{"wait": 10, "value": 100}, {"wait": 25, "value": 200}]
    changed = load_config(
        arena(),
        ["rules.FairTeamSkill.maxDistance=80", "expansions.FairTeamSkill.maxDistance[1].wait=30"],
    )
    factors = changed.factors
    [(name, text)] = factors.rewritten({"rules": changed.files["rules"].path}).items()
    assert name == "tuned_rules.json"
    original = changed.files["rules"].path.read_text(encoding="utf-8")
    pairs = zip(original.splitlines(), text.splitlines(), strict=True)
    differing = [(old.strip(), new.strip()) for old, new in pairs if old != new]
    assert differing == [
        ('"maxDistance": 60', '"maxDistance": 80'),
        ('{ "waitTimeSeconds": 25, "value": 200 }', '{ "waitTimeSeconds": 30, "value": 200 }'),
    ]
    # Values that are those of the file are the file's.
    same = load_config(arena(), ["rules.FairTeamSkill.maxDistance=60"])
    assert config_id(same) == config_id(plain) != config_id(changed)
    whole = load_config(arena(), ["rules.FairTeamSkill.maxDistance=80.0"])
    assert whole.factors.model_dump()["rules"]["FairTeamSkill"]["maxDistance"] == 80


REFUSED = """
rules.FairTeamSkil.maxDistance=80 | rules.FairTeamSkil: is not in the rule set (did you mean
  FairTeamSkill?)
expansions.FairTeamSkill.maxDistance[1].wait=5 | factors.expansions.FairTeamSkill.maxDistance: steps
  have to increase: 5 s comes after 10 s
"""


def refused(given: Any, *overrides: str) -> str:  # noqa: ANN401 - a config, or its file
    """Return the line that is said of a config or of its problem."""

    def used() -> None:
        config = load_config(given, overrides)
        problem_of(config, build(config))

    with pytest.raises(InputError) as info:
        used()
    (line,) = str(info.value).splitlines()
    return line


@pytest.mark.parametrize(("override", "message"), cases(REFUSED))
def test_what_is_refused(override: str, message: str) -> None:
    assert message in refused(arena(), override)


def test_a_table_of_latencies_replaces_the_built_in_one(tmp_path: Path) -> None:
    path = tmp_path / "latency.csv"
    path.write_text("home,paris,oslo\neu,30,500\nus,40,500\nap,50,500\n")
    found = simulate(load_config({**arena(), "latency": str(path)}, {"regions.spread": 0}))
    assert set(found["matches"]["region"]) == {"paris"}
    assert set(found["tickets"]["latency"][~np.isnan(found["tickets"]["latency"])]) <= {30, 40, 50}


@pytest.mark.parametrize("teams", [1, 3])
def test_any_number_of_teams(teams: int, tmp_path: Path) -> None:
    content = {"name": "a", "minPlayers": 1, "maxPlayers": 2, "quantity": teams}
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({"ruleLanguageVersion": "1.0", "teams": [content]}))
    factors = {"hours": 0.2, "warmup_minutes": 0, "parties": {"shares": [0.5, 0.5]}}
    found = simulate(load_config({"model": "tickets", "rules": str(path), "factors": factors}))
    values = found.summary()["responses"]
    assert values["matched_fraction"] > 0.9
    # Of one team there is no difference, which is undefined and not 0.
    assert np.isnan(values["win_gap"]) == (teams == 1)
    assert np.isnan(found["tickets"]["win_prob"]).all()


def test_nobody_comes() -> None:
    found = simulate(load_config(arena(), {"arrivals.per_hour": 1e-6}))
    values = found.summary()["responses"]
    assert (values["n_tickets"], values["n_matches"], values["current_tickets"]) == (0, 0, 0.0)
    assert np.isnan(values["time_to_match"])


VARIABLES = {
    "rules.FairTeamSkill.maxDistance": {"low": 20, "high": 200},
    "expansions.FairTeamSkill.maxDistance[1].wait": {"low": 11, "high": 60},
}


def posed(variables: dict[str, Any]) -> dict[str, Any]:
    """Return a config with a problem of these variables."""
    objective = {"gap": {"response": "win_gap"}}
    return {**arena(), "optimize": {"variables": variables, "objective": objective}}


def test_values_of_the_rule_set_are_variables() -> None:
    config = load_config(posed(VARIABLES))
    first, second = problem_of(config, build(config)).variables
    assert (first.start, second.start) == (60, 25)
    assert first.integer
    assert second.integer
    assert second.name == "expansions.FairTeamSkill.maxDistance.1.wait"


def test_bounds_keep_steps_increasing() -> None:
    first, second = (f"expansions.FairTeamSkill.maxDistance[{k}].wait" for k in (0, 1))
    early = refused(posed({second: {"low": 5, "high": 60}}))
    assert "steps have to increase: 5 s comes after 10 s" in early
    both = {first: {"low": 1, "high": 20}, second: {"low": 15, "high": 60}}
    wait = "expansions.FairTeamSkill.maxDistance.1.wait=15"
    assert f"{wait}: steps have to increase: 15 s comes after 20 s" in refused(posed(both))


@pytest.mark.slow
@pytest.mark.long
def test_an_exhaustive_search_ends_where_tickets_can_play_in_too_many_ways(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": f"t{k}", "time": 1, "players": [{"id": f"p{k}"}]}) for k in range(16)
    ]
    log = tmp_path / "tickets.jsonl"
    log.write_text("\n".join(lines), encoding="utf-8")
    rules = {
        "ruleLanguageVersion": "1.0",
        "teams": [{"name": "a", "minPlayers": 1, "maxPlayers": 1, "quantity": 16}],
    }
    (tmp_path / "rules.json").write_text(json.dumps(rules), encoding="utf-8")
    factors = {"hours": 1, "warmup_minutes": 0, "service": {"search": "exhaustive"}}
    config = {"model": "tickets", "arrivals": str(log), "factors": factors}
    given = load_config(config | {"rules": str(tmp_path / "rules.json")})
    with pytest.raises(RunError, match="100,000,000 candidates for an anchor, and 16 tickets can"):
        simulate(given)


def test_players_an_hour_are_tickets_by_their_parties(tmp_path: Path) -> None:
    shares = {"parties.shares": [0.5, 0.25, 0.25]}  # 1.75 players a ticket
    tickets = simulate(load_config(arena(), {**shares, "arrivals.per_hour": 480}))
    players = simulate(load_config(arena(), {**shares, "population.players_per_hour": 840}))
    assert tickets["tickets"]["time"].tolist() == players["tickets"]["time"].tolist()
    unset = load_config(arena(), {"population.players_per_hour": None})
    assert unset.factors == load_config(arena()).factors
    assert "population" not in unset.factors.model_dump()


def test_one_word_stands_for_all_steps() -> None:
    variables = {"expansions.*.wait": None, "expansions.*.value": {"high": 900}}
    config = load_config({**arena(), "optimize": {"variables": variables}})
    steps = flat(config.factors.model_dump()["expansions"])
    found = config.optimize.variables
    numbers = {
        f"expansions.{name}" for name, value in steps.items() if isinstance(value, int | float)
    }
    assert {*found} == {name for name in numbers if "Players" not in name}
    for name, of in found.items():
        today = steps[name.removeprefix("expansions.")]
        assert isinstance(today, int | float)
        assert of.low <= today <= of.high
        if name.endswith("value"):
            assert (of.low, of.high) == (today / 2, 900)
    waits = [of for name, of in found.items() if name.endswith("wait")]
    for first, second in pairwise(waits):
        assert second.low == 1 or first.high < second.low
    own = {"expansions.*.wait": {"low": 2}, next(iter(found)): {"low": 3, "high": 4}}
    again = load_config({**arena(), "design": {"ranges": own, "points": 3}}).design.ranges
    assert (again[next(iter(found))].low, again[next(iter(found))].high) == (3, 4)
    assert len(again) == len(waits)
