"""Points of problems as SimOpt's solvers simulate them, and the same replications without it."""

from __future__ import annotations

from mrg32k3a.mrg32k3a import MRG32k3a
from simopt.base import Problem, Solution

from valmatch.config.config import Config
from valmatch.execution.chunks import build, run
from valmatch.simopt import replication_index


def stream(subsubstream: int = 0) -> MRG32k3a:
    return MRG32k3a(s_ss_sss_index=[3, 0, subsubstream])


def simulated(problem: Problem, x: tuple[float, ...], n: int = 5) -> Solution:
    """Simulate a point as SimOpt's solvers do."""
    solution = Solution(x, problem)
    solution.attach_rngs([stream()])
    problem.simulate(solution, n)
    return solution


def ours(config: Config, n: int) -> dict[str, list[float]]:
    """Run the same replications without SimOpt."""
    model = build(config)
    values = run(model, 0, [replication_index(stream(k)) for k in range(n)]).responses
    return {r.name: v.tolist() for r, v in zip(model.responses, values.T, strict=True)}
