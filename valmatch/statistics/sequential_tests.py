"""Sequential probability ratio tests of the expected score of games between two players.

Sources: Wald, "Sequential tests of statistical hypotheses" (1945); Van den Bergh, "The generalized
sequential probability ratio test" and "A practical introduction to the GSPRT" (the tests of
fishtest): what is not known of the distribution of scores is fitted under either hypothesis.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any

from valmatch.errors import InputError, option
from valmatch.inputs import arguments
from valmatch.text.terminal import shown

ACCEPT_H1, ACCEPT_H0, CONTINUE = "accept_h1", "accept_h0", "continue"

NEVER = 1e-3  # what counts for a result that has never come, as fishtest has it
FARTHEST = 2_000.0  # largest size of a hypothesis in Elo
MOST_GAMES = 10**12  # largest count, beyond all use

# Meanings of the counts, by how many there are.
KINDS = {3: "losses, draws, wins", 5: "pairs of games that made 0, 1/2, 1, 3/2 and 2 points"}


@dataclass(frozen=True)
class SequentialTest:
    """What a sequential probability ratio test says after some games.

    Attributes
    ----------
    counts : tuple of int
        Losses, draws and wins; or pairs of games that made 0, 1/2, 1, 3/2 and 2 points.
    elo0, elo1 : float
        The hypotheses, in Elo of the expected score.
    alpha, beta : float
        Probabilities of accepting the second where the first is true, and the other way round.
    llr : float
        Logarithm of the likelihood ratio of the second to the first.
    lower_bound, upper_bound : float
        Where the test ends.
    score : float
        Mean score of a game, where .001 counts for a result that has never come.
    elo : float
        That score in Elo.
    decision : str
        ``accept_h1``, ``accept_h0`` or ``continue``.
    expected_games : dict of str to float
        Games that a whole test takes on average, from its first one on, if the truth is ``elo0``,
        ``elo1``, or the ``estimate``. Where all results are the same, their scatter is that of the
        .001 alone.
    left_out : int
        Games of a log that belong to no pair of two.
    """

    counts: tuple[int, ...]
    elo0: float
    elo1: float
    alpha: float
    beta: float
    llr: float
    lower_bound: float
    upper_bound: float
    score: float
    elo: float
    decision: str
    expected_games: dict[str, float]
    left_out: int = 0

    @property
    def games(self) -> int:
        """Number of games that count."""
        return sum(self.counts) * (1 if len(self.counts) == 3 else 2)

    @property
    def alike(self) -> bool:
        """Whether all results are the same."""
        return sum(n > 0 for n in self.counts) == 1

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as ``--json`` prints them."""
        rest = asdict(self)
        counts, left_out = list(rest.pop("counts")), rest.pop("left_out")
        return {"counts": counts, "games": self.games, "left_out": left_out, **rest}


def sequential_test(
    counts: Sequence[int],
    elo0: float = 0.0,
    elo1: float = 5.0,
    alpha: float = 0.05,
    beta: float = 0.05,
) -> SequentialTest:
    """Test whether one player is stronger than another while games between them go on.

    The hypotheses are of the expected score s(e) = 1 / (1 + 10^(-e / 400)): that e is `elo0`, and
    that it is `elo1`. Under either the chances of the results are fitted to the counts with that
    score held (Van den Bergh). The bounds are those of Wald, ln(beta / (1 - alpha)) and
    ln((1 - beta) / alpha); by how much the ratio overshoots them is not corrected for. What is
    expected of games takes the ratio for a Brownian motion.

    Parameters
    ----------
    counts : sequence of int
        Losses, draws and wins of the first player; or of pairs of games those in which they made 0,
        1/2, 1, 3/2 and 2 points. Of a result that has never come .001 counts.
    elo0, elo1 : float
        The hypotheses, `elo0` the smaller, from -2,000 to 2,000.
    alpha, beta : float
        Probabilities of accepting `elo1` where `elo0` is true, and the other way round; together
        less than 1.

    Raises
    ------
    InputError
        If a value cannot be used.

    Examples
    --------
    >>> test = sequential_test([170, 600, 230], elo1=10.0)
    >>> round(test.llr, 3), round(test.upper_bound, 3), test.decision
    (3.29, 2.944, 'accept_h1')
    """
    numbers = _counts(counts)
    _check_hypotheses(elo0, elo1)
    for name, value in (("alpha", alpha), ("beta", beta)):
        arguments.level(name, value)
    if alpha + beta >= 1.0:
        both = f"{option('alpha')} {alpha!r} and {option('beta')} {beta!r}"
        raise InputError(f"{both}: together {alpha + beta:g} (allowed: less than 1)")
    weights = [float(n) if n else NEVER for n in numbers]
    total = math.fsum(weights)
    points = [k / (len(weights) - 1) for k in range(len(weights))]
    shares = [weight / total for weight in weights]
    score = math.fsum(p * a for p, a in zip(shares, points, strict=True))
    variance = math.fsum(p * (a - score) ** 2 for p, a in zip(shares, points, strict=True))
    first, second = score_of(elo0), score_of(elo1)
    llr = log_likelihood_ratio(weights, first, second)
    lower, upper = math.log(beta / (1.0 - alpha)), math.log((1.0 - beta) / alpha)
    decision = ACCEPT_H1 if llr >= upper else ACCEPT_H0 if llr <= lower else CONTINUE
    step = (second - first) ** 2 / variance
    expected = {}
    for name, truth in {"elo0": first, "elo1": second, "estimate": score}.items():
        drift = (truth - 0.5 * (first + second)) * (second - first) / variance
        steps = expected_steps(drift, step, lower, upper)
        expected[name] = steps if len(numbers) == 3 else 2 * steps  # of pairs
    won = math.fsum(w * a for w, a in zip(weights, points, strict=True))
    lost = math.fsum(w * (1.0 - a) for w, a in zip(weights, points, strict=True))
    return SequentialTest(
        numbers,
        float(elo0),
        float(elo1),
        alpha,
        beta,
        llr,
        lower,
        upper,
        score,
        elo_of(won, lost),
        decision,
        expected,
    )


