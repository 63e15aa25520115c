"""Chapters on ratings of whole logs at once: who is the best, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.present.day_paths import DATES, read_paths
from valmatch.present.document import (
    Block,
    Graph,
    Interval,
    Intervals,
    Line,
    Presentation,
    counted,
    joined,
)
from valmatch.present.source import RunFiles
from valmatch.storage.result_files import damaged
from valmatch.text.terminal import Sheet

RATINGS, COEFFICIENTS, SUPERIORITY = "ratings.csv", "coefficients.csv", "superiority.csv"

COLUMNS = ("rank", "player", "rating", "low", "high", "rank_low", "rank_high", "games", "status")

SHOWN = 30  # players that are drawn and listed: the first and the last, if there are more
DRAWN = 3  # players whose paths are drawn
NAMED = 5  # players of a kind who are named

MEANT = (
    "tied for first: nobody is shown to be better, by ranges of ranks that hold for all players"
    " together; rating: in points of Elo, 400 of which are odds of ten to one."
)


def chapter(run: RunFiles, log: str, given: Mapping[str, Any]) -> Presentation:
    """Return the chapter on a rating of all games of a log at once."""
    system, players, games = given["system"], int(given["players"]), int(given["games_used"])
    asked = (
        f"Who is the best of the {counted(players, 'player')} of {log}, by"
        f" {counted(games, 'game')} at once?"
    )
    made = Presentation(f"Rating of {log} by {system}", asked, glossary=MEANT)
    rated, others = rows_shown(run)
    made.finding = _found(given, rated, games, others.get("above", []))
    made.blocks.append(Block("Players", sheet=_players(rated, given), items=_left_out(others)))
    if any(row["low"] for row in rated):
        title = f"Ratings with their {given['level']:.0%} intervals"
        made.blocks.append(
            Block("Chart", charts=[Intervals(title, [*map(_interval, rated)])], figure="ratings")
        )
    if "drift" in given:
        made.blocks.append(Block("Paths", charts=[_paths(run, rated, given)], figure="paths"))
    if int(given["rated"]) > 1 and (run.folder / SUPERIORITY).exists():
        made.blocks.append(_superiority(run, int(given["rated"])))
    made.blocks.append(Block("Coefficients", sheet=_coefficients(run)))
    made.blocks.append(Block("How it was rated", items=_facts(given)))
    made.blocks = [block for block in made.blocks if block.items or block.charts or block.sheet]
    return made


def rows_shown(
    run: RunFiles, players: Sequence[str] = ()
) -> tuple[list[dict[str, str]], dict[str, list[str]]]:
    """Return the players to be shown, best first, and who could not be rated, by status."""
    first: list[dict[str, str]] = []
    last: list[dict[str, str]] = []
    others: dict[str, list[str]] = {}
    for cells in run.rows(RATINGS, COLUMNS):
        row = dict(zip(COLUMNS, cells, strict=True))
        if players and row["player"] not in players:
            continue
        if not row["rating"]:
            others.setdefault(row["status"], []).append(row["player"])
        elif players or len(first) < SHOWN // 2:
            first.append(row)
        else:
            last = [*last[-(SHOWN // 2 - 1) :], row]
    return [*first, *last], others


def superiority_of(run: RunFiles, players: Sequence[str]) -> Floats:
    """Return the (players, players) probabilities that who is first of a pair is the stronger."""
    wanted = {name: k for k, name in enumerate(players)}
    found = np.full((len(players), len(players)), math.nan)
    with damaged(run.folder / SUPERIORITY):
        for player, *cells in run.rows(SUPERIORITY, ["player", *players]):
            if player in wanted:
                found[wanted[player]] = [float(cell) for cell in cells]
    return found


def percent_of(chance: float) -> str:
    """Return a probability in whole percents, none of which is certain.

    Examples
    --------
    >>> percent_of(0.5), percent_of(0.9951), percent_of(0.0)
    ('50', '>99', '<1')
    """
    if 0.01 <= chance <= 0.99:
        return f"{100.0 * chance:.0f}"
    return ">99" if chance > 0.5 else "<1"


def _superiority(run: RunFiles, rated: int) -> Block:
    """Return how likely each player is stronger than each other one, of many players the first."""
    names = [name for (name,) in islice(run.rows(RATINGS, ("player",)), min(rated, SHOWN))]
    sheet = Sheet.of("number", "player", *(str(k + 1) for k in range(len(names))))
    for k, row in enumerate(superiority_of(run, names)):
        cells = [percent_of(chance) if column != k else "" for column, chance in enumerate(row)]
        sheet.add(str(k + 1), names[k], *cells)
    if rated > SHOWN:
        sheet.notes.append(f"The first {SHOWN} of {rated:,} rated players; {SUPERIORITY} has all.")
    said = (
        "Probability in percent that the player of a row is stronger than the one of that number."
    )
    return Block("Who is stronger", paragraphs=[said], sheet=sheet)


def _half(row: Mapping[str, str]) -> str:
    return f"{0.5 * (float(row['high']) - float(row['low'])):.1f}" if row["low"] else ""


def _found(
    given: Mapping[str, Any],
    rated: Sequence[Mapping[str, str]],
    games: int,
    unbeaten: Sequence[str],
) -> str:
    """Say who is first, who cannot be told from them, and how many have a rating."""
    n = f"n = {games:,} games"
    if not rated:
        return f"Nobody can be rated by these games (no interval, {n})."
    best, tied = rated[0], list(given["tied_for_first"] or ())
    half = _half(best)
    said = f"Player {best['player']} is first with a rating of {float(best['rating']):.1f}"
    if unbeaten:
        said = f"{_named(unbeaten)}: never beaten by who is rated, no finite rating. Of the rated,"
        said += f" player {best['player']} has the highest rating, {float(best['rating']):.1f}"
    said += f" ± {half}" if half else ""
    if int(given["rated"]) == 1:
        said += ", and nobody else has a rating"
    elif len(tied) == 1:
        said += ", and better than all others"
    elif tied:
        said += f"; {len(tied):,} are tied for first ({_named(tied)})"
    said += f"; {given['rated']:,} of {counted(int(given['players']), 'player')} are rated"
    level = f"{given['level']:.0%} intervals" if half else "no interval"
    return f"{said}; {level}, {n}."


def _named(players: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = len(players) - NAMED
    return f"{', '.join(players[:NAMED])} and {more:,} more" if more > 0 else joined(players)


def _players(rated: Sequence[Mapping[str, str]], given: Mapping[str, Any]) -> Sheet | None:
    """Return a table of players."""
    if not rated:
        return None
    spread = f"± {given['level']:.0%}"
    sheet = Sheet.of("rank", "player", "rating", spread, "ranks", "games")
    for row in rated:
        ranks = f"{row['rank_low']}-{row['rank_high']}" if row["rank_low"] else ""
        cells = (row["rank"], row["player"], f"{float(row['rating']):.1f}", _half(row), ranks)
        sheet.add(*cells, row["games"])
    if int(given["rated"]) > len(rated):
        sheet.notes.append(
            f"The first and the last of {int(given['rated']):,} rated players; {RATINGS} has all."
        )
    return sheet


def _left_out(others: Mapping[str, Sequence[str]]) -> list[str]:
    """Say how many have no rating, and why."""
    why = {
        "above": "never lost to the rated players' side: any number would be too low",
        "below": "never won against it: any number would be too high",
        "unlinked": "no chain of wins leads to the rated players, or back",
    }
    return [
        f"{counted(len(names), 'player')} {status}" + (f" ({why[status]})" if status in why else "")
        for status, names in others.items()
    ]


def _interval(row: Mapping[str, str]) -> Interval:
    """Return a row of the chart."""
    mean = float(row["rating"])
    low, high = (float(row[name]) if row[name] else math.nan for name in ("low", "high"))
    half = _half(row)
    said = f"{row['player']}: {mean:.1f}" + (f" ± {half}" if half else "")
    return Interval(row["player"], mean, low, high, said)


def _paths(run: RunFiles, rated: Sequence[Mapping[str, str]], given: Mapping[str, Any]) -> Graph:
    """Return the ratings of the best over the days on which they played."""
    best = [row["player"] for row in rated[:DRAWN]]
    first = given["first_day"]
    paths, over = read_paths(run, best)
    start = float(np.datetime64(first, "D").astype(np.int64)) if over == DATES else 0.0
    lines = [
        Line(name, path.days - start, path.ratings, low, high, colour=k)
        for k, (name, path) in enumerate(paths.items())
        for low, high in [(path.low, path.high) if given["quantile"] else (None, None)]
    ]
    day = f"days after {first}" if over == DATES else over
    return Graph("Ratings of the best by day played", day, "rating [points]", lines)


def _coefficients(run: RunFiles) -> Sheet | None:
    """Return a table of what was fitted beside the players."""
    columns = ("name", "value", "low", "high", "unit")
    if not (run.folder / COEFFICIENTS).exists():
        return None
    sheet = Sheet.of("coefficient", "value", "low", "high", "unit")
    for name, *numbers, unit in run.rows(COEFFICIENTS, columns):
        sheet.add(name, *(f"{float(number):.4g}" if number else "" for number in numbers), unit)
    return sheet if sheet.rows else None


def _facts(given: Mapping[str, Any]) -> list[str]:
    """Return sentences on the model and its intervals."""
    facts = [f"Ratings and their intervals are relative to: {given['zero']}."]
    if "drift" in given:
        facts[0] = "Ratings are relative to the mean of all players' first days."
        facts.append(f"Ratings and ranks are of the last day of the log, {given['last_day']}.")
        facts.append(
            f"A rating moves by a drift of {given['drift']:.4g} points a square-root day, from a"
            f" first day with a deviation of {given['deviation']:g} points."
        )
        if given["tuning"]:
            more = given["tuning"]["evidence"] - given["tuning"]["unmoved"]
            facts.append(
                f"The drift is the one of the greatest evidence (Laplace), {more:.2f} above the log"
                " evidence of none."
            )
    clusters = given["clusters"]
    by = f" by {clusters:,} clusters" if clusters else ""
    facts.append(f"Intervals: {given['interval']}{by}.")
    if given["draws"]:
        facts.append(f"Draws: {given['draws']}.")
    if given["prior"] is not None:
        facts.append(f"Prior: ratings scatter with a deviation of {given['prior']:g} points.")
    if int(given["groups"]) > 1:
        facts.append(
            f"{given['groups']:,} groups of players are linked by no game: differences between them"
            " rest on the prior alone."
        )
    return facts
