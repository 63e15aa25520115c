"""Bad rule sets, short forms, tickets, worlds, logs of events and players."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from tests.bad_inputs.case import FAULTY, Case, Content, Odd
from tests.bad_inputs.damage import ESCAPES, HUGE, LONG, Damage, broken_file, changed_json
from tests.bad_inputs.tables import NUMBER, damaged_table

FIXTURES = Path(__file__).parents[1] / "fixtures"

LINES = 60
"""Lines of a message: what one change makes wrong is said of all places."""

RULES: dict[str, Any] = {
    "ruleLanguageVersion": "1.0",
    "playerAttributes": [
        {"name": "skill", "type": "number"},
        {"name": "mode", "type": "string", "default": "ranked"},
        {"name": "roles", "type": "string_list", "default": []},
        {"name": "maps", "type": "string_number_map", "default": {}},
    ],
    "teams": [{"name": "red", "minPlayers": 1, "maxPlayers": 2, "quantity": 2}],
    "rules": [
        {"name": "Near", "type": "batchDistance", "batchAttribute": "skill", "maxDistance": 100},
        {"name": "Ping", "type": "latency", "maxLatency": 90},
    ],
    "expansions": [
        {
            "target": "rules[Near].maxDistance",
            "steps": [{"waitTimeSeconds": 5, "value": 200}, {"waitTimeSeconds": 9, "value": 400}],
        }
    ],
}

SHORT: dict[str, Any] = {
    "teams": {"red": {"size": "2-3", "count": 2, "fewer": [[20, 1]]}},
    "skill": {"attribute": "skill", "within": 100, "widen": [[15, 200], [30, 400]]},
    "latency": {"max": 60, "widen": [[10, 100]], "party": "max"},
    "same": ["mode"],
    "age": "oldest",
    "defaults": {"mode": "ranked"},
}

BAD_YAML = (
    "teams: [",
    "teams: 2x5\nteams: 2x5",
    "teams: 2x5\n---\nteams: 2x5",
    "teams: 2x5\nskill: {attribute: s, within: .nan}",
    "teams: 2x5\nskill: {attribute: s, within: .inf}",
    "teams: 2x5\nskill: {attribute: s, within: -1}",
    f"teams: 2x5\nskill: {{attribute: s, within: {HUGE}}}",
    "teams: 2x5\nskill: {attribute: s, within: 1, widen: [[1, 2], [1, 3]]}",
    "teams: 2x5\nskill: {attribute: s, within: 1, widen: [[1e400, 2]]}",
    "teams: 2x5\nskill: {attribute: 's]', within: 1}",
    f"teams: 2x5\nskil: {LONG}",
    f"teams: {LONG}",
    "teams: 99999x9",
    "teams: 9999x9999\nage: oldest",
    "teams: 2x5\nage: &a [*a]",
    'teams: 2x5\n"\\e[2J": 1',
    'teams: {"\\e[2J": 2}',
    "teams: 2x5\nsame: [mode, mode]",
    f"teams: 2x5\nx: {'[' * 5000}",
    "teams: 2x5\nage: !!python/object:os.x 1",
    "teams: 2x5\ndefaults: {x: 1}",
    "",
    "- 1",
)
"""Texts that are no short form."""

PLAYER: dict[str, Any] = {"id": "p", "attributes": {"skill": 1.5}, "latency": {"eu": 20}}

BAD_TICKETS: list[tuple[str, Mapping[str, object], bool]] = [
    ("twice", {"id": "t0"}, True),
    ("out of order", {"time": 0}, True),
    ("negative time", {"time": -1}, True),
    ("time is text", {"time": "3"}, True),
    ("no time", {"time": None}, True),
    ("huge time", {"time": 1e308}, True),
    ("no id", {"id": None}, True),
    ("long id", {"id": LONG}, False),
    *(("an escape in the id", {"id": escape}, False) for escape in ESCAPES),
    ("no player", {"players": []}, True),
    ("players are none", {"players": 3}, True),
    ("a player twice", {"players": [PLAYER, PLAYER]}, True),
    ("more than any team", {"players": [{**PLAYER, "id": f"q{k}"} for k in range(40)]}, False),
    ("a team", {"players": [{**PLAYER, "team": "red_1"}]}, True),
    ("no team of a running game", {"backfill": True}, True),
    ("team of no rule set", {"backfill": True, "players": [{**PLAYER, "team": "x"}]}, True),
    ("backfill is none", {"backfill": "yes"}, True),
    ("cancel is text", {"cancel": "x"}, True),
    ("cancel is negative", {"cancel": -1}, True),
    ("answers", {"answers": [[1]]}, True),
    ("an unknown key", {LONG: 1}, False),
]
NO_LATENCIES: tuple[object, ...] = (0, -5, 0.5, "20", None, [], {}, True)
BAD_ATTRIBUTES: dict[str, list[object]] = {
    "skill": ["1", [1], None],
    "mode": [3, ["x"]],
    "roles": ["tank", [1]],
    "maps": [{"a": "b"}, [1]],
}
BAD_TICKETS += [
    (f"latency {value}"[:40], {"players": [{**PLAYER, "latency": {"eu": value}}]}, True)
    for value in NO_LATENCIES
]
BAD_TICKETS += [
    (f"{name} {value!r}"[:40], {"players": [{**PLAYER, "attributes": {name: value}}]}, True)
    for name, values in BAD_ATTRIBUTES.items()
    for value in values
]
BAD_TICKETS += [
    ("unknown attribute", {"players": [{**PLAYER, "attributes": {"skil": 1}}]}, False),
    ("long attribute", {"players": [{**PLAYER, "attributes": {LONG: 1}}]}, False),
]

PIECES = (
    *(b"{", b"}", b"[", b"]", b'"', b",", b"null", b"NaN", b"1e999", b"-1", b"teams[*]", b"/*"),
    *(b"\x00", b"\\u0000", b"\xc3\xbf", b"\xff"),
)
"""What is put somewhere into a published rule set."""

BAD_LINES = (
    "{", "7", "[]", "null", '{"id": NaN}', f'{{"id": "t9", "time": {HUGE}}}', "[" * 5000,
    '{"a":' * 5000, '{"id": "\\ud800"}', LONG, "\x00",
    '{"id": "t9", "id": "t9", "time": 9, "players": [{"id": "p"}]}',
)  # fmt: skip
"""Lines that are no ticket, event or player."""

BAD_EVENTS: list[tuple[str, Mapping[str, object]]] = [
    ("no time", {"time": None}),
    ("time is none", {"time": "yesterday"}),
    ("time is a number", {"time": 7}),
    ("year 0", {"time": "0000-01-01T00:00:00Z"}),
    ("far away", {"time": "9999-12-31T23:59:59Z"}),
    ("no detail", {"detail": None}),
    ("detail is a list", {"detail": []}),
    ("no tickets", {"detail": {"type": "MatchmakingSearching"}}),
    ("unknown type", {"detail": {"type": LONG, "tickets": []}}),
    ("an escape", {"detail": {"type": ESCAPES[0], "tickets": []}}),
    ("tickets are none", {"detail": {"type": "MatchmakingFailed", "tickets": {}}}),
    ("id is a number", {"id": 3}),
    ("detail-type is none", {"detail-type": []}),
]


def rule_set_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a command with a bad rule set, or with bad tickets for a good one."""
    how = rng.choice(
        (_rule_set, _rule_set, _short, _tickets, _tickets, _table, _events, _players, _world)
    )
    return how(number, rng)


