"""Ladders by rule sets, where friends queue together: against plain Python, and other rules."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import stats

from tests.models.ladder.test_ladder import rows, same, same_games, same_tickets
from tests.oracles.ladder_measures import days, responses
from tests.oracles.ladder_parties import PartyLadder
from tests.oracles.ladder_world import draw_world
from tests.support.ladders import random_ladder
from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.execution.chunks import build
from valmatch.matching import flexmatch
from valmatch.models.ladder.factors import LadderFactors
from valmatch.models.ladder.model import LadderModel
from valmatch.models.ladder.rule_sets import rule_set_of
from valmatch.models.model import Record


def played(
    factors: Any,  # noqa: ANN401
    rule_set: dict[str, Any],
    seed: int,
    room: int,
) -> tuple[PartyLadder, Record]:
    """Play a ladder in plain Python and by the kernels, with room for so many tickets at first."""
    model = LadderModel(LadderFactors.model_validate({**factors, "rule_set": rule_set}))
    model._queue = model._rule.new(room, model._rules.queue)
    table = rule_set_of(rule_set, {}, "skill", factors["rule"]["team_num"]).table
    plain = PartyLadder(factors, draw_world(factors, seed, 0), table)
    plain.play()
    return plain, model.record(model.draw(Streams(seed), 0))


def parts_of(plain: PartyLadder) -> dict[str, float | None]:
    """Return the responses of parties."""
    largest = max(k for k, share in enumerate(plain.factors["parties"]["shares"], 1) if share)
    if largest == 1:
        return {}
    warmup = 24.0 * plain.factors["warmup_days"]
    seats = [
        (
            plain.together[ticket.number],
            match.time - ticket.time,
            match.p if side == 0 else 1 - match.p,
        )
        for match in plain.matches
        if match.time >= warmup
        for side, tickets in enumerate(match.tickets)
        for ticket in tickets
    ]
    lost = [
        plain.together[ticket.number]
        for ticket in plain.tickets
        if ticket.ended is not None and ticket.match is None and ticket.ended >= warmup
    ]
    rated = [one for one in plain.players if one.finished and one.state != "gone"]
    errors = {one.number: one.belief[0] - one.skill for one in rated}
    mean = np.mean(list(errors.values())) if errors else 0.0
    found: dict[str, float | None] = {}
    for size in range(1, largest + 1):
        own = [seat for seat in seats if seat[0] == size]
        mine = [error for player, error in errors.items() if plain.sizes[player] == size]
        ended = len(own) + lost.count(size)
        values = {
            "player_share": len(own) / len(seats) if seats else None,
            "avg_wait_time": 60 * np.mean([wait for _, wait, _ in own]) if own else None,
            "abandoned_fraction": lost.count(size) / ended if ended else None,
            "win_gap": np.mean([abs(p - 0.5) for *_, p in own]) if own else None,
            "win_prob": np.mean([p for *_, p in own]) if own else None,
            "inflation": np.mean(mine) - mean if mine else None,
            "rating_error": np.sqrt(np.mean((np.array(mine) - mean) ** 2)) if mine else None,
        }
        found |= {f"{name}.size_{size}": value for name, value in values.items()}  # type: ignore[misc]
    return found


@pytest.mark.slow
def test_random_ladders_equal_those_of_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where tickets are numbered anew all the time."""
    monkeypatch.setattr(flexmatch, "LEAST_ROOM", 1)
    rng, happened, sizes = np.random.default_rng(5), Counter[str](), Counter[int]()
    for case in range(70):
        factors, rule_set = random_ladder(rng)
        if not (factors["population"]["newcomers_per_day"] or factors["sessions"]["per_day"]):
            continue
        plain, found = played(factors, rule_set, case, (1, 3, 16, 1000)[case % 4])
        names: list[object] = list(range(len(plain.players)))
        tables = {table.name: table for table in found.tables}
        same_tickets(tables["tickets"], plain, names)
        same_games(tables["games"], plain, names)
        parts = parts_of(plain)
        same(found.responses, {**responses(plain), **parts})
        assert {name for name in found.responses if ".size_" in name} == set(parts)
        for mine, theirs in zip(rows(tables["days"]), days(plain), strict=True):
            same(mine, theirs)
        happened.update(kind for _, kind, *_ in plain.history)
        sizes.update(plain.together.values())
    assert min(happened[kind] for kind in ("queue", "match", "end", "give up", "drop")) > 50
    assert min(sizes[size] for size in (1, 2, 3)) > 50


