"""Why a ticket of a replay waited, from the files of the replay."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.execution.chunks import build
from valmatch.experiments.replay_result import Ended, ends, proposals_of
from valmatch.experiments.run_manifests import SimulateManifest, config_of
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.files import read_text
from valmatch.kernels.compilation import announce_compilation
from valmatch.kernels.plain_python import interpret
from valmatch.matching.plain_tickets.explaining import Failed, Reasons, explain
from valmatch.matching.plain_tickets.judging import Lack, holds_from
from valmatch.matching.plain_tickets.pool import Pool, Proposal
from valmatch.matching.tickets.building import missing
from valmatch.matching.tickets.driving import play as play_kernel
from valmatch.matching.tickets.playing import Outcome, play
from valmatch.models.tickets.model import TicketsModel, TicketWorld
from valmatch.rule_sets.types import OF_PREDICATE
from valmatch.rule_sets.world_reading import WorldReading, read_world
from valmatch.rule_sets.worlds import SEARCHES, Search, Ticket
from valmatch.storage.manifest import command_of, read_manifest
from valmatch.storage.output import read_json
from valmatch.text.suggestions import closest_name
from valmatch.text.terminal import shown

REPLAY, SIMULATE = "rules replay", "simulate"


class Explanation(NamedTuple):
    """Why a ticket waited."""

    world: WorldReading
    documents: dict[Search, dict[str, Any]]  # by search, see `valmatch.experiments.explain`


class Played(NamedTuple):
    """What is known of a world that was played."""

    world: WorldReading
    ended: dict[Search, dict[int, Ended]]  # by search, how tickets ended
    proposals: dict[Search, list[Proposal]]  # by search, all that was proposed, in order


def explain_ticket(folder: PathLike, ticket: str, *, search: str | None = None) -> Explanation:
    """Return why a ticket waited, whatever has become of it."""
    path = arguments.path("folder", folder)
    command = command_of(path)
    if command not in (REPLAY, SIMULATE):
        ours = f"valmatch {REPLAY} --out or valmatch {SIMULATE} tickets --out makes one"
        raise InputError(f"{path}: no folder of tickets that were played ({ours})")
    played = _replayed(path) if command == REPLAY else _simulated(path)
    names = [one.id for one in played.world.tickets]
    if ticket not in names:
        near = closest_name(ticket, names)
        meant = f" (did you mean {near}?)" if near else f" of {len(names):,}"
        raise InputError(f"{path}: no ticket {shown(ticket)}{meant}")
    searches = [one for one in SEARCHES if one in played.ended]
    if search is not None:
        chosen = arguments.one_of("search", search, searches)
        searches = [one for one in searches if one == chosen]
    number = names.index(ticket)
    return Explanation(played.world, dict(_explained(path, played, searches, number)))


def _explained(
    path: Path, played: Played, searches: list[Search], ticket: int
) -> Iterator[tuple[Search, dict[str, Any]]]:
    """Yield why a ticket waited, by search."""
    from valmatch.matching.plain_tickets.pool import Pool

    world = played.world
    for search in searches:
        if ticket not in played.ended[search]:
            raise InputError(f"{path}: {world.tickets[ticket].id} joined after the horizon")
        pool = Pool(world.table, world.tickets, world.service, search)
        (document,) = explained(pool, played.proposals[search], played.ended[search], ticket)
        yield search, document


def _simulated(path: Path) -> Played:
    """Return what was simulated, by running it once more."""
    world, outcome = simulated(path)
    search = world.search
    reading = WorldReading(world.table, world.tickets, world.service, (search,))
    return Played(reading, {search: ends(outcome)}, {search: proposals_of(outcome)})


def _replayed(path: Path) -> Played:
    """Return what was replayed, from its files."""
    # Nothing here is compiled.
    interpret()
    world = _world(path / "world.json")
    names = [one.id for one in world.tickets]
    place = {name: number for number, name in enumerate(names)}
    ended = _ended(path / "result.json", names)
    rows = _proposals(path / "proposals.jsonl", place)
    return Played(world, ended, {search: _of_search(rows, search, place) for search in ended})


def _of_search(
    rows: Sequence[ProposalRow], search: Search, place: Mapping[str, int]
) -> list[Proposal]:
    """Return what was proposed by a search."""
    return [
        Proposal(one.review, place[one.anchor], tuple(place[name] for name in one.tickets))
        for one in rows
        if one.search == search
    ]


def _world(path: Path) -> WorldReading:
    """Return the world that was played."""
    world, problems = read_world(read_text(path))
    if world is None:
        line, column, _, where, what = next(one for one in problems if one.severity == "error")
        raise InputError(f"{path}:{line}:{column}: damaged: {where}: {what}")
    return world


class ProposalRow(BaseModel):
    """A line of ``proposals.jsonl``."""

    model_config = ConfigDict(frozen=True, strict=True)

    search: str
    time: float
    review: int
    anchor: str
    tickets: list[str]


def _proposals(path: Path, known: dict[str, int]) -> list[ProposalRow]:
    """Return all that was proposed."""
    rows = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            row = ProposalRow.model_validate(json.loads(line))
        except (ValueError, ValidationError, RecursionError):
            raise InputError(f"{path}:{number}: damaged: not a proposal") from None
        if strangers := {row.anchor, *row.tickets} - set(known):
            what = f"{shown(min(strangers))} is no ticket of the world"
            raise InputError(f"{path}:{number}: damaged: {what}")
        rows.append(row)
    return rows


class EndRow(BaseModel):
    """How a ticket ended, in ``result.json``."""

    model_config = ConfigDict(frozen=True, strict=True)

    status: str
    time: float


def _ended(path: Path, names: list[str]) -> dict[Search, dict[int, Ended]]:
    """Return how tickets ended, by search."""
    try:
        content = read_json(path)
        tickets = {one: content[one]["tickets"] for one in SEARCHES if one in content}
        return {
            search: {
                number: Ended(row.status, row.time)
                for number, name in enumerate(names)
                if name in rows
                for row in [EndRow.model_validate(rows[name])]
            }
            for search, rows in tickets.items()
        }
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (KeyError, TypeError, ValidationError):
        raise InputError(f"{path}: damaged: not the result of a replay") from None


# The tickets that a run of `simulate` has matched, from its folder: the run is made again.


def simulated(folder: Path) -> tuple[TicketWorld, Outcome]:
    """Return the tickets of a run of `simulate`, and what came of them, by running it once more."""
    manifest = read_manifest(folder, SimulateManifest)
    config = config_of(manifest, folder, "explain")
    model = build(config)
    if not isinstance(model, TicketsModel):
        raise InputError(f"{folder}: is of the model {config.model}, and tickets alone has tickets")
    address = manifest.seed, manifest.replication
    inputs = model.draw(Streams(manifest.seed), manifest.replication)
    try:
        world = model.world(inputs, *address)
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None
    announce_compilation(play_kernel)
    return world, play(*world, counted=False)


# Explanations of waits in the words of a rule set: documents that are printed, or a line each.

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
