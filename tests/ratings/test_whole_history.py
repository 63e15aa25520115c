"""Ratings by player and day and their covariance, against a dense twin on small random logs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.oracles import whole_history as plain
from tests.oracles.bradley_terry import Game, Side
from tests.oracles.whole_history import PathWorld
from tests.support.contests import contests_of, random_games
from tests.support.refusals import defined
from valmatch.ratings import whole_history as evidence
from valmatch.ratings.bradley_terry import rating as unmoved
from valmatch.ratings.bradley_terry.contests import Contests, Linked, link
from valmatch.ratings.bradley_terry.fit import POINTS, NoEstimate
from valmatch.ratings.bradley_terry.rating import Estimate, Uncertainty, estimate
from valmatch.ratings.whole_history import PathModel, player_days

N = 6


def model_of(world: PathWorld, draws: str = "") -> PathModel:
    """Return the model of a world."""
    days = player_days(contests_of(world), np.array(world.days))
    return PathModel(
        draws, days=days, drift=world.drift, deviation=world.deviation, mean=world.mean
    )


def linked_games(world: PathWorld) -> tuple[Contests, Linked]:
    """Return the games of a world, and that everybody is rated."""
    contests = contests_of(world)
    return contests, link(contests, contests.weights, np.zeros(0, np.int64), all_rated=True)


def rated(world: PathWorld, draws: str = "") -> Estimate:
    """Rate the players of a world."""
    contests, linked = linked_games(world)
    model = model_of(world, draws)
    return estimate(model.design(contests), model, linked, contests.weights)


def close(values: Any, expected: Any, rtol: float, atol: float = 0.0) -> None:  # noqa: ANN401
    """Compare arrays, none of which may be missing."""
    assert values is not None
    assert expected is not None
    np.testing.assert_allclose(values, expected, rtol=rtol, atol=atol)


def sure_of(world: PathWorld, fitted: Estimate, sandwich: bool) -> Uncertainty:
    """Return how sure an estimate is."""
    return model_of(world).uncertainty(fitted, sandwich, np.random.default_rng(1))


def log(seed: int, games: int = 40, **shape: Any) -> tuple[list[Game], list[int]]:  # noqa: ANN401
    """Return a random log of six players over some days."""
    rng = np.random.default_rng(seed)
    made = random_games(rng, games=games, **shape)
    return made, np.sort(rng.integers(-20, 60, games)).tolist()


WORLDS = {
    "draws": PathWorld(*log(1), davidson=True),
    "halves": PathWorld(*log(2)),
    "coefficients": PathWorld(*log(4, features=2), 2, davidson=True, drift=30.0, deviation=90.0),
    "teams": PathWorld(*log(5, team=3), davidson=True, drift=12.0),
    "orders": PathWorld(*log(6, kinds=(2, 3, 4)), davidson=True, drift=20.0, mean=0.0),
    "orders of teams": PathWorld(*log(7, kinds=(3,), team=2, features=1), 1),
    "hardly any drift": PathWorld(*log(8), davidson=True, drift=0.01),
    "far apart": PathWorld(*log(9, draws=0.0), drift=300.0, deviation=2000.0),
}


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("sandwich", [False, True])
def test_paths_and_covariance_are_those_of_the_dense_twin(name: str, sandwich: bool) -> None:
    world = WORLDS[name]
    expected = plain.solved(world)
    fitted = rated(world, "" if world.davidson else "half")
    n = len(world.states)
    np.testing.assert_allclose(defined(fitted.days), expected.place[:n], atol=1e-6)
    np.testing.assert_allclose(
        fitted.coefficients, expected.place[n : n + world.n_features], atol=1e-6
    )
    if world.davidson:
        assert np.log(fitted.draw_weight) == pytest.approx(expected.place[-1], abs=1e-8)
    assert fitted.fit.terms.value == pytest.approx(expected.log_likelihood, rel=1e-10)
    spread = plain.covariance(world, expected, sandwich)
    sure = sure_of(world, fitted, sandwich)
    errors = np.sqrt(np.diag(spread))
    now, together = plain.on_last_day(world, expected, spread)
    np.testing.assert_allclose(fitted.ratings, now, atol=1e-6)
    loose = 1e-4 if name == "hardly any drift" else 1e-6
    np.testing.assert_allclose(defined(sure.days), errors[:n], rtol=loose)
    np.testing.assert_allclose(
        defined(sure.covariance), together, rtol=loose, atol=loose * together.max()
    )
    np.testing.assert_allclose(sure.std_errors, np.sqrt(np.diag(together)), rtol=loose)
    np.testing.assert_allclose(sure.coefficients, errors[n : n + world.n_features], rtol=1e-6)
    if world.davidson:
        assert sure.log_draw_weight == pytest.approx(errors[-1], rel=1e-6)


@pytest.mark.parametrize("name", ["draws", "coefficients", "orders of teams"])
def test_fronts_and_draws_are_the_whole_inverse(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = WORLDS[name]
    fitted = rated(world, "" if world.davidson else "half")
    exact = sure_of(world, fitted, False)
    monkeypatch.setattr(evidence, "SMALL", 0)
    monkeypatch.setattr("valmatch.ratings.whole_history.BLOCK", 7)
    fronts = sure_of(world, fitted, False)
    monkeypatch.setattr(evidence, "DENSE_COVARIANCE", 0)
    for sandwich in (False, True):
        monkeypatch.setattr(evidence, "DENSE_COVARIANCE", 10_000)
        dense = sure_of(world, fitted, sandwich)
        monkeypatch.setattr(evidence, "DENSE_COVARIANCE", 0)
        solved = sure_of(world, fitted, sandwich)
        assert solved.drawn
        close(solved.covariance, defined(dense.covariance), rtol=1e-5, atol=1e-2)
        close(solved.std_errors, dense.std_errors, rtol=1e-5)
        # 1,000 draws: a relative standard error of .022 for each.
        close(solved.days, dense.days, rtol=0.1)
        close(solved.coefficients, dense.coefficients, rtol=0.1)
        monkeypatch.setattr(evidence, "_MOST_SOLVED", 0)
        assert sure_of(world, fitted, sandwich).covariance is None
        monkeypatch.setattr(evidence, "_MOST_SOLVED", 10**9)
    assert not fronts.drawn
    for values, other in zip(exact[:5], fronts[:5], strict=True):
        close(values, other, rtol=1e-8, atol=1e-6)


def test_without_drift_it_is_bradley_terry_with_a_normal_prior() -> None:
    world = replace(WORLDS["draws"], drift=0.0, deviation=150.0)
    contests, linked = linked_games(world)
    model = unmoved.Model(prior=150.0)
    still = estimate(model.design(contests), model, linked, contests.weights)
    expected = model.uncertainty(still, False, np.random.default_rng(1))
    for drift, far in ((0.0, 1e-7), (1e-3, 1e-2)):
        moved = replace(world, drift=drift)
        fitted = rated(moved)
        sure = sure_of(moved, fitted, False)
        np.testing.assert_allclose(fitted.ratings, still.ratings, atol=1e-6 + far)
        close(sure.covariance, expected.covariance, rtol=1e-7, atol=1e-6 + 100 * far)
        assert defined(sure.days).shape == (len(world.states),)


@pytest.mark.parametrize("name", ["draws", "coefficients", "orders of teams"])
def test_the_evidence_is_that_of_the_dense_twin(name: str) -> None:
    world = WORLDS[name]
    fitted = rated(world, "" if world.davidson else "half")
    expected = plain.log_evidence(world, plain.solved(world))
    assert evidence.log_evidence(model_of(world), fitted) == pytest.approx(expected, abs=1e-7)


def moving(seed: int, drift: float) -> PathWorld:
    """Return a world in which ratings drift."""
    rng = np.random.default_rng(seed)
    paths = np.cumsum(drift * rng.normal(size=(N, 200)), axis=1) + 100.0 * rng.normal(size=(N, 1))
    games, days = [], []
    for day in range(200):
        a, b = rng.permutation(N)[:2]
        won = rng.random() < 1.0 / (1.0 + np.exp(POINTS * (paths[b, day] - paths[a, day])))
        games.append(Game([Side([int(a)], float(won)), Side([int(b)], float(not won))]))
        days.append(day)
    return PathWorld(games, days)


@pytest.mark.slow
@pytest.mark.parametrize("drift", [0.0, 40.0])
def test_the_drift_of_the_greatest_evidence_is_found(drift: float) -> None:
    world = moving(5, drift)
    fitted = evidence.tuned_drift(model_of(world), *linked_games(world))
    if not drift:
        assert fitted.drift < 4.0
    else:
        assert 20.0 < fitted.drift < 80.0
        assert fitted.evidence > fitted.unmoved + 5.0
        for near in (0.95, 1.05):
            other = replace(world, drift=near * fitted.drift)
            assert evidence.log_evidence(model_of(other), rated(other)) < fitted.evidence


def test_the_evidence_of_hardly_any_drift_is_that_of_none() -> None:
    world = WORLDS["draws"]
    none, little = (
        evidence.log_evidence(model_of(values), rated(values))
        for values in (replace(world, drift=0.0), replace(world, drift=1e-3))
    )
    assert little == pytest.approx(none, abs=1e-4)


def test_too_large_a_log_has_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "MOST_WORK_OF_ONE", 10.0)
    with pytest.raises(evidence.TooLarge):
        evidence.log_evidence(model_of(WORLDS["draws"]), rated(WORLDS["draws"]))


def test_covariates_that_are_the_same_are_not_told_apart() -> None:
    games, days = log(4, features=1)
    for game in games:
        for side in game.sides:
            side.features = [*side.features, 2.0 * side.features[0]]
    with pytest.raises(NoEstimate) as caught:
        rated(PathWorld(games, days, 2, davidson=True))
    assert not caught.value.separated
    n = len(PathWorld(games, days).states)
    assert set(caught.value.parameters.tolist()) == {n, n + 1}


@pytest.mark.slow
def test_half_of_the_intervals_of_days_that_ought_to_hold_the_truth_do() -> None:
    """Intervals of 50 % of simulated paths, by the standard error of the share over worlds."""
    shares = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        day, days, games = 0, [], []
        paths = 150.0 * rng.normal(size=N)
        truth = {}
        for _ in range(80):
            step = int(rng.integers(0, 4))
            day += step
            paths = paths + 25.0 * np.sqrt(step) * rng.normal(size=N)
            a, b = rng.permutation(N)[:2].tolist()
            won = rng.random() < 1.0 / (1.0 + np.exp(POINTS * (paths[b] - paths[a])))
            games.append(Game([Side([a], float(won)), Side([b], float(not won))]))
            days.append(day)
            truth[a, day], truth[b, day] = paths[a], paths[b]
        world = PathWorld(games, days, drift=25.0, deviation=150.0)
        fitted = rated(world)
        sure = sure_of(world, fitted, False)
        true = np.array([truth[state] for state in world.states])
        true = true - true[world.first].mean() + world.mean
        held = np.abs(defined(fitted.days) - true) <= 0.6744898 * defined(sure.days)
        shares.append(held.mean())
    error = np.std(shares, ddof=1) / np.sqrt(len(shares))
    assert abs(np.mean(shares) - 0.5) < 3.0 * error
