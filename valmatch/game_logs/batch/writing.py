"""The files of a rating of a whole log."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from valmatch.game_logs.batch.options import MOST_LISTED
from valmatch.game_logs.batch.posterior_file import POSTERIOR, write_posterior
from valmatch.game_logs.batch.result import (
    BatchRating,
    BootstrapRow,
    CoefficientRow,
    DayRow,
    DifferenceRow,
    PlayerRow,
    Posterior,
    columns_of,
    superiority_of,
)
from valmatch.game_logs.rated_players import RATINGS
from valmatch.game_logs.writing.folder import SUMMARY
from valmatch.storage.output import cell, to_json, write_atomically, write_csv
from valmatch.storage.run_folder import RunFolder

DIFFERENCES, SUPERIORITY = "differences.csv", "superiority.csv"
COEFFICIENTS, BOOTSTRAP = "coefficients.csv", "bootstrap.csv"
DAYS = "days.csv"

_AT_ONCE = 10_000  # rows that are held


def write_batch(folder: RunFolder, found: BatchRating, every: bool) -> None:
    """Write all files of a rating, and close its folder."""
    tables: dict[str, tuple[type[Any], Sequence[Any]]] = {
        RATINGS: (PlayerRow, found.players),
        COEFFICIENTS: (CoefficientRow, found.coefficients),
    }
    if found.bootstrap:
        tables[BOOTSTRAP] = (BootstrapRow, found.bootstrap)
    if found.days:
        tables[DAYS] = (DayRow, found.days)
    for name, (kind, rows) in tables.items():
        write_csv(folder.path / name, columns_of(kind, rows))
    posterior = found.posterior
    if posterior.covariance is not None:
        write_posterior(folder.path / POSTERIOR, posterior)
        if len(posterior.names) <= MOST_LISTED or every:
            _write_differences(folder, found)
            _write_superiority(folder, posterior)
    with write_atomically(folder.path / SUMMARY) as file:
        file.write(to_json(found.summary()))
    folder.close("complete")


def _write_lines(path: Any, header: Iterable[str], rows: Iterable[Sequence[object]]) -> None:  # noqa: ANN401
    with write_atomically(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(cell, header))
        left = iter(rows)
        while some := list(islice(left, _AT_ONCE)):
            writer.writerows([cell(value) for value in row] for row in some)


def _write_differences(folder: RunFolder, found: BatchRating) -> None:
    rows = found.posterior.differences(found.facts["quantile"], found.facts["critical"])
    _write_lines(folder.path / DIFFERENCES, DifferenceRow._fields, rows)


def _write_superiority(folder: RunFolder, posterior: Posterior) -> None:
    """Write how likely the player of each row is stronger than that of each column."""
    covariance = posterior.covariance
    assert covariance is not None
    own = np.diag(covariance)

    def rows() -> Iterable[Sequence[object]]:
        for k, name in enumerate(posterior.names):
            leads = posterior.mean[k] - posterior.mean
            errors = np.sqrt(np.maximum(own[k] + own - 2.0 * covariance[k], 0.0))
            yield [name, *np.round(superiority_of(leads, errors), 9).tolist()]

    _write_lines(folder.path / SUPERIORITY, ["player", *posterior.names], rows())
