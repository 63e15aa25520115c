"""Directives of Sphinx that write what the program knows of itself, so that no page repeats it.

``{factors} MODEL``, ``{responses} MODEL``, ``{command} NAME``, ``{exit-codes}`` and the lists
``{configs}``, ``{problems}``, ``{solvers}``, ``{systems}``, ``{policies}``, ``{queue-rules}``,
``{rating-columns}``, ``{whole-log-columns}``. Each makes Markdown from the code that is installed,
and lets the parser of the page read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from valmatch.config.factor_paths import section_of
from valmatch.config.writing import default_text
from valmatch.inputs.fields import Section, allowed, schema_at
from valmatch.models.registry import MODELS

Lines = Iterator[str]


class _OfOne(NamedTuple):
    field: int


TUPLE_FIELD: type = type(vars(_OfOne)["field"])
"""What a field of a named tuple is in its class."""

SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\*_<>[]|~$#"})


def plain(text: str) -> str:
    """Return text as Markdown shows it, what stands in backticks as code."""
    parts = " ".join(text.replace("``", "`").split()).split("`")
    return "`".join(
        part.replace("|", "\\|") if k % 2 else part.translate(SPECIAL)
        for k, part in enumerate(parts)
    )


def code(text: str) -> str:
    """Return text as code in a cell of a table."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Lines:
    """Yield a table."""
    yield from ("", f"| {' | '.join(head)} |", "|---" * len(head) + "|")
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def factors(model: str) -> Lines:
    """Yield the tables of a model's factors, one for each section."""
    top = MODELS[model].factors
    yield from _factor_table(top, top, [])
    for name, field in top.model_fields.items():
        section = section_of(field)
        if section:
            yield from (f"**Section `{name}`.** {plain(field.description or '')}", "")
            yield from _factor_table(top, section, [name])
    for key, meaning in MODELS[model].files.items():
        yield from (f"**File `{key}`.** {plain(meaning)}", "")


def _factor_table(top: type[Section], section: type[Section], path: Sequence[str]) -> Lines:
    rows = []
    for name, field in section.model_fields.items():
        if section_of(field):
            continue
        schema = schema_at(top, [*path, name])
        default = default_text(field.get_default(call_default_factory=True))
        facts = f"{schema['description']} Allowed: {allowed(schema)}."
        rows.append(
            [
                code(".".join((*path, name))),
                code(default),
                plain(schema.get("unit", "")),
                plain(facts),
            ]
        )
    if rows:
        yield from table(["factor", "default", "unit", "meaning"], rows)


def responses(model: str) -> Lines:
    """Yield the tables of a model's responses, those of parts and windows by one of them."""
    from valmatch.experiments.response_list import folded, list_responses

    for group, listed in groupby(list_responses(model), lambda row: row.group):
        if group:
            yield f"With `measure: [{group}]`:"
        rows = folded(listed)
        cells = [(code(name), plain(unit), plain(meaning)) for name, unit, meaning, _ in rows]
        yield from table(["response", "unit", "meaning"], cells)
        if names := {name: None for *_, parts in rows for name in parts}:
            what = "PART" if group else "POLICY"
            yield from (f"{what} is one of {', '.join(code(name) for name in names)}.", "")


def command(name: str) -> Lines:
    """Yield usage, text, arguments and options of a command, as `valmatch help` has them.

    Parameters
    ----------
    name : str
        The command, with that of its group before it (`rules check`), or `valmatch`.
    """
    import typer

    from valmatch.cli.app import command_line

    found: Any = typer.main.get_command(command_line())
    context = found.make_context("valmatch", [], resilient_parsing=True)
    for word in [] if name == "valmatch" else name.split():
        found = found.commands[word]
        context = found.make_context(word, [], parent=context, resilient_parsing=True)
    usage = " ".join(found.collect_usage_pieces(context))
    title = "valmatch" if name == "valmatch" else f"valmatch {name}"
    yield from ("```text", f"{title} {usage}", "```", "")
    for paragraph in (found.help or "").split("\n\n"):
        yield from (plain(paragraph), "")
    yield from (f"```{{program}} {title}", "```", "")
    groups = found.by_group(context)
    for title, records in groups.items():
        yield from (f"**{title}**", "") if len(groups) > 2 else ()
        for names, sentence in records:
            yield from ("````{option} " + names, plain(sentence), "````", "")


def exit_codes() -> Lines:
    """Yield the table of exit codes."""
    from valmatch.cli import console

    yield from table(
        ["code", "meaning"],
        [
            ["0", "Success."],
            ["1", "The run failed; finished work is kept. `check`: faults that change answers."],
            ["2", "Bad input or usage. Nothing was written."],
            [
                str(console.MISSED),
                "A target was missed: no feasible point, or the precision is not reached.",
            ],
            [
                str(console.AGAIN),
                "Unfinished, run again: `--max-time` is up, or replications are missing.",
            ],
            [str(console.INTERRUPTED), "A signal ended the run. Finished work is kept."],
        ],
    )


def configs() -> Lines:
    """Yield the table of the shipped configs."""
    from valmatch.config.loading import listed

    rows = [[code(row["config"]), code(row["model"]), plain(row["about"])] for row in listed()]
    yield from table(["config", "model", "what it is"], rows)


