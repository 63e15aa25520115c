"""Tables of `rate` and `predict`: scores of predictions, players, games to come."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from valmatch.cli.tables.layout import WIDTH, print_table, show_no_interval
from valmatch.statistics.estimates import t_quantile
from valmatch.statistics.rounding import arms_of, formatted
from valmatch.text.sheet import Sheet, aligned

if TYPE_CHECKING:
    from valmatch.game_logs.blocks import Difference
    from valmatch.game_logs.comparison.result import RatingComparison
    from valmatch.game_logs.prediction.predicting import PredictedGames
    from valmatch.game_logs.rating import RatedLog
    from valmatch.game_logs.roster import Ranking
    from valmatch.game_logs.scores import Scores
    from valmatch.game_logs.tuning import Tuning

BEST = 10
"""Players that are printed."""

COUNTS, LAST_GAME = ("wins", "losses", "draws"), "last_game"
"""What is counted of players, and when they played last."""


def show_rating(header: str, result: RatedLog, min_games: int = 0) -> None:
    """Print how well games were predicted, and the best players who have so many games."""
    names = ["predictions", "games", "accuracy", "log loss", "± 95%", "Brier score"]
    if result.predictions["all"].three_way_log_loss is not None:
        names.append("three-way log loss")
    table = Sheet.of(*names)
    later = f"after {result.burn_in} games of every player"
    for name, label in (("all", "all games"), ("after_burn_in", later)):
        table.add(label, *_predictions(result.predictions[name]))
    if result.tuning:
        trials = (("published", result.tuning.published), ("tuned", result.tuning.tuned))
        share = f"{result.tuning.train:.0%}"
        for label, trial in trials:
            table.add(f"first {share}, {label}", *_predictions(trial.first))
        for label, trial in trials:
            table.add(f"rest, {label}", *_predictions(trial.rest))
    print_table(header, table)
    if result.tuning:
        _show_tuning("tuned", result.tuning)
    _show_leaderboard(result.ranking, min_games)


def _predictions(scores: Scores) -> list[str]:
    """Return the cells of a row of scores."""
    loss, width = scores.log_loss, _half(scores.log_loss_std_error, scores.games)
    half = formatted(width, ".4f")
    if loss is not None and width is not None and width > loss:  # no loss is below 0
        half = arms_of((loss, width), half)
    cells = [formatted(scores.accuracy, ".4f"), formatted(loss, ".4f"), half]
    cells.append(formatted(scores.brier_score, ".4f"))
    if scores.three_way_log_loss is not None:
        cells.append(f"{scores.three_way_log_loss:.4f}")
    return [f"{scores.games}", *cells]


def _half(std_error: float | None, n: int) -> float | None:
    """Return half the length of a 95% interval of a mean over so many games."""
    return None if std_error is None else t_quantile(0.975, n - 1) * std_error


def _show_tuning(title: str, tuning: Tuning) -> None:
    """Print what was fitted, how it does on the rest, and whether it is adopted."""
    values = ", ".join(f"{name} = {tuning.tuned.parameters[name]:.6g}" for name in tuning.fitted)
    change = tuning.score_change
    spread = "" if change.half_width is None else f" ± {change.half_width:.4f}"
    measure = tuning.measure.replace("three_", "three-").replace("_", " ")
    verdict = "adopted" if tuning.adopted else "not adopted"
    gain = f"{measure} of the rest {formatted(change.mean, '+.4f')}{spread} (95%): {verdict}"
    print()
    print(textwrap.fill(f"{title} {values or 'nothing'}: {gain}", WIDTH))


def _show_leaderboard(ranking: Ranking, min_games: int) -> None:
    """Print the best players who have so many games."""
    listed = [k for k, games in enumerate(ranking.games) if games >= min_games]
    best = listed[:BEST]
    if not best:
        print(f"\nno player has {min_games:,} games")
        return
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
    for name in ranking.printed:
        own = [ranking.state[name][k] for k in best]
        columns[name] = [f"{x:.{_digits(own)}f}" for x in own]
    for name in ("change", "last game"):
        if not any(columns[name]):
            del columns[name]
    table = Sheet.of(*columns)
    for row in zip(*columns.values(), strict=True):
        table.add(*row)
    of = f"of {len(listed):,} players" + (f" with {min_games:,} games" if min_games > 1 else "")
    print_table(f"\nbest {of}", table, repeated=2)


def _digits(values: Sequence[float]) -> int:
    """Return after how many decimals the largest of some numbers has five digits, at most four."""
    largest = max(map(abs, values))
    return 2 if largest == 0.0 else max(0, min(4, 4 - math.floor(math.log10(largest))))


def show_systems(found: RatingComparison) -> None:
    """Print how well systems predicted, and by how much they fall behind the first of them."""
    names, columns = ["system"], [list(found.means)]
    for measure in next(iter(found.means.values())):
        pairs = [_rounded_to(own[measure]) for own in found.differences.values()]
        columns.append([formatted(own[measure].mean, ".4f") for own in found.means.values()])
        columns += [aligned(side) for side in zip(*pairs, strict=True)]
        title = measure.replace("_", " ").replace("brier", "Brier").replace("three ", "three-")
        names += [title, f"- {found.leader}", "± 95%"]
    table = Sheet.of(*names)
    for cells in zip(*columns, strict=True):
        table.add(*cells)
    print_table(found.title, table)
    show_no_interval(found.no_interval)
    for system, tuning in found.tunings.items():
        _show_tuning(f"tuned {system}:", tuning)


def _rounded_to(difference: Difference) -> tuple[str, str]:
    """Return a difference and its half-width; nothing of what differs from itself."""
    if difference.mean is None or not (difference.mean or difference.half_width):
        return "", ""
    half = formatted(difference.half_width, ".4f")
    arms = difference.arms
    return formatted(difference.mean, "+.4f"), arms_of(arms, half) if arms else half


def show_predictions(result: PredictedGames) -> None:
    """Print the probabilities of the results of games to come."""
    rows = result.columns()
    names = ["game", "side", "win"]
    columns = [rows["game"], rows["players"], [f"{x:.1%}" for x in rows["win"]]]
    if None not in rows["win_low"]:
        names.append("95%")
        ends = zip(rows["win_low"], rows["win_high"], strict=True)
        columns.append([f"{low:.1%} to {high:.1%}" for low, high in ends])
    if any(draw is not None for draw in rows["draw"]):
        names.append("draw")
        columns.append([formatted(x, ".1%") for x in rows["draw"]])
    if any(rows["newcomers"]):
        names.append("newcomers")
        columns.append(rows["newcomers"])
    table = Sheet.of(*names)
    last = None
    for game, *cells in zip(*columns, strict=True):
        table.add("" if game == last else game, *cells)
        last = game
    print_table(result.title, table, repeated=2)
