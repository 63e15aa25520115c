"""One decision of any policy in plain numbers: whom a player meets, what a pair is worth."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from valmatch.draws.streams import Streams
from valmatch.inputs import arguments
from valmatch.policies.knowledge import WAITING, Knowledge, MeanOrder, Waiting, workspace
from valmatch.policies.registry import OPPONENT, PAIR, function_of


class Circumstances(NamedTuple):
    """What policies look at besides beliefs; each uses a part of it.

    Attributes
    ----------
    noise_variance : float
        Variance of one performance around the skill.
    gamma : float
        Discount factor in [0, 1) of the knowledge gradients; 0 gives the choice of draw_chance.
    games_left : int
        Games after this one, for knowledge_gradient_finite.
    kappa : float
        Standard deviations of doubt that upper confidence bounds add.
    truths : (n,) array_like or None
        The true skills, for oracle alone.
    uniform : float
        The draw in [0, 1) that decides for random; larger draws give larger indices.
    as_printed : bool
        Use (1), (2), (10) as the paper prints them.
    draw_margin : float
        A game is drawn if the performances differ by less: a third outcome, unless it is 0.
    """

    noise_variance: float = 1.0
    gamma: float = 0.99
    games_left: int = 0
    kappa: float = 1.0
    truths: ArrayLike | None = None
    uniform: float = 0.0
    as_printed: bool = False
    draw_margin: float = 0.0


ORDINARY = Circumstances()


def choose_opponent(
    policy: str,
    means: ArrayLike,
    variances: ArrayLike,
    player: int = 0,
    circumstances: Circumstances = ORDINARY,
) -> int:
    """Return the opponent that a policy chooses for a player, ties to the lowest index.

    Parameters
    ----------
    policy : str
        A policy of the model `opponent`, such as knowledge_gradient.
    means, variances : (n,) array_like
        Beliefs about all players.
    player : int
        Index of the player who is to meet one of the others.
    circumstances : Circumstances
        What else the policy looks at.

    Raises
    ------
    InputError
        If no policy that chooses an opponent has the name.

    Examples
    --------
    The doubtful opponent teaches more than the nearest one, of whom all is known.

    >>> means, variances = [0.0, 0.3, -0.4, 1.5], [2.0, 0.1, 3.0, 2.0]
    >>> known = Circumstances(noise_variance=2.5)
    >>> choose_opponent("knowledge_gradient", means, variances, 0, known)
    2
    >>> choose_opponent("draw_chance", means, variances, 0, known)
    1
    """
    choose = function_of(OPPONENT[arguments.one_of("policy", policy, OPPONENT)])
    known = knowledge_of(means, variances, player, circumstances)
    return int(choose(known, 0, circumstances.uniform))


def knowledge_of(
    means: ArrayLike, variances: ArrayLike, player: int, circumstances: Circumstances
) -> Knowledge:
    """Return what a policy may look at that chooses an opponent."""
    beliefs = np.array(means, np.float64), np.array(variances, np.float64)
    truths = beliefs[0] if circumstances.truths is None else circumstances.truths
    return Knowledge(
        player,
        circumstances.games_left,
        *beliefs,
        np.array(truths, np.float64),
        circumstances.noise_variance,
        circumstances.gamma,
        circumstances.as_printed,
        workspace(len(beliefs[0])),
        circumstances.draw_margin,
        circumstances.kappa,
    )


def weigh_pair(
    policy: str,
    means: ArrayLike,
    variances: ArrayLike,
    pair: tuple[int, int],
    limit: float = 0.0,
    circumstances: Circumstances = ORDINARY,
) -> float:
    """Return how much a match of two who wait is worth by a policy.

    Parameters
    ----------
    policy : str
        A policy of pairs of the model `ladder`, such as draw_chance.
    means, variances : (n,) array_like
        Beliefs about all who wait.
    pair : tuple of int
        Indices of the two.
    limit : float
        The largest difference of their means that is allowed, for nearest.
    circumstances : Circumstances
        What else the policy looks at.

    Raises
    ------
    InputError
        If no policy of pairs has the name.

    Examples
    --------
    A game with a newcomer is worth more than one of two who are known well.

    >>> means, variances = [1500.0, 1500.0, 1500.0], [200.0**2, 50.0**2, 50.0**2]
    >>> known = Circumstances(noise_variance=150.0**2, gamma=0.95)
    >>> policy, pairs = "knowledge_gradient_variance", [(0, 1), (1, 2)]
    >>> [round(weigh_pair(policy, means, variances, pair, 0.0, known), 3) for pair in pairs]
    [1.127, 0.959]
    """
    weigh = function_of(PAIR[arguments.one_of("policy", policy, PAIR)])
    people = np.zeros(len(np.asarray(means)), WAITING)
    people["seen"] = people["mean"] = means
    people["variance"], people["ticket"] = variances, np.arange(len(people))
    people["skill"] = people["mean"] if circumstances.truths is None else circumstances.truths
    by_mean = np.argsort(people["mean"], kind="stable")
    people["rank"][by_mean] = np.arange(len(people))
    ordered, noise, gamma = people[by_mean], circumstances.noise_variance, circumstances.gamma
    mean, variance, ticket = (ordered[name].copy() for name in ("mean", "variance", "ticket"))
    waiting = Waiting(
        MeanOrder(mean, variance, ticket, len(people), noise),
        float(variance.mean()),
        noise,
        noise,
        gamma / (1.0 - gamma),
        circumstances.kappa,
        Streams(0).place(0),
        0,
    )
    first, second = (people[index] for index in pair)
    return float(weigh(first, second, limit, waiting))
