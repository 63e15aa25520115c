"""Warnings of a rating: games left out, few periods, predictions worse than those of a coin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.scores import Scores
from valmatch.kernels.arrays import Floats
from valmatch.ratings.games import Games
from valmatch.ratings.system import System
from valmatch.text.terminal import Note, Notice

COIN = math.log(2.0)  # the log loss of who always expects half a win
FEW = 10  # rating periods with fewer of which much of a log is predicted from nothing
_NEAR = 1e-3  # a fit to what cannot be predicted comes so close to the coin


def log_warnings(log: GameLog) -> list[str]:
    """Return what to know of how a log was read, and of its games that were not rated."""
    warnings: list[str] = [*log.bad.remarks(), *log.understood()]
    if n := log.undated:
        text = f"{log.name}: {_counted(n, 'row')} without a time: games keep their order"
        warnings.append(Note(text, "rows_without_time", n))
    if n := log.unfinished:
        text = f"{_counted(n, 'game')} skipped: no result (*)"
        warnings.append(Notice(text, "games_without_result", n))
    if n := log.unrated:
        text = f"{_counted(n, 'game')} not rated: fewer than two sides with enabled players"
        warnings.append(Notice(text, "games_not_rated", n))
    return warnings


def nobody_at_home(values: Mapping[str, float], at_home: bool, neutral: bool = False) -> str:
    """Say that an advantage of playing at home counts in no game; or nothing."""
    advantage = values.get("home_advantage", 0.0)
    if at_home or not advantage:
        return ""
    why = "all are on neutral ground" if neutral else "there are no columns home and away"
    return f"home_advantage = {advantage!r} counts in no game: {why}"


def unused_by(systems: Sequence[System]) -> set[str]:
    """Return the optional columns that no system has a use for; odd cells there are no fault."""
    unused = set() if any(system.name == "zonestats" for system in systems) else {"minutes"}
    known = {parameter.name for system in systems for parameter in system.parameters}
    return unused | (set() if "home_advantage" in known else {"home", "neutral"})


def check_scores(system: System, log: GameLog) -> None:
    """Refuse a log without scores where a system rates by them."""
    if system.needs_scores and not log.scored:
        allowed = "score, home_score and away_score, or winner_score and loser_score"
        raise InputError(
            f"{log.name}: {system.name} rates by the margin, and this log has only results"
            f" (allowed: a log with the columns {allowed})"
        )


def few_periods(system: System, values: Mapping[str, float], times: Floats, games: int) -> str:
    """Say that a log has few rating periods, so that ratings hardly follow it; or nothing."""
    length = values.get("period", 0.0)
    if not length or not len(times):
        return ""
    with np.errstate(over="ignore", invalid="ignore"):  # of moments that no clock shows
        periods = 1 + int(np.count_nonzero(np.diff(np.floor(times / length)) != 0.0))
    if periods >= FEW or games <= periods:
        return ""
    n = "one rating period" if periods == 1 else f"{periods} rating periods"
    return (
        f"{system.name}: the {games} games lie in {n} of period = {length:g}, each predicted from"
        " what was known before its period, those of the first from nothing; a shorter period, or"
        f" {option('parameters')} period=0, follows the games"
    )


def uneven_games(games: Games) -> int:
    """Return the number of games whose sides differ in their number of players."""
    sizes, first = np.diff(games.side_starts), games.game_starts[:-1]
    return int((np.maximum.reduceat(sizes, first) > np.minimum.reduceat(sizes, first)).sum())


def repeated_scores(games: Games) -> str:
    """Warn of a log whose rows seem to repeat the score of a team, which counts once a row."""
    if not uneven_games(games):
        return ""
    scores, first = np.round(games.rates * games.minutes, 6), games.side_starts[:-1]
    team = np.diff(games.side_starts) > 1
    same = np.maximum.reduceat(scores, first) == np.minimum.reduceat(scores, first)
    if not same[team].all() or not np.maximum.reduceat(scores != 0.0, first)[team].any():
        return ""
    return (
        "all players of a team have the same score, and teams differ in size: the score of a team"
        " is the sum of its players', so that a repeated score makes the larger team win (write"
        " each player's share)"
    )


def worse_than_a_coin(
    system: System, scores: Scores, uneven: int, errors: float, fitted: Sequence[str] = ()
) -> str:
    """Say that a system predicts worse than a coin, and what may be the reason; or nothing."""
    log_loss = COIN if scores.log_loss is None else scores.log_loss
    bearable = COIN + (_NEAR if fitted else 0.0)
    if log_loss - errors * (scores.log_loss_std_error or 0.0) <= bearable:
        return ""
    why = "its parameters may be far from the scale of this log"
    if uneven and system.adds_up:
        why = (
            f"to it a side is as strong as the sum of its players, and {_counted(uneven, 'game')}"
            " had sides of unequal size"
        )
    way_out = f"{option('tune')} {','.join(system.tuned_first)} fits it to the log"
    if set(system.tuned_first) <= set(fitted):
        why = "what was fitted to the first part of the log does not hold in the rest"
        way_out = "another system may"
    return (
        f"{system.name} predicts worse than a coin (log loss {log_loss:.4f}, a coin {COIN:.4f}):"
        f" {why}; {way_out}"
    )


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
