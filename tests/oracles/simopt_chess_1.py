"""SimOpt's own CHESS-1, replication by replication; needs the extra `simopt`."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import NamedTuple

from mrg32k3a.mrg32k3a import MRG32k3a
from simopt.models.chessmm import ChessMatchmaking

from tests.oracles.chess_1 import chess_1


class Replication(NamedTuple):
    """What a replication draws, and what comes of it; times in minutes."""

    ratings: list[float]
    gaps: list[int]
    avg_diff: float
    """As SimOpt gives it."""
    avg_wait_time: float
    """As simoptlib 1.2.4 gives it."""
    mended_wait: float
    """As SimOpt's later code gives it."""


def simopt_model(allowable_diff: float, elo_sd: float) -> ChessMatchmaking:
    """Return SimOpt's model; all other factors are its defaults."""
    return ChessMatchmaking({"allowable_diff": allowable_diff, "elo_sd": elo_sd})


def simopt_streams(index: int) -> list[MRG32k3a]:
    """Return the streams of a replication: one for the ratings, one for the gaps."""
    return [MRG32k3a(s_ss_sss_index=[stream, 0, index]) for stream in (0, 1)]


def simopt_responses(model: ChessMatchmaking, streams: list[MRG32k3a]) -> tuple[float, float]:
    """Run a replication of SimOpt's model; return its avg_diff and avg_wait_time."""
    model.before_replicate(streams)
    responses, _ = model.replicate()
    return float(responses["avg_diff"]), float(responses["avg_wait_time"])


def simopt_replication(model: ChessMatchmaking, index: int) -> Replication:
    """Run a replication of SimOpt's model, with the wait of the later code besides."""
    diff, wait = simopt_responses(model, simopt_streams(index))
    # The same streams give the same players again.
    model.before_replicate(simopt_streams(index))
    factors = model.factors
    count, moments = factors["num_players"], (factors["elo_mean"], factors["elo_sd"])
    ratings = [model.elo_model.random(*moments, 0, 2400) for _ in range(count)]
    gaps = [model.arrival_model.random(factors["poisson_rate"]) for _ in range(count)]
    hours = [minutes / 60.0 for minutes in accumulate(gaps)]
    again, mended = chess_1(hours, ratings, factors["allowable_diff"])
    if not math.isclose(again, diff, rel_tol=1e-12):
        raise RuntimeError(f"SimOpt's avg_diff is {diff}, that of the same players {again}")
    return Replication(ratings, gaps, diff, wait, mended)
