"""Resamples of a queue log, block by block."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import valmatch as library
from valmatch.errors import InputError
from valmatch.models.valorant.log_factors import LogFactors
from valmatch.models.valorant.queue_log import read_queue_log
from valmatch.models.valorant.resampling import BlockResampling
from valmatch.simulator import build, record
from valmatch.statistics.estimates import t_quantile
from valmatch.statistics.sampling import Resampled
from valmatch.streams import Streams


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log of four days; a rating tells the hour of the log in which it stands."""
    times = np.sort(np.random.default_rng(4).uniform(0.0, 96.0, 500))
    rows = [f"p{k},{t!r},{1000.0 + math.floor(t)!r}\n" for k, t in enumerate(times.tolist())]
    path = tmp_path / "log.csv"
    path.write_text("player,arrival_hours,rating\n" + "".join(rows))
    return path


RULES = {"team_num": 2, "player_diff": 1e6, "team_diff": 1e6}


def factors(log: Path, hours: int, **more: object) -> dict[str, object]:
    blocks = {"log.resample": "block", "log.block_hours": hours}
    return {"arrivals": str(log), **blocks, **RULES, **more}


@pytest.mark.parametrize("hours", [1, 5, 6, 24, 48])
def test_blocks_stay_whole_and_at_their_hour_of_the_day(hours: int, log: Path) -> None:
    read = read_queue_log(log, LogFactors.model_validate({}), (1, 1, 1), None)
    resampling = BlockResampling(read, hours, None, log)
    assert resampling.horizon == 96.0
    seen = set()
    for replication in range(20):
        players, rows = resampling.draw(Streams(1), replication)
        assert (np.diff(players.times) >= 0.0).all()
        assert (players.ratings == read.players.ratings[rows]).all()
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


def test_blocks_depend_on_seed_and_replication_alone(log: Path) -> None:
    config = library.load("valorant", factors(log, 6))
    other = library.load("valorant", factors(log, 6, wait_thresh=1, review="continuous"))
    for replication in (0, 3):
        one = library.simulate(config, 2, replication)["players"]
        two = library.simulate(other, 2, replication)["players"]
        assert one["player"].tolist() == two["player"].tolist()
        assert one["arrival_hours"].tolist() == two["arrival_hours"].tolist()
    rows = library.replicate(config, 4, 2).values
    assert record(build(config), 2, 3).responses.tobytes() == rows[3].tobytes()
    assert len({row.tobytes() for row in rows}) == 4


def test_the_interval_is_that_of_the_log(log: Path) -> None:
    config = library.load("valorant", factors(log, 24))
    itself = library.replicate(config, 1).estimates["avg_wait_time"]
    assert itself.std is itself.ci_low is None
    plain = library.load("valorant", {"arrivals": str(log), **RULES})
    assert library.replicate(plain, 1).estimates["avg_wait_time"].mean == itself.mean
    runs = [library.replicate(config, n) for n in (50, 200)]
    resamples = runs[0]["avg_wait_time"][1:]
    few, many = (one.estimates["avg_wait_time"] for one in runs)
    assert few.std == pytest.approx(float(resamples.std(ddof=1)), rel=1e-12)
    for one in (few, many):
        assert one.mean == itself.mean
        assert one.mean is not None
        assert one.std is not None
        assert one.ci_high is not None
        half = t_quantile(0.975, 3) * one.std * (4 / 3) ** 0.5
        assert one.ci_high - one.mean == pytest.approx(half, rel=1e-12)
    assert few.half_width is not None
    assert many.half_width is not None
    assert many.half_width > 0.7 * few.half_width  # it does not shrink with n
    compared = library.compare(config, library.load("valorant", factors(log, 24, team_num=3)), 20)
    difference = compared.comparisons["avg_wait_time"].difference
    assert difference.std is not None
    half = t_quantile(0.975, 3) * difference.std * (4 / 3) ** 0.5
    assert difference.half_width == pytest.approx(half, rel=1e-12)
    # The difference is that on the log itself, which is replication 0.
    own = compared.b["avg_wait_time"][0] - compared.a["avg_wait_time"][0]
    assert difference.mean == pytest.approx(own, rel=1e-12)


def test_without_the_log_itself_the_resamples_stand_for_it() -> None:
    values = np.random.default_rng(1).normal(size=30)
    values[0] = 7.0
    of = Resampled(candidates=5.0, degrees=4.0)
    known = of.estimate(values, 0.9, range(30))
    half = t_quantile(0.95, 4) * values[1:].std(ddof=1) * (5 / 4) ** 0.5
    assert (known.mean, known.n) == (7.0, 30)
    assert known.half_width == pytest.approx(half, rel=1e-12)
    for replications in ((), range(100, 130)):
        assert of.estimate(values, 0.9, replications).mean == pytest.approx(values.mean())
    values[0] = np.nan
    undefined = of.estimate(values, 0.9, range(30))
    assert undefined.mean == pytest.approx(values[1:].mean())
    assert undefined.undefined == 1
    alone = of.estimate(values[:2] + 1.0, 0.9, (3, 0))
    assert alone.mean is not None
    assert alone.ci_low is None


@pytest.mark.parametrize(("rows", "hours"), [(500, 72), (100, 1), (100, 24)])
def test_one_way_to_put_blocks_together_is_none(rows: int, hours: int, log: Path) -> None:
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[: 1 + rows]))
    with pytest.raises(InputError, match=r"log\.csv: factors\.log\.resample: blocks of"):
        build(library.load("valorant", factors(log, hours)))
