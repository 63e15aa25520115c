"""A whole log as games with weights, and as it was fitted: what tables and firmness are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from valmatch.game_logs.options import RankOptions
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry.connections import Levels, Linked
from valmatch.ratings.bradley_terry.contests import Contests, Design
from valmatch.ratings.bradley_terry.fit import NoEstimate
from valmatch.ratings.bradley_terry.rating import HALF, Estimate, Uncertainty, WholeModel
from valmatch.ratings.whole_history.rating import Tuned

ERRORS, RESAMPLING, SIMULATED = range(3)
"""Sources of random numbers."""


class WeightedGames(NamedTuple):
    """The games of a log that weigh anything."""

    contests: Contests  # the games; players are numbered by name
    players: list[str]  # their names, in order
    features: list[str]  # what coefficients are called
    days: Ints | None  # (games,) the day of each, where players have ratings by day
    dated: bool  # whether days are those of the calendar, counted from 1970
    rows: Ints  # (games,) the row of the log, or the game, from 0
    first: Ints | None  # (games,) which side a row of two names first; None where it is the winner
    questions: Ints | None  # (games,) what `swapped_by` has

    @property
    def most_ratings(self) -> int:
        """How many ratings there may be: of players, or of those of each game by day."""
        return len(self.players) if self.days is None else self.contests.players.size

    def day_cell(self, day: int) -> str | int:
        """Return a day as tables have it."""
        return str(np.datetime64(day, "D")) if self.dated else day


@dataclass(frozen=True)
class FittedLog:
    """A log that has been fitted, before it is put into rows."""

    games: WeightedGames
    options: RankOptions
    # design, levels, model, linked: as `valmatch.ratings.bradley_terry` takes them
    design: Design
    levels: Levels
    model: WholeModel
    linked: Linked
    estimate: Estimate | None  # None where there is none
    trouble: NoEstimate | None  # why there is none
    kind: str  # of the intervals
    clusters: int | None  # how many there are among the games used, where games belong together
    tuned: Tuned | None  # the drift that was fitted, if it was
    order: Ints  # the rated players, the best first, equal ones by name
    index: Ints  # where each of these stands among the rated players
    uncertainty: Uncertainty | None = None  # None without intervals
    # quantile, critical: half-widths in standard errors, of one interval and of those that hold
    # together
    quantile: float | None = None
    critical: float | None = None

    @property
    def ratings(self) -> Floats:
        """The ratings of the rated players."""
        return np.zeros(0) if self.estimate is None else self.estimate.ratings[self.order]

    @property
    def half_draws(self) -> bool:
        """Whether a game of two sides that is used was drawn, and counts as half a win."""
        drawn = self.design.duel_scores[self.linked.games[self.design.duel_games]] == 0.5
        return self.options.draws == HALF and bool(drawn.any())
