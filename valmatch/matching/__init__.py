"""Rules of the queue as pure functions over numbers and arrays, without any config.

>>> from valmatch import matching
>>> matching.NAMES
('team_first', 'joint', 'fifo')
>>> rules = matching.ranges(team_num=2, player_diff=100.0, team_diff=25.0)
>>> waits, ratings = [0.5, 0.4, 0.3, 0.2, 0.1], [1500, 1700, 1520, 1490, 1530]
>>> matching.best_match(waits, ratings, rules)
((3, 4), (0, 2))
>>> matching.match_players([0.0, 0.1, 0.2, 0.3], [1500, 1510, 1900, 1480], rules).waiting
(0, 1, 2, 3)
>>> matching.best_pairs([[5, 1], [9, 1], [5, -1], [-1, -1]])
[(0, 1), (2, 3)]

A rule of one's own is a file here and a line in `registry`, see `queue.RatingRule`.
"""

from valmatch.kernels.lazy_exports import attach

__getattr__, __dir__ = attach(__name__, __file__)
