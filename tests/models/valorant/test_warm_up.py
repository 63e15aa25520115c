"""Hours at the start of a run that are simulated and not counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.support.command import valmatch
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, run
from valmatch.experiments.replicate import replicate
from valmatch.experiments.simulate import simulate

MEASURED = ["measure=[differences, pairs, elo, fairness, bands, hours]"]


def test_hours_without_players_change_nothing_but_the_time() -> None:
    """A day whose first hours nobody comes in, with and without counting them."""
    rates = f"poisson_rate={[0.0] * 5 + [30.0] * 19}"
    for further in ([], ["patience_minutes=20"]):
        whole = build(load_config("valorant", [rates, *MEASURED, *further]))
        late = build(load_config("valorant", [rates, *MEASURED, *further, "warm_up=5"]))
        expected, found = (run(model, 1, range(3)).responses for model in (whole, late))
        names = whole.responses.names
        queue = names.index("avg_queue_length")
        expected[:, queue] *= 24.0 / 19.0
        empty = [names.index(f"avg_queue_length.{hour}-{hour + 1}h") for hour in range(5)]
        assert np.isnan(found[:, empty]).all()
        found[:, empty] = expected[:, empty]
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.slow
def test_a_queue_in_its_equilibrium_is_that_of_theory() -> None:
    """One against one, arrivals at rate a, patience at rate t: a / (2a + t) players wait."""
    arrivals, rate = 6.0, 1.0
    config = load_config(
        "valorant",
        {
            "matching": "fifo",
            "team_num": 1,
            "patience_minutes": 60,
            "warm_up": 8,
            "poisson_rate": [arrivals] * 24,
        },
    )
    found = replicate(config, 1000).estimates["avg_queue_length"]
    expected = arrivals / (2 * arrivals + rate)
    assert found.mean == pytest.approx(expected, abs=4 * (found.std_error or 0))


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        (["warm_up=24"], "warm_up: 24 hours leave nothing of the horizon of 24 hours"),
        (["warm_up=-1"], "warm_up"),
        (["warm_up=1.5"], "warm_up"),
        (["warm_up=2", "num_players=50"], "the day ends with the last of num_players"),
    ],
)
def test_nothing_to_count_is_refused(factors: list[str], says: str) -> None:
    sets = [word for factor in factors for word in ("--set", factor)]
    done = valmatch("simulate", "valorant", *sets)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert says in done.err


def test_a_log_is_longer_than_its_warm_up(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arrival_hours,rating\n" + "".join(f"{k / 4},1500\n" for k in range(40)))
    how = ("simulate", "valorant", "--set", f"arrivals={path}", "--set", "team_num=1")
    assert valmatch(*how, "--set", "warm_up=9").code == 0
    refused = valmatch(*how, "--set", "warm_up=10", "--set", "horizon=null")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "factors.warm_up: 10 hours leave nothing of a log of 9.75 hours" in refused.err


@pytest.mark.slow
def test_a_fitted_day_begins_with_the_queue_of_the_day_before(tmp_path: Path) -> None:
    """Where few come, the empty queue of midnight would be a large part of the day."""
    rng = np.random.default_rng(3)
    times = np.sort(rng.uniform(0.0, 24.0 * 60, 60 * 60))
    path = tmp_path / "log.csv"
    path.write_text("arrival_hours,rating\n" + "".join(f"{t!r},1500\n" for t in times.tolist()))
    made = valmatch("fit", path, "--set", "team_num=10")
    factors = yaml.safe_load(made.out)["factors"]
    assert (factors["horizon"], factors["warm_up"], len(factors["poisson_rate"])) == (48, 24, 48)
    assert factors["poisson_rate"][:24] == factors["poisson_rate"][24:]
    fitted = tmp_path / "fitted.yaml"
    fitted.write_text(made.out)
    found = replicate(fitted, 400).estimates["avg_queue_length"]
    day = simulate(load_config("valorant", [f"arrivals={path}", "team_num=10", "horizon=1440"]))
    of_log, error = day.summary()["responses"]["avg_queue_length"], found.std_error or 0
    assert found.mean == pytest.approx(of_log, abs=4 * error * (1 + 400 / 60) ** 0.5)
    empty = replicate(load_config(fitted, ["warm_up=0", "horizon=24"]), 400).estimates
    assert (empty["avg_queue_length"].mean or 0) < (found.mean or 0) - 10 * error
