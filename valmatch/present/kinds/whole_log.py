"""Presentation of a rating of a whole log: who is the best, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from valmatch.game_logs.whole_log.result import (
    HOME,
    UNBEATEN,
    UNBEATEN_BY_RATED,
    WINLESS,
    BatchRating,
    CoefficientRow,
    PlayerRow,
    games_to_show,
    superiority_of,
    unrated_kind,
)
from valmatch.present import document as d
from valmatch.present.kinds.rate import check_rated, log_name
from valmatch.ratings.bradley_terry.connections import ABOVE, BELOW
from valmatch.statistics.rounding import formatted

BEST = 10  # players that are listed where no number is given
SHOWN = 30  # players that are drawn: the first and the last, if there are more
DRAWN = 5  # players whose paths are drawn
NAMED = 5  # players of a kind who are named

MEANT = (
    "tied for first: nobody is shown to be better, by ranges of ranks that hold for all players"
    " together; rating: in points of Elo, 400 of which are odds of ten to one."
)


def present(result: BatchRating, view: d.View) -> d.Presentation:
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
    blocks = []
    if result.posterior.covariance is not None and len(result.posterior.names) > 1:
        blocks.append(_superiority(result))
    blocks.append(d.Block("How it was rated", items=_facts(facts)))
    return d.Presentation(
        f"Rating of {log} by {result.system}",
        f"Who is the best of the {d.counted(int(facts['players']), 'player')} of {log}, by"
        f" all {d.counted(int(facts['games_used']), 'game')} together?",
        finding=_finding(result),
        glossary=MEANT,
        tables=tables,
        charts=charts,
        blocks=blocks,
    )


def _finding(result: BatchRating) -> str:
    """Say who is first, who cannot be told from them, and how many have a rating."""
    facts, tied = result.facts, result.tied_for_first
    n = f"n = {facts['games_used']:,} games"
    best = next((row for row in result.players if row.rating is not None), None)
    if best is None:
        return f"Nobody can be rated by these games (no interval, {n})."
    half = formatted(_half(best), ".1f")
    text = f"Player {best.player} is first with a rating of {best.rating:.1f}"
    unrated = result.unrated
    above = [*unrated.get(UNBEATEN, ()), *unrated.get(UNBEATEN_BY_RATED, ())]
    if above:
        text = f"{_named(above)}: {UNBEATEN}, no finite rating. Of the rated,"
        text += f" player {best.player} has the highest rating, {best.rating:.1f}"
    text += f" ± {half}" if half else ""
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
    text += f"; {facts['rated']:,} of {d.counted(int(facts['players']), 'player')} are rated"
    level = f"{facts['level']:.0%} intervals" if half else "no interval"
    return f"{text}; {level}, {n}."


def _named(players: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = len(players) - NAMED
    return f"{', '.join(players[:NAMED])} and {more:,} more" if more > 0 else d.joined(players)


def _half(row: PlayerRow | CoefficientRow) -> float | None:
    return None if row.low is None or row.high is None else 0.5 * (row.high - row.low)


def _players(listed: Sequence[PlayerRow], most: int, result: BatchRating) -> d.TextTable:
    """Return a table of players: the unbeaten on top, the winless at the foot."""
    above, rated, below = (
        [row for row in listed if row.rating is None and row.status == ABOVE],
        [row for row in listed if row.rating is not None],
        [row for row in listed if row.rating is None and row.status == BELOW],
    )
    rows = [*above[:NAMED], *rated[:most], *below[:NAMED]]
    columns = {
        "rank": [formatted(row.rank, "d") for row in rows],
        "player": [row.player for row in rows],
        "rating": [
            unrated_kind(row) if row.rating is None else f"{row.rating:.1f}" for row in rows
        ],
    }
    if result.facts["quantile"] is not None:
        columns[f"± {result.facts['level']:.0%}"] = [formatted(_half(row), ".1f") for row in rows]
    if any(row.rank_low is not None for row in rows):
        columns["ranks"] = [
            f"{row.rank_low}-{row.rank_high}" if row.rank_low is not None else "" for row in rows
        ]
    for name in ("games", "wins", "losses", "draws"):
        columns[name] = [f"{getattr(row, name)}" for row in rows]
    if len({row.group for row in result.players if row.rating is not None}) > 1:
        columns["group"] = [f"{row.group}" for row in rows]
    table = d.TextTable.of_columns(columns.items())
    table.repeated = 2
    kinds = dict.fromkeys(unrated_kind(row) for row in rows if row.rating is None)
    table.notes += [f"{kind}: no finite rating" for kind in kinds]
    return table


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
    told = ", ".join(limits[name].format(limit) for name, limit in gate.items())
    columns = {
        "player": [row.player for row in rows],
        "rating": [formatted(row.rating, ".1f") for row in rows],
        "half_width": [formatted(_half(row), ".1f") for row in rows],
        "games": [f"{row.games}" for row in rows],
        "games more": ["unknown" if n is None else f"{n:,}" for n in more],
    }
    table = d.TextTable.of_columns(
        ((name, cells[:most]) for name, cells in columns.items()),
        title=f"Not shown yet ({len(rows):,}): {told} does not hold.",
    )
    if len(rows) > most:
        table.notes.append(f"The first {most} of {len(rows):,}.")
    return table


# How firm a ranking is.


def _share(share: float) -> str:
    return f"{100.0 * share:.3g} %"


def _decided(row: Mapping[str, Any], first: Mapping[str, Any]) -> str:
    """Say how few games decide who is first."""
    if row["games"] is None:
        return "no games were found that decide who is first"
    without = f"without {d.counted(row['games'], 'game')} ({_share(row['share'])})"
    text = f"{without} player {row['player_b']} would be ahead of {row['player_a']}"
    if first["expected"] is not None:
        text += f", in logs like this without {first['expected']:.1f}"
        text += f" ({first['low']:.0f} to {first['high']:.0f})"
    return text


def _boundaries(firm: Mapping[str, Any]) -> d.TextTable:
    """Return the fewest games found that decide each boundary."""
    title = "Fewest games found without which the second of two would be ahead"
    table = d.TextTable.of("ranks", "player_a", "player_b", "games", "share", title=title)
    table.heads += ["expected", "in simulated logs"]
    for row in firm["boundaries"]:
        cells = ["none found", ""] if row["games"] is None else []
        cells = cells or [f"{row['games']:,}", _share(row["share"])]
        if row["expected"] is not None:
            cells += [f"{row['expected']:.1f}", f"{row['low']:.0f} to {row['high']:.0f}"]
        ranks = f"{row['boundary']}-{row['boundary'] + 1}"
        table.add(ranks, row["player_a"], row["player_b"], *cells)
    table.repeated = 3
    logs = d.counted(firm["simulated_logs"], "simulated log")
    table.notes.append(
        "An upper bound: fewer may do. Each was tried by rating the other games. Expected: the mean"
        f" of {logs}, by the influence of games alone."
    )
    return table


def _firmness(firm: Mapping[str, Any]) -> list[str]:
    """Return a sentence on each other fact that firmness rests on."""
    sentences = []
    for row in firm["bought"]:
        wins = "No number of wins" if row["wins"] is None else d.counted(row["wins"], "more win")
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
            f"Both orders: {swapped['turned']:,} of {d.counted(swapped['pairs'], 'judgement')} turn"
            f" over with the order, {100.0 * swapped['share']:.1f} % ({ends[0]} to {ends[1]}); by"
            f" the others alone {_moved(moved)}."
        )
    for covariate in firm["covariates"]:
        moved = [row["player"] for row in covariate["changed"] or ()]
        text = "nobody can be rated" if covariate["changed"] is None else _moved(moved)
        sentences.append(f"Without {covariate['name']}: {text}.")
    best = firm["best_of"]
    ahead = ", ".join(f"{row['points']:.1f} (N = {row['n']:,})" for row in best["ahead"])
    return [
        *sentences,
        f"Best of N: who enters N equal variants, {best['games']:,.0f} games each, and keeps the"
        f" best is ahead by luck alone by so many points: {ahead}.",
    ]


def _moved(players: Sequence[str]) -> str:
    return f"{d.counted(len(players), 'rank')} change" + (f" ({_named(players)})" * bool(players))


# Charts.


def _ratings(rated: Sequence[PlayerRow], result: BatchRating, view: d.View) -> list[d.Intervals]:
    """Return ratings with their intervals, the best at the top; of many players both ends."""
    rows = list(rated)
    if view.players:
        rows = [row for row in rated if row.player in view.players]
        check_rated(view.players, [row.player for row in rated])
    elif len(rows) > SHOWN:
        rows = [*rows[: SHOWN // 2], *rows[-(SHOWN // 2) :]]
    intervals = []
    for row in rows:
        mean, low, high = d.floats((row.rating, row.low, row.high)).tolist()
        half = formatted(_half(row), ".1f")
        label = f"{row.player}: {mean:.1f}" + (f" ± {half}" if half else "")
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
        if dated:
            days = np.array([row.day for row in rows], "M8[D]") - np.datetime64(first, "D")
        else:
            days = np.array([row.day for row in rows])
        columns = ("rating", "low", "high")
        ratings, low, high = (d.floats(getattr(row, key) for row in rows) for key in columns)
        xs = days.astype(np.float64)
        line = d.Line(name, xs, ratings, low, high, colour=k)
        known = np.isfinite(low).any()
        lines.append(line if known else d.Line(name, xs, ratings, colour=k))
    day = f"days after {first}" if dated else "day"
    return d.Graph("Ratings of the best by day played", day, "rating [points]", lines)


def percent_of(chance: float) -> str:
    """Return a probability in whole percents, none of which is certain."""
    if 0.01 <= chance <= 0.99:
        return f"{100.0 * chance:.0f}"
    return ">99" if chance > 0.5 else "<1"


def _superiority(result: BatchRating) -> d.Block:
    """Return how likely each player is stronger than each other one, of many players the first."""
    posterior, covariance = result.posterior, result.posterior.covariance
    assert covariance is not None
    names, variances = posterior.names[:SHOWN], np.diag(covariance)
    n = len(names)
    table = d.TextTable.of("number", "player", *(str(k + 1) for k in range(n)))
    for k, name in enumerate(names):
        leads = posterior.mean[k] - posterior.mean[:n]
        errors = np.sqrt(np.maximum(variances[k] + variances[:n] - 2.0 * covariance[k, :n], 0.0))
        chances = superiority_of(leads, errors).tolist()
        cells = [percent_of(chance) if other != k else "" for other, chance in enumerate(chances)]
        table.add(str(k + 1), name, *cells)
    if len(posterior.names) > SHOWN:
        of = f"{len(posterior.names):,} rated players"
        table.notes.append(f"The first {SHOWN} of {of}; superiority.csv has all.")
    note = "Probability in percent that the player of a row is stronger than the one of a number."
    return d.Block("Who is stronger", [note], table=table)


def _facts(facts: Mapping[str, Any]) -> list[str]:
    """Return sentences on the model and its intervals."""
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
