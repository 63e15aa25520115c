"""Responses of a ladder from its sums, and the state of its ratings."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.models.curves import rank_correlation
from valmatch.models.ladder.loop import LEFT
from valmatch.models.model import WIN_GAP, Response, Responses, amount, count, of_part, share

PERCENTILES = {50: "median", 90: "90th percentile", 95: "95th percentile", 99: "99th percentile"}

RESPONSES = Responses(
    amount("true_team_diff", "points", "mean over matches of |mean skill - mean skill|"),
    amount("team_diff", "points", "the same of the ratings that the rule sees"),
    amount("true_player_diff", "points", "mean over teams of max - min skill"),
    amount("player_diff", "points", "the same of the ratings that the rule sees"),
    Response("win_gap", "", "mean over matches of |p - 1/2|, p by true skill; 0 is fair", WIN_GAP),
    share("fair_share", "share of matches with |p - 1/2| <= 0.1"),
    share("stomp_share", "share of matches with |p - 1/2| >= 0.4"),
    amount("avg_wait_time", "minutes", "mean wait of matched players"),
    *(
        amount(f"wait_p{p}", "minutes", f"{what}{' of the' * (p > 50)} wait of matched players")
        for p, what in PERCENTILES.items()
    ),
    share("abandoned_fraction", "share of the tickets that ended by patience"),
    amount("log_loss", "", "log loss of the rating system's predictions"),
    amount("skill_log_loss", "", "log loss of p, the best that any prediction can do"),
    amount("rating_error", "points", "root mean square of (rating - its mean) - (skill - its)"),
    Response("rating_slope", "", "slope of rating on skill by least squares"),
    amount("scale_stretch", "", "sd(rating) / sd(skill)"),
    Response("rank_correlation", "", "Spearman correlation of rating and skill", (-1.0, 1.0)),
    amount(
        "calibration",
        "",
        "rating_error squared / mean variance of the belief (systems with a deviation)",
    ),
    Response("drift_per_day", "points per day", "drift of the mean rating after the warm-up"),
    Response("newcomer_win_gap", "", "win gap of players in their first ten games", WIN_GAP),
    amount("newcomer_wait", "minutes", "wait of players in their first ten games"),
    Response(
        "joined_win_gap", "", "newcomer_win_gap of players who joined after the start", WIN_GAP
    ),
    amount("joined_wait", "minutes", "newcomer_wait of players who joined after the start"),
    amount("joined_first_wait", "minutes", "wait for the very first game of those"),
    amount("games_per_player_day", "games per day", "games of an active player a day"),
    count("n_matches", "matches"),
    count("n_tickets", "tickets that ended"),
    count("active_players", "different players in matches"),
    count("dropped_sessions", "session starts of players who were not away"),
)


PER_MATCH = (
    *("true_team_diff", "team_diff", "win_gap", "fair_share", "stomp_share"),
    *("log_loss", "skill_log_loss"),
)
"""Responses that are means over matches, of sums of their names."""


class Standing(NamedTuple):
    """The players who have finished a match and are not gone."""

    ratings: Floats
    skills: Floats
    mean_rating: float  # NaN without any
    mean_variance: float  # of what is believed


def standing(players: NDArray[np.void]) -> Standing:
    """Return how the players stand at this moment."""
    rated = players[_rated(players)]
    ratings, variances = rated["mean"], rated["sigma"] ** 2
    return Standing(ratings, rated["skill"], _mean(ratings), _mean(variances))


def _rated(players: NDArray[np.void]) -> Bools:
    rated: Bools = (players["finished"] > 0) & (players["state"] != LEFT)
    return rated


def scale(now: Standing) -> dict[str, float]:
    """Return error, slope and stretch of the ratings; NaN where undefined."""
    if not now.ratings.size:
        return dict.fromkeys(("rating_error", "rating_slope", "scale_stretch"), math.nan)
    rating, skill = now.ratings - now.mean_rating, now.skills - _mean(now.skills)
    return {
        "rating_error": float(np.sqrt(np.mean((rating - skill) ** 2))),
        "rating_slope": _ratio((rating * skill).sum(), (skill * skill).sum()),
        "scale_stretch": _ratio(rating.std(), skill.std()),
    }


def _ratio(total: Any, number: Any) -> float:  # noqa: ANN401
    return float(total / number) if number else math.nan


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else math.nan


def responses(
    sums: np.void,
    waits: Floats,
    start: float,
    players: NDArray[np.void],
    measured_days: float,
    has_variance: bool,
) -> dict[str, float]:
    """Return the responses by name; NaN where undefined."""
    # `waits` are hours of every player matched after the warm-up, at whose end the mean rating
    # was `start`.
    n, active = int(sums["matches"]), int(sums["active"])
    ended = waits.size + int(sums["abandoned"])
    newcomers, joined = sums["newcomer_games"], sums["joined_games"]
    now, minutes = standing(players), 60.0 * waits
    percentiles = np.percentile(minutes, [*PERCENTILES]) if waits.size else [math.nan] * 4
    ratings = {**scale(now), "rank_correlation": rank_correlation(now.ratings, now.skills)}
    spread = _ratio(ratings["rating_error"] ** 2, now.mean_variance) if has_variance else math.nan
    return {
        **{name: _ratio(sums[name], n) for name in PER_MATCH},
        "true_player_diff": _ratio(sums["true_player_diff"], 2 * n),
        "player_diff": _ratio(sums["player_diff"], 2 * n),
        "avg_wait_time": 60.0 * _mean(waits),
        **{f"wait_p{p}": float(v) for p, v in zip(PERCENTILES, percentiles, strict=True)},
        "abandoned_fraction": _ratio(sums["abandoned"], ended),
        **ratings,
        "calibration": spread,
        "drift_per_day": (now.mean_rating - start) / measured_days,
        "newcomer_win_gap": _ratio(sums["newcomer_gap"], newcomers),
        "newcomer_wait": 60.0 * _ratio(sums["newcomer_wait"], newcomers),
        "joined_win_gap": _ratio(sums["joined_gap"], joined),
        "joined_wait": 60.0 * _ratio(sums["joined_wait"], joined),
        "joined_first_wait": 60.0 * _ratio(sums["joined_first_wait"], sums["joined_firsts"]),
        "games_per_player_day": _ratio(waits.size, active * measured_days),
        "n_matches": n,
        "n_tickets": ended,
        "active_players": active,
        "dropped_sessions": int(sums["dropped"]),
    }


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


_ERROR = (
    "(rating - the mean of all) - (skill - the mean of all) at the end, of players in groups of"
    " friends of this size"
)
OF_SIZES = (
    share("player_share", "share of the players of matches"),
    amount("avg_wait_time", "minutes", "mean wait of matched players"),
    share("abandoned_fraction", "share of players whose ticket ended by patience"),
    Response("win_gap", "", "mean over players of |p - 1/2| of the match, by true skill", WIN_GAP),
    share("win_prob", "mean over players of the chance to win, by true skill"),
    Response("inflation", "points", f"mean of {_ERROR}"),
    amount("rating_error", "points", f"root mean square of {_ERROR}"),
)


def party_responses(largest: int) -> list[Response]:
    """Return the responses where up to so many players queue together; none where nobody does."""
    sizes = range(1, largest + 1) if largest > 1 else ()
    return [
        of_part(measure, "size", f"size_{size}", f"{measure.meaning}; by size: {size}")
        for measure in OF_SIZES
        for size in sizes
    ]


def party_measures(
    by_size: NDArray[np.void], players: NDArray[np.void], groups: Ints
) -> dict[str, float]:
    """Return the responses by name; NaN where undefined."""
    played, rated = by_size["players"], _rated(players)
    errors = players["mean"][rated] - players["skill"][rated]
    size = np.bincount(groups, minlength=players.size)[groups][rated]
    errors = errors - errors.mean() if errors.size else errors
    of_size = [errors[size == k] for k in range(1, by_size.size + 1)]
    with np.errstate(invalid="ignore"):
        measures = (
            played / played.sum(),
            60.0 * by_size["wait"] / played,
            by_size["abandoned"] / (played + by_size["abandoned"]),
            by_size["gap"] / played,
            by_size["chance"] / played,
            [_mean(error) for error in of_size],
            np.sqrt([_mean(error**2) for error in of_size]),
        )
    names = (response.name for response in party_responses(by_size.size))
    return dict(zip(names, np.concatenate(measures).tolist(), strict=True))
