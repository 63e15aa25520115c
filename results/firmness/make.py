"""Make the table of this folder: how often few games decide who leads, in simulated leagues.

    python results/firmness/make.py

That takes some minutes on two cores. `shares` plays leagues of two sizes and finds the fewest games
of each without which the second would lead.
"""

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from results.study import Row, Study, grid, share
from tests.support.batch_leagues import BatchLeague
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.ratings.bradley_terry.contests import Contests, design_of
from valmatch.ratings.bradley_terry.firmness import Cells, fewest_games
from valmatch.ratings.bradley_terry.rating import Model, rate

study = Study(globals())
PLAYERS, LEAGUES, SPREAD = 20, 500, 100.0
FEW = {"tenth": 0.001, "hundredth": 0.01}
GAPS = (0.0, 1.0, 2.0, 3.0, math.inf)


def first_and_second(
    contests: Contests, model: Model, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the gap of the first two, its standard error, and the fewest games that turn it.

    All are NaN where games do not link all players.
    """
    design = design_of(contests)
    made = rate(design, model)
    if not made.linked.rated.all():
        return math.nan, math.nan, math.nan
    covariance = model.uncertainty(made, False, rng).covariance
    assert covariance is not None
    a, b = np.argsort(-made.ratings)[:2].tolist()
    error = math.sqrt(covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b])
    removed = fewest_games(Cells.of(design, model), made, (a, b))
    fewest = math.inf if removed is None else float(removed.sum())
    return float(made.ratings[a] - made.ratings[b]), error, fewest


def league(games: int, number: int) -> tuple[float, float]:
    """Return the gap of the first in standard errors, and the fewest games that decide; or NaN."""
    rng = Streams(1).stream(number, games)
    contests, _ = BatchLeague("", PLAYERS, games, SPREAD, draw_weight=0.5).play(rng)
    gap, error, fewest = first_and_second(contests, Model(), rng)
    return gap / error, fewest


@study.table(grid(games=[2_000, 20_000]))
def shares(games: int) -> Iterator[Row]:
    """Return by gap how many leagues there are, and the shares in which few games decide."""
    numbers = np.array([league(games, number) for number in range(LEAGUES)])
    gaps, fewest = numbers[~np.isnan(numbers[:, 0])].T
    yield _row("all", fewest, games)
    for low, high in pairwise(GAPS):
        name = f"{low:g} to {high:g}" if math.isfinite(high) else f"{low:g} and more"
        yield _row(name, fewest[(gaps >= low) & (gaps < high)], games)


def _row(name: str, fewest: Floats, games: int) -> Row:
    row: Row = {"gap": name, "leagues": len(fewest), "fewest": float(np.median(fewest))}
    for key, few in FEW.items():
        row[key], row[f"{key}_low"], row[f"{key}_high"] = share(fewest <= few * games)
    return row


if __name__ == "__main__":
    study.main()
