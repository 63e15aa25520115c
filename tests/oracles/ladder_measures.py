"""What is measured of a ladder, with numpy from all that happened; None where undefined."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from tests.oracles.ladder import Ladder, Match, Standing

Responses = dict[str, float | None]

NEW = 10
"""Matches of a player that count as those of a newcomer."""

CAREER = 100


def responses(ladder: Ladder) -> Responses:
    """Return every response."""
    start = 24.0 * ladder.factors["warmup_days"]
    matches = [match for match in ladder.matches if match.time >= start]
    ended = [t for t in ladder.tickets if t.ended is not None and t.ended >= start]
    measured = ladder.factors["days"] - ladder.factors["warmup_days"]
    active = {player.number for match in matches for player in match.players()}
    played = sum(len(match.players()) for match in matches)
    return {
        **_fairness(matches),
        **_waits([60.0 * (t.ended - t.time) for t in ended if t.match is not None]),  # type: ignore[operator]
        "abandoned_fraction": _mean(t.match is None for t in ended),
        **_ratings(ladder),
        **_newcomers(matches),
        "games_per_player_day": played / (len(active) * measured) if active else None,
        "n_matches": len(matches),
        "n_tickets": len(ended),
        "active_players": len(active),
        "dropped_sessions": sum(time >= start for time in ladder.dropped),
    }


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return float(np.mean(listed)) if listed else None


def _fairness(matches: Sequence[Match]) -> Responses:
    gaps = [abs(match.p - 0.5) for match in matches]
    skills = [[[t.player.skill for t in side] for side in match.tickets] for match in matches]
    seen = [[[t.rating for t in side] for side in match.tickets] for match in matches]
    return {
        "true_team_diff": _mean(_difference(a, b) for a, b in skills),
        "team_diff": _mean(_difference(a, b) for a, b in seen),
        "true_player_diff": _mean(max(side) - min(side) for sides in skills for side in sides),
        "player_diff": _mean(max(side) - min(side) for sides in seen for side in sides),
        "win_gap": _mean(gaps),
        "fair_share": _mean(gap <= 0.1 for gap in gaps),
        "stomp_share": _mean(gap >= 0.4 for gap in gaps),
        "log_loss": _mean(_loss(match.predicted, match.a_wins) for match in matches),
        "skill_log_loss": _mean(_loss(match.p, match.a_wins) for match in matches),
    }


def _difference(a: Sequence[float], b: Sequence[float]) -> float:
    return abs(sum(a) / len(a) - sum(b) / len(b))


def _loss(p: float, a_wins: bool) -> float:
    return -math.log(max(p if a_wins else 1.0 - p, 1e-15))


def _waits(minutes: list[float]) -> Responses:
    found: Responses = {"avg_wait_time": _mean(minutes)}
    for percent in (50, 90, 95, 99):
        found[f"wait_p{percent}"] = float(np.percentile(minutes, percent)) if minutes else None
    return found


def _ratings(ladder: Ladder) -> Responses:
    factors = ladder.factors
    start, end = (ladder.standings[24.0 * factors[name]] for name in ("warmup_days", "days"))
    found = _accuracy(end)
    error, variances = found["rating_error"], [belief[1] * belief[1] for _, belief in end]
    trueskill = factors["rating"]["system"] == "trueskill" and error is not None
    found["calibration"] = error * error / float(np.mean(variances)) if trueskill else None  # type: ignore[operator]
    before, after = (_mean(belief[0] for _, belief in standing) for standing in (start, end))
    measured = factors["days"] - factors["warmup_days"]
    known = before is not None and after is not None
    found["drift_per_day"] = (after - before) / measured if known else None  # type: ignore[operator]
    return found


def _accuracy(standing: Sequence[Standing]) -> Responses:
    rating = np.array([belief[0] for _, belief in standing])
    skill = np.array([player.skill for player, _ in standing])
    if not standing:
        return dict.fromkeys(
            ("rating_error", "rating_slope", "scale_stretch", "rank_correlation"), None
        )
    r, s = rating - rating.mean(), skill - skill.mean()
    spread = bool(s.any())
    return {
        "rating_error": float(np.sqrt(np.mean((r - s) ** 2))),
        "rating_slope": float((r * s).sum() / (s * s).sum()) if spread else None,
        "scale_stretch": float(r.std() / s.std()) if spread else None,
        "rank_correlation": _correlation(rankdata(rating), rankdata(skill)),
    }


def _correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt((x * x).sum() * (y * y).sum())
    return float((x * y).sum() / scale) if scale else None


def _appearances(matches: Sequence[Match]) -> list[tuple[Match, Any, int, Any]]:
    """Return (match, ticket, number of the match in the player's career, belief before)."""
    return [
        (match, ticket, game, belief)
        for match in matches
        for side in zip(match.tickets, match.games, match.before, strict=True)
        for ticket, game, belief in zip(*side, strict=True)
    ]


def _newcomers(matches: Sequence[Match]) -> Responses:
    found: Responses = {}
    early = [(m, t, game) for m, t, game, _ in _appearances(matches) if game <= NEW]
    joined = [one for one in early if one[1].player.newcomer]
    for name, those in (("newcomer", early), ("joined", joined)):
        found[f"{name}_win_gap"] = _mean(abs(match.p - 0.5) for match, _, _ in those)
        found[f"{name}_wait"] = _mean(60.0 * (m.time - t.time) for m, t, _ in those)
    found["joined_first_wait"] = _mean(60.0 * (m.time - t.time) for m, t, k in joined if k == 1)
    return found


def career_curves(ladder: Ladder) -> dict[str, list[float | None]]:
    """Return win_gap, wait and error by match of a career, the first one first."""
    start = 24.0 * ladder.factors["warmup_days"]
    mu, mean = ladder.factors["rating"]["mu"], ladder.factors["population"]["skill_mean"]
    points: list[dict[str, list[float]]] = [
        {"win_gap": [], "wait": [], "error": []} for _ in range(CAREER)
    ]
    for match, ticket, game, belief in _appearances(ladder.matches):
        if match.time >= start and game <= CAREER:
            error = (belief[0] - mu) - (ticket.player.skill - mean)
            points[game - 1]["win_gap"].append(abs(match.p - 0.5))
            points[game - 1]["wait"].append(60.0 * (match.time - ticket.time))
            points[game - 1]["error"].append(abs(error))
    return {name: [_mean(point[name]) for point in points] for name in points[0]}


def days(ladder: Ladder) -> list[Responses]:
    """Return matches, waits, win gap, active players and ratings of each day, from the first on."""
    found = []
    for day in range(math.ceil(ladder.factors["days"])):
        start, end = 24.0 * day, min(24.0 * (day + 1), ladder.horizon)
        matches = [match for match in ladder.matches if start <= match.time < end]
        waits = [m.time - ticket.time for m, ticket, _, _ in _appearances(matches)]
        accuracy = _accuracy(ladder.standings[end])
        found.append(
            {
                "matches": len(matches),
                "avg_wait_time": _mean(60.0 * wait for wait in waits),
                "win_gap": _mean(abs(match.p - 0.5) for match in matches),
                "rating_error": accuracy["rating_error"],
                "scale_stretch": accuracy["scale_stretch"],
                "active_players": len({p.number for m in matches for p in m.players()}),
            }
        )
    return found
