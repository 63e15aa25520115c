"""Responses of a ladder from its sums, and the state of its ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import at, unallocating
from valmatch.models.ladder.state import LEFT
from valmatch.models.ladder.waits import ERROR, KEPT, PERCENTILES, WaitSummary
from valmatch.models.model import NOT_NEGATIVE, SHARE, Response, Responses

_BY_BINS = f"; of more than {KEPT:,} within {100 * ERROR:.2g} %"

RESPONSES = Responses(
    Response(
        "true_team_diff",
        "points",
        "mean over matches of |mean skill - mean skill|",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "team_diff", "points", "the same of the ratings that the rule sees", limits=NOT_NEGATIVE
    ),
    Response(
        "true_player_diff", "points", "mean over teams of max - min skill", limits=NOT_NEGATIVE
    ),
    Response(
        "player_diff", "points", "the same of the ratings that the rule sees", limits=NOT_NEGATIVE
    ),
    Response(
        "win_gap",
        "",
        "mean over matches of |p - 1/2|, p by true skill; 0 is fair",
        limits=(0.0, 0.5),
    ),
    Response("fair_share", "", "share of matches with |p - 1/2| <= 0.1", limits=SHARE),
    Response("stomp_share", "", "share of matches with |p - 1/2| >= 0.4", limits=SHARE),
    Response("avg_wait_time", "minutes", "mean wait of matched players", limits=NOT_NEGATIVE),
    Response(
        "wait_p50", "minutes", f"median wait of matched players{_BY_BINS}", limits=NOT_NEGATIVE
    ),
    *(
        Response(
            f"wait_p{percent}",
            "minutes",
            f"{percent}th percentile of the wait of matched players{_BY_BINS}",
            limits=NOT_NEGATIVE,
        )
        for percent in PERCENTILES[1:]
    ),
    Response("abandoned_fraction", "", "share of the tickets that ended by patience", limits=SHARE),
    Response("log_loss", "", "log loss of the rating system's predictions", limits=NOT_NEGATIVE),
    Response(
        "skill_log_loss",
        "",
        "log loss of p, the best that any prediction can do",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "rating_error",
        "points",
        "root mean square of (rating - its mean) - (skill - its)",
        limits=NOT_NEGATIVE,
    ),
    Response("rating_slope", "", "slope of rating on skill by least squares"),
    Response("scale_stretch", "", "sd(rating) / sd(skill)", limits=NOT_NEGATIVE),
    Response(
        "rank_correlation", "", "Spearman correlation of rating and skill", limits=(-1.0, 1.0)
    ),
    Response(
        "calibration",
        "",
        "rating_error squared / mean variance of the belief (systems with a deviation)",
        limits=NOT_NEGATIVE,
    ),
    Response("drift_per_day", "points per day", "drift of the mean rating after the warm-up"),
    Response(
        "newcomer_win_gap", "", "win gap of players in their first ten games", limits=(0.0, 0.5)
    ),
    Response(
        "newcomer_wait", "minutes", "wait of players in their first ten games", limits=NOT_NEGATIVE
    ),
    Response(
        "joined_win_gap",
        "",
        "newcomer_win_gap of players who joined after the start",
        limits=(0.0, 0.5),
    ),
    Response(
        "joined_wait",
        "minutes",
        "newcomer_wait of players who joined after the start",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "joined_first_wait", "minutes", "wait for the very first game of those", limits=NOT_NEGATIVE
    ),
    Response(
        "games_per_player_day",
        "games per day",
        "games of an active player a day",
        limits=NOT_NEGATIVE,
    ),
    Response("n_matches", "", "matches", whole=True, limits=NOT_NEGATIVE),
    Response("n_tickets", "", "tickets that ended", whole=True, limits=NOT_NEGATIVE),
    Response("active_players", "", "different players in matches", whole=True, limits=NOT_NEGATIVE),
    Response(
        "dropped_sessions",
        "",
        "session starts of players who were not away",
        whole=True,
        limits=NOT_NEGATIVE,
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
    found = np.empty(values.size)
    _rank(values, np.argsort(values), found)
    return found


@unallocating
def _rank(values: Floats, order: Ints, found: Floats) -> None:
    first = 0
    while first < order.size:
        end = first + 1
        while end < order.size and values[at(order[at(end)])] == values[at(order[at(first)])]:
            end += 1
        for k in range(first, end):
            found[at(order[at(k)])] = 0.5 * (first + end + 1)
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
    found = {**scale(now), "rank_correlation": rank_correlation(now)}
    spread = _ratio(found["rating_error"] ** 2, mean_variance(end)) if has_variance else math.nan
    return {
        "true_team_diff": _ratio(sums["true_team_diff"], n),
        "team_diff": _ratio(sums["team_diff"], n),
        "true_player_diff": _ratio(sums["true_player_diff"], 2 * n),
        "player_diff": _ratio(sums["player_diff"], 2 * n),
        "win_gap": _ratio(sums["win_gap"], n),
        "fair_share": _ratio(sums["fair"], n),
        "stomp_share": _ratio(sums["stomps"], n),
        "avg_wait_time": waits.mean,
        **{
            f"wait_p{percent}": value
            for percent, value in zip(PERCENTILES, waits.percentiles, strict=True)
        },
        "abandoned_fraction": _ratio(sums["abandoned"], ended),
        "log_loss": _ratio(sums["loss"], n),
        "skill_log_loss": _ratio(sums["skill_loss"], n),
        **found,
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
