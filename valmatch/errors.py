"""The two errors that a command reports in plain lines, and the words they use for options."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from valmatch.text.terminal import one_line


class _PlainError(Exception):
    """An error whose message is lines, whatever the names and values in them hold."""

    def __init__(self, *lines: str) -> None:
        super().__init__(*map(one_line, lines))

    def __str__(self) -> str:
        return "\n".join(self.args)


class InputError(_PlainError):
    """Bad input or usage: exit code 2.

    It has one line for each thing that is wrong:
    ``file:line:column: key: what is wrong (what is allowed; did you mean ...)``.
    """


class OptionError(InputError):
    """An option that does not fit a file, which is not damaged by that."""


class RunError(_PlainError):
    """A run that failed on good input: exit code 1."""


class WorkersLostError(RunError):
    """A run whose workers have been lost; where what is finished is kept, it can be resumed."""

    def goes_on(self) -> None:
        """Say that a folder keeps what is finished; folders within folders say so once."""
        further = f"; what is finished is kept, {option('resume=True')} goes on"
        self.args = (self.args[0].removesuffix(further) + further,)


MOST = 10  # lines of one message


def in_lines(lines: Sequence[str], further: int = 0) -> list[str]:
    """Return the lines of an `InputError`; many are cut short."""
    left = max(len(lines) - MOST, 0) + further
    return [*lines[:MOST], *([f"and {left:,} more"] if left else [])]


@contextmanager
def collecting(lines: list[str]) -> Iterator[None]:
    """Collect the lines of an `InputError`, so that further ones can be said with them."""
    try:
        yield
    except InputError as error:
        lines += error.args


_call: Callable[[str], str] = str


def option(argument: str) -> str:
    """Return what a message calls an argument of the public functions."""
    return _call(argument)


def call_options(call: Callable[[str], str]) -> None:
    """Let messages call arguments by other words until the end of `options_called`."""
    global _call
    _call = call


@contextmanager
def options_called(call: Callable[[str], str]) -> Iterator[None]:
    """Let messages call arguments by other words, as the command line does."""
    global _call
    before, _call = _call, call
    try:
        yield
    finally:
        _call = before
