"""Responses of a ladder from its sums, and the state of its ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import at, kernel
from valmatch.models.ladder.state import LEFT
from valmatch.models.model import NOT_NEGATIVE, SHARE, WIN_GAP, Response, Responses, of_part

# The waits of the matched players of a ladder in memory that does not grow with their number.
#
# Up to `KEPT` waits of a replication are kept, and what is said of them is exact. Where there are
# more, all are counted in bins: the leading bits of a number, its exponent and `BITS` bits of its
# fraction, are its bin, so that the middle of a bin is within 2**-(BITS + 1) of all that is in it.
# What is said depends on the waits and their order alone, not on when they were handed over.

KEPT = 2**19  # waits of a replication that are kept; of more, percentiles are those of bins
BITS = 10  # bits of the fraction of a number that tell bins apart
ERROR = 2.0 ** -(BITS + 1)  # largest relative error of a percentile by bins
PERCENTILES = (50, 90, 95, 99)

_SHIFT = 52 - BITS
_LEAST, _MOST = -40, 22
"""Exponents of hours: below is no wait, but rounding of the clock; above is no run."""
_OFFSET = ((1023 + _LEAST) << BITS) - 1
"""The bin of the smallest numbers, less 1: bin 0 has what is below."""
_BINS = ((_MOST - _LEAST) << BITS) + 1


class WaitSummary(NamedTuple):
    """What is said of waits."""

    n: int  # how many there are
    mean: float  # minutes; NaN without any, as the percentiles
    percentiles: tuple[float, ...]  # minutes, of `PERCENTILES`


class Waits:
    """The waits of a replication after the other, and room for those to come."""

    def __init__(self) -> None:
        self.room: Floats = np.empty(1024)  # where a kernel writes waits (hours), from the start
        self._bins: Ints = np.zeros(0, np.int64)
        self._sums: Floats = np.zeros(2)

    def clear(self) -> None:
        """Begin a replication."""
        self._bins, self._sums = np.zeros(0, np.int64), np.zeros(2)

    def make_room(self, n: int) -> int:
        """Return how many of the first `n` numbers of `room` are still there, with more room."""
        if n > KEPT:
            self._count(n)
            return 0
        room = np.empty(2 * self.room.size)
        room[:n] = self.room[:n]
        self.room = room
        return n

    def summary(self, n: int) -> WaitSummary:
        """Return the statistics of all waits; the last are the first `n` numbers of `room`."""
        if n > KEPT or self._bins.size:
            self._count(n)
            return self._of_bins()
        if n == 0:
            return WaitSummary(0, math.nan, (math.nan,) * len(PERCENTILES))
        waits = self.room[:n]
        percentiles = np.percentile(60.0 * waits, PERCENTILES)
        return WaitSummary(n, 60.0 * float(waits.mean()), tuple(percentiles.tolist()))

    def _count(self, n: int) -> None:
        if not self._bins.size:
            self._bins = np.zeros(_BINS, np.int64)
        waits = self.room[:n]
        _count_in_bins(waits, waits.view(np.int64), self._bins, self._sums)

    def _of_bins(self) -> WaitSummary:
        below = np.cumsum(self._bins)
        n = int(below[-1])
        ranks = np.array(PERCENTILES) / 100.0 * (n - 1)
        lower, upper = (_middles(below, k(ranks)) for k in (np.floor, np.ceil))
        # Interpolated linearly, as `numpy.percentile` does.
        percentiles = 60.0 * (lower + (upper - lower) * (ranks - np.floor(ranks)))
        mean = 60.0 * float(self._sums[0] + self._sums[1]) / n
        return WaitSummary(n, mean, tuple(percentiles.tolist()))


def _middles(below: Ints, ranks: Floats) -> Floats:
    """Return the middles of the bins that hold the numbers of some ranks, counted from 0."""
    bins = np.searchsorted(below, ranks, side="right")
    words = ((bins + _OFFSET) << _SHIFT) + (1 << (_SHIFT - 1))
    middles: Floats = np.where(bins > 0, words.view(np.float64), 0.0)
    return middles


@kernel
def _count_in_bins(waits: Floats, words: Ints, bins: Ints, sums: Floats) -> None:
    """Count waits in bins by their bits, and add them up.

    Shapes: `sums` (2,).
    """
    total, lost = sums[0], sums[1]
    for k in range(waits.size):
        bins[at(max((words[at(k)] >> _SHIFT) - _OFFSET, 0))] += 1
        wait = waits[at(k)]
        larger = total + wait
        lost += (total - larger) + wait if total >= wait else (wait - larger) + total
        total = larger
    sums[0], sums[1] = total, lost


_BY_BINS = f"; of more than {KEPT:,} within {100 * ERROR:.2g} %"

RESPONSES = Responses(
    Response(
        "true_team_diff", "points", "mean over matches of |mean skill - mean skill|", NOT_NEGATIVE
    ),
    Response("team_diff", "points", "the same of the ratings that the rule sees", NOT_NEGATIVE),
    Response("true_player_diff", "points", "mean over teams of max - min skill", NOT_NEGATIVE),
    Response("player_diff", "points", "the same of the ratings that the rule sees", NOT_NEGATIVE),
    Response("win_gap", "", "mean over matches of |p - 1/2|, p by true skill; 0 is fair", WIN_GAP),
    Response("fair_share", "", "share of matches with |p - 1/2| <= 0.1", SHARE),
    Response("stomp_share", "", "share of matches with |p - 1/2| >= 0.4", SHARE),
    Response("avg_wait_time", "minutes", "mean wait of matched players", NOT_NEGATIVE),
    *(
        Response(
            f"wait_p{percent}",
            "minutes",
            f"{'median' if percent == 50 else f'{percent}th percentile of the'} wait of matched"
            f" players{_BY_BINS}",
            NOT_NEGATIVE,
        )
        for percent in PERCENTILES
    ),
    Response("abandoned_fraction", "", "share of the tickets that ended by patience", SHARE),
    Response("log_loss", "", "log loss of the rating system's predictions", NOT_NEGATIVE),
    Response(
        "skill_log_loss", "", "log loss of p, the best that any prediction can do", NOT_NEGATIVE
    ),
    Response(
        "rating_error",
        "points",
        "root mean square of (rating - its mean) - (skill - its)",
        NOT_NEGATIVE,
    ),
    Response("rating_slope", "", "slope of rating on skill by least squares"),
    Response("scale_stretch", "", "sd(rating) / sd(skill)", NOT_NEGATIVE),
    Response("rank_correlation", "", "Spearman correlation of rating and skill", (-1.0, 1.0)),
    Response(
        "calibration",
        "",
        "rating_error squared / mean variance of the belief (systems with a deviation)",
        NOT_NEGATIVE,
    ),
    Response("drift_per_day", "points per day", "drift of the mean rating after the warm-up"),
    Response("newcomer_win_gap", "", "win gap of players in their first ten games", WIN_GAP),
    Response("newcomer_wait", "minutes", "wait of players in their first ten games", NOT_NEGATIVE),
    Response(
        "joined_win_gap", "", "newcomer_win_gap of players who joined after the start", WIN_GAP
    ),
    Response(
        "joined_wait",
        "minutes",
        "newcomer_wait of players who joined after the start",
        NOT_NEGATIVE,
    ),
    Response("joined_first_wait", "minutes", "wait for the very first game of those", NOT_NEGATIVE),
    Response(
        "games_per_player_day", "games per day", "games of an active player a day", NOT_NEGATIVE
    ),
    Response("n_matches", "", "matches", NOT_NEGATIVE, whole=True),
    Response("n_tickets", "", "tickets that ended", NOT_NEGATIVE, whole=True),
    Response("active_players", "", "different players in matches", NOT_NEGATIVE, whole=True),
    Response(
        "dropped_sessions",
        "",
        "session starts of players who were not away",
        NOT_NEGATIVE,
        whole=True,
    ),
)


_PART = 8192
"""Numbers that lie apart in memory are added up in parts of so many: the buffer of numpy."""


class Standing(NamedTuple):
    """Ratings and skills of the players who have finished a match and are not gone."""

    ratings: Floats
    skills: Floats


def standing(players: NDArray[np.void]) -> Standing:
    """Return how the players stand at this moment."""
    rated = _rated(players)
    return Standing(players["mean"][rated], players["skill"][rated])


def mean_rating(players: NDArray[np.void]) -> float:
    """Return the mean rating of the players who stand; NaN without any."""
    return _mean_of_players(players["mean"][_rated(players)])


def mean_variance(players: NDArray[np.void]) -> float:
    """Return the mean variance of what is believed of the players who stand; NaN without any."""
    return _mean(players["sigma"][_rated(players)] ** 2)


def _rated(players: NDArray[np.void]) -> NDArray[np.bool_]:
    rated: NDArray[np.bool_] = (players["finished"] > 0) & (players["state"] != LEFT)
    return rated


def scale(now: Standing) -> dict[str, float]:
    """Return error, slope and stretch of the ratings; NaN where undefined."""
    names = ("rating_error", "rating_slope", "scale_stretch")
    if not now.ratings.size:
        return dict.fromkeys(names, math.nan)
    rating = now.ratings - _mean_of_players(now.ratings)
    skill = now.skills - _mean_of_players(now.skills)
    error = float(np.sqrt(np.mean((rating - skill) ** 2)))
    slope = _ratio((rating * skill).sum(), (skill * skill).sum())
    return dict(zip(names, (error, slope, _ratio(rating.std(), skill.std())), strict=True))


def rank_correlation(now: Standing) -> float:
    """Return the rank correlation of ratings and skills; NaN where undefined."""
    if not now.ratings.size:
        return math.nan
    x, y = ranks(now.ratings), ranks(now.skills)
    x -= x.mean()
    y -= y.mean()
    return _ratio((x * y).sum(), math.sqrt((x * x).sum() * (y * y).sum()))


def ranks(values: Floats) -> Floats:
    """Return the ranks of numbers from 1 on, equal numbers sharing the mean of theirs.

    Those of `scipy.stats.rankdata`, in a third of its memory.
    """
    out = np.empty(values.size)
    _rank(values, np.argsort(values), out)
    return out


@kernel
def _rank(values: Floats, order: Ints, out: Floats) -> None:
    first = 0
    while first < order.size:
        end = first + 1
        while end < order.size and values[at(order[at(end)])] == values[at(order[at(first)])]:
            end += 1
        for k in range(first, end):
            out[at(order[at(k)])] = 0.5 * (first + end + 1)
        first = end


def _ratio(total: Any, count: Any) -> float:  # noqa: ANN401
    return float(total / count) if count else math.nan


def responses(
    sums: np.void,
    waits: WaitSummary,
    start: float,
    end: NDArray[np.void],
    measured_days: float,
    has_variance: bool,
) -> dict[str, float]:
    """Return the responses by name; NaN where undefined."""
    n, ended = int(sums["matches"]), waits.n + int(sums["abandoned"])
    newcomers, joined = sums["newcomer_games"], sums["joined_games"]
    now = standing(end)
    ratings = {**scale(now), "rank_correlation": rank_correlation(now)}
    spread = _ratio(ratings["rating_error"] ** 2, mean_variance(end)) if has_variance else math.nan
    return {
        "true_team_diff": _ratio(sums["true_team_diff"], n),
        "team_diff": _ratio(sums["team_diff"], n),
        "true_player_diff": _ratio(sums["true_player_diff"], 2 * n),
        "player_diff": _ratio(sums["player_diff"], 2 * n),
        "win_gap": _ratio(sums["win_gap"], n),
        "fair_share": _ratio(sums["fair"], n),
        "stomp_share": _ratio(sums["stomps"], n),
        "avg_wait_time": waits.mean,
        **{f"wait_p{p}": value for p, value in zip(PERCENTILES, waits.percentiles, strict=True)},
        "abandoned_fraction": _ratio(sums["abandoned"], ended),
        "log_loss": _ratio(sums["loss"], n),
        "skill_log_loss": _ratio(sums["skill_loss"], n),
        **ratings,
        "calibration": spread,
        "drift_per_day": (mean_rating(end) - start) / measured_days,
        "newcomer_win_gap": _ratio(sums["newcomer_gap"], newcomers),
        "newcomer_wait": 60.0 * _ratio(sums["newcomer_wait"], newcomers),
        "joined_win_gap": _ratio(sums["joined_gap"], joined),
        "joined_wait": 60.0 * _ratio(sums["joined_wait"], joined),
        "joined_first_wait": 60.0 * _ratio(sums["joined_first_wait"], sums["joined_firsts"]),
        "games_per_player_day": _ratio(waits.n, int(sums["active"]) * measured_days),
        "n_matches": n,
        "n_tickets": ended,
        "active_players": int(sums["active"]),
        "dropped_sessions": int(sums["dropped"]),
    }


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else math.nan


def _mean_of_players(values: Floats) -> float:
    """Return the mean of what is known of players, added up as numpy does in their records."""
    parts = (values[k : k + _PART].sum() for k in range(0, values.size, _PART))
    return _ratio(sum(map(float, parts)), values.size)


# ---- whether the scale of the ratings has settled when a run ends ----

SETTLED = 0.05  # change of the scale, as a share of it, up to which it counts as settled

SCALE_MOVES = (
    "the mean daily scale_stretch of the last third of the measured days differs by more than"
    f" {100 * SETTLED:g} % from the middle third's: the ratings may have no stationary scale"
)


def scale_moves(stretches: Sequence[float]) -> bool:
    """Return whether the mean of the last third differs too much from the middle third's."""
    _, middle, last = np.array_split(np.array(stretches, np.float64), 3)
    middle, last = middle[~np.isnan(middle)], last[~np.isnan(last)]
    if not middle.size or not last.size:
        return False
    return bool(abs(last.mean() - middle.mean()) > SETTLED * middle.mean())