def _case(
    number: int, argv: tuple[str, ...], files: Mapping[str, Content], bad: Damage, faulty: str
) -> Case:
    replays = argv[1] == "replay"
    listed = argv[1] == "check"
    return Case(
        "rules",
        number,
        (*argv, *(("--out", "out") if replays else ())),
        {**files, faulty: bad.content},
        (faulty,),
        bad.certain,
        what=bad.what,
        lines=LINES,
        listed=listed,
    )


def _read(rng: Random, file: str) -> tuple[tuple[str, ...], Mapping[str, Content]]:
    """Return a command that reads a rule set, and the tickets that it may need."""
    command = rng.choice(("check", "show", "replay"))
    tickets = ("--tickets", "tickets.jsonl") if command == "replay" else ()
    return ("rules", command, file, *tickets), {"tickets.jsonl": _lines(_good())}


def _rule_set(number: int, rng: Random) -> Case:
    """Return a rule set that is damaged, of the examples or of our own."""
    text = json.dumps(RULES, indent=1).encode()
    faulty = f"{FAULTY}.json"
    argv, files = _read(rng, faulty)
    kind = rng.choice(("changed", "changed", "changed", "published", "size", "odd"))
    if kind == "odd":
        odd = rng.choice(list(Odd))
        case = _case(number, argv, files, Damage(b"", odd.value, True), faulty)
        return case._replace(files={**files, faulty: odd})
    if kind == "changed":
        return _case(number, argv, files, changed_json(rng, text), faulty)
    if kind == "published":
        path = FIXTURES / "rule_sets" / f"example-{rng.randint(1, 11):02d}.json"
        at = rng.randrange(path.stat().st_size)
        content = path.read_bytes()
        piece = rng.choice(PIECES)
        damage = Damage(content[:at] + piece + content[at + rng.randint(0, 5) :], "pieces", False)
        return _case(number, argv, files, damage, faulty)
    sizes = {
        "70,000 characters": text + b" " * 70_000,
        "over a million": text + b" " * (1 << 20),
        "1,000 rules twice": json.dumps({**RULES, "rules": RULES["rules"] * 900}).encode(),
        "nested": b'{"teams": ' + b"[" * 5000,
    }
    what = rng.choice(list(sizes))
    return _case(number, argv, files, Damage(sizes[what], what, True), faulty)


