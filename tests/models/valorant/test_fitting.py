"""Configs fitted to a queue log, and what is said of logs that are no Poisson process."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.special import ndtr, ndtri

import valmatch as library
from tests.support.command import valmatch
from tests.support.log_inference import coverage, fit_errors
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.models.valorant.arrivals import ArrivingPlayers, quantile_arrivals, quantile_function
from valmatch.models.valorant.factors import ValorantFactors
from valmatch.models.valorant.fitting import (
    LEVEL,
    HourlyCounts,
    daily_trend,
    dispersion_of_days,
    dispersion_of_hours,
    fit_arrivals,
    remarks_on,
)

SKEWED = tuple(
    (float(p), float(1000 + 100 * math.exp(ndtri(p)))) for p in ndtr(np.linspace(-2, 2, 9))
)


def test_a_quantile_function_goes_through_its_points_and_never_falls() -> None:
    function = quantile_function(SKEWED)
    at = ndtri([p for p, _ in SKEWED])
    np.testing.assert_allclose(function(at), [value for _, value in SKEWED], rtol=1e-12)
    grid = function(np.linspace(-8.0, 8.0, 4001))
    assert (np.diff(grid) >= 0.0).all()
    # Smooth: no step in the slope at the points.
    slopes = [(function(at + h) - function(at)) / h for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(slopes[0][1:-1], slopes[1][1:-1], rtol=1e-4)
    # Beyond the outer points a straight line.
    tail = np.diff(function(np.array([3.0, 4.0, 5.0])))
    assert tail[0] == pytest.approx(tail[1])


def test_drawn_ratings_have_the_distribution_and_arrivals_are_as_before() -> None:
    players = quantile_arrivals([2000.0] * 4, 4.0, SKEWED).players(Streams(3), 0)
    ratings = players.ratings
    for p, value in SKEWED:
        error = math.sqrt(p * (1 - p) / ratings.size)
        assert abs((ratings <= value).mean() - p) <= 4 * error
    assert players.vectors.shape == (0, 3)
    config = {"model": "valorant", "factors": {"poisson_rate": [50] * 4, "horizon": 4}}
    plain = library.simulate(config)["players"]["arrival_hours"]
    config["factors"]["rating_quantiles"] = SKEWED  # type: ignore[index]
    fitted = library.simulate(config)["players"]
    assert fitted["arrival_hours"].tolist() == plain.tolist()
    assert np.isnan(fitted["elo"]).all()


def test_rates_are_those_of_maximum_likelihood() -> None:
    # Two days from 22:00 on: hours 22 and 23 are there twice, 5 to 21 once, 0 to 4 twice.
    times = np.array([22.5, 22.6, 23.5, 24.1, 30.2, 46.9, 47.0, 48.3, 52.5])
    found = fit_arrivals(ArrivingPlayers(times, np.arange(9.0), np.empty((0, 3))))
    assert found.hours == 31
    known = [found.rates[hour] for hour in (22, 23, 0, 4, 6)]
    assert (known, len(found.rates)) == ([1.5, 1.0, 1.0, 0.5, 1.0], 24)
    assert sum(found.rates[7:22]) == 0.0


def test_a_fitted_config_runs_and_is_like_the_log(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    times = np.sort(rng.uniform(0.0, 96.0, 4000))
    ratings = 1000.0 + 100.0 * np.exp(rng.normal(size=4000))
    rows = zip(times.tolist(), ratings.tolist(), strict=True)
    path = tmp_path / "log.csv"
    path.write_text("t;mmr\n" + "".join(f"{t!r};{r!r}\n" for t, r in rows))
    made = valmatch(
        "fit", path, "--columns", "arrival_hours=t,rating=mmr", "--separator", "semicolon",
        "--set", "team_num=3",
    )  # fmt: skip
    assert made.code == 0, made.err
    assert made.out.startswith("# Fitted to log.csv: 4,000 players in 96 hours.\n\nmodel: valorant")
    mine = tmp_path / "mine.yaml"
    mine.write_text(made.out)
    config = library.load_config(mine)
    assert isinstance(config.factors, ValorantFactors)
    assert config.factors.team_num == 3
    assert sum(config.factors.poisson_rate) == pytest.approx(2000.0)  # two days, one counts
    players = np.concatenate(
        [library.simulate(config, replication=k)["players"]["rating"] for k in range(4)]
    )
    for p in (0.01, 0.1, 0.5, 0.9, 0.99, 0.998):
        error = math.sqrt(p * (1 - p) * (1 / players.size + 1 / ratings.size))
        assert abs((players <= np.quantile(ratings, p)).mean() - p) <= 4 * error


RATES = 3.0 + 2.5 * np.sin(np.arange(24) * math.pi / 12.0)


def log(rng: np.random.Generator, days: int, factors: Floats | None = None) -> HourlyCounts:
    """Return the counts of a log whose days have these factors before their rates."""
    rates = np.outer(np.ones(days) if factors is None else factors, RATES).ravel()
    return HourlyCounts(np.arange(24 * days), rng.poisson(rates))


def test_of_a_poisson_process_little_is_said() -> None:
    """At most as often as the level says, each: by standard error."""
    rng = np.random.default_rng(1)
    said = np.zeros(3)
    runs = 1000
    for _ in range(runs):
        counts = log(rng, int(rng.integers(7, 40)))
        trend = daily_trend(counts)
        assert trend is not None
        hours, days = dispersion_of_hours(counts), dispersion_of_days(counts)
        assert hours is not None
        assert days is not None
        said += [not trend.low <= 0.0 <= trend.high, hours.beyond_noise, days.beyond_noise]
    assert (said / runs < LEVEL + 4 * math.sqrt(LEVEL / runs)).all(), said
    assert said.sum() > 0


def test_intervals_of_the_trend_hold_it() -> None:
    rng, runs, held = np.random.default_rng(2), 600, 0
    for _ in range(runs):
        days = np.arange(21.0)
        wild = rng.gamma(8.0, 1 / 8.0, days.size)  # days vary more than a Poisson process
        trend = daily_trend(log(rng, 21, (1.0 + 0.02 * (days - days.mean())) * wild))
        assert trend is not None
        held += trend.low <= 0.02 <= trend.high
    assert held / runs > 1.0 - LEVEL - 4 * math.sqrt(LEVEL / runs)


def test_scattered_days_are_measured() -> None:
    """Days of gamma factors of variance v have 1 + v m times the variance, of mean m."""
    rng, runs, variance = np.random.default_rng(3), 300, 0.05
    found = []
    for _ in range(runs):
        counts = log(rng, 28, rng.gamma(1 / variance, variance, 28))
        days = dispersion_of_days(counts)
        assert days is not None
        found.append(days.ratio)
    mean, error = np.mean(found), np.std(found) / math.sqrt(runs)
    assert abs(mean - (1.0 + variance * RATES.sum())) < 4 * error
    (remark,) = remarks_on(log(rng, 28, rng.gamma(1 / variance, variance, 28)))
    assert "of a day" in remark


def write(folder: Path) -> Path:
    """Write a dated log of four weeks, of which weekends have twice the players."""
    rng = np.random.default_rng(6)
    start = np.datetime64("2026-03-02T00:00:00")  # a Monday
    rows = ["joined,mmr"]
    for day in range(28):
        rate = RATES.sum() * (2.0 if day % 7 >= 5 else 1.0)
        times = np.sort(rng.uniform(0.0, 86400.0, rng.poisson(rate)))
        rows += [f"{start + np.timedelta64(day * 86400 + int(t), 's')}Z,1500" for t in times]
    path = folder / "log.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_weekdays_and_weekends_are_fitted_apart(tmp_path: Path) -> None:
    path = write(tmp_path)
    how = ("fit", path, "--columns", "arrival_hours=joined,rating=mmr")
    whole = valmatch(*how)
    assert "that of a Poisson process" in " ".join(whole.err.split())
    sums = {}
    for kind, days in (("weekdays", 20), ("weekends", 8)):
        made = valmatch(*how, "--days", kind)
        assert made.code == 0, made.err
        assert "Poisson process" not in made.err
        assert f"players in {24 * days} hours of its {kind}" in made.out
        sums[kind] = sum(yaml.safe_load(made.out)["factors"]["poisson_rate"])
    assert sums["weekends"] / sums["weekdays"] == pytest.approx(2.0, abs=0.2)
    undated = tmp_path / "hours.csv"
    undated.write_text("arrival_hours,rating\n1,1500\n2,1500\n")
    refused = valmatch("fit", undated, "--days", "weekdays")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "--days: the log has hours" in refused.err


def test_what_a_config_says_of_weekdays_is_left_out(tmp_path: Path) -> None:
    write(tmp_path)
    mine, fitted = tmp_path / "mine.yaml", tmp_path / "fitted.yaml"
    mine.write_text(
        "model: valorant\narrivals: log.csv\nfactors:\n  team_num: 2\n  measure: [weekdays]\n"
        "  log: {columns: {arrival_hours: joined, rating: mmr}}\n"
        "replicate:\n  n: 3\n  target: [avg_wait_time.saturday=9, avg_wait_time=9]\n"
        "optimize:\n  variables: {player_diff: {low: 50, high: 300}}\n"
        "  objective: {it: {response: avg_wait_time}}\n"
        "  constraints: {own: {response: avg_wait_time.sunday, at_most: 90}}\n"
    )
    made = valmatch("fit", mine)
    assert made.code == 0, made.err
    assert not {"replicate", "optimize"} & {*yaml.safe_load(made.out)}
    assert "section replicate left out: it asks for avg_wait_time.saturday" in made.err
    assert "section optimize left out: it asks for avg_wait_time.sunday" in made.err
    fitted.write_text(made.out)
    assert valmatch("replicate", fitted, "-n", "2", "--quiet").code == 0


def test_a_config_keeps_its_rule_and_its_problem(tmp_path: Path) -> None:
    write(tmp_path)
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "model: valorant\narrivals: log.csv\n"
        "factors:\n  team_num: 2\n  player_diff: 150\n  rate_multiplier: 3\n"
        "  patience_minutes: 20\n  measure: [hours, weekdays]\n"
        "  log: {columns: {arrival_hours: joined, rating: mmr}}\n"
        "optimize:\n  variables: {player_diff: {low: 50, high: 300}}\n"
        "  objective: {wait: {response: avg_wait_time}}\n"
        "replicate: {n: 7}\n"
    )
    made = valmatch("fit", mine, "--set", "team_diff=90")
    assert made.code == 0, made.err
    found = yaml.safe_load(made.out)
    factors = found["factors"]
    kept = {name: factors[name] for name in ("team_num", "player_diff", "team_diff")}
    assert kept == {"team_num": 2, "player_diff": 150, "team_diff": 90}
    assert factors["patience_minutes"] == 20
    assert factors["measure"] == ["hours"]  # random days are of no week
    assert not {"rate_multiplier", "log"} & factors.keys()
    fitted = tmp_path / "fitted.yaml"
    fitted.write_text(made.out)
    done = valmatch("replicate", fitted, "--json")
    assert done.code == 0, done.err
    assert found["optimize"]["variables"]["player_diff"]["high"] == 300


@pytest.mark.slow
def test_intervals_of_resamples_cover_the_true_mean(tmp_path: Path) -> None:
    names = ("avg_wait_time", "avg_team_diff", "n_players")
    found = coverage(tmp_path, names, days=14, logs=16, resamples=20)
    assert all(share >= 0.68 for share in found.values()), found  # 11 of 16 at least


@pytest.mark.slow
def test_a_fitted_config_reproduces_every_response(tmp_path: Path) -> None:
    found = fit_errors(tmp_path, days=60, n=400)
    assert max(map(abs, found.values())) <= 4.0, found
