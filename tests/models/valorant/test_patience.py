"""Players who give up, and hours that are not counted: theory, draws, logs, tables."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.support.command import valmatch
from valmatch.config.config import Config
from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.execution.chunks import build, run
from valmatch.experiments.replicate import replicate
from valmatch.experiments.simulate import simulate
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.models.valorant.model import ValorantModel

LOG = """\
joined,mmr,account,quit
2026-03-07T18:30:00+01:00,1500,ann,2026-03-07T18:40:00+01:00
2026-03-07T18:35:00+01:00,9000,bob,
2026-03-07T18:50:00+01:00,1500,cy,2026-03-07T19:50:00+01:00
2026-03-07T19:00:00+01:00,1500,dee,2026-03-07T19:05:00+01:00
2026-03-07T22:00:00+01:00,5000,eve,
"""
NAMES = "{arrival_hours: joined, rating: mmr, player: account, left_hours: quit}"
ALONE = ["team_num=1", "player_diff=0", "player_slack=0", "team_diff=10", "team_slack=0"]


def players(config: Config, seed: int, replication: int) -> ArrivingPlayers:
    """Return the players of a day, who may give up."""
    model = build(config)
    assert isinstance(model, ValorantModel)
    return model.draw(Streams(seed), replication)


def test_a_queue_of_one_against_one_is_that_of_theory() -> None:
    """Of arrivals at rate a who give up at rate t, t / (2a + t) do, and as many wait on average."""
    # The day begins with nobody, which is worth less than 2e-4.
    arrivals, mean = 30.0, 20.0
    rate = 60.0 / mean
    expected = {
        "abandoned_fraction": rate / (2 * arrivals + rate),
        "avg_queue_length": arrivals / (2 * arrivals + rate),
        "avg_wait_time_all": 60.0 / (2 * arrivals + rate),
    }
    rule = ("matching=fifo", "team_num=1", f"patience_minutes={mean}")
    config = load_config("valorant", [*rule, f"poisson_rate={[arrivals] * 24}"])
    found = replicate(config, 400).estimates
    for name, value in expected.items():
        error = found[name].std_error
        assert found[name].mean == pytest.approx(value, abs=4 * (error or 0) + 2e-4), name


@pytest.mark.slow
@pytest.mark.long
def test_an_infinitely_patient_queue_is_that_without_patience() -> None:
    for matching in ("team_first", "fifo"):
        usual = load_config("valorant", [f"matching={matching}"])
        patient = load_config("valorant", [f"matching={matching}", "patience_minutes=1e6"])
        expected = run(build(usual), 1, range(3)).responses
        model = build(patient)
        found = run(model, 1, range(3)).responses
        names = model.responses.names
        assert found[:, names.index("abandoned")].max() <= 2
        few = found[:, names.index("abandoned")] == 0
        assert few.any()
        assert np.array_equal(found[few, : expected.shape[1]], expected[few], equal_nan=True)


def test_patience_is_exponential() -> None:
    config = load_config("valorant", ["patience_minutes=30"])
    chunks = [players(config, 1, k) for k in range(20)]
    waits = 60.0 * np.concatenate([chunk.departures - chunk.times for chunk in chunks])
    for power, moment in ((1, 30.0), (2, 2 * 30.0**2)):
        error = np.std(waits**power) / math.sqrt(waits.size)
        assert abs(np.mean(waits**power) - moment) < 4 * error


def write(folder: Path, text: str = LOG) -> Path:
    path = folder / "log.csv"
    path.write_text(text)
    return path


def test_who_leaves_before_a_match_has_left(tmp_path: Path) -> None:
    config = load_config(
        "valorant", [f"arrivals={write(tmp_path)}", f"log.columns={NAMES}", *ALONE]
    )
    day = simulate(config)
    players = day["players"]
    # ann has left before cy comes; cy and dee play, though their times to leave are later.
    assert players["left_hours"][0] == pytest.approx(18 + 40 / 60)
    assert np.isnan(players["left_hours"][1:]).all()
    assert players["player"][players["match"] == 0].tolist() == ["cy", "dee"]
    found = day.summary()["responses"]
    assert (found["abandoned"], found["unmatched"]) == (1, 2)
    assert config.one_history


def test_resamples_keep_how_long_players_wait(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    times = np.sort(rng.uniform(0, 96, 800)).round(4)
    waits = rng.exponential(0.5, 800).round(4)
    rows = "".join(
        f"{t!r},1500,{t + w!r}\n" for t, w in zip(times.tolist(), waits.tolist(), strict=True)
    )
    path = write(tmp_path, "arrival_hours,rating,left_hours\n" + rows)
    config = load_config("valorant", [f"arrivals={path}", "log.resample=block"])
    model, sample = build(config), players(config, 1, 3)
    of_log = {round(float(w), 4) for w in waits}
    assert {round(float(w), 4) for w in sample.departures - sample.times} <= of_log
    assert run(model, 1, range(2)).responses[:, -3].min() > 0


def test_random_patience_on_a_log_is_no_one_history(tmp_path: Path) -> None:
    text = "arrival_hours,rating\n" + "".join(f"{k / 10},1500\n" for k in range(200))
    log = f"arrivals={write(tmp_path, text)}"
    config = load_config("valorant", [log, "patience_minutes=20", "team_num=1"])
    assert not config.one_history
    found = replicate(config, 20).estimates["abandoned"]
    assert found.std
    with pytest.raises(InputError, match=r"patience_minutes.*log\.resample"):
        load_config("valorant", [log, "patience_minutes=20", "log.resample=block"])
    leaving = write(tmp_path, "arrival_hours,rating,left_hours\n0,1500,1\n1,1500,\n")
    with pytest.raises(InputError, match="patience_minutes: the column 'left_hours' says who"):
        build(load_config("valorant", [f"arrivals={leaving}", "patience_minutes=20"]))


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
