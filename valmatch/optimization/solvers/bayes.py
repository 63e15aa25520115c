"""Bayesian optimisation with Gaussian processes of the objective and of every constraint."""

# Where the objective is a sum, each of its terms has a process of its own, as in Astudillo and
# Frazier (2019), "Bayesian optimization of composite functions".

import math
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats
from valmatch.optimization.solvers.gaussian_process import Posterior, fit, posterior
from valmatch.optimization.solvers.search import (
    NEEDED,
    Level,
    NextTest,
    PointEstimates,
    Proposal,
    Request,
    SearchTask,
    Steps,
    first_looks,
    latin_hypercube,
    spread,
)

# Stages that look for improvement: up to which share of the budget, and with how many times the
# replications of a first look. What is left sharpens the picture of the best points.
STAGES = (0.4, 1), (0.7, 3)
POINTS = 500  # first looks of a whole budget, at most: with more points the processes are slow
SHORTER = 2  # times that first looks are shorter than usual, as the processes average over noise

# The final phase: shares of the budget of its first point, which says for all points how the
# replications fell out, and of the start, unless that is seen to violate; first looks of others.
LEVEL, START, SHARPER = 0.1, 0.05, 8
MARGIN = 0.4  # doubts by which the constraints hold at its points

# A search is settled where an improvement is expected of less than this share of what the room for
# a test costs, and the processes know the best point to this share of the error that all points
# have in common; it ends after so many looks in a row that find it settled. Then the final phase
# gets this share of the budget, half of it for its first point, and certification gets the rest.
LITTLE, PRECISE, CALM, SETTLED = 0.02, 0.05, 2, 0.3

# Where good points have this much in common, few replications tell them apart, and a path of tests
# settles what all of them leave open: then later stages have first looks, too, and end at the
# first of these shares of the budget; the final phase gets the second, certification the rest.
ALIKE = 0.99
EARLY, FINAL = 0.6, 0.15

# Room for a test on the scale of -1 where outcomes are defined and 1 where they are not, in place
# of a standard error: with more replications, more points turn out to be undefined.
EDGE = 0.24

CANDIDATES = 400  # per choice: half over the whole cube, half around the best points
CENTRES = 5  # of these
SIZES = -2.2, -0.6  # of moves around them: powers of ten
TESTED = 3  # times as many for a point that is tested
WIDTHS = 0.1, 0.04, 0.016, 0.0064  # of the steps that refine it
MOVED = 0.7  # share of the coordinates that move
DOUBTS = 0.5  # by which its constraints hold

# Hyperparameters: their first values, gradient steps, growth of the data that calls for more.
FIRST_THETA = math.log(0.5), math.log(0.01)
FIRST_STEPS, STEPS, GROWTH = 30, 10, 1.15


