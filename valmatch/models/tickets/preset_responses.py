"""Responses that only the rule of a living matchmaker has."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from valmatch.kernels.arrays import Bools, Floats
from valmatch.models.model import ANY, NOT_NEGATIVE, SHARE, Part, Response
from valmatch.models.tickets.averages import mean
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.models.tickets.groups import Replication, figures
from valmatch.models.tickets.matchmaking import users_by_ticket

BEYOND = (2.0, 2.5, 3.0)
"""Standard deviations of skill off the mean from which on tickets are looked at by themselves."""

RECENTLY = 600.0  # seconds within which the same opponents are a repetition

OF_THE_FAR = ("matched_fraction", "time_to_match", "time_to_match_p90")


def preset_responses(factors: TicketsFactors) -> Iterator[Response]:
    """Yield the responses of a rule of a preset; none of a rule set."""
    numbers = factors.rule.numbers()
    if numbers is None:
        return
    unit, meaning = numbers.value
    yield Response("match_value", unit, f"mean over matches of the {meaning}", limits=ANY)
    yield Response(
        "skipped",
        "",
        "share of matches in which an older ticket, which waits on, would have done in place of a"
        " member",
        share_of="n_matches",
        limits=SHARE,
    )
    yield Response(
        "candidates", "", "candidates that are valued, a review in the mean", limits=NOT_NEGATIVE
    )
    yield Response("reviews", "", "reviews", whole=True, limits=NOT_NEGATIVE)
    yield Response(
        "skill_spread",
        "points",
        "mean over matches of the standard deviation of the true skills of all players",
        limits=NOT_NEGATIVE,
    )
    if factors.ratings.users is not None:
        yield Response(
            "repeat_share",
            "",
            "share of matches of duels whose players met in the ten minutes before",
            limits=SHARE,
        )
    for beyond in BEYOND:
        for name in OF_THE_FAR:
            is_share = name == "matched_fraction"
            yield Response(
                f"{name}.beyond_{beyond:g}sd",
                "" if is_share else "seconds",
                f"{name} of tickets with a mean true skill over {beyond:g} skill.std off the mean",
                limits=SHARE if is_share else NOT_NEGATIVE,
            )
    if numbers.relaxes:
        yield Response(
            "relaxed",
            "",
            "share of reviews that ask for less than threshold, as the population is small",
            share_of="reviews",
            limits=SHARE,
        )
    if numbers.believes:
        yield Response(
            "win_error",
            "",
            "mean over matches of the difference of believed and true win chance",
            limits=SHARE,
        )
        for size in _sizes(factors):
            yield Response(
                f"believed_win_prob.size_{size}",
                "",
                f"mean over tickets in matches of the believed chance to win; by size: size_{size}",
                part=Part("believed_win_prob", "size", f"size_{size}"),
                limits=SHARE,
            )


def _sizes(factors: TicketsFactors) -> range:
    """Return the sizes of parties that are looked at by themselves."""
    every = range(1, len(factors.parties.shares) + 1)
    return every if "sizes" in factors.measure else range(0)


def measure_preset(found: Replication, made: Bools) -> dict[str, float]:
    """Return those responses.

    Shapes: `made` (matches,).
    """
    report, factors, numbers = found.report, found.factors, found.factors.rule.numbers()
    if report is None or numbers is None:
        return {}
    values: dict[str, float] = {
        "match_value": mean(report.values[made]),
        "skipped": mean(report.skipped[made]),
        "candidates": report.examined / report.reviews if report.reviews else math.nan,
        "reviews": report.reviews,
        "skill_spread": mean(skill_spreads(found)[made]),
    }
    if factors.ratings.users is not None:
        values["repeat_share"] = mean(repeated(found)[made])
    skills = np.bincount(found.drawn.of, found.drawn.skills, found.drawn.times.size)
    off = np.abs(skills / found.drawn.sizes - factors.skill.mean)
    for beyond in BEYOND:
        own = figures(found, off > beyond * factors.skill.std)
        values |= {f"{name}.beyond_{beyond:g}sd": own[name] for name in OF_THE_FAR}
    if numbers.relaxes:
        values["relaxed"] = report.relaxed / report.reviews if report.reviews else math.nan
    if numbers.believes:
        values |= _beliefs(found, report.chances, made)
    return values


def skill_spreads(found: Replication) -> Floats:
    """Return the standard deviation of the true skills of the players of each match."""
    matches, n = found.matches, found.played.times.size
    skills = found.drawn.skills[matches.people]
    of, players = matches.of_players, matches.players
    means = np.bincount(of, skills, n) / players
    return np.asarray(np.sqrt(np.bincount(of, (skills - means[of]) ** 2, n) / players))


def _beliefs(found: Replication, chances: Floats, made: Bools) -> dict[str, float]:
    """Return what is believed of win chances, against what is true."""
    played, n = found.played, found.drawn.times.size
    first = played.teams == 0
    own = np.where(first, chances[played.matches], 1.0 - chances[played.matches])
    believed = np.full(n, np.nan)
    believed[played.tickets] = own
    true = np.full(made.size, np.nan)
    true[played.matches[first]] = found.matches.wins[played.tickets[first]]
    values = {"win_error": mean(np.abs(chances - true)[made])}
    for size in _sizes(found.factors):
        group = found.came & (found.drawn.sizes == size)
        values[f"believed_win_prob.size_{size}"] = mean(believed[group])
    return values


def repeated(found: Replication) -> Bools:
    """Return which matches are of the same two users as one in the ten minutes before."""
    users, played = users_by_ticket(found.drawn), found.played
    again = np.zeros(played.times.size, np.bool_)
    last: dict[tuple[int, ...], float] = {}
    ends = np.searchsorted(played.matches, np.arange(played.times.size + 1))
    for number, time in enumerate(played.times.tolist()):
        own = users[played.tickets[ends[number] : ends[number + 1]]]
        key = tuple(sorted(own.tolist()))
        again[number] = time - last.get(key, -math.inf) < RECENTLY
        last[key] = time
    return again
