"""The commands together; every failure is plain lines on stderr and an exit code."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from valmatch.cli.combine import combine
from valmatch.cli.compare import compare
from valmatch.cli.console import reset
from valmatch.cli.factors import factors
from valmatch.cli.optimize import optimize
from valmatch.cli.parameters import flag
from valmatch.cli.plot import plot
from valmatch.cli.rate import rate
from valmatch.cli.replicate import replicate
from valmatch.cli.simulate import simulate
from valmatch.errors import InputError, RunError, options_called

__all__ = ["app", "main"]

app = typer.Typer(
    name="valmatch",
    help="Simulate matchmaking systems, replicate them with honest statistics, optimise their"
    " rules.",
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (simulate, replicate, compare, optimize, combine, rate, plot, factors):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"valmatch {version('valmatch')}")
        raise typer.Exit


@app.callback()
def _app(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(2)


def main() -> None:
    """Run the command line; every failure is plain lines on stderr and an exit code."""
    reset()
    with options_called(flag):
        sys.exit(_run())


def _run() -> int:
    """Run a command; return its exit code."""
    click_exception = typer.BadParameter.__mro__[2]
    try:
        code: int = app(prog_name="valmatch", standalone_mode=False)
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
    return code


def _usage(error: Exception) -> int:
    """Report wrong usage in one line."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "valmatch"
    text = " ".join(error.format_message().split())  # type: ignore[attr-defined]
    return _fail(f"{text} (see {command} --help)" if text else f"see {command} --help", 2)


def _fail(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code
