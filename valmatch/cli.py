"""The command line: parse, call, print, exit code."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valmatch.errors import InputError, RunError

if TYPE_CHECKING:
    from valmatch.config import Config

__all__ = ["app", "main"]

DEFAULT_SEED = 1
DEFAULT_N = 1000

app = typer.Typer(
    name="valmatch",
    help="Simulate matchmaking systems, replicate them with honest statistics, optimise their"
    " rules.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _whole(least: int) -> Callable[[str], int]:
    """Return a parser of whole numbers from `least` on, which names the value it refuses."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and int(text) >= least):
            raise typer.BadParameter(f"{text!r} (allowed: a whole number >= {least})")
        return int(text)

    return parse


def _level(text: str) -> float:
    """Parse a confidence level."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise typer.BadParameter(f"{text!r} (allowed: a number > 0 and < 1)")
    return value


ConfigArgument = Annotated[
    str,
    typer.Argument(metavar="CONFIG", help="A YAML file, the name of a shipped config, or -."),
]
Overrides = Annotated[
    list[str],
    typer.Option("--set", metavar="KEY=VALUE", help="Override a value; may be repeated."),
]
Seed = Annotated[
    int | None,
    typer.Option(parser=_whole(0), metavar="N", help="Seed of all random numbers.  [default: 1]"),
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Write the results to this folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"valmatch {version('valmatch')}")
        raise typer.Exit


@app.callback()
def _app(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def simulate(
    config: ConfigArgument,
    seed: Seed = None,
    replication: Annotated[
        int | None,
        typer.Option(parser=_whole(0), metavar="K", help="Index of the replication.  [default: 0]"),
    ] = None,
    overrides: Overrides = [],  # noqa: B006 - typer wants the default itself
    out: Out = None,
    json: Json = False,
) -> None:
    """Run one replication and record everything that happens in it.

    Replication K is row K of `valmatch replicate` with the same config and seed.
    """
    from valmatch import recording

    settings = _load(config, overrides)
    seed = _first(seed, settings.replicate.get("seed"), DEFAULT_SEED)
    replication = replication or 0
    result = recording.simulate(settings, seed, replication, out=out, warn=_warn)
    if json:
        from valmatch.output import to_json

        sys.stdout.write(to_json(result.summary()))
        return
    from valmatch.report import show_responses

    header = f"{_title(settings)}, seed {seed}, replication {replication}"
    show_responses(header, result.responses, result.values.tolist())
    _say_where(out)


@app.command()
def replicate(
    config: ConfigArgument,
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--n",
            parser=_whole(1),
            metavar="N",
            help="Number of replications.  [default: 1000]",
        ),
    ] = None,
    seed: Seed = None,
    workers: Annotated[
        int | None,
        typer.Option(parser=_whole(1), metavar="W", help="Worker processes.  [default: 1]"),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            parser=_level, metavar="P", help="Confidence level of the intervals.  [default: 0.95]"
        ),
    ] = None,
    overrides: Overrides = [],  # noqa: B006
    out: Out = None,
    json: Json = False,
) -> None:
    """Run independent replications and estimate the mean of every response.

    Defaults of the options may stand in the `replicate` section of the config. The results
    depend on config, seed and n alone.
    """
    from valmatch import replication
    from valmatch.report import progress_bar, show_replications

    settings = _load(config, overrides)
    given = settings.replicate
    n = _first(n, given.get("n"), DEFAULT_N)
    seed = _first(seed, given.get("seed"), DEFAULT_SEED)
    confidence = float(_first(confidence, given.get("confidence"), 0.95))
    with progress_bar("replications", n) as progress:
        result = replication.replicate(
            settings,
            n,
            seed,
            workers=_first(workers, given.get("workers"), 1),
            confidence=confidence,
            out=out,
            progress=progress,
            warn=_warn,
        )
    if json:
        from valmatch.output import to_json

        sys.stdout.write(to_json(result.summary()))
    else:
        done = len(result.values)
        header = f"{_title(settings)}, seed {seed}, {done:,} replication{'s' * (done != 1)}"
        show_replications(header, result)
        _say_where(out)
    for name, one in result.estimates.items():
        if one.undefined:
            _warn(f"{name} is undefined in {one.undefined} of {len(result.values)} replications")
    if not result.complete:
        _warn(f"interrupted after {len(result.values)} of {n} replications")
        raise typer.Exit(130)
    missed = result.missed_expectations()
    if missed:
        raise RunError("\n".join(missed))


@app.command()
def factors(
    model: Annotated[str, typer.Argument(help="Name of the model.")] = "valorant",
) -> None:
    """Print a YAML config with every factor of a model, documented."""
    from valmatch.template import template

    sys.stdout.write(template(model))


def _load(source: str, overrides: list[str]) -> Config:
    """Read a config and pass its warnings on."""
    from valmatch.config import load

    config = load(source, overrides)
    for warning in config.warnings:
        _warn(warning)
    return config


def _first(*values: int | float | None) -> int:
    """Return the first value that is given: the option, then the config, then the default."""
    return next(value for value in values if value is not None)  # type: ignore[return-value]


def _title(config: Config) -> str:
    from valmatch.config import config_id

    return f"{config.model} ({Path(config.source).stem}), config {config_id(config)}"


def _warn(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)


def _say_where(out: Path | None) -> None:
    if out:
        print(f"results in {out}", file=sys.stderr)


def main() -> None:
    """Run the command line; every failure is plain lines on stderr and an exit code."""
    click_exception = typer.BadParameter.__mro__[2]
    try:
        code = app(prog_name="valmatch", standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        code = _fail(str(error), 2)
    except RunError as error:
        code = _fail(str(error), 1)
    except KeyboardInterrupt:
        code = _fail("interrupted", 130)
    except typer.Abort:
        code = _fail("aborted", 130)
    except BrokenPipeError:
        # The reader, such as `head`, has left; what is still buffered has no place to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except MemoryError:
        code = _fail("out of memory", 1)
    except Exception as error:
        if not isinstance(error, click_exception):
            if os.environ.get("VALMATCH_TRACEBACK"):
                raise
            code = _fail(
                f"internal error: {type(error).__name__}: {error} (VALMATCH_TRACEBACK=1 shows"
                " where)",
                1,
            )
        else:
            code = _usage(error)
    sys.exit(code)


def _usage(error: Exception) -> int:
    """Report wrong usage in one line."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "valmatch"
    text = " ".join(error.format_message().split())  # type: ignore[attr-defined]
    return _fail(f"{text} (see {command} --help)" if text else f"see {command} --help", 2)


def _fail(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code
