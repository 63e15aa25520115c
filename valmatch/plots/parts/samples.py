"""The responses of a run of ``replicate``, with what is known of their means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from valmatch.errors import InputError
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Response
from valmatch.plots.parts.bins import Lattice, lattice_of_shares
from valmatch.plots.parts.source import FileTable, Mean, RunFiles, damaged
from valmatch.statistics.estimates import Estimate, estimate
from valmatch.statistics.rounding import plus_minus

SUMMARY = "summary.json"


class ResponseSample(NamedTuple):
    """A response over the replications."""

    response: Response  # the response
    values: Floats  # its defined values, sorted
    estimate: Estimate  # what they say of the mean
    lattice: Lattice | None  # what they lie on or near, if that is known


def read_samples(
    run: RunFiles, responses: Sequence[Response], most: int | None = None
) -> list[ResponseSample]:
    """Read responses of ``replications.csv``, of which there is one at least."""
    wholes = [response.share_of for response in responses if response.share_of]
    columns = dict.fromkeys([*(r.name for r in responses), *wholes])
    table = run.table("replications.csv", columns, most=most)
    if not len(table):
        why = f" ({run.remark})" if run.remark else ""
        raise InputError(f"{table.path}: holds no replications{why}")
    given = _summarised(run, len(table))
    return [
        _sample(response, table, _confidence(run), given.get(response.name))
        for response in responses
    ]


def fact_of(run: RunFiles, samples: Sequence[ResponseSample]) -> str:
    """Say what is drawn of samples."""
    first = samples[0].estimate
    n = first.n + first.undefined
    made = f"{n:,} replication{'s' * (n != 1)}"
    if all(sample.estimate.half_width is None for sample in samples):
        return f"{made}, no intervals"
    return f"{made}, means with {_confidence(run):.0%} intervals"


def _confidence(run: RunFiles) -> float:
    return run.manifest.confidence or 0.95


def _summarised(run: RunFiles, replications: int) -> dict[str, Mean]:
    """Return the means of the summary by response, if it is of so many replications.

    Only whoever made a run knows what its replications are samples of. A killed run has no summary,
    or that of a shorter one.
    """
    if not (run.folder / SUMMARY).exists():
        return {}
    with damaged(run.folder / SUMMARY):
        found = {name: Mean.of(mean) for name, mean in run.json(SUMMARY)["responses"].items()}
    return {name: mean for name, mean in found.items() if mean.n + mean.undefined == replications}


def _sample(
    response: Response, table: FileTable, confidence: float, given: Mean | None
) -> ResponseSample:
    """Return a response with its estimate: that of the summary where there is one."""
    values = table.numbers[response.name]
    found = estimate(values, confidence)
    if given is not None:
        mean, low, high = (
            None if math.isnan(x) else x for x in (given.mean, given.low, given.high)
        )
        found = replace(found, mean=mean, ci_low=low, ci_high=high)
    return ResponseSample(
        response, np.sort(values[~np.isnan(values)]), found, _lattice(response, table)
    )


def _lattice(response: Response, table: FileTable) -> Lattice | None:
    """Return what whole numbers and shares of them lie on or near."""
    if response.whole:
        return Lattice(0.0, 1.0)
    if not response.share_of:
        return None
    shares, wholes = table.numbers[response.name], table.numbers[response.share_of]
    some = ~np.isnan(shares) & (wholes > 0.0)
    return lattice_of_shares(shares[some], wholes[some]) if some.any() else None


def arms_of(estimate: Estimate) -> tuple[float, float]:
    """Return how far an interval reaches below and above the mean; NaN where there is none."""
    return (math.nan, math.nan) if estimate.arms is None else estimate.arms


def in_words(estimate: Estimate) -> str:
    """Return a mean with its half-width, or with its interval where limits cut that."""
    if estimate.asymmetric and estimate.mean is not None:
        return f"{estimate.mean:.4g}, {estimate.ci_low:.3g} to {estimate.ci_high:.3g}"
    mean = math.nan if estimate.mean is None else estimate.mean
    return plus_minus(mean, math.nan if estimate.half_width is None else estimate.half_width)
