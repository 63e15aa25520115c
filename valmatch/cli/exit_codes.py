"""Exit codes of commands, besides 0, 1 (the run failed) and 2 (bad input or usage)."""

from __future__ import annotations

MISSED = 3  # what was asked for cannot be had: a target was missed, no point is feasible
AGAIN = 75  # something is not there yet, and running again brings it; EX_TEMPFAIL of sysexits.h
INTERRUPTED = 130  # a signal has ended the run; what is finished is kept


def of_status(status: str) -> int:
    """Return the exit code of a run that is not complete."""
    return {"interrupted": INTERRUPTED, "target missed": MISSED}.get(status, AGAIN)
