"""The probabilities of the results of games, from the beliefs that a rating left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from valmatch.arrays import Floats
from valmatch.game_logs.fixtures import Fixture
from valmatch.game_logs.playing import predict
from valmatch.game_logs.roster import Known
from valmatch.ratings.games import Games, Players
from valmatch.ratings.system import Chances, System

_AT_ONCE = 1 << 16  # rows that are held
_LEAST = 1e-300  # of a probability by which others are divided


class Forecast(NamedTuple):
    """How a game will end.

    Attributes
    ----------
    fixture : Fixture
        The game.
    wins : (sides,) ndarray of float64
        Probability of each side to win. Of more than two sides, from the expected scores p_ij
        between each two of them: proportional to 1 / (1 + sum_j p_ji / p_ij), which is Luce's rule
        where there is one behind them.
    draw : float
        Probability of a draw; NaN where the system knows none, or of more than two sides.
    low, high : (sides,) ndarrays of float64
        Ends of the 95% interval of the probability to win, by how little is known of the players;
        NaN where the system knows no uncertainty.
    expected : (sides,) ndarray of float64
        Mean expected score against the other sides, as ``history.csv`` has it.
    newcomers : sequence of str
        Players without a rating.
    """

    fixture: Fixture
    wins: Floats
    draw: float
    low: Floats
    high: Floats
    expected: Floats
    newcomers: Sequence[str]


def forecast(
    system: System,
    values: Mapping[str, float],
    known: Sequence[Known],
    fixtures: Sequence[Fixture],
) -> list[Forecast]:
    """Predict games, each from the same ratings.

    Parameters
    ----------
    system : System
        The rating system.
    values : mapping
        Values of its parameters.
    known : sequence of Known
        The players; others are newcomers.
    fixtures : sequence of Fixture
        The games.
    """
    beliefs = {one.player: one for one in known}
    newcomer = Known("", system.newcomer(values), 0, (), np.nan, False)
    found = []
    for some in _portions(fixtures):
        games, players = _duels(some, beliefs, newcomer)
        chances = predict(system, values, games, players)
        at = 0
        for fixture in some:
            duels = len(fixture.sides) * (len(fixture.sides) - 1)
            own = Chances(*(column[at : at + duels] for column in chances))
            unknown = [p for side in fixture.sides for p in side if p not in beliefs]
            found.append(_of_sides(fixture, own, unknown))
            at += duels
    return found


def _portions(fixtures: Sequence[Fixture]) -> Iterator[list[Fixture]]:
    """Yield the fixtures in portions that are held at once."""
    some: list[Fixture] = []
    rows = 0
    for one in fixtures:
        more = 2 * (len(one.sides) - 1) * sum(map(len, one.sides))
        if some and rows + more > _AT_ONCE:
            yield some
            some, rows = [], 0
        some.append(one)
        rows += more
    if some:
        yield some


def _duels(
    fixtures: Sequence[Fixture], beliefs: Mapping[str, Known], newcomer: Known
) -> tuple[Games, Players]:
    """Return each side of each fixture with each other one as a game of players of their own."""
    duels = [(one, *two) for one in fixtures for two in permutations(range(len(one.sides)), 2)]
    # By name, as in a log: sums of floats depend on the order.
    sides = [sorted(one.sides[k], key=str.encode) for one, *two in duels for k in two]
    people = [beliefs.get(player, newcomer) for side in sides for player in side]
    sizes = np.array([len(side) for side in sides])
    n, n_sides, n_rows = len(duels), len(sides), len(people)
    games = Games(
        names=np.arange(n),
        times=np.array([one.time for one, *_ in duels]),
        homes=np.array([two.index(0) if one.at_home and 0 in two else -1 for one, *two in duels]),
        game_starts=np.arange(0, n_sides + 1, 2),
        side_starts=np.concatenate([[0], np.cumsum(sizes)]),
        points=np.zeros(n_sides),
        players=np.arange(n_rows),
        sides=np.repeat(np.arange(n_sides) % 2, sizes),
        rates=np.zeros(n_rows),
        minutes=np.ones(n_rows),
    )
    state = np.array([one.state for one in people], np.float64)
    return games, Players(state, np.array([one.games for one in people], np.int64))


def _of_sides(fixture: Fixture, chances: Chances, newcomers: Sequence[str]) -> Forecast:
    """Return the forecast of a fixture from those of each of its sides against each other one."""
    n = len(fixture.sides)
    expected, wins, draws, low, high = (column.reshape(n, n - 1) for column in chances)
    if n == 2:
        found, draw = [wins[:, 0], low[:, 0], high[:, 0]], float(draws[0, 0])
    else:
        half = np.nan_to_num(draws) / 2.0
        first, lowest, highest = map(_first_of_many, (expected, low + half, high + half))
        found, draw = [first / first.sum(), lowest, highest], np.nan
    won, low, high = found
    return Forecast(fixture, won, draw, low, high, expected.mean(axis=1), newcomers)


def _first_of_many(scores: Floats) -> Floats:
    """Return how likely each side comes first, from its expected scores against the others."""
    likely: Floats = 1.0 / (1.0 + ((1.0 - scores) / np.maximum(scores, _LEAST)).sum(axis=1))
    return likely
