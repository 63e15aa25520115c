"""Policies that choose whom a player meets, and which two who wait should play.

By name, over arrays of what is known of the players, usable without any config. Sources: Ryzhov,
Tariq, Powell, "May the best man win: simulation optimization for match-making in e-sports" (2011),
whose equation numbers are quoted; Lai, Robbins, "Asymptotically efficient adaptive allocation
rules" (1985), for upper confidence bounds. Examples::

    >>> from valmatch import policies
    >>> known = policies.Circumstances(noise_variance=2.5, gamma=0.99)
    >>> means, variances = [0.0, 0.3, -0.4], [2.0, 0.1, 3.0]
    >>> policies.choose_opponent("knowledge_gradient", means, variances, 0, known)
    2
"""

from valmatch.kernels.lazy_exports import attach

__getattr__, __dir__ = attach(__name__, __file__)
