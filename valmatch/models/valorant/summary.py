"""The responses of a day from its sums and waits, in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import inlined, njit
from valmatch.models.valorant.rank_order import order

Struct = Any  # one row of a structured array; the kernels see it as a C struct


QUANTILES = (0.5, 0.9, 0.95, 0.99)  # of the waits of a day


def order_waits(waits: Floats) -> None:
    """Put the waits of a day in order as far as quantiles read them, in place."""
    last = waits.size - 1
    lower = (np.array(QUANTILES) * last).astype(np.int64)
    order(waits, np.unique(np.concatenate([lower, np.minimum(lower + 1, last)])))


@njit
def summarize(state: Records, waits: Floats, players: int, horizon: float, out_: Records) -> None:
    """Turn the sums of a day and its waits in order into its responses, by name."""
    fill_sums(state[0], players, horizon, out_[0])
    _fill_quantiles(waits, out_[0])


@njit
def fill_quantiles(waits: Floats, matched: Ints, out: Records) -> None:
    """Add to the responses of many days what their waits in order say."""
    for day in range(out.size):
        _fill_quantiles(waits[day, : matched[day]], out[day])


@inlined
def fill_sums(sums: Struct, players: int, horizon: float, out: Struct) -> None:
    """Turn the sums of a day into its responses but for those that waits must be sorted for."""
    matches, matched = sums["matches"], sums["matched"]
    all_waits = sums["wait"] + sums["unmatched_wait"]
    out["avg_team_diff"] = _ratio(sums["team_diff"], matches)
    out["avg_player_diff"] = _ratio(sums["player_diff"], 2 * matches)
    out["avg_wait_time"] = _ratio(sums["wait"], matched)
    out["avg_wait_time_all"] = _ratio(all_waits, players)
    out["max_wait_time"] = sums["longest_wait"] if matched > 0 else np.nan
    out["avg_queue_length"] = all_waits / (60.0 * horizon)
    out["matched_fraction"] = _ratio(matched, players)
    out["prioritized_fraction"] = _ratio(sums["prioritized"], players)
    out["n_players"] = players
    out["n_matches"] = matches
    out["unmatched"] = sums["unmatched"]


@inlined
def _fill_quantiles(ordered: Floats, out: Struct) -> None:
    out["wait_p50"] = _quantile(ordered, QUANTILES[0])
    out["wait_p90"] = _quantile(ordered, QUANTILES[1])
    out["wait_p95"] = _quantile(ordered, QUANTILES[2])
    out["wait_p99"] = _quantile(ordered, QUANTILES[3])


@inlined
def _ratio(total: float, count: int) -> float:
    return total / count if count else np.nan


@inlined
def _quantile(ordered: Floats, q: float) -> float:
    """Return a quantile of sorted values, interpolated linearly; NaN without a value."""
    last = ordered.size - 1
    if last < 0:
        return np.nan
    low = int(q * last)
    high = min(low + 1, last)
    return ordered[low] + (ordered[high] - ordered[low]) * (q * last - low)
