"""A log as it was fitted, and how firm its ranking is."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.game_logs.options import SANDWICH, RankOptions
from valmatch.game_logs.reading.columns import LONG
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.whole_log import result as r
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry import firmness as science
from valmatch.ratings.bradley_terry.contests import Contests, Design, Linked, design_of
from valmatch.ratings.bradley_terry.fit import NoEstimate
from valmatch.ratings.bradley_terry.rating import (
    Estimate,
    Model,
    Uncertainty,
    WholeModel,
    rate,
    refit,
)
from valmatch.ratings.whole_history import Tuned
from valmatch.statistics.estimates import clopper_pearson
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

ERRORS, RESAMPLING, SIMULATED = range(3)  # sources of random numbers
BOUNDARIES = 9  # those among the first ten
LOGS, FEWEST_LOGS = 200, 20  # that are simulated
MOST_CELLS = 1e8  # beyond which there are fewer: of boundaries, of kinds of games, of logs
RIVALS = 3  # players besides the leader over whom wins are bought on trial
SHOWN_FIRST = "shown_first"


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

    def day_cell(self, day: int) -> str | int:
        """Return a day as tables have it."""
        return str(np.datetime64(day, "D")) if self.dated else day


@dataclass(frozen=True)
class FittedLog:
    """A log that has been fitted, before it is put into rows."""

    games: WeightedGames
    options: RankOptions
    # design, model, linked: as `valmatch.ratings.bradley_terry` takes them
    design: Design
    model: WholeModel
    linked: Linked
    estimate: Estimate | None  # None where there is none
    trouble: NoEstimate | None  # why there is none
    tuned: Tuned | None  # the drift that was fitted, if it was
    order: Ints  # the rated players, the best first, equal ones by name
    half_draws: bool  # whether a game of two sides was drawn, and counts as half a win
    kind: str  # of the intervals
    clusters: int | None  # how many there are among the games used, where games belong together
    uncertainty: Uncertainty | None  # None without intervals; of the rated players in order
    # quantile, critical: half-widths in standard errors, of one interval and of those that hold
    # together
    quantile: float | None
    critical: float | None

    @property
    def ratings(self) -> Floats:
        """The ratings of the rated players."""
        return np.zeros(0) if self.estimate is None else self.estimate.ratings[self.order]


def check_firmness(log: GameLog, weighted: WeightedGames, options: RankOptions) -> None:
    """Refuse logs and players of whom nothing can be said."""
    long = log.columns.format.name == LONG.name
    if long or (np.diff(weighted.contests.game_starts) != 2).any():
        what = "takes games of two sides, a row each"
        raise InputError(f"{log.name}: {option('firmness')}: {what}")
    if options.swapped_by and weighted.first is None:
        what = "needs to know who is shown first (allowed: a log with player_a and player_b)"
        raise InputError(f"{log.name}: {option('swapped_by')}: {what}")
    for name in options.bought:
        if name not in weighted.players:
            what = f"{shown(name)} has not played ({hint(name, weighted.players)})"
            raise InputError(f"{log.name}: {option('bought')}: {what}")


def firmness_of(
    log: GameLog, fitted: FittedLog, result: r.BatchRating, look: Callable[[], None]
) -> dict[str, Any]:
    """Return how firm a ranking is; nothing where fewer than two players are rated."""
    made, options, order = fitted.estimate, fitted.options, fitted.order.tolist()
    if made is None or len(order) < 2:
        return {}
    cells = science.Cells.of(fitted.design, fitted.model)
    boundaries, logs = _boundaries(fitted, cells, made, look)
    tied = result.tied_for_first or result.posterior.names
    rivals = [k for k in order[1 : BOUNDARIES + 1] if fitted.games.players[k] in tied]
    leader = boundaries[0]
    if rivals:
        pairs = [(order[0], k) for k in rivals]
        seeming = science.first_looks(cells, cells.weights, made, pairs)
        easiest = pairs[int(np.argmin(seeming))]
        if easiest[1] != order[1]:
            other = _boundary(fitted, cells, made, easiest)
            known = [row for row in (leader, other) if row.games is not None]
            leader = min(known, key=lambda row: row.games or 0, default=leader)
    games, error = science.error_of_own_games(made)
    entry: dict[str, Any] = {
        "boundaries": [row._asdict() for row in boundaries],
        "leader": leader._asdict(),
        "simulated_logs": logs,
        "bought": [row for name in options.bought for row in _bought(fitted, made, name, look)],
        "order": _order(fitted, made, result),
        "covariates": [_without(fitted, name) for name in options.covariate],
        "best_of": {
            "games": games,
            "std_error": round(error, r.DIGITS),
            "ahead": [
                {"n": n, "points": round(error * science.expected_largest(n), 3)}
                for n in options.best_of
            ],
        },
    }
    if fitted.games.questions is not None:
        entry["swapped"] = _swapped(log, fitted, made, fitted.games.questions)
    return entry


def _boundaries(
    fitted: FittedLog, cells: science.Cells, made: Estimate, look: Callable[[], None]
) -> tuple[list[r.BoundaryRow], int]:
    """Return the rows of the first boundaries, and how many simulated logs they are by."""
    options, order = fitted.options, fitted.order.tolist()
    n = min(BOUNDARIES, len(order) - 1)
    streams, numbers = Streams(options.seed), list[list[float]]()
    logs = int(np.clip(MOST_CELLS / (n * len(cells.weights)), FEWEST_LOGS, LOGS))
    for k in range(logs):
        look()
        weights = cells.simulated(made, streams.stream(k, SIMULATED))
        again = cells.fit(weights, made).estimate
        if again is None or (rated := again.linked.rated).sum() <= n:
            continue
        best = np.argsort(np.where(rated, -again.ratings, np.inf), kind="stable")[: n + 1].tolist()
        numbers.append(science.first_looks(cells, weights, again, [*pairwise(best)]))
    expected: list[list[float | None]] = [[None] * 3 for _ in range(n)]
    if numbers:
        tail = 0.5 * (1.0 - options.level)
        ends = np.quantile(numbers, [tail, 1.0 - tail], axis=0, method="inverted_cdf")
        expected = np.round([np.mean(numbers, axis=0), *ends], 3).T.tolist()
    rows = []
    for k in range(n):
        look()
        row = _boundary(fitted, cells, made, (order[k], order[k + 1]))
        mean, low, high = expected[k]
        rows.append(row._replace(boundary=k + 1, expected=mean, low=low, high=high))
    return rows, len(numbers)


def _boundary(
    fitted: FittedLog, cells: science.Cells, made: Estimate, pair: tuple[int, int]
) -> r.BoundaryRow:
    """Return the fewest games found without which the second of a pair is ahead."""
    a, b = (fitted.games.players[k] for k in pair)
    removed = science.fewest_games(cells, made, pair)
    if removed is None:
        return r.BoundaryRow(None, a, b)
    games = int(removed.sum())
    by_cell = np.argsort(cells.of_games, kind="stable")  # the first ones of each
    starts = np.searchsorted(cells.of_games[by_cell], np.arange(len(removed)))
    there = np.flatnonzero(removed).tolist()
    chosen = [by_cell[starts[k] : starts[k] + int(removed[k])] for k in there]
    rows = np.sort(fitted.games.rows[np.concatenate(chosen)]) + 1
    share, numbers = round(games / len(cells.of_games), 9), ";".join(map(str, rows.tolist()))
    return r.BoundaryRow(None, a, b, games, share, rows=numbers)


def _bought(
    fitted: FittedLog, made: Estimate, name: str, look: Callable[[], None]
) -> list[dict[str, Any]]:
    """Return how many wins over the leader, and over the most useful others, put a player first."""
    order, names = fitted.order.tolist(), fitted.games.players
    player = names.index(name)
    if player not in order:
        raise InputError(f"{option('bought')}: {shown(name)} has no rating ({option('prior')} D)")
    rivals = [k for k in order if k != player]
    pairs = [(min(player, k), max(player, k)) for k in rivals]
    cells = science.Cells.of(fitted.design, fitted.model, pairs)
    first = len(cells.weights) - 3 * len(pairs)
    places = first + 3 * np.arange(len(pairs))
    places += [science.WON if player < k else science.LOST for k in rivals]
    gains = -cells.influences(made, [(player, rivals[0])])[places, 0]
    useful = np.argsort(-gains, kind="stable")[:RIVALS].tolist()
    rows = []
    for k in dict.fromkeys([0, *useful]):
        look()
        wins = science.bought_wins(cells, made, player, int(places[k]))
        rows.append({"player": name, "over": names[rivals[k]], "wins": wins})
    return rows


def _order(fitted: FittedLog, made: Estimate, result: r.BatchRating) -> dict[str, Any] | None:
    """Return the advantage of who is shown first; None where that cannot be told."""
    games, contests = fitted.games, fitted.games.contests
    assert isinstance(fitted.model, Model)
    if games.first is None:
        return None
    name = r.HOME if r.HOME in games.features else SHOWN_FIRST
    points, half = made.coefficients[0] if name == r.HOME else 0.0, None
    if name == r.HOME:  # which is the same
        row = result.coefficients[0]
        half = None if row.high is None else row.high - row.value
    else:
        feature = np.zeros((2 * contests.n_games, 1))
        feature[2 * np.arange(contests.n_games) + games.first] = 1.0
        contests = replace(contests, features=np.hstack([feature, contests.features]))
        try:
            again = rate(design_of(contests), fitted.model)
        except NoEstimate:
            return None
        points = again.coefficients[0]
        if fitted.quantile is not None:
            error = science.error_of_feature(again, 0, fitted.kind == SANDWICH)
            half = fitted.quantile * error
    ends = [points, math.nan, math.nan] if half is None else [points, points - half, points + half]
    shares = [100.0 / (1.0 + 10.0 ** (-x / 400.0)) for x in ends]
    names = ("points", "low", "high", "percent", "percent_low", "percent_high")
    numbers = (None if x != x else round(float(x), r.DIGITS) for x in (*ends, *shares))
    return {"name": name, **dict(zip(names, numbers, strict=True))}


def _without(fitted: FittedLog, name: str) -> dict[str, Any]:
    """Return whose rank is another one without a covariate."""
    games, contests = fitted.games, fitted.games.contests
    kept = [k for k, feature in enumerate(games.features) if feature != name]
    design = design_of(replace(contests, features=contests.features[:, kept]))
    assert isinstance(fitted.model, Model)
    try:
        again = rate(design, fitted.model)
    except NoEstimate:
        return {"name": name, "changed": None}
    assert fitted.estimate is not None
    ranks, before = _ranks(again.ratings), _ranks(fitted.estimate.ratings)
    changed = [
        {"player": games.players[k], "rank": before[k], "rank_without": ranks[k]}
        for k in fitted.order.tolist()
        if ranks[k] != before[k]
    ]
    return {"name": name, "changed": changed}


def _ranks(ratings: Floats) -> list[int | None]:
    """Return the rank of each who has a rating, equal ones of equals."""
    rounded = np.round(ratings, r.DIGITS)
    known = np.isfinite(rounded)
    ranks = (1 + np.searchsorted(np.sort(-rounded[known]), -rounded)).tolist()
    return [rank if is_known else None for rank, is_known in zip(ranks, known, strict=True)]


def _swapped(log: GameLog, fitted: FittedLog, made: Estimate, questions: Ints) -> dict[str, Any]:
    """Return how many judgements turn over where the order of two players does."""
    games, contests, options = fitted.games, fitted.games.contests, fitted.options
    sides, points = contests.players.reshape(-1, 2), contests.points.reshape(-1, 2)
    n, low, at = contests.n_games, np.argmin(sides, axis=1), np.arange(contests.n_games)
    scores = np.sign(points[at, low] - points[at, 1 - low])
    asked = np.column_stack([questions, sides[at, low], sides[at, 1 - low], games.first == low])
    ways: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}
    for game, (*question, forward) in enumerate(asked.tolist()):
        ways.setdefault(tuple(question), ([], []))[forward].append(game)
    # The k-th game of a question one way goes with the k-th the other way.
    both_ways = [pair for of_question in ways.values() for pair in zip(*of_question, strict=False)]
    if not both_ways:
        what = f"{options.swapped_by}: no two games of one question in both orders"
        raise InputError(f"{log.name}: {option('swapped_by')}: {what}")
    pairs, (forwards, backwards) = len(both_ways), np.array(both_ways).T
    steady = scores[forwards] == scores[backwards]
    turned = int(pairs - steady.sum())
    weights = np.zeros(n)
    weights[np.concatenate([forwards[steady], backwards[steady]])] = 1.0
    again = refit(fitted.design, fitted.model, made, weights)
    ratings = np.where(np.isfinite(again.low + again.high), again.low, np.nan)
    ranks, before = _ranks(ratings), _ranks(made.ratings)
    rounded = np.round(ratings, r.DIGITS).tolist()
    ends = clopper_pearson(turned, pairs, 0.5 * (1.0 - options.level))
    return {
        "by": options.swapped_by,
        "pairs": pairs,
        "unpaired": n - 2 * pairs,
        "turned": turned,
        "share": round(turned / pairs, 9),
        "low": round(ends[0], 9),
        "high": round(ends[1], 9),
        "steady": [
            {
                "player": games.players[k],
                "rating": None if ranks[k] is None else rounded[k],
                "rank": ranks[k],
                "rank_by_all": before[k],
            }
            for k in fitted.order.tolist()
        ],
    }
