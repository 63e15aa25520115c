"""`next --simulate`: beliefs after games, worlds, curves."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import valmatch
from tests.game_logs.test_next_pairs import NAMES, log_of
from tests.oracles import joint_pairs
from tests.support.command import valmatch as command
from valmatch.draws.streams import Streams
from valmatch.game_logs.next_pairs.goals import leader_best, unsure_of
from valmatch.game_logs.next_pairs.reading import read_together
from valmatch.game_logs.next_pairs.simulating import MARKS
from valmatch.game_logs.next_pairs.world import MEASURES, Plan, play_world, update
from valmatch.policies.joint.belief import Belief


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a rating."""
    folder = tmp_path_factory.mktemp("next")
    (folder / "log.csv").write_text(log_of(NAMES))
    valmatch.rate_whole_log(folder / "log.csv", prior=200.0, out=folder / "rated")
    return folder / "rated"


def nothing() -> None:
    """Go on."""


@pytest.mark.parametrize("nu", [0.0, 0.7])
def test_a_belief_after_games_is_the_mode_and_its_curvature(nu: float) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        root = rng.normal(size=(5, 6)) * 80.0
        before = Belief(rng.normal(1500.0, 100.0, 5), root @ root.T, nu)
        games = np.triu(rng.integers(0, 30, (5, 5)), 1)
        scores = np.triu(np.minimum(rng.integers(0, 60, (5, 5)) / 2.0, games), 1)
        scores = scores + np.tril((games - scores).T, -1)
        games = games + games.T
        after = update(before, games, scores, before.mean)
        precision = np.linalg.inv(before.covariance)

        def slope(x: np.ndarray, held: tuple = (games, scores, precision, before)) -> np.ndarray:  # type: ignore[type-arg]
            n, own, known, belief = held
            leads = joint_pairs.B * (x[:, None] - x)
            chances = joint_pairs.chances(leads.ravel(), nu)
            expected = (chances[0] + 0.5 * chances[1]).reshape(5, 5)
            found = joint_pairs.B * (own - n * expected).sum(axis=1) - known @ (x - belief.mean)
            return np.asarray(found)

        assert np.abs(slope(after.mean)).max() < 1e-8
        step = 1e-3
        curvature = np.array(
            [
                (slope(after.mean - step * e) - slope(after.mean + step * e)) / (2 * step)
                for e in np.eye(5)
            ]
        )
        assert after.covariance == pytest.approx(np.linalg.inv(curvature), rel=1e-4, abs=1e-3)


def test_the_zero_stays_where_it_is_held() -> None:
    n = 4
    held = 100.0**2 * (np.eye(n) - 1.0 / n)
    games = np.ones((n, n), np.int64) - np.eye(n, dtype=np.int64)
    after = update(
        Belief(np.full(n, 1500.0), held), games, np.triu(games).astype(float), np.zeros(n)
    )
    assert after.mean.mean() == pytest.approx(1500.0)
    assert (np.diff(after.mean) < 0.0).all()
    assert after.covariance.sum() == pytest.approx(0.0, abs=1e-6)


def test_worlds_are_drawn_from_the_belief(rated: Path) -> None:
    known = read_together(rated, print)
    n, worlds = len(NAMES), 1_500
    plan = Plan(
        known.belief, known.games, ~np.eye(n, dtype=np.bool_), known.by_name, "best", 1, False,
        0.0, (0, 1),
    )  # fmt: skip
    found = np.array(
        [play_world(plan, "uniform", Streams(2), k, nothing)[0] for k in range(worlds)]
    )
    unsure = unsure_of(known.belief, Streams(1))
    means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / math.sqrt(worlds)
    best = leader_best(known.belief, 0, Streams(1))
    assert abs(means[MEASURES.index("named_best")] - best) <= 4.0 * errors[0]
    assert abs(means[MEASURES.index("misordered")] - unsure.misordered) <= 4.0 * errors[1]
    assert means[MEASURES.index("widest")] == pytest.approx(unsure.widest_error)


def test_games_make_the_goal_known(rated: Path, tmp_path: Path) -> None:
    out = tmp_path / "sim"
    argv = ["next", rated, "--simulate", "--games", 400, "--batch", 40, "--replications", 40]
    done = command(*argv, "--policy", "uniform,information", "--out", out)
    assert done.code == 0
    rows = list(csv.DictReader((out / "simulated.csv").read_text().splitlines()))
    for policy in ("uniform", "information"):
        own = [row for row in rows if row["policy"] == policy]
        assert [int(row["games"]) for row in own] == list(range(0, 401, 40))
        widest = [float(row["widest"]) for row in own]
        assert sorted(widest, reverse=True) == widest
        assert float(own[-1]["named_best"]) > float(own[0]["named_best"])
        assert float(own[-1]["misordered"]) < float(own[0]["misordered"])
    first = [row for row in rows if row["games"] == "0"]
    # All policies have the same worlds.
    assert len({row["misordered"] for row in first}) == 1
    assert "no random sample" in done.out
    again = tmp_path / "again"
    assert command(*argv, "--policy", "uniform,information", "--out", again).code == 0
    assert (again / "simulated.csv").read_bytes() == (out / "simulated.csv").read_bytes()
    document = json.loads(command(*argv, "--policy", "information", "--json").out)
    assert [str(row["widest"]) for row in document["curves"]] == [
        row["widest"] for row in rows if row["policy"] == "information"
    ]
    written = command("plot", out)
    assert written.code == 0
    assert (out / "simulated.png").exists() or list(out.glob("**/simulated.*"))


def test_curves_have_as_many_marks_as_fit(rated: Path) -> None:
    found = valmatch.simulate_next_pairs(rated, "uniform", games=25, batch=10, replications=2)
    assert [row.games for row in found.curves] == [0, 10, 20, 25]
    found = valmatch.simulate_next_pairs(rated, "uniform", games=1000, batch=10, replications=2)
    assert len(found.curves) == MARKS + 1
    assert all(math.isfinite(row.widest_std_error) for row in found.curves)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--games", "10"], "--games: goes with --simulate"),
        (["--replications", "10"], "--replications: goes with --simulate"),
        (["--simulate", "--games", "0"], "allowed: a whole number from 1"),
        (["--simulate", "--policy", "uniform,closenes"], "did you mean closeness?"),
        (["--simulate", "--policy", "uniform,uniform"], "is there twice"),
    ],
)
def test_bad_input_is_refused(rated: Path, tmp_path: Path, arguments: list[str], said: str) -> None:
    done = command("next", rated, *arguments, "--out", tmp_path / "new")
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "new").exists()
    assert command("next", rated, "--out", tmp_path / "pairs", "--batch", 1).code == 0
    refused = command("plot", tmp_path / "pairs")
    assert refused.code == 2
    assert "a folder of `next --simulate`" in refused.err


def test_ratings_do_not_depend_on_the_number_of_threads() -> None:
    n, rng = 200, np.random.default_rng(7)
    games = np.triu(rng.poisson(0.3, (n, n)), 1)
    won = rng.binomial(games, 0.5)
    scores = won + (games - won).T * 1.0
    start = Belief(np.zeros(n), 350.0**2 * (np.eye(n) - 1.0 / n))
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append(update(start, games + games.T, scores, start.mean))
    assert found[0].mean.tobytes() == found[1].mean.tobytes()
    assert found[0].covariance.tobytes() == found[1].covariance.tobytes()
