"""The plain ladder against known values of every response, from an independent program."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.oracles.ladder import factors_with, play
from tests.oracles.ladder_measures import responses

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "ladder_reference.json").read_text()
)["configurations"]

REPLICATIONS = 10
"""Too few to tell their own standard error by: it is that of as many of the reference."""


@pytest.mark.parametrize("name", REFERENCE)
def test_every_response_is_within_four_standard_errors(name: str) -> None:
    known = REFERENCE[name]
    factors = factors_with(known["config"]["factors"])
    # With one seed all would have the same players, and so miss together.
    seed = list(REFERENCE).index(name)
    rows = [responses(play(factors, seed, k, brute=False)) for k in range(REPLICATIONS)]
    misses = []
    for response, expected in {**known["responses"], **known["joined"]}.items():
        values = [row[response] for row in rows if row[response] is not None]
        if expected is None:
            assert not values, response
            continue
        mean = np.mean(values)  # type: ignore[arg-type]
        error = math.hypot(expected["std"] / math.sqrt(len(values)), expected["std_error"])
        print(f"{name} {response}: {mean:.5g}, {expected['mean']:.5g}, error {error:.2g}")
        if abs(mean - expected["mean"]) > 4 * error + 1e-9:
            misses.append(response)
    assert not misses
