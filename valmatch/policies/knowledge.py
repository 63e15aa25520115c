"""Knowledge of policies: of players when it chooses an opponent, or of two who wait."""

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.kernels.compilation import kernel


class Outcome(NamedTuple):
    """One outcome of a game of player 0 against each player."""

    # means, variances: player 0's belief afterwards
    means: Floats
    variances: Floats
    best: Floats  # 2 pi q^2 then, first against the same player, then against the best


class Workspace(NamedTuple):
    """Scratch arrays of one decision, one entry per player; nothing in them outlives the call."""

    inverse: Floats  # 1 / c^2 against each player
    quality: Floats  # sqrt(2 pi) q of (5) against each player; -1 for player 0
    # p_win, p_draw: believed probability that player 0 beats, or draws with, each player
    p_win: Floats
    p_draw: Floats
    # won, lost, drew: player 0 beat, lost to, or drew with, each player
    won: Outcome
    lost: Outcome
    drew: Outcome
    # ceilings of the quality while looking ahead; in the end sqrt(2 pi) times the score
    scores: Floats


def workspace(n_players: int) -> Workspace:
    """Return scratch arrays for decisions among `n_players` players, player 0 included."""
    inverse, quality, p_win, p_draw, scores, *of_outcomes = np.empty((14, n_players))
    won, lost, drew = (Outcome(*of_outcomes[k : k + 3]) for k in (0, 3, 6))
    return Workspace(inverse, quality, p_win, p_draw, won, lost, drew, scores)


class Knowledge(NamedTuple):
    """What is known before a game; the same record for all games of a path."""

    player: int  # index of player 0 among the M + 1 players; all others are opponents
    n_games: int  # number of games N of the path
    # means, variances: (M + 1,) beliefs about all players now
    means: Floats
    variances: Floats
    truths: Floats  # (M + 1,) true skills, for the oracle alone
    noise_variance: float  # variance of one performance around the skill
    gamma: float  # discount factor of (13)
    as_printed: bool  # use (1), (2), (10) as the paper prints them
    work: Workspace  # scratch arrays; nothing in them outlives a decision
    draw_margin: float = 0.0  # a game is drawn if the performances differ by less
    kappa: float = 0.0  # weight of the standard deviation in the upper confidence bounds


# Players who wait for a match, as the policies that weigh pairs see them.

WAITING = np.dtype(
    [
        ("time", "f8"),  # hour of the ticket
        ("seen", "f8"),  # the rating that the rule sees
        ("mean", "f8"),
        ("variance", "f8"),
        ("skill", "f8"),
        ("ticket", "i8"),
        ("rank", "i8"),  # place by mean
    ]
)
"""A player who waits; a policy weighs a pair of them."""

Ticket: TypeAlias = Any  # a row of `WAITING`; kernels see it as a C struct


class MeanOrder(NamedTuple):
    """All who wait, in order of the means of their beliefs, ties by ticket."""

    means: Floats  # (n,)
    variances: Floats  # (n,)
    tickets: Ints  # (n,)
    band: int  # an opponent is one of so many on each side of a player's place
    noise_variance: float  # variance of one performance around the skill


class Waiting(NamedTuple):
    """What is common to all pairs of a tick."""

    order: MeanOrder
    mean_variance: float  # mean variance of all who wait
    noise_variance: float  # variance of a performance around the skill, as the policies take it
    true_noise_variance: float  # as it is
    multiplier: float  # gamma / (1 - gamma), of the knowledge gradients
    kappa: float  # weight of the standard deviation in the upper confidence bound
    rng_key: Words  # (3,); where the addressed random numbers of the replication lie
    source: int  # source of the random numbers of two tickets


@kernel
def place_of_largest(values: Floats) -> int:
    """Return the place of the largest of at least one value, ties to the first."""
    largest = 0
    for k in range(1, values.size):
        if values[k] > values[largest]:
            largest = k
    return largest


ERROR: Final = 1.5e-10  # bound on the absolute error of `exp_minus`


@kernel
def exp_minus(x: float) -> float:
    """Return exp(-x) for x >= 0 to an absolute error of `ERROR`, in a form that vectorises."""
    # It is the 32nd power of the Taylor polynomial of exp(-x / 32). Products of pairs of terms
    # give short chains of dependent operations, which is what bounds the speed.
    u = min(x, 32.0) * (-1.0 / 32.0)
    u2 = u * u
    low = (1.0 + u) + u2 * (1.0 / 2.0 + u * (1.0 / 6.0))
    high = (1.0 / 24.0 + u * (1.0 / 120.0)) + u2 * (1.0 / 720.0)
    f = low + (u2 * u2) * high
    f *= f
    f *= f
    f *= f
    f *= f
    return f * f
