"""Why a ticket of a replay or of a simulation waited: what its folder is of is played again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.execution.chunks import build
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.files import read_text
from valmatch.matching.explaining import Failed, Reasons, explain
from valmatch.matching.plain_tickets import Judge, Pool, holds_from, missing
from valmatch.matching.tickets.columns import SEARCHES, Document, Search
from valmatch.matching.tickets.playing import Outcome, play
from valmatch.matching.tickets.reading import WorldReading, read_world
from valmatch.models.tickets.model import TicketsModel, TicketWorld
from valmatch.rule_sets.table import Lack
from valmatch.rule_sets.types import OF_PREDICATE
from valmatch.storage.contents import MANIFEST
from valmatch.storage.manifest import Manifest, SimulateManifest, command_of, read_manifest
from valmatch.text.suggestions import closest_name
from valmatch.text.terminal import shown

REPLAY, SIMULATE = "rules replay", "simulate"
DONE = "COMPLETED"  # the status of a ticket that was matched


def explain_ticket(
    folder: PathLike, ticket: str, *, search: str | None = None
) -> dict[Search, dict[str, Any]]:
    """Return why a ticket waited, whatever has become of it, by search."""
    path = arguments.path("folder", folder)
    command = command_of(path)
    if command not in (REPLAY, SIMULATE):
        ours = f"valmatch {REPLAY} --out or valmatch {SIMULATE} tickets --out makes one"
        raise InputError(f"{path}: no folder of tickets that were played ({ours})")
    outcomes: dict[Search, Outcome] = {}
    if command == REPLAY:
        world = _replayed(path)
    else:
        made, outcome = simulated(path)
        world = WorldReading(made.table, made.tickets, made.service, (made.search,))
        outcomes[made.search] = outcome
    names = [world.tickets.name(number) for number in range(world.tickets.sizes.size)]
    if ticket not in names:
        near = closest_name(ticket, names)
        meant = f" (did you mean {near}?)" if near else f" of {len(names):,}"
        raise InputError(f"{path}: no ticket {shown(ticket)}{meant}")
    if search is not None:
        arguments.one_of("search", search, world.searches)
    number = names.index(ticket)
    documents: dict[Search, dict[str, Any]] = {}
    for name in (name for name in world.searches if search in (None, name)):
        inputs = (world.table, world.tickets, world.service, name)
        outcome = outcomes.get(name) or play(*inputs)
        if number not in outcome.ended:
            raise InputError(f"{path}: {ticket} joined after the horizon")
        (documents[name],) = explained(Pool(*inputs), outcome, number)
    return documents


def _replayed(folder: Path) -> WorldReading:
    """Return the world that was replayed, with the searches that were made."""
    path = folder / "world.json"
    world, problems = read_world(read_text(path))
    if world is None:
        line, column, _, where, what = next(
            problem for problem in problems if problem.severity == "error"
        )
        raise InputError(f"{path}:{line}:{column}: damaged: {where}: {what}")
    made = read_manifest(folder, Manifest).get("searches")
    if not (isinstance(made, list) and made and set(made) <= set(SEARCHES)):
        raise InputError(f"{folder / MANIFEST}: damaged: searches: {shown(made)}")
    return world._replace(searches=tuple(search for search in SEARCHES if search in made))


def simulated(folder: Path) -> tuple[TicketWorld, Outcome]:
    """Return the tickets of a run of `simulate`, and what came of them, by running it once more."""
    manifest = read_manifest(folder, SimulateManifest)
    config = manifest.same_config(folder, "explain")
    model = build(config)
    if not isinstance(model, TicketsModel):
        raise InputError(f"{folder}: is of the model {config.model}, and tickets alone has tickets")
    inputs = model.draw(Streams(manifest.seed), manifest.replication)
    try:
        world = model.world(inputs)
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None
    return world, play(*world, counted=False)


def explained(pool: Pool, outcome: Outcome, ticket: int | None = None) -> list[dict[str, Any]]:
    """Return why a ticket waited, or each of those that ended without a match."""
    waiting = [k for k in sorted(outcome.ended) if outcome.statuses[k] != DONE]
    chosen = waiting if ticket is None else [ticket]
    until = max((outcome.times[k] for k in chosen), default=0.0)
    reasons = explain(pool, outcome, chosen, until)
    return [_explanation(pool, reasons[k], outcome) for k in chosen]


def _explanation(pool: Pool, reasons: Reasons, outcome: Outcome) -> dict[str, Any]:
    """Return why a ticket waited; the keys are those of ``explain.jsonl``."""
    ticket = pool.tickets[reasons.ticket]
    candidates = reasons.as_anchor.tried + reasons.others.tried
    names = [rule.name for rule in pool.table.rules]
    rules = [
        {
            "rule": names[number],
            "refused": refusals.refused,
            "share": refusals.refused / candidates if candidates else None,
            "alone": refusals.alone,
            "nearest": _failed(pool, reasons.ticket, refusals.nearest, [number]),
        }
        for number, refusals in sorted(reasons.rules.items())
    ]
    return {
        "search": pool.search,
        "ticket": ticket["id"],
        "players": [
            {key: player[key] for key in ("id", "attributes", "latency")}
            for player in ticket["players"]
        ],
        "region": region(ticket),
        "joined": ticket["time"],
        "status": outcome.statuses[reasons.ticket],
        "ended": outcome.times[reasons.ticket],
        "waited": outcome.times[reasons.ticket] - ticket["time"],
        "unmatchable": missing(pool.table, ticket),
        "reviews": reasons.reviews,
        "looked_at": reasons.looked,
        "anchor": reasons.anchored,
        "refused_alone": {
            "no room" if number is None else names[number]: reasons.itself[number]
            for number in sorted(reasons.itself, key=lambda key: -1 if key is None else key)
        },
        "tried": asdict(reasons.as_anchor),
        "tried_by_others": asdict(reasons.others),
        "rules": rules,
        "nearest": _failed(pool, reasons.ticket, reasons.nearest, None),
        "fullest": _failed(pool, reasons.ticket, reasons.fullest, None),
        "blocked_by": [
            {"tickets": [pool.tickets[k]["id"] for k in by], "reviews": count}
            for by, count in reasons.blocked.most_common()
        ],
    }


def region(ticket: Document) -> str | None:
    """Return the region with the lowest mean latency, of those that all report; None of none."""
    first, *others = (player["latency"] for player in ticket["players"])
    both = [name for name in first if all(name in other for other in others)]
    total = {name: sum(player["latency"][name] for player in ticket["players"]) for name in both}
    return min(total, key=lambda name: (total[name], name), default=None)


def _failed(
    pool: Pool, ticket: int, failed: Failed | None, only: Sequence[int] | None
) -> dict[str, Any] | None:
    """Return a match that failed: who was in it, what refused it, what would have let it hold."""
    # Of the rules that refused it, only some are named, all where that is None.
    if failed is None:
        return None
    match, rules = failed.match, failed.rules if only is None else only
    judge, sizes = Judge(match, failed.time, failed.partial), match.sizes(failed.time)

    def needed(rule: int, lack: Lack) -> dict[str, Any]:
        called = OF_PREDICATE[type(pool.table.rules[rule].predicate)].expandable
        names = {key: name for name, key in called.items()}
        return {"property": names[lack.key], "needed": lack.needed, "in_force": lack.held}

    return {
        "time": failed.time,
        "age": failed.time - match.born,
        "anchor": pool.tickets[match.tickets[0]]["id"],
        "with": [pool.tickets[k]["id"] for k in match.tickets if k != ticket],
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
                "needs": [needed(number, lack) for lack in judge.finding(number).lacks],
                "holds_from": holds_from(match, failed.time, failed.partial, number),
            }
            for number in rules
        ],
    }
