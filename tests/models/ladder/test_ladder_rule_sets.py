"""Ladders by rule sets and living matchmakers, friends included, against plain Python."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

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
from valmatch.kernels.arrays import Ints
from valmatch.matching import flexmatch
from valmatch.matching.living.queue import ANY, Parties, PresetInput, play_preset
from valmatch.models.ladder.factors import LadderFactors
from valmatch.models.ladder.loop import new_log
from valmatch.models.ladder.model import LadderModel, Run, rule_set_of
from valmatch.models.model import Record


def played(
    factors: Any,  # noqa: ANN401
    rule_set: dict[str, Any],
    seed: int,
    room: int,
) -> tuple[PartyLadder, Record]:
    """Play a ladder in plain Python and by the kernels, with room for so many tickets at first."""
    model = LadderModel(LadderFactors.model_validate({**factors, "rule_set": rule_set}))
    model._queue_room = room
    table, _ = rule_set_of(model._factors, {})
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
@pytest.mark.long
def test_random_ladders_equal_those_of_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where tickets are numbered anew all the time."""
    monkeypatch.setattr(flexmatch, "LEAST_ROOM", 1)
    rng, happened, sizes = np.random.default_rng(6), Counter[str](), Counter[int]()
    for case in range(44):
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


def test_groups_have_their_shares_and_friends_their_correlation() -> None:
    overrides = ("parties.shares=[0.5, 0.3, 0.2]", "parties.skill_correlation=0.6")
    many = ("population.players=20000", "days=1", "warmup_days=0", "sessions.per_day=0.001")
    config = load_config("ladder", ["rule.matching=flexmatch", *overrides, *many])
    model = build(config)
    assert isinstance(model, LadderModel)
    population = model.draw(Streams(1), 0)
    old = population.skills.size - population.joining.size
    leaders, sizes = np.unique(population.groups[:old], return_counts=True)
    observed = np.bincount(sizes, minlength=4)[1:]
    assert stats.chisquare(observed, leaders.size * np.array([0.5, 0.3, 0.2])).pvalue > 1e-3
    duos = leaders[sizes == 2]
    one, other = population.skills[duos], population.skills[duos + 1]
    found = np.corrcoef(one, other)[0, 1]
    assert abs(np.arctanh(found) - np.arctanh(0.6)) < 4.0 / np.sqrt(duos.size - 3)
    assert stats.kstest(population.skills[:old:7], "norm", (1500.0, 300.0)).pvalue > 1e-3


def test_a_ladder_plays_two_teams_of_one_size(tmp_path: Path) -> None:
    teams = [{"name": name, "minPlayers": 1, "maxPlayers": 2} for name in ("red", "blue")]
    path = rule_file(tmp_path, teams=teams)
    with pytest.raises(InputError) as info:
        build(load_config("ladder", ["rule.matching=flexmatch", f"rules={path}"]))
    assert re.match(rf"{path}:\d+:\d+: teams: .* two teams of one size", str(info.value))


HOUR = 3600.0

BAR = {
    "population": {"players": 150, "skill_mean": 25, "newcomer_skill_mean": 25, "skill_std": 8},
    "rating": {"mu": 25, "sigma": 8.3, "tau": 0.1},
    "match": {"outcome": "normal", "beta": 4.2, "minutes": 4},
}
"""A population on the scale of Beyond All Reason."""

LADDERS: dict[str, dict[str, Any]] = {
    "faf": {"rule": {"preset": "faf", "team_size": 2}, "parties": {"shares": [0.6, 0.4]}},
    "faf_duels": {"rule": {"preset": "faf_duels"}},
    "bar": {
        "rule": {"preset": "bar", "team_size": 2, "each_player": True},
        "parties": {"shares": [0.7, 0.3]},
        **BAR,
    },
    "shieldbattery": {
        "rule": {"preset": "shieldbattery", "sample": 5},
        "rating": {"system": "glicko2"},
    },
    "osu": {"rule": {"preset": "osu", "radius": 100}, "population": {"players": 24}},
    "lichess": {"rule": {"preset": "lichess", "wave_players": 6}, "rating": {"system": "glicko2"}},
}
MOSTLY_LONG = [  # as each compiles a queue of its own
    pytest.param(name, marks=[pytest.mark.long] * (name not in ("faf", "lichess")))
    for name in LADDERS
]
"""By name a rule that has much to do, and who plays by it."""


def factors_of(name: str, **changes: Any) -> LadderFactors:  # noqa: ANN401
    """Return the factors of a small ladder."""
    small = {
        "days": 0.25,
        "warmup_days": 0,
        "population": {"players": 60, "newcomers_per_day": 40},
        "sessions": {"per_day": 12, "patience_minutes": 6, "activity_cv": 0.5},
        "match": {"minutes": 3},
    }
    given = {**small, **LADDERS[name]}
    given["population"] = {**small["population"], **given["population"]}  # type: ignore[dict-item]
    return LadderFactors.model_validate({**given, **changes}, context={"files": frozenset()})


def played_by_preset(model: LadderModel, seed: int) -> Run:
    """Return a replication with its log."""
    inputs = model.draw(Streams(seed), 0)
    log = new_log(20_000, 20_000, model._factors.rule.team_num)
    run = model.play(inputs, log)
    assert run.loop.state["tickets"][0] <= 20_000
    return run


