"""The two errors that a command reports in plain lines instead of a traceback."""

from __future__ import annotations

__all__ = ["InputError", "RunError"]


class InputError(Exception):
    """Bad input or usage: exit code 2.

    Its message holds one line for each thing that is wrong:
    ``file:line:column: key: what is wrong (what is allowed; did you mean ...)``.
    """


class RunError(Exception):
    """A run that failed on good input: exit code 1."""
