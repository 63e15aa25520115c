"""Rating systems as pure functions over numbers and arrays, without any config.

Any system, one match at a time, by its name:

>>> from valmatch import ratings
>>> ratings.NAMES
('zonestats', 'elo', 'glicko2', 'openskill', 'trueskill', 'glicko', 'elo_margin', 'elo_goals')
>>> state = ratings.newcomers("elo", 4)
>>> state = ratings.update_ratings("elo", state, sides=[[0, 1], [2, 3]], scores=[13, 7])
>>> state.ravel()
array([1516., 1516., 1484., 1484.])
>>> float(ratings.expected_scores("elo", state, [[0], [2]])[0, 1].round(3))
0.546

The formulas of each, with their sources, are modules of this folder: `elo` (also by margins and
goals), `glicko2` (and Glicko), `trueskill` (two players), `trueskill_teams`, `openskill`
(Plackett-Luce) and `zonestats`. A system of one's own is a file here and a line in `registry`, see
`system`, which also says how games are drawn.
"""

from valmatch.kernels.lazy_exports import attach

__getattr__, __dir__ = attach(__name__, __file__)
