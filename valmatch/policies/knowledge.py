"""State of knowledge that a policy may look at when it chooses an opponent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats


class Workspace(NamedTuple):
    """Scratch arrays of one decision, one entry per player; nothing in them outlives the call.

    Attributes
    ----------
    inverse
        1 / c^2 against each player.
    quality
        sqrt(2 pi) q of (5) against each player; -1 for player 0.
    p_win, p_draw
        Believed probability that player 0 beats, or draws with, each player.
    mean_win, variance_win, mean_loss, variance_loss, mean_draw, variance_draw
        Player 0's belief after beating, losing to, or drawing with, each player.
    best_win, best_loss, best_draw
        2 pi q^2 after each outcome, first against the same player, then against the best.
    scores
        Ceilings of the quality while looking ahead; in the end sqrt(2 pi) times the score.
    """

    inverse: Floats
    quality: Floats
    p_win: Floats
    p_draw: Floats
    mean_win: Floats
    variance_win: Floats
    best_win: Floats
    mean_loss: Floats
    variance_loss: Floats
    best_loss: Floats
    mean_draw: Floats
    variance_draw: Floats
    best_draw: Floats
    scores: Floats


def workspace(n_players: int) -> Workspace:
    """Return scratch arrays for decisions among `n_players` players, player 0 included."""
    return Workspace(*[np.empty(n_players) for _ in Workspace._fields])


class Knowledge(NamedTuple):
    """What is known before a game; the same record for all games of a path.

    Attributes
    ----------
    player : int
        Index of player 0 among the M + 1 players; all others are opponents.
    n_games : int
        Number of games N of the path.
    means, variances : numpy.ndarray
        (M + 1,) beliefs about all players now.
    truths : numpy.ndarray
        (M + 1,) true skills, for the oracle alone.
    noise_variance : float
        Variance of one performance around the skill.
    gamma : float
        Discount factor of (13).
    as_printed : bool
        Use (1), (2), (10) as the paper prints them.
    work : Workspace
        Scratch arrays; nothing in them outlives a decision.
    draw_margin : float
        A game is drawn if the performances differ by less.
    kappa : float
        Weight of the standard deviation in the upper confidence bounds.
    """

    player: int
    n_games: int
    means: Floats
    variances: Floats
    truths: Floats
    noise_variance: float
    gamma: float
    as_printed: bool
    work: Workspace
    draw_margin: float = 0.0
    kappa: float = 0.0
