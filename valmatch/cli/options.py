"""Commands made of functions whose options are dataclasses, and options that several share."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from valmatch.cli.console import Bar, detail, load_config, start_speaking, warn
from valmatch.errors import call_options
from valmatch.execution.run_options import RunOptions
from valmatch.execution.shards import in_job_array
from valmatch.inputs import options as o
from valmatch.inputs.csv_reader import SEPARATOR_NAMES
from valmatch.text.terminal import Note

if TYPE_CHECKING:
    from valmatch.config.config import Config, OptimizeOptions, ReplicateOptions


_SPEAKING = {
    "quiet": o.flag("Print nothing but errors, and JSON if asked.", short="-q"),
    "verbose": o.flag("Also say how the run is made.", short="-v"),
}


def command(
    speaks: Sequence[str] = tuple(_SPEAKING),
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function, whose parameters are classes of options or declared alone."""

    def make(function: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(function, include_extras=True)
        hints.pop("return")
        entries: dict[str, Field[Any]] = {}
        for name, hint in hints.items():
            alone = getattr(hint, "__metadata__", ())
            entries |= {name: alone[0]} if alone else {e.name: e for e in o.options_of(hint)}
        entries = {name: entry for name, entry in entries.items() if not o.declared(entry).listener}

        def call(**texts: Any) -> None:  # noqa: ANN401
            texts = {k: v for k, v in texts.items() if v is not None and v is not False and v != ()}
            start_speaking("quiet" in texts, "verbose" in texts)
            values: dict[str, object] = {}
            for name, hint in hints.items():
                if isinstance(hint, type) and issubclass(hint, o.Options):
                    values[name] = o.from_texts(hint, texts)
                    continue
                of, values[name] = o.declared(entries[name]), o.default_of(entries[name])
                if name in texts:
                    values[name] = of.check(name, o.value_of(name, of, texts[name]))
            function(**values)

        entries |= {name: _SPEAKING[name] for name in speaks}
        parameters = [_typer_parameter(name, entry) for name, entry in entries.items()]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        call.__doc__ = function.__doc__
        call.__name__ = function.__name__
        return call

    return make


def _typer_parameter(name: str, entry: Field[Any]) -> inspect.Parameter:
    """Return a parameter as typer takes it."""
    of, default = o.declared(entry), o.default_of(entry)
    more: dict[str, Any] = {"help": o.help_of(of, default, flag), "metavar": of.metavar or None}
    more["autocompletion"] = of.complete
    kind: Any = list[str] if of.repeated else str if of.metavar else bool
    needed = of.argument and default is MISSING
    if of.argument:
        info: Any = typer.Argument(**more)
    else:
        names = [of.short, flag(name)] if of.short != flag(name) else [of.short, f"--{name}"]
        info = typer.Option(*filter(None, names), **more)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if needed else False if kind is bool else None,
        annotation=Annotated[kind if needed or kind is bool else kind | None, info],
    )


def needed(help: str, metavar: str = "FILE") -> Any:  # noqa: ANN401
    """Declare the path of a file or folder that stands on the command line by its place."""
    return o.path(help, metavar, argument=True, value=MISSING)


Json = Annotated[bool, o.flag("Print one JSON document and nothing else.")]


def complete_config(text: str) -> list[str]:
    """Return shipped configs and YAML files that start with what is typed."""
    from valmatch.config.loading import shipped_configs

    files = [str(path) for path in sorted(Path().glob("*.yaml"))]
    return [name for name in [*shipped_configs(), *files] if name.startswith(text)]


def complete_solver(text: str) -> list[str]:
    """Return lists of solvers that start with what is typed."""
    from valmatch.optimization.solvers.registry import SOLVERS

    done, comma, last = text.rpartition(",")
    return [f"{done}{comma}{name}" for name in SOLVERS if name.startswith(last)]


def complete_model(text: str) -> list[str]:
    """Return models that start with what is typed."""
    from valmatch.models.registry import MODELS

    return [name for name in MODELS if name.startswith(text)]


_FLAGS = (
    "config=CONFIG fixtures=FIXTURES.csv folders=DIR formats=--format games=GAMES.csv "
    "log=LOG.csv|CONFIG.yaml log.columns=--columns log.max_bad_rows=--max-bad-rows "
    "log.separator=--separator log.skip_bad_rows=--skip-bad-rows log.sort=--sort-rows "
    "max_seconds=--max-time unchanged=--all folder=DIR n=-n overrides=--set page=-o "
    "parameters=--set rules=FILE source=DIR solvers=--solver targets=--target "
    "variants=--variant"
)