# Responses of a ladder in which friends queue together: of parties, and of their ratings.

OF_SIZES = (
    Response("player_share", "", "share of the players of matches", SHARE),
    Response("avg_wait_time", "minutes", "mean wait of matched players", NOT_NEGATIVE),
    Response("abandoned_fraction", "", "share of players whose ticket ended by patience", SHARE),
    Response("win_gap", "", "mean over players of |p - 1/2| of the match, by true skill", (0, 0.5)),
    Response("win_prob", "", "mean over players of the chance to win, by true skill", SHARE),
)
"""What is measured of players by the size of the party that they queue in."""

INFLATION = Response(
    "inflation",
    "points",
    "mean of (rating - the mean of all) - (skill - the mean of all) at the end, of players in"
    " groups of friends of this size",
)
RATING_ERROR = Response(
    "rating_error",
    "points",
    "root mean square of (rating - the mean of all) - (skill - the mean of all) at the end, of"
    " players in groups of friends of this size",
    NOT_NEGATIVE,
)
"""What is measured of players by the size of their group of friends."""


def party_responses(largest: int) -> list[Response]:
    """Return the responses where up to so many players queue together; none where nobody does."""
    return [
        of_part(measure, "size", f"size_{size}", f"{measure.meaning}; by size: {size}")
        for measure in (*OF_SIZES, INFLATION, RATING_ERROR)
        for size in range(1, largest + 1)
        if largest > 1
    ]


