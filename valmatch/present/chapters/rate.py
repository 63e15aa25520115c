"""Chapters on ratings of game logs: how well games were predicted, and who is the best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.game_logs.blocks import LIMITS, Difference
from valmatch.game_logs.scores import CalibrationBin
from valmatch.present.bins import bin_edges
from valmatch.present.chapters import whole_log
from valmatch.present.document import (
    Block,
    Chart,
    Graph,
    Interval,
    Intervals,
    Line,
    Presentation,
    counted,
    joined,
)
from valmatch.present.histories import chosen_players, history_chart
from valmatch.present.predict import parameters_table
from valmatch.present.sheets import half_of, named, scores_sheet, systems_sheet
from valmatch.present.source import RunFiles
from valmatch.statistics.estimates import limits_of_difference
from valmatch.storage.result_files import damaged
from valmatch.text.terminal import Sheet

SUMMARY, RATINGS = "summary.json", "ratings.csv"

BEST = 20  # players that are listed
COIN = math.log(2.0)  # the log loss of who knows nothing

MEANT = (
    "log loss: minus the mean logarithm of the probability that was predicted for what happened; a"
    " coin has 0.6931, less is better. accuracy: share of decided games whose favourite won."
)


def chapter(run: RunFiles) -> Presentation:
    """Return the chapter on a run of `rate`."""
    log = Path(run.manifest.source).name or "standard input"
    if not (run.folder / SUMMARY).exists() and run.status != "complete":
        return Presentation(f"Rating of {log}", f"How good are the players of {log}?")
    given = run.json(SUMMARY)
    with damaged(run.folder / SUMMARY):
        if "systems" in given:
            return _comparison(log, given)
        if "tied_for_first" in given:
            return whole_log.chapter(run, log, given)
        return _rating(run, log, given)


# ---- one system ----


def _rating(run: RunFiles, log: str, given: Mapping[str, Any]) -> Presentation:
    """Return the chapter on the rating of a log by one system."""
    system, games, players = given["system"], int(given["games"]), int(given["players"])
    asked = (
        f"How good are the {counted(players, 'player')} of {log}, and how well does {system}"
        f" predict {counted(games, 'game')}?"
    )
    scores = given["predictions"]["all"]
    found = _scores_in_words(scores)
    first = next(iter(run.rows(RATINGS, ("player", "rating", "games"))), None)
    if first:
        of = f"a rating of {float(first[1]):.1f} after {counted(int(first[2]), 'game')}"
        found = f"Player {first[0]} is first with {of}; {found}"
    chapter = Presentation(
        f"Rating of {log} by {system}", asked, finding=f"{found}.", glossary=MEANT
    )
    later = f"after {given['burn_in']} games of every player"
    rows = [("all games", scores), (later, given["predictions"]["after_burn_in"])]
    tuning = given.get("tuning")
    if tuning:
        trials = ("published", "tuned")
        share = f"{tuning['train']:.0%}"
        rows += [(f"first {share}, {name}", tuning[name]["first"]) for name in trials]
        rows += [(f"rest, {name}", tuning[name]["rest"]) for name in trials]
    items = [_tuning_in_words(tuning)] if tuning else []
    if tuning:
        chapter.finding = f"{found}. {items[0]}"
    chapter.blocks.append(Block("The best players", sheet=_leaderboard(run)))
    chapter.blocks.append(Block("Predictions", sheet=scores_sheet(rows), items=items))
    charts: list[Chart] = [
        _calibration("Calibration", [("all games", scores), (later, rows[1][1])]),
        _ratings_chart(run, system),
    ]
    ranked = [player for (player,) in run.rows(RATINGS, ("player",))]
    history = history_chart(run, chosen_players(run.players, ranked), system)
    chapter.blocks.append(Block("Ratings over time", charts=[history], figure="history"))
    note = "Calibration: what favourites were expected to score, and did; on the line is right."
    chapter.blocks.append(Block("Predictions", [note], charts=charts, figure="calibration"))
    chapter.blocks.append(
        Block("Parameters", sheet=parameters_table({system: given["parameters"]}))
    )
    return chapter


def _scores_in_words(scores: Mapping[str, Any]) -> str:
    """Say how well games were predicted, and whether a coin does worse."""
    loss, half, n = scores["log_loss"], half_of(scores), int(scores["games"])
    if loss is None:
        return "no game was predicted"
    if half is None:
        return f"the log loss of its predictions is {loss:.4f} (no interval, n = {n:,} games)"
    verdict = "not clearly better than a coin's"
    if loss + half < COIN:
        verdict = "better than a coin's"
    elif loss - half > COIN:
        verdict = "worse than a coin's"
    return (
        f"the log loss of its predictions is {loss:.4f} ± {half:.4f}, {verdict} {COIN:.4f}"
        f" (95% interval, n = {n:,} games)"
    )


def _tuning_in_words(tuning: Mapping[str, Any]) -> str:
    """Say what was fitted, and whether it is adopted."""
    values, judged = tuning["tuned"]["parameters"], tuning["judged"]
    fitted = {name: f"{name} = {values[name]:.6g}" for name in tuning["fitted"]}
    tested = [fitted.pop(name) for name in judged.get("parameters", [*fitted])]
    found = [f"Tuned {joined([*fitted.values()])}: adopted."] if fitted else []
    if tested:
        change = f"{named(judged['measure'])} of the rest"
        if judged["mean"] is not None:
            change += f" {judged['mean']:+.4f}"
        if judged["ci_low"] is not None:
            change += f" (95% interval {judged['ci_low']:+.4f} to {judged['ci_high']:+.4f})"
        verdict = "adopted" if tuning["adopted"] else "not adopted"
        found.append(f"Tuned {joined(tested)}: {change}: {verdict}.")
    return " ".join(found) or "Tuned nothing."


def _leaderboard(run: RunFiles) -> Sheet:
    """Return a table of the best players, as far as their file has columns."""
    header = run.header(RATINGS)
    sheet = Sheet.of(*header, left=("player", "last_game"))
    total = 0
    for row in run.rows(RATINGS, header):
        total += 1
        if total <= BEST:
            sheet.add(*map(_short, row))
    if total > BEST:
        sheet.notes.append(f"The best {BEST} of {total:,} players; {RATINGS} has all.")
    return sheet


def _short(cell: str) -> str:
    """Return a number of a file in few decimals; other texts as they are."""
    try:
        return f"{float(cell):.1f}" if "." in cell and len(cell) > 6 else cell
    except ValueError:
        return cell


def _ratings_chart(run: RunFiles, system: str) -> Graph:
    """Return a histogram of the ratings of players."""
    table = run.table(RATINGS, ("rating",))
    values = np.sort(table.numbers["rating"][~np.isnan(table.numbers["rating"])])
    title = f"Ratings by {system}"
    if not values.size:
        return Graph(title, "rating", "players")
    counts, edges = np.histogram(values, bin_edges(values))
    return Graph(title, "rating", "players", edges=edges, counts=counts.astype(np.float64))


def _calibration(title: str, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Graph:
    """Return a chart of observed against predicted scores."""
    lines = []
    for k, (name, scores) in enumerate(rows):
        bins = [CalibrationBin(**one) for one in scores["calibration"]]
        ends = np.array([one.interval for one in bins]).reshape(-1, 2).T
        x, y = (np.array([getattr(one, key) for one in bins]) for key in ("predicted", "observed"))
        said = [
            f"predicted {one.predicted:.1%}, observed {one.observed:.1%} in {one.games:,.0f} games"
            for one in bins
        ]
        lines.append(Line(name, x, y, *ends, marks=True, colour=k, said=said))
    return Graph(title, "predicted score of the favourite", "observed", lines, diagonal=True)


# ---- several systems ----


def _comparison(log: str, given: Mapping[str, Any]) -> Presentation:
    """Return the chapter on a comparison of systems."""
    systems: dict[str, Any] = given["systems"]
    rivals = [name for name, one in systems.items() if not one["baseline"]]
    games, leader = int(given["games"]), given["least_log_loss"]
    asked = f"Which of {joined(rivals)} predicts the {counted(games, 'game')} of {log} best?"
    means = {name: _differences(one["means"]) for name, one in systems.items()}
    differences = {
        name: _differences(one["to_best"], of_differences=True) for name, one in systems.items()
    }
    chapter = Presentation(f"Rating systems on {log}", asked, glossary=MEANT)
    chapter.finding = _leader_in_words(given, means, differences)
    sheet = systems_sheet(leader, means, differences)
    notes = [f"Intervals by {given['blocks']} blocks of games."]
    if int(given["blocks"]) < 2:
        notes = ["No interval: there is one block of games only."]
    tunings = {name: one["tuning"] for name, one in systems.items() if "tuning" in one}
    notes += [f"{name}: {_tuning_in_words(one)}" for name, one in tunings.items()]
    chapter.blocks.append(Block("Scores", sheet=sheet, items=notes))
    charts: list[Chart] = [
        Intervals(
            f"{named(measure)}, difference to {leader}",
            [_interval(name, own[measure]) for name, own in differences.items() if name != leader],
            zero=True,
        )
        for measure in means[leader]
        if len(differences) > 1
    ]
    rows = [(name, systems[name]["predictions"]["all"]) for name in rivals]
    charts.append(_calibration("Calibration", rows))
    chapter.blocks.append(Block("Charts", charts=charts, figure="calibration"))
    parameters = {name: one["parameters"] for name, one in systems.items()}
    chapter.blocks.append(Block("Parameters", sheet=parameters_table(parameters), folded=True))
    return chapter


def _differences(
    found: Mapping[str, Mapping[str, Any]], *, of_differences: bool = False
) -> dict[str, Difference]:
    """Return scores with their intervals as summaries hold them."""
    made = {}
    for measure, facts in found.items():
        mean, low, high = (facts[key] for key in ("mean", "ci_low", "ci_high"))
        limits = LIMITS.get(measure, (-math.inf, math.inf))
        limits = limits_of_difference(limits) if of_differences else limits
        half = None if low is None else max(mean - low, high - mean)
        made[measure] = Difference(mean, half, limits)
    return made


def _leader_in_words(
    given: Mapping[str, Any],
    means: Mapping[str, Mapping[str, Difference]],
    differences: Mapping[str, Mapping[str, Difference]],
) -> str:
    """Say which system is the best, or that none is shown to be."""
    leader, measure = given["least_log_loss"], "log_loss"
    first = means[leader][measure]
    spread = "" if first.half_width is None else f" ± {first.half_width:.4f}"
    said = f"{leader} has the least log loss, {first.mean:.4f}{spread}"
    others = [
        f"{name} {own[measure].mean:+.4f}"
        + ("" if own[measure].half_width is None else f" ± {own[measure].half_width:.4f}")
        for name, own in differences.items()
        if name != leader
    ]
    said += f" ({', '.join(others)})" if others else ""
    unbeaten = list(given.get("not_shown_better_than") or ())
    verdict = (
        f"it is not shown to be better than {joined(unbeaten, 'or')}"
        if unbeaten or given.get("best") is None
        else "it is better than all others beyond the intervals"
    )
    level = "95% intervals" if int(given["blocks"]) > 1 else "no intervals"
    return f"{said}; {verdict}; {level}, n = {int(given['games']):,} games."


def _interval(name: str, found: Difference) -> Interval:
    """Return a row of a chart of intervals."""
    low, high = found.interval or (math.nan, math.nan)
    mean = math.nan if found.mean is None else found.mean
    half = "" if found.half_width is None else f" ± {found.half_width:.4f}"
    return Interval(name, mean, low, high, f"{name}: {mean:+.4f}{half}")
