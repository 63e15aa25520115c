"""Tickets replayed by a rule set, with the files of what comes of them."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict, Unpack

from valmatch.errors import InputError, in_lines, option
from valmatch.experiments.replay_result import (
    SHOWN,
    SUMMARY,
    Replay,
    ReplayedTickets,
    ends,
    proposals_of,
    side_of_log,
    side_of_rules,
)
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.files import read_text, sha256
from valmatch.kernels.plain_python import interpret
from valmatch.matching.tickets.building import missing
from valmatch.rule_sets.descriptions import stepped
from valmatch.rule_sets.event_log import TIMEOUT, EventLog, is_event_log, read_events, world_of_log
from valmatch.rule_sets.files import as_remarks, in_line, is_yaml, read_rule_file
from valmatch.rule_sets.flexmatch import Reading
from valmatch.rule_sets.json_text import plain
from valmatch.rule_sets.problems import Problem
from valmatch.rule_sets.table import Table
from valmatch.rule_sets.ticket_table import read_player_table, read_table
from valmatch.rule_sets.types import spelled
from valmatch.rule_sets.world_reading import (
    WorldReading,
    has_world,
    read_lines,
    read_player_lines,
    read_world,
    world_text,
)
from valmatch.rule_sets.worlds import (
    FEW,
    LATENCIES,
    MOST_REVIEWS,
    SEARCHES,
    LatencyOf,
    Player,
    Search,
    Service,
)
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Warnings

if TYPE_CHECKING:
    from valmatch.matching.tickets.playing import Made, Outcome


BRIEF = 100  # tickets up to which plain Python is done before numba would be imported
REVIEW = 1.0  # seconds between reviews, where there is no world that says it


class Given(NamedTuple):
    """The files of a replay."""

    rules: PathLike  # a world, or a rule set
    # with a rule set: a list of tickets, an object a line, as those of a world are; a table of
    # single players, whose name ends with ``.csv``; or a game's own log of events
    tickets: PathLike | None = None
    # with a game's log: attributes and latencies of its players, an object a line as players of a
    # world are, or a table whose name ends with ``.csv``
    players: PathLike | None = None


class WorldKeywords(TypedDict, total=False):
    """How a rule set and tickets become a world."""

    timeout: float | None  # with a rule set: seconds after which tickets leave; 120 by default
    review: float | None  # with a rule set: seconds between reviews; 1 by default
    # whose latency a rule looks at; by default as a world says, else of a ticket one number
    latency_of: str | None
    warn: Callable[[str], None]  # takes what is to be said of the rule set and of the tickets


def replay(
    given: Given,
    *,
    search: str | None = None,
    out: PathLike | None = None,
    explain: bool = False,
    **keywords: Unpack[WorldKeywords],
) -> Replay:
    """Play tickets by a rule set, offline."""
    if explain and out is None:
        raise InputError(f"{option('explain')}: {option('out')} is needed too, which takes it")
    files = _files(given)
    warnings = Warnings(keywords.get("warn", lambda text: None))
    keywords["warn"] = warnings
    source, folder = files[0], None if out is None else arguments.path("out", out)
    world, log = _world(files, **keywords)
    if search is not None:
        chosen = arguments.one_of("search", search, SEARCHES)
        world = world._replace(searches=tuple(one for one in SEARCHES if one == chosen))
    if _is_brief(world):
        interpret()
    # Not before it is known whether its kernels are compiled.

    read = [path for path in files if path]
    with _claimed(folder, read, world) if folder else nullcontext() as run:
        result = _played(source, world, log, explain)
        tables = {name: own for name, own in tables_of(result).items() if name in SHOWN}
        shown = ReplayedTickets(str(source), result.summary(), tables, warnings, folder)
        if folder and run:
            write_replay(folder, result, shown)
            run.close("complete")
    return replace(result, shown=shown)


def _files(given: Given) -> tuple[Path, Path | None, Path | None]:
    """Return the paths of all files."""
    tickets, players = (
        None if one is None else arguments.path(name, one)
        for name, one in zip(NAMES[1:], given[1:], strict=True)
    )
    return arguments.path(NAMES[0], given.rules), tickets, players


def _played(source: Path, world: WorldReading, log: EventLog | None, explain: bool) -> Replay:
    """Return what comes of a world by its searches, and who waited behind whom."""
    from valmatch.experiments.explain import explained
    from valmatch.matching.plain_tickets.explaining import Blockers, blockers
    from valmatch.matching.plain_tickets.pool import Pool
    from valmatch.matching.tickets.playing import play

    outcomes: dict[Search, Outcome] = {}
    behind: dict[Search, Blockers] = {}
    reasons: list[dict[str, Any]] = []
    for search in world.searches:
        played = (world.table, world.tickets, world.service, search)
        outcomes[search] = outcome = play(*played)
        pool = Pool(*played)
        proposals = proposals_of(outcome)
        if search == "pass":
            behind[search] = blockers(pool, proposals)
        if explain:
            reasons += explained(pool, proposals, ends(outcome))
    return Replay(source, world, outcomes, log, behind, reasons if explain else None)


def _is_brief(world: WorldReading) -> bool:
    """Return whether plain Python is quick enough."""
    few = FEW if "exhaustive" in world.searches else BRIEF
    return len(world.tickets) <= few


def _claimed(folder: Path, read: Sequence[Path], world: WorldReading) -> Any:  # noqa: ANN401
    """Return the folder of a replay, claimed."""
    from valmatch.storage.run_folder import RunFolder

    digests = {f"{name}_sha256": sha256(path) for name, path in zip(NAMES, read, strict=False)}
    identity = {**digests, "searches": list(world.searches), "latency_of": world.latency_of}
    return RunFolder(
        folder, "rules replay", None, identity, facts={"source": str(read[0])}, read=read
    )


NAMES = ("rules", "tickets", "players")  # what the files that are read are called in a manifest


def _world(
    files: tuple[Path, Path | None, Path | None],
    timeout: float | None = None,
    review: float | None = None,
    latency_of: str | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> tuple[WorldReading, EventLog | None]:
    """Return what is to be played, and the log that it is from, if it is a game's own."""
    source, listed, people = files
    whose: LatencyOf | None = None
    if latency_of is not None:
        chosen = arguments.one_of("latency_of", latency_of, LATENCIES)
        whose = next(one for one in LATENCIES if one == chosen)
    text = read_text(source)
    if not is_yaml(source) and has_world(text):
        own = (("tickets", listed), ("players", people), ("timeout", timeout), ("review", review))
        for name, given in own:
            if given is not None:
                raise InputError(f"{source}: is a world, which has {name} of its own")
        world, problems = read_world(text)
        _report(source, problems, warn)
        if world is None:
            raise InputError(f"{source}: is no world")
        return world.with_latency_of(whose or world.latency_of), None
    reading = read_rule_file(source, timeout)
    _report(source, reading.problems, warn)
    if reading.table is None:
        raise InputError(f"{source}: is no rule set")
    if listed is None:
        raise InputError(f"{source}: is a rule set; a list of tickets is needed too (--tickets)")
    rules = (
        _flexmatch(reading) if is_yaml(source) or reading.is_short else text.removeprefix("\ufeff")
    )
    listing, is_table = read_text(listed), listed.suffix.lower() == ".csv"
    reviewed = REVIEW if review is None else review
    if not is_table and is_event_log(listing):
        known = _players(people, reading.table, warn)
        log, problems = read_events(listing)
        _report(listed, problems, warn)
        assert log is not None
        found, problems = world_of_log(log, known, reading.table, (timeout, reviewed), warn)
        _report(listed, problems, lambda text: None)
        assert found is not None
        _check_reviews(listed, found.service)
        return found._replace(rules=rules).with_latency_of(whose or "ticket"), log
    if people is not None:
        raise InputError(f"{listed}: is no log of events; its tickets say all of their players")
    tickets, problems = (read_table if is_table else read_lines)(listing, reading.table)
    _report(listed, problems, warn)
    last = tickets[-1].time if tickets else 0.0
    patience = TIMEOUT if timeout is None else timeout
    service = Service(patience, last + patience, reviewed)
    _check_reviews(listed, service)
    world = WorldReading(reading.table, tickets or (), service, ("pass",), rules)
    return world.with_latency_of(whose or "ticket"), None


