"""What intervals and fits say of logs that are drawn from a known process."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from scipy.special import ndtr

from valmatch.config.config import Config
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, record, run
from valmatch.experiments.replicate import replicate
from valmatch.models.valorant.fitting import fit_arrivals
from valmatch.models.valorant.log_factors import LogFactors
from valmatch.models.valorant.queue_log import read_queue_log
from valmatch.statistics.estimates import estimate

PROFILE = [6.0, 3.0, 2.0, 2.0, 3.0, 6.0, 10.0, 14.0, 16.0, 16.0, 16.0, 16.0] * 2

SKEWED = [(float(ndtr(z)), 1000.0 + 250.0 * math.exp(0.6 * z)) for z in np.linspace(-2, 2, 9)]

RULES = {"team_num": 2, "player_diff": 150, "team_diff": 100, "wait_thresh": 0.25}


def process(days: int) -> Config:
    """Return the config that logs of so many days are drawn from."""
    drawn = {"poisson_rate": PROFILE * days, "horizon": 24 * days, "rating_quantiles": SKEWED}
    return load_config({"model": "valorant", "factors": {**RULES, **drawn}})


def write_log(path: Path, days: int, seed: int) -> None:
    """Write the arrivals of a replication as a log."""
    players = record(build(process(days)), seed, 0).tables[0].columns
    rows = zip(players["arrival_hours"].tolist(), players["rating"].tolist(), strict=True)
    path.write_text("arrival_hours,rating\n" + "".join(f"{t!r},{r!r}\n" for t, r in rows))


def coverage(
    folder: Path, responses: tuple[str, ...], days: int, logs: int, resamples: int
) -> dict[str, float]:
    """Return in which share of logs the interval of their resamples holds the true mean."""
    model = build(process(days))
    truth = dict(zip(model.responses.names, run(model, 10**6, range(300)).responses.T, strict=True))
    held = dict.fromkeys(responses, 0)
    for seed in range(logs):
        path = folder / f"{seed}.csv"
        write_log(path, days, seed)
        how = {"log": {"resample": "block"}, "horizon": 24.0 * days}
        config = {"model": "valorant", "arrivals": str(path), "factors": {**RULES, **how}}
        found = replicate(config, resamples, seed).estimates
        for name in responses:
            low, high = found[name].ci_low, found[name].ci_high
            assert low is not None
            assert high is not None
            held[name] += bool(low <= truth[name].mean() <= high)
        path.unlink()
    return {name: count / logs for name, count in held.items()}


def fit_errors(folder: Path, days: int, n: int) -> dict[str, float]:
    """Return by how many standard errors, of log and runs, a fitted config misses means."""
    path = folder / "log.csv"
    write_log(path, days, 5)
    made = fit_arrivals(
        read_queue_log(path, LogFactors.model_validate({}), (1.0, 1.0, 1.0), None).players
    )
    drawn = {"poisson_rate": made.rates, "rating_quantiles": made.quantiles}
    fitted = load_config({"model": "valorant", "factors": {**RULES, **drawn}})
    one, other = (build(config) for config in (process(1), fitted))
    errors = {}
    columns = (run(model, seed, range(n)).responses.T for seed, model in ((1, one), (2, other)))
    for name, true, like in zip(one.responses.names, *columns, strict=True):
        first, second = estimate(true), estimate(like)
        assert first.mean is not None
        assert second.mean is not None
        spread = float(np.nanstd(true)) * math.sqrt(2.0 / n + 1.0 / days)
        errors[name] = (second.mean - first.mean) / spread
    return errors