def bayes(task: SearchTask) -> Steps:
    """Look where feasible improvement is expected, then sharpen the best points."""
    n = max(1, task.replications() // SHORTER, math.ceil(task.budget / POINTS))
    yield from first_looks(task, n)
    model = Surrogate(task)
    task.propose = model.propose
    for share, longer in STAGES:
        while model.calm < CALM:
            if _alike(task):
                share, longer = min(share, EARLY), 1
            if task.spent + longer * n > share * task.budget:
                break
            unit = model.improving()
            if unit is None or model.calm >= CALM:
                break
            yield Request(unit, longer * n)
    left = task.left
    further = max(SHARPER * n, round(LEVEL * task.budget))
    if model.calm >= CALM:
        left = min(left, round(SETTLED * task.budget))
        further = left // 2
    if _alike(task):
        left = min(left, round(FINAL * task.budget))
        further = min(further, left)
    end, start = task.spent + left, task.archive.estimates().of(task.start)
    if start is not None and (start.means[0, 1:] <= 0.0).all():
        longer = max(len(task.archive.outcomes(task.start)), round(START * task.budget))
        yield Request(task.start, longer)
    while task.spent < end:
        best = model.best(MARGIN)
        known = len(task.archive.outcomes(best))
        yield Request(best, known + min(further, end - task.spent))
        further = SHARPER * n


def _alike(task: SearchTask) -> bool:
    """Return whether next to nothing but their means sets good points apart."""
    noise = task.archive.estimates().noise
    return noise is not None and noise.common >= ALIKE


class Surrogate:
    """What the evaluated points say of all others, in units of spread; see `smooth`."""

    def __init__(self, task: SearchTask, first: int = 0) -> None:
        self._task = task
        self._first = first  # of the points to learn from, beside the start
        self._theta: list[Floats] = []
        self._each: list[Posterior] = []
        self._fitted = 0
        self.calm = 0  # how many choices in a row have found the search settled

    def learn(self) -> None:
        """Condition the processes on all that is known."""
        # Those of outcomes learn from the points where these are defined, if there are any. Where
        # some are not, a further process says where outcomes are defined, like a constraint: -1 at
        # points where they are and 1 at the others.
        known, parts = self.points()
        rows = np.flatnonzero(known.defined if known.defined.any() else known.counts > 0)
        values, scale = smooth(known.take(rows.tolist()), parts[rows])
        noise = known.counts.min() / known.counts
        data = [(known.units[rows], y, noise[rows]) for y in values.T]
        if not known.defined.all():
            # A day that shows a point to be undefined settles it; days that do not leave doubt.
            doubt = np.where(known.defined, noise, noise.min())
            data.append((known.units, np.where(known.defined, -1.0, 1.0), doubt))
            scale = np.append(scale, 1.0)
        if len(noise) >= GROWTH * self._fitted or len(data) != len(self._theta):
            steps = STEPS if self._fitted else FIRST_STEPS
            first = np.append(np.full(self._task.dimensions, FIRST_THETA[0]), FIRST_THETA[1])
            before = self._theta[: len(data)]
            before += [first] * (len(data) - len(before))
            self._theta = [fit(*of, theta, steps) for of, theta in zip(data, before, strict=True)]
            self._fitted = len(noise)
        earlier = [*self._each, *[None] * len(data)]
        self._each = [
            posterior(*of, theta, before)
            for of, theta, before in zip(data, self._theta, earlier, strict=False)
        ]
        self._parts = len(self._each) - (len(scale) - 1)  # processes whose sum is the objective
        # All points met the same replications: what they share shows in none of them.
        unknown = np.zeros(len(scale) - known.means.shape[1])
        self.doubt = np.append(_least(known.doubts[known.defined]), unknown) / scale
        self.test = np.append(known.test, unknown + EDGE) / scale
        self.known, self.scale = known, scale
        # (1 + constraints, points): the means of the processes at the known points
        self.at_known = (
            self._summed(np.array([process.fitted for process in self._each]))
            if known.defined.all()
            else self.predict(known.units)[0]
        )
        ranking = sorted(_ranking(self.at_known).tolist(), key=lambda k: not known.defined[k])
        self.order = np.array(ranking, np.intp)

    def points(self) -> tuple[PointEstimates, Floats]:
        """Return what to learn from: the evaluated points, with the parts of the objective."""
        known = self._task.archive.estimates()
        rows = [0, *range(max(1, self._first), len(known.units))]
        return known.take(rows), self._task.archive.mean_parts[rows]

    def predict(self, units: Floats) -> tuple[Floats, Floats]:
        """Return means and deviations, both (1 + constraints, points)."""
        both = np.array([process.predict(units) for process in self._each])
        return self._summed(both[:, 0]), np.sqrt(self._summed(both[:, 1] ** 2))

    def _summed(self, each: Floats) -> Floats:
        """Return values of all processes, those of the parts of the objective as their sum."""
        return np.concatenate([each[: self._parts].sum(axis=0)[None], each[self._parts :]])

    def candidates(self) -> Floats:
        """Return points all over the cube, then points around the best ones."""
        rng = self._task.rng
        shape = CANDIDATES // 2, self._task.dimensions
        centres = self.known.units[self.order[:CENTRES]]
        near = scattered(rng, centres[rng.integers(len(centres), size=shape[0])], SIZES)
        return self._rounded(np.vstack([rng.random(shape), near]))

    def _rounded(self, units: Floats) -> Floats:
        """Move points to whole numbers where variables are."""
        for j, variable in enumerate(self._task.problem.variables):
            if variable.integer:
                column = units[:, j].tolist()
                units[:, j] = [variable.to_unit(variable.from_unit(u)) for u in column]
        return units

    def improving(self) -> Floats | None:
        """Return the new candidate of greatest expected feasible improvement; None without one."""
        # The expected improvement times the probability of feasibility (Gardner et al. 2014,
        # "Bayesian optimization with inequality constraints", equation 6), over the best mean of
        # the processes at an evaluated point, since outcomes are noisy.
        self.learn()
        candidates = self.candidates()
        mean, deviation = self.predict(candidates)
        feasible = (self.at_known[1:] <= 0.0).all(axis=0) & self.known.defined
        best = float(self.at_known[0, feasible].min(initial=np.inf))
        score = improvement(mean, deviation, best)
        if math.isfinite(best):
            # Whether more points would gain less than a surer test of those that are known.
            chosen = _ranking(self._with_room(mean, deviation, MARGIN))[0]
            precise = (deviation[1:, chosen] <= PRECISE * self.doubt[1:]).all()
            settled = precise and math.exp(score.max()) <= LITTLE * (mean[0, chosen] - best)
            self.calm = self.calm + 1 if settled else 0
        return next(self._task.archive.unseen(candidates[np.argsort(-score)]), None)

    def _with_room(self, mean: Floats, deviation: Floats, margin: float) -> Floats:
        """Return mean outcomes, the excesses with room for doubts and for a test."""
        spare = margin * np.hypot(deviation[1:], self.doubt[1:, None])
        return np.vstack([mean[:1], mean[1:] + spare + NEEDED * self.test[1:, None]])

    def best(self, margin: float) -> Floats:
        """Return the point of the best mean outcomes, by `margin` doubts on the constraints."""
        self.learn()
        candidates = np.vstack([self.candidates(), self.known.units[self.order[: 2 * CENTRES]]])
        mean, deviation = self.predict(candidates)
        chosen: Floats = candidates[_ranking(self._with_room(mean, deviation, margin))[0]]
        return chosen

    def propose(self, test: NextTest) -> Proposal:
        """Return the point of the best mean objective among those likely to pass a test."""
        if test.undefined is not None:
            self._task.archive.record(test.undefined, None)
        self.learn()
        # What the replications of the search leave open of the excesses of all points.
        errors = _least(self.known.errors[self.known.defined, 1:])
        level = test.level or Level(np.zeros_like(errors), errors)
        units = [self.candidates() for _ in range(TESTED)]
        candidates = np.vstack([*units, self.known.units[self.order[: 2 * CENTRES]]])
        for width in (*WIDTHS, 0.0):
            objective, bounds, excess, doubt = self._bounds(candidates, test, level)
            best = _ranking(np.vstack([objective, bounds]))[0]
            if width:
                near = self._around(candidates[best], width)
                candidates = np.vstack([candidates[best : best + 1], near])
        many = len(level.shift)
        return Proposal(
            candidates[best],
            excess[:many, best],
            doubt[:many, best],
            level,
            float(objective[best] * self.scale[0]),
        )

    def _bounds(
        self, units: Floats, test: NextTest, level: Level
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return objectives, and what the bounds of a test may be, with excesses and doubts."""
        mean, deviation = self.predict(units)
        scale, many = self.scale[1:, None], len(level.shift)
        excess, doubt = np.sinh(mean[1:]) * scale, np.cosh(mean[1:]) * deviation[1:] * scale
        shift, shared, factors = np.zeros((3, len(scale), 1))
        shift[:many, 0], shared[:many, 0] = level.shift, level.doubt
        factors[:many, 0], factors[many:] = test.factors, test.sure
        error = (self.test[1:, None] * scale) * math.sqrt(self._task.archive.test / test.n)
        error[many:] = EDGE
        spare = test.sure * np.hypot(shared, error)
        doubts = DOUBTS * doubt
        doubts[many:] = 0.0
        return mean[0], (excess + shift + doubts + spare + factors * error) / scale, excess, doubt

    def _around(self, unit: Floats, width: float) -> Floats:
        """Return points around one."""
        rng, shape = self._task.rng, (CANDIDATES // 2, self._task.dimensions)
        moves = rng.random(shape) < MOVED
        return self._rounded(np.clip(unit + moves * width * rng.standard_normal(shape), 0.0, 1.0))


def _least(errors: Floats) -> Floats:
    """Return the least errors of points, which all have in common; 0 without any point."""
    least = errors.min(axis=0, initial=np.inf)
    return np.where(np.isinf(least), 0.0, least)


def _ranking(mean: Floats) -> NDArray[np.intp]:
    """Order points by violation, then by objective; `mean` is (1 + constraints, points)."""
    return np.lexsort((mean[0], np.maximum(0.0, mean[1:]).sum(axis=0)))


def scattered(rng: np.random.Generator, units: Floats, sizes: tuple[float, float]) -> Floats:
    """Return points some of whose coordinates are moved, each by a width of its own."""
    moves = rng.random(units.shape) < rng.uniform(0.4, 1.0, (len(units), 1))
    widths = 10.0 ** rng.uniform(*sizes, (len(units), 1))
    moved: Floats = units + moves * widths * rng.standard_normal(units.shape)
    return np.clip(moved, 0.0, 1.0)


def smooth(known: PointEstimates, parts: Floats) -> tuple[Floats, Floats]:
    """Return values that Gaussian processes can follow, with the units of means."""
    # Values are the parts of the objective, or all of it, in its unit, then the excesses in theirs.
    # Large excesses are compressed, since a process that follows them is blind near the bound.
    # Where nothing is defined, all values are 1.
    parts = parts if parts.shape[1] > 1 else known.means[:, :1]
    values, many = np.hstack([parts, known.means[:, 1:]]), parts.shape[1]
    if not known.defined.any():
        return np.ones_like(values), np.ones(known.means.shape[1])
    scale = spread(known.means)
    middle = np.median(np.abs(values[:, many:]), axis=0)
    scale[1:] = np.where(middle > 0.0, middle, scale[1:])
    values /= np.append(np.full(many, scale[0]), scale[1:])
    values[:, many:] = np.arcsinh(values[:, many:])
    return values, scale


def improvement(mean: Floats, deviation: Floats, best: float) -> Floats:
    """Return the logarithm of the feasible improvement that is expected over a best objective."""
    # Without one, that of the probability of feasibility.
    from scipy.special import log_ndtr, ndtr

    score: Floats = log_ndtr(-mean[1:] / deviation[1:]).sum(axis=0)
    if math.isinf(best):
        return score
    z = np.maximum((best - mean[0]) / deviation[0], -10.0)  # held at its value there below
    density = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    score += np.log(z * ndtr(z) + density) + np.log(deviation[0])
    return score


# Where evaluations are exact, as on one log, the best of them is the answer.
#
# Outcomes of one history are rough: for the Gaussian processes this roughness is noise, and
# searches end in different places: a large budget makes several of them, and looks around the best
# points of all with what is left. There roughness is no error, since what was evaluated is so:
# improvement is expected over the best value seen, roughness included.

LENGTH = 40  # points of one search, for each variable; then the next one starts
WIDE = 0.7  # share of the budget, about, that goes to searches over the whole cube
AROUND = 150  # points around a good one that the processes are conditioned on in the end
AT_ONCE, OF_EACH = 5, 40  # points proposed at once in the end, each the best of so many candidates
NEAR_SIZES = -3.0, -0.8  # of moves around the best points: powers of ten
DRAWN = 1000  # random points of which one may be new, before all are taken to be known


def exact_search(task: SearchTask) -> Steps:
    """Search several times, then around the best points, until nothing is left or new."""
    for unit in task.problem.baselines.values():
        yield Request(unit, 1)
    length = LENGTH * task.dimensions
    before = 0
    while before < task.spent and task.spent + length / 2 <= WIDE * task.budget:
        # Over the whole cube, knowing nothing but the start.
        before, first = task.spent, len(task.archive)
        for unit in latin_hypercube(task.rng, 2 * task.dimensions + 1, task.dimensions):
            yield Request(unit, 1)
        model = Surrogate(task, first)
        while task.spent < before + length and (new := model.improving()) is not None:
            yield Request(new, 1)
    around = _Around(task)
    while True:
        units = around.proposed()
        if not units:  # as all around the best ones are known
            drawn = task.rng.random((DRAWN, task.dimensions))
            units = [*task.archive.unseen(drawn)][:1]
        if not units:
            return
        for unit in units:
            yield Request(unit, 1)


class _Around(Surrogate):
    """What the points around one of the best say of others near it, roughness included."""

    def points(self) -> tuple[PointEstimates, Floats]:
        """Return the points around one of the best, another one each time."""
        known, parts = super().points()
        best = known.ranking()[:CENTRES]
        self._centre = known.units[best[self._task.rng.integers(len(best))]]
        rows = np.argsort(((known.units - self._centre) ** 2).sum(axis=1), kind="stable")[:AROUND]
        return known.take(rows.tolist()), parts[rows]

    def proposed(self) -> list[Floats]:
        """Return new points of great expected feasible improvement; none without one."""
        self.learn()
        archive, new = self._task.archive, {}
        known = archive.estimates()
        objectives = known.means[known.violation() == 0.0, 0] / self.scale[0]
        best = float(objectives.min(initial=np.inf))
        both = zip(self._theta, self._each, strict=True)
        variances = np.array([math.exp(theta[-1]) * process.variance for theta, process in both])
        roughness = np.sqrt(self._summed(variances))  # of one outcome
        for _ in range(AT_ONCE):
            near = scattered(self._task.rng, np.tile(self._centre, (OF_EACH, 1)), NEAR_SIZES)
            units = np.array([*archive.unseen(near)])
            if len(units) > 0:
                mean, deviation = self.predict(units)
                deviation = np.hypot(deviation, roughness[:, None])
                unit = units[improvement(mean, deviation, best).argmax()]
                new[self._task.problem.values(unit)] = unit
        return [*new.values()]


# Search for a Pareto front: random weights turn the objectives into one, step by step.
#
# As in ParEGO (Knowles 2006, IEEE Transactions on Evolutionary Computation 10), by the augmented
# Chebyshev sum; unlike there, each objective and constraint has a Gaussian process of its own.

EXPLORED = 0.6  # share of the budget that looks for improvement; the rest sharpens the front
DIRECTIONS = 8  # in which it is sharpened, one after the other
DRAWS = 32  # of the processes by which an improvement is expected
AUGMENTED = 0.05  # share of the plain sum
MARGINS = (1.5, 0.5, 2.5)  # doubts by which the constraints hold at points of the front, in turn


class FrontSearch:
    """The search of one run."""

    def __init__(self, task: SearchTask, objectives: int) -> None:
        self._task, self._m = task, objectives
        self._surrogate = Surrogate(task)

    def steps(self, task: SearchTask) -> Steps:
        """Look where improvement is expected in random directions, then sharpen the front."""
        while task.exact and task.left > 0:  # search the whole cube again; nothing to sharpen
            self._surrogate = Surrogate(task, len(task.archive))
            yield from first_looks(task, 1)
            for _ in range(LENGTH * task.dimensions):
                if (unit := self._improving()) is None:
                    break
                yield Request(unit, 1)
        n = max(1, task.replications() // SHORTER, math.ceil(task.budget / POINTS))
        yield from first_looks(task, n)
        while task.spent + n <= EXPLORED * task.budget and (unit := self._improving()) is not None:
            yield Request(unit, n)
        ways = zip(cycle(directions(DIRECTIONS, self._m)), cycle(MARGINS))
        while task.left > 0:
            best = self._best(*next(ways))
            known = len(task.archive.outcomes(best))
            yield Request(best, known + min(SHARPER * n, task.left))

    def finalists(self, k: int) -> Floats:
        """Return up to `k` distinct points: in each direction the best of those seen for long."""
        known = self._learn()
        counts = self._surrogate.known.counts
        seen = counts >= np.quantile(counts, EXPLORED)
        chosen: list[int] = []
        for weights, margin in zip(directions(k, self._m), cycle(MARGINS)):
            worth = self._worth(known.T, weights, margin)
            worth[~seen] = np.inf
            worth[chosen] = np.inf
            if np.isfinite(worth).any():
                chosen.append(int(worth.argmin()))
        return self._surrogate.known.units[chosen or [0]]

    def _learn(self) -> Floats:
        """Condition the processes; return their means at the known points, the front first."""
        surrogate = self._surrogate
        surrogate.learn()
        fitted = surrogate.at_known.T
        feasible = (fitted[:, self._m :] <= 0.0).all(axis=1) & surrogate.known.defined
        pool = np.flatnonzero(feasible if feasible.any() else surrogate.known.defined)
        if len(pool) == 0:
            pool = np.arange(len(fitted))
        objectives = fitted[pool, : self._m]
        front = pool[nondominated(objectives)]
        self._low = objectives.min(axis=0)
        self._range = np.maximum(fitted[front, : self._m].max(axis=0) - self._low, 1e-9)
        surrogate.order = self._task.rng.permutation(front)
        return fitted

    def _sum(self, objectives: Floats, weights: Floats) -> Floats:
        """Return the augmented Chebyshev sum; objectives are along the first axis."""
        shape = (-1,) + (1,) * (objectives.ndim - 1)
        low, width, weight = (of.reshape(shape) for of in (self._low, self._range, weights))
        parts = weight * ((objectives - low) / width)
        total: Floats = parts.max(axis=0) + AUGMENTED * parts.sum(axis=0)
        return total

    def _worth(self, mean: Floats, weights: Floats, margin: float) -> Floats:
        """Return what to minimise for a point of the front; infeasible points come last."""
        doubts = margin * self._surrogate.doubt[self._m :, None]
        violation = np.maximum(0.0, mean[self._m :] + doubts).sum(axis=0)
        penalty = np.where(violation > 0.0, 1e6 * (1.0 + violation), 0.0)
        return penalty + self._sum(mean[: self._m], weights)

    def _improving(self) -> Floats | None:
        """Return the new candidate of the greatest expected improvement; None without one."""
        from scipy.special import log_ndtr

        rng, surrogate = self._task.rng, self._surrogate
        known = self._learn().T
        weights = rng.dirichlet(np.ones(self._m))
        candidates = surrogate.candidates()
        mean, deviation = surrogate.predict(candidates)
        score: Floats = log_ndtr(-mean[self._m :] / deviation[self._m :]).sum(axis=0)
        feasible = (known[self._m :] <= 0.0).all(axis=0) & surrogate.known.defined
        if feasible.any():
            best = self._sum(known[: self._m, feasible], weights).min()
            noise = rng.standard_normal((self._m, 1, DRAWS))
            drawn = mean[: self._m, :, None] + deviation[: self._m, :, None] * noise
            gain = np.maximum(0.0, best - self._sum(drawn, weights)).mean(axis=1)
            score += np.log(gain + 1e-300)
        ordered = candidates[np.argsort(-score, kind="stable")]
        return next(self._task.archive.unseen(ordered), None)

    def _best(self, weights: Floats, margin: float) -> Floats:
        """Return the point of the best means in a direction."""
        self._learn()
        front = self._surrogate.known.units[self._surrogate.order]
        candidates = np.vstack([self._surrogate.candidates(), front])
        mean, deviation = self._surrogate.predict(candidates)
        mean[self._m :] += margin * deviation[self._m :]
        chosen: Floats = candidates[self._worth(mean, weights, margin).argmin()]
        return chosen


def directions(k: int, objectives: int) -> NDArray[np.float64]:
    """Return `k` weights spread over all directions, (k, objectives), each of sum 1."""
    if objectives == 2:
        first = (np.arange(k) + 0.5) / k
        return np.column_stack([first, 1.0 - first])
    return np.random.default_rng(0).dirichlet(np.ones(objectives), k)


def nondominated(values: Floats) -> NDArray[np.bool_]:
    """Return which rows no other row dominates: is nowhere worse than and somewhere better."""
    dominated = (((values <= row).all(axis=1) & (values < row).any(axis=1)).any() for row in values)
    return np.logical_not(np.fromiter(dominated, np.bool_))
