"""Presentation of ratings, how sure they are, and games to come: predicted, chosen, planned."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from valmatch.errors import InputError, OptionError, option
from valmatch.game_logs.rating import RatedLog, RatingComparison
from valmatch.game_logs.rating_files import HISTORY
from valmatch.game_logs.roster import COUNTS, LAST_GAME, Difference, Scores
from valmatch.game_logs.tuning import Tuning
from valmatch.game_logs.whole_log.result import (
    HOME,
    UNBEATEN,
    UNBEATEN_BY_RATED,
    WINLESS,
    BatchRating,
    CoefficientRow,
    PlayerRow,
    games_to_show,
    unrated_kind,
)
from valmatch.present import document as d
from valmatch.ratings.bradley_terry.contests import ABOVE, BELOW
from valmatch.ratings.registry import system_named
from valmatch.statistics.estimates import arms_of, formatted, t_quantile
from valmatch.storage.results import ResultFiles, damaged, result_files
from valmatch.text.dates import seconds_of
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import correction
from valmatch.text.terminal import counted

if TYPE_CHECKING:  # those take long to import
    from valmatch.game_logs.next_pairs import NextPairs
    from valmatch.game_logs.planning import PlannedGames
    from valmatch.game_logs.prediction import Forecast, PredictedGames

BEST = 10  # players that are listed where no number is given
DRAWN = 5  # players that are drawn over time where none are chosen
SHOWN = 30  # players whose ratings are drawn: the first and the last, if there are more
NAMED = 5  # players of a kind who are named
FAVOURITES = 3  # games to come that a finding names
MOST = 12  # numbers of games in the table of a plan: those about the answer, or the last ones

COIN = math.log(2.0)  # the log loss of who knows nothing

LOSS_MEANT = (
    "log loss: minus the mean logarithm of the probability that was predicted for what happened; a"
    " coin has 0.6931, less is better. accuracy: share of decided games whose favourite won."
)
TIED_MEANT = (
    "tied for first: nobody is shown to be better, by ranges of ranks that hold for all players"
    " together; rating: in points of Elo, 400 of which are odds of ten to one."
)


# Games rated one after the other.


def present_rate(result: RatedLog, view: d.View) -> d.Presentation:
    """Return what a rating shows."""
    log, system, ranking = log_name(result.source), result.system, result.ranking
    scores, later = result.predictions["all"], result.predictions["after_burn_in"]
    rows = [("all games", scores), (f"after {result.burn_in} games of every player", later)]
    trials: list[tuple[str, Scores]] = []
    if tuning := result.tuning:
        kinds, share = {"published": tuning.published, "tuned": tuning.tuned}, f"{tuning.train:.0%}"
        trials = [(f"first {share}, {label}", trial.first) for label, trial in kinds.items()]
        trials += [(f"rest, {label}", trial.rest) for label, trial in kinds.items()]
    tuned = list(tuning_lines("tuned", tuning))
    note = "Calibration: what favourites were expected to score, and did; on the line is right."
    ratings = np.sort(d.floats(ranking.ratings))
    predictions = [
        calibration_chart(rows),
        d.histogram(ratings, f"Ratings by {system}", "rating", "players"),
    ]
    return d.Presentation(
        f"Rating of {log} by {system}",
        f"How good are the {counted(len(ranking.players), 'player')} of {log}, and how well does"
        f" {system} predict {counted(result.games, 'game')}?",
        finding=_finding_of_rating(result),
        glossary=LOSS_MEANT,
        header=f"{system}, {result.games:,} games, {result.rows:,} rows",
        tables=[
            d.Block("Predictions", table=_scores(rows + trials), items=tuned),
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


def _finding_of_rating(result: RatedLog) -> str:
    """Say who is first, how well games were predicted, and whether a coin does worse."""
    ranking, scores = result.ranking, result.predictions["all"]
    loss, half, n = scores.log_loss, half_of(scores), scores.games
    text = "no game was predicted"
    if loss is not None:
        text, known = f"the log loss of all predictions is {loss:.4f}", "no interval"
        if half is not None:
            surely = "worse than" if loss - half > COIN else "not clearly better than"
            surely = "better than" if loss + half < COIN else surely
            text, known = f"{text} ± {half:.4f}, {surely} a coin's {COIN:.4f}", "95% interval"
        text = f"{text} ({known}, n = {n:,} games)"
    if ranking.players:
        first = f"a rating of {ranking.ratings[0]:.1f} after {counted(ranking.games[0], 'game')}"
        text = f"Player {ranking.players[0]} is first with {first}; {text}"
    return " ".join(f"{line}." for line in (text, *tuning_lines("Tuned", result.tuning)))


def tuning_lines(title: str, tuning: Tuning | None) -> Iterator[str]:
    """Say of each parameter that was fitted whether its value is adopted, and why."""
    if tuning is None:
        return
    change = tuning.judged
    gain = f"{named(change.measure)} of the rest {formatted(change.mean, '+.4f')}"
    gain += f"{_plus_minus(change.half_width)} (95%)"
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
    digits = _digits(ratings[: len(best)])
    columns = {
        "rank": [f"{1 + ratings.index(rating)}" for rating in ratings[: len(best)]],
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
    of = f"of {len(listed):,} players" + (f" with {min_games:,} games" if min_games > 1 else "")
    table = d.TextTable.of_columns(
        columns.items(), ("change", "last game"), title=f"best {of}", repeated=2
    )
    return d.Block(f"The best {of}", table=table)


def _digits(values: Sequence[float]) -> int:
    """Return after how many decimals the largest of some numbers has five digits, at most four."""
    largest = max(map(abs, values))
    return 2 if largest == 0.0 else max(0, min(4, 4 - math.floor(math.log10(largest))))


def _scores(rows: Sequence[tuple[str, Scores]]) -> d.TextTable:
    scores = [row for _, row in rows]
    columns = {
        "predictions": [label for label, _ in rows],
        "games": [f"{score.games}" for score in scores],
        "accuracy": [formatted(score.accuracy, ".4f") for score in scores],
        "log loss": [formatted(score.log_loss, ".4f") for score in scores],
        "± 95%": list(map(_half_of_loss, scores)),
        "Brier score": [formatted(score.brier_score, ".4f") for score in scores],
    }
    if scores[0].three_way_log_loss is not None:
        columns["three-way log loss"] = [formatted(x.three_way_log_loss, ".4f") for x in scores]
    return d.TextTable.of_columns(columns.items())


def _half_of_loss(scores: Scores) -> str:
    """Return the half-width of the log loss, which is never below 0."""
    loss, width = scores.log_loss, half_of(scores)
    half = formatted(width, ".4f")
    return arms_of((loss, width), half) if width and loss is not None and width > loss else half


def _plus_minus(half: float | None, digits: int = 4) -> str:
    return "" if half is None else f" ± {half:.{digits}f}"


def half_of(scores: Scores) -> float | None:
    """Return half the length of the 95% interval of the log loss of so many games."""
    error = scores.log_loss_std_error
    return None if error is None else t_quantile(0.975, scores.games - 1) * error


def calibration_chart(rows: Sequence[tuple[str, Scores]]) -> d.Graph:
    """Return a chart of observed against predicted scores."""
    lines = []
    for k, (name, scores) in enumerate(rows):
        bins = scores.calibration
        ends = [(group.predicted, group.observed, *group.interval) for group in bins]
        x, y, low, high = np.array(ends).reshape(-1, 4).T
        labels = [
            f"predicted {a:.1%}, observed {b:.1%} in {group.games:,.0f} games"
            for group, (a, b, *_) in zip(bins, ends, strict=True)
        ]
        lines.append(d.Line(name, x, y, low, high, marks=True, colour=k, labels=labels))
    axes = "predicted score of the favourite", "observed"
    return d.Graph("Calibration", *axes, lines, diagonal=True)


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
    return [_over_time(result_files(result.folder), names, result.system)]


DAY = 86_400.0


def _over_time(run: ResultFiles, players: Sequence[str], system: str) -> d.Graph:
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
    pairs = (np.array(rows, np.float64).reshape(-1, 2).T for rows in points.values())
    lines = [
        d.Line(name, (x - start) / scale, y, colour=k)
        for k, (name, (x, y)) in enumerate(zip(points, pairs, strict=True))
    ]
    return d.Graph(f"Ratings by {system}", over, "rating", lines)


def _time(text: str) -> tuple[float, bool]:
    """Return the time of a game, and whether it is a date."""
    number = real_number(text)
    value = seconds_of(text) if number is None else number
    if math.isnan(value):
        raise ValueError(f"{text!r} is no time")
    return value, number is None


# Several systems on the same games.


def present_systems(result: RatingComparison, view: d.View) -> d.Presentation:
    """Return what a comparison of systems shows."""
    log, games = log_name(result.source), counted(result.games, "game")
    systems = list(result.parameters)
    columns: list[d.Column] = [("system", list(result.systems))]
    for measure in result.systems[result.leader].means:
        means = [of.means[measure].mean for of in result.systems.values()]
        behind = [_behind(of.to_best[measure]) for of in result.systems.values()]
        columns.append((named(measure), [formatted(mean, ".4f") for mean in means]))
        columns.append((f"- {result.leader}", [mean for mean, _ in behind]))
        columns.append(("± 95%", [half for _, half in behind]))
    notes = [f"no interval: {result.no_interval}"] if result.no_interval else []
    table = d.TextTable.of_columns(columns, notes=notes)
    tuned = [
        line
        for system, of in result.systems.items()
        for line in tuning_lines(f"tuned {system}:", of.tuning)
    ]
    calibrations = [(name, result.systems[name].predictions["all"]) for name in systems]
    charts = [*_differences(result), calibration_chart(calibrations)]
    return d.Presentation(
        f"Rating systems on {log}",
        f"Which of {d.joined(systems)} predicts the {games} of {log} best?",
        finding=_finding_of_systems(result),
        glossary=LOSS_MEANT,
        tables=[d.Block("Scores", table=table, items=tuned)],
        charts=[d.Block("Charts", charts=charts, figure="calibration")],
        blocks=d.parameters_block(result.parameters),
    )


def _finding_of_systems(result: RatingComparison) -> str:
    """Say which system is the best, or that none is shown to be."""
    leader, measure = result.leader, "log_loss"
    first = result.systems[leader].means[measure]
    text = f"{leader} has the least log loss, {first.mean:.4f}{_plus_minus(first.half_width)}"
    behind = {name: of.to_best[measure] for name, of in result.systems.items() if name != leader}
    others = [f"{k} {x.mean:+.4f}{_plus_minus(x.half_width)}" for k, x in behind.items()]
    text += f" ({', '.join(others)})" if others else ""
    verdict = "it is better than all others beyond the intervals"
    if unbeaten := list(result.unbeaten):
        verdict = f"it is not shown to be better than {d.joined(unbeaten, 'or')}"
    level = "95% intervals" if result.blocks > 1 else "no intervals"
    return f"{text}; {verdict}; {level}, n = {result.games:,} games."


def _differences(result: RatingComparison) -> list[d.Chart]:
    """Return a chart of the differences to the leader for each measure, if there are others."""
    others = {name: of.to_best for name, of in result.systems.items() if name != result.leader}
    charts: list[d.Chart] = []
    for measure in result.systems[result.leader].means if others else ():
        rows = []
        for name, scores in others.items():
            difference = scores[measure]
            mean, low, high = d.ends_of(difference)
            label = f"{name}: {mean:+.4f}{_plus_minus(difference.half_width)}"
            rows.append(d.Interval(name, mean, low, high, label))
        title = f"{named(measure)}, difference to {result.leader}"
        charts.append(d.Intervals(title, rows, zero=True))
    return charts


def named(measure: str) -> str:
    """Return the name of a measure in words."""
    return measure.replace("_", " ").replace("brier", "Brier").replace("three ", "three-")


def _behind(difference: Difference) -> tuple[str, str]:
    """Return how far a system falls behind, and the half-width; nothing of the leader."""
    if difference.mean is None or not (difference.mean or difference.half_width):
        return "", ""
    half = formatted(difference.half_width, ".4f")
    arms = difference.arms
    return formatted(difference.mean, "+.4f"), arms_of(arms, half) if arms else half


# All games of a log together.


def present_whole_log(result: BatchRating, view: d.View) -> d.Presentation:
    """Return what a rating of a whole log shows."""
    log, facts = log_name(result.source), result.facts
    listed = [row for row in result.players if row.games >= view.min_games]
    rated = [row for row in listed if row.rating is not None]
    gate, most = facts.get("gate", {}), view.top or BEST
    seen = [row for row in listed if games_to_show(gate, row) == 0] if gate else listed
    tables = [d.Block("Players", table=_players(seen, most, result))]
    if gate and len(seen) < len(listed):
        rest = [row for row in listed if games_to_show(gate, row) != 0]
        tables.append(d.Block("Not shown yet", table=_not_shown(rest, most, gate)))
    if firm := facts.get("firmness"):
        tables.append(d.Block("How firm it is", table=_boundaries(firm), items=_firmness(firm)))
    if result.coefficients:
        tables.append(d.Block("Coefficients", table=_coefficients(result)))
    charts = [d.Block("Ratings", charts=_ratings(rated, result, view), figure="ratings")]
    if result.days and rated:
        paths = [_paths(result, rated, view)]
        charts.insert(0, d.Block("Paths", charts=paths, figure="paths"))
    known = result.posterior.covariance is not None and len(result.posterior.names) > 1
    stronger = [_superiority(result)] if known else []
    return d.Presentation(
        f"Rating of {log} by {result.system}",
        f"Who is the best of the {counted(int(facts['players']), 'player')} of {log}, by"
        f" all {counted(int(facts['games_used']), 'game')} together?",
        finding=_finding_of_log(result),
        glossary=TIED_MEANT,
        tables=tables,
        charts=charts,
        blocks=[*stronger, d.Block("How it was rated", items=_facts(facts))],
    )


def _finding_of_log(result: BatchRating) -> str:
    """Say who is first, who cannot be told from them, and how many have a rating."""
    facts, tied = result.facts, result.tied_for_first
    n = f"n = {facts['games_used']:,} games"
    best = next((row for row in result.players if row.rating is not None), None)
    if best is None:
        return f"Nobody can be rated by these games (no interval, {n})."
    half = _plus_minus(_half(best), 1)
    text = f"Player {best.player} is first with a rating of {best.rating:.1f}"
    unrated = result.unrated
    if above := [*unrated.get(UNBEATEN, ()), *unrated.get(UNBEATEN_BY_RATED, ())]:
        text = f"{_named(above)}: {UNBEATEN}, no finite rating. Of the rated,"
        text += f" player {best.player} has the highest rating, {best.rating:.1f}"
    text += half
    if int(facts["rated"]) == 1:
        text += ", and nobody else has a rating"
    elif len(tied) == 1:
        text += ", and better than all others"
    elif tied:
        text += f"; {len(tied):,} are tied for first ({_named(tied)})"
    if firm := facts.get("firmness"):
        text += f"; {_decided(firm['leader'], firm['boundaries'][0])}"
    if WINLESS in unrated:
        text += f"; {_named(unrated[WINLESS])}: {WINLESS}, no finite rating"
    text += f"; {facts['rated']:,} of {counted(int(facts['players']), 'player')} are rated"
    level = f"{facts['level']:.0%} intervals" if half else "no interval"
    return f"{text}; {level}, {n}."


def _named(players: Sequence[str]) -> str:
    more = len(players) - NAMED
    return f"{', '.join(players[:NAMED])} and {more:,} more" if more > 0 else d.joined(players)


def _half(row: PlayerRow | CoefficientRow) -> float | None:
    return None if row.low is None or row.high is None else 0.5 * (row.high - row.low)


def _players(listed: Sequence[PlayerRow], most: int, result: BatchRating) -> d.TextTable:
    """Return a table of players: the unbeaten on top, the winless at the foot."""
    rated, unrated = ([row for row in listed if (row.rating is None) == k] for k in (False, True))
    above, below = ([row for row in unrated if row.status == end] for end in (ABOVE, BELOW))
    rows = [*above[:NAMED], *rated[:most], *below[:NAMED]]
    columns = {
        "rank": [formatted(row.rank, "d") for row in rows],
        "player": [row.player for row in rows],
        "rating": [formatted(row.rating, ".1f") or unrated_kind(row) for row in rows],
    }
    if result.facts["quantile"] is not None:
        columns[f"± {result.facts['level']:.0%}"] = [formatted(_half(row), ".1f") for row in rows]
    if any(row.rank_low is not None for row in rows):
        ranks = [(row.rank_low, row.rank_high) for row in rows]
        columns["ranks"] = ["" if low is None else f"{low}-{high}" for low, high in ranks]
    for name in ("games", "wins", "losses", "draws"):
        columns[name] = [f"{getattr(row, name)}" for row in rows]
    if len({row.group for row in result.players if row.rating is not None}) > 1:
        columns["group"] = [f"{row.group}" for row in rows]
    kinds = dict.fromkeys(unrated_kind(row) for row in rows if row.rating is None)
    notes = [f"{kind}: no finite rating" for kind in kinds]
    return d.TextTable.of_columns(columns.items(), repeated=2, notes=notes)


def _coefficients(result: BatchRating) -> d.TextTable:
    """Return coefficients with the half-widths of their intervals, or both arms of that of nu."""
    table = d.TextTable.of("coefficient", "value", f"± {result.facts['level']:.0%}", "unit")
    for row in result.coefficients:
        digits, arms = 1 if row.unit == "points" else 4, ""
        if row.low is not None and row.high is not None:
            arms = f"{row.high - row.value:.{digits}f}"
            arms = arms if row.unit else f"-{row.value - row.low:.{digits}f}/+{arms}"
        table.add(row.name, f"{row.value:.{digits}f}", arms, row.unit)
    return table


def _not_shown(rows: Sequence[PlayerRow], most: int, gate: Mapping[str, float]) -> d.TextTable:
    """Return who is not shown by a gate, and how many games more they need."""
    more = [games_to_show(gate, row) for row in rows]
    limits = {"half_width": "half_width<={:g}", "games": "games>={:g}"}
    gates = ", ".join(limits[name].format(limit) for name, limit in gate.items())
    columns = {
        "player": [row.player for row in rows],
        "rating": [formatted(row.rating, ".1f") for row in rows],
        "half_width": [formatted(_half(row), ".1f") for row in rows],
        "games": [f"{row.games}" for row in rows],
        "games more": ["unknown" if n is None else f"{n:,}" for n in more],
    }
    first = ((name, cells[:most]) for name, cells in columns.items())
    title = f"Not shown yet ({len(rows):,}): {gates} does not hold."
    notes = [f"The first {most} of {len(rows):,}."] if len(rows) > most else []
    return d.TextTable.of_columns(first, title=title, notes=notes)


def _share(share: float) -> str:
    return f"{100.0 * share:.3g} %"


def _decided(row: Mapping[str, Any], first: Mapping[str, Any]) -> str:
    """Say how few games decide who is first."""
    if row["games"] is None:
        return "no games were found that decide who is first"
    without = f"without {counted(row['games'], 'game')} ({_share(row['share'])})"
    text = f"{without} player {row['player_b']} would be ahead of {row['player_a']}"
    if first["expected"] is not None:
        text += f", in logs like this without {first['expected']:.1f}"
        text += f" ({first['low']:.0f} to {first['high']:.0f})"
    return text


def _boundaries(firm: Mapping[str, Any]) -> d.TextTable:
    """Return the fewest games found that decide each boundary."""
    title = "Fewest games found without which the second of two would be ahead"
    heads = ("ranks", "player_a", "player_b", "games", "share", "expected", "in simulated logs")
    table = d.TextTable.of(*heads, title=title, repeated=3)
    for row in firm["boundaries"]:
        none = row["games"] is None
        cells = ["none found", ""] if none else [f"{row['games']:,}", _share(row["share"])]
        if row["expected"] is not None:
            cells += [f"{row['expected']:.1f}", f"{row['low']:.0f} to {row['high']:.0f}"]
        ranks = f"{row['boundary']}-{row['boundary'] + 1}"
        table.add(ranks, row["player_a"], row["player_b"], *cells)
    logs = counted(firm["simulated_logs"], "simulated log")
    table.notes.append(
        "An upper bound: fewer may do. Each was tried by rating the other games. Expected: the mean"
        f" of {logs}, by the influence of games alone."
    )
    return table


def _firmness(firm: Mapping[str, Any]) -> list[str]:
    """Return a sentence on each other fact that firmness rests on."""
    sentences = []
    for row in firm["bought"]:
        wins = "No number of wins" if row["wins"] is None else counted(row["wins"], "more win")
        sentences.append(f"Bought: {wins} over {row['over']} would put {row['player']} first.")
    if order := firm["order"]:
        what = "At home" if order["name"] == HOME else "Shown first"
        ends = ["", ""]
        if order["low"] is not None:
            ends = [f" ({order['low']:+.1f} to {order['high']:+.1f})"]
            ends += [f" ({order['percent_low']:.1f} to {order['percent_high']:.1f})"]
        points, percent = f"{order['points']:+.1f} points", f"{order['percent']:.1f} %"
        sentences.append(f"{what}: {points}{ends[0]}; of two equals it wins {percent}{ends[1]}.")
    if swapped := firm.get("swapped"):
        ends = [f"{100.0 * swapped[name]:.1f}" for name in ("low", "high")]
        moved = [row["player"] for row in swapped["steady"] if row["rank"] != row["rank_by_all"]]
        sentences.append(
            f"Both orders: {swapped['turned']:,} of {counted(swapped['pairs'], 'judgement')} turn"
            f" over with the order, {100.0 * swapped['share']:.1f} % ({ends[0]} to {ends[1]}); by"
            f" the others alone {_moved(moved)}."
        )
    for covariate in firm["covariates"]:
        moved = covariate["changed"]
        text = "nobody can be rated"
        if moved is not None:
            text = _moved([row["player"] for row in moved])
        sentences.append(f"Without {covariate['name']}: {text}.")
    best = firm["best_of"]
    ahead = ", ".join(f"{row['points']:.1f} (N = {row['n']:,})" for row in best["ahead"])
    return [
        *sentences,
        f"Best of N: who enters N equal variants, {best['games']:,.0f} games each, and keeps the"
        f" best is ahead by luck alone by so many points: {ahead}.",
    ]


def _moved(players: Sequence[str]) -> str:
    return f"{counted(len(players), 'rank')} change" + (f" ({_named(players)})" * bool(players))


def _ratings(rated: Sequence[PlayerRow], result: BatchRating, view: d.View) -> list[d.Intervals]:
    """Return ratings with their intervals, the best at the top; of many players both ends."""
    check_rated(view.players, [row.player for row in rated])
    rows = [row for row in rated if not view.players or row.player in view.players]
    if len(rows) > SHOWN and not view.players:
        rows = [*rows[: SHOWN // 2], *rows[-(SHOWN // 2) :]]
    intervals = []
    for row in rows:
        mean, low, high = d.floats((row.rating, row.low, row.high)).tolist()
        label = f"{row.player}: {mean:.1f}{_plus_minus(_half(row), 1)}"
        intervals.append(d.Interval(row.player, mean, low, high, label))
    title = f"Ratings with their {result.facts['level']:.0%} intervals"
    return [d.Intervals(title, intervals)] if rows else []


def _paths(result: BatchRating, rated: Sequence[PlayerRow], view: d.View) -> d.Graph:
    """Return the ratings of some players over the days on which they played."""
    names = list(view.players)[: d.COLOURS] or [row.player for row in rated[:DRAWN]]
    first = result.facts["first_day"]
    dated = isinstance(first, str)
    lines = []
    for k, name in enumerate(names):
        rows = [row for row in result.days if row.player == name]
        days = np.array([row.day for row in rows], "M8[D]" if dated else None)
        days = days - np.datetime64(first, "D") if dated else days
        columns = ("rating", "low", "high")
        ratings, low, high = (d.floats(getattr(row, key) for row in rows) for key in columns)
        lines.append(d.Line(name, days.astype(np.float64), ratings, low, high, colour=k))
    day = f"days after {first}" if dated else "day"
    return d.Graph("Ratings of the best by day played", day, "rating [points]", lines)


def _superiority(result: BatchRating) -> d.Block:
    """Return how likely each player is stronger than each other one, of many players the first."""
    posterior, names = result.posterior, result.posterior.names[:SHOWN]
    n = len(names)
    table = d.TextTable.of("number", "player", *(str(k + 1) for k in range(n)))
    for k, name in enumerate(names):
        chances = posterior.superiority(k)[:n].tolist()
        cells = [  # none is certain
            f"{100.0 * x:.0f}" if 0.01 <= x <= 0.99 else ">99" if x > 0.5 else "<1" for x in chances
        ]
        table.add(str(k + 1), name, *cells[:k], "", *cells[k + 1 :])
    if len(posterior.names) > SHOWN:
        of = f"{len(posterior.names):,} rated players"
        table.notes.append(f"The first {SHOWN} of {of}; superiority.csv has all.")
    note = "Probability in percent that the player of a row is stronger than the one of a number."
    return d.Block("Who is stronger", [note], table=table)


def _facts(facts: Mapping[str, Any]) -> list[str]:
    clusters = facts["clusters"]
    by = f" by {clusters:,} clusters" if clusters else ""
    sentences = [f"Intervals: {facts['interval']}{by}.", f"Draws: {facts['draws']}."]
    if "drift" in facts:
        sentences.append(
            f"A rating moves by a drift of {facts['drift']:.4g} points a square-root day, from a"
            f" first day with a deviation of {facts['deviation']:g} points."
        )
    if facts["prior"] is not None:
        sentences.append(f"Prior: ratings scatter with a deviation of {facts['prior']:g} points.")
    return sentences


# Games to come.

SHARES = {
    "named_best": "leader is the best",
    "shown_best": "one alone is tied for first",
    "coverage": "intervals hold the difference",
}
"""What a plan measures as a share of leagues or of differences."""

PLAN_MEANT = (
    "half-width: of the intervals of differences between two players, their mean; named best: the"
    " leader of the ratings is the true best; shown best: exactly one player is tied for first;"
    " coverage: share of the differences that their intervals hold."
)


def present_predict(result: PredictedGames, view: d.View) -> d.Presentation:
    """Return what predictions show."""
    favourites = [_favourite(game) for game in result.games if game.sides[0].win is not None]
    rows = result.columns()
    ends = zip(rows["win_low"], rows["win_high"], strict=True)
    games = counted(len(result.games), "game")
    columns = {
        "game": [f"{g}" if k == 1 else "" for g, k in zip(rows["game"], rows["side"], strict=True)],
        "side": rows["players"],
        "win": ["unknown" if win is None else f"{win:.1%}" for win in rows["win"]],
        "95%": ["" if low is None else f"{low:.1%} to {high:.1%}" for low, high in ends],
        "draw": [formatted(draw, ".1%") for draw in rows["draw"]],
        "newcomers": rows["newcomers"],
    }
    table = d.TextTable.of_columns(columns.items(), ("95%", "draw", "newcomers"), repeated=2)
    named = d.first_of(favourites, FAVOURITES, "{} more below")
    return d.Presentation(
        "Games to come",
        f"Who wins {games} to come, by the ratings of {result.system}?",
        finding=f"{d.joined(named)}." if favourites else "",
        tables=[d.Block("Predictions", table=table)],
        blocks=d.parameters_block({result.system: result.parameters}),
    )


def _favourite(game: Forecast) -> str:
    side = max(game.sides, key=lambda side: side.win or 0.0)
    interval = ""
    if side.win_low is not None:
        interval = f" (95% interval {side.win_low:.1%} to {side.win_high:.1%})"
    return f"{';'.join(side.players)} wins game {game.game} with {side.win:.1%}{interval}"


def present_next_pairs(result: NextPairs, view: d.View) -> d.Presentation:
    """Return what pairs to play next show."""
    players, pairs = counted(result.players, "player"), counted(len(result.pairs), "pair")
    times = Counter((row.player_a, row.player_b) for row in result.pairs)
    rows = {(row.player_a, row.player_b): row for row in reversed(result.pairs)}
    shown = [rows[pair] for pair in times]  # each pair as it was first chosen
    goal = f" for {result.goal}" if result.goal else ""
    first = f"{shown[0].player_a} against {shown[0].player_b} is first" if shown else ""
    known = f"{result.leader} is the best with probability {result.leader_best:.2f}"
    columns: dict[str, list[str]] = {
        "place": [f"{row.place}" for row in shown],
        "player_a": [row.player_a for row in shown],
        "player_b": [row.player_b for row in shown],
        "times": [f"{n}" if result.repeat else "" for n in times.values()],
        "value": [f"{row.value:.4g}" for row in shown],
        "expected": [f"{row.expected_score:.3f}" for row in shown],
        "std_error": [f"{row.std_error:.1f}" for row in shown],
        "games": [f"{row.games:,}" for row in shown],
        "propensity": [f"{row.propensity:.4g}" for row in shown],
    }
    spare = "propensity" if all(row.propensity == 1.0 for row in shown) else ""
    table = d.TextTable.of_columns(columns.items(), ("times",), repeated=3, spare=spare)
    return d.Presentation(
        f"Pairs to play next by {result.policy}",
        f"Which {pairs} of {players} are to play next, by {result.policy}{goal}?",
        finding=f"{first or 'No pair is left'}; {known} (no interval, n = {pairs}).",
        tables=[d.Block("Pairs", table=table)],
    )


def present_plan(result: PlannedGames, view: d.View) -> d.Presentation:
    """Return what a plan shows."""
    from valmatch.game_logs.planning import AIMED
    from valmatch.policies.joint.leagues import UNIFORM

    o, players = result.options, counted(result.players, "player")
    policy, (measure, value) = o.policy_in_words, o.aim
    sure = "no interval" if result.games is None else f"{o.level:.0%} interval"
    batch = "" if o.policy == UNIFORM else f", {o.batch:,} games at a time"
    facts = [
        f"Pairs: {policy}{batch}.",
        f"Intervals: {o.level:.0%}; that of the games resamples the leagues.",
    ]
    columns, grid = result.columns(), result.curves["games"]
    n = len(grid)
    middle = n if result.games is None else sum(point < result.games for point in grid)
    start = max(0, min(middle - MOST // 2, n - MOST))
    shown = slice(start, start + MOST)  # about the answer
    table: list[d.Column] = [
        ("games", [f"{point}" for point in grid[shown]]),
        ("half-width", [formatted(x, ".1f") for x in columns["half_width"][shown]]),
    ]
    for name in SHARES:
        cells = [formatted(x, ".3f") for x in columns[name][shown]]
        table += [(name.replace("_", " "), cells)]
    shares = [_line(result, name, label, k) for k, (name, label) in enumerate(SHARES.items())]
    widths = [_line(result, "half_width", "", 0)]
    charts = [
        d.Graph("Mean half-width of the differences", "games", "half-width [points]", widths),
        d.Graph("What is known", "games", "share", shares),
    ]
    return d.Presentation(
        f"Plan of games of {players}",
        f"How many games of {players}, paired by {policy}, reach"
        f" {AIMED[measure].format(value=value)}?",
        finding=f"{result.sentence}; {sure}, n = {counted(o.replications, 'league')}.",
        glossary=PLAN_MEANT,
        tables=[d.Block("Games", table=d.TextTable.of_columns(table))],
        charts=[d.Block("What is known after so many games", charts=charts, figure="plan")],
        blocks=[d.Block("How it was simulated", items=facts)],
    )


def _line(result: PlannedGames, name: str, label: str, colour: int) -> d.Line:
    reach = t_quantile(0.5 + 0.5 * result.options.level, math.inf)
    columns = (result.curves[key] for key in ("games", name, f"{name}_std_error"))
    games, mean, error = map(d.floats, columns)
    low, high = mean - reach * error, mean + reach * error
    if name in SHARES:
        low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
    return d.Line(label, games, mean, low, high, colour=colour)
