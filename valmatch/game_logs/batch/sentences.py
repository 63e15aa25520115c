"""Sentences below the table of a rated whole log."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from valmatch.errors import option
from valmatch.game_logs.batch.options import NONE, BatchOptions
from valmatch.game_logs.batch.result import BatchRating
from valmatch.ratings.bradley_terry.connections import ABOVE, BELOW, UNLINKED
from valmatch.ratings.bradley_terry.fit import NoEstimate
from valmatch.text.terminal import shown

FEW_CLUSTERS = 20
_NAMED = 10

_WHY = {
    ABOVE: "above the others (never beaten by them)",
    BELOW: "below them (never won against them)",
    UNLINKED: "not linked to them",
}


def sentences(
    found: BatchRating,
    trouble: NoEstimate | None,
    players: Sequence[str],
    coefficients: Sequence[str],
    batch: BatchOptions,
    strengths: int,
) -> list[str]:
    """Return what has to be said of a rating, a line each."""
    if trouble is not None:
        if batch.system_of.paths:
            return [_path_trouble(trouble, coefficients, strengths)]
        return [_trouble(trouble, players, coefficients, batch.prior is not None)]
    return [
        *_of_zero(found),
        *_of_paths(found),
        *_of_ties(found),
        *_of_limits(found, batch),
    ]


_WAYS = {
    "draw_weight": ("draws", "half"),
    "home_advantage": ("home", "none"),
}
"""Options without which a coefficient is not fitted; else it is a covariate."""


def _way_out(name: str) -> str:
    """Say how a coefficient is left out."""
    if name in _WAYS:
        argument, value = _WAYS[name]
        return f"{option(argument)} {value}"
    return f"a rating without {option('covariate')} {name}"


def _path_trouble(trouble: NoEstimate, coefficients: Sequence[str], strengths: int) -> str:
    """Say why there is no estimate of paths, which a prior tells, so that it is coefficients."""
    own = [coefficients[k - strengths] for k in trouble.parameters.tolist() if k >= strengths]
    if trouble.separated:
        named = own[0] if own else coefficients[-1]
        return f"no ratings: {named} has no finite estimate; {_way_out(named)} helps"
    return f"no ratings: the games do not tell apart {_listed(own)}; a rating without one helps"


def _trouble(
    trouble: NoEstimate, players: Sequence[str], coefficients: Sequence[str], prior: bool
) -> str:
    """Say why there is no estimate, and what helps."""
    n = len(players)
    own = [coefficients[k - n] for k in trouble.parameters.tolist() if k >= n]
    blamed = [players[k] for k in trouble.parameters.tolist() if k < n]
    helps = f"{option('prior')} D helps"
    if trouble.separated:
        if own:
            more = "" if prior else f", {option('prior')} D may"
            return (
                f"no ratings: {own[0]} has no finite estimate (the games are separated by it);"
                f" {_way_out(own[0])} helps{more}"
            )
        named = _listed(blamed[:_NAMED])
        return f"no ratings: no finite estimate, farthest off {named}; {helps}"
    what = _listed([*own, *blamed])
    return (
        f"no ratings: the games do not tell apart what belongs to {what}; {helps}, or a rating"
        " without it"
    )


def _listed(names: Sequence[str]) -> str:
    """Return up to ten names."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(shown, names[:_NAMED])) + more


def _of_zero(found: BatchRating) -> Iterator[str]:
    """Say against what zero ratings and their intervals are."""
    if found.facts["interval"] == NONE:
        return
    zero = "the anchors" if found.facts["zero"] == "anchors" else "the mean of all who are rated"
    if "drift" in found.facts:
        zero = "the mean of all players' first days"
    yield f"intervals ({found.facts['level']:.0%}, {found.facts['interval']}) are against {zero}"


def _of_paths(found: BatchRating) -> Iterator[str]:
    """Say of ratings that move when they hold, and by how much they move."""
    facts = found.facts
    if "drift" not in facts:
        return
    yield f"ratings are those of the last day of the log, {facts['last_day']}"
    tuning = facts["tuning"]
    if tuning is not None:
        more = tuning["evidence"] - tuning["unmoved"]
        yield (
            f"drift of the greatest evidence: {tuning['drift']:.4g} points a square-root day (log"
            f" evidence {tuning['evidence']:.2f}, {more:.2f} above that of no drift)"
        )
    if facts["standard_errors"] == "drawn" and facts["critical"] is not None:
        yield "too many days for exact standard errors: those of days are from 1,000 draws"


def _of_ties(found: BatchRating) -> Iterator[str]:
    tied, unbeaten = found.tied_for_first, any(row.status == ABOVE for row in found.players)
    if tied:
        among = " among the rated" if unbeaten else ""
        yield f"tied for first{among} ({len(tied)}): {_listed(tied)}"


def _of_limits(found: BatchRating, batch: BatchOptions) -> Iterator[str]:
    """Say what the numbers rest on, and who has none."""
    facts = found.facts
    if facts["score_scale"] < 1.0:
        yield (
            f"points are odds of a win against a loss: near equality {facts['score_scale']:.2f} of"
            " them count for the expected score"
        )
    clusters = facts["clusters"]
    if clusters is not None and clusters < max(FEW_CLUSTERS, facts["rated"]):
        yield (f"intervals are rough: {clusters} clusters, {facts['rated']} rated players")
    paths = batch.system_of.paths
    if (batch.prior is not None or paths) and facts["groups"] > 1:
        prior = "the prior" if paths else option("prior")
        yield (
            f"{facts['groups']} groups that no game links: differences between them rest on"
            f" {prior} alone"
        )
    if facts["interval"] != NONE and facts["critical"] is None and facts["rated"] > 1:
        yield (
            "too many players for ranges of ranks and differences: standard errors are from 1,000"
            " draws"
        )
    if found.bootstrap:
        yield from _of_bootstrap(found)
    missing = [row for row in found.players if row.rating is None]
    if missing:
        counts = {status: sum(row.status == status for row in missing) for status in _WHY}
        why = ", ".join(f"{n:,} {_WHY[status]}" for status, n in counts.items() if n)
        if unbeaten := [row.player for row in missing if row.status == ABOVE]:
            why += f"; unbeaten: {_listed(unbeaten)}"
        yield f"{len(missing):,} without a rating: {why}; {option('prior')} D rates all"


def _of_bootstrap(found: BatchRating) -> Iterator[str]:
    """Say how wide intervals by resampling are, compared with the others."""
    widths = {
        row.player: row.high - row.low
        for row in found.players
        if row.high is not None and row.low is not None
    }
    ratios = [
        (row.high - row.low) / widths[row.player]
        for row in found.bootstrap
        if row.high is not None and row.low is not None and widths.get(row.player)
    ]
    sometimes = sum(row.unrated > 0.0 for row in found.bootstrap)
    if not ratios:
        yield (
            "no interval of the bootstrap has an end on both sides: refits leave too many without a"
            " rating"
        )
    elif sometimes and found.facts["zero"] == "mean":
        yield (
            f"intervals of the bootstrap are not compared: {sometimes:,} of"
            f" {len(found.bootstrap):,} players lack a rating in some refits, which moves the zero"
        )
    else:
        yield f"intervals of the bootstrap: {statistics.median(ratios):.2f} times as wide (median)"
