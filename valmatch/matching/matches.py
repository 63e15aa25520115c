"""Matches of waiting players in plain numbers, by the rules that see nothing but ratings."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from valmatch.kernels.arrays import Floats
from valmatch.matching.joint import BEST_A, BEST_B, Pool, find_match, new_work
from valmatch.matching.pairs import MOST, match_band
from valmatch.matching.queue import (
    LINEUP,
    Arrivals,
    Rules,
    let_arrive,
    new_counts,
    parameters_of,
    prioritized,
    ticks_per_hour,
)
from valmatch.matching.registry import QUEUES, of_ratings, queue_rule

NAMES = of_ratings()
"""The rules that `match_players` knows."""

WIDEST_BAND = 16  # most places that two players of `best_pairs` may be apart


class Match(NamedTuple):
    """A match.

    Attributes
    ----------
    time : float
        When it is made, in hours.
    team_a, team_b : tuple of int
        Its players, by their places in the arrays given.
    """

    time: float
    team_a: tuple[int, ...]
    team_b: tuple[int, ...]


class Matched(NamedTuple):
    """What became of all who came.

    Attributes
    ----------
    matches : tuple of Match
        In order of time.
    waiting : tuple of int
        Players who were not matched.
    """

    matches: tuple[Match, ...]
    waiting: tuple[int, ...]


def ranges(
    team_num: int = 5,
    player_diff: float = math.inf,
    team_diff: float = math.inf,
    *,
    player_slack: float = 0.0,
    team_slack: float = 0.0,
    wait_thresh: float = math.inf,
    horizon: float = 24.0,
) -> Rules:
    """Return rules that keep ratings in ranges, which widen for those who wait long.

    Parameters
    ----------
    team_num : int
        Players on a team.
    player_diff, team_diff : float
        Largest range of ratings in a team, largest difference of the means of two teams (Elo
        points).
    player_slack, team_slack : float
        What is added to these for teams and matches with a player who waits longer.
    wait_thresh : float
        Than this, in hours.
    horizon : float
        End of the day, in hours.
    """
    if team_num < 1:
        raise ValueError(f"team_num: a team has at least one player, not {team_num}")
    limits = {"player_diff": player_diff, "team_diff": team_diff, "wait_thresh": wait_thresh}
    slacks = {"player_slack": player_slack, "team_slack": team_slack, "horizon": horizon}
    for name, value in {**limits, **slacks}.items():
        if math.isnan(value) or (name in slacks and math.isinf(value)):
            allowed = "a finite number" if name in slacks else "a number or infinity"
            raise ValueError(f"{name}: {allowed} is wanted, not {value}")
    large = 1e9  # in the place of infinity, so that sums of ratings and slack stay finite
    return Rules(
        team_num=team_num,
        player_diff=min(player_diff, large),
        player_slack=player_slack,
        team_diff=min(team_diff, large),
        team_slack=team_slack,
        wait_thresh=wait_thresh,
        horizon=horizon,
        continuous=False,
        pool_scope=False,
        balanced=False,
        around=False,
        ticks_per_hour=ticks_per_hour(horizon, team_num),
    )


def match_players(
    times: ArrayLike, ratings: ArrayLike, rules: Rules, rule: str = "team_first"
) -> Matched:
    """Match players as they come: at each arrival the queue is reviewed.

    Parameters
    ----------
    times : (n,) array_like
        Arrivals in hours, ascending, from 0 to the horizon of the rules.
    ratings : (n,) array_like
        Elo points.
    rules : Rules
        What `ranges` returns, or all fields of one's own.
    rule : str
        "team_first": teams are formed, then formed teams are paired; "joint": the two teams of a
        match are chosen at once from all who wait, exactly; "fifo": in order of arrival. All of
        them are in `valmatch.matching.NAMES`.

    Notes
    -----
    Source of team_first and joint: "Valorant Matchmaking Model" (Nolan Berry, 2023), the text and
    the implementation.

    Examples
    --------
    >>> rules = ranges(team_num=1, team_diff=100.0)
    >>> match_players([0.0, 0.1, 0.2, 0.3], [1500.0, 1900.0, 1550.0, 1700.0], rules)
    Matched(matches=(Match(time=0.2, team_a=(0,), team_b=(2,)),), waiting=(1, 3))
    """
    arrivals, skills = _row(times, "times"), _row(ratings, "ratings")
    if rule not in of_ratings():
        raise ValueError(f"rule: no rule {rule!r} (allowed: {', '.join(of_ratings())})")
    _check(arrivals, skills, rules, rule)
    module, p, n = queue_rule(rule), rules.team_num, arrivals.size
    numbers = parameters_of(module.Parameters, rules._asdict())
    counts = new_counts(np.empty(1), np.empty((n // (2 * p), 3 + 2 * p)))
    queue = module.new(max(n, 2 * p), numbers)
    let_arrive(module, Arrivals(arrivals, skills, 0), None, numbers, queue, counts)
    made = int(counts.statistics["matches"][0])
    matches = []
    for row in counts.log[:made].tolist():
        players = [int(player) for player in row[3:]]
        matches.append(Match(row[0], tuple(players[:p]), tuple(players[p:])))
    gone = {player for match in matches for player in (*match.team_a, *match.team_b)}
    return Matched(tuple(matches), tuple(k for k in range(n) if k not in gone))


def best_match(
    waits: ArrayLike, ratings: ArrayLike, rules: Rules
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the two best teams among all who wait, found exactly; None if there are none.

    The best match has the most players who wait longer than the threshold, then the longest total
    wait; see `valmatch.matching.joint`.

    Parameters
    ----------
    waits : (n,) array_like
        Hours that each has waited.
    ratings : (n,) array_like
        Elo points.
    rules : Rules
        What `ranges` returns.

    Examples
    --------
    >>> import numpy as np
    >>> ratings = np.random.default_rng(1).normal(1500.0, 300.0, 40).round()
    >>> waits = np.linspace(1.0, 0.0, 40)
    >>> best_match(waits, ratings, ranges(5, player_diff=200.0, team_diff=20.0))
    ((5, 7, 9, 11, 15), (0, 1, 2, 4, 8))
    """
    waited, skills = _row(waits, "waits"), _row(ratings, "ratings")
    oldest = np.argsort(-waited, kind="stable")
    arrivals = waited.max(initial=0.0) - waited[oldest]
    days_end = max(rules.horizon, waited.max(initial=0.0))
    ticks_an_hour = min(rules.ticks_per_hour, ticks_per_hour(days_end, max(rules.team_num, 1)))
    rules = rules._replace(horizon=days_end, ticks_per_hour=ticks_an_hour)
    _check(arrivals, skills, rules, "joint")
    long = prioritized(arrivals, waited.max(initial=0.0), rules)
    players = np.zeros(skills.size, LINEUP)
    players["arrival"], players["rating"] = arrivals, skills[oldest]
    pool = Pool(players, skills.size, int(long.sum()))
    work = new_work(max(1, skills.size), rules.team_num)
    if not find_match(pool, rules, work):
        return None
    a, b = (tuple(sorted(oldest[work.teams[row]].tolist())) for row in (BEST_A, BEST_B))
    return a, b


