"""Responses of a ladder in which friends queue together: of parties, and of their ratings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Ints
from valmatch.models.ladder.state import LEFT
from valmatch.models.model import NOT_NEGATIVE, SHARE, Part, Response

OF_SIZES = (
    Response("player_share", "", "share of the players of matches", limits=SHARE),
    Response("avg_wait_time", "minutes", "mean wait of matched players", limits=NOT_NEGATIVE),
    Response(
        "abandoned_fraction", "", "share of players whose ticket ended by patience", limits=SHARE
    ),
    Response(
        "win_gap", "", "mean over players of |p - 1/2| of the match, by true skill", limits=(0, 0.5)
    ),
    Response("win_prob", "", "mean over players of the chance to win, by true skill", limits=SHARE),
)
"""What is measured of players by the size of the party that they queue in."""

INFLATION = Response(
    "inflation",
    "points",
    "mean of (rating - the mean of all) - (skill - the mean of all) at the end, of players in"
    " groups of friends of this size",
)
ERROR = Response(
    "rating_error",
    "points",
    "root mean square of (rating - the mean of all) - (skill - the mean of all) at the end, of"
    " players in groups of friends of this size",
    limits=NOT_NEGATIVE,
)
"""What is measured of players by the size of their group of friends."""


def party_responses(largest: int) -> list[Response]:
    """Return the responses where up to so many players queue together; none where nobody does."""
    return list(_responses(largest)) if largest > 1 else []


def _responses(largest: int) -> Iterator[Response]:
    for measure in (*OF_SIZES, INFLATION, ERROR):
        for size in range(1, largest + 1):
            yield Response(
                f"{measure.name}.size_{size}",
                measure.unit,
                f"{measure.meaning}; by size: {size}",
                part=Part(measure.name, "size", f"size_{size}"),
                limits=measure.limits,
            )


def party_measures(
    by_size: NDArray[np.void], players: NDArray[np.void], groups: Ints
) -> dict[str, float]:
    """Return the responses by name; NaN where undefined.

    Shapes: `groups` (players,).
    """
    played, n = by_size["players"], by_size.size
    with np.errstate(invalid="ignore"):
        found = {
            "player_share": played / played.sum(),
            "avg_wait_time": 60.0 * by_size["wait"] / played,
            "abandoned_fraction": by_size["abandoned"] / (played + by_size["abandoned"]),
            "win_gap": by_size["gap"] / played,
            "win_prob": by_size["chance"] / played,
        }
    rated = (players["finished"] > 0) & (players["state"] != LEFT)
    errors = players["mean"][rated] - players["skill"][rated]
    size = np.bincount(groups, minlength=players.size)[groups][rated]
    errors = errors - errors.mean() if errors.size else errors
    of_size = [errors[size == k] for k in range(1, n + 1)]
    means = [own.mean() if own.size else np.nan for own in of_size]
    squares = [np.mean(own**2) if own.size else np.nan for own in of_size]
    found["inflation"], found["rating_error"] = np.array(means), np.sqrt(squares)
    return {
        f"{name}.size_{k}": float(value)
        for name, values in found.items()
        for k, value in enumerate(values, 1)
    }
