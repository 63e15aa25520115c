"""``valmatch rules``: what a game's rule set says, and what is wrong with it."""

from __future__ import annotations

import sys
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valmatch.cli.console import show, show_result, warn
from valmatch.cli.options import Json, command
from valmatch.errors import InputError
from valmatch.errors import in_lines as error_lines
from valmatch.inputs import options as o
from valmatch.text.terminal import one_line, print_wrapped

if TYPE_CHECKING:
    from valmatch.rule_sets.descriptions import Description
    from valmatch.rule_sets.json_text import Problem


MOST_BLOCKERS = 3  # tickets that block others, most of whom are named


def _rule_file(value: Any = None) -> Any:  # noqa: ANN401
    what = "A FlexMatch rule set, JSON as it is deployed; or a short form, YAML or JSON."
    return o.path(what, argument=True, value=value)


def _search(help: str, default: str) -> Any:  # noqa: ANN401
    return o.text(None, help, "NAME", default=default)


def _timeout() -> Any:  # noqa: ANN401
    return o.duration("The request timeout of the matchmaker: no ticket lives for later steps.")


Timeout = Annotated[float | None, _timeout()]

Lenient = Annotated[
    bool,
    o.flag(
        "Turn errors whose meaning is clear into warnings: unknown keys, a key twice in one object"
        " (the last one holds), more characters than the service takes."
    ),
]


@command(speaks=())
def check(
    rules: Annotated[Path, _rule_file(MISSING)], timeout: Timeout, lenient: Lenient, json: Json
) -> None:
    """Find the faults of a FlexMatch rule set, all at once, each with its place.

    A line for each, by place: file:line:column: severity: path: text. Exit code 2 with errors, 0
    with warnings alone.
    """
    from valmatch.rule_sets.files import in_line, read_rule_file

    found = read_rule_file(rules, timeout, lenient).problems
    errors = sum(problem.severity == "error" for problem in found)
    document = {
        "file": str(rules),
        "errors": errors,
        "warnings": len(found) - errors,
        "problems": [problem._asdict() for problem in found],
    }
    show(json, document, lambda: _print_problems([in_line(rules, one) for one in found]))
    if errors:
        sys.stdout.flush()
        raise typer.Exit(2)


def _print_problems(lines: list[str]) -> None:
    for line in lines:
        print(one_line(line))


