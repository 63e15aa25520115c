"""The commands together; every failure is plain lines on stderr and an exit code."""

import io
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from valmatch.cli.console import say, start_speaking
from valmatch.cli.options import flag
from valmatch.errors import InputError, RunError, options_called
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shortened


def _opened(stream: TextIO | None, vital: bool) -> TextIO:
    """Return a standard stream that drops what nobody reads; other faults end a `vital` one."""
    if stream is None:  # the shell has closed it
        return Path(os.devnull).open("w")
    if os.name != "posix" or not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Stream(stream.fileno(), vital)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering or stream.write_through or not vital,
    )


class _Stream(io.FileIO):
    """One of the streams; where it cannot be written, it swallows everything from then on."""

    def __init__(self, number: int, vital: bool) -> None:
        super().__init__(number, "w", closefd=False)
        self._vital = vital

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - any buffer
        try:
            return super().write(data)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if self._vital and not isinstance(error, BrokenPipeError):
                raise RunError(f"standard output: cannot be written: {error.strerror}") from None
        return memoryview(data).nbytes


class _Light:
    """A command or a group of them, whose values are read without what takes long to import.

    Typer reads each through pydantic, and flags that are not given, too. Where it does not keep
    what reads a value in the place that is looked for here, nothing is changed.
    """

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - typer has its own click
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "_runtime_param", param) is None:
                param._runtime_param = _Value(param)
        return params

    def by_group(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:  # noqa: ANN401
        """Return names and sentences of arguments and options, many options by what they are on."""
        params = self.get_params(ctx)
        names = GROUP_OF if len(params) > FEW else {}
        groups: dict[str, list[tuple[str, str]]] = {
            title: [] for title in ("Arguments", "Options", *OPTION_GROUPS)
        }
        for param in params:
            if param.param_type_name == "argument":
                groups["Arguments"].append((str(param.metavar), str(param.help)))
            else:
                groups[names.get(param.name, "Options")].append(param.get_help_record(ctx))
        return {title: rows for title, rows in groups.items() if rows}


class _Value:
    """Takes a text as it is; commands read their values themselves."""

    def __init__(self, param: Any) -> None:  # noqa: ANN401
        self._repeated = bool(getattr(param, "multiple", False)) or param.nargs != 1

    def coerce(self, value: Any, **context: Any) -> object:  # noqa: ANN401
        return tuple(value or ()) if self._repeated else value


class _Group(_Light, TyperGroup):
    """Commands under one name, shown by what they are for."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - typer has its own click
        known = super().get_command(ctx, cmd_name)
        if known is None and not ctx.resilient_parsing:
            raise _no_command(cmd_name, RULES if self.name == "rules" else NAMES, ctx.command_path)
        return known

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        of_rules = {"Commands (valmatch rules check rules.json)": RULES}
        for title, commands in (of_rules if self.name == "rules" else GROUPS).items():
            with formatter.section(title):
                formatter.write_dl([(name, sentence) for name, (_, sentence) in commands.items()])


class _Command(_Light, TyperCommand):
    """A command whose usage names its arguments as its help does."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer has its own click
        return ["[OPTIONS]", *(name for name, _ in self.by_group(ctx).get("Arguments", ()))]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        for title, rows in self.by_group(ctx).items():
            with formatter.section(title):
                formatter.write_dl(rows)


FEW = 12  # options that are shown in one list
OPTION_GROUPS = {
    "Statistics": "n targets max_reps control_variates replications seed confidence level interval"
    " cluster cluster_days bootstrap differences",
    "Reading files": "columns separator results date_format time_unit alias skip_bad_rows"
    " max_bad_rows sort_rows skip_bad_games",
    "Firmness": "firmness bought swapped_by best_of show_when",
    "Running": "shard workers executor scheduler resume max_seconds",
    "Output": "responses min_games top markdown out page json quiet verbose help",
}
"""Options by what they are on, whichever command has them."""

GROUP_OF = {name: title for title, names in OPTION_GROUPS.items() for name in names.split()}

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Start (valmatch replicate valorant -n 100)": {
        "check": ("lists", "Say what a file is, what is wrong with it, and what to do next"),
        "configs": ("lists", "List the configs that come with valmatch"),
        "factors": ("lists", "Show the factors of a model: meaning, unit, default, range"),
        "responses": ("lists", "Show the responses of a model: meaning, unit"),
        "warm": ("lists", "Compile now what later commands need"),
        "help": ("", "Show what a command does, as its --help does"),
    },
    "Queues (valmatch compare valorant --set team_diff=300)": {
        "simulate": ("runs", "Simulate once and show the responses"),
        "replicate": ("runs", "Repeat the simulation: means with confidence intervals"),
        "explore": ("runs", "Make a page with sliders: drag a rule, see what it does"),
        "compare": ("runs", "Compare configs on the same simulated players"),
        "optimize": ("runs", "Find the rules that are best within limits"),
        "fit": ("runs", "Print a config whose arrivals are like those of a queue log"),
    },
    "Ratings (valmatch rate games.csv --out week1)": {
        "rate": ("games", "Rate the players of a game log, game by game"),
        "rank": ("games", "Rate a whole log at once, with intervals"),
        "predict": ("games", "Predict games from ratings"),
        "next": ("games", "Suggest the next pairings from ratings and their uncertainty"),
        "plan": ("games", "Say how many games it takes to know players well enough"),
        "sprt": ("games", "Test while games go on whether one player is stronger"),
    },
    "Rule sets (valmatch rules check rules.json)": {
        "rules": ("", "Check, show, replay and explain a FlexMatch rule set")
    },
    "Results (valmatch report week1 -o week1.html)": {
        "report": ("runs", "Write a results folder as a page"),
        "plot": ("runs", "Draw figures of a results folder"),
        "status": ("runs", "Show the progress of runs"),
        "combine": ("runs", "Combine the shards of a run"),
    },
    "Research (valmatch optimize valorant-20min --macroreps 20)": {
        "solvers": ("lists", "List the solvers of optimize"),
        "problems": ("lists", "List the shipped problems with their best known solutions"),
    },
}
"""The commands by what they are for, with an example: their modules in ``valmatch.cli``."""

