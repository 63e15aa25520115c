"""Reader of cases: a rule, tickets, and when they are looked at, every fault with its place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from valmatch.rule_sets.items import Item, called
from valmatch.rule_sets.json_text import Member, Node, read_json
from valmatch.rule_sets.presets.cases import Case
from valmatch.rule_sets.presets.meanings import filled, team_sizes
from valmatch.rule_sets.presets.rule_reading import RuleReading, read_rule
from valmatch.rule_sets.presets.ticket_reading import TicketReader
from valmatch.rule_sets.presets.tickets import Event, Party, Soldier, User
from valmatch.rule_sets.presets.tickets import Member as Player_
from valmatch.rule_sets.presets.words import Preset
from valmatch.rule_sets.problems import Problem, Problems
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

KEYS = (
    "rule",
    "constants",
    "tickets",
    "horizon",
    "ticks",
    "events",
    "kind",
    "accept",
    "expected",
    "case",
    "how",
    "source",
    "name",
)
"""What a case may say; the last ones are for people, and what came of it for tests."""

READ_BY: Mapping[str, tuple[Preset, ...]] = MappingProxyType(
    {
        "ticks": ("bar", "shieldbattery"),
        "events": ("osu",),
        "kind": ("faf",),
        "accept": ("osu",),
    }
)
"""Which presets read a key that not all of them read."""

MOST_TICKS = 10_000_000  # most reviews of a case

SLOWEST = {"faf": "clock.pops.max", "lichess": "clock.wave.every"}
"""The word that says how far apart reviews are at most, where neither ticks nor events do."""

OF_A_RULE_SET = ("ruleSet", "ruleLanguageVersion", "playerAttributes", "rules", "teams")
"""What a world or a rule set has, and no case."""

OF_A_CASE = ("rule", "tickets", "expected")  # one of these tells a case

EVENTS = ("join", "leave", "accept", "decline", "tick")


class CaseReading(NamedTuple):
    """A case, None if it is none, and all that is wrong with it."""

    case: Case | None
    problems: list[Problem]


def is_case(text: str) -> bool:
    """Return whether a file holds a case: a rule or tickets, and no rule set of FlexMatch."""
    node = read_json(text, Problems(text))
    if node is None or node.kind != "object":
        return False
    members = cast("dict[str, Member]", node.value)
    if any(key in members for key in OF_A_RULE_SET):
        return False
    return any(key in members for key in OF_A_CASE)


def read_case(text: str) -> CaseReading:
    """Return the case that a text is."""
    problems = Problems(text, "case")
    node = read_json(text, problems)
    if node is None or node.kind != "object":
        return CaseReading(None, problems.sorted())
    root = Item(node, "", problems, lenient=True)
    rule = read_rule(root)
    root.known([key for key in KEYS if rule is None or _reads(rule.words.preset, key)])
    case = None if rule is None else _case(root, rule)
    return CaseReading(None if problems.errors else case, problems.sorted())


def _reads(preset: Preset, key: str) -> bool:
    return key not in READ_BY or preset in READ_BY[key]


def _case(root: Item, rule: RuleReading) -> Case:
    """Return what a case says, as far as it is right."""
    preset = rule.words.preset
    reader = TicketReader(root, _largest(rule))
    before = root.problems.errors
    tickets = reader.tickets(preset)
    faulty = root.problems.errors > before
    horizon = root.number("horizon", least=0)
    kind = root.choice("kind", ("queue", "find")) if preset == "faf" else None
    accept = root.choice("accept", ("all", "scripted")) if preset == "osu" else None
    ticks: tuple[float, ...] = ()
    if preset in ("bar", "shieldbattery"):
        ticks = _ticks(root, filled(rule.words)["clock.tick"], horizon)
    # What events say of tickets is of no use where there is none of the id, for it has a fault.
    events = _events(root, reader.names) if preset == "osu" and not faulty else ()
    if preset in SLOWEST and kind != "find":
        _check_horizon(root, filled(rule.words)[SLOWEST[preset]], horizon)
    if horizon is None:
        horizon = max((*ticks, *(one.time for one in events)), default=0.0)
    return Case(
        rule.words,
        tuple(reader.names),
        parties=cast("tuple[Party, ...]", tickets if preset in ("faf", "bar") else ()),
        soldiers=cast("tuple[Soldier, ...]", tickets if preset == "shieldbattery" else ()),
        users=cast("tuple[User, ...]", tickets if preset == "osu" else ()),
        members=cast("tuple[Player_, ...]", tickets if preset == "lichess" else ()),
        horizon=horizon,
        ticks=ticks,
        once=kind == "find",
        events=events,
        at_once=accept != "scripted",
        seed=rule.seed,
        backbone=rule.backbone,
    )


def _largest(rule: RuleReading) -> float:
    """Return the most players of a ticket."""
    teams = filled(rule.words)["teams"]
    return team_sizes(teams)[1] if isinstance(teams, str) else math.inf


def _check_horizon(root: Item, apart: float, horizon: float | None) -> None:
    """Report a horizon that is missing, or so far away that a case would not end."""
    if horizon is None:
        if "horizon" not in root.members:
            root.error("", "no horizon (a number is needed)")
    elif horizon > MOST_TICKS * apart:
        root.error("horizon", f"more than {MOST_TICKS:,} reviews until then")


def _ticks(root: Item, tick: float, horizon: float | None) -> tuple[float, ...]:
    """Return when tickets are looked at: as it is said, else as the clock of the rule ticks."""
    found: list[float] = []
    if "ticks" not in root.members:
        if horizon is None:
            if "horizon" not in root.members:
                root.error("", "no ticks (a list of numbers is needed, or a horizon)")
            return ()
        if horizon > MOST_TICKS * tick:
            root.error("horizon", f"more than {MOST_TICKS:,} reviews until then")
            return ()
        return tuple(tick * (k + 1) for k in range(int(horizon // tick)))
    for path, node in root.list_of("ticks", "number", required=True):
        time = float(cast(float, node.value))
        if time <= 0:
            root.problems.error(node.start, path, f"more than 0 is needed, not {shown(time)}")
        elif found and time <= found[-1]:
            text = f"ticks come in order of time: {time:g} after {found[-1]:g}"
            root.problems.error(node.start, path, text)
        found.append(time)
    return tuple(found)


def _events(root: Item, names: list[str | int]) -> tuple[Event, ...]:
    """Return what happens: lists of what, when, and of which ticket."""
    numbers = {name: number for number, name in enumerate(names)}
    found: list[Event] = []
    for path, node in root.list_of("events", "array", required=True):
        parts = cast("list[Node]", node.value)
        event = _event(root, path, node, parts, numbers)
        if event is None:
            continue
        if found and event.time < found[-1].time:
            text = f"events come in order of time: {event.time:g} after {found[-1].time:g}"
            root.problems.error(node.start, path, text)
        found.append(event)
    return tuple(found)


def _event(
    root: Item, path: str, node: Node, parts: list[Node], numbers: dict[Any, int]
) -> Event | None:
    """Return an event; None if something is wrong with it."""
    kinds = [part.kind for part in parts[:2]]
    if kinds != ["string", "number"]:
        text = f"[{' or '.join(EVENTS)}, seconds, ticket] is needed, not {called(node)}"
        root.problems.error(node.start, path, text)
        return None
    what, time = str(parts[0].value), float(cast(float, parts[1].value))
    if what not in EVENTS:
        root.problems.error(parts[0].start, path, f"{shown(what)} is none ({hint(what, EVENTS)})")
        return None
    if time < 0:
        root.problems.error(parts[1].start, path, f"at least 0 is needed, not {shown(time)}")
    if what == "tick":
        return Event("tick", time)
    if len(parts) < 3 or parts[2].kind not in ("string", "number") or parts[2].value not in numbers:
        text = "the id of a ticket is needed"
        text += f", not {called(parts[2])}" if len(parts) > 2 else ""
        root.problems.error(parts[-1].start, path, text)
        return None
    return Event(what, time, numbers[parts[2].value])