def _check_reviews(listed: Path, service: Service) -> None:
    """Raise where a list of tickets would be reviewed too often.

    Reviews are counted from second 0, also where times are dates in seconds, or in milliseconds.
    """
    if service.reviews_too_often:
        raise InputError(
            f"{listed}: more than {MOST_REVIEWS:,} reviews, one each {service.review:g} s up to"
            f" {service.horizon:g} s (times are in seconds from the start of the list; with"
            " --review there are fewer)"
        )


def _flexmatch(reading: Reading) -> str:
    """Return the text of the rule set that a short form stands for, or YAML says."""
    return "" if reading.node is None else json.dumps(plain(reading.node), indent=1)


def _players(path: Path | None, table: Table, warn: Callable[[str], None]) -> dict[str, Player]:
    """Return what is known of players, by id; nothing without a file."""
    if path is None:
        return {}
    reader = read_player_table if path.suffix.lower() == ".csv" else read_player_lines
    found, problems = reader(read_text(path), table)
    _report(path, problems, warn)
    return found


def _report(path: Path, problems: Sequence[Problem], warn: Callable[[str], None]) -> None:
    """Warn of what is to be warned of; raise where there are errors."""
    errors = [in_line(path, one) for one in problems if one.severity == "error"]
    if errors:
        raise InputError(*in_lines(errors))
    for remark in as_remarks(path, problems):
        warn(remark)