MODULES = {
    name: module for commands in GROUPS.values() for name, (module, _) in commands.items() if module
}
"""The commands of their own, with the module each is in."""

RULES = {
    "check": ("check", "Find the faults of a rule set, each with its place"),
    "show": ("show_rules", "Say in plain words what a rule set says"),
    "config": ("config", "Print a config that simulates a rule set"),
    "replay": ("replay", "Replay tickets or your own event log against a rule set"),
    "explain": ("explain", "Say why tickets waited long"),
}
"""The commands of ``valmatch rules`` with their functions in ``valmatch.cli.rules``."""

NAMES = tuple(name for commands in GROUPS.values() for name in commands)  # all commands

MEANT = {
    "run": "valmatch simulate makes one run, valmatch replicate many",
    "list": "valmatch configs, responses, factors, solvers and problems list what there is",
    "models": "valmatch configs names the models, valmatch factors MODEL describes one",
    "init": "valmatch check FILE --write mine.yaml or valmatch factors MODEL > mine.yaml",
    "tune": "valmatch optimize CONFIG for rules, valmatch rate GAMES.csv --tune NAME for ratings",
    "elo": "valmatch rate GAMES.csv --system elo",
    "doctor": "valmatch check FILE",
    "version": "valmatch --version",
    "docs": "valmatch help COMMAND",
}
"""Words that are no commands, with what to type instead."""


