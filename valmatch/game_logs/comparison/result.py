"""The result of a comparison of rating systems or ratings, and the sums that it is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.game_logs.blocks import MEASURES, OF_DRAWS, Difference, difference
from valmatch.game_logs.games import part, pieces, until_stopped
from valmatch.game_logs.roster import Roster
from valmatch.game_logs.scores import TALLIES, Scores, scores
from valmatch.game_logs.tuning import Tuning
from valmatch.kernels.arrays import Floats
from valmatch.ratings.games import Games
from valmatch.storage.results import Result


@dataclass(frozen=True, repr=False)
class RatingComparison(Result):
    """How well several rating systems or ratings, and two baselines, predicted games of one log.

    Attributes
    ----------
    parameters : mapping of str to mapping of str to float
        Values of all parameters of each system.
    leader : str
        The system with the least log loss.
    unbeaten : sequence of str
        The other systems and baselines than which it is not shown to be better: their log loss is
        not greater beyond the 95% interval of the difference.
    games, rows : int
        How many games were predicted, and rows of a player in them.
    unrated : int
        Games with fewer than two sides of enabled players.
    skipped : mapping of str to int
        Bad games left out, by reason.
    burn_in : int
        Games that every player must have behind him for a prediction to count as one after the
        burn-in.
    blocks : int
        Blocks of games, over which all intervals are.
    predictions : mapping of str to mapping of str to Scores
        How well each predicted, of ``all`` games and of those ``after_burn_in``.
    means, differences : mapping of str to mapping of str to Difference
        The scores of all games of each, and by how much they exceed those of the leader.
    fitted : mapping of str to sequence of str
        Parameters that were fitted, by system.
    fitted_to : int
        Games before those predicted, to which they were fitted.
    tunings : mapping of str to Tuning
        How that went, by system; also where what was fitted is not adopted.
    """

    parameters: Mapping[str, Mapping[str, float]]
    leader: str
    unbeaten: Sequence[str]
    games: int
    rows: int
    unrated: int
    skipped: Mapping[str, int]
    burn_in: int
    blocks: int
    predictions: Mapping[str, Mapping[str, Scores]]
    means: Mapping[str, Mapping[str, Difference]]
    differences: Mapping[str, Mapping[str, Difference]]
    fitted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    fitted_to: int = 0
    tunings: Mapping[str, Tuning] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def best(self) -> str | None:
        """The leader, if it is shown to be better than all others and a coin; else None."""
        return None if self.unbeaten else self.leader

    @property
    def no_interval(self) -> str:
        """Why nothing has an interval; "" if it has."""
        return "" if self.blocks > 1 else "there is one block of games only"

    @property
    def title(self) -> str:
        """What was compared, in one line."""
        found = f"best: {self.best}"
        if self.unbeaten:
            others = ", ".join(self.unbeaten)
            found = f"least log loss: {self.leader}, none shown better than {others}"
        before = f" after {self.fitted_to:,} fitted to" if self.fitted_to else ""
        return (
            f"{len(self.parameters)} systems, {self.games:,} games{before}, {self.rows:,} rows,"
            f" {self.blocks} blocks of games; {found}"
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each system and baseline, as ``comparison.csv`` has them."""
        found: dict[str, list[Any]] = {"system": list(self.means)}
        for name in self.means[self.leader]:
            for what, estimates in (("", self.means), ("_to_best", self.differences)):
                column = [of_system[name] for of_system in estimates.values()]
                found[f"{name}{what}"] = [estimate.mean for estimate in column]
                found[f"{name}{what}_half_width"] = [estimate.half_width for estimate in column]
                ends = [estimate.interval or (None, None) for estimate in column]
                found[f"{name}{what}_low"] = [low for low, _ in ends]
                found[f"{name}{what}_high"] = [high for _, high in ends]
        return found

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            "systems": {
                name: {
                    "parameters": dict(self.parameters.get(name, {})),
                    "baseline": name not in self.parameters,
                    **({"fitted": list(self.fitted[name])} if name in self.fitted else {}),
                    **({"tuning": self.tunings[name].as_dict()} if name in self.tunings else {}),
                    "predictions": _as_dicts(predictions),
                    "means": _as_dicts(self.means[name]),
                    "to_best": _as_dicts(self.differences[name]),
                }
                for name, predictions in self.predictions.items()
            },
            "best": self.best,
            "least_log_loss": self.leader,
            "not_shown_better_than": list(self.unbeaten),
            "games": self.games,
            "rows": self.rows,
            "unrated_games": self.unrated,
            "skipped_games": dict(self.skipped),
            "burn_in": self.burn_in,
            "blocks": self.blocks,
            **({"no_interval": self.no_interval} if self.no_interval else {}),
        }


def _as_dicts(found: Mapping[str, Scores] | Mapping[str, Difference]) -> dict[str, Any]:
    """Return scores or estimates by name as ``summary.json`` holds them."""
    return {name: scores.as_dict() for name, scores in found.items()}


def tallies(
    start: Roster,
    games: Games,
    blocks: Sequence[tuple[int, int]],
    burn_in: int,
    stop: Callable[[], bool] = lambda: False,
) -> Floats:
    """Return (blocks, 2, columns) tallies of the games of each block, played by a system."""
    sums = []
    for first, last in [(0, blocks[0][0]), *blocks]:
        start.tally[:] = 0.0
        block = pieces(part(games, first, last), start.system.pairs_at_once)
        for piece in until_stopped(block, stop):
            start.play(piece, burn_in)
        sums.append(start.tally.copy())
    return np.array(sums[1:])


def compared(
    sums: Mapping[str, Floats],
    parameters: Mapping[str, Mapping[str, float]],
    games: Games,
    burn_in: int,
) -> RatingComparison:
    """Return what is found by tallies of the same games.

    Shapes: `sums` (blocks, 2, columns).
    """
    predictions = {
        name: dict(zip(TALLIES, map(scores, own.sum(axis=0)), strict=True))
        for name, own in sums.items()
    }
    leader = min(parameters, key=lambda name: _loss(predictions[name]["all"]))
    of_all = {name: own[:, 0] for name, own in sums.items()}
    of_draws = sum(own["all"].three_way_log_loss is not None for own in predictions.values())
    measures = [*MEASURES, *(OF_DRAWS if of_draws > 1 else ())]
    differences = {
        name: {m: difference(m, own, of_all[leader]) for m in measures}
        for name, own in of_all.items()
    }
    others = (name for name in of_all if name != leader)
    return RatingComparison(
        parameters=parameters,
        leader=leader,
        unbeaten=[name for name in others if not differences[name]["log_loss"].above_zero],
        games=games.n_games,
        rows=len(games.players),
        unrated=0,
        skipped={},
        burn_in=burn_in,
        blocks=len(of_all[leader]),
        predictions=predictions,
        means={name: {m: difference(m, own) for m in measures} for name, own in of_all.items()},
        differences=differences,
    )


def _loss(found: Scores) -> float:
    """Return a log loss by which systems can be ordered: what is undefined comes last."""
    loss = found.log_loss
    return math.inf if loss is None or math.isnan(loss) else loss
