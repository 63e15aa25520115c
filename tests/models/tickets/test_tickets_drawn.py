"""Tickets as the plain twin draws them, by laws or in place of what a log lacks."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.models.tickets.test_tickets_model import arena
from tests.oracles.ticket_draws import tickets
from valmatch import load_config, simulate
from valmatch.config.config import Config
from valmatch.draws.streams import Streams
from valmatch.experiments.simulate import Simulation
from valmatch.matching.tickets.columns import Service, Tickets
from valmatch.matching.tickets.playing import play
from valmatch.matching.tickets.reading import read_list
from valmatch.models.tickets.factors import TicketsFactors, round_trips
from valmatch.models.tickets.population import draw_answers, draw_tickets
from valmatch.rule_sets.flexmatch import read_rule_set
from valmatch.text.terminal import Notice

GIVEN: dict[str, Any] = yaml.safe_load("""
hours: 2.5
arrivals: {per_hour: 30, hourly_profile: [1, 0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  1, 1, 1, 1, 1]}
skill: {error: 40}
parties: {shares: [0.5, 0.2, 0, 0.3]}
regions: {shares: {eu: 0.5, us: 0.25, ap: 0.25}}
attributes: {mode: {ranked: 0.75, casual: 0.25}, roles: {lists: {tank: 0.2, medic: 0.5}}, level:
  {mean: 10, std: 3}}
