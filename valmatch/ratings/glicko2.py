"""The Glicko-2 rating of a player over one rating period.

Source: Glickman, "Example of the Glicko-2 system" (2022), whose steps are named here. Predictions
follow Glickman, "The Glicko system" (1999), the expected outcome of a game.

All is on the scale of step 2: mu = (rating - 1500) / 173.7178, phi = deviation / 173.7178. A game
depends on ratings by the lead alone, the player's mu less the opponent's.

The results of a period enter by two sums, which are finite whatever happens: the information 1 / v
of step 3 and the surprise Delta / v of step 4.
"""

from __future__ import annotations

import math

from valmatch.compilation import inlined, njit

__all__ = [
    "DEVIATION",
    "INITIAL_RATING",
    "LEAST_VOLATILITY",
    "MOST_VOLATILITY",
    "SCALE",
    "TAU",
    "VOLATILITY",
    "damping",
    "expected_score",
    "idle_deviation",
    "new_volatility",
    "result",
    "updated",
    "volatility_slope",
]

SCALE = 173.7178
INITIAL_RATING = 1500.0
DEVIATION = 350.0
VOLATILITY = 0.06
TAU = 0.5

LEAST_VOLATILITY = 1e-12
MOST_VOLATILITY = 1e3

# Results that tell less count as this: far too little to matter, and nothing overflows.
_LEAST_INFORMATION = 1e-100

_TOLERANCE = 1e-12  # of ln sigma^2
_ILLINOIS_STEPS = 60  # a handful is usual; then halving, for functions over many magnitudes
_HALVINGS = 60


@inlined
def damping(phi: float) -> float:
    """Return g(phi) = 1 / sqrt(1 + 3 phi^2 / pi^2) (step 3).

    Parameters
    ----------
    phi
        Deviation, >= 0.
    """
    return 1.0 / math.sqrt(1.0 + 3.0 * phi * phi / (math.pi * math.pi))


@inlined
def expected_score(lead: float, phi: float) -> float:
    """Return the expected score E = 1 / (1 + exp(-g(phi) lead)) (step 3).

    Parameters
    ----------
    lead
        The player's mu less the opponent's.
    phi
        The opponent's deviation; for a prediction that of the lead, sqrt(phi_1^2 + phi_2^2).
    """
    odds = math.exp(-damping(phi) * abs(lead))  # of the weaker player; never overflows
    return (1.0 if lead >= 0.0 else odds) / (1.0 + odds)


@inlined
def result(lead: float, phi: float, score: float) -> tuple[float, float]:
    """Return what one result adds to the sums of steps 3 and 4.

    Parameters
    ----------
    lead
        The player's mu less the opponent's.
    phi
        The opponent's deviation.
    score
        The player's score: 1, 0.5, 0.

    Returns
    -------
    tuple of float
        (information g^2 E (1 - E), surprise g (score - E)).
    """
    g = damping(phi)
    odds = math.exp(-g * abs(lead))
    information = g * g * odds / ((1.0 + odds) * (1.0 + odds))
    return information, g * (score - expected_score(lead, phi))


@inlined
def volatility_slope(
    x: float, phi: float, volatility: float, information: float, surprise: float, tau: float
) -> float:
    """Return f(x) of step 5, of which x = ln sigma'^2 is a root.

    With w = (phi^2 + v + e^x) / v it is e^x (surprise^2 - information w) / (2 w^2) - (x - a) /
    tau^2, which needs no division by an information of nearly zero.

    Parameters
    ----------
    x
        Logarithm of a variance.
    phi, volatility, information, surprise, tau
        As in `updated`; a = ln volatility^2.
    """
    variance = math.exp(x)
    w = 1.0 + information * (phi * phi + variance)
    pull = variance * (surprise * surprise - information * w) / (2.0 * w * w)
    return pull - (x - 2.0 * math.log(volatility)) / (tau * tau)


@njit
def new_volatility(
    phi: float, volatility: float, information: float, surprise: float, tau: float
) -> float:
    """Return sigma' by the Illinois algorithm (step 5), within the limits of this module.

    Parameters are those of `updated`.
    """
    information = max(information, _LEAST_INFORMATION)
    a = 2.0 * math.log(volatility)
    at_a = volatility_slope(a, phi, volatility, information, surprise, tau)
    excess = surprise * surprise - information * (1.0 + information * phi * phi)
    if excess > 0.0:  # Delta^2 > phi^2 + v
        b = math.log(excess) - 2.0 * math.log(information)
        at_b = volatility_slope(b, phi, volatility, information, surprise, tau)
    else:  # f(x) >= 0 for all x <= a - tau^2 / 2, so that the loop ends
        b = a - tau
        at_b = volatility_slope(b, phi, volatility, information, surprise, tau)
        while at_b < 0.0:
            b -= tau
            at_b = volatility_slope(b, phi, volatility, information, surprise, tau)
    for step in range(_ILLINOIS_STEPS + _HALVINGS):
        if abs(b - a) <= _TOLERANCE or at_a == at_b:
            break
        c = a + (a - b) * at_a / (at_b - at_a) if step < _ILLINOIS_STEPS else 0.5 * (a + b)
        at_c = volatility_slope(c, phi, volatility, information, surprise, tau)
        if (at_c > 0.0) != (at_b > 0.0):
            a, at_a = b, at_b
        else:
            at_a *= 0.5
        b, at_b = c, at_c
        if at_c == 0.0:
            break
    return min(max(math.exp(0.5 * b), LEAST_VOLATILITY), MOST_VOLATILITY)


@inlined
def updated(
    phi: float, volatility: float, information: float, surprise: float, tau: float
) -> tuple[float, float, float]:
    """Return what a rating period makes of a player who has played in it (steps 5 to 7).

    Parameters
    ----------
    phi
        Deviation before the period.
    volatility
        Volatility sigma before the period, within the limits of this module.
    information, surprise
        Sums over the player's results, see `result`.
    tau
        How much the volatility may change, > 0.

    Returns
    -------
    tuple of float
        (mu' - mu, phi', sigma').
    """
    sigma = new_volatility(phi, volatility, information, surprise, tau)
    variance = phi * phi + sigma * sigma
    variance /= 1.0 + variance * information
    return variance * surprise, math.sqrt(variance), sigma


@inlined
def idle_deviation(phi: float, volatility: float, periods: float) -> float:
    """Return the deviation after so many rating periods without a game (step 6).

    Parameters
    ----------
    phi, volatility
        Deviation and volatility at the end of the last period with a game.
    periods
        Number of periods without one.
    """
    return math.sqrt(phi * phi + periods * volatility * volatility)