class PresetTickets(NamedTuple):
    """The tickets of a replication, and which of them the one of each player is."""

    tickets: PresetInput
    of: Ints


def tickets_of(model: LadderModel, run: Run, place: Any) -> PresetTickets:  # noqa: ANN401
    """Return the tickets with what was believed of their players when they joined."""
    factors = model._factors
    log, n = run.log.tickets[: run.loop.state["tickets"][0]], run.loop.state["numbered"][0]
    first_sigma = model._newcomer[model._deviation] if model._deviation >= 0 else 0.0
    careers: dict[int, list[tuple[float, float, float]]] = {}
    for number in range(n):
        end = run.log.matches["time"][number] + factors.match.minutes / 60.0
        if number >= run.loop.state["ended"][0]:
            continue
        for ticket, (mean, sigma) in zip(run.log.teams[number], run.log.after[number], strict=True):
            careers.setdefault(int(log["player"][ticket]), []).append((end, mean, sigma))
    beliefs = []
    for player, time in zip(log["player"].tolist(), log["time"].tolist(), strict=True):
        ended = [game for game in careers.get(player, ()) if game[0] <= time]
        mean, sigma = ended[-1][1:] if ended else (factors.rating.mu, first_sigma)
        beliefs.append((mean, sigma, len(ended)))
    means, sigmas, games = (np.array(column) for column in zip(*beliefs, strict=True))
    assert np.array_equal(means, log["rating"])
    firsts: list[int] = []
    sizes: list[int] = []
    while sum(sizes) < log.size:
        firsts.append(sum(sizes))
        sizes.append(int(log["together"][firsts[-1]]))
    tickets = len(sizes)
    leaders = log[firsts]
    gone = (leaders["match"] < 0) & ~np.isnan(leaders["ended"])
    parties = Parties(
        np.array(sizes),
        np.array(firsts),
        means,
        sigmas,
        games,
        games == 0,
        np.full(tickets, -1),
        np.zeros(tickets),
        np.full((1, 1), np.nan),
        np.full(tickets, -1),
        np.full(tickets, -ANY),
        np.full(tickets, ANY),
        np.zeros(tickets, np.bool_),
        np.zeros(tickets, np.int64),
    )
    cancels = np.where(gone, leaders["ended"] * HOUR, np.inf)
    found = PresetInput(leaders["time"] * HOUR, cancels, leaders["player"].copy(), parties, place)
    return PresetTickets(found, np.repeat(np.arange(tickets), sizes))


def sides(tickets: Any, of: Ints) -> list[int]:  # noqa: ANN401
    """Return the tickets of a side by those of its players."""
    return sorted({int(of[ticket]) for ticket in tickets})


# Compiling a ladder of a preset takes long: some wait for the night.
@pytest.mark.slow
@pytest.mark.parametrize("name", MOSTLY_LONG)
def test_matches_are_those_of_the_same_tickets_known_beforehand(name: str) -> None:
    model = LadderModel(factors_of(name))
    rule, team_num = model._factors.rule, model._factors.rule.team_num
    numbers = rule.numbers()
    assert rule.preset is not None
    assert numbers is not None
    for seed in (1, 2):
        run = played_by_preset(model, seed)
        tickets, of = tickets_of(model, run, model.draw(Streams(seed), 0).rng_key)
        # Reviews of tickets known beforehand include one at the horizon.
        horizon = 24.0 * HOUR * model._factors.days - 0.25
        expected, _ = play_preset(rule.preset, numbers, tickets, 1e9, horizon)
        n = int(run.loop.state["numbered"][0])
        assert n == expected.times.size > 30
        assert np.allclose(run.log.matches["time"][:n] * HOUR, expected.times, rtol=1e-12)
        for number in range(n):
            own = expected.matches == number
            for team, seats in enumerate((slice(team_num), slice(team_num, None))):
                there = expected.tickets[own & (expected.teams == team)]
                assert sides(run.log.teams[number, seats], of) == sorted(there.tolist())
        _check_conservation(run)


def _check_conservation(run: Run) -> None:
    """Check that every ticket is matched once, given up, or waits."""
    log = run.log.tickets[: run.loop.state["tickets"][0]]
    n = run.loop.state["numbered"][0]
    matched = run.log.teams[:n].ravel()
    assert np.unique(matched).size == matched.size
    assert np.array_equal(np.flatnonzero(log["match"] >= 0), np.sort(matched))
    waiting = np.isnan(log["ended"])
    assert (~waiting).sum() == matched.size + (~waiting & (log["match"] < 0)).sum()
    queued = run.loop.players["state"] == 1
    assert queued.sum() == waiting.sum()


@pytest.mark.slow
@pytest.mark.parametrize("name", MOSTLY_LONG)
def test_nothing_depends_on_the_room(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = LadderModel(factors_of(name))
    wide = played_by_preset(model, 1)
    monkeypatch.setitem(model._rule.new.__globals__, "LEAST_ROOM", 1)
    model._queue_room = 1
    narrow = played_by_preset(model, 1)
    assert model._queue.tickets.matches.size < 1024
    assert narrow.loop.players.tobytes() == wide.loop.players.tobytes()
    assert narrow.log.tickets.tobytes() == wide.log.tickets.tobytes()
    assert narrow.log.teams.tobytes() == wide.log.teams.tobytes()
    again = played_by_preset(model, 1)
    assert again.log.tickets.tobytes() == wide.log.tickets.tobytes()
