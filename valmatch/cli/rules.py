"""``valmatch rules``: what a game's rule set says, what is wrong with it, why tickets wait."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valmatch.cli.console import show, show_result, warn
from valmatch.cli.options import Json, command, needed
from valmatch.errors import InputError
from valmatch.execution.run_options import REQUEST_TIMEOUT, ReplayOptions
from valmatch.inputs import options as o
from valmatch.text.suggestions import hint
from valmatch.text.terminal import counted, one_line, print_wrapped, shown

if TYPE_CHECKING:
    from valmatch.rule_sets.flexmatch import Reading
    from valmatch.rule_sets.table import Table


RULES = "A FlexMatch rule set, JSON as it is deployed; or a short form, YAML or JSON."

Lenient = Annotated[
    bool,
    o.flag(
        "Turn errors whose meaning is clear into warnings: unknown keys, a key twice in one object"
        " (the last one holds), more characters than the service takes."
    ),
]


@command(speaks=())
def check(
    rules: Annotated[Path, needed(RULES)],
    timeout: Annotated[float | None, o.duration(REQUEST_TIMEOUT)],
    lenient: Lenient,
    json: Json,
) -> None:
    """Find the faults of a FlexMatch rule set, all at once, each with its place.

    A line for each, by place: file:line:column: severity: path: text. Exit code 2 with errors, 0
    with warnings alone.
    """
    from valmatch.rule_sets.files import in_line, read_rule_file

    problems = read_rule_file(rules, timeout, lenient).problems
    errors = sum(problem.severity == "error" for problem in problems)
    document = {
        "file": str(rules),
        "errors": errors,
        "warnings": len(problems) - errors,
        "problems": [problem._asdict() for problem in problems],
    }
    lines = [f"{one_line(in_line(rules, problem))}\n" for problem in problems]
    show(json, document, lambda: sys.stdout.writelines(lines))
    if errors:
        sys.stdout.flush()
        raise typer.Exit(2)


@command(speaks=["quiet"])
def show_rules(
    rules: Annotated[Path | None, o.path(RULES, argument=True)],
    preset: Annotated[
        str | None,
        o.text(
            None,
            "In place of a file, the rule of a living matchmaker, such as faf: its numbers.",
            "NAME",
        ),
    ],
    lenient: Lenient,
    json: Json,
) -> None:
    """Say in plain words what a rule set says: teams, rules, limits by waiting time.

    Of a short form `--json` prints the FlexMatch rule set that it stands for; of a preset its
    numbers, each of which is a factor, `rule.NUMBER`.
    """
    if rules is not None and preset is not None:
        raise InputError("--preset: stands in place of FILE, not beside it")
    if rules is not None:
        _show_file(rules, lenient, json)
        return
    if preset is None:
        raise InputError("FILE or --preset is needed")
    from valmatch.config.writing import documented
    from valmatch.matching.living.registry import PRESETS, numbers_of

    if preset not in PRESETS:
        raise InputError(f"preset: {shown(preset)} is unknown ({hint(preset, PRESETS)})")
    numbers = numbers_of(preset)
    head = [f"# {numbers.title}, as of {numbers.source}", "rule:", f"  preset: {preset}", ""]
    lines = "\n".join([*head, *documented(numbers, [])[:-1]])
    show(json, {"preset": preset, **numbers().model_dump()}, lambda: print(lines))


def _read_without_errors(file: Path, lenient: bool) -> tuple[Reading, Table]:
    """Read a rule set and tell its warnings; refuse one with errors."""
    from valmatch.rule_sets.files import as_remark, error_lines, read_rule_file

    reading = read_rule_file(file, lenient=lenient)
    for problem in reading.problems:
        if problem.severity == "warning" and reading.table:
            warn(as_remark(file, problem))
    if reading.table is None:
        raise InputError(*error_lines(file, reading.problems))
    return reading, reading.table


def _show_file(file: Path, lenient: bool, json: bool) -> None:
    """Print what the rule set of a file says."""
    from valmatch.rule_sets.json_text import plain
    from valmatch.rule_sets.table import describe

    reading, table = _read_without_errors(file, lenient)
    description = describe(table)
    changes = description.changes
    document: object = {
        "teams": dict(description.teams),
        "rules": dict(description.rules),
        "search": description.search,
        "changes": [change._asdict() for change in changes],
    }
    if reading.is_short and reading.node:
        document = plain(reading.node)

    def text() -> None:
        for heading, named in (("teams", description.teams), ("rules", description.rules)):
            if named:
                print(heading)
            for name, meaning in named:
                print_wrapped(f"{name}: {meaning}", "  ")
        print("search")
        for sentence in description.search:
            print_wrapped(sentence, "  ")
        if changes:
            print("limits by waiting time")
            rows = [(f"{step.seconds:g} s", step.what, step.value) for step in changes]
            widths = [max(len(row[k]) for row in rows) for k in (0, 1)]
            for seconds, what, value in rows:
                print(one_line(f"  {seconds:>{widths[0]}}  {what:<{widths[1]}}  {value}"))

    show(json, document, text)


@command(speaks=["quiet"])
def config(rules: Annotated[Path, needed(RULES)], lenient: Lenient) -> None:
    """Print a config that simulates a rule set: with all that its rules ask of players.

    What a rule set does not say, such as how many tickets come and how skills are spread, is
    assumed; those lines say so. `valmatch rules config RULES.json > mine.yaml`, then `valmatch
    simulate mine.yaml`.
    """
    from valmatch.models.tickets.first_config import first_config

    _, table = _read_without_errors(rules, lenient)
    print(first_config(table, rules), end="")


@command(speaks=["quiet"])
def replay(
    rules: Annotated[
        Path, needed("A world: rule set, tickets, and how the service ticks; or a rule set.")
    ],
    options: ReplayOptions,
    json: Json,
) -> None:
    """Replay tickets or your own event log against a rule set: matches, waits, timeouts.

    Runs on your machine. Which matches are valid follows the published rules exactly. The order
    in which tickets are tried follows the documentation, which leaves some of it open.
    """
    from valmatch.experiments.replay import replay as replay_tickets

    show_result(json, replay_tickets(rules, options, warn), options.out)


@command(speaks=["quiet"])
def explain(
    folder: Annotated[
        Path,
        needed("The folder of a replay, or of simulate tickets: what --out has written.", "DIR"),
    ],
    ticket: Annotated[
        str,
        o.text(
            MISSING,
            "The id of a ticket, of simulate its number in tickets.csv.",
            "TICKET",
            argument=True,
        ),
    ],
    search: Annotated[
        str | None,
        o.text(
            None, "The search method: pass or exhaustive.", "NAME", default="each that was made"
        ),
    ],
    json: Json,
) -> None:
    """Say why a ticket waited: which rules refused whom, and what was nearest.

    The run of the folder is repeated. After each review the search is made once more and recorded:
    around the first 20 tickets that still wait, and around the ticket itself.
    """
    from valmatch.experiments.replay import explain_ticket

    documents = explain_ticket(folder, ticket, search=search)
    show(json, documents, lambda: _print_explanations(documents.values()))


Document = Mapping[str, Any]

ENDS = {
    "COMPLETED": "was matched",
    "TIMED_OUT": "timed out",
    "CANCELLED": "was cancelled",
    "SEARCHING": "still waited",
}

NO_ROOM = "no team had room"

HEADS = ("rule", "refused", "share", "alone", "needs", "in force", "from")


def _print_explanations(documents: Iterable[Document]) -> None:
    """Print why a ticket waited, by search."""
    from valmatch.present.document import TextTable
    from valmatch.present.terminal import print_table

    for number, document in enumerate(documents):
        if number:
            print()
        # Those that the ticket tried, and those that tried it.
        candidates = document["tried"]["tried"] + document["tried_by_others"]["tried"]
        print_wrapped(f"search {document['search']}: {_headline(document, candidates)}")
        for line in _about(document, candidates):
            print_wrapped(line, "  ")
        table = TextTable.of(*HEADS, left=["rule"])
        for rule in document["rules"] if candidates else ():
            (nearest,) = rule["nearest"]["rules"]
            since, needs = nearest["holds_from"], nearest["needs"]
            table.add(
                rule["rule"],
                f"{rule['refused']:,}",
                _percent(rule["share"]),
                f"{rule['alone']:,}",
                ", ".join(f"{need['property']} {need['needed']:g}" for need in needs),
                ", ".join(f"{need['in_force']:g}" for need in needs),
                "never" if since is None else f"{since:g} s",
            )
        if candidates:
            no_room = document["tried"]["no_room"] + document["tried_by_others"]["no_room"]
            table.add(NO_ROOM, f"{no_room:,}", _percent(no_room / candidates))
            print_table("", table)
        for line in _failures(document):
            print_wrapped(line, "  ")


def _headline(document: Document, candidates: int) -> str:
    """Return in one sentence what became of a ticket, and why it waited."""
    players = document["players"]
    parts = ["1 player" if len(players) == 1 else f"party of {len(players)}"]
    parts += filter(None, [document["region"]])
    for name, value in players[0]["attributes"].items():
        if isinstance(value, float):
            values = [player["attributes"].get(name, value) for player in players]
            parts.append(f"{name} {sum(values) / len(values):.6g}")
    ended = f"{ENDS[document['status']]} after {document['waited']:g} s"
    sentence = f"{document['ticket']} ({', '.join(parts)}) {ended}"
    most = max(document["rules"], key=lambda rule: rule["refused"], default=None)
    if not most or not candidates:
        return sentence
    then = "; before, " if document["status"] == "COMPLETED" else ": "
    refused = f"{most['rule']} refused {_percent(most['share'])} of {candidates:,} candidates"
    return f"{sentence}{then}{refused}"


def _about(document: Document, candidates: int) -> Iterator[str]:
    """Yield when a ticket came and went, what its players are, and what its reviews were."""
    when = f"joined at {document['joined']:g} s, ended at {document['ended']:g} s"
    yield "; ".join([when, *map(_player, document["players"])])
    if document["unmatchable"]:
        yield f"no match can take it: no value of {', '.join(document['unmatchable'])}"
    looked, reviews = document["looked_at"], document["reviews"]
    every = "all" if looked == reviews else f"{looked:,}"
    yield f"still waited after {counted(reviews, 'review')}, {every} of them looked at"
    for rule, count in document["refused_alone"].items():
        why = NO_ROOM if rule == "no room" else f"{rule} refused it"
        yield f"even alone, before others were tried: {why} {_times(count)}"
    if candidates:
        tried, others = document["tried"], document["tried_by_others"]
        yield (
            f"anchor {_times(document['anchor'])}: it tried {tried['tried']:,} candidates,"
            f" {tried['taken']:,} could join; others tried it {_times(others['tried'])}, it could"
            f" join {_times(others['taken'])}"
        )


def _player(player: Document) -> str:
    """Return a player with their attributes and latencies."""
    parts = []
    for name, value in player["attributes"].items():
        if isinstance(value, Mapping):
            value = "/".join(f"{key} {number:g}" for key, number in value.items()) or "-"
        elif isinstance(value, list | tuple):
            value = "/".join(value) or "-"
        parts.append(f"{name} {value}" if isinstance(value, str) else f"{name} {value:.12g}")
    parts += [f"{region} {ping:g} ms" for region, ping in player["latency"].items()]
    return f"{player['id']}: {', '.join(parts)}" if parts else str(player["id"])


def _failures(document: Document) -> Iterator[str]:
    """Yield who blocked a ticket, and what the nearest and the fullest matches failed by."""
    for blocker in document["blocked_by"]:
        without = " and ".join(blocker["tickets"])
        yield f"blocked: without {without}, a match at {counted(blocker['reviews'], 'review')}"
    if failed := document["nearest"]:
        (rule,) = failed["rules"]
        needs = "".join(
            f" needs {need['property']} {need['needed']:g}, {need['in_force']:g} is in force;"
            for need in rule["needs"]
        )
        since = rule["holds_from"]
        allowed = " no step allows it" if since is None else f" allowed from {since:g} s"
        yield f"nearest: {_where(failed)}: {rule['rule']}{needs}{allowed}"
    if failed := document["fullest"]:
        text = f"most complete: {_where(failed)}: {counted(failed['players'], 'player')}"
        if failed["rules"]:
            yield f"{text}, refused by {', '.join(rule['rule'] for rule in failed['rules'])}"
        else:
            lacking = [
                f"{name} {team['players']} of {team['least']}"
                for name, team in failed["teams"].items()
                if team["players"] < team["least"]
            ]
            yield "; ".join([text, *([", ".join(lacking)] if lacking else [])])


def _where(failed: Document) -> str:
    """Return with whom, and when, a match failed."""
    company = f"with {', '.join(failed['with'])}" if failed["with"] else "alone"
    return f"{company} at {failed['time']:g} s, {failed['age']:g} s old"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