def best_pairs(weights: ArrayLike) -> list[tuple[int, int]]:
    """Return the matching of greatest total weight among players that are few places apart.

    Parameters
    ----------
    weights : (n, band) array_like
        Of the pair of player i and player i + 1 + k at [i, k]: integers up to 2**58, or real
        numbers, of which those below 2**-57 of the largest count as 0; negative where they cannot
        be matched. `band` is at most 16.

    Returns
    -------
    list of (int, int)
        The pairs; whoever is in none is left.

    Examples
    --------
    >>> best_pairs([[5, 1], [9, 1], [5, -1], [-1, -1]])
    [(0, 1), (2, 3)]
    >>> best_pairs([[0.4, 0.9], [0.4, -1.0], [-1.0, -1.0]])
    [(0, 2)]
    """
    numbers = np.array(weights, ndmin=2)
    n, band = numbers.shape
    real = numbers.dtype.kind == "f"
    wrong = numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all()
    if wrong or not 1 <= band <= WIDEST_BAND or (not real and (numbers > MOST).any()):
        raise ValueError(
            f"weights: columns from 1 to {WIDEST_BAND} of finite numbers, integers up to 2**58, are"
            " allowed"
        )
    if real:  # as integers, whose sums are exact: scaled by a power of two, which rounds nothing
        _, exponent = math.frexp(numbers.max(initial=0.0))
        scaled = np.rint(np.ldexp(np.maximum(numbers, 0.0), MOST.bit_length() - 1 - exponent))
        numbers = np.where(numbers < 0.0, -1.0, scaled)
    integers = numbers.astype(np.int64)
    places = np.arange(n)[:, np.newaxis] + 1 + np.arange(band)
    integers[places >= n] = -1
    return [(k, other) for k, other in enumerate(match_band(integers).tolist()) if other > k]


def _row(values: ArrayLike, name: str) -> Floats:
    """Return numbers as an array of one row."""
    row = np.array(values, np.float64)
    if row.ndim != 1 or not np.isfinite(row).all():
        raise ValueError(f"{name}: a row of finite numbers is wanted")
    return row


def _check(arrivals: Floats, ratings: Floats, rules: Rules, rule: str) -> None:
    """Raise ValueError unless a rule can match these players."""
    if arrivals.size != ratings.size:
        raise ValueError(f"ratings: {ratings.size} for {arrivals.size} players")
    if (np.diff(arrivals) < 0.0).any() or (arrivals < 0.0).any():
        raise ValueError("times: ascending from 0 are allowed")
    if arrivals.size and arrivals[-1] > rules.horizon:
        raise ValueError(f"times: up to the horizon of {rules.horizon} hours are allowed")
    largest = QUEUES[rule].largest_team
    if largest is not None and rules.team_num > largest:
        raise ValueError(f"team_num: {rule} takes teams of up to {largest}")
