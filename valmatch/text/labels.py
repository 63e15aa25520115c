"""Names with their units."""

from __future__ import annotations


def labelled(name: str, unit: str) -> str:
    """Return a name with its unit in brackets, if it has one.

    Examples
    --------
    >>> labelled("avg_wait_time", "minutes")
    'avg_wait_time [minutes]'
    """
    return f"{name} [{unit}]" if unit else name
