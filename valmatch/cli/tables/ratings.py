"""Tables of `rate` and `predict`: scores of predictions, players, games to come."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from valmatch.cli.tables.layout import WIDTH, print_table, show_no_interval
from valmatch.plots.sheets.ratings import scores_sheet, systems_sheet
from valmatch.statistics.rounding import formatted
from valmatch.text.sheet import Sheet

if TYPE_CHECKING:
    from valmatch.game_logs.comparison.result import RatingComparison
    from valmatch.game_logs.prediction.predicting import PredictedGames
    from valmatch.game_logs.rating import RatedLog
    from valmatch.game_logs.roster import Ranking
    from valmatch.game_logs.tuning import Tuning

BEST = 10  # players that are printed

COUNTS, LAST_GAME = ("wins", "losses", "draws"), "last_game"
"""What is counted of players, and when they played last."""


def show_rating(header: str, result: RatedLog, min_games: int = 0) -> None:
    """Print how well games were predicted, and the best players who have so many games."""
    later = f"after {result.burn_in} games of every player"
    rows = [
        (label, result.predictions[name].as_dict())
        for name, label in (("all", "all games"), ("after_burn_in", later))
    ]
    if result.tuning:
        trials = (("published", result.tuning.published), ("tuned", result.tuning.tuned))
        share = f"{result.tuning.train:.0%}"
        rows += [(f"first {share}, {label}", trial.first.as_dict()) for label, trial in trials]
        rows += [(f"rest, {label}", trial.rest.as_dict()) for label, trial in trials]
    print_table(header, scores_sheet(rows))
    if result.tuning:
        _show_tuning("tuned", result.tuning)
    _show_leaderboard(result.ranking, min_games)


def _show_tuning(title: str, tuning: Tuning) -> None:
    """Print what was fitted, how it does on the rest, and whether it is adopted."""
    fitted = {name: f"{name} = {tuning.tuned.parameters[name]:.6g}" for name in tuning.fitted}
    change = tuning.score_change
    spread = "" if change.half_width is None else f" ± {change.half_width:.4f}"
    measure = tuning.measure.replace("three_", "three-").replace("_", " ")
    verdict = "adopted" if tuning.adopted else "not adopted"
    gain = f"{measure} of the rest {formatted(change.mean, '+.4f')}{spread} (95%): {verdict}"
    lines = [f"{fitted.pop(name)}: {_untested(name)}" for name in tuning.untested]
    if fitted:
        lines.append(f"{', '.join(fitted.values())}: {gain}")
    print()
    for line in lines or ["nothing"]:
        print(textwrap.fill(f"{title} {line}", WIDTH))


def _untested(name: str) -> str:
    """Say why a fitted value was compared with none."""
    if name == "draw_probability":
        return "adopted (without it a draw has no probability)"
    return "unchanged"


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
    table = systems_sheet(found.leader, found.means, found.differences)
    print_table(found.title, table)
    show_no_interval(found.no_interval)
    for system, tuning in found.tunings.items():
        _show_tuning(f"tuned {system}:", tuning)


def show_predictions(result: PredictedGames) -> None:
    """Print the probabilities of the results of games to come."""
    rows = result.columns()
    names = ["game", "side", "win"]
    columns = [rows["game"], rows["players"], [formatted(x, ".1%") for x in rows["win"]]]
    known = [low for low, win in zip(rows["win_low"], rows["win"], strict=True) if win is not None]
    if known and None not in known:
        names.append("95%")
        ends = zip(rows["win_low"], rows["win_high"], strict=True)
        columns.append(["" if low is None else f"{low:.1%} to {high:.1%}" for low, high in ends])
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