def solvers() -> Lines:
    """Yield the table of the solvers."""
    from valmatch.optimization.solvers.registry import listed

    rows = [
        [code(str(one.pop("solver", one.pop("name", "")))), *map(plain, map(str, one.values()))]
        for one in map(dict, listed())
    ]
    yield from table(["solver", "what it does", "needs"], rows)


def systems() -> Lines:
    """Yield the table of the rating systems with their parameters."""
    from valmatch.ratings.registry import all_systems

    rows = []
    for system in all_systems():
        numbers = ", ".join(code(f"{one.name} = {one.published:g}") for one in system.parameters)
        rows.append([code(system.name), plain((system.__doc__ or "").split("\n\n")[0]), numbers])
    yield from table(["system", "what it is", "parameters, as published"], rows)


def rating_columns() -> Lines:
    """Yield the table of the columns that rating systems have in ``ratings.csv``."""
    from valmatch.game_logs.roster import COUNTS, LAST_GAME
    from valmatch.ratings.registry import all_systems

    common = ("rank", "player", "rating", "games", *COUNTS)
    all_have = f"{', '.join(map(code, common))}; {code(LAST_GAME)} where the log has times"
    rows = [["all", all_have]]
    for system in all_systems():
        own = [column.name for column in system.columns if column.name != "rating"]
        if own:
            rows.append([code(system.name), ", ".join(map(code, own))])
    yield from table(["system", "columns"], rows)


def whole_log_columns() -> Lines:
    """Yield the table of the files of a rating of a whole log."""
    from valmatch.game_logs.roster import RATINGS
    from valmatch.game_logs.whole_log import rating, result

    columns = {
        RATINGS: result.PlayerRow._fields,
        rating.DIFFERENCES: result.OF_TWO,
        result.COEFFICIENTS: result.CoefficientRow._fields,
        result.BOOTSTRAP: result.BootstrapRow._fields,
    }
    rows = [[code(name), ", ".join(map(code, names))] for name, names in columns.items()]
    yield from table(["file", "columns"], rows)


def policies() -> Lines:
    """Yield the table of the policies."""
    from valmatch.policies.registry import POLICIES

    rows = [
        [
            code(name),
            plain(policy.opponent.meaning if policy.opponent else ""),
            plain(policy.pair.meaning if policy.pair else ""),
            plain(policy.joint.meaning if policy.joint else ""),
            plain(policy.target.meaning if policy.target else ""),
        ]
        for name, policy in POLICIES.items()
    ]
    yield from table(
        [
            "policy",
            "an opponent is chosen by",
            "a pair who wait is worth",
            "of all rated, a pair is worth",
            "an alternative is measured by",
        ],
        rows,
    )


def queue_rules() -> Lines:
    """Yield the table of the rules of the queue."""
    from valmatch.matching.registry import QUEUES

    rows = [
        [code(name), plain(entry.meaning), ", ".join(map(code, entry.options))]
        for name, entry in QUEUES.items()
    ]
    yield from table(["rule", "how it makes matches", "options besides `team_num`"], rows)


def problems() -> Lines:
    """Yield the table of the shipped problems."""
    from valmatch.config.loading import listed
    from valmatch.optimization.problem import shipped_problems

    about = {row["config"]: row["about"] for row in listed()}
    rows = []
    for name, config in shipped_problems().items():
        variables = ", ".join(map(code, config.optimize.variables))
        rows.append([code(name), code(config.model), variables, plain(about[name])])
    yield from table(["problem", "model", "variables", "what it is"], rows)


def directive(write: Callable[..., Lines], arguments: int) -> type[SphinxDirective]:
    """Return the directive that puts what a function writes into a page."""

    class FromTheProgram(SphinxDirective):
        required_arguments = arguments
        final_argument_whitespace = True  # of a command in a group

        def run(self) -> list[nodes.Node]:
            lines = [*write(*self.arguments)]
            place = nodes.container(classes=["from-the-program"])
            place.document = self.state.document
            source = StringList(lines, source=self.env.docname)
            self.state.nested_parse(source, self.content_offset, place)
            return [place]

    return FromTheProgram


def leave_out(
    app: Sphinx, what: str, name: str, member: object, skip: bool, options: object
) -> bool | None:
    """Leave out what Python writes of the fields of named tuples, and pydantic of its models."""
    return True if isinstance(member, TUPLE_FIELD) or name in ("model_config",) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx the directives."""
    for name, write, arguments in (
        ("factors", factors, 1),
        ("responses", responses, 1),
        ("command", command, 1),
        ("exit-codes", exit_codes, 0),
        ("configs", configs, 0),
        ("problems", problems, 0),
        ("solvers", solvers, 0),
        ("systems", systems, 0),
        ("rating-columns", rating_columns, 0),
        ("whole-log-columns", whole_log_columns, 0),
        ("policies", policies, 0),
        ("queue-rules", queue_rules, 0),
    ):
        app.add_directive(name, directive(write, arguments))
    app.connect("autodoc-skip-member", leave_out)
    return {"parallel_read_safe": True}
