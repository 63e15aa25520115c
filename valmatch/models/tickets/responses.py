"""The responses of the model `tickets`, of all tickets and of groups of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from valmatch.models.model import NOT_NEGATIVE, SHARE, Part, Response, Responses
from valmatch.models.tickets.factors import HOURS, TicketsFactors, kind_of


def level(name: str, unit: str, meaning: str, part: Part | None = None) -> Response:
    """Return a response that is 0 or more."""
    return Response(name, unit, meaning, part=part, limits=NOT_NEGATIVE)


def number(name: str, meaning: str, part: Part | None = None) -> Response:
    """Return a response that counts."""
    return Response(name, "", meaning, whole=True, part=part, limits=NOT_NEGATIVE)


def share(name: str, meaning: str, part: Part | None = None) -> Response:
    """Return a response that is a share."""
    return Response(name, "", meaning, part=part, limits=SHARE)


def _gap(name: str, meaning: str) -> Response:
    return Response(name, "", meaning, limits=(0.0, 0.5))


WAIT = level("time_to_match", "seconds", "mean wait of matched tickets")
WAITS = [
    level(
        f"time_to_match_p{percent}",
        "seconds",
        f"{percent}th percentile of the wait of matched tickets",
    )
    for percent in (50, 90, 99)
]
MATCHED = "share of tickets that were matched"

RESPONSES = Responses(
    WAIT,
    *WAITS,
    share("matched_fraction", MATCHED),
    number("n_tickets", "tickets that came"),
    number("tickets_matched", "tickets matched"),
    number("tickets_timed_out", "tickets that timed out"),
    number("tickets_cancelled", "tickets cancelled, or dropped as a match was not accepted"),
    number("tickets_searching", "tickets that wait at the end"),
    number("never_matchable", "tickets that no match can ever take"),
    level("current_tickets", "tickets", "time average of the number of waiting tickets"),
    number("n_matches", "matches"),
    level("players_per_match", "players", "mean number of players of a match"),
    share("full_share", "share of matches that are full"),
    level("players_in_matches", "players", "time average of the number of players in matches"),
    level(
        "step_used",
        "",
        "mean over matches of the number of expansion steps that their age had passed",
    ),
    level(
        "latency",
        "milliseconds",
        "mean latency of players to the data centre of the match, that of the least mean",
    ),
    level("latency_p95", "milliseconds", "95th percentile of these latencies"),
    share(
        "latency_over_limit",
        "share of these latencies over the limit that the rule set begins with",
    ),
    level(
        "true_team_diff",
        "points",
        "mean over matches of the largest difference between mean true skills of teams",
    ),
    level("seen_team_diff", "points", "the same of what the matchmaker sees"),
    _gap(
        "win_gap",
        "mean over matches of |p - 1/2|, p of the best team against the worst, by true skill",
    ),
    level(
        "worst_wait_ratio",
        "",
        "90th percentile of the wait in the worst group by size or home, over that of all",
    ),
    level(
        "matchmaking_hours",
        "hours",
        "time in which a ticket waits: at most this is charged for evaluating",
    ),
)

# What is measured of a group of tickets.
OF_GROUPS = (
    WAIT,
    WAITS[1],
    share("matched_fraction", MATCHED),
    share("timed_out_fraction", "share of tickets that timed out"),
    level("latency", "milliseconds", "mean latency of tickets in matches"),
    _gap("win_gap", "mean over tickets of |p - 1/2| of the match"),
    share(
        "win_prob", "mean over tickets in matches of two teams of the chance to win, by true skill"
    ),
)

# What is measured of pools that are looked at again.
POOLS = (
    Response(
        "search_gap",
        "",
        "share of the players whom an exhaustive search matches that a pass leaves out, in pools of"
        " the latest tickets",
        limits=(-math.inf, 1.0),
    ),
    share(
        "blocked_by",
        "share of reviews after which others would have a match but for one of the oldest tickets",
    ),
)

# What is measured of matches as they run.
BACKFILL = (
    number("players_left", "players who left a match early"),
    number("players_backfilled", "players who joined a match that ran"),
    number("backfill_tickets", "backfill tickets"),
    share("backfill_filled", "share of backfill tickets that brought players"),
    level("time_to_fill", "seconds", "mean wait of backfill tickets that brought players"),
    share("places_taken", "share of the places of running matches that are taken"),
    share("full_time", "share of their time in which matches are full"),
    _gap(
        "played_win_gap",
        "time mean over running matches of |p - 1/2| by the true skills of who is there",
    ),
)

REASONS = {
    "party": "larger than every team",
    "value": "without a value that has no default",
    "latency": "over the last limit in all data centres",
}
"""Why no match can ever take a ticket; of several the first."""

DECILES, QUARTERS = 10, 4


def further_responses(factors: TicketsFactors, of: str) -> Iterator[Response]:
    """Yield the responses of one kind of groups that factors ask for."""
    if of == "steps":
        for step in range(len(passed_waits(factors.expansions)) + 1):
            meaning = f"share of matches whose age had passed {step} expansion steps"
            part = Part("step_used", "step", str(step))
            yield share(f"step_used.{step}", meaning, part=part)
    elif of == "rules":
        for name in rule_names(factors.rules):
            for verdict, meaning in (("passed", "let pass"), ("failed", "refused")):
                part = Part(f"rule_{verdict}", "rule", name)
                yield number(f"rule_{verdict}.{name}", f"candidates that {name} {meaning}", part)
    elif of == "reasons":
        for name, meaning in REASONS.items():
            part = Part("never_matchable", "reason", name)
            yield number(f"never_matchable.{name}", f"tickets that are {meaning}", part)
    elif of == "pools":
        yield from POOLS
    elif of == "backfill":
        yield from BACKFILL
    else:
        by = BY[of]
        for measure in OF_GROUPS:
            for _, name in groups(factors, of):
                meaning, part = f"{measure.meaning}; by {by}: {name}", Part(measure.name, by, name)
                full, limits = f"{measure.name}.{name}", measure.limits
                yield Response(full, measure.unit, meaning, part=part, limits=limits)


BY = {
    "sizes": "size",
    "regions": "region",
    "hours": "hour",
    "deciles": "skill",
    "attributes": "attribute",
}
"""By what tickets are grouped, for each value of `measure` that groups them."""


def groups(factors: TicketsFactors, of: str) -> list[tuple[str, str]]:
    """Return by what tickets are grouped, and the names of the groups."""
    if of == "sizes":
        names = [f"size_{size}" for size in range(1, len(factors.parties.shares) + 1)]
    elif of == "regions":
        names = list(factors.regions.shares)
    elif of == "hours":
        hours = min(HOURS, math.ceil(factors.hours))
        names = [f"{hour}-{hour + 1}h" for hour in range(hours)]
    elif of == "deciles":
        names = [f"decile_{number}" for number in range(1, DECILES + 1)]
    else:
        laws = factors.attributes.items()
        return [(name, f"{name}.{value}") for name, law in laws for value in values_of_law(law)]
    return [(BY[of], name) for name in names]


def values_of_law(law: Mapping[str, Any]) -> list[str]:
    """Return the values of an attribute by which tickets are grouped: of numbers quarters."""
    kind = kind_of(law)
    if kind == "numbers":
        return [f"quarter_{number}" for number in range(1, QUARTERS + 1)]
    return list(law["lists"] if kind == "lists" else law)


def passed_waits(expansions: Mapping[str, object]) -> set[float]:
    """Return the ages at which something changes, as far as all steps are there."""
    waits: set[float] = set()
    for properties in expansions.values():
        for steps in properties.values() if isinstance(properties, dict) else ():
            waits |= {float(step["wait"]) for step in steps if isinstance(step, dict)}
    return waits


def rule_names(rules: Mapping[str, Any]) -> list[str]:
    """Return the names of rules among the values of a rule set, in order."""
    return [
        name
        for name, values in rules.items()
        if not (name == "algorithm" and "expansionAgeSelection" in values)
        and not (name == "teams" and all(isinstance(value, dict) for value in values.values()))
    ]
