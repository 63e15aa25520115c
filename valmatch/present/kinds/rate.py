"""Presentation of a rating: how well games were predicted, and who is the best."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from valmatch.errors import InputError, OptionError, option
from valmatch.game_logs.rating import RatedLog
from valmatch.game_logs.rating_files import HISTORY
from valmatch.game_logs.roster import COUNTS, LAST_GAME, Scores
from valmatch.game_logs.tuning import Tuning
from valmatch.present import document as d
from valmatch.present.bins import histogram
from valmatch.ratings.registry import system_named
from valmatch.statistics.estimates import t_quantile
from valmatch.statistics.rounding import arms_of, formatted
from valmatch.storage.result_files import ResultFiles, damaged, result_files
from valmatch.text.durations import seconds_of
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import correction

BEST = 10  # players that are listed where no number is given
DRAWN = 5  # players that are drawn where none are chosen

COIN = math.log(2.0)  # the log loss of who knows nothing

MEANT = (
    "log loss: minus the mean logarithm of the probability that was predicted for what happened; a"
    " coin has 0.6931, less is better. accuracy: share of decided games whose favourite won."
)


def present(result: RatedLog, view: d.View) -> d.Presentation:
    """Return what a rating shows."""
    log, system, ranking = log_name(result.source), result.system, result.ranking
    scores, later = result.predictions["all"], result.predictions["after_burn_in"]
    rows = [("all games", scores), (f"after {result.burn_in} games of every player", later)]
    tuned = list(tuning_lines("tuned", result.tuning)) if result.tuning else []
    note = "Calibration: what favourites were expected to score, and did; on the line is right."
    ratings = np.sort(d.floats(ranking.ratings))
    predictions = [
        calibration_chart("Calibration", rows),
        histogram(ratings, f"Ratings by {system}", "rating", "players"),
    ]
    return d.Presentation(
        f"Rating of {log} by {system}",
        f"How good are the {d.counted(len(ranking.players), 'player')} of {log}, and how well does"
        f" {system} predict {d.counted(result.games, 'game')}?",
        finding=_finding(result),
        glossary=MEANT,
        header=f"{system}, {result.games:,} games, {result.rows:,} rows",
        tables=[
            d.Block(
                "Predictions", table=scores_table([*rows, *_trials(result.tuning)]), items=tuned
            ),
            _leaderboard(result, view),
        ],
        charts=[
            d.Block("Ratings over time", charts=_history(result, view), figure="history"),
            d.Block("Predictions", [note], charts=predictions, figure="calibration"),
        ],
        blocks=d.parameters_block({system: result.parameters}),
    )


def log_name(source: str) -> str:
    """Return what a log is called in a sentence."""
    return Path(source).name or "standard input"


def _finding(result: RatedLog) -> str:
    """Say who is first, and how well games were predicted."""
    ranking, text = result.ranking, _scores_in_words(result.predictions["all"])
    if ranking.players:
        games = d.counted(ranking.games[0], "game")
        first = f"a rating of {ranking.ratings[0]:.1f} after {games}"
        text = f"Player {ranking.players[0]} is first with {first}; {text}"
    tuned = tuning_lines("Tuned", result.tuning) if result.tuning else ()
    return " ".join([f"{text}.", *(f"{line}." for line in tuned)])


def _scores_in_words(scores: Scores) -> str:
    """Say how well games were predicted, and whether a coin does worse."""
    loss, half, n = scores.log_loss, half_of(scores), scores.games
    if loss is None:
        return "no game was predicted"
    if half is None:
        return f"the log loss of all predictions is {loss:.4f} (no interval, n = {n:,} games)"
    verdict = "not clearly better than a coin's"
    if loss + half < COIN:
        verdict = "better than a coin's"
    elif loss - half > COIN:
        verdict = "worse than a coin's"
    return (
        f"the log loss of all predictions is {loss:.4f} ± {half:.4f}, {verdict} {COIN:.4f}"
        f" (95% interval, n = {n:,} games)"
    )


def _trials(tuning: Tuning | None) -> Iterator[tuple[str, Scores]]:
    """Yield how the published and the tuned values do on both parts of a log."""
    if tuning:
        trials = {"published": tuning.published, "tuned": tuning.tuned}
        share = f"{tuning.train:.0%}"
        yield from ((f"first {share}, {label}", trial.first) for label, trial in trials.items())
        yield from ((f"rest, {label}", trial.rest) for label, trial in trials.items())


def tuning_lines(title: str, tuning: Tuning) -> Iterator[str]:
    """Say of each parameter that was fitted whether its value is adopted, and why."""
    change = tuning.judged
    spread = "" if change.half_width is None else f" ± {change.half_width:.4f}"
    measure = change.measure.replace("three_", "three-").replace("_", " ")
    gain = f"{measure} of the rest {formatted(change.mean, '+.4f')}{spread} (95%)"
    for name in tuning.fitted:
        others = [other for other in change.parameters if other != name]
        together = f", judged with {d.joined(others)}" if others else ""
        if name not in change.parameters:
            why = "not changed: no other value does better on the first part"
            if name == "draw_probability" and tuning.published.parameters[name] == 0.0:
                why = "adopted (without it a draw has no probability)"
        elif tuning.adopted:
            why = f"{gain}: adopted{together}"
        else:
            why = f"{gain}: not adopted, {change.against[name]:.6g} stays{together}"
        yield f"{title} {name} = {tuning.tuned.parameters[name]:.6g}: {why}"
    if not tuning.fitted:
        yield f"{title} nothing"


def _leaderboard(result: RatedLog, view: d.View) -> d.Block:
    """Return the best players who have so many games."""
    ranking, min_games = result.ranking, view.min_games
    listed = [k for k, games in enumerate(ranking.games) if games >= min_games]
    best = listed[: view.top or BEST]
    if not best:
        return d.Block("The best players", items=[f"no player has {min_games:,} games"])
    ratings = [ranking.ratings[k] for k in listed]
    digits = _digits([ranking.ratings[k] for k in best])
    columns = {
        "rank": [f"{1 + ratings.index(ranking.ratings[k])}" for k in best],
        "player": [ranking.players[k] for k in best],
        "rating": [f"{ranking.ratings[k]:.{digits}f}" for k in best],
        "change": [formatted(ranking.change[k], f"+.{digits}f") for k in best],
    }
    for name in ("games", *COUNTS):
        columns[name] = [f"{getattr(ranking, name)[k]}" for k in best]
    columns[LAST_GAME.replace("_", " ")] = [ranking.last_game[k] for k in best]
    for column in system_named(result.system).columns:
        if column.printed and column.name != "rating":
            state = [ranking.state[column.name][k] for k in best]
            columns[column.name] = [f"{x:.{_digits(state)}f}" for x in state]
    for name in ("change", "last game"):
        if not any(columns[name]):
            del columns[name]
    of = f"of {len(listed):,} players" + (f" with {min_games:,} games" if min_games > 1 else "")
    table = d.TextTable.of_columns(columns.items(), title=f"best {of}")
    table.repeated = 2
    return d.Block(f"The best {of}", table=table)


def _digits(values: Sequence[float]) -> int:
    """Return after how many decimals the largest of some numbers has five digits, at most four."""
    largest = max(map(abs, values))
    return 2 if largest == 0.0 else max(0, min(4, 4 - math.floor(math.log10(largest))))


def scores_table(rows: Sequence[tuple[str, Scores]]) -> d.TextTable:
    """Return a table of how well games were predicted."""
    scores = [row for _, row in rows]
    columns = {
        "predictions": [label for label, _ in rows],
        "games": [f"{score.games}" for score in scores],
        "accuracy": [formatted(score.accuracy, ".4f") for score in scores],
        "log loss": [formatted(score.log_loss, ".4f") for score in scores],
        "± 95%": list(map(_half_in_words, scores)),
        "Brier score": [formatted(score.brier_score, ".4f") for score in scores],
    }
    if scores[0].three_way_log_loss is not None:
        columns["three-way log loss"] = [formatted(x.three_way_log_loss, ".4f") for x in scores]
    return d.TextTable.of_columns(columns.items())


def _half_in_words(scores: Scores) -> str:
    """Return the half-width of the log loss, which is never below 0."""
    loss, width = scores.log_loss, half_of(scores)
    half = formatted(width, ".4f")
    if loss is None or width is None or width <= loss:
        return half
    return arms_of((loss, width), half)


def half_of(scores: Scores) -> float | None:
    """Return half the length of the 95% interval of the log loss of so many games."""
    error = scores.log_loss_std_error
    return None if error is None else t_quantile(0.975, scores.games - 1) * error


# Charts.


def calibration_chart(title: str, rows: Sequence[tuple[str, Scores]]) -> d.Graph:
    """Return a chart of observed against predicted scores."""
    lines = []
    for k, (name, scores) in enumerate(rows):
        bins = scores.calibration
        low, high = np.array([group.interval for group in bins]).reshape(-1, 2).T
        x, y = (
            np.array([getattr(group, key) for group in bins]) for key in ("predicted", "observed")
        )
        labels = [
            f"predicted {group.predicted:.1%}, observed {group.observed:.1%} in {group.games:,.0f}"
            " games"
            for group in bins
        ]
        lines.append(d.Line(name, x, y, low, high, marks=True, colour=k, labels=labels))
    return d.Graph(title, "predicted score of the favourite", "observed", lines, diagonal=True)


def check_rated(players: Sequence[str], ranked: Sequence[str]) -> None:
    """Refuse to draw players who have no rating."""
    for player in players:
        if player not in ranked:
            near = correction(player, ranked)
            raise OptionError(f"{option('players')}: {player!r} has no rating here{near}")


def _history(result: RatedLog, view: d.View) -> list[d.Graph]:
    """Return the ratings of some players over time, where their games are in a file."""
    players, ranked = view.players, result.ranking.players
    check_rated(players, ranked)
    if len(players) > d.COLOURS:
        most = f"allowed: {d.COLOURS}, which colours tell apart"
        raise InputError(f"{option('players')}: {len(players)} players ({most})")
    if not view.charts or result.folder is None or not (result.folder / HISTORY).exists():
        return []
    names = list(dict.fromkeys(players)) or list(ranked[:DRAWN])
    return [history_chart(result_files(result.folder), names, result.system)]


DAY = 86_400.0


def history_chart(run: ResultFiles, players: Sequence[str], system: str) -> d.Graph:
    """Return the ratings of some players over the games of ``history.csv``, or over time."""
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in players}
    timed = "time" in run.header(HISTORY)
    columns = ("game", "player", "rating_before", "rating_after", *(["time"] if timed else []))
    at, last, dated = 0.0, None, False
    with damaged(run.folder / HISTORY):
        for game, player, before, after, *time in run.rows(HISTORY, columns):
            if game != last:
                last = game
                at, dated = _time(time[0]) if timed else (at + 1.0, False)
            if player in points:
                if not points[player]:
                    points[player].append((at - (not timed), float(before)))
                points[player].append((at, float(after)))
    over = "time" if timed else "games of the log, in order of play"
    start, scale = 0.0, 1.0
    if dated:
        first = min((rows[0][0] for rows in points.values() if rows), default=0.0)
        start, scale = DAY * math.floor(first / DAY), DAY
        over = f"days after {datetime.fromtimestamp(start, UTC):%Y-%m-%d}"
    lines = []
    for k, (name, rows) in enumerate(points.items()):
        x, y = np.array(rows, np.float64).reshape(-1, 2).T
        lines.append(d.Line(name, (x - start) / scale, y, colour=k))
    return d.Graph(f"Ratings by {system}", over, "rating", lines)


def _time(text: str) -> tuple[float, bool]:
    """Return the time of a game, and whether it is a date."""
    number = real_number(text)
    if number is not None:
        return number, False
    value = seconds_of(text)
    if math.isnan(value):
        raise ValueError(f"{text!r} is no time")
    return value, True
