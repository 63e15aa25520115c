"""Searches that keep no model of the problem."""

import math
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.solvers.search import Request, Scales, SearchTask, Steps, first_looks

EvaluateRequest: TypeAlias = Callable[[Request], Floats]


class _Stopped(BaseException):
    """Unwinds the minimiser; not an Exception, so that the minimiser does not catch it."""


def inverted(minimise: Callable[[EvaluateRequest], None]) -> Steps:
    """Run `minimise(evaluate)` in a thread and yield what it evaluates."""
    # The thread and the caller take strict turns, so that the result is deterministic. Closing or
    # dropping the generator stops the thread: it always waits for a reply or runs to its next
    # evaluation, where the stop is.
    requests: SimpleQueue[Request | BaseException | None] = SimpleQueue()
    replies: SimpleQueue[Floats | None] = SimpleQueue()

    def evaluate(request: Request) -> Floats:
        requests.put(request)
        reply = replies.get()
        if reply is None:
            raise _Stopped
        return reply

    def run() -> None:
        try:
            minimise(evaluate)
        except _Stopped:
            pass
        except BaseException as error:
            requests.put(error)
        else:
            requests.put(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while (request := requests.get()) is not None:
            if isinstance(request, BaseException):
                raise request
            replies.put((yield request))
    finally:
        replies.put(None)
        thread.join()


RADIUS, FINEST = 0.2, 0.02  # of the rounds of local searches: the first one, and the finest

# Exponents of the gains of SPSA and the share of the iterations that stabilises them: Spall (1998),
# "Implementation of the simultaneous perturbation algorithm", section III.
ALPHA, GAMMA, STABILITY = 0.602, 0.101, 0.1
PERTURBATION = FIRST_STEP = 0.1

STEP = 0.2  # the first one of CMA-ES

# Minimises from a point within a radius; asks for the outcomes of points.
Local: TypeAlias = Callable[[Callable[[Floats], Floats], Floats, float, Scales], None]


def random_search(task: SearchTask) -> Steps:
    """Evaluate the start and today's rule, then random solutions."""
    n = task.replications()
    for unit in task.problem.baselines.values():
        yield Request(unit, n)
    while True:
        yield Request(task.problem.random_solution(task.rng), n)


def simplex(
    evaluate: Callable[[Floats], Floats], start: Floats, radius: float, scales: Scales
) -> None:
    """Run the simplex of Nelder and Mead, as implemented in scipy."""
    from scipy.optimize import minimize

    # Each vertex steps towards the middle of the cube, where there is room.
    steps = np.where(start < 0.5, radius, -radius)
    minimize(
        lambda unit: scales.penalised(evaluate(unit)),
        start,
        method="Nelder-Mead",
        bounds=[(0.0, 1.0)] * len(start),
        options={
            "initial_simplex": np.vstack([start, start + np.diag(steps)]),
            "xatol": FINEST / 2,
            "fatol": np.inf,
            "maxfev": 40 * len(start),
        },
    )


def trust_region(
    evaluate: Callable[[Floats], Floats], start: Floats, radius: float, scales: Scales
) -> None:
    """Run COBYQA, as implemented in scipy, with the constraints as they are."""
    from scipy.optimize import NonlinearConstraint, minimize

    known: dict[bytes, Floats] = {}

    def scaled(unit: Floats) -> Floats:
        key = unit.tobytes()
        if key not in known:
            known[key] = scales.scaled(evaluate(unit))
        return known[key]

    count = len(scales.unit) - 1
    bounded = NonlinearConstraint(lambda unit: scaled(unit)[1:], [-math.inf] * count, 0.0)
    minimize(
        lambda unit: scaled(unit)[0],
        start,
        method="COBYQA",
        bounds=[(0.0, 1.0)] * len(start),
        constraints=[bounded] if count else [],
        options={
            "initial_tr_radius": radius,
            "final_tr_radius": FINEST / 2,
            "maxfev": 40 * len(start),
        },
    )


def rounds(task: SearchTask, local: Local) -> Steps:
    """Search around the best of the first points, again and finer, with more replications."""
    # Where evaluations are exact, more replications show nothing: once a search is as fine as it
    # gets, the next one starts from a random point.
    n = task.replications()
    yield from first_looks(task, n)
    scales = Scales(task.archive)

    def minimise(evaluate: EvaluateRequest) -> None:
        def outcomes(unit: Floats) -> Floats:
            return evaluate(Request(np.clip(unit, 0.0, 1.0), count))

        count, radius, first = n, RADIUS, 0
        while True:
            estimates = task.archive.estimates()
            estimates = estimates.take(range(first, len(estimates.units)))
            local(outcomes, estimates.units[estimates.ranking()[0]], radius, scales)
            if task.exact and radius == FINEST:
                evaluate(Request(task.rng.random(task.dimensions), n))
                count, radius, first = n, RADIUS, len(task.archive) - 1
            else:
                count, radius = 2 * count, max(FINEST, radius / 2)

    yield from inverted(minimise)


nelder_mead, cobyqa = partial(rounds, local=simplex), partial(rounds, local=trust_region)


def spsa(task: SearchTask) -> Steps:
    """Follow gradients estimated from pairs of points on opposite sides of the current one."""
    # The first step moves each coordinate by `FIRST_STEP` on average; steps shrink from there.
    n = task.replications()
    yield from first_looks(task, n)
    scales = Scales(task.archive)
    estimates = task.archive.estimates()
    unit = estimates.units[estimates.ranking()[0]]
    iterations = max(1, task.left // (3 * n))
    stability = STABILITY * iterations
    gain = 0.0
    for k in range(iterations):
        width = PERTURBATION / (k + 1) ** GAMMA
        signs = task.rng.choice([-1.0, 1.0], task.dimensions)
        values = []
        for side in (1.0, -1.0):
            outcomes = yield Request(np.clip(unit + side * width * signs, 0.0, 1.0), n)
            values.append(scales.penalised(outcomes))
        slope = (values[0] - values[1]) / (2 * width)
        if gain == 0.0 and slope != 0.0:
            gain = FIRST_STEP / abs(slope) * (k + 1 + stability) ** ALPHA
        step = gain / (k + 1 + stability) ** ALPHA * slope * signs
        unit = np.clip(unit - np.clip(step, -FIRST_STEP, FIRST_STEP), 0.0, 1.0)
        yield Request(unit, n)


def cma_es(task: SearchTask) -> Steps:
    """Run CMA-ES, as implemented in cmaes, again with twice the replications once it converges."""
    from cmaes import CMA

    n = task.replications()
    yield from first_looks(task, n)
    scales = Scales(task.archive)
    # The strategy needs two dimensions; a second one that does nothing serves a single variable.
    dimensions = max(2, task.dimensions)
    while True:
        estimates = task.archive.estimates()
        best = estimates.units[estimates.ranking()[0]]
        strategy = CMA(
            mean=np.resize(best, dimensions),
            sigma=STEP,
            bounds=np.tile([0.0, 1.0], (dimensions, 1)),
            seed=int(task.rng.integers(2**31)),
        )
        while not strategy.should_stop():
            generation = []
            for _ in range(strategy.population_size):
                unit = strategy.ask()
                outcomes = yield Request(unit[: task.dimensions], n)
                generation.append((unit, scales.penalised(outcomes)))
            strategy.tell(generation)
        n *= 2
