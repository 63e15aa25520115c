"""``valmatch fit``."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from valmatch.cli.console import warn
from valmatch.cli.options import ConfigOptions, command, needed
from valmatch.errors import InputError, option
from valmatch.inputs import options as o

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.kernels.arrays import Bools, Ints
    from valmatch.models.valorant.fitting import Days
    from valmatch.models.valorant.queue_log import QueueLog

SECTIONS = ("replicate", "optimize", "design")
"""What a fitted config takes over from the config that names the log."""


@dataclass(frozen=True)
class FitOptions(ConfigOptions):
    """Which days a config is fitted to."""

    days: str | None = o.one_of(
        ("weekdays", "weekends"),
        None,
        "Fit to weekdays alone (Mondays to Fridays), or to weekends.",
    )


@command(speaks=())
def fit(
    log: Annotated[
        Path,
        needed(
            "A queue log, or a config that names one: its rule and its problem are kept.",
            "LOG.csv|CONFIG.yaml",
        ),
    ],
    options: FitOptions,
) -> None:
    """Print a config whose random arrivals are like those of a queue log.

    Hourly rates by maximum likelihood, ratings by a smooth quantile function; factors that are
    --set stay in it. Other than the log, days of it differ, so that intervals speak of more than
    one history. Where a log is no such process, with a trend or with days that differ more, that
    is said.
    """
    from valmatch.config.writing import document
    from valmatch.models.valorant.factors import ValorantFactors
    from valmatch.models.valorant.fitting import days_of, fit_arrivals, hourly_counts, remarks_on
    from valmatch.models.valorant.queue_log import DAY, read_queue_log

    overrides = list(options.overrides)
    config = _config(log, overrides, options.levels(str(log)))
    factors, log = config.factors, config.files["arrivals"].path
    assert isinstance(factors, ValorantFactors)
    queue_log = read_queue_log(log, factors.log, factors.multiplier_matrix, None)
    players, midnight = queue_log.players, queue_log.midnight
    for remark in queue_log.remarks:
        warn(remark)
    if players.departures.size and factors.patience_minutes is None:
        warn(
            f"{log}: how long players wait before they give up is not fitted: in the printed config"
            " nobody does (--set patience_minutes=30 keeps a mean of your own)"
        )
    days = _days(queue_log, options.days, log)
    for remark in remarks_on(hourly_counts(players.times, days, midnight)):
        warn(f"{log}: {remark}")
    arrivals = fit_arrivals(players, days, midnight)
    of = f" of its {options.days}" if options.days else ""
    count = int(days(days_of(players.times, midnight)).sum())
    head = f"Fitted to {log.name}: {count:,} players in {arrivals.hours:,} hours{of}."
    # A day that begins with the queue of the day before.
    days_long = 2 if len(arrivals.rates) == DAY else 1
    fitted: dict[str, Any] = {
        "poisson_rate": arrivals.rates * days_long,
        "horizon": len(arrivals.rates) * days_long,
        "warm_up": len(arrivals.rates) * (days_long - 1),
        "rating_quantiles": arrivals.quantiles,
    }
    kept = _kept_factors(config, fitted.keys(), overrides)
    sys.stdout.write(document(head, "valorant", {**fitted, **kept}, **_sections(config)))


def _config(source: Path, overrides: list[str], levels: list[tuple[str, str]]) -> Config:
    """Return the config that names the log, or that a log is put into."""
    from valmatch.config.loading import load_config, shipped_configs

    name = str(source)
    is_file = source.is_file() or name not in shipped_configs()
    if source.suffix not in (".yaml", ".yml") and is_file:
        arrivals = f"arrivals={json.dumps(name)}"
        return load_config({"model": "valorant"}, [arrivals, *overrides], levels)
    config = load_config(name, overrides, levels)
    if config.model != "valorant" or "arrivals" not in config.files:
        raise InputError(
            f"{source}: names no queue log (allowed: a config of the model valorant with arrivals,"
            " or a log)"
        )
    return config


def _days(log: QueueLog, kind: str | None, path: Path) -> Days:
    """Return which days of a log to fit to, of which there is one."""
    from valmatch.models.valorant.fitting import all_days, days_of

    if kind is None:
        return all_days
    if log.midnight is None:
        raise InputError(
            f"{path}: {option('days')}: the log has hours, which are of no weekday (allowed: with"
            " date-times, or seconds since 1970, as arrival_hours)"
        )
    first = log.midnight.weekday()

    def of_kind(days: Ints) -> Bools:
        weekend: Bools = (days + first) % 7 >= 5
        return weekend if kind == "weekends" else ~weekend

    if not of_kind(days_of(log.players.times, log.midnight)).any():
        raise InputError(f"{path}: {option('days')}: nobody arrives at {kind}")
    return of_kind


def _kept_factors(config: Config, fitted: Collection[str], overrides: list[str]) -> dict[str, Any]:
    """Return the factors that stay: those of the rule, and all that are overridden."""
    from valmatch.config.factor_paths import parts
    from valmatch.models.valorant.model import ValorantModel

    keys = [override.partition("=")[0].removeprefix("factors.") for override in overrides]
    overridden = {str(parts(key)[0]) for key in keys if key}
    of_arrivals = ValorantModel.drawn_by | {"multiplier_matrix"}
    out = {*fitted, "log"} | (of_arrivals - {"patience_minutes", *overridden})
    values = config.factors.model_dump(mode="json", exclude_unset=True, exclude=out)
    if "measure" in values:  # fitted days are of no week
        values["measure"] = [group for group in values["measure"] if group != "weekdays"]
    return values


def _sections(config: Config) -> dict[str, Any]:
    """Return the sections of options that the config has, but those that speak of weekdays."""
    from valmatch.models.valorant.measures import WEEKDAYS
    from valmatch.statistics.no_interval import listed

    sections, gone = {}, [response.name for response in WEEKDAYS]
    for name in SECTIONS:
        values = getattr(config, name).model_dump(mode="json", exclude_none=True)
        values = {key: value for key, value in values.items() if value not in ({}, [])}
        text = json.dumps(values)
        if lost := [response for response in gone if f'"{response}' in text]:
            why = f"it asks for {listed(lost)}, and fitted days are of no week"
            warn(f"section {name} left out: {why}")
        elif values:
            sections[name] = values
    return sections