FLAGS = dict(pair.split("=") for pair in _FLAGS.split())
"""Options and arguments that are not called as the arguments of the public functions are."""

KEYS = {"solvers": "solver", "targets": "target"}  # the same of keys of configs


def flag(argument: str) -> str:
    """Return the option of an argument of the public functions, see `valmatch.errors.option`."""
    name, _, value = argument.partition("=")
    if "." in name and name not in FLAGS:
        return f"--set {argument}"
    called = FLAGS.get(name, f"--{name.replace('_', '-')}")
    return called if value in ("", "True") else f"{called} {value}"


def name_options(config: Config, section: str, options: RunOptions) -> None:
    """Let messages call options by their place in a config that gives them."""

    def call(argument: str) -> str:
        name, _, value = argument.partition("=")
        path = f"{section}.{KEYS.get(name, name)}"
        if getattr(options, name, True) or path not in config.places:
            return flag(argument)
        return config.at(path) if value in ("", "True") else f"{config.at(path)}: {value}"

    call_options(call)


def warn_in_job_array(command: str) -> None:
    """Say in a task of a job array that a command takes no shares."""
    if in_job_array(os.environ):
        warn(
            f"every task of this job array does the whole work: {command} takes no shares (as"
            " replicate does)"
        )


ConfigArgument = Annotated[
    str,
    o.text(
        MISSING,
        "A YAML file, the name of a shipped config, or -.",
        "CONFIG",
        argument=True,
        complete=complete_config,
    ),
]
Folders = Annotated[tuple[Path, ...], o.folders("Folders of runs, such as shards.")]


@dataclass(frozen=True)
class ConfigOptions(o.Options):
    """How a config is changed, and how its queue log is read."""

    overrides: Sequence[str] = o.repeated("Override a value; may be repeated.", "KEY=VALUE")
    columns: Mapping[str, str] = o.columns(
        "Which columns of the arrivals file to use, such as arrival_hours=joined_at,rating=mmr;"
        " a NAME with a comma in quotes.",
        "rating=mmr",
    )
    separator: str | None = o.separator()
    skip_bad_rows: bool = o.flag("Skip invalid rows and report how many.")
    max_bad_rows: float | None = o.max_bad_rows("rows")
    sort_rows: bool = o.flag("Sort the rows of the arrivals file by arrival.")

    def levels(self, source: str) -> list[tuple[str, str]]:
        """Return what options set in the section `log` of the factors, as `load` takes levels."""
        values = {
            "columns": self.columns or None,
            "separator": SEPARATOR_NAMES[self.separator] if self.separator else None,
            # A share of invalid rows is one of rows that are skipped.
            "skip_bad_rows": self.skip_bad_rows or self.max_bad_rows is not None or None,
            "max_bad_rows": self.max_bad_rows,
            "sort": self.sort_rows or None,
        }
        return [
            (flag(f"log.{key}"), f"factors.log.{key}={json.dumps(value)}")
            for key, value in values.items()
            if value is not None
        ]

    def load(self, source: str, levels: Sequence[tuple[str, str]] | None = None) -> Config:
        """Read a config that the options change, further ones too."""
        levels = self.levels(source) if levels is None else levels
        return load_config(source, list(self.overrides), levels)


@dataclass(frozen=True)
class ResponseOptions(ConfigOptions):
    """Also which responses are shown."""

    responses: Sequence[str] = o.names(
        "Responses to show, such as wait_p95.top_1%; `valmatch responses` lists all.", "NAME,..."
    )

    def levels(self, source: str) -> list[tuple[str, str]]:
        """Return the levels with what has the chosen responses computed, too."""
        levels = super().levels(source)
        if not self.responses:
            return levels
        from valmatch.config.loading import load_config
        from valmatch.experiments.response_list import groups_of

        config = load_config(source, self.overrides, levels)
        groups = groups_of(self.responses, config)
        if "measure" in type(config.factors).model_fields:
            groups = list(dict.fromkeys([*getattr(config.factors, "measure", ()), *groups]))
        measured = [("--responses", f"factors.measure=[{', '.join(groups)}]")] if groups else []
        return [*levels, *measured]


RunT = TypeVar("RunT", bound=RunOptions)


def watched(options: RunT, section: OptimizeOptions | ReplicateOptions, bar: Bar) -> RunT:
    """Return the options of a run, what is open as a config gives it, that the terminal shows."""
    options = options.in_config(section)
    workers = options.workers or 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if cores and workers > cores and options.scheduler is None:
        more = f"{workers} workers on {cores} core{'s' * (cores > 1)}"
        warn(Note(f"{more}: no faster than {cores}"))
    return replace(options, progress=bar, resumed=bar.found, warn=warn, detail=detail)