# The files of a replay.

Columns: TypeAlias = "dict[str, list[Any]]"

WORLD, PROPOSALS, EXPLAINED = "world.json", "proposals.jsonl", "explain.jsonl"
"""What was played, what was proposed in it, and why tickets ended without a match."""


def tables_of(result: Replay) -> dict[str, dict[str, list[Any]]]:
    """Return the tables of a replay: by name their columns."""
    tables: dict[str, Callable[[Replay, Search, Outcome], Columns]] = {
        "tickets": _tickets,
        "matches": _matches,
        "players": _rows_of_players,
        "rules": _rules,
        "steps": _steps,
        **({"log": _logged} if result.log else {}),
    }
    found: dict[str, dict[str, list[Any]]] = {}
    for name, columns_of in tables.items():
        every = found[name] = {}
        for search, outcome in result.outcomes.items():
            columns = columns_of(result, search, outcome)
            rows = len(next(iter(columns.values())))
            for key, cells in {"search": [search] * rows, **columns}.items():
                every.setdefault(key, []).extend(cells)
    return found


def write_replay(folder: Path, result: Replay, shown: ReplayedTickets) -> None:
    """Write all files of a replay."""
    for name, columns in tables_of(result).items():
        write_csv(folder / f"{name}.csv", columns)
    with write_atomically(folder / SUMMARY) as file:
        file.write(to_json(shown.summary()))
    with write_atomically(folder / "result.json") as file:
        file.write(to_json(result.answers()))
    if result.log:
        compared = {search: one["compared"] for search, one in result.summary().items()}
        with write_atomically(folder / "comparison.json") as file:
            file.write(to_json(compared))
    with write_atomically(folder / WORLD) as file:
        file.writelines(world_text(result.world))
    with write_atomically(folder / PROPOSALS) as file:
        file.writelines(f"{json.dumps(one)}\n" for one in _proposals(result))
    if result.explained is not None:
        with write_atomically(folder / EXPLAINED) as file:
            file.writelines(f"{json.dumps(one)}\n" for one in result.explained)


def _proposals(result: Replay) -> Iterator[dict[str, Any]]:
    """Yield all that was proposed: with the world, this says who waited at which review."""
    names = [ticket.id for ticket in result.world.tickets]
    for search, outcome in result.outcomes.items():
        for one in outcome.proposed:
            tickets = [names[k] for k in one.tickets]
            yield {
                "search": search,
                "time": one.proposed,
                "review": one.review,
                "anchor": names[one.anchor],
                "tickets": tickets,
            }