def party_measures(
    by_size: NDArray[np.void], players: NDArray[np.void], groups: Ints
) -> dict[str, float]:
    """Return the responses by name; NaN where undefined.

    Shapes: `groups` (players,).
    """
    played, n = by_size["players"], by_size.size
    with np.errstate(invalid="ignore"):
        measures = {
            "player_share": played / played.sum(),
            "avg_wait_time": 60.0 * by_size["wait"] / played,
            "abandoned_fraction": by_size["abandoned"] / (played + by_size["abandoned"]),
            "win_gap": by_size["gap"] / played,
            "win_prob": by_size["chance"] / played,
        }
    rated = (players["finished"] > 0) & (players["state"] != LEFT)
    errors = players["mean"][rated] - players["skill"][rated]
    size = np.bincount(groups, minlength=players.size)[groups][rated]
    errors = errors - errors.mean() if errors.size else errors
    of_size = [errors[size == k] for k in range(1, n + 1)]
    means = [error.mean() if error.size else np.nan for error in of_size]
    squares = [np.mean(error**2) if error.size else np.nan for error in of_size]
    measures["inflation"], measures["rating_error"] = np.array(means), np.sqrt(squares)
    return {
        f"{name}.size_{k}": float(value)
        for name, values in measures.items()
        for k, value in enumerate(values, 1)
    }