def _short(number: int, rng: Random) -> Case:
    """Return a short form that is damaged."""
    if rng.random() < 0.5:
        faulty = f"{FAULTY}.json"
        damage = changed_json(rng, json.dumps(SHORT, indent=1).encode())
    else:
        faulty = f"{FAULTY}.yaml"
        bad = rng.choice(BAD_YAML)
        damage = Damage(bad.encode(), bad[:40], True)
        if rng.random() < 0.2:
            damage = broken_file(rng, json.dumps(SHORT).encode())
    argv, files = _read(rng, faulty)
    return _case(number, argv, files, damage, faulty)


def _good() -> list[dict[str, Any]]:
    """Return tickets without a fault."""
    return [
        {"id": f"t{k}", "time": k + 1, "players": [{**PLAYER, "id": f"p{k}"}]} for k in range(6)
    ]


def _lines(documents: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in documents).encode()


def _replaying(faulty: str, *further: str) -> tuple[str, ...]:
    return ("rules", "replay", "rules.json", "--tickets", faulty, *further)


def _tickets(number: int, rng: Random) -> Case:
    """Return tickets of which one is bad."""
    faulty, tickets = f"{FAULTY}.jsonl", _good()
    files = {"rules.json": json.dumps(RULES).encode()}
    if rng.random() < 0.3:
        bad = rng.choice(BAD_LINES)
        lines = _lines(tickets).decode().splitlines()
        lines.insert(rng.randint(0, len(lines)), bad)
        content = "\n".join(lines).encode("utf-8", "surrogatepass")
        damage = Damage(content, bad[:30], True)
        return _case(number, _replaying(faulty), files, damage, faulty)
    what, change, certain = rng.choice(BAD_TICKETS)
    at = rng.randrange(1, len(tickets))
    changed = {key: value for key, value in {**tickets[at], **change}.items() if value is not None}
    tickets[at] = changed
    damage = Damage(_lines(tickets), what, certain)
    return _case(number, _replaying(faulty), files, damage, faulty)


