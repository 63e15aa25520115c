"""The maximum of the posterior density by Newton's method, and when there is none.

Second derivatives of up to `DENSE` parameters are solved with by Cholesky, of more by conjugate
gradients.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.bradley_terry.contests import (
    Design,
    Tallies,
    Terms,
    by_side,
    dot,
    information_of,
    terms_at,
)

POINTS = math.log(10.0) / 400.0  # log odds of a point of rating: 400 points are 10 : 1
STEP = 1e-6 * POINTS  # the largest step after which ratings have converged, 1e-6 points
# The like for a refit, after which the next step, about its square, would be far below `STEP`.
_STEP_AGAIN = 1e-3 * POINTS
# The share of a first step that may be wrong in a refit; later ones are as exact as their square.
_ROUGH = 1e-2
_LEAST = 1e-11  # what is left of a step may be so long, in units of one standard error
# The longest step, in log odds; a longer one leaves the point where its derivatives say much.
_LONGEST = 4.0
MOST_STEPS = 100
FARTHEST = 1e5 * POINTS
DENSE = 600  # parameters up to which dense matrices are faster
SINGULAR = 1e-10  # least eigenvalue of the information, scaled to unit diagonal, that counts
EXACT = 1e-10  # what may be wrong with a result as a share of it, in the end
_STEPS = 5_000  # of conjugate gradients


class NoEstimate(Exception):  # noqa: N818 - it is no failure of the program
    """There is no estimate."""

    def __init__(self, separated: bool, parameters: Ints) -> None:
        super().__init__("no finite estimate")
        self.separated, self.parameters = separated, parameters


@dataclass(frozen=True)
class Knowledge:
    """What is known of the free parameters before any game: minus a quadratic log density."""

    roots: sparse.csr_array  # (rows, free) whose square the second derivatives are,
    rank_one: Floats  # (free,) less the square of this, of equal numbers and zeros
    centres: Floats  # (free,) where the density is greatest
    moves: bool  # whether nobody is held, so that all players can move together
    # (free,) those whose mean is held as the zero; None where games have to tell strengths
    held: Bools | None = None
    chained: Bools | None = None  # (free - 1,) whether each parameter is tied to the next one

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """Second derivatives, but for what `rank_one` takes."""
        return sparse.csr_array(self.roots.T @ self.roots)

    @cached_property
    def flat(self) -> bool:
        """Whether it says nothing."""
        return not self.roots.data.any()

    def penalty(self, free: Floats) -> tuple[float, Floats]:
        """Return minus the log density, but for a constant, and its derivatives."""
        away = free - self.centres
        moved, common = self.roots @ away, dot(self.rank_one, away)
        slopes: Floats = self.roots.T @ moved - self.rank_one * common
        return 0.5 * dot(moved, moved) - 0.5 * common**2, slopes


class Information:
    """A symmetric matrix over the free parameters: a sparse one, less the square of a vector."""

    def __init__(
        self, matrix: sparse.csr_array, rank_one: Floats, shift: Floats, chained: Bools | None
    ) -> None:
        # `shift` is the move of all players together where that changes nothing.
        self.matrix, self.rank_one, self.shift, self.chained = matrix, rank_one, shift, chained
        self.diagonal: Floats = matrix.diagonal() - rank_one**2
        self.size = len(self.diagonal)
        self.moves = bool(shift.any())

    @cached_property
    def _chains(self) -> tuple[Floats, Floats] | None:
        """The factor of the chains alone; None where nothing is chained."""
        if self.chained is None or not self.chained.any():
            return None
        beside = np.where(self.chained, self.matrix.diagonal(k=1), 0.0)
        diagonal, beside, failed = lapack.dpttrf(self.diagonal, beside)
        assert not failed, "games and priors only add to the information of a chain"
        return diagonal, beside

    def eased(self, vector: Floats) -> Floats:
        """Return about what the information maps to a vector, or to columns; of chains exactly."""
        if self._chains is None:
            scale = 1.0 / np.maximum(self.diagonal, 1e-300)
            return np.asarray((scale[:, np.newaxis] if vector.ndim > 1 else scale) * vector)
        return np.asarray(lapack.dpttrs(*self._chains, vector)[0])

    @property
    def held_weight(self) -> float:
        """A curvature of the size of the others, by which the mean is held where all can move."""
        players = self.shift > 0.0
        return float(self.diagonal[players].mean()) * float(players.sum())

    def times(self, vector: Floats) -> Floats:
        """Return the product with a vector, or with the columns of a matrix."""
        product: Floats = self.matrix @ vector
        if self.rank_one.any():
            common = np.add.reduce((self.rank_one * vector.T).T, axis=0)
            product -= np.multiply.outer(self.rank_one, common)
        return product

    def dense(self) -> Floats:
        """Return the full matrix, with the mean held where all players can move together."""
        matrix: Floats = self.matrix.toarray()
        if self.rank_one.any():
            scattered = np.flatnonzero(self.rank_one)
            add_to_cells(matrix, scattered, -(self.rank_one.max() ** 2))
        if self.moves:
            players = np.flatnonzero(self.shift)
            add_to_cells(matrix, players, self.held_weight / len(players) ** 2)
        return matrix

    def still(self, moves: Floats) -> Floats:
        """Return moves without that of all players together."""
        if not self.moves:
            return moves
        common = np.add.reduce((self.shift * moves.T).T, axis=0) / self.shift.sum()
        return np.asarray(moves - np.multiply.outer(self.shift, common))


def add_to_cells(matrix: Floats, index: Ints, value: float) -> None:
    """Add a number to all cells of some rows and columns."""
    if len(index) == index[-1] + 1:  # they are the first: no copy is needed
        matrix[: len(index), : len(index)] += value
    else:
        matrix[np.ix_(index, index)] += value


def solve(information: Information, right: Floats, least: float, precision: float) -> Floats | None:
    """Return what the information maps to a vector, without a common move; None if singular."""
    if not information.size:
        return right
    if information.size > DENSE:
        return conjugate_gradients(information, right, precision, least)
    factor, failed = lapack.dpotrf(information.dense(), lower=1)
    if failed:
        return None
    return information.still(np.asarray(lapack.dpotrs(factor, right, lower=1)[0]))


def conjugate_gradients(
    information: Information, right: Floats, precision: float, least: float = 0.0
) -> Floats | None:
    """Return what the information maps to `right`; None where that does not converge."""
    solved = np.zeros_like(right)
    rest = information.still(right)
    eased = information.eased(rest)
    move = eased.copy()
    before = (rest * eased).sum(axis=0)
    goal = np.maximum(precision**2 * before, least**2)
    for _ in range(_STEPS):
        open_ = before > goal
        if not open_.any():
            return information.still(solved)
        image = information.times(move)
        along = (move * image).sum(axis=0)
        if (open_ & (along <= 0.0)).any():
            return None
        # A column that has converged stays as it is.
        length = np.where(open_, before / np.where(open_, along, 1.0), 0.0)
        solved += length * move
        rest -= length * image
        eased = information.eased(rest)
        now = (rest * eased).sum(axis=0)
        move = eased + now / np.where(before > 0.0, before, 1.0) * move
        before = now
    return None


@dataclass(frozen=True)
class Problem:
    """What is to be fitted."""

    design: Design  # the games
    # how they ended; only games among players who are free or anchored weigh anything
    tallies: Tallies
    prior: Knowledge  # what is known before
    free: Ints  # numbers of the parameters to fit; the last of all is ln nu
    # (parameters,) where to begin, with the values of the fixed ones; ln nu is -inf where draws are
    # halves of wins
    start: Floats

    @property
    def n_players(self) -> int:
        """Number of players."""
        return self.design.contests.n_players

    def terms(self, point: Floats) -> Terms:
        """Return the likelihood at a point, and its derivatives."""
        return terms_at(self.design, self.tallies, point[:-1], float(point[-1]))

    def posterior(self, point: Floats, terms: Terms) -> tuple[float, Floats]:
        """Return the log posterior density at a point, and its derivatives."""
        penalty, slopes = self.prior.penalty(point[self.free])
        design = self.design
        gradient = design.leads.T @ terms.slopes
        if design.orders:
            gradient = gradient + design.strengths.T @ by_side(design, terms)
        return terms.value - penalty, np.append(gradient, terms.draw_slope)[self.free] - slopes

    def information(self, terms: Terms) -> Information:
        """Return minus its second derivatives by the free parameters."""
        free, matrix = self.free, information_of(self.design, terms)
        if len(free) < len(self.start):
            matrix = sparse.csr_array(matrix[free][:, free])
        if not self.prior.flat:
            matrix = sparse.csr_array(matrix + self.prior.matrix)
        shift = np.where(self.prior.moves & (free < self.n_players), 1.0, 0.0)
        return Information(matrix, self.prior.rank_one, shift, self.prior.chained)


@dataclass(frozen=True)
class Fit:
    """An estimate."""

    problem: Problem  # what was fitted
    point: Floats  # (parameters,) in log odds
    terms: Terms  # the likelihood of the games there

    @cached_property
    def information(self) -> Information:
        """The information at the estimate."""
        return self.problem.information(self.terms)


def fit(problem: Problem, checked: bool = True) -> Fit:
    """Find the maximum."""
    free, point = problem.free, problem.start.copy()
    terms = problem.terms(point)
    value, gradient = problem.posterior(point, terms)
    if checked:
        _refuse_blind(problem, problem.information(terms))
    precision = EXACT if checked else _ROUGH
    for _ in range(MOST_STEPS):
        step = solve(problem.information(terms), gradient, _LEAST, precision)
        if step is None:
            break
        length = float(np.abs(step).max(initial=0.0))
        precision = max(EXACT, min(precision, length**2))
        step *= min(1.0, _LONGEST / max(length, _LONGEST))
        rise, share = dot(gradient, step), 1.0
        slack = 1e-12 * (1.0 + abs(value))  # of rounding, where next to nothing is left to gain
        for _ in range(40):  # halved until it rises
            there = point.copy()
            there[free] += share * step
            tried = problem.terms(there)
            density, slopes = problem.posterior(there, tried)
            if density >= value + 1e-4 * share * rise - slack:
                point, terms, value, gradient = there, tried, density, slopes
                break
            share *= 0.5
        if np.abs(point[free]).max(initial=0.0) > FARTHEST:
            break
        if length < (STEP if checked else _STEP_AGAIN):
            best = Fit(problem, point, terms)
            if checked:
                _refuse_blind(problem, best.information)
            return best
    raise NoEstimate(True, free[np.argsort(-np.abs(point[free]), kind="stable")])


def _refuse_blind(problem: Problem, information: Information) -> None:
    """Raise where games say nothing of some parameters."""
    held = 0 if problem.prior.held is None else problem.n_players
    more = information.size - held
    if not more or (not held and more > DENSE and _clearly_regular(information)):
        return
    if held:  # a prior tells the first ones by themselves
        units = np.zeros((information.size, more))
        units[held:] = np.eye(more)
        columns = information.times(units)
        right = np.ascontiguousarray(columns[:held])
        chained = None if information.chained is None else information.chained[: held - 1]
        part = sparse.csr_array(information.matrix[:held, :held])
        leading = information.rank_one[:held], information.shift[:held]
        solved = solve(Information(part, *leading, chained), right, 0.0, EXACT)
        assert solved is not None, "the prior makes the information of these regular"
        matrix, scale = columns[held:] - columns[:held].T @ solved, np.diag(columns[held:])
    else:
        matrix = information.dense()
        scale = np.diag(matrix)
    root = np.sqrt(np.maximum(scale, 1e-300))
    values, vectors = np.linalg.eigh(matrix / root / root[:, np.newaxis])
    if values[0] < SINGULAR:  # of a direction of unit information nothing is known
        sizes = np.abs(vectors[:, 0])
        order = np.argsort(-sizes, kind="stable")
        raise NoEstimate(False, problem.free[held + order[sizes[order] > 0.3 * sizes.max()]])


def _clearly_regular(information: Information) -> bool:
    """Return whether a generic vector can be solved for, and is not blown up."""
    root = np.sqrt(np.maximum(information.diagonal, 1e-300))
    right = root * np.random.Generator(np.random.Philox(1)).standard_normal(information.size)
    right = information.still(right)
    solved = conjugate_gradients(information, right, 1e-6)
    if solved is None:
        return False
    blown = float(np.linalg.norm(root * solved) / np.linalg.norm(right / root))
    return bool(blown * np.sqrt(information.size) < 0.01 / SINGULAR)
