"""The valorant model: published matches, known values, theory, invariants, many days at once."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valmatch.config.config import Config
from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import Recorded, build, record, run
from valmatch.models.model import Batch, Model
from valmatch.models.valorant.model import ValorantModel
from valmatch.statistics.estimates import Estimate, estimate

CASES = sorted((Path(__file__).parents[2] / "fixtures" / "joint_cases").glob("*.json"))
assert len(CASES) == 20


def replicated(source: str, n: int, *overrides: str, seed: int = 1) -> dict[str, Estimate]:
    model = build(load_config(source, overrides))
    values = run(model, seed, range(n)).responses
    return {r.name: estimate(v) for r, v in zip(model.responses, values.T, strict=True)}


def recorded(
    config: Config, seed: int = 1, replication: int = 0
) -> tuple[Recorded, dict[str, Any]]:
    result = record(build(config), seed, replication)
    return result, {table.name: table.columns for table in result.tables}


def trace(folder: Path, times: list[float], ratings: list[float]) -> str:
    path = folder / "trace.csv"
    rows = [f"{t!r},{r!r}\n" for t, r in zip(times, ratings, strict=True)]
    path.write_text("arrival_hours,rating\n" + "".join(rows))
    return f"arrivals={path}"


@pytest.mark.slow
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_published_matches_are_reproduced(path: Path, tmp_path: Path) -> None:
    case = json.loads(path.read_text())
    factors = [f"{k}={v}" for k, v in case["factors"].items() if k != "team_slack"]
    arrivals = trace(tmp_path, case["arrivals"], case["ratings"])
    config = load_config("valorant-published", [*factors, arrivals, "horizon=24"])
    result, tables = recorded(config)
    matches = tables["matches"]
    assert list(matches["time_hours"]) == [match["time"] for match in case["matches"]]
    for side in ("team_a", "team_b"):
        expected = [";".join(map(str, match[side])) for match in case["matches"]]
        assert list(matches[side]) == expected
    assert list(matches["team_diff"]) == [match["diff"] for match in case["matches"]]
    players = tables["players"]
    waiting = [p for p, m in zip(players["player"], players["match"], strict=True) if np.isnan(m)]
    assert waiting == case["unmatched"]
    assert len(players["player"]) + len(case["dropped_at_or_after_24h"]) == len(case["arrivals"])
    values = dict(zip(build(config).responses.names, result.responses.tolist(), strict=True))
    for name, expected in (
        ("avg_team_diff", case["avg_team_diff"]),
        ("avg_wait_time", case["avg_wait_time_minutes"]),
    ):
        if expected is None:
            assert math.isnan(values[name])
        else:
            assert values[name] == pytest.approx(expected, rel=1e-12)


# Means and 95 % half-widths over 2000 replications of an independent program.
KNOWN = {
    "valorant": {
        "avg_team_diff": (226.6, 0.7),
        "avg_player_diff": (309.4, 0.3),
        "avg_wait_time": (18.77, 0.06),
        "matched_fraction": (0.9859, 0.00028),
    },
    "valorant-start": {
        "avg_team_diff": (160.6, 0.5),
        "avg_player_diff": (203.0, 0.2),
        "avg_wait_time": (30.24, 0.11),
        "matched_fraction": (0.9762, 0.0004),
    },
}


@pytest.mark.parametrize("source", KNOWN)
def test_known_values(source: str) -> None:
    estimates = replicated(source, 2000)
    for name, (mean, half_width) in KNOWN[source].items():
        error = math.hypot(estimates[name].std_error or 0, half_width / 1.96)
        assert estimates[name].mean == pytest.approx(mean, abs=4 * error), name


@pytest.mark.slow
@pytest.mark.parametrize("team_num", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("matching", ["team_first", "joint"])
def test_wait_without_skill_rules_is_that_of_theory(team_num: int, matching: str) -> None:
    # With 2p arrivals to a match a player waits for (2p - 1) / 2 further arrivals on average.
    unlimited = ("player_diff=1e6", "team_diff=1e6", f"team_num={team_num}")
    one = replicated("valorant", 1500, *unlimited, f"matching={matching}")["avg_wait_time"]
    players = 2 * (20 + 15 + 18 + 20 + 20 + 23 + 30 + 25 + 30) + 116
    theory = 60 * (2 * team_num - 1) / 2 * 24 / players
    assert one.mean == pytest.approx(theory, abs=4 * (one.std_error or 0))


def test_rules_never_shift_a_draw() -> None:
    changed = ("player_diff=1", "team_diff=0", "wait_thresh=3", "player_slack=7", "team_slack=9")
    others = (*changed, "team_num=2", "review=continuous", "matching=fifo", "slack_scope=pool")
    _, plain = recorded(load_config("valorant"), replication=4)
    _, other = recorded(load_config("valorant", others), replication=4)
    for column in ("arrival_hours", "elo", "kd", "wr"):
        assert list(plain["players"][column]) == list(other["players"][column])


@pytest.mark.parametrize("horizon", ["24", "null num_players=40000"])
def test_a_long_day_equals_its_record(horizon: str) -> None:
    model = build(load_config("valorant", f"rate_multiplier=100 horizon={horizon}".split()))
    np.testing.assert_array_equal(run(model, 1, [0]).responses[0], record(model, 1, 0).responses)


def test_trace_with_vectors_is_rated_by_the_multipliers(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("wr,elo,note,kd,arrival_hours\n50,1000,x,1.5,0\n40,1100,y,0.5,0.5\n")
    settings = [f"arrivals={path}", "team_num=1", "multiplier_matrix=[1, 10, 2]"]
    _, tables = recorded(load_config("valorant", settings))
    assert tables["players"]["rating"].tolist() == [1115.0, 1185.0]
    assert tables["players"]["elo"].tolist() == [1000.0, 1100.0]
    assert list(tables["matches"]["team_diff"]) == [70.0]


SEED = 3

MATCHING = ["team_first", pytest.param("joint", marks=pytest.mark.slow)]


def day_model(*overrides: str) -> ValorantModel:
    model = build(load_config("valorant", overrides))
    assert isinstance(model, ValorantModel)
    return model


def one_by_one(model: Model[Any], replications: list[int], controls: bool) -> Batch:
    return Model.run_many(model, Streams(SEED), replications, controls, lambda: None)


def compare(many: Batch, each: Batch) -> None:
    """Compare bit for bit, NaN included."""
    assert many.responses.tobytes() == each.responses.tobytes()
    assert (many.controls is None) == (each.controls is None)
    if many.controls is not None and each.controls is not None:
        assert many.controls.shape == each.controls.shape
        assert many.controls.tobytes() == each.controls.tobytes()


def assert_same(overrides: tuple[str, ...], replications: list[int], controls: bool) -> Batch:
    """Compare days made many in a call with each; return what came of it."""
    many = run(day_model(*overrides), SEED, replications, controls)
    compare(many, one_by_one(day_model(*overrides), replications, controls))
    assert (many.controls is None) == (not controls)
    return many


def random_overrides(rng: np.random.Generator) -> tuple[str, ...]:
    """Return factors of every kind; lobbies overflow in some."""
    rates = rng.choice([0.0, 5.0, 20.0, 60.0], 24).tolist()
    return (
        f"review={rng.choice(['arrivals', 'continuous'])}",
        f"slack_scope={rng.choice(['team', 'pool'])}",
        f"team_num={rng.integers(1, 7)}",
        f"player_diff={rng.choice([0, 50, 400, 1e6])}",
        f"team_diff={rng.choice([0, 100, 400])}",
        f"wait_thresh={rng.choice([0.0, 0.25, 2.0])}",
        f"horizon={rng.choice([0.5, 3.0, 8.0])}",
        f"rate_multiplier={rng.choice([0.01, 0.3, 1.0, 1.5])}",
        f"gaps={rng.choice(['exponential', 'poisson'])}",
        f"poisson_rate={[20.0, *rates[1:]]}",
    )


@pytest.mark.parametrize("matching", MATCHING)
def test_many_days_are_the_same_as_one_by_one(matching: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(16 if matching == "team_first" else 6):
        overrides = (f"matching={matching}", *random_overrides(rng))
        first, step, n = (int(rng.integers(low, 6)) for low in (0, 1, 0))
        replications = list(range(first, first + n * step, step))
        assert_same(overrides, replications, controls=bool(rng.integers(2)))


@pytest.mark.parametrize("matching", MATCHING)
def test_several_calls_are_the_same_as_one_by_one(matching: str) -> None:
    assert_same((f"matching={matching}",), list(range(1, 301, 2)), controls=True)


@pytest.mark.parametrize("matching", MATCHING)
def test_a_queue_that_is_too_small_grows(matching: str) -> None:
    alone = ("team_num=1", "player_diff=0", "player_slack=0", "team_diff=0", "team_slack=0")
    overrides = (*alone, "horizon=12", f"matching={matching}")
    unmatched = assert_same(overrides, list(range(7)), controls=True).responses[:, -1]
    assert (unmatched > 64).all()  # the room that a queue begins with


def test_days_of_unusually_many_players_are_made_one_by_one() -> None:
    model = day_model()
    assert model._process is not None
    usual = one_by_one(day_model(), list(range(40)), True)
    players = usual.responses[:, model.responses.names.index("n_players")]
    # About half of the days do not fit, and neither do their waits.
    model._process.room = int(np.median(players)) + 1
    model._counts = model._counts._replace(waits=np.empty(8))
    compare(run(model, SEED, range(40), True), usual)
