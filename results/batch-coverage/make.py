"""Make the tables of this folder: what the intervals of whole logs hold, in simulated leagues.

    python results/batch-coverage/make.py

That takes about nine minutes on one core. `coverage` plays leagues of constant strengths, `paths`
those of strengths that move.
"""

import numpy as np

from results.study import Row, Study, errors, grid
from tests.support.batch_leagues import LEAGUES, LEVELS, MEASURES, PATH_LEAGUES, path_shares, shares

study = Study(globals())
WORLDS, PATH_WORLDS = 500, 1000
PATH_MEASURES = ("days", "differences of the last day")

# How leagues begin whose games are not those of the model that rates them.
UNFIT = "draws as halves", "prior of a third", "votes"


@study.table(grid(league=[league.name for league in LEAGUES]))
def coverage(league: str) -> list[Row]:
    """Return shares of a league by kind of interval, with standard errors."""
    number = [one.name for one in LEAGUES].index(league)
    found = shares(LEAGUES[number], WORLDS, number)
    return [
        {"interval": kind, "worlds": len(values)}
        | errors(dict(zip(MEASURES, values.T, strict=True)))
        for kind, values in found.items()
    ]


@study.table(grid(league=[league.name for league in PATH_LEAGUES]))
def paths(league: str) -> list[Row]:
    """Return shares of a league by level, with standard errors."""
    own = next(one for one in PATH_LEAGUES if one.name == league)
    found = np.array([path_shares(own, seed) for seed in range(PATH_WORLDS)])
    return [
        {"level": level, "worlds": PATH_WORLDS}
        | errors(dict(zip(PATH_MEASURES, found[:, k].T, strict=True)))
        for k, level in enumerate(LEVELS)
    ]


if __name__ == "__main__":
    study.main()