def _table(number: int, rng: Random) -> Case:
    """Return a table of tickets that is bad."""
    rows = "".join(f"t{k},{k},{1000 + k},20\n" for k in range(9))
    content = f"id,time,skill,latency.eu\n{rows}".encode()
    # An empty cell of a table is no value, and text in quotes goes on in the next line.
    numbers = [one for one in NUMBER if one and one not in ("1\n2", '"1')]
    bad = {"time": (*numbers, "-1"), "skill": numbers, "latency.eu": (*numbers, "0", "1.5")}
    faulty = f"{FAULTY}.csv"
    damage = damaged_table(rng, content, bad, ["id", "time"])
    files = {"rules.json": json.dumps(RULES).encode()}
    return _case(number, _replaying(faulty), files, damage, faulty)


def _event(number: int) -> dict[str, Any]:
    when = f"2026-01-05T12:00:{number:02d}.5Z"
    ticket = {"ticketId": f"t{number}", "startTime": when, "players": [{"playerId": f"p{number}"}]}
    detail = {"type": "MatchmakingSearching", "tickets": [ticket]}
    kind = "GameLift Matchmaking Event"
    return {"detail-type": kind, "id": f"e{number}", "time": when, "detail": detail}


def _events(number: int, rng: Random) -> Case:
    """Return a log of events of which one is bad."""
    faulty, events = f"{FAULTY}.jsonl", [_event(k) for k in range(6)]
    files = {"rules.json": json.dumps(RULES).encode()}
    kind = rng.choice(("line", "event", "event", "changed"))
    lines = _lines(events).decode().splitlines()
    at = rng.randrange(1, len(lines))
    certain = True
    if kind == "line":
        what = lines[at] = rng.choice(BAD_LINES)
    elif kind == "event":
        what, change = rng.choice(BAD_EVENTS)
        changed = {**events[at], **change}
        lines[at] = json.dumps({key: one for key, one in changed.items() if one is not None})
    else:
        damage = changed_json(rng, lines[at].encode())
        what, certain = damage.what, False
        text = damage.content.decode("utf-8", "surrogateescape").replace("\n", " ")
        lines[at] = text
    content = "\n".join(lines).encode("utf-8", "surrogateescape")
    return _case(number, _replaying(faulty), files, Damage(content, what[:40], certain), faulty)


def _players(number: int, rng: Random) -> Case:
    """Return players of a log that are bad."""
    files = {
        "rules.json": json.dumps(RULES).encode(),
        "events.jsonl": _lines([_event(k) for k in range(6)]),
    }
    if rng.random() < 0.5:
        faulty = f"{FAULTY}.csv"
        content = b"id,skill,latency.eu\n" + b"".join(b"p%d,5,20\n" % k for k in range(6))
        numbers = [one for one in NUMBER if one and one not in ("1\n2", '"1')]
        bad = {"skill": numbers, "latency.eu": (*numbers, "0", "1.5")}
        damage = damaged_table(rng, content, bad, ["id"])
    else:
        faulty = f"{FAULTY}.jsonl"
        people = [{**PLAYER, "id": f"p{k}"} for k in range(6)]
        lines = _lines(people).decode().splitlines()
        others = [f'{{"id": "p9", "team": "{LONG}"}}', '{"id": "p0"}\n{"id": "p0"}']
        bad_line = rng.choice((*BAD_LINES[:-1], *others))
        lines[rng.randrange(len(lines))] = bad_line
        damage = Damage("\n".join(lines).encode(), bad_line[:40], True)
    argv = _replaying("events.jsonl", "--players", faulty)
    return _case(number, argv, files, damage, faulty)


def _world(number: int, rng: Random) -> Case:
    """Return a world that is damaged."""
    path = rng.choice(sorted((FIXTURES / "ticket_worlds").glob("*.json")))
    world = json.loads(path.read_bytes())
    world["tickets"] = world["tickets"][:6]
    del world["answers"]
    faulty = f"{FAULTY}.json"
    damage = changed_json(rng, json.dumps(world).encode())
    return _case(number, ("rules", "replay", faulty), {}, damage._replace(certain=False), faulty)