patience: {median_seconds: 60}
service: {acceptance_seconds: 20}
""")


def drawn_by(given: dict[str, Any], seed: int = 3, replication: int = 2) -> Tickets:
    """Return the tickets of some factors."""
    factors = TicketsFactors.model_validate(given)
    trips = round_trips(tuple(factors.regions.shares), None)
    return draw_tickets(factors, trips, Streams(seed).place(replication))


def test_tickets_are_those_of_the_plain_twin() -> None:
    factors = TicketsFactors.model_validate(GIVEN)
    trips = round_trips(("eu", "us", "ap"), None)
    rows = dict(zip(trips.homes, trips.milliseconds.tolist(), strict=True))
    twin = list(tickets(factors.model_dump(), rows, 3, 2))
    drawn = drawn_by(GIVEN)
    answers = draw_answers(factors, drawn)
    assert len(twin) == drawn.times.size > 40
    assert drawn.times == pytest.approx([one.time for one in twin], rel=1e-12)
    assert drawn.cancels == pytest.approx([one.cancel for one in twin], rel=1e-9)
    assert [trips.homes[home] for home in drawn.homes] == [one.home for one in twin]
    assert drawn.sizes.tolist() == [len(one.skills) for one in twin]
    assert drawn.skills == pytest.approx(np.concatenate([one.skills for one in twin]), rel=1e-12)
    assert drawn.seen == pytest.approx(np.concatenate([one.seen for one in twin]), rel=1e-12)
    assert (drawn.latencies == np.concatenate([one.latencies for one in twin])).all()
    expected = [[math.nan if a is None else a for a in one.answers] for one in twin]
    np.testing.assert_allclose(answers, expected, rtol=1e-12)
    mode, roles = drawn.values["mode"], drawn.values["roles"]
    modes = [one for ticket in twin for one in ticket.attributes["mode"]]
    assert mode.tolist() == modes
    assert [list(one or ()) for one in roles.tolist()] == [
        one for ticket in twin for one in ticket.attributes["roles"]
    ]
    levels = np.concatenate([one.attributes["level"] for one in twin])
    assert drawn.values["level"] == pytest.approx(levels, rel=1e-12)


def test_tickets_come_by_the_profile() -> None:
    drawn = drawn_by({"hours": 30, "arrivals": {"per_hour": 400, "hourly_profile": [0, *[2] * 23]}})
    hours = np.bincount((drawn.times / 3600).astype(int), minlength=30)
    assert hours[[0, 24]].tolist() == [0, 0]
    expected = 400 * 24 / 23
    busy = np.delete(hours, [0, 24])
    assert abs(busy.mean() - expected) < 4 * math.sqrt(expected / busy.size)


def test_skills_of_a_party_are_alike() -> None:
    given = {"skill": {"mean": 100, "std": 30, "party_std": 10}, "parties": {"shares": [0.5, 0.5]}}
    drawn = drawn_by(given)
    firsts = np.cumsum(drawn.sizes) - drawn.sizes
    solos = drawn.skills[firsts[drawn.sizes == 1]]
    pairs = drawn.skills[np.add.outer(firsts[drawn.sizes == 2], [0, 1])]
    n = solos.size
    assert abs(solos.mean() - 100) < 4 * 30 / math.sqrt(n)
    assert abs(solos.std() - 30) < 4 * 30 / math.sqrt(2 * n)
    within = (pairs[:, 0] - pairs[:, 1]) / math.sqrt(2)
    assert abs(within.std() - 10) < 4 * 10 / math.sqrt(2 * n)
    between = math.sqrt(30**2 + 10**2 / 2)
    assert abs(pairs.mean(axis=1).std() - between) < 4 * between / math.sqrt(2 * n)


def test_latencies_lie_about_the_table() -> None:
    drawn = drawn_by({"regions": {"shares": {"us": 0.5, "eu": 0.5}, "spread": 0.2}})
    trips = round_trips(("us", "eu"), None).milliseconds
    for home in (0, 1):
        for centre in (0, 1):
            logs = np.log(drawn.latencies[drawn.homes[drawn.of] == home, centre])
            error = 4 * 0.2 / math.sqrt(logs.size) + 0.5 / trips[home, centre] / 10
            assert abs(logs.mean() - math.log(trips[home, centre])) < error


@pytest.mark.parametrize(
    ("further", "same"),
    [
        ({"skill": {"std": 5}}, ("times", "sizes", "homes", "latencies")),
        ({"parties": {"shares": [1]}}, ("times", "homes", "cancels")),
        ({"arrivals": {"per_hour": 60, "hourly_profile": [1] * 24}}, ("sizes", "homes", "skills")),
        ({"attributes": {}}, ("times", "skills", "latencies", "cancels")),
    ],
)
def test_one_law_shifts_no_draw_of_another(further: dict[str, Any], same: tuple[str, ...]) -> None:
    first, second = drawn_by(GIVEN), drawn_by({**GIVEN, **further})
    for name in same:
        mine, other = getattr(first, name), getattr(second, name)
        common = min(len(mine), len(other))
        assert (mine[:common] == other[:common]).all(), name


MORE: dict[str, Any] = {
    "arrivals.per_hour": 600,
    "patience.median_seconds": 70,
    "service.acceptance_seconds": 20,
    "skill.error": 50,
}


def with_log(folder: Path, rows: Sequence[Mapping[str, Any]], **factors: Any) -> Config:  # noqa: ANN401
    """Return the config with tickets of a log."""
    path = folder / "tickets.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return load_config({**arena(), "arrivals": str(path)}, factors)


def bare_rows(found: Simulation) -> list[dict[str, Any]]:
    """Return the tickets of a run as a log that says nothing but when who came."""
    tickets = found["tickets"]
    return [
        {"id": f"t{k}", "time": time, "players": [{"id": f"p{k}.{j}"} for j in range(size)]}
        for k, (time, size) in enumerate(zip(tickets["time"], tickets["players"], strict=True))
        for time, size in [(float(time), int(size))]
    ]


def test_what_a_log_lacks_is_drawn_by_the_number_of_the_ticket(tmp_path: Path) -> None:
    plain = simulate(load_config(arena(), MORE), seed=3)
    rows = bare_rows(plain)
    logged = simulate(with_log(tmp_path, rows, **MORE), seed=3)
    for table in ("tickets", "matches", "groups"):
        for name, column in plain[table].items():
            np.testing.assert_array_equal(logged[table][name], column, err_msg=name)
    # What the log says of one ticket changes nothing of another one.
    rows[7]["players"][0]["attributes"] = {"skill": 1900}
    rows[8]["cancel"] = rows[8]["time"] + 1
    rows[9]["players"] = [{"id": "x"}, {"id": "y"}, {"id": "z"}]
    changed = simulate(with_log(tmp_path, rows, **MORE), seed=3)
    others = np.delete(np.arange(len(rows)), [7, 9])
    for name in ("time", "players", "home", "skill", "seen"):
        mine, before = changed["tickets"][name], plain["tickets"][name]
        assert (mine[others] == before[others]).all(), name
    assert changed["tickets"]["players"][9] == 3
    if plain["tickets"]["players"][7] == 1:
        assert changed["tickets"]["seen"][7] == 1900
        error = plain["tickets"]["seen"][7] - plain["tickets"]["skill"][7]
        assert changed["tickets"]["skill"][7] == pytest.approx(1900 - error)
    assert changed["tickets"]["wait"][8] <= 1


def full_rows(n: int) -> list[dict[str, Any]]:
    """Return tickets of which all is said."""
    rng, time, rows = np.random.default_rng(5), 0.0, []
    for number in range(n):
        time += float(rng.integers(1, 40)) / 8
        mode = ("ranked", "casual")[int(rng.random() < 0.2)]
        players = [
            {
                "id": f"p{number}.{k}",
                "attributes": {"skill": int(rng.integers(1300, 1700)), "mode": mode},
                "latency": {"eu": int(rng.integers(10, 90)), "us": int(rng.integers(60, 200))},
            }
            for k in range(int(rng.choice([1, 2, 3])))
        ]
        answers = [[float(rng.integers(1, 60)) / 8, True] for _ in range(16)]
        cancel = None if rng.random() < 0.7 else time + float(rng.integers(8, 800)) / 8
        row = {"id": f"t{number}", "time": time, "players": players, "answers": answers}
        rows.append(row if cancel is None else {**row, "cancel": cancel})
    return rows


def test_a_log_that_says_all_is_played_as_a_replay_plays_it(tmp_path: Path) -> None:
    rows = full_rows(300)
    config = with_log(tmp_path, rows, **{"service.acceptance_seconds": 6, "skill.error": 50})
    first, second = (simulate(config, seed=seed) for seed in (1, 2))
    status = first["tickets"]["status"].tolist()
    assert status == second["tickets"]["status"].tolist()
    rules = read_rule_set(config.files["rules"].path.read_text(encoding="utf-8"), 120).table
    assert rules is not None
    tickets, _ = read_list(config.files["arrivals"].path.read_text(encoding="utf-8"), rules, False)
    assert tickets is not None
    outcome = play(rules, tickets, Service(120.0, 1800.0, 1.0, acceptance=6.0), "pass")
    assert status == outcome.statuses
    assert {"COMPLETED", "TIMED_OUT", "CANCELLED"} <= set(status)
    assert first["matches"]["time"].tolist() == [one.time for one in outcome.matches]
    assert first["tickets"]["ended"].tolist() == outcome.times
    # "ap" is reported by nobody.
    assert set(first["matches"]["region"]) <= {"eu", "us"}
    assert np.isfinite(first.summary()["responses"]["latency_p95"])


def test_doubles_are_left_out_and_a_player_who_comes_again_leaves_the_earlier_place(
    tmp_path: Path,
) -> None:
    rows = full_rows(200)
    for row in rows:
        del row["answers"]
        row["players"][0]["id"] = f"p{int(row['id'][1:]) * 7919 % 101 % 30}"
    plain = simulate(with_log(tmp_path, rows))
    doubled = simulate(
        with_log(tmp_path, [row for row in rows for _ in range(1 + (row["id"] > "t5"))])
    )
    assert doubled["tickets"]["ended"].tolist() == plain["tickets"]["ended"].tolist()
    counts = {note.kind: note.n for note in map(Notice.of, doubled.warned)}
    assert counts["duplicate_rows"] == sum(row["id"] > "t5" for row in rows)
    ended, waiting = plain["tickets"]["ended"].tolist(), dict[str, float]()
    for row, end in zip(rows, ended, strict=True):
        for player in row["players"]:
            assert waiting.get(player["id"], 0.0) <= row["time"]
            waiting[player["id"]] = end
    assert counts["queued_again"] > 100