def command_line(only: str | None = None) -> typer.Typer:
    """Return the commands together, or one of them alone."""
    app = typer.Typer(
        cls=_Group,
        name="valmatch",
        help="Simulate matchmaking systems, replicate them with honest statistics, optimise their"
        " rules.",
        invoke_without_command=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_app)
    for name in MODULES if only is None else {only} & MODULES.keys():
        module = import_module(f"valmatch.cli.{MODULES[name]}")
        app.command(name, cls=_Command)(getattr(module, name))
    if only in (None, "rules", "help"):
        from valmatch.cli import rules

        group = typer.Typer(
            cls=_Group,
            help="Read a game's FlexMatch rule set.",
            invoke_without_command=True,
            rich_markup_mode=None,
        )
        group.callback()(_help_alone)
        for name, (function, _) in RULES.items():
            group.command(name, cls=_Command)(getattr(rules, function))
        app.add_typer(group, name="rules")
        app.command("help", cls=_Command)(_help)
    return app


def _no_command(name: str, names: Iterable[str], of: str) -> InputError:
    """Return the refusal of a command that is none, with what may be meant."""
    from valmatch.config.loading import shipped_configs

    configs = [other for other in shipped_configs() if other.startswith(name)]
    near = f"a config: valmatch replicate {configs[0]}" if configs else hint(name, names)
    near = MEANT.get(name, near)
    if os.path.exists(name):  # noqa: PTH110 - no name is too long for it
        near = f"valmatch check {shortened(name)} says what it is"
    return InputError(f"{of} {shortened(name)}: no such command ({near})")


def _help_alone(context: typer.Context) -> None:
    """Show the help of a group where no command is named."""
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(2)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"valmatch {version('valmatch')}")
        raise typer.Exit


def _app(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    _help_alone(context)


def _help(
    command: Annotated[
        str | None, typer.Argument(metavar="[COMMAND]", help="Name of a command.")
    ] = None,
) -> None:
    """Show what a command does and its options, as its --help does."""
    if command is not None and command not in NAMES:
        raise _no_command(command, NAMES, "valmatch")
    command_line(command or "")(
        [*([command] if command else []), "--help"], prog_name="valmatch", standalone_mode=False
    )


def main() -> None:
    """Run the command line; every failure is plain lines on stderr and an exit code."""
    start_speaking()
    sys.stdout, sys.stderr = _opened(sys.stdout, True), _opened(sys.stderr, False)
    with options_called(flag):
        sys.exit(_run())


def _run() -> int:
    """Run a command; return its exit code."""
    click_exception = typer.BadParameter.__mro__[2]
    try:
        only = None if "_VALMATCH_COMPLETE" in os.environ else "".join(sys.argv[1:2])
        app = command_line(only)
        code: int = app(prog_name="valmatch", standalone_mode=False)
        sys.stdout.flush()
        return code
    except InputError as error:
        return _fail(2, *error.args)
    except RunError as error:
        return _fail(1, *error.args)
    except KeyboardInterrupt:
        return _fail(130, "interrupted")
    except typer.Abort:
        return _fail(130, "aborted")
    except MemoryError:
        return _fail(1, "out of memory")
    except Exception as error:
        if isinstance(error, click_exception):
            return _usage(error)
        if os.environ.get("VALMATCH_TRACEBACK"):
            raise
        what = f"internal error: {type(error).__name__}: {error}"
        return _fail(1, f"{what} (VALMATCH_TRACEBACK=1 shows where)")


def _usage(error: Exception) -> int:
    """Report wrong usage in one line."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "valmatch"
    text = " ".join(error.format_message().split())  # type: ignore[attr-defined]
    if context and type(error).__name__ == "MissingParameter":
        usage = " ".join(context.command.collect_usage_pieces(context))
        return _fail(2, f"{text.rstrip('.')} (usage: {command} {usage}; see {command} --help)")
    return _fail(2, f"{text} (see {command} --help)" if text else f"see {command} --help")


def _fail(code: int, *lines: str) -> int:
    for line in lines:
        say(line)
    return code
