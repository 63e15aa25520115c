"""Explanations of waits in the words of a rule set: documents that are printed, or a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from valmatch.experiments.replay_result import Ended
from valmatch.matching.plain_tickets.explaining import explain
from valmatch.matching.plain_tickets.judging import Lack, holds_from
from valmatch.matching.plain_tickets.pool import Pool
from valmatch.matching.plain_tickets.reasons import Failed, Reasons
from valmatch.matching.plain_tickets.timeline import Proposal
from valmatch.matching.tickets.building import missing
from valmatch.rule_sets.types import OF_PREDICATE
from valmatch.rule_sets.worlds import Ticket

COMPLETED = "COMPLETED"


def explained(
    pool: Pool,
    proposals: Sequence[Proposal],
    ended: Mapping[int, Ended],
    ticket: int | None = None,
) -> list[dict[str, Any]]:
    """Return why tickets waited."""
    chosen = [k for k in sorted(ended) if ended[k].status != COMPLETED]
    if ticket is not None:
        chosen = [ticket]
    until = max((ended[k].time for k in chosen), default=0.0)
    reasons = explain(pool, proposals, chosen, until)
    return [explanation(pool, reasons[k], ended[k]) for k in chosen]


def explanation(pool: Pool, reasons: Reasons, ended: Ended) -> dict[str, Any]:
    """Return why a ticket waited; the keys are those of ``explain.jsonl``."""
    ticket = pool.tickets[reasons.ticket]
    candidates = reasons.own.tried + reasons.others.tried
    names = [rule.name for rule in pool.table.rules]
    rules = [
        {
            "rule": names[number],
            "refused": found.refused,
            "share": found.refused / candidates if candidates else None,
            "alone": found.alone,
            "nearest": _failed(pool, reasons.ticket, found.nearest, [number]),
        }
        for number, found in sorted(reasons.rules.items())
    ]
    return {
        "search": pool.search,
        "ticket": ticket.id,
        "players": _players(ticket),
        "region": region(ticket),
        "joined": ticket.time,
        "status": ended.status,
        "ended": ended.time,
        "waited": ended.time - ticket.time,
        "unmatchable": missing(pool.table, ticket),
        "reviews": reasons.reviews,
        "looked_at": reasons.looked,
        "anchor": reasons.anchored,
        "refused_alone": {
            "no room" if number is None else names[number]: count
            for number, count in sorted(
                reasons.itself.items(), key=lambda one: -1 if one[0] is None else one[0]
            )
        },
        "tried": asdict(reasons.own),
        "tried_by_others": asdict(reasons.others),
        "rules": rules,
        "nearest": _failed(pool, reasons.ticket, reasons.nearest, None),
        "fullest": _failed(pool, reasons.ticket, reasons.fullest, None),
        "blocked_by": [
            {"tickets": [pool.tickets[k].id for k in by], "reviews": count}
            for by, count in reasons.blocked.most_common()
        ],
    }


def _players(ticket: Ticket) -> list[dict[str, Any]]:
    """Return who is in a ticket."""
    return [
        {"id": one.id, "attributes": one.attributes, "latency": one.latency}
        for one in ticket.players
    ]


def region(ticket: Ticket) -> str | None:
    """Return the region with the lowest mean latency, of those that all report; None of none."""
    first, *others = (one.latency for one in ticket.players)
    both = [name for name in first if all(name in other for other in others)]
    total = {name: sum(one.latency[name] for one in ticket.players) for name in both}
    return min(total, key=lambda name: (total[name], name), default=None)


def _failed(
    pool: Pool, ticket: int, failed: Failed | None, only: Sequence[int] | None
) -> dict[str, Any] | None:
    """Return a match that failed: who was in it, what refused it, and what would have let it hold.

    Only some of the rules that refused it are named, all where it is None.
    """
    if failed is None:
        return None
    match, rules = failed.match, failed.rules if only is None else only
    sizes = match.sizes(failed.time)
    return {
        "time": failed.time,
        "age": failed.time - match.born,
        "anchor": pool.tickets[match.tickets[0]].id,
        "with": [pool.tickets[k].id for k in match.tickets if k != ticket],
        "players": match.players,
        "teams": {
            team.name: {"players": len(players), "least": least, "most": most}
            for team, players, (least, most) in zip(
                pool.table.teams, match.teams, sizes, strict=True
            )
        },
        "rules": [
            {
                "rule": pool.table.rules[number].name,
                "needs": [_needed(pool, number, lack) for lack in failed.lacks_of(number)],
                "holds_from": holds_from(match, failed.time, failed.partial, number),
            }
            for number in rules
        ],
    }


def _needed(pool: Pool, rule: int, lack: Lack) -> dict[str, Any]:
    """Return what a rule needs, in the words of the rule set."""
    called = OF_PREDICATE[type(pool.table.rules[rule].predicate)].expandable
    names = {key: name for name, key in called.items()}
    return {"property": names[lack.key], "needed": lack.needed, "in_force": lack.held}