def _tickets(result: Replay, search: Search, outcome: Outcome) -> Columns:
    """Return of each ticket how and when it ended, why it cannot be matched, behind whom.

    Where it waited behind several, those count that it waited behind at most reviews.
    """
    tickets, table = result.world.tickets, result.world.table
    behind = _mostly(result, search)
    match_of = {k: number for number, one in enumerate(outcome.matches) for k in one.tickets}
    ends = [
        end if status else None for end, status in zip(outcome.times, outcome.statuses, strict=True)
    ]
    return {
        "ticket": [one.id for one in tickets],
        "time": [one.time for one in tickets],
        "players": [len(one.players) for one in tickets],
        "status": outcome.statuses,
        "end": ends,
        "wait": [
            None if end is None else end - one.time for one, end in zip(tickets, ends, strict=True)
        ],
        "match": [match_of.get(k) for k in range(len(tickets))],
        "unmatchable": [" ".join(missing(table, one)) for one in tickets],
        "blocked_by": [
            " ".join(tickets[one].id for one in behind.get(k, ())) for k in range(len(tickets))
        ],
    }


def _mostly(result: Replay, search: Search) -> dict[int, tuple[int, ...]]:
    """Return which tickets each of those who waited behind others waited behind at most reviews."""
    most: dict[int, tuple[int, tuple[int, ...]]] = {}
    for by, behind in result.behind(search).items():
        for ticket, reviews in behind.items():
            if ticket not in most or reviews > most[ticket][0]:
                most[ticket] = reviews, by
    return {ticket: by for ticket, (_, by) in most.items()}


def _matches(result: Replay, search: Search, outcome: Outcome) -> Columns:
    """Return the matches; the age of one is what steps went by."""
    matches = outcome.matches
    return {
        "match": list(range(len(matches))),
        "time": [one.time for one in matches],
        "proposed": [one.proposed for one in matches],
        "anchor": [result.world.tickets[one.anchor].id for one in matches],
        "tickets": [len(one.tickets) for one in matches],
        "players": [sum(map(len, one.teams)) for one in matches],
        "age": [_age(result, one) for one in matches],
    }


def _age(result: Replay, match: Made) -> float:
    """Return the age that the steps of a match went by."""
    times = [result.world.tickets[ticket].time for ticket in match.tickets]
    return match.proposed - (min(times) if result.world.table.oldest else max(times))


def _columns(names: str, rows: Sequence[Sequence[Any]]) -> Columns:
    """Return rows as columns of some names."""
    return {name: [row[k] for row in rows] for k, name in enumerate(names.split())}


def _rows_of_players(result: Replay, search: Search, outcome: Outcome) -> Columns:
    """Return a row for each player of a match."""
    tickets, rows = result.world.tickets, []
    for number, match in enumerate(outcome.matches):
        home = {player.id: k for k in match.tickets for player in tickets[k].players}
        for team, players in zip(result.world.table.teams, match.teams, strict=True):
            for player in players:
                ticket = tickets[home[player]]
                rows.append((number, team.name, player, ticket.id, match.time - ticket.time))
    return _columns("match team player ticket wait", rows)


def _rules(result: Replay, search: Search, outcome: Outcome) -> Columns:
    """Return how often each rule held, or was unknown, and refused."""
    judged = outcome.judged
    names = [rule.name for rule in result.world.table.rules]
    return {
        "rule": names,
        "passed": judged["held"].tolist(),
        "failed": judged["refused"].tolist(),
    }


def _steps(result: Replay, search: Search, outcome: Outcome) -> Columns:
    """Return a row for each step of a value: how many matches were proposed while it held."""
    ages = [_age(result, match) for match in outcome.matches]
    rows = []
    for what, steps in stepped(result.world.table):
        held = [bisect_right(steps.waits, age) for age in ages]
        for number, value in enumerate(steps.values):
            begins = float(steps.waits[number - 1]) if number else 0.0
            rows.append((what, begins, spelled(value), held.count(number)))
    return _columns("what from_seconds value matches", rows)


def _logged(result: Replay, search: Search, outcome: Outcome) -> Columns:
    """Return how each ticket ended, and how it did in the game's log."""
    assert result.log
    tickets = result.world.tickets
    log, rules = side_of_log(result.log), side_of_rules(tickets, outcome)
    return {
        "ticket": [one.id for one in tickets],
        "players": [len(one.players) for one in tickets],
        "status": rules.statuses,
        "wait": rules.waits,
        "log_status": log.statuses,
        "log_wait": log.waits,
        "log_match": [one.match for one in result.log.tickets],
    }