def score_of(elo: float) -> float:
    """Return the expected score of a lead in Elo."""
    return float(1.0 / (1.0 + 10.0 ** (-elo / 400.0)))


def elo_of(won: float, lost: float) -> float:
    """Return the lead in Elo by which so many points are won and lost, both > 0."""
    # The score alone would not do: near 1 it holds few digits of what is lost.
    return 400.0 * math.log10(won / lost)


def log_likelihood_ratio(weights: Sequence[float], first: float, second: float) -> float:
    """Return the logarithm of the ratio of the likelihoods of two expected scores."""
    # Under a score s the chances that fit best are p / (1 + t (a - s)) of frequencies p of points
    # a, with the t at which their mean is s (Van den Bergh; the empirical likelihood of a mean).
    # One function without calls of others, so that numba compiles it as it is.
    last = len(weights) - 1
    tilts = [0.0, 0.0]
    for which in range(2):
        s = first if which == 0 else second
        low, high = -1.0 / (1.0 - s), 1.0 / s  # beyond, a chance is negative
        t = 0.0
        for _ in range(200):
            excess = slope = 0.0  # of the mean over s: falls as t grows
            for k in range(last + 1):
                a = k / last - s
                part = a / (1.0 + t * a)
                excess += weights[k] * part
                slope += weights[k] * part * part
            if excess > 0.0:
                low = t
            else:
                high = t
            moved = t + excess / slope
            if not low < moved < high:
                moved = 0.5 * (low + high)
            done = abs(moved - t) <= 1e-15 * (abs(t) + 1.0)
            t = moved
            if done:
                break
        tilts[which] = t
    ratio = 0.0
    for k in range(last + 1):
        a = k / last
        ratio += weights[k] * (
            math.log1p(tilts[0] * (a - first)) - math.log1p(tilts[1] * (a - second))
        )
    return ratio


def expected_steps(drift: float, variance: float, lower: float, upper: float) -> float:
    """Return how long a Brownian motion from 0 takes on average to reach one of two bounds."""
    rate = 2.0 * drift / variance
    if abs(rate) * max(-lower, upper) < 1e-7:
        return -lower * upper / variance
    # Written so that no exponential overflows.
    if rate > 0.0:
        at_upper = math.expm1(rate * lower) / math.expm1(rate * (lower - upper))
    else:
        at_upper = math.exp(rate * upper) * math.expm1(-rate * lower)
        at_upper /= math.expm1(rate * (upper - lower))
    return (upper * at_upper + lower * (1.0 - at_upper)) / drift


def _counts(counts: Sequence[int]) -> tuple[int, ...]:
    """Return counts, checked."""
    allowed = f"3: {KINDS[3]}; or 5: {KINDS[5]}"
    numbers = isinstance(counts, Sequence) and not isinstance(counts, str)
    if not numbers or len(counts) not in KINDS:
        what = f"{len(counts)} counts" if numbers and counts else shown(counts)
        raise InputError(f"{option('counts')}: {what} (allowed: {allowed})")
    for k, value in enumerate(counts):
        integer = isinstance(value, Integral) and not isinstance(value, bool)
        if not integer or not 0 <= int(value) <= MOST_GAMES:
            what = f"a whole number from 0 to {MOST_GAMES:,}"
            raise InputError(
                f"{option('counts')}: {shown(value)} at place {k + 1} (allowed: {what})"
            )
    if not any(counts):
        raise InputError(f"{option('counts')}: no game (allowed: one or more)")
    return tuple(map(int, counts))


def _check_hypotheses(elo0: float, elo1: float) -> None:
    """Refuse hypotheses that are none, or in the wrong order."""
    for name, value in (("elo0", elo0), ("elo1", elo1)):
        allowed = f"a number from {-FARTHEST:g} to {FARTHEST:g}"
        arguments.real(name, value, -FARTHEST, FARTHEST, allowed)
    if elo0 >= elo1:
        what = f"{elo0!r} is not below {option('elo1')} {elo1!r}"
        raise InputError(f"{option('elo0')}: {what} (allowed: the smaller of both)")
    if score_of(elo0) == score_of(elo1):
        what = f"{elo0!r} and {option('elo1')} {elo1!r} expect the same score"
        raise InputError(f"{option('elo0')}: {what} (allowed: farther apart)")
