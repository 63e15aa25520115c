"""Configs fitted to a queue log: hourly rates, the quantile function of ratings."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import valmatch as library
from tests.support.command import valmatch
from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.models.valorant.arrivals import ArrivingPlayers, QuantileArrivals, QuantileFunction
from valmatch.models.valorant.factors import ValorantFactors
from valmatch.models.valorant.fitting import fit_arrivals

SKEWED = tuple(
    (float(p), float(1000 + 100 * math.exp(ndtri(p)))) for p in ndtr(np.linspace(-2, 2, 9))
)


def test_a_quantile_function_goes_through_its_points_and_never_falls() -> None:
    function = QuantileFunction(SKEWED)
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


def test_equal_quantiles_give_equal_ratings() -> None:
    function = QuantileFunction([(0.1, 5.0), (0.5, 7.0), (0.6, 7.0), (0.9, 8.0)])
    assert set(function(np.linspace(float(ndtri(0.5)), float(ndtri(0.6)), 20)).tolist()) == {7.0}


def test_drawn_ratings_have_the_distribution_and_arrivals_are_as_before() -> None:
    process = QuantileArrivals([2000.0] * 4, 4.0, SKEWED)
    chunks = list(process.chunks(Streams(3), 0, 1000))
    ratings = np.concatenate([chunk.ratings for chunk in chunks])
    for p, value in SKEWED:
        error = math.sqrt(p * (1 - p) / ratings.size)
        assert abs((ratings <= value).mean() - p) <= 4 * error
    assert all(chunk.vectors.shape == (0, 3) for chunk in chunks)
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


@pytest.mark.parametrize(
    "quantiles", [[[0.1, 1]], [[0, 1], [1, 2]], [[0.5, 1], [0.5, 2]], [[0.1, 3], [0.9, 2]], [0.5]]
)
def test_bad_quantiles_are_refused(quantiles: list[object]) -> None:
    with pytest.raises(InputError, match="rating_quantiles"):
        library.load_config("valorant", {"rating_quantiles": quantiles})


def test_control_variates_are_not_known_of_other_distributions() -> None:
    made = valmatch(
        "replicate", "valorant", "--set", f"rating_quantiles={[list(one) for one in SKEWED]}",
        "--control-variates", "-n", "3",
    )  # fmt: skip
    assert made.code == 2
    assert "has none with these arrivals" in made.err
