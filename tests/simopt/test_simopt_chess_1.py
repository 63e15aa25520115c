"""The config `chess-1` against simoptlib's own CHESS-1: the same players, and the means."""

from __future__ import annotations

import math
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest

from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, run

pytest.importorskip("simopt", reason="needs the extra `simopt`")

from simopt.models.chessmm import ChessAvgDifference

from tests.oracles.simopt_chess_1 import Replication, simopt_model, simopt_replication

RESPONSES = ("avg_team_diff", "avg_wait_time_all")
N = 200


def wait_of_1_2_4(replication: Replication, allowable_diff: float) -> float:
    """Return the wait of simoptlib 1.2.4, whose fault this shows.

    A gap is added for those only who are asked in vain before a match is found: neither for the
    player who is met nor for those who wait behind that player.
    """
    waiting: list[float] = []
    total = 0
    for rating, gap in zip(replication.ratings, replication.gaps, strict=True):
        for index, other in enumerate(waiting):
            if abs(rating - other) <= allowable_diff:
                del waiting[index]
                break
            total += gap
        else:
            waiting.append(rating)
    return total / len(replication.ratings)


def test_the_problem_is_that_of_simopt() -> None:
    theirs, ours = ChessAvgDifference(), load_config("chess-1")
    model, factors = theirs.model.factors, ours.factors.model_dump()
    variable = ours.optimize.variables["team_diff"]
    assert (theirs.lower_bounds, theirs.upper_bounds) == ((variable.low,), (variable.high,))
    assert theirs.factors["initial_solution"] == (variable.start,)
    assert theirs.factors["budget"] == ours.optimize.budget
    assert theirs.factors["upper_time"] == ours.optimize.constraints["upper_time"].at_most
    assert model["allowable_diff"] == factors["team_diff"]
    assert model["num_players"] == factors["num_players"]
    assert model["poisson_rate"] == factors["poisson_rate"][0] / 60
    assert model["elo_mean"] == factors["mean_matrix"][0]
    assert model["elo_sd"] == pytest.approx(math.sqrt(factors["cov_matrix"][0][0]), rel=1e-12)


@pytest.mark.parametrize("diff", [50.0, 150.0])
def test_the_same_players_give_the_same(diff: float, tmp_path: Path) -> None:
    replication = simopt_replication(simopt_model(diff, 515.8), 0)
    assert replication.avg_wait_time == pytest.approx(wait_of_1_2_4(replication, diff), rel=1e-12)
    assert replication.avg_wait_time < replication.mended_wait
    path = tmp_path / "players.csv"
    rows = zip(accumulate(replication.gaps), replication.ratings, strict=True)
    path.write_text(
        "arrival_hours,rating\n" + "".join(f"{t / 60!r},{rating!r}\n" for t, rating in rows)
    )
    model = build(load_config("chess-1", [f"arrivals={path}", f"team_diff={diff}"]))
    names = [response.name for response in model.responses]
    responses = run(model, 1, [0]).responses[0, [names.index(name) for name in RESPONSES]]
    assert responses.tolist() == pytest.approx(
        [replication.avg_diff, replication.mended_wait], rel=1e-12
    )


@pytest.mark.parametrize(("diff", "sd"), [(50.0, 515.8), (150.0, 515.8), (150.0, 200.0)])
def test_means_are_those_of_simopt(diff: float, sd: float) -> None:
    theirs_model = simopt_model(diff, sd)
    replications = [simopt_replication(theirs_model, k) for k in range(N)]
    theirs = np.array(
        [(replication.avg_diff, replication.mended_wait) for replication in replications]
    )
    model = build(load_config("chess-1", [f"team_diff={diff}", f"cov_matrix.0.0={sd * sd!r}"]))
    names = [response.name for response in model.responses]
    ours = run(model, 1, range(N)).responses[:, [names.index(name) for name in RESPONSES]]
    error = np.sqrt((ours.var(axis=0, ddof=1) + theirs.var(axis=0, ddof=1)) / N)
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= 4 * error).all()
