"""Resamples of a queue log, block by block."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import valmatch as library
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build
from valmatch.experiments.combine import gather
from valmatch.models.valorant.log_factors import LogFactors
from valmatch.models.valorant.queue_log import BlockResampling, read_queue_log
from valmatch.statistics.estimates import t_quantile
from valmatch.statistics.sampling import Resampled, widening


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log of four days; a rating tells the hour of the log in which it stands."""
    times = np.sort(np.random.default_rng(4).uniform(0.0, 96.0, 500))
    rows = [f"p{k},{t!r},{1000.0 + math.floor(t)!r}\n" for k, t in enumerate(times.tolist())]
    path = tmp_path / "log.csv"
    path.write_text("player,arrival_hours,rating\n" + "".join(rows))
    return path


RULES = {"team_num": 2, "player_diff": 1e6, "team_diff": 1e6}


def factors(log: Path, hours: int | None, **more: object) -> dict[str, object]:
    blocks = {"log.resample": "block", "log.block_hours": hours}
    return {"arrivals": str(log), **blocks, **RULES, **more}


@pytest.mark.parametrize("hours", [1, 5, 6, 24, 48])
def test_blocks_stay_whole_and_at_their_hour_of_the_day(hours: int, log: Path) -> None:
    read = read_queue_log(log, LogFactors.model_validate({}), (1, 1, 1), None)
    resampling = BlockResampling(read, hours, None, log)
    assert resampling.horizon == 96.0
    seen = set()
    for replication in range(20):
        players = resampling.draw(Streams(1), replication)
        assert players.resample is not None
        assert (np.diff(players.times) >= 0.0).all()
        assert (players.ratings == read.players.ratings[players.resample.rows]).all()
        hour = players.ratings - 1000.0
        shifts = np.floor(players.times) - hour
        assert (shifts % 24 == 0).all()
        for block in range(0, 96, hours):
            own = (players.times >= block) & (players.times < block + hours)
            assert len(set(shifts[own])) <= 1
            if own.any():
                origin = block - shifts[own][0]
                length = min(hours, 96 - block)
                there = (read.players.times >= origin) & (read.players.times < origin + length)
                assert there.sum() == own.sum()
        seen.update(shifts.tolist())
    assert min(seen) < 0 < max(seen)


def test_the_interval_is_that_of_the_log(log: Path) -> None:
    config = library.load_config("valorant", factors(log, 24))
    itself = library.replicate(config, 1).estimates["avg_wait_time"]
    assert itself.std is itself.ci_low is None
    plain = library.load_config("valorant", {"arrivals": str(log), **RULES})
    assert library.replicate(plain, 1).estimates["avg_wait_time"].mean == itself.mean
    runs = [library.replicate(config, n) for n in (50, 200)]
    resamples = runs[0]["avg_wait_time"][1:]
    few, many = (one.estimates["avg_wait_time"] for one in runs)
    wider = [widening(one["avg_wait_time"][1:], 0.95) for one in runs]
    assert few.std == pytest.approx(float(resamples.std(ddof=1)), rel=1e-12)
    for one, times in zip((few, many), wider, strict=True):
        assert one.mean == itself.mean
        assert one.mean is not None
        assert one.std is not None
        assert one.ci_high is not None
        half = t_quantile(0.975, 3) * one.std * (4 / 3) ** 0.5 * times
        assert one.ci_high - one.mean == pytest.approx(half, rel=1e-12)
    assert few.half_width is not None
    assert many.half_width is not None
    assert many.half_width > 0.7 * few.half_width  # it does not shrink with n
    compared = library.compare(
        config, library.load_config("valorant", factors(log, 24, team_num=3)), 20
    )
    difference = compared.comparisons["avg_wait_time"].difference
    assert difference.std is not None
    differences = compared.variants[0].run["avg_wait_time"] - compared.base["avg_wait_time"]
    half = t_quantile(0.975, 3) * difference.std * (4 / 3) ** 0.5 * widening(differences[1:], 0.95)
    assert difference.half_width == pytest.approx(half, rel=1e-12)
    # The difference is that on the log itself, which is replication 0.
    assert difference.mean == pytest.approx(differences[0], rel=1e-12)


@pytest.mark.parametrize(
    ("days", "hours", "degrees"),
    [
        (4, 24, 3.0),
        (7, 24, 6.0),
        (8, 48, 8 * 6 / 9 - 1),
        (40, 72, 40 * 9 / 19 - 1),
        (120, 120, 120 * 15 / 51 - 1),
    ],
)
def test_blocks_are_as_long_as_goes_with_the_log(
    days: int, hours: int, degrees: float, tmp_path: Path
) -> None:
    path, times = tmp_path / "log.csv", (0.5 + np.arange(48 * days)) / 2.0
    path.write_text("arrival_hours,rating\n" + "".join(f"{t!r},1000\n" for t in times.tolist()))
    warned: list[str] = []
    model = build(library.load_config("valorant", factors(path, None)), warn=warned.append)
    assert warned == [f"{path}: resampled by blocks of {hours} hours"]
    sampling = model.sampling
    assert isinstance(sampling, Resampled)
    assert sampling.block_hours == hours
    assert sampling.degrees == pytest.approx(degrees, rel=1e-12)
    assert sampling.candidates == pytest.approx(24 * days / hours, rel=1e-12)
    # Given, it is the same, and nothing has to be said.
    given = library.load_config("valorant", factors(path, hours))
    assert build(given, warn=warned.append).sampling == sampling
    assert len(warned) == 1


def test_the_summary_says_how_intervals_are_made(log: Path, tmp_path: Path) -> None:
    config = library.load_config("valorant", factors(log, None))
    library.replicate(config, 9, out=tmp_path / "run")
    said = json.loads((tmp_path / "run" / "summary.json").read_text())["sampling"]
    assert (said["method"], said["block_hours"], said["degrees"]) == ("moving blocks", 24, 3.0)
    assert "widened for their skewness" in said["interval"]
    assert gather([tmp_path / "run"]).result.summary()["sampling"] == said
    for plain in ({"arrivals": str(log), **RULES}, {"horizon": 2}):
        made = library.replicate(library.load_config("valorant", plain), 2)
        assert "sampling" not in made.summary()
