"""``valmatch fit``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from valmatch.cli.console import warn
from valmatch.cli.log_options import (
    Columns,
    LogSeparator,
    MaxBadRows,
    SkipBadRows,
    SortRows,
    log_levels,
)
from valmatch.cli.parameters import Overrides, path


def fit(
    log: Annotated[
        Path, typer.Argument(parser=path("log"), metavar="LOG.csv", help="A queue log.")
    ],
    columns: Columns = "",
    separator: LogSeparator = None,
    skip_bad_rows: SkipBadRows = False,
    max_bad_rows: MaxBadRows = None,
    sort_rows: SortRows = False,
    overrides: Overrides = [],  # noqa: B006
) -> None:
    """Print a config whose random arrivals are like those of a queue log.

    Hourly rates by maximum likelihood, ratings by a smooth quantile function; factors that are
    --set stay in it. Other than the log, days of it differ, so that intervals speak of more than
    one history.
    """
    from valmatch.config.loading import load
    from valmatch.config.writing import document
    from valmatch.models.valorant.factors import ValorantFactors
    from valmatch.models.valorant.fitting import fit_arrivals
    from valmatch.models.valorant.queue_log import read_queue_log

    given = [f"arrivals={json.dumps(str(log))}", *overrides]
    levels = log_levels(columns, separator, skip_bad_rows, max_bad_rows, sort_rows)
    factors = load({"model": "valorant"}, given, levels).factors
    assert isinstance(factors, ValorantFactors)
    found = read_queue_log(log, factors.log, factors.multiplier_matrix, None)
    for remark in found.remarks:
        warn(remark)
    made = fit_arrivals(found.players)
    players = found.players.times.size
    head = f"Fitted to {log.name}: {players:,} players in {made.hours:,} hours."
    fitted = {
        "poisson_rate": made.rates,
        "horizon": len(made.rates),
        "rating_quantiles": made.quantiles,
    }
    others = factors.model_dump(mode="json", exclude_unset=True)
    others = {name: value for name, value in others.items() if name not in (*fitted, "log")}
    sys.stdout.write(document(head, "valorant", {**fitted, **others}))