RULES = """
name: duel
ruleLanguageVersion: '1.0'
playerAttributes: [{name: skill, type: number}]
algorithm: {expansionAgeSelection: oldest}
teams: [{name: red, minPlayers: 1, maxPlayers: 1}, {name: blue, minPlayers: 1, maxPlayers: 1}]
rules:
- {name: Close, type: distance, measurements: ["max(flatten(teams[*].players.attributes[skill]))"],
  referenceValue: "min(flatten(teams[*].players.attributes[skill]))", maxDistance: 100}
expansions:
- {target: "rules[Close].maxDistance", steps: [{waitTimeSeconds: 360, value: 300}]}
"""
"""One against one: ratings 100 apart, 300 after six minutes."""


def rule_file(folder: Path, **changes: Any) -> Path:  # noqa: ANN401
    """Write the rule set."""
    path = folder / "duel.json"
    path.write_text(json.dumps({**yaml.safe_load(RULES), **changes}, indent=1))
    return path


SMALL = ("days=3", "warmup_days=1", "population.players=150", "sessions.patience_minutes=15")


def tables_of(*overrides: str) -> dict[str, list[dict[str, Any]]]:
    """Return the tables of a small ladder."""
    model = build(load_config("ladder", [*SMALL, *overrides]))
    assert isinstance(model, LadderModel)
    found = model.record(model.draw(Streams(4), 0))
    return {table.name: rows(table) for table in found.tables}


@pytest.mark.slow
def test_a_rule_set_of_one_distance_is_the_rule_of_teams_of_one(tmp_path: Path) -> None:
    """Players prioritized after six minutes are an expansion by the age of the oldest."""
    rules = rule_file(tmp_path)
    found = tables_of("rule.matching=flexmatch", f"rules={rules}")
    teams = ("team_num=1", "team_diff=100", "team_slack=200", "wait_thresh=0.1")
    wanted = tables_of(*(f"rule.{one}" for one in teams), "rule.review=continuous")
    assert len(wanted["games"]) > 400
    assert sum(not ticket["match"] >= 0 for ticket in wanted["tickets"]) > 30
    assert repr(found) == repr(wanted)


@pytest.mark.slow
def test_without_a_rule_set_it_is_first_in_first_out() -> None:
    found, wanted = (
        tables_of(f"rule.matching={rule}", "rule.team_num=1") for rule in ("flexmatch", "fifo")
    )
    assert len(wanted["games"]) > 400
    assert repr(found) == repr(wanted)


@pytest.mark.slow
def test_a_rule_set_may_be_named_in_the_rule_or_stand_in_the_config(tmp_path: Path) -> None:
    path = rule_file(tmp_path)
    rule = {"matching": "flexmatch", "rules": path.name, "skill_attribute": "skill"}
    texts = {
        "rule": {"model": "ladder", "factors": {"rule": rule}},
        "top": {
            "model": "ladder",
            "rules": path.name,
            "factors": {"rule": {"matching": "flexmatch"}},
        },
        "whole": {
            "model": "ladder",
            "rules": json.loads(path.read_text()),
            "factors": {"rule": {"matching": "flexmatch"}},
        },
    }
    configs = {}
    for name, content in texts.items():
        (tmp_path / f"{name}.yaml").write_text(json.dumps(content))
        configs[name] = load_config(tmp_path / f"{name}.yaml")
    assert configs["rule"].factors == configs["top"].factors
    assert configs["rule"].files == configs["top"].files
    for config in configs.values():
        factors = config.factors
        assert isinstance(factors, LadderFactors)
        assert factors.rule.team_num == 1
        assert factors.rules["Close"]["maxDistance"] == 100
        build(config)


