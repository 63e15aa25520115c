"""The ladder's kernels on hundreds of random ladders, and against an independent program."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.models.ladder.test_ladder import equals_the_plain_ladder
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, run

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "ladder_reference.json").read_text()
)["configurations"]

REPLICATIONS = 200


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("matching", ["team_first", "joint", "pairs"])
def test_equals_the_plain_ladder(matching: str, seed: int) -> None:
    happened = equals_the_plain_ladder(matching, 100 + seed, 25)
    assert min(happened[kind] for kind in ("queue", "match", "end", "give up", "drop")) > 5


@pytest.mark.parametrize("name", REFERENCE)
def test_every_response_is_within_four_standard_errors(name: str) -> None:
    known = REFERENCE[name]
    model = build(load_config(known["config"]))
    # With one seed all would have the same players, and so miss together.
    values = run(model, list(REFERENCE).index(name), range(REPLICATIONS)).responses
    misses = []
    for response, expected in {**known["responses"], **known["joined"]}.items():
        mine = values[:, model.responses.names.index(response)]
        mine = mine[~np.isnan(mine)]
        if expected is None:
            assert not mine.size, response
            continue
        own = float(mine.std(ddof=1)) / math.sqrt(mine.size)
        error = math.hypot(own, expected["std_error"])
        print(f"{name} {response}: {mine.mean():.5g}, {expected['mean']:.5g}, error {error:.2g}")
        if abs(mine.mean() - expected["mean"]) > 4 * error + 1e-9:
            misses.append(response)
    assert not misses
