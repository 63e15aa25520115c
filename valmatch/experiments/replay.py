"""Tickets replayed by a rule set, with the files of what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypedDict, Unpack

from valmatch.errors import InputError, in_lines, option
from valmatch.experiments.replay_result import Replay, ends
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.files import read_text, sha256
from valmatch.kernels.plain_python import interpret
from valmatch.rule_sets.files import as_remark, in_line, read_rule_file
from valmatch.rule_sets.problems import Problem
from valmatch.rule_sets.ticket_table import read_table
from valmatch.rule_sets.world_reading import WorldReading, has_world, read_lines, read_world
from valmatch.rule_sets.worlds import FEW, LATENCIES, SEARCHES, Search, Service

BRIEF = 100
"""Tickets up to which plain Python is done before numba would be imported."""

TIMEOUT, REVIEW = 120.0, 1.0
"""Seconds that a ticket waits, and between reviews, where there is no world that says it."""


class WorldKeywords(TypedDict, total=False):
    """How a rule set and tickets become a world.

    Attributes
    ----------
    timeout : float or None
        With a rule set: seconds after which tickets leave; 120 by default.
    review : float or None
        With a rule set: seconds between reviews; 1 by default.
    latency_of : {"ticket", "player"} or None
        Whose latency a rule looks at; by default as a world says, else of a ticket one number.
    warn : callable
        Takes what is to be said of the rule set and of the tickets.
    """

    timeout: float | None
    review: float | None
    latency_of: str | None
    warn: Callable[[str], None]


def replay(
    rules: PathLike,
    tickets: PathLike | None = None,
    *,
    search: str | None = None,
    out: PathLike | None = None,
    raw_names: bool = False,
    explain: bool = False,
    **keywords: Unpack[WorldKeywords],
) -> Replay:
    """Play tickets by a rule set, offline.

    Parameters
    ----------
    rules : PathLike
        A world, or a rule set.
    tickets : PathLike or None
        With a rule set: a list of tickets, an object a line, as those of a world are; or a table
        of single players, whose name ends with ``.csv``.
    search : {"pass", "exhaustive"} or None
        How matches are looked for; by default by each search that a world has answers for, or by
        the one that it names.
    out : PathLike or None
        Folder for the files, see `valmatch.experiments.replay_files`.
    raw_names : bool
        Whether names like formulas are written as they are.
    explain : bool
        Whether ``explain.jsonl`` says of each ticket that ended without a match why it did.
    **keywords
        See `WorldKeywords`.

    Returns
    -------
    Replay
        What came of it.

    Raises
    ------
    InputError
        If a file cannot be read or has errors, or the folder cannot be used.
    RunError
        If an exhaustive search has too much to look at.
    """
    if explain and out is None:
        raise InputError(f"{option('explain')}: {option('out')} is needed too, which takes it")
    source = arguments.path("rules", rules)
    listed = None if tickets is None else arguments.path("tickets", tickets)
    folder = None if out is None else arguments.path("out", out)
    world = _world(source, listed, **keywords)
    if search is not None:
        chosen = arguments.one_of("search", search, SEARCHES)
        world = world._replace(searches=tuple(one for one in SEARCHES if one == chosen))
    if _is_brief(world):
        interpret()
    # Not before it is known whether its kernels are compiled.
    from valmatch.experiments.replay_files import write_replay

    read = [path for path in (source, listed) if path]
    with _claimed(folder, read, world) if folder else nullcontext() as run:
        result = _played(source, world, explain)
        if folder and run:
            write_replay(folder, result, raw_names)
            run.close("complete")
    return result


def _played(source: Path, world: WorldReading, explain: bool) -> Replay:
    """Return what comes of a world by its searches, and who waited behind whom."""
    from valmatch.experiments.explanations import explained
    from valmatch.matching.plain_tickets.explaining import Blockers, blockers
    from valmatch.matching.plain_tickets.pool import Pool
    from valmatch.matching.plain_tickets.timeline import Proposal
    from valmatch.matching.tickets.playing import Outcome, play

    outcomes: dict[Search, Outcome] = {}
    behind: dict[Search, Blockers] = {}
    reasons: list[dict[str, Any]] = []
    for search in world.searches:
        played = (world.table, world.tickets, world.service, search)
        outcomes[search] = outcome = play(*played)
        pool = Pool(*played)
        proposals = [
            Proposal(one.proposed, one.anchor, tuple(one.tickets)) for one in outcome.proposed
        ]
        if search == "pass":
            behind[search] = blockers(pool, proposals)
        if explain:
            reasons += explained(pool, proposals, ends(outcome))
    return Replay(source, world, outcomes, behind, reasons if explain else None)


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


NAMES = ("rules", "tickets")
"""What the files that are read are called in a manifest."""


def _world(
    source: Path,
    listed: Path | None,
    timeout: float | None = None,
    review: float | None = None,
    latency_of: str | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> WorldReading:
    """Return what is to be played."""
    whose = None
    if latency_of is not None:
        chosen = arguments.one_of("latency_of", latency_of, LATENCIES)
        whose = next(one for one in LATENCIES if one == chosen)
    text = read_text(source)
    if has_world(text):
        for name, given in (("tickets", listed), ("timeout", timeout), ("review", review)):
            if given is not None:
                raise InputError(f"{source}: is a world, which has {name} of its own")
        world, problems = read_world(text)
        _report(source, problems, warn)
        if world is None:
            raise InputError(f"{source}: is no world")
        return world.with_latency_of(whose or world.latency_of)
    reading = read_rule_file(source, timeout)
    _report(source, reading.problems, warn)
    if reading.table is None:
        raise InputError(f"{source}: is no rule set")
    if listed is None:
        raise InputError(f"{source}: is a rule set; a list of tickets is needed too (--tickets)")
    reader = read_table if listed.suffix.lower() == ".csv" else read_lines
    tickets, problems = reader(read_text(listed), reading.table)
    _report(listed, problems, warn)
    last = tickets[-1].time if tickets else 0.0
    patience = TIMEOUT if timeout is None else timeout
    service = Service(patience, last + patience, REVIEW if review is None else review)
    world = WorldReading(
        reading.table, tickets or (), service, ("pass",), text.removeprefix("\ufeff")
    )
    return world.with_latency_of(whose or "ticket")


def _report(path: Path, problems: Sequence[Problem], warn: Callable[[str], None]) -> None:
    """Warn of what is to be warned of; raise where there are errors."""
    errors = [in_line(path, one) for one in problems if one.severity == "error"]
    if errors:
        raise InputError(*in_lines(errors))
    for one in problems:
        warn(as_remark(path, one))
