"""Merging the exact sums of folders that keep no rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from valmatch.config.config import Config
from valmatch.errors import InputError
from valmatch.execution.simulator import run
from valmatch.experiments.combine_held import Held
from valmatch.experiments.replication_ranges import ReplicationRanges
from valmatch.models.model import Model
from valmatch.statistics.curve_sums import CurveSums
from valmatch.statistics.exact_sums import ColumnSums
from valmatch.storage.curve_file import read_sums
from valmatch.storage.store import sum_format
from valmatch.storage.sum_file import SumFormat, read_sum_file

Warn = Callable[[str], None]


class MergedSums(NamedTuple):
    """The sums of several folders together."""

    over: ReplicationRanges  # the replications that they are over
    sums: ColumnSums  # the sums
    parts: dict[Path, Sequence[range]]  # the folders whose sums count, with their replications


class _Found(NamedTuple):
    """What a folder holds."""

    folder: Path
    sums: ColumnSums
    over: Sequence[range]


def merge_sums(folders: Sequence[Path], form: SumFormat) -> MergedSums:
    """Return the sums of folders, of which those that repeat others count once."""
    merged = MergedSums(ReplicationRanges(), ColumnSums.zeros(len(form.names)), {})
    seen: dict[tuple[range, ...], _Found] = {}
    found = [_Found(folder, *read_sum_file(folder, form)) for folder in folders]
    # The largest first: what it holds of the others need not be taken apart.
    for one in sorted(found, key=lambda one: -one.sums.n):
        same = seen.setdefault(tuple(one.over), one)
        if same.sums != one.sums:
            raise InputError(
                f"{same.folder} and {one.folder}: contradict each other on the same replications;"
                " one of them was changed, or made by another version"
            )
        known = sum(map(merged.over.common, one.over))
        if known not in (0, one.sums.n):
            raise InputError(
                f"{one.folder}: {known:,} of its {one.sums.n:,} replications are in other folders,"
                " too, and sums cannot be taken apart; leave it out, or the others"
            )
        if not known and one.sums.n:
            for part in one.over:
                merged.over.add(part)
            merged.sums.merge(one.sums)
            merged.parts[one.folder] = one.over
    return merged


def curves_of_sums(
    parts: dict[Path, Sequence[range]], model: Model[object], seed: int, warn: Warn
) -> CurveSums:
    """Return the sums of curves over the replications of folders; what they lack is simulated."""
    assert model.axes
    total = CurveSums.zeros(model.axes.shape)
    for folder, wanted in parts.items():
        curves, over = read_sums(folder, model.axes.shape, warn)
        if list(over) != list(wanted):
            warn(f"{folder}: its curves are simulated again: its run was killed")
            batch = run(model, seed, sorted(chain.from_iterable(wanted)))
            assert batch.curves is not None
            curves = batch.curves
        total.merge(curves)
    return total


def held_sums(
    folders: Sequence[Path],
    config: Config,
    seed: int,
    model: Model[object],
    *,
    curves: bool,
    warn: Warn,
) -> Held:
    """Return the replications of folders with sums."""
    merged = merge_sums(folders, sum_format(config, seed, model))
    return Held(
        merged.over,
        merged.over,
        merged.over.common,
        np.empty((0, len(model.responses))),
        sums=merged.sums,
        curves=curves_of_sums(merged.parts, model, seed, warn) if curves and model.axes else None,
    )
