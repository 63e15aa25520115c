"""``valmatch fit``."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from valmatch.cli.console import warn
from valmatch.cli.options import ConfigOptions, command
from valmatch.errors import InputError, option
from valmatch.inputs import options as o

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.kernels.arrays import Bools, Ints
    from valmatch.models.valorant.fitting import Days
    from valmatch.models.valorant.queue_log import QueueLog

CONFIGS = (".yaml", ".yml")  # suffixes of configs

SECTIONS = ("replicate", "optimize", "design")
"""What a fitted config takes over from the config that names the log."""


DAY_KINDS = ("weekdays", "weekends")  # days of a dated log


@dataclass(frozen=True)
class FitOptions(ConfigOptions):
    """Which days a config is fitted to."""

    days: str | None = o.one_of(
        DAY_KINDS, None, "Fit to weekdays alone (Mondays to Fridays), or to weekends."
    )


@command(speaks=())
def fit(
    log: Annotated[
        Path,
        o.path(
            "A queue log, or a config that names one: its rule and its problem are kept.",
            "LOG.csv|CONFIG.yaml",
            argument=True,
            value=MISSING,
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

    overrides, days = list(options.overrides), options.days
    config = _config(log, overrides, options.levels(str(log)))
    factors, log = config.factors, config.files["arrivals"].path
    assert isinstance(factors, ValorantFactors)
    found = read_queue_log(log, factors.log, factors.multiplier_matrix, None)
    for remark in found.remarks:
        warn(remark)
    if found.players.departures.size and factors.patience_minutes is None:
        warn(
            f"{log}: how long players wait before they give up is not fitted: in the printed config"
            " nobody does (--set patience_minutes=30 keeps a mean of your own)"
        )
    kept = _days(found, days, log)
    for remark in remarks_on(hourly_counts(found.players.times, kept, found.midnight)):
        warn(f"{log}: {remark}")
    made = fit_arrivals(found.players, kept, found.midnight)
    of = f" of its {days}" if days else ""
    players = int(kept(days_of(found.players.times, found.midnight)).sum())
    head = f"Fitted to {log.name}: {players:,} players in {made.hours:,} hours{of}."
    # A day that begins with the queue of the day before.
    days_long = 2 if len(made.rates) == DAY else 1
    fitted: dict[str, Any] = {
        "poisson_rate": made.rates * days_long,
        "horizon": len(made.rates) * days_long,
        "warm_up": len(made.rates) * (days_long - 1),
        "rating_quantiles": made.quantiles,
    }
    others = _rule(config, {*fitted}, overrides)
    text = document(head, "valorant", {**fitted, **others}, **_sections(config))
    sys.stdout.write(text)


def _config(source: Path, overrides: list[str], levels: list[tuple[str, str]]) -> Config:
    """Return the config that names the log, or that a log is put into."""
    from valmatch.config.loading import load_config, shipped_configs

    name = str(source)
    if source.suffix not in CONFIGS and (source.is_file() or name not in shipped_configs()):
        given = [f"arrivals={json.dumps(name)}", *overrides]
        return load_config({"model": "valorant"}, given, levels)
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

    def kept(days: Ints) -> Bools:
        weekend: Bools = (days + first) % 7 >= 5
        return weekend if kind == "weekends" else ~weekend

    if not kept(days_of(log.players.times, log.midnight)).any():
        raise InputError(f"{path}: {option('days')}: nobody arrives at {kind}")
    return kept


def _rule(config: Config, fitted: Collection[str], overrides: list[str]) -> dict[str, Any]:
    """Return the factors that stay: those of the rule, and all that are overridden."""
    from valmatch.config.factor_paths import parts
    from valmatch.models.valorant.model import ValorantModel

    keys = [override.partition("=")[0].removeprefix("factors.") for override in overrides]
    given = {str(parts(key)[0]) for key in keys if key}
    of_arrivals = (ValorantModel.drawn_by | {"multiplier_matrix"}) - {"patience_minutes", *given}
    values = config.factors.model_dump(mode="json", exclude_unset=True)
    out = {*fitted, "log"} | of_arrivals
    if "measure" in values:  # fitted days are of no week
        values["measure"] = [group for group in values["measure"] if group != "weekdays"]
    return {name: value for name, value in values.items() if name not in out}


def _sections(config: Config) -> dict[str, Any]:
    """Return the sections of options that the config has, as they are written.

    What they say of weekdays is left out, as fitted days are of none, and that is said.
    """
    from valmatch.models.valorant.measures import weekday_responses
    from valmatch.statistics.no_interval import listed

    found, gone = {}, {response.name for response in weekday_responses()}
    for name in SECTIONS:
        values = getattr(config, name).model_dump(mode="json", exclude_none=True)
        if values := {key: value for key, value in values.items() if value not in ({}, [])}:
            found[name], lost = _without(values, gone)
            if name == "optimize" and lost and not found[name].get("objective"):
                del found[name]
                warn(
                    f"section optimize left out: its objective is {listed(lost)}, and fitted days"
                    " are of no week"
                )
            elif lost:
                warn(f"section {name}: {listed(lost)} left out: fitted days are of no week")
    return found


def _without(values: dict[str, Any], gone: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """Return a section without what it says of some responses, and of which it says something."""
    left: dict[str, Any] = {}
    lost: list[str] = []
    for key, value in values.items():
        response = value.get("response", key) if isinstance(value, dict) else key
        if response in gone:
            lost.append(response)
        elif isinstance(value, dict):
            left[key], further = _without(value, gone)
            lost += further
        elif key == "target":
            named = {target: target.partition("=")[0].strip() for target in value}
            left[key] = [target for target in value if named[target] not in gone]
            lost += [name for name in named.values() if name in gone]
        else:
            left[key] = value
    return left, lost