def test_groups_have_their_shares_and_friends_their_correlation() -> None:
    overrides = ("parties.shares=[0.5, 0.3, 0.2]", "parties.skill_correlation=0.6")
    many = ("population.players=20000", "days=1", "warmup_days=0", "sessions.per_day=0.001")
    config = load_config("ladder", ["rule.matching=flexmatch", *overrides, *many])
    model = build(config)
    assert isinstance(model, LadderModel)
    population = model.draw(Streams(1), 0).population
    old = population.skills.size - population.joining.size
    leaders, sizes = np.unique(population.groups[:old], return_counts=True)
    observed = np.bincount(sizes, minlength=4)[1:]
    assert stats.chisquare(observed, leaders.size * np.array([0.5, 0.3, 0.2])).pvalue > 1e-3
    duos = leaders[sizes == 2]
    one, other = population.skills[duos], population.skills[duos + 1]
    found = np.corrcoef(one, other)[0, 1]
    assert abs(np.arctanh(found) - np.arctanh(0.6)) < 4.0 / np.sqrt(duos.size - 3)
    assert stats.kstest(population.skills[:old:7], "norm", (1500.0, 300.0)).pvalue > 1e-3


def refused(*overrides: str) -> str:
    """Return what is said of a ladder by a rule set that is refused."""
    with pytest.raises(InputError) as info:
        build(load_config("ladder", ["rule.matching=flexmatch", *overrides]))
    return str(info.value)


def test_rule_sets_that_a_ladder_cannot_go_by_are_refused_at_their_place(tmp_path: Path) -> None:
    skill = {"name": "skill", "type": "number"}
    latency = {"name": "Near", "type": "latency", "maxLatency": 50}
    teams = [
        {"name": "red", "minPlayers": 1, "maxPlayers": 2},
        {"name": "blue", "minPlayers": 2, "maxPlayers": 2},
    ]
    cases: list[tuple[dict[str, Any], str]] = [
        (
            {"playerAttributes": [skill, {"name": "mode", "type": "string"}]},
            ":9:3: playerAttributes[1]: 'mode' has no default, and a ladder knows nothing of"
            " players but the rating (a default is needed)",
        ),
        (
            {"rules": [latency], "expansions": []},
            ":26:3: rules[0]: 'Near' is a latency rule, and a ladder has no regions (remove it)",
        ),
        (
            {"teams": teams},
            ":13:11: teams: red 1 to 2, blue 2: a ladder plays two teams of one size, which does"
            " not change",
        ),
    ]
    for changes, message in cases:
        path = rule_file(tmp_path, **changes)
        assert refused(f"rules={path}") == f"{path}{message}"


def test_bad_values_are_refused_with_what_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = rule_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    rules = f"rules={path.name}"
    label = "factors.rule.skill_attribute"
    assert refused(rules, "rule.skill_attribute=skil") == (
        f"{label}: 'skil' is not declared in duel.json (did you mean skill?)"
    )
    assert "5, but the rule set has teams of 1" in refused(rules, "rule.team_num=5")
    assert "groups of 2 players do not fit into teams of 1" in refused(
        rules, "parties.shares=[0.5, 0.5]"
    )
    assert "shares sum to 0.9 (allowed: 1)" in refused("parties.shares=[0.5, 0.4]")
    assert "did you mean Close?" in refused(rules, "rules.Clos.maxDistance=1")
    assert "there is another one, rules: ..." in refused(rules, "rule.rules=duel.json")
    assert "with fifo matching everybody waits alone" in refused(
        "rule.matching=fifo", "parties.shares=[0.5, 0.5]"
    )
    assert "(got 0.001)" in refused("rule.review_seconds=0.001")
    assert "ticks in 100000 days" in refused(
        "rule.review_seconds=0.01", "days=100000", "sessions.per_day=0.001"
    )


def test_a_rule_set_without_effect_is_remarked(tmp_path: Path) -> None:
    model = build(load_config("ladder", [f"rules={rule_file(tmp_path)}"]))
    assert model.warnings == ("rules: has no effect with matching team_first",)