@command(speaks=["quiet"])
def show_rules(
    rules: Annotated[Path | None, _rule_file()],
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
    """Say in plain words what a rule set says: teams, rules, what holds from which second on.

    Of a short form `--json` prints the FlexMatch rule set that it stands for; of a preset its
    numbers, each of which is a factor, `rule.NUMBER`.
    """
    if preset is not None:
        if rules is not None:
            raise InputError("--preset: stands in place of FILE, not beside it")
        _show_preset(preset, json)
        return
    if rules is None:
        raise InputError("FILE or --preset is needed")
    _show_file(rules, lenient, json)


def _show_preset(preset: str, json: bool) -> None:
    """Print the numbers of a preset with their meanings, as a config has them."""
    from valmatch.config.writing import documented
    from valmatch.matching.living.registry import PRESETS, numbers_of
    from valmatch.text.suggestions import hint
    from valmatch.text.terminal import shown

    if preset not in PRESETS:
        raise InputError(f"preset: {shown(preset)} is none ({hint(preset, PRESETS)})")
    numbers = numbers_of(preset)
    head = [f"# {PRESETS[preset]}, as of {numbers.source}", "rule:", f"  preset: {preset}", ""]
    lines = "\n".join([*head, *documented(numbers, [])[:-1]])
    show(json, {"preset": preset, **numbers().model_dump()}, lambda: print(lines))


def _show_file(file: Path, lenient: bool, json: bool) -> None:
    """Print what the rule set of a file says."""
    from valmatch.rule_sets.descriptions import describe
    from valmatch.rule_sets.files import as_remark, read_rule_file
    from valmatch.rule_sets.json_text import plain

    reading = read_rule_file(file, lenient=lenient)
    for problem in reading.problems:
        if problem.severity == "warning" and reading.table:
            warn(as_remark(file, problem))
    if reading.table is None:
        raise InputError(*_errors(file, reading.problems))
    description = describe(reading.table)
    document = plain(reading.node) if reading.is_short and reading.node else _document(description)
    show(json, document, lambda: _print_description(description))


@dataclass(frozen=True)
class ReplayOptions(o.OutOptions):
    """Which tickets are played, and how."""

    tickets: Path | None = o.path(
        "With a rule set: tickets in order of time, a JSON object a line, with id, time and players"
        " as in a world; a CSV file of single players with columns id, time, attributes that are"
        " numbers or strings, latency.REGION; or a game's own log of FlexMatch events, one a line."
    )
    players: Path | None = o.path(
        "With a log of events: what it does not say of its players, a JSON object a line, with id,"
        " attributes and latency as in a world; or a CSV file with columns id, attributes,"
        " latency.REGION."
    )
    search: str | None = _search(
        "Search method: pass, or exhaustive for small pools.", "as the world says, else pass"
    )
    latency_of: str | None = o.text(
        None,
        "Whose latency a latency rule looks at: that of a ticket, one number by partyAggregation,"
        " or of each player.",
        "NAME",
        default="as the world says, else ticket",
    )
    timeout: float | None = _timeout()
    review: float | None = o.duration("With a rule set: time between reviews.", default="1 s")
    explain: bool = o.flag(
        "Also write explain.jsonl: of each ticket that ended without a match, what rules explain"
        " says of it."
    )


@command(speaks=["quiet"])
def replay(
    rules: Annotated[
        Path,
        o.path(
            "A world: rule set, tickets, and how the service ticks; or a rule set.",
            argument=True,
            value=MISSING,
        ),
    ],
    options: ReplayOptions,
    json: Json,
) -> None:
    """Play tickets by a rule set, offline: who is matched with whom and when, who times out.

    Whether a match is valid follows the published rules exactly; in what order tickets are tried is
    as documented, or a reading of it.
    """
    from valmatch.experiments.replay import ReplayInput
    from valmatch.experiments.replay import replay as replay_tickets

    given = {one.name: getattr(options, one.name) for one in fields(options)}
    how = {name: given.pop(name) for name in ("search", "out", "explain")}
    result = replay_tickets(ReplayInput(rules, **given), **how, warn=warn)
    show_result(json, result.summary(), result, options.out)


def _errors(file: Path, problems: list[Problem]) -> list[str]:
    """Return the errors among problems, as lines."""
    from valmatch.rule_sets.files import in_line

    return error_lines([in_line(file, one) for one in problems if one.severity == "error"])


def _document(description: Description) -> dict[str, object]:
    """Return a description as JSON has it."""
    return {
        "teams": dict(description.teams),
        "rules": dict(description.rules),
        "search": description.search,
        "changes": [change._asdict() for change in description.changes],
    }


def _print_description(description: Description) -> None:
    """Print a description in lines that a terminal can take."""
    _print_named("teams", description.teams)
    _print_named("rules", description.rules)
    print("search")
    for sentence in description.search:
        print_wrapped(sentence, "  ")
    if description.changes:
        print("what holds from which second on")
        rows = [(f"{one.seconds:g} s", one.what, one.value) for one in description.changes]
        widths = [max(len(row[k]) for row in rows) for k in (0, 1)]
        for seconds, what, value in rows:
            print(one_line(f"  {seconds:>{widths[0]}}  {what:<{widths[1]}}  {value}"))


def _print_named(heading: str, named: list[tuple[str, str]]) -> None:
    """Print names and what they are."""
    if named:
        print(heading)
    for name, text in named:
        print_wrapped(f"{name}: {text}", "  ")


# ``valmatch rules explain``.


@command(speaks=["quiet"])
def explain(
    folder: Annotated[
        Path,
        o.path(
            "The folder of a replay, or of simulate tickets: what --out has written.",
            "DIR",
            argument=True,
            value=MISSING,
        ),
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
        _search("The search method: pass or exhaustive.", "each that was made"),
    ],
    json: Json,
) -> None:
    """Say why a ticket waited: which rules refused whom, and what was nearest.

    The run of the folder is made again. As each review ends, those who wait on look for a match
    once more, now in plain sight: the first 20 tickets as anchors, and the ticket itself.
    """
    from valmatch.cli.tables import show_explanations
    from valmatch.experiments.explain import explain_ticket

    found = explain_ticket(folder, ticket, search=search)
    show(json, found.documents, lambda: show_explanations(found))
