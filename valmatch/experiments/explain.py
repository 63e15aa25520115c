"""Why a ticket of a replay waited, from the files of the replay."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from valmatch.errors import InputError
from valmatch.experiments.replay_result import Ended, ends, proposals_of
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.files import read_text
from valmatch.kernels.plain_python import interpret
from valmatch.matching.plain_tickets.timeline import Proposal
from valmatch.rule_sets.world_reading import WorldReading, read_world
from valmatch.rule_sets.worlds import SEARCHES, Search
from valmatch.storage.json_file import read_json
from valmatch.storage.manifest import command_of
from valmatch.text.suggestions import closest_name
from valmatch.text.terminal import shown

REPLAY, SIMULATE = "rules replay", "simulate"


class Explanation(NamedTuple):
    """Why a ticket waited."""

    world: WorldReading
    documents: dict[Search, dict[str, Any]]  # by search, see `valmatch.experiments.explanations`


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
    from valmatch.experiments.explanations import explained
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
    from valmatch.experiments.simulated_world import simulated

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
